"""The map below a route: positions of regions, paper size, equal scales and axis names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from learnroute.model.problem import Problem
from learnroute.model.scaling import scaled_places
from learnroute.model.validation import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AREA = 29.0  # square inches of a map
ROOMY = 25  # number of regions from which the area grows, by up to 50 %
PROPORTIONS = 0.55, 2.2  # minimum and maximum width over height
ROOM = np.array([0.5, 0.38])  # inches around the outermost regions, for their names
EDGE = 0.2  # inches around the outermost regions if there are no names
LEAST_COSINE = 0.05  # maps close to the poles are not stretched further


def map_places(problem: Problem) -> FloatArray:
    """Return the positions of stops, the depot last: their coordinates, or positions computed from travel costs.

    On the globe, longitudes continue past 180 degrees if that keeps regions together.
    """
    if problem.stop_coordinates is None:
        return scaled_places(problem.ways.matrix)
    places = np.array(problem.stop_coordinates)
    if problem.geographic and problem.streets is None:
        around = np.sort(places[:, 0] % 360)
        gaps = np.diff(around, append=around[0] + 360)
        first = around[(int(np.argmax(gaps)) + 1) % len(around)]  # east of the widest gap
        joined = first + (places[:, 0] - first) % 360
        if np.ptp(joined) < np.ptp(places[:, 0]) - 1e-9:
            places[:, 0] = joined
    return places


def paper_size(line: FloatArray, stretch: float, regions: int) -> FloatArray:
    """Return the width and height of the map in inches for the line drawn on it."""
    across, along = np.ptp(line, axis=0) / (stretch, 1.0)
    proportion = np.clip(across / along if along > 0 else PROPORTIONS[1] if across > 0 else 1.5, *PROPORTIONS)
    area = AREA * np.clip(regions / ROOMY, 1.0, 1.5)
    return np.asarray(np.sqrt(area * np.array([proportion, 1 / proportion])))


def stretch_of(line: FloatArray, geographic: bool) -> float:
    """Return the degrees of longitude as long as one degree of latitude at the map's centre; 1 in the plane."""
    if not geographic:
        return 1.0
    middle = (line[:, 1].min() + line[:, 1].max()) / 2
    return 1 / max(LEAST_COSINE, float(np.cos(np.radians(middle))))


def show_all(axes: Axes, line: FloatArray, stretch: float, inches: FloatArray, named: bool) -> None:
    """Show the whole line in equal scales on a map of this size, with room for names if `named`."""
    low, high = line.min(axis=0), line.max(axis=0)
    wide = np.array([stretch, 1.0])
    scale = float(max((high - low) / wide / (inches - 2 * (ROOM if named else EDGE))))  # units per inch
    half = wide * inches * (scale or 1.0) / 2
    middle = (low + high) / 2
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    axes.set_aspect(stretch, adjustable="box")


def name_axes(axes: Axes, problem: Problem) -> None:
    """Name the axes according to the kind of coordinates."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(9, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(9, steps=[1, 2, 5, 10]))
    if problem.coordinates is None:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_xlabel("no coordinates: places from travel costs (multidimensional scaling)", fontsize=9)
    elif problem.geographic:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: degrees((x + 180) % 360 - 180, "E", "W")))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: degrees(y, "N", "S")))
        axes.set_xlabel("longitude", fontsize=9)
        axes.set_ylabel("latitude", fontsize=9)
    else:
        axes.set_xlabel("x", fontsize=9)
        axes.set_ylabel("y", fontsize=9)
    axes.tick_params(labelsize=9)


def degrees(value: float, positive: str, negative: str) -> str:
    """Return an angle as text, such as `5.5°E`."""
    shown = f"{abs(value):.7g}"
    return f"{shown}°{'' if shown in ('0', '180') else positive if value > 0 else negative}"
