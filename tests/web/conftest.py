from __future__ import annotations

from collections.abc import Iterator

import pytest

from service import Service, serving


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    with serving(workers=1) as running:
        yield running
