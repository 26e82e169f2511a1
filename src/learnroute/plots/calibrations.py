"""Calibration -> picture: the coefficients of the law with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnroute.learning.calibration import Calibration
from learnroute.plots.pictures import BLUE, VERMILLION, Picture, picture_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@picture_of(Calibration, "What `calibrate` returned")
def draw_calibration(calibration: Calibration, ax: Axes | None = None) -> Figure:
    """Draw the coefficients of the law with their intervals, beside those of a fit with all coefficients free."""
    picture = Picture(ax, (6.5, 3.6))
    axes = picture.axes
    pairs = {
        "retention p₁": (calibration.retention, calibration.free_retention),
        "coupling q": (calibration.coupling, calibration.free_coupling),
        "common retention ρ": (calibration.common_retention, None),
        "noise ν": (calibration.noise, None),
        "sum of e and D": (None, calibration.coefficient_sum),
    }
    shown = {name: pair for name, pair in pairs.items() if any(pair)}
    for kind, (label, colour, shift) in enumerate((("in the law", VERMILLION, -0.12), ("all free", BLUE, 0.12))):
        found = [(row + shift, pair[kind]) for row, pair in enumerate(shown.values())]
        places = [place for place, part in found if part is not None]
        parts = [part for _, part in found if part is not None]
        values = [part.value for part in parts]
        spread = [[max(0.0, value - part.low) for value, part in zip(values, parts, strict=True)],
                  [max(0.0, part.high - value) for value, part in zip(values, parts, strict=True)]]  # fmt: skip
        axes.errorbar(values, places, xerr=spread, fmt="o", ms=4, capsize=4, color=colour, label=label)
    axes.set_yticks(range(len(shown)), list(shown))
    axes.invert_yaxis()
    axes.axvline(0.0, color="#BBBBBB", lw=0.8, zorder=0)
    axes.set_xlabel(f"coefficient, {100 * calibration.level:.3g} % interval")
    return picture.finish(f"Error law: {calibration.verdict}, form {calibration.form}", 11, 2)
