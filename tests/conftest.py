from __future__ import annotations

import fcntl
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy is imported: there is a test process for each core

import pytest
from hypothesis import HealthCheck, settings

# Jobs in the background ignore Ctrl-C, and so would the commands that tests start and interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path.insert(0, str(Path(__file__).parent))

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from pages import Open
    from service import Service

Shared = Callable[[str, Callable[[Path], None]], Path]

settings.register_profile("repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeatable")


def pytest_configure(config: pytest.Config) -> None:
    """Stop if the compiled core is missing or older than its sources."""
    try:
        import learnroute._core  # noqa: F401
    except ImportError as error:
        pytest.exit(f"the compiled core cannot be imported ({error}); run `make build`", returncode=2)
    from learnroute.stale_core import newer_sources

    if newer := newer_sources():
        pytest.exit(f"the compiled core is older than {', '.join(newer)}; run `make build`", returncode=2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run modules with slow tests first, so that no process is left with one at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """A running service, one for all tests of a process."""
    from service import serving

    with serving(workers=1) as running:
        yield running


@pytest.fixture(scope="module")  # while playwright runs, no other event loop can in this thread
def browser() -> Iterator[Browser]:
    from pages import launch_browser

    yield from launch_browser()


@pytest.fixture
def opened(browser: Browser, service: Service) -> Iterator[Open]:
    """Open the page; console messages and requests to other hosts fail the test."""
    from pages import opener

    yield from opener(browser, service)


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """Make a folder once for all processes of a parallel test run: `shared_folder(name, fill)`."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def folder_of(name: str, fill: Callable[[Path], None]) -> Path:
        folder = root / name
        with (root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                part = root / f"{name}.part"
                part.mkdir(exist_ok=True)
                fill(part)
                part.rename(folder)
        return folder

    return folder_of
