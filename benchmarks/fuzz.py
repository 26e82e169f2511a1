"""Damaged input files: each must become a problem or a refusal of one line, never a traceback, a warning or a hang.

python benchmarks/fuzz.py                 # 100 000 files
python benchmarks/fuzz.py --files 3000    # as the tests do
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from learnroute import InputError, Learner, Problem, read_problem, write_problem
from learnroute.study.families import random_problem

ROOT = Path(__file__).parents[1]
PATIENCE = 10.0  # seconds that no file may take
NUMBER = re.compile(rb"-?\d+(\.\d+)?(e-?\d+)?")
JUNK = (
    b"", b"-1", b"0", b"1e308", b"1e999", b"-1e101", b"NaN", b"inf", b"9" * 400, b"9" * 5000, b"null", b"true", b'"x"',
    b"[]", b"{}", b"[" * 3000, b"<a>" * 3000, b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", "é東".encode(),
    b",", b",,", b";", b"\n", b"\r", b'"', b"'", b"<", b">", b"&", b"&b;", b"</node>", b"]]>", b"<![CDATA[", b"\\u",
    b'<!DOCTYPE x [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]>', b"EOF\n", b"DIMENSION: 999999999\n", b"-", b"1_000",
    b"EDGE_WEIGHT_FORMAT: UPPER_ROW\n", b"EDGE_WEIGHT_TYPE: GEO\n", b"181", b"99", b"100", b"0x10", b"\x1f", b" ", b":",
    b"\xc2\xa0",
)  # fmt: skip


@dataclass
class Reader:
    """Files of one format: what to pass to the reader, and the files it may open."""

    name: str
    main: str
    files: dict[str, bytes]
    counts: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0


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
    write_problem(base.changed(title="Tables", travel_rate=0.5, samples=[90, 95, 100, 105, 110]), folder / "tables")
    found.append(Reader("CSV folder", "", _files(folder / "tables")))
    write_problem(base.changed(title="Archive", travel_rate=0.5), folder / "p.npz")
    found.append(Reader("NumPy archive", "p.npz", {"p.npz": (folder / "p.npz").read_bytes()}))
    (folder / "matrix").mkdir()
    write_problem(base, folder / "matrix" / "p.tsp")
    found.append(Reader("TSPLIB matrix", "p.tsp", _files(folder / "matrix")))
    (folder / "streets").mkdir()
    listed = b'{"nodes": [1, 9, "20"], "vectors": [[1], [2], [4]], "learner": {"features": 60, "samples": 100}}'
    graph = (examples / "old-town" / "old-town.graphml").read_bytes()
    found.append(Reader("GraphML, nodes listed", "t.graphml", {"t.graphml": graph, "t.regions.json": listed}))
    return found


def damaged(data: bytes, rng: random.Random) -> bytes:
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


def attempt(path: Path) -> tuple[str, str]:
    """Read one problem: `read`, `refused`, or what went wrong."""
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        problem = read_problem(path)
        assert isinstance(problem, Problem)
        return "read", ""
    except InputError as error:
        return ("refused", "") if "\n" not in str(error) else ("wrong", f"more than a line: {error}")
    except TimeoutError:
        return "hung", traceback.format_exc()
    except Exception:
        return "wrong", traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def run(files: int, seed: int) -> int:
    """Damage and read that many files; return how many went wrong."""
    rng = random.Random(seed)
    warnings.simplefilter("error")
    signal.signal(signal.SIGALRM, _too_long)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        all_readers = readers(Path(name))
        for k, reader in enumerate(all_readers):
            folder = Path(name) / f"r{k}"
            folder.mkdir()
            for file, data in reader.files.items():
                (folder / file).write_bytes(data)
            assert attempt(folder / reader.main)[0] == "read", reader.name
        for number in range(files):
            k = number % len(all_readers)
            reader, folder = all_readers[k], Path(name) / f"r{k}"
            file = rng.choice(list(reader.files)) if rng.random() < 0.3 or not reader.main else reader.main
            damage = damaged(reader.files[file], rng)
            (folder / file).write_bytes(damage)
            started = time.perf_counter()
            outcome, detail = attempt(folder / reader.main)
            reader.slowest = max(reader.slowest, time.perf_counter() - started)
            (folder / file).write_bytes(reader.files[file])
            reader.counts[outcome] += 1
            if detail:
                print(f"{reader.name}: {file}: {damage[:300]!r}\n{detail}", file=sys.stderr)
    print(f"{'reader':<24}{'files':>8}{'read':>8}{'refused':>9}{'wrong':>7}{'hung':>6}{'slowest, s':>12}")
    for reader in all_readers:
        counts = reader.counts
        cells = (
            f"{sum(counts.values()):>8}{counts['read']:>8}{counts['refused']:>9}{counts['wrong']:>7}{counts['hung']:>6}"
        )
        print(f"{reader.name:<24}{cells}{reader.slowest:>12.3f}")
    return sum(reader.counts["wrong"] + reader.counts["hung"] for reader in all_readers)


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def _too_long(*_: object) -> None:
    raise TimeoutError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started = time.perf_counter()
    failures = run(options.files, options.seed)
    print(f"{options.files} files, seed {options.seed}: {failures} failures in {time.perf_counter() - started:.0f} s")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
