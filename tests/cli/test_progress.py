from __future__ import annotations

import pytest

from learnroute.cli import common


def test_lines_estimate_the_time_left(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("learnroute.cli.common.time.monotonic", lambda: now[0])
    with common.show_progress() as progress:
        progress("sweep", 0.5)  # found in the store: says nothing about the pace
        for share in (0.6, 0.7):
            now[0] += 10
            progress("sweep", share)
        now[0] += 1
        progress("sweep", 0.71)  # too soon to speak again
    assert capsys.readouterr().err.splitlines() == [
        "sweep: 60 % after 10 s, about 40 s left",
        "sweep: 70 % after 20 s, about 30 s left",
    ]
