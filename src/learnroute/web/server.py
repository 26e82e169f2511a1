"""The listening process: the application under uvicorn, on a socket that is bound before the address is announced."""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Callable

import uvicorn

from learnroute.errors import InputError
from learnroute.web.app import make_app
from learnroute.web.settings import Settings

MOST_HEAD = 64 << 10  # maximum bytes of a request's head


def serve(
    settings: Settings, port: int = 0, announce: Callable[[str], None] | None = None, seconds: float | None = None
) -> None:
    """Serve until interrupted or for the given seconds; `announce` is called with the address once it answers."""
    with contextlib.closing(listening_socket(settings.host, port)) as listener:
        Server(settings, listener, announce, seconds).run(sockets=[listener])


class Server(uvicorn.Server):
    """A uvicorn server that announces its start and can stop after a given time."""

    def __init__(
        self, settings: Settings, listener: socket.socket, announce: Callable[[str], None] | None = None,
        seconds: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            uvicorn.Config(
                make_app(settings), http="h11", ws="none", log_level="error", access_log=False,
                server_header=False, lifespan="on", timeout_graceful_shutdown=2, timeout_keep_alive=30,
                h11_max_incomplete_event_size=MOST_HEAD, proxy_headers=bool(settings.proxies),
                forwarded_allow_ips=list(settings.proxies),
            )
        )  # fmt: skip
        self.url = _url(settings.host, listener)
        self._announce = announce
        self._seconds = seconds
        self._ticks = 0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and announce the address."""
        await super().startup(sockets)
        if self.started and self._announce is not None:
            self._announce(self.url)

    async def on_tick(self, counter: int) -> bool:
        """Return whether to stop now; uvicorn calls this ten times per second."""
        self._ticks += 1
        if self._seconds is not None and self._ticks > 10 * self._seconds:
            self.should_exit = True
        return await super().on_tick(counter)


REMEDIES: dict[int | None, str] = {
    errno.EADDRNOTAVAIL: "give an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them",
    errno.EADDRINUSE: "try another port, or --port 0 for any free one",
    errno.EACCES: "use a port above 1023",
}


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise InputError if the address cannot be used."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"cannot listen there ({error}); give an address of this machine, such as 127.0.0.1",
            field="--host",
            found=f"{host}",
        ) from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except (OSError, OverflowError) as error:
        listener.close()
        cause = error.strerror if isinstance(error, OSError) else error
        remedy = REMEDIES.get(getattr(error, "errno", None), "try another port")
        reason = f"cannot listen there ({cause}); {remedy}"
        raise InputError(reason, field="--host", found=f"{host} --port {port}") from None
    return listener


def _url(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    shown = host.strip("[]")
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"
