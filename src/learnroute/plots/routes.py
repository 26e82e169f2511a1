"""Plan -> picture: the route on a map, beside the parts of its loss."""

from __future__ import annotations

from itertools import accumulate, pairwise
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from learnroute.model.problem import Problem
from learnroute.model.result import Plan, itinerary
from learnroute.model.validation import FloatArray
from learnroute.plots.label_placement import POINTS, Obstacles, draw_labels, fix_layout, frame_of, in_points
from learnroute.plots.losses import draw_loss
from learnroute.plots.maps import map_places, name_axes, paper_size, show_all, stretch_of
from learnroute.plots.pictures import (
    BLUE,
    GREEN,
    GREY,
    PURPLE,
    VERMILLION,
    new_figure,
    picture_of,
    root_figure,
    shape_line,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NAMES = 60  # maximum number of regions with names
MOST_MARKS = 1000  # maximum number of regions with a mark each and some numbers
MOST_NUMBERS = 120  # maximum number of regions with a number each
NUMBERS = 30  # approximate maximum of numbers with more regions
LONGEST_NAME = 28  # maximum characters
MOST_VECTORS = 5000  # maximum number of legs drawn as lines in .svg and .pdf; more are rasterised
AROUND_MAP = np.array([4.5, 1.25])  # inches for everything beside the map
LOSS_WIDTH = 3.0
SCORES = "cividis_r"
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, "#b8860b", "#1b6f8a", "#8c4a2f", "#444444")  # of vehicles and models
SHAPES = "o^sDvPX<"  # of models
ARROW = {"arrowstyle": "-|>", "color": GREY, "lw": 1.2, "mutation_scale": 12, "shrinkA": 0, "shrinkB": 0}
STRAIGHT = 45.0  # points: straight parts of a street of at least this length have their own arrow
SKIPPED = "#767676"  # colour of regions that are not visited


@picture_of(
    Plan, "What `plan` or `evaluate` returned", ax="Axes to draw the map in; a new figure with map and loss if omitted."
)
def draw_plan(plan: Plan, problem: Problem, ax: Axes | None = None) -> Figure:
    """Draw a plan: the route on a map on the left, the loss on the right.

    Regions without coordinates are placed by multidimensional scaling of their travel costs. Regions that are not
    visited are hollow; regions that are visited several times show all their numbers.
    """
    places = map_places(problem)
    legs = _legs(plan, problem, places)
    drawn = np.concatenate([places, *legs])
    stretch = stretch_of(drawn, problem.geographic and problem.coordinates is not None)
    if ax is not None:
        _set_map_title(ax, plan, problem)
        show_all(ax, drawn, stretch, _inches(ax), problem.size <= MOST_NAMES)
        draw_route(ax, plan, problem, places, legs)
        return root_figure(ax)
    paper = paper_size(drawn, stretch, problem.size)
    inches = paper + AROUND_MAP
    figure = new_figure(figsize=tuple(inches), layout="constrained")
    parts = figure.subfigures(1, 2, squeeze=False, width_ratios=[inches[0] - LOSS_WIDTH, LOSS_WIDTH])
    left, right = parts[0]
    axes = left.subplots()
    draw_loss(right.subplots(), plan)
    bar = left.colorbar(_colours(plan, problem), ax=axes, fraction=0.045, pad=0.02, aspect=paper[1] / 0.2)
    many = len(plan.order) > MOST_MARKS
    bar.set_label("position in the route" if many else "mean dissimilarity to all regions (score / T)", fontsize=9)
    bar.ax.tick_params(labelsize=9)
    _set_map_title(axes, plan, problem)
    figure.suptitle(_headline(plan, problem, inches[0]), fontsize=12, x=0.015, ha="left", parse_math=False)
    show_all(axes, drawn, stretch, paper, problem.size <= MOST_NAMES)
    axes.set_aspect("auto")
    fix_layout(figure)
    show_all(axes, drawn, stretch, _inches(axes), problem.size <= MOST_NAMES)
    draw_route(axes, plan, problem, places, legs)
    return figure


