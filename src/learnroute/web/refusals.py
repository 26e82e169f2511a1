"""Refusals as problem documents (RFC 9457) with status, reason and field; headers of every answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from learnroute.errors import InputError, RefusedError

PROBLEM_JSON = "application/problem+json"
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


class Refusal(Exception):  # noqa: N818 - not an error of ours
    """An error answer of the service.

    `retry` is the number of seconds after which to try again; `close` ends the connection.
    """

    def __init__(
        self, status: int, detail: str, field: str | None = None, retry: int | None = None, close: bool = False
    ) -> None:
        super().__init__(status, detail, field, retry, close)  # all arguments, so that it can be pickled
        self.status = status
        self.detail = detail
        self.field = field
        self.retry = retry
        self.close = close

    def document(self) -> bytes:
        """Return the problem document."""
        members: dict[str, object] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
        }
        if self.field is not None:
            members["field"] = self.field
        return json.dumps(members).encode()

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers of the answer."""
        later = {} if self.retry is None else {"Retry-After": str(self.retry)}
        return later | ({"Connection": "close"} if self.close else {})


def refusal_of(error: InputError, prefix: str = "") -> Refusal:
    """Convert an InputError of the library into a Refusal; `prefix` is the member that contains the field."""
    own = error.field
    if own is None and not prefix and isinstance(error, RefusedError):
        own = "method"
    field = f"{prefix}{own}" if own is not None else prefix.rstrip(".") or None
    return Refusal(422, str(error), field)
