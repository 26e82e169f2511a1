"""Refusals as problem documents (RFC 9457): a status, what is wrong, and in which field."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from http import HTTPStatus

PROBLEM_JSON = "application/problem+json"
_FIELD = re.compile(r"[A-Za-z_]\w*(\.\w+)*(\[[^\]]*\])*(?=( = |: | has | and | with |$))")


class Refusal(Exception):  # noqa: N818 - not an error of ours
    """What the service answers instead of a result. `retry` is when to come again, in seconds."""

    def __init__(self, status: int, detail: str, field: str | None = None, retry: int | None = None) -> None:
        super().__init__(status, detail, field, retry)  # all of it, so that it crosses process borders
        self.status = status
        self.detail = detail
        self.field = field
        self.retry = retry

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
        """Return the headers that go with it."""
        return {} if self.retry is None else {"Retry-After": str(self.retry)}


def refusal_of(error: Exception, prefix: str = "") -> Refusal:
    """Turn the library's refusal into one of the service's: its messages open with the field."""
    message = str(error)
    found = _FIELD.match(message)
    field = f"{prefix}{found[0]}" if found else prefix.rstrip(".") or None
    return Refusal(422, message, field)