def _set_map_title(axes: Axes, plan: Plan, problem: Problem) -> None:
    name_axes(axes, problem)
    start = "" if plan.depot is None else f"from {_short(plan.depot)} (square), "
    first = "" if len(plan.route) == 1 else f"first {_short(plan.route[0])}, last "
    ends = f"{start}{first}{_short(plan.route[-1])} (star)"
    if plan.fleet is not None:
        ends = f"{start}{_fleet_title(plan)}"
    back = plan.closed and len(set(plan.stops)) > 1
    axes.set_title(f"{ends}, and back (dashed)" if back else ends, fontsize=10, loc="left", parse_math=False)


def _fleet_title(plan: Plan) -> str:
    """Return a title that explains colours and shapes of several vehicles or models."""
    vehicles = f"{len(plan.by_vehicle())} routes, one colour each" if plan.several else "one route"
    models = "" if plan.several else f", {len(set(plan.models or ()))} models, one shape each"
    served = "" if plan.served_by is None else "; outlines: the model that serves"
    return f"{vehicles}{models}{served}"


def draw_route(axes: Axes, plan: Plan, problem: Problem, places: FloatArray, legs: list[FloatArray]) -> None:
    """Draw the route and its regions, with names or numbers; with very many regions, only the ends are marked."""
    regions, named = _marked_regions(plan), problem.size <= MOST_NAMES
    skipped = [i for i in range(problem.size) if problem.regions[i] in set(plan.skipped)]
    if len(plan.order) > MOST_MARKS:
        _colour_legs(axes, plan, problem, legs)
        marks = Marks(5.0, False)
    else:
        _draw_ways(axes, plan, legs, 1.4 if len(regions) <= MOST_NAMES else 0.9)
        marks = _marks(in_points(axes, places if named else places[[*regions, *range(problem.size, len(places))]]))
    _draw_marks(axes, plan, problem, places, marks)
    hollow = marks.radius if named else _marks(in_points(axes, places)).radius
    _draw_skipped(axes, places[skipped], hollow, [_outline(plan, problem.regions[i], SKIPPED) for i in skipped])
    radii = np.full(len(regions), marks.radius)
    radii[-1] = marks.star if plan.fleet is None else marks.radius
    texts = _texts(plan, problem, marks)
    if named:
        texts |= {len(regions) + k: _short(problem.regions[i]) for k, i in enumerate(skipped)}
    labelled = places[[*regions, *skipped]]
    radii = np.append(radii, np.full(len(skipped), hollow))
    if plan.depot is not None:
        _draw_depot(axes, places[-1], marks.square)
        radii, labelled = np.append(radii, marks.square), np.vstack([labelled, places[-1:]])
        texts[len(labelled) - 1] = _short(plan.depot)
    spots = in_points(axes, labelled)
    arrows, bends = np.empty((0, 2)), np.empty((0, 2))
    if legs and len(plan.order) <= MOST_MARKS:
        arrows = _draw_arrows(axes, legs, spots, radii, _leg_colours(plan, legs))
        bends = in_points(axes, np.concatenate(legs))
    lines = np.concatenate([bends[:-1], bends[1:]], axis=1)
    obstacles = Obstacles(spots, radii, lines, arrows, frame_of(axes))
    grey = dict.fromkeys(range(len(regions), len(regions) + len(skipped)), SKIPPED)
    all_named = len(texts) == len(labelled)
    font = (9 if len(texts) <= 25 else 8 if len(texts) <= 40 else 7) if all_named else 7.5
    draw_labels(axes, texts, labelled, obstacles, font, grey, all_named)


