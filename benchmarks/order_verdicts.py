"""How often `rehearse` reports that the order matters: for equal, slightly different and very different regions.

python benchmarks/order_verdicts.py

Eight regions, five features, linear models; noise is normal or Student's t with 3 degrees of freedom. If regions are
equal, no order is better than another on new samples, and each "the order matters" is wrong.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from learnroute.learning import ProximalRegressor, RegionData, rehearse

REGIONS, FEATURES, TESTED, DATA_SETS, DRAWS = 8, 5, 10, 16, 16


def samples(seed: int, heavy: bool, trained: int, apart: float) -> dict[str, RegionData]:
    """Return regions whose models differ from a common one by `apart` times standard normal numbers."""
    rng = np.random.default_rng(seed)
    common, found = rng.standard_normal(FEATURES), {}
    for k in range(REGIONS):
        inputs = rng.standard_normal((trained + TESTED, FEATURES))
        noise = rng.standard_t(3, len(inputs)) if heavy else rng.standard_normal(len(inputs))
        targets = inputs @ (common + apart * rng.standard_normal(FEATURES)) + noise
        found[f"R{k + 1}"] = RegionData((inputs[:trained], targets[:trained]), (inputs[trained:], targets[trained:]))
    return found


def main() -> None:
    """Print one row per setting."""
    print(f"{DATA_SETS} data sets each: the order matters, may matter, any order will do")
    for apart in (0.0, 0.3, 1.0):
        for heavy in (False, True):
            for trained, strength in ((30, 0.3), (30, 0.01), (8, 0.1)):
                said = Counter(
                    rehearse(
                        samples(seed, heavy, trained, apart), ProximalRegressor(strength), draws=DRAWS
                    ).random.verdict.partition(",")[0]
                    for seed in range(DATA_SETS)
                )
                counts = [said[verdict] for verdict in ("the order matters", "the order may matter")]
                noise = "t noise" if heavy else "normal noise"
                print(f"apart {apart}, {noise}, {trained} samples, λ = {strength}:", *counts, DATA_SETS - sum(counts))


if __name__ == "__main__":
    main()
