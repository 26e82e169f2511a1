"""The error after the last stop: predicted by the plan, measured, and whether the two agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from learnroute.learning.data import RegionData
from learnroute.model.table import Column, Table
from learnroute.model.validation import FloatArray

ALARM = 0.0027  # probability of a false alarm, as for three standard errors of a normal distribution
POWER = 0.8  # probability with which enough repeats report a deviation of ...
EFFECT = 2.0  # ... this many times the least one that very many repeats report: six standard errors on average
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True)
class FinalError:
    """The error after the last stop, in one region or on average.

    Attributes
    ----------
    measured, standard_error
        Mean over the repeats, and its standard error; None if unknown. Repeats divide the same samples anew, so they
        are not independent: their variance is multiplied by 1/N + (test samples / training samples) (Nadeau and Bengio,
        2003). With one repeat, it is the standard error of the mean over the test samples, which does not include the
        randomness of training.
    predicted, label_noise
        The error that the plan expects without label noise, and the variance of that noise; None without a prediction.
    agrees
        Whether measured and expected error differ by no more than chance. The probability of a false alarm is that of
        three standard errors (for all regions together, if each is tested). None if this cannot be decided: there are
        too few repeats (`enough_repeats`), or a single region was measured once, where most of the randomness comes
        from training.
    """

    measured: float
    standard_error: float | None = None
    predicted: float | None = None
    label_noise: float | None = None
    agrees: bool | None = None

    @property
    def expected(self) -> float | None:
        """The expected measurement: prediction plus label noise."""
        return None if self.predicted is None or self.label_noise is None else self.predicted + self.label_noise

    @property
    def deviation(self) -> float | None:
        """The measured minus the expected error, in standard errors."""
        if self.expected is None or not self.standard_error:
            return None
        return (self.measured - self.expected) / self.standard_error

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" ± {self.standard_error:.2g}"
        measured = f"measured {self.measured:.4g}{error}"
        if self.expected is None:
            return measured
        noise = f" + label noise {self.label_noise:.4g} = {self.expected:.4g}" if self.label_noise else ""
        return f"predicted {self.predicted:.4g}{noise}; {measured}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; unknown values are null."""
        return {
            "predicted": self.predicted,
            "label_noise": self.label_noise,
            "expected": self.expected,
            "measured": self.measured,
            "standard_error": self.standard_error,
            "deviation": self.deviation,
            "agrees": self.agrees,
        }


def final_errors_of(
    runs: FloatArray, own: Sequence[float | None], regions: Sequence[RegionData], predicted: FloatArray | None,
    label_noise: float | None, weights: FloatArray,
) -> tuple[FinalError, tuple[FinalError, ...]]:  # fmt: skip
    """Compare the final errors of repeats (rows) in regions (columns) with the predicted ones, on average and singly.

    `own` are the standard errors of the mean over the test samples of each region, in the first repeat. The average
    uses region weights with mean 1.
    """
    count, size = runs.shape
    ratios = np.array([len(region.test[1]) / len(region.train[1]) for region in regions])
    whole = sum(len(region.test[1]) for region in regions) / sum(len(region.train[1]) for region in regions)
    counted = zip(own, weights.tolist(), strict=True)
    squares = [(weight * error) ** 2 for error, weight in counted if error is not None]
    single = None if None in own else math.sqrt(math.fsum(squares)) / size

    def compare(column: FloatArray, ratio: float, alone: float | None, prediction: float | None, of: int) -> FinalError:
        spread = alone
        if count > 1:
            spread = float(column.std(ddof=1)) * math.sqrt(1 / count + ratio)
        noise = None if prediction is None else label_noise
        found = FinalError(float(column.mean()), spread, None if noise is None else prediction, noise)
        if found.deviation is None or (count == 1 and of > 1):
            return found
        if chance_of(found.deviation, count - 1 if count > 1 else None) * of < ALARM:
            return replace(found, agrees=False)
        return found if 1 < count < enough_repeats(of) else replace(found, agrees=True)

    means = [None] * size if predicted is None else predicted.tolist()
    overall = None if predicted is None else math.fsum(weights * predicted) / size
    each = tuple(compare(runs[:, j], ratios[j], own[j], means[j], size) for j in range(size))
    return compare((weights * runs).mean(axis=1), whole, single, overall, 1), each


def chance_of(deviation: float, degrees: int | None) -> float:
    """Return the probability of a deviation this large or larger, by Student's t or, without degrees, the normal law.

    With t = √ν·tan θ, Student's integral becomes that of a power of a cosine, computed by Gauss–Legendre quadrature.
    """
    if degrees is None:
        return math.erfc(abs(deviation) / math.sqrt(2))
    end = math.atan(abs(deviation) / math.sqrt(degrees))
    angles = (math.pi / 2 - end) / 2 * (NODES + 1) + end  # from `end` to the right angle: the tail
    tail = float(WEIGHTS @ np.cos(angles) ** (degrees - 1)) * (math.pi / 2 - end) / 2
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi)
    return min(1.0, 2 * scale * tail)


def enough_repeats(tests: int) -> int:
    """Return the number of repeats from which `tests` tests together can tell whether errors agree.

    A deviation of `EFFECT` times the least one that very many repeats report is then reported with probability `POWER`.
    """
    effect = EFFECT * NormalDist().inv_cdf(1 - ALARM / tests / 2)
    repeats = 3
    while power_of(effect, repeats - 1, ALARM / tests) < POWER:
        repeats += 1
    return repeats


def power_of(effect: float, degrees: int, alarm: float) -> float:
    """Return the probability that Student's test reports a true deviation of `effect` standard errors.

    The test divides by an estimated standard error, which is s times the true one, with s² = χ²/ν.
    """
    least, most = 0.0, 1e6
    for _ in range(60):  # the least deviation that is reported
        middle = (least + most) / 2
        least, most = (middle, most) if chance_of(middle, degrees) > alarm else (least, middle)
    s = np.linspace(0, 5, 501)[1:]
    density = np.exp((degrees - 1) * np.log(s) - degrees * (s**2 - 1) / 2)
    reported = np.array([NormalDist().cdf(effect - most * one) for one in s.tolist()])
    return float(density @ reported / density.sum())


def final_errors_table(names: Sequence[str], found: Sequence[FinalError], served: Sequence[str] | None = None) -> Table:
    """Return the printed table of predicted and measured errors after the last stop, one row per region.

    `served` names the model that serves each region, if there are several models.
    """
    columns = (
        Column(None, "region", left=True),
        *([] if served is None else [Column(None, "served by", left=True)]),
        Column(None, "predicted", ".4g"),
        Column(None, "with label noise", ".4g"),
        Column(None, "measured", ".4g"),
        Column(None, "± s.e.", ".2g"),
        Column(None, "deviation", lambda deviation: f"{deviation:+.1f} s.e."),
    )
    rows = [
        (
            name,
            *([] if served is None else [served[k]]),
            one.predicted,
            one.expected,
            one.measured,
            one.standard_error,
            one.deviation,
        )
        for k, (name, one) in enumerate(zip(names, found, strict=True))
    ]
    return Table(columns, rows)
