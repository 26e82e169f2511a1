"""Reading of request bodies: a maximum size, a deadline, and a limit on the total size of all bodies in transit."""

from __future__ import annotations

import asyncio

from fastapi import Request
from starlette.requests import ClientDisconnect

from learnroute.web.refusals import Refusal
from learnroute.web.settings import Settings

MOST_HELD = 256 << 20  # maximum total bytes of bodies being received


class BodyReader:
    """A reader of request bodies that rejects a body as soon as it breaks a limit."""

    def __init__(self, settings: Settings) -> None:
        self._most = settings.limits.body
        self._seconds = settings.receive
        self.held = 0  # bytes of bodies being received

    async def read(self, request: Request) -> bytes:
        """Return the body of a JSON request."""
        media = request.headers.get("content-type", "").split(";")[0].strip().lower()
        if media != "application/json":
            raise Refusal(415, f"{media[:60]!r}: send the request as application/json", "Content-Type")
        declared = request.headers.get("content-length", "0")
        if declared.isdigit() and int(declared) > self._most:
            raise self._too_large()
        try:
            async with asyncio.timeout(self._seconds):
                return await self._whole(request)
        except TimeoutError:
            reason = f"the body did not arrive within {self._seconds:g} seconds; send less, or use a faster connection"
            raise Refusal(408, reason, "body", close=True) from None
        except ClientDisconnect:
            raise Refusal(400, "the client disconnected before the body was complete", "body") from None

    async def _whole(self, request: Request) -> bytes:
        body = bytearray()
        counted = 0
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > self._most:
                    raise self._too_large()
                self.held += len(body) - counted
                counted = len(body)
                if self.held > max(MOST_HELD, self._most):
                    raise Refusal(503, "too many large requests are arriving; try again later", "body", retry=5)
            return bytes(body)
        finally:
            self.held -= counted

    def _too_large(self) -> Refusal:
        return Refusal(413, f"the body is larger than {self._most:,} bytes, the limit of this service", "body")
