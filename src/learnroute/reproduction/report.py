"""REPRODUCTION.md: every claim with its verdict and figures."""

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
    """Return the report as Markdown; `folder` is the path of tables and figures, relative to the report."""
    quick = " --quick" if found.scale.name == "quick" else ""
    place = folder if folder not in ("", ".") else "FOLDER"
    lines = [
        "# Reproduction",
        "",
        "Which claims of Hao and Duan, *Algorithm Design for Continual Learning in IoT Networks* (ICASSP 2025), hold?",
        "All figures, tables and pictures of this page come from one command:",
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
    """Return the path of the folder relative to the report."""
    return Path(os.path.relpath(folder.resolve(), report.resolve().parent)).as_posix()


def _settings(found: Reproduction) -> list[str]:
    one, two = found.scale.figure1, found.scale.figure2
    readings = [f"- *{name}*: {meaning}." for name, meaning in MEANINGS.items()]
    return [
        "The paper does not say what σ is, whether costs are a metric, and what improvement means. All are varied:",
        f"σ ∈ {{{', '.join(f'{s:g}' for s in NOISE)}}} and the families {', '.join(FAMILIES)}; `uniform` is the",
        "paper's (see docs/commands.md). Noise adds the same amount to every loss; ratios are largest at σ = 0.",
        "",
        f"With n = {SAMPLES}, Figure 1 has {one.replicates} problems per point ({one.size:,} in total) and Figure 2 "
        f"{two.replicates} ({two.size:,}). Optima are exact.",
        "± is a 95 % interval of the mean (for the lemmas: one standard error). The *baseline* is the paper's CL "
        "baseline:",
        "least expected error, travel ignored. In the under regime it determines the last region only and is averaged",
        f"over {two.draws} random orders.",
        "",
        "Improvement on the baseline can mean three things, computed from mean ratios R to the optimum:",
        "",
        *readings,
        "",
        f"Made with {found.scale.name} settings, Python {platform.python_version()}. The same version and machine give "
        "the same tables, except for times.",
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
    """Return the anchor that Markdown viewers give a heading."""
    kept = "".join(c for c in name.lower() if c.isalnum() or c in " -")
    return kept.replace(" ", "-")
