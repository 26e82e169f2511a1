"""Rows are correct, identical for every engine, and survive interruptions."""

from __future__ import annotations

import contextlib
import errno
import gc
import json
import os
import random
import resource
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oracle
from conftest import Shared
from learnroute import InputError, Learner
from learnroute.study.cells import COLUMNS, Row, solve_cell
from learnroute.study.engines import engine
from learnroute.study.experiment import Experiment, streams
from learnroute.study.families import random_problem
from learnroute.study.store import LOG_FILE, Store, open_store
from learnroute.study.sweeps import Work, sweep
from waiting import wait_for

SMALL = Experiment(("uniform", "vectors"), (3, 5), (80, 120), noise=(0.0, 0.5), replicates=2, draws=3)
# large enough to be killed in the middle
LONG = Experiment(("uniform",), (10,), (80, 120), methods=("algorithm1", "exact", "random"), replicates=60, draws=2)


@pytest.fixture(scope="session")
def long_rows(shared_folder: Shared) -> list[Row]:
    """The rows of LONG, made in one process without a break."""

    def fill(folder: Path) -> None:
        sweep(LONG, folder / "sweep", workers=1)

    return list(Store(shared_folder("long", fill) / "sweep").rows())


def rows_of(experiment: Experiment, folder: Path, **options: Any) -> list[Row]:
    sweep(experiment, folder, **options)
    return list(Store(folder).rows())


def test_rows_say_what_the_oracle_says(tmp_path: Path) -> None:
    rows = rows_of(SMALL, tmp_path / "a", workers=1)
    assert len(rows) == SMALL.size * 3
    assert [list(row) for row in rows] == [list(COLUMNS)] * len(rows)
    for row in rows:
        learner = Learner(row["features"], row["samples"], row["noise"])
        problem = random_problem(row["family"], row["regions"], learner, streams(0, row["replicate"])[0])
        least = oracle.least_loss(problem)
        assert row["lower_bound"] == pytest.approx(least, rel=1e-12)
        assert row["bound_is_optimum"] is True
        assert row["ratio"] == pytest.approx(row["loss_total"] / least, rel=1e-12)
        parts = [row[f"loss_{part}"] for part in ("travel", "dissimilarity", "initial", "noise")]
        assert row["loss_total"] == pytest.approx(sum(parts), rel=1e-12)
        assert row["regime"] == learner.regime
        assert row["error"] is None
    exact = [row["ratio"] for row in rows if row["method"] == "exact"]
    assert exact == [1.0] * SMALL.size
    drawn = {row["regime"]: row["draws"] for row in rows if row["method"] == "baseline" and row["regions"] == 5}
    assert drawn == {"under": 3, "over": 1}


def test_failing_cells_are_recorded_and_the_rest_goes_on(tmp_path: Path) -> None:
    experiment = Experiment("uniform", (3, 22), (80, 100), methods=("exact", "algorithm1"), replicates=2)  # type: ignore[arg-type]
    done = sweep(experiment, tmp_path / "a", workers=1)
    rows = list(Store(tmp_path / "a").rows())
    impossible = [row for row in rows if row["features"] == 100]
    assert len(impossible) == 8
    assert all("the expected error does not exist" in row["error"] and row["ratio"] is None for row in impossible)
    possible = [row for row in rows if row["features"] == 80]
    assert all(row["error"] is None and row["ratio"] >= 1 for row in possible if row["method"] == "algorithm1")
    assert (done.solved, done.failed) == (8, 4 + sum(r["error"] is not None for r in possible))


def test_even_a_bug_in_a_method_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("learnroute.study.cells.plan_within", broken)
    rows = rows_of(Experiment("uniform", 3, 80, methods="nearest", replicates=2), tmp_path / "a", workers=1)  # type: ignore[arg-type]
    assert [row["error"] for row in rows] == ["ZeroDivisionError: by nothing"] * 2


def test_rows_are_the_same_for_any_number_of_workers(tmp_path: Path, long_rows: list[Row]) -> None:
    """Three workers; the interruption tests below use two."""
    assert rows_of(LONG, tmp_path / "a", workers=3) == long_rows


def test_rows_do_not_depend_on_the_order_of_solving(tmp_path: Path) -> None:
    straight = rows_of(SMALL, tmp_path / "a", workers=1)
    numbers = list(range(SMALL.size))
    random.Random(1).shuffle(numbers)
    with open_store(tmp_path / "b", SMALL, resume=False) as store:
        for number in numbers:
            store.add([(number, solve_cell(SMALL, number))])
    assert list(Store(tmp_path / "b").rows()) == straight


