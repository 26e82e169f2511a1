"""What the service is told when it starts: where it listens, what it allows."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from learnroute.errors import InputError
from learnroute.model.validation import as_count, as_number


@dataclass(frozen=True)
class Limits:
    """How much one request may ask for.

    Attributes
    ----------
    body
        Bytes of a request.
    regions
        Regions of a problem.
    seconds
        Wall time of one calculation.
    """

    body: int = 16 << 20
    regions: int = 1000
    seconds: float = 60.0

    def __post_init__(self) -> None:
        as_count("max_body", self.body, meaning="the largest body in bytes")
        as_count("max_regions", self.regions, least=2, meaning="the most regions")
        if as_number("max_seconds", self.seconds, meaning="seconds") <= 0:
            raise InputError("seconds must be > 0", field="max_seconds", value=self.seconds)


@dataclass(frozen=True)
class Settings:
    """How the service runs.

    Attributes
    ----------
    host
        Address to listen on. Anything but a loopback address needs a `token`, asked for with every API call.
    workers
        Processes that calculate.
    queue
        Calculations that may wait for one of them.
    patience
        Seconds after which a job that nobody follows or asks about is given up.
    keep
        Seconds for which the result of a job is kept.
    kept_jobs
        Jobs remembered at once; the oldest finished ones are forgotten first.
    """

    host: str = "127.0.0.1"
    workers: int = 2
    queue: int = 100
    token: str | None = None
    limits: Limits = Limits()
    patience: float = 30.0
    keep: float = 600.0
    kept_jobs: int = 200

    def __post_init__(self) -> None:
        as_count("workers", self.workers, meaning="the number of workers")
        as_count("queue", self.queue, meaning="the length of the queue")
        for field in ("patience", "keep"):
            as_number(field, getattr(self, field), least=0.0, meaning="seconds")
        if self.token is not None and (not self.token.isascii() or not self.token.isprintable() or not self.token):
            raise InputError("printable ASCII characters are needed, at least one", field="token")
        if not self.loopback and self.token is None:
            raise InputError(
                "not a loopback address; give a token that callers must know", field="host", value=self.host
            )

    @property
    def loopback(self) -> bool:
        """Whether only this machine can call."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether a host name or address always means this machine."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
