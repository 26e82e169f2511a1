"""Plans as QGroundControl missions (.plan): latitude, longitude, height above home."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from learnroute.formats.files import write_text
from learnroute.formats.tracks import stops_of, track_of
from learnroute.model.problem import Problem
from learnroute.model.result import Plan

HEIGHT = 50.0  # metres above the first place
WAYPOINT = 16  # MAV_CMD_NAV_WAYPOINT
RELATIVE = 3  # MAV_FRAME_GLOBAL_RELATIVE_ALT
GENERIC = 0  # MAV_AUTOPILOT_GENERIC, and MAV_TYPE_GENERIC: any vehicle


def write_plan(plan: Plan, path: Path, problem: Problem | None = None) -> None:
    """Write one waypoint per stop, and those along the streets if known; home is the first stop."""
    places = track_of(stops_of(plan, problem, path))
    mission = {
        "version": 2,
        "firmwareType": GENERIC,
        "vehicleType": GENERIC,
        "cruiseSpeed": 15,
        "hoverSpeed": 5,
        "globalPlanAltitudeMode": 1,
        "plannedHomePosition": [places[0][1], places[0][0], 0],
        "items": [_item(k + 1, latitude, longitude) for k, (longitude, latitude) in enumerate(places)],
    }
    data = {
        "fileType": "Plan",
        "version": 1,
        "groundStation": "QGroundControl",
        "mission": mission,
        "geoFence": {"version": 2, "circles": [], "polygons": []},
        "rallyPoints": {"version": 2, "points": []},
    }
    write_text(path, json.dumps(data, indent=1, allow_nan=False) + "\n")


def _item(number: int, latitude: float, longitude: float) -> dict[str, Any]:
    return {
        "type": "SimpleItem",
        "command": WAYPOINT,
        "frame": RELATIVE,
        "doJumpId": number,
        "autoContinue": True,
        "Altitude": HEIGHT,
        "AltitudeMode": 1,
        "AMSLAltAboveTerrain": None,
        "params": [0, 0, 0, None, latitude, longitude, HEIGHT],
    }