def test_random_order_of_cells_predicts_the_remaining_time(tmp_path: Path) -> None:
    experiment = Experiment(families=("uniform",), regions=(4, 8, 16, 100), features=(80, 120), replicates=50)
    with open_store(tmp_path / "s", experiment, False) as store:
        order = list(store.pending())
        assert order == list(store.pending())
    assert sorted(order) == list(range(experiment.size))
    for done in (100, 200, 300):  # of 400 cells: about a quarter of them are of each size
        sizes = [experiment.cell(number).regions for number in order[:done]]
        assert all(abs(sizes.count(size) / done - 1 / 4) < 0.08 for size in experiment.regions)


def test_truncated_log_resumes_from_its_complete_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    straight = rows_of(SMALL, tmp_path / "a", workers=1)
    log = tmp_path / "a" / LOG_FILE
    whole = log.read_bytes()
    solved: list[int] = []

    def counted(experiment: Experiment, number: int) -> list[Any]:
        solved.append(number)
        return solve_cell(experiment, number)

    monkeypatch.setattr("learnroute.study.sweeps.solve_cell", counted)
    chance = random.Random(5)
    for cut in [0, 1, len(whole) - 1, *(chance.randrange(len(whole)) for _ in range(12))]:
        log.write_bytes(whole[:cut] + chance.choice([b"", b"\0\0\0", b"deadbeef [1"]))
        kept = whole[:cut].count(b"\n")
        solved.clear()
        done = sweep(SMALL, tmp_path / "a", resume=True, workers=1)
        assert (done.found, done.solved, len(solved)) == (kept, SMALL.size - kept, SMALL.size - kept)
        assert list(Store(tmp_path / "a").rows()) == straight


def test_corrupted_line_of_the_log_is_solved_again(tmp_path: Path) -> None:
    straight = rows_of(SMALL, tmp_path / "a", workers=1)
    log = tmp_path / "a" / LOG_FILE
    lines = log.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b"1", b"2")
    log.write_bytes(b"".join(lines))
    assert sweep(SMALL, tmp_path / "a", resume=True, workers=1).solved == 1
    assert list(Store(tmp_path / "a").rows()) == straight


def test_stores_are_locked(tmp_path: Path) -> None:
    sweep(SMALL, tmp_path / "a", workers=1)
    with pytest.raises(InputError, match="contains a sweep; add --resume"):
        sweep(SMALL, tmp_path / "a", workers=1)
    other = Experiment(("uniform",), (3, 5), (80, 120), noise=(0.0, 0.5), replicates=2, draws=3)
    with pytest.raises(InputError, match=r"contains another experiment, with families = \[\"uniform\", \"vectors\"\]"):
        sweep(other, tmp_path / "a", resume=True, workers=1)
    with (
        open_store(tmp_path / "a", SMALL, resume=True),
        pytest.raises(InputError, match="another sweep is writing to it"),
    ):
        sweep(SMALL, tmp_path / "a", resume=True, workers=1)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    with pytest.raises(InputError, match="contains other files"):
        sweep(SMALL, tmp_path / "full", workers=1)


def start(folder: Path, *options: str, at: int = LONG.size + 1, act: str = "") -> subprocess.Popen[str]:
    """Sweep in a separate process that runs the Python code `act` once this many cells are stored."""
    file = folder.parent / "experiment.json"
    file.write_text(json.dumps(LONG.to_dict()))
    code = f"""
import os, signal
from learnroute.cli import run
from learnroute.study.store import Store

add = Store.add

def add_and_act(self, solved):
    before = self.done
    add(self, solved)
    if before < {at} <= self.done:
        {act or "pass"}

Store.add = add_and_act
raise SystemExit(run({["sweep", str(file), "-o", str(folder), "--json", *options]!r}))
"""
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )  # fmt: skip


INTERRUPT = "os.killpg(0, signal.SIGINT)  # as a terminal does: to all of them"


