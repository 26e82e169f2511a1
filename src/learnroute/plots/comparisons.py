"""Comparison -> picture: the loss of each method, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from learnroute.errors import check_type
from learnroute.model.problem import Problem
from learnroute.planner import Comparison
from learnroute.plots.pictures import NEGLIGIBLE, PART_COLOURS, PART_NAMES, new_figure, save_figure, shape_line, unboxed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_comparison(comparison: Comparison, problem: Problem, path: str | Path) -> None:
    """Write the picture of a comparison: .png, .svg or .pdf."""
    save_figure(path, lambda: draw_comparison(comparison, problem))


def draw_comparison(comparison: Comparison, problem: Problem) -> Figure:
    """Draw the loss of each method as a stacked bar, and the best lower bound as a line."""
    check_type("comparison", comparison, Comparison)
    check_type("problem", problem, Problem)
    rows = [row for row in comparison.rows if row.loss is not None]
    figure = new_figure(figsize=(1.6 + 1.25 * max(len(rows), 3), 4.8), layout="constrained")
    axes = figure.subplots()
    base = np.zeros(len(rows))
    for part, colour in PART_COLOURS.items():
        heights = np.array([getattr(row.loss, part) for row in rows])
        if heights.max(initial=0) > NEGLIGIBLE * comparison.lower_bound:
            axes.bar(range(len(rows)), heights, bottom=base, color=colour, width=0.66, label=PART_NAMES[part])
        base += heights
    kind = "optimum" if comparison.optimal else "lower bound"
    axes.axhline(comparison.lower_bound, color="black", ls="--", lw=1.2, label=f"{kind}  {comparison.lower_bound:.4g}")
    for k, row in enumerate(rows):
        ratio = comparison.ratio(row)
        axes.text(k, base[k], "" if ratio is None else f"{ratio:.3f}", ha="center", va="bottom", fontsize=9)
    names = [f"{row.method}\n(mean of {row.draws})" if row.draws > 1 else row.method for row in rows]
    axes.set_xticks(range(len(rows)), names)
    axes.set_ylim(0, (base.max(initial=0) * 1.12) or 1.0)
    axes.set_ylabel("expected loss per region")
    unboxed(axes)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    figure.suptitle(f"{shape_line(problem)}\nabove the bars: times the {kind}", fontsize=11, x=0.02, ha="left")
    return figure