def _draw_ways(axes: Axes, plan: Plan, legs: list[FloatArray], width: float) -> None:
    """Draw the route of each vehicle, with its leg back dashed."""
    for vehicle, colour in zip(_legs_by_vehicle(plan), _vehicle_colours(plan), strict=True):
        own = legs[vehicle]
        way = own[:-1] if plan.closed else own
        if way:
            axes.plot(*np.concatenate(way).T, color=colour, lw=width, zorder=1)
        if plan.closed:
            axes.plot(*own[-1].T, color=colour, lw=width, ls=(0, (5, 3)), zorder=1)


def _legs_by_vehicle(plan: Plan) -> list[slice]:
    """Return the slice of legs of each vehicle in use."""
    ends = accumulate((len(one.stops) - 1 for one in plan.by_vehicle().values()), initial=0)
    return [slice(*pair) for pair in pairwise(ends)]


def _vehicle_colours(plan: Plan) -> list[str]:
    return [_colour(number - 1) if plan.several else GREY for number in plan.by_vehicle()]


def _leg_colours(plan: Plan, legs: list[FloatArray]) -> list[str]:
    """Return the colour of each leg."""
    ways = zip(_legs_by_vehicle(plan), _vehicle_colours(plan), strict=True)
    return [colour for part, colour in ways for _ in legs[part]]


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _outline(plan: Plan, region: str, otherwise: str) -> str:
    """Return the outline colour of a region: the colour of the model that serves it, if models serve own regions."""
    model = None if plan.served_by is None else plan.served_by[region]
    return otherwise if model is None else _colour(model)


def _marked_regions(plan: Plan) -> list[int]:
    """Return the regions whose visits are marked, the last one last; with very many regions, only the ends."""
    last = plan.order[-1]
    if len(plan.order) > MOST_MARKS:
        return list(dict.fromkeys([plan.order[0], last]))
    return [*(i for i in dict.fromkeys(plan.order) if i != last), last]


def _draw_skipped(axes: Axes, places: FloatArray, radius: float, outlines: list[str]) -> None:
    """Draw the regions that are not visited as hollow marks."""
    axes.scatter(
        places[:, 0], places[:, 1], s=(2 * radius) ** 2, facecolors="none", edgecolors=outlines, zorder=3,
        linewidths=1.4 if radius > 4 else 0.7, gid="skipped",
    )  # fmt: skip


def _draw_depot(axes: Axes, place: FloatArray, radius: float) -> None:
    """Draw the depot as a square, because nothing is learnt there."""
    axes.scatter(
        place[0], place[1], s=(2 * radius) ** 2, marker="s", color="white", edgecolors="black", linewidths=1.6, zorder=4
    )  # fmt: skip


class Marks(NamedTuple):
    """The radius of marks in points, and whether numbers fit into them."""

    radius: float
    numbered: bool

    @property
    def square(self) -> float:
        """Half the side of the depot."""
        return max(0.85 * self.radius, 4.0)

    @property
    def star(self) -> float:
        """Radius of the star at the last region."""
        return 1.7 * max(self.radius, 5.0)


def _marks(spots: FloatArray) -> Marks:
    """Return the largest marks that the two closest stops allow."""
    if len(spots) > MOST_NAMES + 1:  # including the depot
        room = float(np.sqrt(np.ptp(spots[:, 0]) * np.ptp(spots[:, 1]) / len(spots)))
        return Marks(float(np.clip(0.16 * room, 1.3, 3.2)), False)
    apart = np.hypot(*(spots[:, None] - spots[None]).T)
    np.fill_diagonal(apart, np.inf)
    nearest = float(apart.min())
    if nearest >= 15:
        return Marks(float(min(9.0, 0.47 * nearest)), True)
    return Marks(float(np.clip(0.45 * nearest, 3.0, 4.5)), False)


