"""Files of every readable format, and damaged copies of them."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

from learnroute import Learner, write_problem
from learnroute.study.families import random_problem

ROOT = Path(__file__).parents[1]
NUMBER = re.compile(rb"-?\d+(\.\d+)?(e-?\d+)?")
JUNK = (
    b"", b"-1", b"0", b"1e308", b"1e999", b"-1e101", b"NaN", b"inf", b"9" * 400, b"9" * 5000, b"null", b"true", b'"x"',
    b"[]", b"{}", b"[" * 3000, b"<a>" * 3000, b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", "é東".encode(),
    b",", b",,", b";", b"\n", b"\r", b'"', b"'", b"<", b">", b"&", b"&b;", b"</node>", b"]]>", b"<![CDATA[", b"\\u",
    b'<!DOCTYPE x [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]>', b"EOF\n", b"DIMENSION: 999999999\n", b"-", b"1_000",
    b"EDGE_WEIGHT_FORMAT: UPPER_ROW\n", b"EDGE_WEIGHT_TYPE: GEO\n", b"181", b"99", b"100", b"0x10", b"\x1f", b" ", b":",
    b"\xc2\xa0",
)  # fmt: skip


@dataclass(frozen=True)
class Reader:
    """Files of one format: what to pass to the reader, and the files it may open."""

    name: str
    main: str
    files: dict[str, bytes]


def readers(folder: Path) -> list[Reader]:
    """Return undamaged files for each reader."""
    examples = ROOT / "examples"
    base = random_problem("vectors", 5, Learner(80, 100, 0.1), 1)
    found = [
        Reader("JSON", "p.json", {"p.json": (examples / "warehouse-robot.json").read_bytes()}),
        Reader("GeoJSON", "p.geojson", {"p.geojson": (examples / "lakes.geojson").read_bytes()}),
        Reader("places", "places.csv", _files(examples / "sensors")),
        Reader("TSPLIB places", "burma14.tsp", _files(examples / "burma14")),
        Reader("GraphML", "old-town.graphml", _files(examples / "old-town")),
    ]
    write_problem(base.replace(title="Tables", travel_rate=0.5, samples=[90, 95, 100, 105, 110]), folder / "tables")
    found.append(Reader("CSV folder", "", _files(folder / "tables")))
    write_problem(base.replace(title="Archive", travel_rate=0.5), folder / "p.npz")
    found.append(Reader("NumPy archive", "p.npz", {"p.npz": (folder / "p.npz").read_bytes()}))
    (folder / "matrix").mkdir()
    write_problem(base, folder / "matrix" / "p.tsp")
    found.append(Reader("TSPLIB matrix", "p.tsp", _files(folder / "matrix")))
    (folder / "streets").mkdir()
    listed = b'{"nodes": [1, 9, "20"], "vectors": [[1], [2], [4]], "learner": {"features": 60, "samples": 100}}'
    graph = (examples / "old-town" / "old-town.graphml").read_bytes()
    found.append(Reader("GraphML, nodes listed", "t.graphml", {"t.graphml": graph, "t.regions.json": listed}))
    return found


def damage(data: bytes, rng: random.Random) -> bytes:
    """Return a copy with one to three accidents."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at, kind = rng.randrange(len(data) + 1), rng.randrange(8)
        if kind == 0:  # a byte
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif kind == 1:  # something put in
            data = data[:at] + rng.choice(JUNK) + data[at:]
        elif kind in (2, 3):  # a number replaced
            numbers = list(NUMBER.finditer(data))
            if numbers:
                chosen = rng.choice(numbers)
                data = data[: chosen.start()] + rng.choice(JUNK) + data[chosen.end() :]
        elif kind == 4:  # a stretch lost
            data = data[:at] + data[at + rng.choice((1, 2, 10, 100)) :]
        elif kind == 5:  # the end lost
            data = data[:at] if rng.random() < 0.3 else data
        else:  # lines repeated, lost or exchanged
            lines = data.splitlines(keepends=True) or [b""]
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            if kind == 6:
                lines[i], lines[j] = lines[j], lines[i]
            else:
                lines[i : i + 1] = [] if rng.random() < 0.5 else [lines[i], lines[i]]
            data = b"".join(lines)
    return data


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
