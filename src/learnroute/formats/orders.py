"""Plans as a plain order of tasks (.txt): one 0-based index per line, as used by continual-learning frameworks."""

from __future__ import annotations

from pathlib import Path

from learnroute.formats.files import write_text
from learnroute.model.problem import Problem
from learnroute.model.result import Plan


def write_plan(plan: Plan, path: Path, problem: Problem | None = None) -> None:
    """Write the indices of the regions in order of visit."""
    write_text(path, "".join(f"{i}\n" for i in plan.order))
