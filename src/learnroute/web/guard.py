"""What every request passes: who may call, and the headers that every answer carries."""

from __future__ import annotations

import hmac
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from learnroute.web.refusals import PROBLEM_JSON, Refusal
from learnroute.web.settings import Settings, is_loopback

POLICY = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
    "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
))  # fmt: skip
SECURITY = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "x-frame-options": "DENY",
}
OPEN = ("/api/health",)  # answered without a token


class Guard:
    """Refuse callers that may not call, before anything else looks at the request."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send_secured)
        else:
            await answer_refusal(refusal, send_secured)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        if self._settings.loopback and not is_loopback(_host(headers.get("host", ""))):
            return Refusal(421, "this service answers to localhost only", "Host")  # a foreign name led here
        api = scope["path"].startswith("/api/")
        if api and headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return Refusal(403, "pages of other origins may not call this service", "Sec-Fetch-Site")
        token = self._settings.token
        if token is not None and api and scope["path"] not in OPEN:
            given = headers.get("authorization", "")
            if not hmac.compare_digest(given.encode("latin-1"), f"Bearer {token}".encode()):
                return Refusal(401, "the token of this service is needed: Authorization: Bearer …", "Authorization")
        return None


def _host(value: str) -> str:
    """Return the host of a Host header, without its port."""
    try:
        return urlsplit(f"//{value}").hostname or ""
    except ValueError:
        return ""


async def answer_refusal(refusal: Refusal, send: Any) -> None:
    """Send a problem document."""
    content = refusal.document()
    headers = {"content-type": PROBLEM_JSON, "content-length": str(len(content)), **refusal.headers}
    if refusal.status == 401:
        headers["www-authenticate"] = "Bearer"
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": raw})
    await send({"type": "http.response.body", "body": content})
