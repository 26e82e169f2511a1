"""Speed of sweeps: `python benchmarks/sweeps.py`. Prints a table for docs/appendix/benchmarks.md.

10 000 problems of 8 regions with Algorithm 1, the baseline and the exact optimum; the same work as two serial halves,
one after the other and side by side; and the memory of sweeps of different lengths.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

CELLS = 10_000
CODE = """
import json, resource, sys
from joblib.externals.loky import get_reusable_executor
from learnroute.study.experiment import read_experiment
from learnroute.study.rows import write_rows
from learnroute.study.store import Store
from learnroute.study.sweeps import sweep
file, folder, workers = sys.argv[1:]
done = sweep(read_experiment(file), folder, workers=int(workers))
write_rows(Store(folder).rows(), folder + "/rows.csv")
if int(workers) > 1:
    get_reusable_executor().shutdown()
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps({"sweep": done.seconds, "memory": used[0].ru_maxrss / 1024,
                  "cpu": sum(u.ru_utime + u.ru_stime for u in used)}))
"""


class Run:
    """A sweep in a separate process."""

    def __init__(self, folder: Path, name: str, cells: int, workers: int, seed: int = 0) -> None:
        data = {"families": "uniform", "regions": 8, "features": [80, 120], "replicates": cells // 2, "seed": seed}
        file = folder / f"{name}.json"
        file.write_text(json.dumps(data))
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-c", CODE, str(file), str(folder / name), str(workers)], stdout=subprocess.PIPE
        )

    def wait(self) -> dict[str, Any]:
        """Wait until the sweep has ended, and return its figures."""
        out, _ = self.process.communicate()
        assert self.process.returncode == 0
        return {**json.loads(out), "all": time.perf_counter() - self.started}


def main() -> None:
    workers = 2
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        whole = Run(folder, "whole", CELLS, workers).wait()
        beside = [Run(folder, f"beside{k}", CELLS // 2, 1, k) for k in (1, 2)]
        together = max(run.wait()["sweep"] for run in beside)
        serial = [Run(folder, f"half{k}", CELLS // 2, 1, k).wait() for k in (1, 2)]
        halves = [run["sweep"] for run in serial]
        again = Run(folder, "again", CELLS, workers).wait()
        short = Run(folder, "short", CELLS // 10, workers).wait()
    least = min(whole["sweep"], again["sweep"])
    print(
        f"Python {platform.python_version()}, joblib {version('joblib')}, {os.cpu_count()} cores, {platform.machine()}"
    )
    print(f"\n| {CELLS:,} problems, T = 8, three methods | measured |\n|---|---|")
    print(f"| {workers} workers, from start to rows.csv | {whole['all']:.1f} s and {again['all']:.1f} s |")
    print(f"| the sweep alone | {whole['sweep']:.1f} s and {again['sweep']:.1f} s |")
    print(f"| two serial halves, one after the other | {halves[0]:.1f} s + {halves[1]:.1f} s |")
    print(f"| efficiency against that | {sum(halves) / workers / least:.0%} |")
    print(f"| two serial halves, side by side | {together:.1f} s |")
    print(f"| efficiency against that | {together / least:.0%} |")
    busy, alone = min(whole["cpu"], again["cpu"]), sum(run["cpu"] for run in serial)
    print(f"| processor time of all processes: {workers} workers, two serial halves | {busy:.1f} s, {alone:.1f} s |")
    print(f"| efficiency in processor time | {alone / busy:.0%} |")
    print(f"| peak memory of the sweeping process, {CELLS // 10:,} problems | {short['memory']:.0f} MiB |")
    print(f"| peak memory of the sweeping process, {CELLS:,} problems | {whole['memory']:.0f} MiB |")


if __name__ == "__main__":
    main()
