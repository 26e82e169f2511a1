"""Measurements as CSV tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from learnroute.formats.csv_files import table_text
from learnroute.formats.files import write_text
from learnroute.formats.json_files import write as write_problem_file
from learnroute.reproduction.measurements import GROUP, Ratios, Reproduction
from learnroute.study.summary import Statistics


def write_tables(found: Reproduction, folder: Path) -> None:
    """Write every table as CSV, and the worst instances as problems for `learnroute compare`."""
    for name in ("tables", "worst"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, rows in tables_of(found).items():
        write_text(folder / "tables" / f"{name}.csv", table_text(rows))
    for case in found.worst:
        write_problem_file(case.problem, folder / "worst" / f"{case.name}.json")


def tables_of(found: Reproduction) -> dict[str, list[list[Any]]]:
    """Return all tables by name, each with its header."""
    return {
        "figure1": _ratio_table(found.figure1),
        "figure2": _ratio_table(found.figure2),
        "improvement": [
            ["regime", "family", "noise", "regions", "reading", "improvement", "low", "high", "claimed", "holds"],
            *([i.regime, i.family, i.noise, i.regions, i.reading, i.value, i.low, i.high, i.claimed, i.holds]
              for i in found.improvements),
        ],
        "lemmas": [
            ["lemma", "regions", "features", "samples", "noise", "runs", "closed_form", "simulated", "standard_error",
             "deviation"],
            *([*vars(check).values(), check.deviation] for check in found.lemmas),
        ],
        "worst": [
            ["space", "regions", "features", "samples", "worst_of_random", "worst_climbed", "paper_bound",
             "sharper_bound", "flat_bound", "problem"],
            *([c.search.space, c.search.regions, c.search.learner.features, c.search.learner.samples, c.random,
               c.climbed, c.paper, c.sharper, c.flat, f"worst/{c.name}.json"] for c in found.worst),
        ],
        "growth": [["family", "regions", "seconds"], *([t.family, t.regions, t.seconds] for t in found.growth)],
        "triangle": [
            ["family", "regions", "share_of_triples_violated"],
            *([family, size, share] for (family, size), share in found.violated.items()),
        ],
    }  # fmt: skip


def _ratio_table(groups: Ratios) -> list[list[Any]]:
    header = [*GROUP, "problems", "mean", "half_width_95", "quantile_05", "quantile_95", "maximum"]
    return [header, *([*key, *vars(Statistics.of(values)).values()] for key, values in groups.items())]
