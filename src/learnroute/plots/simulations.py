"""Simulation -> picture: simulated errors along routes beside the closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from learnroute.errors import InputError, check_type
from learnroute.learning.simulation import Simulation
from learnroute.model.problem import Problem
from learnroute.plots.pictures import BLUE, VERMILLION, Picture, literal, name_of, picture_of, shape_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@picture_of(None, "One simulation, or pairs of a route's name and its simulation")
def draw_simulations(
    simulations: Simulation | Sequence[tuple[str, Simulation]], problem: Problem, ax: Axes | None = None
) -> Figure:
    """Draw each route's simulated error with its interval, beside the closed form, and the spread of single runs."""
    if isinstance(simulations, Simulation):
        simulations = [("route", simulations)]
    pairs = list(simulations) if isinstance(simulations, Sequence) and not isinstance(simulations, str) else []
    if not pairs or not all(isinstance(pair, Sequence) and len(pair) == 2 for pair in pairs):
        raise InputError("expected a list of names and simulations", field="simulations", value=simulations)
    for k, (_, simulation) in enumerate(pairs):
        check_type(f"simulations[{k}][1]", simulation, Simulation)
    picture = Picture(ax, (2.2 + 1.6 * max(len(simulations), 2), 5.0))
    axes = picture.axes
    axes.use_sticky_edges = False
    found = [simulation for _, simulation in simulations]
    places = np.arange(len(found))
    low, high = (np.array([np.quantile(s.errors, q) for s in found]) for q in (0.05, 0.95))
    axes.bar(places, high - low, bottom=low, width=0.5, color="#DDDDDD", label="middle 90 % of single runs")
    for k, simulation in enumerate(found):
        axes.plot([k - 0.3, k + 0.3], [simulation.expected] * 2, color=VERMILLION, lw=2,
                  label="closed form" if k == 0 else None)  # fmt: skip
    axes.errorbar(
        places, [s.mean for s in found], yerr=[s.interval[1] - s.mean for s in found], fmt="o", ms=5, capsize=7,
        color=BLUE, label=f"simulated mean, {100 * found[0].level:.3g} % interval",
    )  # fmt: skip
    names = [f"{k + 1} {name}" if len(found) > 1 else name for k, (name, _) in enumerate(simulations)]
    axes.set_xticks(places, [literal(f"{name}\n{_kind(s)}") for name, s in zip(names, found, strict=True)])
    axes.set_xlim(-0.7, len(found) - 0.3)
    axes.set_ylabel("average final error")
    return picture.finish(f"{name_of(problem)}\n{shape_line(problem)}, {found[0].runs:,} runs per route", 11, 2)


def _kind(simulation: Simulation) -> str:
    """Return a short description of the route."""
    if simulation.plan is None:
        return f"last {simulation.route[-1]}"
    fleet = simulation.plan.fleet
    many = len(simulation.plan.routes)
    return f"{many} vehicles" if many > 1 else f"{len({*fleet.models[0]}) if fleet else 1} trained models"
