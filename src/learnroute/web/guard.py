"""Middleware that checks who may call and adds common headers to every answer."""

from __future__ import annotations

import hmac
import re
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from learnroute.web.assets import page_files
from learnroute.web.refusals import PROBLEM_JSON, SECURITY, Refusal
from learnroute.web.settings import Settings, is_loopback

PAGE = {*page_files(), "/openapi.json"}  # may be opened from other sites: contains no data
HEALTH = ("/health", "/api/health")  # answered without a token
WATCHED = ("/health", "/metrics")  # answered regardless of the number of open requests
PORTS = {"http": 80, "https": 443}
AUTHORITY = r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>[0-9]{0,5}))?"

Authority = tuple[str, int]


class Guard:
    """Middleware that rejects callers without permission before the request is processed."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._public = {_authority(name, "https") for name in settings.names}
        self._names = {authority[0] for authority in self._public if authority is not None}
        self._open = 0  # requests that are being answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        requested, scope["path"] = scope["path"], self._path(scope["path"])
        if requested and not scope["path"]:
            headers = [(b"location", f"{self._settings.root_path}/".encode()), (b"content-length", b"0")]
            await send_with_headers({"type": "http.response.start", "status": 308, "headers": headers})
            await send_with_headers({"type": "http.response.body", "body": b""})
            return
        refusal = self._transport_refusal(scope) or self._caller_refusal(scope)
        if refusal is not None:
            await answer_refusal(refusal, send_with_headers)
            return
        self._open += 1
        try:
            await self._app(scope, receive, send_with_headers)
        finally:
            self._open -= 1

    def _path(self, path: str) -> str:
        """Return a path without the root path, which proxies may strip or keep."""
        root = self._settings.root_path
        return path.removeprefix(root) if root and f"{path}/".startswith(f"{root}/") else path

    def _transport_refusal(self, scope: Scope) -> Refusal | None:
        """Return the refusal of a request with invalid framing or beyond the limit; it closes the connection."""
        headers = Headers(scope=scope)
        if "content-length" in headers and "transfer-encoding" in headers:
            reason = "Content-Length and Transfer-Encoding are both given; send one of them"
            return Refusal(400, reason, "Transfer-Encoding", close=True)
        if "transfer-encoding" in headers and scope["http_version"] == "1.0":
            return Refusal(400, "HTTP/1.0 has no Transfer-Encoding", "Transfer-Encoding", close=True)
        if self._open >= self._settings.requests and scope["path"] not in WATCHED:
            return Refusal(503, "too many requests at once; try again later", retry=2, close=True)
        return None

    def _caller_refusal(self, scope: Scope) -> Refusal | None:
        """Return the refusal of a caller without permission; None if the caller may call."""
        headers = Headers(scope=scope)
        own = _authority(headers.get("host", ""), scope["scheme"])
        if own is None or not self._is_ours(own[0]):
            return Refusal(421, "the Host header does not name this service; see --allow-host", "Host")  # DNS rebinding
        if scope["path"] in PAGE:
            return None
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return Refusal(403, "pages of other origins may not call this service", "Sec-Fetch-Site")
        if not all(self._is_same(origin, scope["scheme"], own) for origin in headers.getlist("origin")):
            return Refusal(403, "pages of other origins may not call this service", "Origin")
        token = self._settings.token
        if token is not None and scope["path"] not in HEALTH:
            scheme, _, given = headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(given.encode("latin-1"), token.encode()):
                return Refusal(401, "the token of this service is needed: Authorization: Bearer …", "Authorization")
        return None

    def _is_ours(self, host: str) -> bool:
        """Return whether a host name is this machine's or one of the configured public names."""
        if is_loopback(host) or host in self._names:
            return True
        return not self._settings.loopback and not self._names

    def _is_same(self, origin: str, scheme: str, own: Authority) -> bool:
        """Return whether an origin is the one that the request is sent to, or a public origin of the service."""
        given, _, rest = origin.partition("://")
        found = _authority(rest, given) if given in PORTS else None
        return found is not None and ((given, found) == (scheme, own) or (given == "https" and found in self._public))


def _authority(value: str, scheme: str) -> Authority | None:
    """Return the host and port of a Host header or an origin; None if it is invalid."""
    match = re.fullmatch(AUTHORITY, value)
    return match and (match["host"].lower(), int(match["port"] or PORTS.get(scheme, 0)))


async def answer_refusal(refusal: Refusal, send: Any) -> None:
    """Send a problem document."""
    content = refusal.document()
    headers = {"content-type": PROBLEM_JSON, "content-length": str(len(content)), **refusal.headers}
    if refusal.status == 401:
        headers["www-authenticate"] = "Bearer"
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": raw})
    await send({"type": "http.response.body", "body": content})
