"""The paper's figures, and figures for its other claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnroute.guarantees import CHRISTOFIDES
from learnroute.plots.lines import (
    Line,
    LineStyle,
    break_at,
    counts,
    draw_line,
    style_of,
    whole_ticks,
)
from learnroute.plots.pictures import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILLION, new_figure, save_figure, tidy
from learnroute.reproduction.growth import exponent
from learnroute.reproduction.measurements import Ratios, Reproduction
from learnroute.reproduction.readings import CLAIMED, READINGS, Improvement
from learnroute.reproduction.scales import FAMILIES, NOISE, OVER, SAMPLES, UNDER
from learnroute.reproduction.worst_cases import SPACES, WorstCase
from learnroute.study.summary import Statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REGIMES = {UNDER: f"under regime, m = {UNDER}", OVER: f"over regime, m = {OVER}"}
EXACT = LineStyle("exact plan = optimum", GREEN, "D", "-")
ALGORITHM1 = style_of("algorithm1")._replace(name="Algorithm 1")
LOOKS = {"algorithm1": ALGORITHM1, "baseline": style_of("baseline"), "exact": EXACT}
NOISE_LOOKS = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (VERMILLION, "^", "-."), (PURPLE, "X", ":"))
SUFFIXES = (".png", ".svg")
RATIO = "loss ÷ optimum, R"
TOP = 1000.0  # of the axis of worst ratios; larger bounds are written as numbers


def save_figures(found: Reproduction, folder: Path) -> list[Path]:
    """Draw everything as PNG and SVG; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, draw in FIGURES.items():
        figure = draw(found)
        for suffix in SUFFIXES:
            path = folder / f"{name}{suffix}"
            save_figure(figure, path)
            figure.set_layout_engine("none")  # the layout is final, so do not compute it again
            paths.append(path)
    return paths


def _scale_features(axes: Axes) -> None:
    """Plot against m on a logarithmic scale, without a line through the undefined values."""
    axes.set_xscale("log")
    ticks = [10, 20, 50, 100, 200, 500, 1000]
    axes.set_xticks(ticks, list(map(str, ticks)))
    axes.minorticks_off()
    break_at(axes, SAMPLES)
    axes.set_xlabel("number of features m", fontsize=9)