def _draw_marks(axes: Axes, plan: Plan, problem: Problem, places: FloatArray, marks: Marks) -> None:
    colours = _colours(plan, problem)
    regions, numbers = _marked_regions(plan), _numbers(plan)
    if len(plan.order) > MOST_MARKS:
        values = np.array([float(numbers[i][-1]) for i in regions])
    else:
        values = problem.scores[regions] / problem.size
    style: dict[str, Any] = {"cmap": colours.cmap, "norm": colours.norm}
    spots, fleet = places[regions], plan.fleet
    if fleet is None:
        axes.scatter(
            spots[:-1, 0], spots[:-1, 1], c=values[:-1], s=(2 * marks.radius) ** 2, edgecolors="black", zorder=3,
            linewidths=0.8 if marks.radius > 4 else 0.5, **style,
        )  # fmt: skip
        axes.scatter(
            spots[-1:, 0], spots[-1:, 1], c=values[-1:], s=(2 * marks.star) ** 2, marker="*", zorder=4,
            edgecolors=VERMILLION, linewidths=1.6 if marks.numbered else 1.2, **style,
        )  # fmt: skip
    else:
        trained = {region: model for _, region, model in fleet.visits()}
        outlined = plan.served_by is not None
        for k, region in enumerate(regions):
            shape = SHAPES[trained[region] % len(SHAPES)]
            axes.scatter(
                spots[k, 0], spots[k, 1], c=values[k : k + 1], s=(2 * marks.radius) ** 2, marker=shape,
                edgecolors=_outline(plan, problem.regions[region], "black"), zorder=3,
                linewidths=(2.2 if outlined else 0.8) if marks.radius > 4 else 0.7, **style,
            )  # fmt: skip
    if marks.numbered:
        for region, place, colour in zip(regions, spots, colours.to_rgba(values), strict=True):
            if len(numbers[region]) > 1:
                continue  # several numbers are written beside the name
            dark = float(np.dot(colour[:3], [0.299, 0.587, 0.114])) < 0.5
            axes.annotate(
                str(numbers[region][0]), place, ha="center", va="center_baseline", zorder=5,
                color="white" if dark else "black", fontsize=9 if marks.radius > 8 else 7, fontweight="bold",
                in_layout=False,
            )  # fmt: skip


def _numbers(plan: Plan) -> dict[int, list[int]]:
    """Return the numbers of the visits to each region."""
    found: dict[int, list[int]] = {}
    for one in plan.by_vehicle().values():
        for number, region in enumerate(one.order, 1):
            found.setdefault(region, []).append(number)
    return found


