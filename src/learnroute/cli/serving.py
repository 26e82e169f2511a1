"""serve."""

from __future__ import annotations

import os
import secrets
import webbrowser

import click

from learnroute.cli.common import command
from learnroute.errors import InputError, install
from learnroute.model.validation import as_number

TOKEN_VARIABLE = "LEARNROUTE_TOKEN"


@command("serve", epilog="\b\nExample:\n  learnroute serve --port 0 --seconds 1")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen. Other than "
              f"loopback, callers need a token: that of {TOKEN_VARIABLE}, or one made up and printed.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any free port.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@click.option("--workers", type=int, default=2, show_default=True, help="Processes that calculate.")
@click.option("--queue", type=int, default=100, show_default=True, help="Calculations that may wait; 429 beyond.")
@click.option("--max-body", type=int, default=16 << 20, show_default=True, metavar="BYTES", help="413 beyond.")
@click.option("--max-regions", type=int, default=1000, show_default=True, metavar="T", help="422 beyond.")
@click.option("--max-seconds", type=float, default=60, show_default=True, help="Longest time limit; 422 beyond.")
@click.option("--patience", type=float, default=30, show_default=True, metavar="SECONDS",
              help="Give up jobs that nobody follows or asks about for so long.")  # fmt: skip
@click.option(
    "--max-requests", type=int, default=200, show_default=True, help="Requests that are answered at once; 503 beyond."
)
@click.option("--receive-seconds", type=float, default=60, show_default=True, metavar="SECONDS",
              help="For the body of a request to arrive whole; 408 beyond.")  # fmt: skip
@click.option("--allow-host", multiple=True, metavar="NAME", help="Public name of a proxy in front, with its port if "
              "that is not 443; callers then need a token. Can be repeated.")  # fmt: skip
@click.option(
    "--root-path", default="", metavar="PATH", help="Where that proxy shows the service, such as /learnroute."
)
@click.option("--trust-proxy", multiple=True, metavar="ADDRESS", help="Address or network of proxies whose "
              "X-Forwarded-Proto and X-Forwarded-For count. Can be repeated.")  # fmt: skip
@click.option("--seconds", type=float, help="Leave after so long.  [default: serve until interrupted]")
def serve_command(
    host: str, port: int, open_browser: bool, workers: int, queue: int, max_body: int, max_regions: int,
    max_seconds: float, patience: float, max_requests: int, receive_seconds: float, allow_host: tuple[str, ...],
    root_path: str, trust_proxy: tuple[str, ...], seconds: float | None,
) -> None:  # fmt: skip
    """Serve the page and the planner's HTTP API from this machine.

    The page opens on an example; files are opened in it and plans downloaded from it. Nothing is loaded from
    elsewhere, and no file of this machine is read or written on request.
    """
    if seconds is not None and as_number("--seconds", seconds, meaning="seconds") <= 0:
        raise InputError(
            "must be > 0; leave it out to serve until interrupted", field="--seconds", found=f"{seconds:g}"
        )
    try:
        from learnroute.web.server import serve
    except ImportError:
        raise InputError(f"the service needs FastAPI and uvicorn: {install('web')}") from None
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
