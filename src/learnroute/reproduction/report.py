"""REPRODUCTION.md: every claim, its verdict and the figures that show it."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from learnroute.reproduction.claims import Claim
from learnroute.reproduction.measurements import Reproduction
from learnroute.reproduction.readings import MEANINGS
from learnroute.reproduction.scales import FAMILIES, NOISE, SAMPLES

CAPTIONS = {
    "figure1": "Figure 1: ratio to the optimum versus m, uniform draws, σ = 0",
    "figure1-families": "Figure 1 for other families of problems and noise levels",
    "figure2": "Figure 2: ratio to the optimum versus T, uniform draws, σ = 0",
    "figure2-families": "Figure 2 for other families of problems",
    "figure2-noise": "Figure 2 for other noise levels",
    "improvement": "Improvement on the baseline under three readings",
    "lemmas": "Simulated final error over the closed form",
    "worst": "Worst ratios found, beside the bounds",
    "growth": "Time of Algorithm 1 versus T",
}


def report_text(found: Reproduction, claims: Sequence[Claim], folder: str) -> str:
    """Return the report as Markdown; `folder` is where tables and figures are, seen from the report."""
    quick = " --quick" if found.scale.name == "quick" else ""
    place = folder if folder not in ("", ".") else "FOLDER"
    lines = [
        "# Reproduction",
        "",
        "What Hao and Duan, *Algorithm Design for Continual Learning in IoT Networks* (ICASSP 2025), claim, measured.",
        "All figures on this page, the tables and the pictures come from one command:",
        "",
        "```",
        f"learnroute reproduce{quick} -o {place}" + ("" if quick else "    # or: make reproduce"),
        "```",
        "",
        *_settings(found),
        "",
        "| claim | verdict |",
        "|---|---|",
        *(f"| [{claim.name}](#{_anchor(claim.name)}): {claim.says} | **{claim.verdict}** |" for claim in claims),
        "",
    ]
    shown: set[str] = set()
    for claim in claims:
        lines += _section(claim, folder, place, shown)
    return "\n".join(lines).rstrip() + "\n"


def relative(folder: Path, report: Path) -> str:
    """Where the folder is, seen from the report."""
    return Path(os.path.relpath(folder.resolve(), report.resolve().parent)).as_posix()


def _settings(found: Reproduction) -> list[str]:
    one, two = found.scale.figure1, found.scale.figure2
    readings = [f"- *{name}*: {meaning}." for name, meaning in MEANINGS.items()]
    return [
        "The paper leaves open what σ is, whether costs are a metric, and what improvement means. Each is varied:",
        f"σ ∈ {{{', '.join(f'{s:g}' for s in NOISE)}}}; families {', '.join(FAMILIES)} (`uniform` is the",
        "paper's; see docs/commands.md). Noise adds the same to every route's loss, so ratios are largest at σ = 0.",
        f"With n = {SAMPLES}, Figure 1 has {one.replicates} problems a point, {one.size:,} in all, Figure 2 "
        f"{two.replicates} and {two.size:,}. The optimum is exact throughout;",
        "± is a 95 % interval of the mean (one standard error for the lemmas). The *baseline* is the paper's CL "
        "baseline:",
        "least expected error, travel ignored. In the under regime that fixes only the last region; it is averaged",
        f"over {two.draws} random orders.",
        "",
        "Improvement on the baseline, from mean ratios R to the optimum, is read in three ways:",
        "",
        *readings,
        "",
        f"Made with {found.scale.name} settings, Python {platform.python_version()}. Same version and machine, "
        "same tables, except for the times.",
    ]


def _section(claim: Claim, folder: str, place: str, shown: set[str]) -> list[str]:
    prefix = "" if folder in ("", ".") else f"{folder}/"
    lines = [f"## {claim.name}", "", f"{claim.says} **Verdict: {claim.verdict}.**", ""]
    lines += [f"- {finding.replace('FOLDER', place)}" for finding in claim.findings]
    lines.append("")
    if claim.table:
        lines += [f"Table: [{claim.table}.csv]({prefix}tables/{claim.table}.csv)", ""]
    for name in claim.figures:
        if name in shown:
            lines += [f"Figure: [{CAPTIONS[name]}]({prefix}figures/{name}.png)", ""]
        else:
            lines += [f"![{CAPTIONS[name]}]({prefix}figures/{name}.png)", ""]
            shown.add(name)
    return lines


def _anchor(name: str) -> str:
    """The anchor that Markdown viewers give a heading."""
    kept = "".join(c for c in name.lower() if c.isalnum() or c in " -")
    return kept.replace(" ", "-")