def draw_figure1(found: Reproduction) -> Figure:
    """Plot R against m, one panel per T: mean, spread and maximum, with the baseline and the exact plan."""
    sizes = found.scale.figure1.regions
    figure, grid = _grid(-(-len(sizes) // 2), 2, 4.3, 2.9)
    for axes, size in zip(grid.flat, sizes, strict=False):
        lines = {m: _line(found.figure1, 2, ("uniform", size, None, 0.0, m)) for m in LOOKS}
        draw_line(axes, lines["algorithm1"], LOOKS["algorithm1"], "spread", maximum=True)
        draw_line(axes, lines["baseline"], LOOKS["baseline"], "none")
        draw_line(axes, lines["exact"], LOOKS["exact"], "none")
        _three_halves(axes)
        _scale_features(axes)
        axes.set_title(f"T = {size} regions", fontsize=10)
        axes.set_ylabel(RATIO, fontsize=9)
    _finish(
        figure, grid[0, 0],
        f"Figure 1: n = {SAMPLES}, σ = 0, uniform draws on [1, 10]; {counts(lines)}\n"
        "shaded: central 90 % of Algorithm 1's ratios; grey bar: m = n − 1 … n + 1, undefined", 3,
    )  # fmt: skip
    return figure


def draw_figure1_families(found: Reproduction) -> Figure:
    """Plot the mean R of Algorithm 1 against m, one panel per family, one line per σ."""
    size = 10
    figure, grid = _grid(2, 2, 4.3, 2.7)
    for axes, family in zip(grid.flat, FAMILIES, strict=True):
        lines = {noise: _line(found.figure1, 2, (family, size, None, noise, "algorithm1")) for noise in NOISE}
        for k, (noise, line) in enumerate(lines.items()):
            colour, marker, dash = NOISE_LOOKS[k]
            draw_line(axes, line, LineStyle(f"σ = {noise:g}", colour, marker, dash), "none" if k else "interval")
        axes.axhline(1, color=GREEN, lw=1.6, label=EXACT.name)
        _scale_features(axes)
        axes.set_title(f"family {family}", fontsize=10)
        axes.set_ylabel(f"{RATIO} (Algorithm 1)", fontsize=9)
    _finish(figure, grid[0, 0], f"Algorithm 1 at T = {size}, n = {SAMPLES}; {counts(lines)}\n"
            "mean ratio; shaded: its 95 % interval at σ = 0; grey bar: m = n − 1 … n + 1, undefined", 5)  # fmt: skip
    return figure


def draw_figure2(found: Reproduction) -> Figure:
    """Plot R against T for both regimes: Algorithm 1, the baseline and the exact plan."""
    figure, grid = _grid(1, 2, 4.6, 3.6)
    for axes, (m, title) in zip(grid.flat, REGIMES.items(), strict=True):
        lines = _methods(axes, found.figure2, "uniform", m, 0.0)
        _three_halves(axes)
        axes.set_title(title, fontsize=10)
        axes.set_ylabel(RATIO, fontsize=9)
    _finish(figure, grid[0, 0], f"Figure 2: n = {SAMPLES}, σ = 0, uniform draws on [1, 10]; {counts(lines)}\n"
            "mean ratio; shaded: 95 % interval of the mean", 4)  # fmt: skip
    return figure


def draw_figure2_families(found: Reproduction) -> Figure:
    """Plot Figure 2 for every family of problems."""
    return _figure2_panels(found, [(family, 0.0) for family in FAMILIES], "σ = 0", lambda f, _: f"family {f}")


def draw_figure2_noise(found: Reproduction) -> Figure:
    """Plot Figure 2 for every noise level."""
    return _figure2_panels(found, [("uniform", s) for s in NOISE], "uniform draws", lambda _, s: f"σ = {s:g}")


def draw_improvement(found: Reproduction) -> Figure:
    """Plot the improvement on the baseline against T: one column per reading, row per regime and line per family."""
    figure, grid = _grid(2, len(READINGS), 3.4, 2.7, share_y=False)
    for row, (m, title) in zip(grid, REGIMES.items(), strict=True):
        regime = "under" if m == UNDER else "over"
        for axes, reading in zip(row, READINGS, strict=True):
            for k, family in enumerate(FAMILIES):
                points = [
                    i for i in found.improvements
                    if (i.regime, i.reading, i.family, i.noise) == (regime, reading, family, 0.0)
                ]  # fmt: skip
                draw_line(axes, _percent(points), style_of(family, k), "spread")
            axes.axhline(100 * CLAIMED[regime], color=BLACK, ls="--", lw=1.2, label="claimed for T ≥ 6")
            axes.axvspan(0, 5.5, color="#EEEEEE", zorder=0, lw=0)
            axes.set_ylim(0, 100)
            axes.set_xlim(2.5, max(i.regions for i in found.improvements) + 0.5)
            axes.set_title(f"{reading}\n{title}", fontsize=9.5)
            axes.set_xlabel("number of regions T", fontsize=9)
            whole_ticks(axes, "regions")
        row[0].set_ylabel("improvement (% or points)", fontsize=9)
    count = found.scale.figure2.replicates
    _finish(figure, grid[0, 0], f"Improvement of Algorithm 1 on the baseline, σ = 0; {count} problems per point\n"
            "shaded bands: 95 % bootstrap interval; grey: T < 6, no claim", 5)  # fmt: skip
    return figure


def draw_lemmas(found: Reproduction) -> Figure:
    """Plot the simulated mean divided by the closed form, with 95 % intervals."""
    checks = found.lemmas
    figure = new_figure(figsize=(7.2, 1.6 + 0.34 * len(checks)), layout="constrained")
    axes = figure.subplots()
    for k, check in enumerate(checks):
        colour, marker = (BLUE, "o") if check.lemma == 1 else (VERMILLION, "s")
        half = 1.96 * check.standard_error / check.closed_form
        axes.errorbar(
            check.simulated / check.closed_form, k, xerr=half, color=colour, marker=marker, ms=5, capsize=3, ls="none"
        )
    axes.axvline(1, color=BLACK, lw=1.2)
    names = [
        f"Lemma {c.lemma}: m = {c.features}, n = {c.samples}, σ = {c.noise:g}, T = {c.regions} ({c.runs:,} runs)"
        for c in checks
    ]
    axes.set_yticks(range(len(checks)), names, fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel("simulated mean ÷ closed form, with 95 % interval", fontsize=9)
    figure.suptitle("Final error F_T: simulated mean divided by the closed form", fontsize=10, x=0.01,
                    ha="left")  # fmt: skip
    tidy(axes)
    return figure


def draw_worst(found: Reproduction) -> Figure:
    """Plot the worst ratio found for each m and its bounds, one panel per space of instances."""
    figure, grid = _grid(1, len(SPACES), 3.9, 3.7)
    for axes, (space, title) in zip(grid.flat, SPACES.items(), strict=True):
        cases = [case for case in found.worst if case.search.space == space]
        features = sorted({case.search.learner.features for case in cases})
        tops = [max((c for c in cases if c.search.learner.features == m), key=lambda c: c.climbed) for m in features]
        _worst_panel(axes, tops, space)
        axes.set_xticks(range(len(features)), [str(m) for m in features])
        axes.set_title(title.replace(", as the paper draws them", ""), fontsize=9.5)
        axes.set_xlabel("number of features m", fontsize=9)
    grid[0, 0].set_ylabel("Algorithm 1 ÷ optimum (log)", fontsize=9)
    sizes = sorted({case.search.regions for case in found.worst})
    shown = f"T = {sizes[0]}" if len(sizes) == 1 else f"T = {sizes[0]} … {sizes[-1]}"
    _finish(figure, grid[0, 0], f"Worst ratios found, n = {SAMPLES}, σ = 0, {shown}; "
            f"{found.scale.searches[0].starts} starts of {found.scale.searches[0].steps} steps for each T and m\n"
            "marks at 1000: bounds beyond the scale; number: the paper's bound for the worst instance", 5)  # fmt: skip
    return figure


def draw_growth(found: Reproduction) -> Figure:
    """Plot seconds against T on logarithmic axes, with the slopes of T² and T³."""
    figure = new_figure(figsize=(6.0, 4.2), layout="constrained")
    axes = figure.subplots()
    for k, family in enumerate(dict.fromkeys(timing.family for timing in found.growth)):
        timings = [timing for timing in found.growth if timing.family == family]
        look = style_of(f"{family}: T^{exponent(timings):.1f}", k)
        axes.loglog(
            [t.regions for t in timings], [t.seconds for t in timings], color=look.colour, marker=look.marker,
            ls=look.dash, label=look.name,
        )  # fmt: skip
    sizes = np.array(sorted({timing.regions for timing in found.growth}), dtype=float)
    last = max(timing.seconds for timing in found.growth)
    for power, dash in ((2, (0, (1, 2))), (3, (0, (5, 3)))):
        axes.loglog(
            sizes, last * (sizes / sizes[-1]) ** power, color="#777777", lw=1.1, ls=dash, label=f"slope T^{power}"
        )
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.minorticks_off()
    axes.set_xlabel("number of regions T", fontsize=9)
    axes.set_ylabel("seconds", fontsize=9)
    tidy(axes)
    axes.legend(frameon=False, fontsize=9)
    axes.set_title(
        f"Running time of Algorithm 1: one problem per point, minimum of {found.scale.repeats} runs",
        fontsize=10,
        loc="left",
    )
    return figure


FIGURES: dict[str, Callable[[Reproduction], Figure]] = {
    "figure1": draw_figure1,
    "figure1-families": draw_figure1_families,
    "figure2": draw_figure2,
    "figure2-families": draw_figure2_families,
    "figure2-noise": draw_figure2_noise,
    "improvement": draw_improvement,
    "lemmas": draw_lemmas,
    "worst": draw_worst,
    "growth": draw_growth,
}


def _figure2_panels(
    found: Reproduction, columns: list[tuple[str, float]], fixed: str, name: Callable[[str, float], str]
) -> Figure:
    figure, grid = _grid(2, len(columns), 2.7, 2.6)
    for row, (m, title) in zip(grid, REGIMES.items(), strict=True):
        for axes, (family, noise) in zip(row, columns, strict=True):
            lines = _methods(axes, found.figure2, family, m, noise)
            axes.set_title(f"{name(family, noise)}\n{title}", fontsize=9)
        row[0].set_ylabel(RATIO, fontsize=9)
    _finish(figure, grid[0, 0], f"n = {SAMPLES}, {fixed}; {counts(lines)}\n"
            "mean ratio; shaded: 95 % interval of the mean", 4)  # fmt: skip
    return figure


def _methods(axes: Axes, groups: Ratios, family: str, m: int, noise: float) -> dict[Any, Line]:
    lines = {method: _line(groups, 1, (family, None, m, noise, method)) for method in LOOKS}
    for method, line in lines.items():
        draw_line(axes, line, LOOKS[method], "none" if method == "exact" else "interval")
    axes.set_xlabel("number of regions T", fontsize=9)
    whole_ticks(axes, "regions")
    return dict(lines)


def _line(groups: Ratios, place: int, wanted: tuple[Any, ...]) -> Line:
    """Return statistics of the groups that match `wanted` (None: any), by their value at `place`."""
    return [
        (float(key[place]), Statistics.of(values))
        for key, values in groups.items()
        if all(want is None or have == want for have, want in zip(key, wanted, strict=True))
    ]


def _percent(points: Iterable[Improvement]) -> Line:
    """Return improvements as points of a line, with their intervals as its spread."""
    return [
        (float(i.regions), Statistics(0, 100 * i.value, 0.0, 100 * i.low, 100 * i.high, 100 * i.value)) for i in points
    ]  # fmt: skip


def _worst_panel(axes: Axes, tops: list[WorstCase], space: str) -> None:
    places = range(len(tops))
    axes.axhline(CHRISTOFIDES, color=BLACK, ls="--", lw=1.2, label="3/2")
    axes.plot(
        places, [c.random for c in tops], color=ORANGE, marker="X", ls="none", ms=7, label="worst of the random starts"
    )
    axes.plot(
        places, [c.climbed for c in tops], color=BLUE, marker="D", ls="none", ms=7, label="worst after hill climbing"
    )
    if space != "raw-in-range":
        sharper = [min(c.sharper if c.sharper is not None else np.inf, c.flat, TOP) for c in tops]
        axes.plot(places, sharper, color=GREEN, marker="_", ms=22, mew=2.5, ls="none", label="sharper bound")
        paper = [min(c.paper, TOP) for c in tops]
        axes.plot(places, paper, color=VERMILLION, marker="_", ms=22, mew=2.5, ls="none", label="the paper's bound")
        for place, case in zip(places, tops, strict=True):
            if case.paper > TOP:
                text = f"{case.paper:.1e}".replace("e+0", "e").replace("e+", "e")
                axes.text(place, TOP * 1.15, text, color=VERMILLION, ha="center", fontsize=7.5)
    axes.set_yscale("log")
    axes.set_ylim(0.9, TOP * 2)
    axes.set_yticks([1, 1.5, 3, 10, 30, 100, 300, 1000], ["1", "1.5", "3", "10", "30", "100", "300", "1000"])
    axes.minorticks_off()
    axes.margins(x=0.15)


def _three_halves(axes: Axes) -> None:
    axes.axhline(CHRISTOFIDES, color=BLACK, ls=(0, (4, 3)), lw=1.0, label="3/2")


def _grid(down: int, across: int, width: float, height: float, share_y: bool = True) -> tuple[Figure, Any]:
    figure = new_figure(figsize=(width * across, height * down + 1.0), layout="constrained")
    grid = figure.subplots(down, across, sharex=True, sharey=share_y, squeeze=False)
    for axes in grid.flat:
        tidy(axes)
        axes.tick_params(labelbottom=True)
    return figure, grid


def _finish(figure: Figure, axes: Axes, title: str, columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
