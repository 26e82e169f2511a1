"""Comparison -> picture: the loss of each method, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from learnroute.model.problem import Problem
from learnroute.planner import Comparison
from learnroute.plots.pictures import NEGLIGIBLE, PART_COLOURS, PART_NAMES, new_figure, save_figure, shape_line, unboxed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_comparison(comparison: Comparison, problem: Problem, path: str | Path, title: str | None = None) -> None:
    """Write the picture of a comparison: .png, .svg or .pdf."""
    save_figure(path, lambda: draw_comparison(comparison, problem, title))


def draw_comparison(comparison: Comparison, problem: Problem, title: str | None = None) -> Figure:
    """Draw the loss of each method as a stacked bar, and the best lower bound as a line.

    The title is the problem's own, unless another one is given.
    """
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
        text = "" if ratio is None else f"{ratio:.3f}"
        axes.annotate(text, (k, base[k]), (0, 2), textcoords="offset points", ha="center", va="bottom", fontsize=9)
    names = [f"{row.method}\n(mean of {row.draws})" if row.draws > 1 else row.method for row in rows]
    axes.set_xticks(range(len(rows)), names)
    axes.set_ylim(0, (base.max(initial=0) * 1.12) or 1.0)
    axes.set_ylabel("expected loss per region")
    unboxed(axes)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    name = title or problem.title or f"{problem.size} regions"
    headline = f"{name}: {len(rows)} methods compared\n{shape_line(problem)}\nabove the bars: times the {kind}"
    figure.suptitle(headline, fontsize=11, x=0.02, ha="left", parse_math=False)
    return figure
