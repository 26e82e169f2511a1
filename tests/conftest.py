from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

if TYPE_CHECKING:
    from service import Service

settings.register_profile("repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """A running service, one for all tests of a process."""
    from service import serving

    with serving(workers=1) as running:
        yield running
