"""HTTP/1.1 as uvicorn speaks it with h11, made patient only so far: deadlines, and a cap on connections."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from learnroute.web.refusals import PROBLEM_JSON, SECURITY, Refusal
from learnroute.web.settings import Settings

CROWDED = "crowded"  # in the state of requests on connections beyond the cap
HEAD = 10.0  # seconds for the head of a request, and for the rest of a body that was answered already
GRACE = 5.0  # seconds beyond those for a body, in which its reader can refuse in words
LINGER = 2.0  # seconds for a client to take a refusal before the connection is cut
MOST_HEAD = 64 << 10  # bytes of the head of a request
PIECES, PIECE = 1000, 64  # chunks of a body that may be of any size; bytes that more of them have on average
UNREAD = 60.0  # seconds for a client to take what is ready of an answer


class Parser(h11.Connection):
    """h11, which does not take a body in a million pieces: each costs as much as a large one."""

    pieces = 0
    held = 0
    wrong = "this is not a request of HTTP/1.1"

    def next_event(self) -> Any:
        """Return what has arrived."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.pieces = self.held = 0
        elif isinstance(event, h11.Data):
            self.pieces += event.chunk_end
            self.held += len(event.data)
            if self.pieces > PIECES and self.held < PIECE * self.pieces:
                self.wrong = f"the chunks of the body are too small; send at least {PIECE} bytes at a time"
                raise h11.RemoteProtocolError(self.wrong)
        return event


class Protocol(H11Protocol):
    """One connection."""

    settings = Settings()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.conn = Parser(h11.SERVER, self.config.h11_max_incomplete_event_size or MOST_HEAD)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request, unless there are far too many connections."""
        self._due: asyncio.TimerHandle | None = None
        self._stage = ""
        self._stalled: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        if len(self.connections) > self.settings.connections:
            self.app_state = {**self.app_state, CROWDED: True}
        if len(self.connections) > 2 * self.settings.connections:
            transport.abort()
        else:
            self._watch("head")

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all clocks."""
        self._watch("")
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in bytes; what has begun to arrive has so long to arrive whole."""
        if self._stage != "refused":
            super().data_received(data)
        if self._stage != "refused":
            self._watch(self._arriving())

    def on_response_complete(self) -> None:
        """Go on with the next request."""
        super().on_response_complete()
        self._watch(self._arriving())

    def pause_writing(self) -> None:
        """Wait for a client that does not read, but not for ever."""
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(UNREAD, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on."""
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        super().resume_writing()

    def _arriving(self) -> str:
        """Return what of a request has begun to arrive and is not whole."""
        if self.transport.is_closing():
            return ""
        if self.conn.their_state is h11.SEND_BODY:
            answered = self.conn.our_state in (h11.DONE, h11.MUST_CLOSE)
            return "rest" if answered else "body"
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            return "head"
        return "head" if self.cycle is None and self.conn.their_state is h11.IDLE else ""

    def _watch(self, stage: str) -> None:
        if stage == self._stage:
            return
        self._stage = stage
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if stage:
            seconds = {"body": self.settings.receive + GRACE, "refused": LINGER}
            self._due = self.loop.call_later(seconds.get(stage, min(HEAD, self.settings.receive)), self._late)

    def _late(self) -> None:
        if self.transport.is_closing():
            return
        if self._stage == "head" and self.conn.trailing_data[0]:
            self._refuse(Refusal(408, "the head of the request did not arrive in time"))
        else:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP."""
        self._refuse(Refusal(400, getattr(self.conn, "wrong", msg)))

    def _refuse(self, refusal: Refusal) -> None:
        """Answer in place of the application, where it has not begun to, and close the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            content = refusal.document()
            headers = {**SECURITY, "content-type": PROBLEM_JSON, "content-length": str(len(content))}
            answer = h11.Response(
                status_code=refusal.status, reason=HTTPStatus(refusal.status).phrase.encode(),
                headers=[*headers.items(), ("connection", "close")],
            )  # fmt: skip
            for event in (answer, h11.Data(data=content), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None:
            self.cycle.disconnected = True  # the application is not heard any more
            self.cycle.message_event.set()
        self._watch("refused")  # closed at once, a client that still sends would not see the answer
        self.transport.write_eof()


def protocol_of(settings: Settings) -> type[Protocol]:
    """Return the protocol with these settings."""
    members: dict[str, Any] = {"settings": settings}
    return type("Protocol", (Protocol,), members)
