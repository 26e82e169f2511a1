"""Rehearsal -> picture: the error of the chosen route beside those of random orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from learnroute.learning.rehearsal import Rehearsal
from learnroute.model.problem import Problem
from learnroute.plots.pictures import BLUE, VERMILLION, Picture, name_of, picture_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@picture_of(Rehearsal, "What `rehearse` returned")
def draw_rehearsal(rehearsal: Rehearsal, problem: Problem, ax: Axes | None = None) -> Figure:
    """Draw the errors of random orders as a histogram, and that of the chosen route with its standard error."""
    picture = Picture(ax, (6.5, 3.6))
    axes = picture.axes
    errors = np.asarray(rehearsal.random_errors)
    axes.hist(errors, bins=min(20, max(5, len(errors) // 4)), color="#BBBBBB", label=f"{len(errors)} random orders")
    axes.axvline(rehearsal.random.mean, color=BLUE, lw=1.5, ls="--", label="their mean")
    axes.axvline(rehearsal.error, color=VERMILLION, lw=2, label="chosen route ± standard error")
    axes.axvspan(rehearsal.error - rehearsal.standard_error, rehearsal.error + rehearsal.standard_error,
                 color=VERMILLION, alpha=0.15, lw=0)  # fmt: skip
    axes.set_xlabel("mean error over all regions after the last visit")
    axes.set_ylabel("number of orders")
    axes.locator_params(axis="y", integer=True)
    verdict = rehearsal.random.verdict.partition(",")[0]
    return picture.finish(f"{name_of(problem)}, {rehearsal.draws} draws: {verdict}", 11, 3)
