"""What the service is told when it starts: where it listens, what it allows."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from learnroute.errors import InputError
from learnroute.model.validation import as_count, as_number

OWN_PATHS = ("api", "docs", "health", "metrics")


def _keep(owner: object, field: str, value: object) -> None:
    """Put a checked value into a frozen dataclass."""
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
    """Return a public name in lower case, with its port where it has one."""
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
        _keep(self, "body", as_count("max_body", self.body, meaning="the largest body in bytes"))
        _keep(self, "regions", as_count("max_regions", self.regions, least=2, meaning="the most regions"))
        _keep(self, "seconds", _positive("max_seconds", self.seconds))


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
    requests
        Requests that are answered at once; those beyond are refused.
    receive
        Seconds for the body of a request to arrive whole.
    root_path
        Where a proxy shows the service, such as /learnroute.
    names
        Names, with a port or without, under which a proxy shows the service. They need a `token`, too.
    proxies
        Addresses and networks whose X-Forwarded-Proto and X-Forwarded-For count.
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
        _keep(self, "workers", as_count("workers", self.workers, meaning="the number of workers"))
        _keep(self, "queue", as_count("queue", self.queue, meaning="the length of the queue"))
        _keep(self, "kept_jobs", as_count("kept_jobs", self.kept_jobs, meaning="the number of jobs"))
        _keep(self, "requests", as_count("max_requests", self.requests, meaning="the most requests at once"))
        for field in ("patience", "keep"):
            _keep(self, field, as_number(field, getattr(self, field), least=0.0, meaning="seconds"))
        _keep(self, "receive", _positive("receive_seconds", self.receive))
        _keep(self, "root_path", _path(self.root_path))
        _keep(self, "names", tuple(_name(name) for name in self.names))
        _keep(self, "proxies", tuple(_network(address) for address in self.proxies))
        if self.token is not None and (not self.token.isascii() or not self.token.isprintable() or not self.token):
            raise InputError("expected printable ASCII characters, at least one", field="token")
        if self.token is None and not self.loopback:
            raise InputError(
                "not a loopback address; give a token that callers must know", field="host", value=self.host
            )
        if self.token is None and self.names:
            raise InputError(
                "other machines can call; give a token that callers must know", field="allow_host", value=self.names[0]
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