def session_is_empty(session: int) -> bool:
    """Whether no process of a session remains (zombies do not count)."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, _, _, its_session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(its_session) == session and state != "Z":
                    return False
    return True


def wait_for_the_end_of(session: int) -> None:
    wait_for(lambda: session_is_empty(session))  # workers do not outlive the sweep


def test_kill_9_loses_nothing_and_repeats_nothing(tmp_path: Path, long_rows: list[Row]) -> None:
    folder = tmp_path / "sweep"
    done = 0
    for at in (1, 1 + random.Random(os.getpid()).randrange(1, 60)):  # another moment every time
        process = start(folder, "--workers", "2", "--resume", at=done + at, act="os.kill(os.getpid(), signal.SIGKILL)")
        process.communicate(timeout=1200)
        assert process.returncode == -signal.SIGKILL
        wait_for_the_end_of(process.pid)
        before, done = done, Store(folder).done
        assert before + at <= done < LONG.size
    with start(folder, "--workers", "2", "--resume") as last:
        out, err = last.communicate(timeout=1200)
    assert last.returncode == 0, err
    summary = json.loads(out)
    assert (summary["found"], summary["solved"]) == (done, LONG.size - done)
    assert list(Store(folder).rows()) == long_rows


def test_ctrl_c_ends_cleanly_and_resumes(tmp_path: Path, long_rows: list[Row]) -> None:
    folder = tmp_path / "sweep"
    process = start(folder, "--workers", "2", at=20, act=INTERRUPT)
    out, err = process.communicate(timeout=1200)
    assert (process.returncode, out) == (130, "")
    stored = Store(folder).done
    assert [line for line in err.splitlines() if line] == [
        f"{stored} of {LONG.size} problems are stored; --resume continues with the rest",
        "learnroute: interrupted",
    ]
    wait_for_the_end_of(process.pid)
    assert 20 <= stored < LONG.size
    assert sweep(LONG, folder, resume=True, workers=1).solved == LONG.size - stored
    assert list(Store(folder).rows()) == long_rows


def test_leaving_an_engine_early_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with engine(workers=2) as (run, _), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for result in run(abs, iter(range(-100, 0))):
            assert result > 0
            break
        gc.collect()
    assert [str(warning.message) for warning in said if "cancelled" in str(warning.message)] == []
    assert capsys.readouterr().err == ""


@contextlib.contextmanager
def dask_processes(folder: Path, workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A real Dask scheduler and worker processes: its address, and all of them."""
    file = folder / "scheduler.json"
    processes: list[subprocess.Popen[bytes]] = []
    with contextlib.ExitStack() as stack:

        def launch(*arguments: str) -> None:
            command = [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(file)]
            process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            processes.append(stack.enter_context(process))
            stack.callback(process.terminate)

        launch("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-jupyter")
        for _ in range(workers):
            launch("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        addresses: list[str] = []

        def has_address() -> bool:
            with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):  # it may be half-written
                addresses.append(json.loads(file.read_text())["address"])
            return bool(addresses)

        wait_for(has_address)
        yield addresses[0], processes


def test_rows_from_a_dask_cluster_are_the_same(tmp_path: Path, long_rows: list[Row]) -> None:
    folder = tmp_path / "sweep"
    with dask_processes(tmp_path, workers=2) as (address, _), start(folder, "--dask", address) as process:
        out, err = process.communicate(timeout=1200)
    assert process.returncode == 0, err
    summary = json.loads(out)
    assert (summary["solved"], summary["workers"]) == (LONG.size, 2)
    assert list(Store(folder).rows()) == long_rows


def test_ctrl_c_on_dask_local_ends_cleanly_and_resumes(tmp_path: Path, long_rows: list[Row]) -> None:
    folder = tmp_path / "sweep"
    process = start(folder, "--dask", "local", "--workers", "2", at=20, act=INTERRUPT)
    _, err = process.communicate(timeout=1200)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "--resume continues with the rest" in err
    assert sweep(LONG, folder, resume=True, workers=1).found >= 20
    assert list(Store(folder).rows()) == long_rows


def test_lost_dask_cluster_is_reported_in_one_line_and_resumes(tmp_path: Path, long_rows: list[Row]) -> None:
    folder = tmp_path / "sweep"
    with dask_processes(tmp_path, workers=1) as (address, processes):
        kill = f"[os.kill(one, signal.SIGKILL) for one in {[one.pid for one in processes]}]"
        process = start(folder, "--dask", address, at=5, act=kill)
        out, err = process.communicate(timeout=1200)
    assert (process.returncode, out) == (2, "")
    assert "solved problems are stored; --resume continues" in err
    assert err.count("\n") == 1
    assert sweep(LONG, folder, resume=True, workers=1).found >= 5
    assert list(Store(folder).rows()) == long_rows


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", "0"], "--workers = 0: must be >= 1"),
        (["--dask", "tcp://127.0.0.1:9", "--workers", "2"], "the cluster at tcp://127.0.0.1:9 has its own workers"),
        (["--dask", "nowhere://x"], "no Dask scheduler with workers answers there"),
    ],
)
def test_invalid_engines(tmp_path: Path, options: list[str], message: str) -> None:
    with start(tmp_path / "sweep", *options) as process:
        out, err = process.communicate(timeout=1200)
    assert (process.returncode, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_without_joblib_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "joblib.externals", None)
    with pytest.raises(InputError, match=r"\(or use --workers 1\): pip install joblib pyarrow"):
        sweep(SMALL, tmp_path / "a", workers=2)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install distributed, or pip install '\.\[dask\]'"):
        sweep(SMALL, tmp_path / "b", dask="local")


