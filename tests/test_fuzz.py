"""A few hundred cases of `make fuzz`, with fixed seeds; test_claims.py has those of plans and fleets."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from attacks import ATTACKS
from damaged_files import damage, readers
from learnroute import InputError, read_problem
from waiting import GUARD

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "fuzz.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attack", "cases"),
    [("visits", 40), ("magnitudes", 90), ("certificates", 20), ("forgeries", 30), ("files", 300), ("requests", 30)],
)
def test_attacks_find_no_defect(attack: str, cases: int) -> None:
    for seed in range(10**6, 10**6 + cases):
        ATTACKS[attack](seed)


@pytest.mark.parametrize("seed", [935, 2709])
def test_honest_plans_with_numbers_of_mixed_magnitudes_are_confirmed(seed: int) -> None:
    """The checker met weights that were not numbers; Algorithm 1 ignored the end if training changes nothing."""
    ATTACKS["magnitudes"](seed)


def test_mutated_plans_are_checked_against_allowed_routes() -> None:
    ATTACKS["certificates"](237292217755)  # the oracle once called a true certificate false


def test_damaged_files_are_partly_readable(tmp_path: Path) -> None:
    rng = random.Random(1)
    for reader in readers(tmp_path):
        folder, read = tmp_path / f"attacked {reader.name}", 0
        folder.mkdir()
        for _ in range(40):
            spoilt = reader.main or rng.choice(list(reader.files))
            for file, data in reader.files.items():
                (folder / file).write_bytes(damage(data, rng) if file == spoilt else data)
            try:
                read_problem(folder / reader.main)
                read += 1
            except InputError:
                pass
        assert 0 < read < 40, reader.name


def test_a_failure_prints_the_command_that_repeats_it(tmp_path: Path) -> None:
    """With a package that makes false claims, the command and the one that it prints both fail."""
    broken = "import attacks, runpy, sys\nattacks.ATTACKS['plans'] = lambda seed: 1 / 0\n"
    code = f"import sys\nsys.path.insert(0, {str(SCRIPT.parents[1] / 'tests')!r})\n{broken}"
    for arguments in (["plans", "--minutes", "0.0001"], ["plans", "7"]):
        script = f"{code}sys.argv = ['fuzz.py', *{arguments}]\nrunpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=GUARD)
        assert done.returncode == 1
        assert "benchmarks/fuzz.py plans " in done.stderr
