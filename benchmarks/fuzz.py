"""Attack the package with random cases until the time is over: `make fuzz`, or FUZZ_MINUTES=60 make fuzz.

Each run draws new seeds. A failure prints the command that repeats it: `python benchmarks/fuzz.py ATTACK SEED`.
Cases (tests/attacks.py): plans with all rules, ends, depots, visits, fleets and magnitudes, compared with all routes in
fractions; mutated plans and certificates; damaged files; mutated requests.
"""

from __future__ import annotations

import argparse
import itertools
import os
import secrets
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from attacks import ATTACKS

PATIENCE = 120  # maximum seconds of processor time per case


def stop(*_: object) -> None:
    raise TimeoutError(f"the case takes more than {PATIENCE} s of processor time")


def run_case(attack: str, seed: int) -> bool:
    """Run one case and return whether it passed; if it fails, print why and how to repeat it."""
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        ATTACKS[attack](seed)
    except Exception:
        traceback.print_exc()
        print(f"failed; to repeat it: {sys.executable} benchmarks/fuzz.py {attack} {seed}", file=sys.stderr, flush=True)
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attack", nargs="?", choices=list(ATTACKS), help="run this attack alone")
    parser.add_argument("seed", nargs="?", type=int, help="run this case alone")
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("FUZZ_MINUTES", "5")))
    given = parser.parse_args()
    warnings.simplefilter("error")
    signal.signal(signal.SIGPROF, stop)
    if given.seed is not None:
        sys.exit(not run_case(given.attack, given.seed))
    attacks = [given.attack] if given.attack else list(ATTACKS)
    end, seconds = time.monotonic() + 60 * given.minutes, dict.fromkeys(attacks, 0.0)
    cases, failures = Counter[str](), Counter[str]()
    for _ in itertools.count():
        attack = min(seconds, key=seconds.__getitem__)  # the same time for each attack
        began = time.monotonic()
        if began > end:
            break
        failures[attack] += not run_case(attack, secrets.randbits(40))
        cases[attack] += 1
        seconds[attack] += time.monotonic() - began
    for attack in attacks:
        print(f"{attack:<14}{cases[attack]:>8} cases {failures[attack]:>6} failures")
    sys.exit(bool(failures.total()))


if __name__ == "__main__":
    main()
