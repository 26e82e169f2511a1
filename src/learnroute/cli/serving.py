"""serve."""

from __future__ import annotations

import os
import secrets
import webbrowser

import click

from learnroute.cli.common import command
from learnroute.errors import InputError, install_hint
from learnroute.model.validation import as_number

TOKEN_VARIABLE = "LEARNROUTE_TOKEN"


@command("serve", epilog="\b\nExample:\n  learnroute serve --port 0 --seconds 1")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on. For "
              f"any but a loopback address, callers need a token: {TOKEN_VARIABLE} if set, otherwise a random one that "
              "is printed.")  # fmt: skip
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0: any free port.",
)
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@click.option("--workers", type=int, default=2, show_default=True, help="Number of worker processes.")
@click.option(
    "--queue", type=int, default=100, show_default=True, help="Maximum number of waiting jobs; more get status 503."
)
@click.option(
    "--max-body",
    type=int,
    default=16 << 20,
    show_default=True,
    metavar="BYTES",
    help="Maximum size of a request; larger ones get status 413.",
)
@click.option(
    "--max-regions",
    type=int,
    default=1000,
    show_default=True,
    metavar="T",
    help="Maximum number of regions; larger problems get status 422.",
)
@click.option(
    "--max-seconds",
    type=float,
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="Maximum time limit of a job; longer ones get status 422.",
)
@click.option("--patience", type=float, default=30, show_default=True, metavar="SECONDS",
              help="Cancel jobs that have not been polled for this time.")  # fmt: skip
@click.option(
    "--max-requests",
    type=int,
    default=200,
    show_default=True,
    help="Maximum number of requests at once; more get status 503.",
)
@click.option("--receive-seconds", type=float, default=60, show_default=True, metavar="SECONDS",
              help="Maximum time to receive the body of a request; slower ones get status 408.")  # fmt: skip
@click.option("--allow-host", multiple=True, metavar="NAME", help="Public host name of a reverse proxy, with its "
              "port if that is not 443; callers then need a token. May be repeated.")  # fmt: skip
@click.option("--root-path", default="", metavar="PATH", help="Path of the service at that proxy, such as /learnroute.")
@click.option("--trust-proxy", multiple=True, metavar="ADDRESS", help="Address or network of proxies whose "
              "X-Forwarded-Proto and X-Forwarded-For headers are trusted. May be repeated.")  # fmt: skip
@click.option(
    "--seconds", type=float, metavar="SECONDS", help="Stop after this time.  [default: serve until interrupted]"
)
def serve_command(
    host: str, port: int, open_browser: bool, workers: int, queue: int, max_body: int, max_regions: int,
    max_seconds: float, patience: float, max_requests: int, receive_seconds: float, allow_host: tuple[str, ...],
    root_path: str, trust_proxy: tuple[str, ...], seconds: float | None,
) -> None:  # fmt: skip
    """Start the web page and the HTTP API on this machine.

    The page starts with an example; problems are opened and plans are downloaded in the browser. The page loads nothing
    from other servers, and requests cannot read or write files of this machine.
    """
    if seconds is not None and as_number("--seconds", seconds, meaning="seconds") <= 0:
        raise InputError("must be > 0; omit it to serve until interrupted", field="--seconds", found=f"{seconds:g}")
    try:
        from learnroute.web.server import serve
    except ImportError:
        raise InputError(f"the service needs FastAPI and uvicorn: {install_hint('web')}") from None
    from learnroute.web.settings import Limits, Settings, is_loopback

    token = os.environ.get(TOKEN_VARIABLE) or (
        None if is_loopback(host) and not allow_host else secrets.token_urlsafe(24)
    )
    settings = Settings(
        host, workers, queue, token, Limits(max_body, max_regions, max_seconds), patience,
        requests=max_requests, receive=receive_seconds, root_path=root_path, names=allow_host,
        proxies=trust_proxy,
    )  # fmt: skip

    def announce(url: str) -> None:
        address = f"{url}#token={token}" if token else url
        click.echo(f"learnroute is at {address} (stop it with Ctrl+C)")
        if open_browser:
            webbrowser.open(address)

    serve(settings, port, announce, seconds)


COMMANDS = (serve_command,)
