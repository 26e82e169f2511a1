"""Losses as stacked bars: positive parts are stacked from zero, negative parts lead back to the total, hatched."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from learnroute.model.result import PARTS, Plan
from learnroute.model.value import Loss
from learnroute.plots.pictures import BLUE, GREEN, PURPLE, VERMILLION, remove_box

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PART_COLOURS = {"travel": BLUE, "dissimilarity": VERMILLION, "initial": GREEN, "noise": "#999999", "pairs": PURPLE}
NEGLIGIBLE = 1e-4  # parts below this share of the largest sum of parts are not drawn
STACKED = 0.62  # width of the stack as a share of the bar, if negative parts are beside it
ROOM = 0.08  # share of the height left free above and below
FAR = 0.6  # share of the height; a bound further below the bars is only in the legend
BAR = 0.62  # width of a plan's bar
LEGEND = 38  # maximum characters per line of the legend beneath a plan's bar


class Segment(NamedTuple):
    """A part of one bar, from `bottom` and of the given `height`, which is negative for a negative part."""

    part: str
    bar: int
    bottom: float
    height: float

    @property
    def name(self) -> str:
        """Name of the part in the legend."""
        if self.part == "pairs":  # a gain is negative
            return PARTS["pairs"] if self.height < 0 else PARTS["pairs"].replace("gain", "loss")
        return f"{PARTS[self.part]} (taken off)" if self.height < 0 else PARTS[self.part]


def segments_of(losses: Sequence[Loss]) -> list[Segment]:
    """Return the segments of bars: positive parts upwards, then negative parts back down to each total."""
    least = NEGLIGIBLE * max((loss.magnitude for loss in losses), default=0.0)
    drawn = {part for part in PART_COLOURS if any(abs(getattr(loss, part)) > least for loss in losses)}
    found = []
    for bar, loss in enumerate(losses):
        at = 0.0
        for sign in (1, -1):
            for part in PART_COLOURS:
                height = getattr(loss, part)
                if part in drawn and sign * height > 0:
                    found.append(Segment(part, bar, at, height))
                    at += height
    return found


def draw_bars(axes: Axes, losses: Sequence[Loss], width: float, numbered: bool = False) -> None:
    """Draw one bar per loss, mark totals that are not the upper end of their bar, and set the limits of the axis.

    If `numbered` (for a single bar), the legend contains the values.
    """
    segments = segments_of(losses)
    split = any(segment.height < 0 for segment in segments)
    share = STACKED if split else 1.0
    for name, some in _by_name(segments).items():
        taken_off = some[0].height < 0
        centre = width * (share / 2 if taken_off else (share - 1) / 2)
        style = {"hatch": "////", "facecolor": "white", "edgecolor": PART_COLOURS[some[0].part], "linewidth": 0.8}
        axes.bar(
            [segment.bar + centre for segment in some], [segment.height for segment in some],
            bottom=[segment.bottom for segment in some], width=width * (1 - share if taken_off else share),
            label=fill(f"{name}  {number_text(some[0].height)}", LEGEND) if numbered else name,
            **style if taken_off else {"color": PART_COLOURS[some[0].part]},
        )  # fmt: skip
    totals = [loss.total for loss in losses]
    if split:
        begins, ends = zip(*((k - width / 2, k + width / 2) for k in range(len(losses))), strict=True)
        label = f"total  {number_text(totals[0])}" if numbered else "total"
        axes.hlines(totals, begins, ends, color="black", lw=2, label=label, zorder=3)
    levels = [0.0, *totals, *(segment.bottom + segment.height for segment in segments)]
    if min(levels) < 0:
        axes.axhline(0, color="black", lw=0.8, zorder=0)
    room = ROOM * (max(levels) - min(levels) or 1.0)
    axes.set_ylim(min(levels) - room if min(levels) < 0 else 0.0, max(levels) + room)


def draw_bound(axes: Axes, bound: float, name: str) -> None:
    """Draw a lower bound as a line across the bars; a bound far below them is only in the legend."""
    low, high = axes.get_ylim()
    if bound >= low - FAR * (high - low):
        axes.set_ylim(min(low, bound - ROOM * (high - low)) if bound < low else low, high)
        axes.axhline(bound, color="black", ls="--", lw=1.2, label=f"{name}  {number_text(bound)}")
    else:
        axes.plot([], [], color="black", ls="--", lw=1.2, label=f"{name}  {number_text(bound)} (below)")


def draw_loss(axes: Axes, plan: Plan) -> None:
    """Draw the loss of a plan as a stacked bar, with the lower bound as a line."""
    draw_bars(axes, [plan.loss], BAR, numbered=True)
    if plan.lower_bound is not None and not plan.optimal:
        draw_bound(axes, plan.lower_bound, "lower bound")
    axes.set_xticks([])
    axes.set_xlim(-0.6, 0.6)
    axes.set_ylabel("expected loss per region", fontsize=9)
    axes.tick_params(labelsize=9)
    axes.set_title(f"total {number_text(plan.loss.total)}", fontsize=10, loc="left")
    remove_box(axes)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], loc="upper center", bbox_to_anchor=(0.5, -0.02), frameon=False, fontsize=9)


def number_text(value: float) -> str:
    """Return a number with four digits and the same minus sign as on the axes."""
    return f"{value:.4g}".replace("-", "−")


def _by_name(segments: list[Segment]) -> dict[str, list[Segment]]:
    """Return segments by name, stacked ones first, in the order of the parts."""
    ranked = sorted(segments, key=lambda segment: (segment.height < 0, list(PART_COLOURS).index(segment.part)))
    found: dict[str, list[Segment]] = {}
    for segment in ranked:
        found.setdefault(segment.name, []).append(segment)
    return found
