"""Proved optima are those of an earlier version."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stored_answers import STORED, cases, proved_total

TOTALS: dict[str, float] = json.loads(STORED.read_text())
GROUPS: dict[str, dict[str, dict[str, Any]]] = {}
for name, settings in cases():
    GROUPS.setdefault("/".join(name.split("/")[:2]), {})[name] = settings
SLOW = ("coupled/12", "coupled/14")


def test_all_answers_are_stored() -> None:
    assert sorted(TOTALS) == sorted(name for group in GROUPS.values() for name in group)


@pytest.mark.parametrize(
    "group", [pytest.param(group, marks=pytest.mark.slow if group in SLOW else ()) for group in GROUPS]
)
def test_optima_are_proved_again(group: str) -> None:
    for name, settings in GROUPS[group].items():
        assert proved_total(settings) == pytest.approx(TOTALS[name], rel=1e-8), name
