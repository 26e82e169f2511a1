"""The command line as tests call it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from learnroute.cli import run


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def call_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    code, out, _ = call(capsys, *arguments, "--json")
    assert code == 0
    return json.loads(out)
