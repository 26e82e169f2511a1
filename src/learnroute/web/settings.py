"""Settings of the service: where it listens and what it allows."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from learnroute.errors import InputError
from learnroute.model.validation import as_count, as_number

OWN_PATHS = ("api", "docs", "health", "metrics")


def _store(owner: object, field: str, value: object) -> None:
    """Store a validated value in a frozen dataclass."""
    object.__setattr__(owner, field, value)


def _positive(field: str, value: float) -> float:
    seconds = as_number(field, value, meaning="seconds")
    if seconds <= 0:
        raise InputError("seconds must be > 0", field=field, value=value)
    return seconds


def _path(value: str) -> str:
    path = value.rstrip("/")
    if path and not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+", path):
        raise InputError("expected a path such as /learnroute", field="root_path", value=value)
    if path.split("/")[1:2] and path.split("/")[1] in OWN_PATHS:
        raise InputError("the service has this path itself; choose another", field="root_path", value=value)
    return path


def _name(value: str) -> str:
    """Return a public name in lower case, with its port if it has one."""
    if not re.fullmatch(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?", value):
        raise InputError("expected a host name such as plan.example.org", field="allow_host", value=value)
    return value.lower()


def _network(value: str) -> str:
    try:
        return str(ipaddress.ip_network(value))
    except ValueError:
        raise InputError(
            "expected an address or a network such as 10.0.0.0/8", field="trust_proxy", value=value
        ) from None


@dataclass(frozen=True)
class Limits:
    """Limits of one request.

    Attributes
    ----------
    body
        Maximum bytes of a request body.
    regions
        Maximum number of regions of a problem.
    seconds
        Maximum wall time of one calculation, in seconds.
    """

    body: int = 16 << 20
    regions: int = 1000
    seconds: float = 60.0

    def __post_init__(self) -> None:
        _store(self, "body", as_count("max_body", self.body, meaning="the maximum body size in bytes"))
        _store(self, "regions", as_count("max_regions", self.regions, least=2, meaning="the maximum number of regions"))
        _store(self, "seconds", _positive("max_seconds", self.seconds))


@dataclass(frozen=True)
class Settings:
    """Settings of the service.

    Attributes
    ----------
    host
        Address to listen on. Anything but a loopback address needs a `token`, which every API call must send.
    workers
        Number of worker processes.
    queue
        Maximum number of calculations that wait for a worker.
    patience
        Seconds after which a job that is neither followed nor polled is cancelled.
    keep
        Seconds for which the result of a job is kept.
    kept_jobs
        Maximum number of jobs kept at once; the oldest finished ones are deleted first.
    requests
        Maximum number of requests answered at once; further ones are rejected.
    receive
        Seconds within which the whole body of a request must arrive.
    root_path
        Path under which a proxy serves the service, such as /learnroute.
    names
        Host names, with or without a port, under which a proxy serves the service. They need a `token`, too.
    proxies
        Addresses and networks whose X-Forwarded-Proto and X-Forwarded-For headers are trusted.
    """

    host: str = "127.0.0.1"
    workers: int = 2
    queue: int = 100
    token: str | None = None
    limits: Limits = Limits()
    patience: float = 30.0
    keep: float = 600.0
    kept_jobs: int = 200
    requests: int = 200
    receive: float = 60.0
    root_path: str = ""
    names: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _store(self, "workers", as_count("workers", self.workers, meaning="the number of workers"))
        _store(self, "queue", as_count("queue", self.queue, meaning="the length of the queue"))
        _store(self, "kept_jobs", as_count("kept_jobs", self.kept_jobs, meaning="the number of jobs"))
        _store(self, "requests", as_count("max_requests", self.requests, meaning="the number of requests at once"))
        for field in ("patience", "keep"):
            _store(self, field, as_number(field, getattr(self, field), least=0.0, meaning="seconds"))
        _store(self, "receive", _positive("receive_seconds", self.receive))
        _store(self, "root_path", _path(self.root_path))
        _store(self, "names", tuple(_name(name) for name in self.names))
        _store(self, "proxies", tuple(_network(address) for address in self.proxies))
        if self.token is not None and (not self.token.isascii() or not self.token.isprintable() or not self.token):
            raise InputError("expected printable ASCII characters, at least one", field="token")
        if self.token is None and not self.loopback:
            raise InputError("not a loopback address, so a token is required", field="host", value=self.host)
        if self.token is None and self.names:
            raise InputError("other machines can call, so a token is required", field="allow_host", value=self.names[0])

    @property
    def loopback(self) -> bool:
        """Whether only this machine can call."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Return whether a host name or address always refers to this machine."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
