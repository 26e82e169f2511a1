"""Time and accuracy of the moments of regularised learners: `python benchmarks/moments.py`.

Prints a Markdown table, shown in docs/appendix/benchmarks.md. Errors are those of E tr C², and of E tr C⁻¹ and E tr C⁻²
if they exist, which are rational in m and n. The last two are the hardest, because they depend on the edge of the
spectrum.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version

from learnroute import Gradient
from learnroute.model.spectrum import largest_rate, proximal_moments
from learnroute.model.wishart import expected_spectrum

SHAPES = (
    (1, 10**5), (20, 100), (120, 100), (300, 300), (301, 301), (1200, 1000), (10**4, 10**4 + 4), (10**5, 10**5),
    (10**5, 10**5 + 4), (10**5, 10**3), (10**6, 10**6), (10**6, 10**5), (10**9, 10**9 + 4),
)  # fmt: skip


def largest_error(m: int, n: int) -> float:
    rows, columns = min(m, n), max(m, n)
    x, weights = expected_spectrum(rows, columns)
    apart = columns - rows
    ratios = [weights @ x / (m * n), weights @ x**2 / (m * n * (m + n + 1))]
    if apart >= 2:
        ratios.append(weights @ (1 / x) * (apart - 1) / rows)
    if apart >= 4:
        ratios.append(weights @ x**-2.0 * (apart * (apart - 1) * (apart - 3)) / (rows * (columns - 1)))
    return max(abs(float(ratio) - 1) for ratio in ratios)


def main() -> None:
    packages = ", ".join(f"{name} {version(name)}" for name in ("learnroute", "numpy"))
    print(f"Python {platform.python_version()}, {packages}; {os.cpu_count()} cores, {platform.machine()}\n")
    print("| m, n | nodes | first λ | next λ | 10⁶ gradient steps | error |\n|---|---|---|---|---|---|")
    for m, n in SHAPES:
        best = [float("inf")] * 3
        for _ in range(5):
            expected_spectrum.cache_clear()
            gradient = Gradient(m, n, 0.0, steps=10**6, rate=largest_rate(m, n) / 2)
            calls: tuple[Callable[[], object], ...] = (
                partial(proximal_moments, m, n, 1.0),
                partial(proximal_moments, m, n, 2.0),
                partial(gradient.step, n),
            )
            for k, call in enumerate(calls):
                started = time.perf_counter()
                call()
                best[k] = min(best[k], time.perf_counter() - started)
        nodes = len(expected_spectrum(min(m, n), max(m, n))[0])
        first, after, steps = (f"{1e3 * taken:.2f} ms" for taken in best)
        print(f"| {m:,}, {n:,} | {nodes:,} | {first} | {after} | {steps} | {largest_error(m, n):.0e} |", flush=True)


if __name__ == "__main__":
    main()
