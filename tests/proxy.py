"""A reverse proxy for tests."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator

from service import Service
from waiting import GUARD


class Proxy:
    """A reverse proxy on 127.0.0.1: serves a service under a path, which it strips or keeps."""

    def __init__(self, service: Service, path: str, strip: bool) -> None:
        self._target = int(service.url.rpartition(":")[2])
        self._path = path.encode()
        self._strip = strip
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)  # the test may have a loop of its own
        self._thread.start()
        listening = asyncio.start_server(self._pass, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(listening, self._loop).result(GUARD)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{path}"

    def stop(self) -> None:
        async def end() -> None:
            self._server.close()
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(GUARD)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(GUARD)
        self._loop.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with (
            contextlib.closing(writer),
            contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError),
        ):
            first, *headers = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[:-2]
            if self._strip:
                first = first.replace(b" " + self._path + b"/", b" /", 1)
            headers = [line for line in headers if not line.lower().startswith(b"connection:")]
            headers += [b"Connection: close", b"X-Forwarded-Proto: http"]
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
            with contextlib.closing(back):
                back.write(b"\r\n".join([first, *headers, b"", b""]))
                await asyncio.wait(
                    [asyncio.ensure_future(_pipe(reader, back)), asyncio.ensure_future(_pipe(there, writer))],
                    return_when=asyncio.FIRST_COMPLETED,
                )


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while part := await reader.read(65536):
            writer.write(part)
            await writer.drain()


@contextlib.contextmanager
def proxy(service: Service, path: str = "/learnroute", strip: bool = True) -> Iterator[Proxy]:
    running = Proxy(service, path, strip)
    try:
        yield running
    finally:
        running.stop()