def small_files() -> None:
    """Limit files to a few lines of a log, like a disk that is full in the middle of a line."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))


@pytest.mark.parametrize("workers", ["1", "2"])
def test_full_disk_is_reported_in_one_line_and_resumes(tmp_path: Path, workers: str) -> None:
    file, folder = tmp_path / "experiment.json", tmp_path / "sweep"
    file.write_text(json.dumps(SMALL.to_dict()))
    command = [sys.executable, "-m", "learnroute", "sweep", str(file), "-o", str(folder), "--workers", workers]
    done = subprocess.run(command, preexec_fn=small_files, capture_output=True, text=True, timeout=1200)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1, done.stderr
    assert "cells.log: cannot be written (File too large); solved problems are stored; free space" in done.stderr
    stored = Store(folder).done
    assert 0 < stored < SMALL.size
    assert sweep(SMALL, folder, resume=True, workers=1).found == stored
    assert list(Store(folder).rows()) == rows_of(SMALL, tmp_path / "other", workers=1)


def test_failed_flush_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"cells\.log: cannot be written \(No space left on device\)"):
        sweep(SMALL, tmp_path / "a", workers=1)


@pytest.mark.parametrize("left", [[], [".learnroute-abc.json"], [".learnroute-abc.json", LOG_FILE], [LOG_FILE]])
@pytest.mark.parametrize("resume", [False, True])
def test_sweep_killed_before_its_start_can_start_again(tmp_path: Path, left: list[str], resume: bool) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    for name in left:
        (folder / name).touch()
    assert sweep(SMALL, folder, resume=resume, workers=1).solved == SMALL.size
    assert sorted(path.name for path in folder.iterdir()) == [LOG_FILE, "experiment.json"]


def test_leftovers_of_earlier_kills_are_removed(tmp_path: Path) -> None:
    sweep(SMALL, tmp_path / "a", workers=1)
    (tmp_path / "a" / ".learnroute-abc.csv").write_text("half of the rows")
    sweep(SMALL, tmp_path / "a", resume=True, workers=1)
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [LOG_FILE, "experiment.json"]


def test_kill_9_at_any_moment_of_the_beginning_resumes(tmp_path: Path) -> None:
    """Killed in the middle of writing the experiment, and between writing and renaming it."""
    file, folder = tmp_path / "experiment.json", tmp_path / "sweep"
    file.write_text(json.dumps(SMALL.to_dict()))
    code = (
        "import os, pathlib, sys; from learnroute.cli import run; pathlib.Path.replace = lambda *_: os._exit(9);"
        f"run(['sweep', {str(file)!r}, '-o', {str(folder)!r}, '--workers', '1', '--resume'])"
    )
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", code], timeout=1200).returncode == 9
        assert not (folder / "experiment.json").exists()
        assert len(list(folder.glob(".learnroute-*"))) == 1
    assert sweep(SMALL, folder, resume=True, workers=1).solved == SMALL.size


def test_the_share_is_of_the_work_and_not_of_the_problems() -> None:
    experiment = Experiment(families=("uniform",), regions=(4, 40), features=(80,), replicates=10)
    work = Work(experiment, np.array([0, 1]))
    assert work.share == pytest.approx(0.1)  # two of twenty; nothing is known about their times
    work.add([2, 10], [1.0, 99.0])  # one small problem, one large one
    assert work.share == pytest.approx((3 * 1 + 99) / (10 * 1 + 10 * 99))
    work.add(list(range(3, 10)), [1.0] * 7)  # all the small ones: hardly anything
    assert work.share == pytest.approx((10 * 1 + 99) / (10 * 1 + 10 * 99))
    work.add(list(range(11, 20)), [99.0] * 9)
    assert work.share == pytest.approx(1.0)


def test_unsolved_kinds_count_as_the_mean_of_the_others() -> None:
    experiment = Experiment(families=("uniform",), regions=(4, 40), features=(80,), replicates=10)
    work = Work(experiment, np.array([], dtype=np.int64))
    work.add([0], [2.0])
    assert work.share == pytest.approx(1 / 20)