def _colours(plan: Plan, problem: Problem) -> Any:
    """Return the colour scale of a map: of scores, or of positions if there are too many regions for marks."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    many = len(plan.order) > MOST_MARKS
    values = np.array([1.0, len(plan.order)]) if many else problem.scores / problem.size
    along = ListedColormap(colormaps["plasma"](np.linspace(0, 0.87, 256)))
    return ScalarMappable(Normalize(values.min(), values.max()), along if many else SCORES)


def _colour_legs(axes: Axes, plan: Plan, problem: Problem, legs: list[FloatArray]) -> None:
    """Draw thin legs, coloured by their position in the route."""
    from matplotlib.collections import LineCollection

    colours = _colours(plan, problem)
    area = POINTS**2 * float(np.prod(_inches(axes)))
    width = float(np.clip(0.1 * np.sqrt(area / len(plan.order)), 0.25, 0.9))
    drawn = LineCollection(legs, cmap=colours.cmap, norm=colours.norm, lw=width, zorder=1, capstyle="round")
    drawn.set_array(np.arange(1.0, len(legs) + 1))
    drawn.set_rasterized(len(legs) > MOST_VECTORS)
    axes.add_collection(drawn, autolim=False)


def _draw_arrows(
    axes: Axes, legs: list[FloatArray], spots: FloatArray, radii: FloatArray, colours: list[str]
) -> FloatArray:
    """Draw arrows on long straight parts, clear of marks and other arrows; return their positions in points."""
    heads = np.empty((0, 2))
    style = ARROW if len(legs) <= MOST_NAMES else ARROW | {"mutation_scale": 9, "lw": 0.8}
    for leg, colour in zip(legs, colours, strict=True):
        if len(leg) < 2:  # the same region again, with travel along streets
            continue
        bends = in_points(axes, leg)
        lengths = np.hypot(*np.diff(bends, axis=0).T)
        along = np.concatenate([[0], np.cumsum(lengths)])
        longest = int(np.argmax(lengths))
        for part in {longest, *np.flatnonzero(lengths >= STRAIGHT).tolist()}:
            ways = along[part] + lengths[part] * np.array([0.54, 0.44, 0.64, 0.34, 0.74])
            middles = _along(bends, along, ways)
            free = (np.hypot(*(middles[:, None] - spots).T).T - radii).min(axis=1)
            room = np.minimum(free, _nearest_distances(middles, heads) - 8)
            best = int(np.argmax(room >= 8)) if (room >= 8).any() else int(np.argmax(room))
            if room[best] < 4 or lengths[part] < 14:
                continue
            ends = _along(bends, along, ways[best] + np.array([-2.0, 4.0])) * axes.figure.dpi / POINTS + axes.bbox.p0
            tail, tip = axes.transData.inverted().transform(ends)
            axes.annotate("", xy=tip, xytext=tail, zorder=2, in_layout=False, arrowprops=style | {"color": colour})
            heads = np.concatenate([heads, middles[best : best + 1]])
    return heads


def _nearest_distances(places: FloatArray, others: FloatArray) -> FloatArray:
    """Return the distance of each place to the nearest of the others."""
    return np.asarray(np.hypot(*(places[:, None] - others).T).T.min(axis=1, initial=np.inf))


def _along(bends: FloatArray, along: FloatArray, ways: FloatArray) -> FloatArray:
    """Return the places at these distances along a line with bends."""
    return np.column_stack([np.interp(ways, along, bends[:, k]) for k in (0, 1)])


def _texts(plan: Plan, problem: Problem, marks: Marks) -> dict[int, str]:
    """Return the labels of visited regions by index of the mark."""
    regions, numbers, size = _marked_regions(plan), _numbers(plan), len(plan.order)
    named = {}
    for k, i in enumerate(regions):
        number = "" if marks.numbered and len(numbers[i]) == 1 else ", ".join(f"{one:,}" for one in numbers[i])
        named[k] = f"{number} {_short(problem.regions[i])}".lstrip()
    if len(regions) <= MOST_NAMES:
        return named
    step = next(step for step in (1, 5, 10, 20, 50) if size <= NUMBERS * step or size <= MOST_NUMBERS)
    shown = {1, *range(step, size - step // 2, step), size}
    few = {k: [str(number) for number in numbers[i] if number in shown] for k, i in enumerate(regions)}
    return {k: ", ".join(some) for k, some in few.items() if some}


def _legs(plan: Plan, problem: Problem, places: FloatArray) -> list[FloatArray]:
    """Return the points along each leg, which follow the streets if they are known. The leg back is the last."""
    legs: list[FloatArray] = []
    for one in plan.by_vehicle().values():
        order = [stop.place for stop in itinerary(problem, one.order)]
        if problem.streets is None:
            way = places[order]
            legs += list(np.stack([way[:-1], way[1:]], axis=1))
        else:
            legs += [problem.streets.path(a, b) for a, b in pairwise(order)]
    return legs


def _inches(axes: Axes) -> FloatArray:
    return np.array(axes.bbox.size) / axes.figure.dpi


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _headline(plan: Plan, problem: Problem, width: float) -> str:
    name = f"{problem.title}: " if problem.title else ""
    visited = "" if len(plan.order) == len(set(plan.order)) == problem.size else f", {plan.visited}"
    routes = "routes" if plan.several else "route"
    headline = fill(f"{name}{plan.method} {routes}{visited}, {plan.quality}", int(10 * width))
    return f"{headline}\n{shape_line(problem, plan.learner)}"
