"""Samples of regions: validated arrays, feature maps, and the split into samples for different purposes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError
from learnroute.model.features_scaling import FeaturesScaling
from learnroute.model.labelled_tables import Labelled, align
from learnroute.model.validation import FloatArray, IntArray, as_count, as_number, freeze, mask_of

Batch = tuple[FloatArray, FloatArray]  # features (samples x features), targets
FeatureMap = Any  # a callable from features to features, or an object with `transform`

UNEVEN = 4.0  # factor by which second moments may differ from 1 without a warning


@dataclass(frozen=True, eq=False)
class RegionData:
    """Training and test samples of one region.

    `truth` is the region's true model, if known. `scaling` is the `features_scaling` that was already applied to the
    features; None for raw features. Nothing is scaled twice: `follow` and `transfer` leave such features unchanged,
    and reject features to which another scaling was applied.
    """

    train: Batch
    test: Batch
    truth: FloatArray | None = None
    scaling: FeaturesScaling | None = None

    def map_features(self, features: Callable[[FloatArray], FloatArray]) -> RegionData:
        """Return the region with mapped features; a scaling is applied at most once and never after another one."""
        if isinstance(features, FeaturesScaling) and self.scaling is not None:
            if self.scaling != features:
                raise InputError(
                    "the features were scaled by another features_scaling; give raw samples, or those of this estimate",
                    field="data",
                )
            return self
        scaling = features if isinstance(features, FeaturesScaling) else self.scaling
        (inputs, outputs), (test_inputs, test_outputs) = self.train, self.test
        parts = (features(inputs), outputs), (features(test_inputs), test_outputs)
        return replace(self, train=parts[0], test=parts[1], scaling=scaling)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a region for each purpose. No row serves two purposes."""

    estimate: IntArray
    train: IntArray
    test: IntArray


def as_batch(region: str, features: Any, targets: Any, columns: Sequence[str] | None = None) -> Batch:
    """Return float64 arrays of matching shapes, which may have non-finite entries; reject others, naming the region.

    If the features have labels, their columns are brought into the order of `columns`, and targets with other labels
    than the features are rejected. Masked entries become non-finite.
    """
    _check_samples(region, features, targets)
    try:
        features = align("features", features, None, columns)
    except InputError as refusal:
        raise refusal.within(f"region {region!r}") from None
    try:
        inputs, outputs = _fill_masked(features), _fill_masked(targets)
    except (TypeError, ValueError):
        raise InputError("features and targets must be tables of numbers", field=f"region {region!r}") from None
    if outputs.ndim == 2 and outputs.shape[1] == 1:
        outputs = outputs[:, 0]
    if inputs.ndim != 2 or outputs.ndim != 1 or len(inputs) != len(outputs):
        raise InputError(
            f"features of shape {inputs.shape} and targets of shape {outputs.shape}; expected (samples, features) and "
            "(samples,)",
            field=f"region {region!r}",
        )
    return freeze(inputs), freeze(outputs)


def _fill_masked(values: Any) -> FloatArray:
    table, mask = np.array(values, dtype=np.float64), mask_of(values)
    if mask.any():
        table[mask] = np.nan
    return table


def columns_of(features: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a table of features; None if it has none."""
    own = Labelled.of(features, names_first=False).columns
    return tuple(own) if own and all(isinstance(name, str) for name in own) else None


def _check_samples(region: str, features: Any, targets: Any) -> None:
    """Reject features and targets whose labels show that their rows belong to different samples."""
    own, other = (Labelled.of(table, names_first=False).rows for table in (features, targets))
    if own is not None and other is not None and own != other:
        raise InputError(
            "features and targets have different sample labels, or another order of them; align them",
            field=f"region {region!r}",
        )


def split_rows(samples: int, estimate: float, test: float, rng: np.random.Generator) -> Rows:
    """Divide a region's rows at random: a share for estimation, a share for testing, the rest for training."""
    shuffled = rng.permutation(samples)
    first = round(samples * estimate)
    second = first + round(samples * test)
    parts = (shuffled[:first], shuffled[second:], shuffled[first:second])
    return Rows(*(freeze(np.sort(part)) for part in parts))


def resample_region(region: RegionData, rng: np.random.Generator) -> RegionData:
    """Return a region with its samples divided at random into training and test samples of the same sizes."""
    inputs, outputs = (np.concatenate(both) for both in zip(region.train, region.test, strict=True))
    order, count = rng.permutation(len(outputs)), len(region.train[1])
    train, test = order[:count], order[count:]
    return replace(region, train=(inputs[train], outputs[train]), test=(inputs[test], outputs[test]))


def uneven_moments(features: FloatArray) -> tuple[float, float] | None:
    """Return the smallest and the largest second moment by direction if one is far from 1; else None."""
    if not features.shape[1]:
        return None
    moments = np.linalg.eigvalsh(features.T @ features / len(features))
    chance = (features.shape[1] / len(features)) ** 0.5  # effect of few samples on perfectly even features
    if moments[0] >= max(1 - chance, 0) ** 2 / UNEVEN and moments[-1] <= (1 + chance) ** 2 * UNEVEN:
        return None
    return max(float(moments[0]), 0.0), float(moments[-1])


def as_share(field: str, value: Any) -> float:
    """Return a share of the samples; reject values that are not above 0 and at most 1."""
    share = as_number(field, value, meaning="shares")
    if not 0 < share <= 1:
        raise InputError("expected a share above 0 and up to 1, such as 0.5", field=field, value=share)
    return share


def split(
    samples: Mapping[str, tuple[ArrayLike, ArrayLike]],
    estimate: float = 0.5,
    test: float = 0.25,
    seed: int = 0,
) -> dict[str, Rows]:
    """Divide every region's rows: `estimate` for Δ, `test` for testing, the rest for training.

    The rows of a region depend only on the seed, on their number, and on the position of the region.

    Parameters
    ----------
    samples
        Features and targets of each region, by its name.
    estimate, test
        Shares of the rows; the rest is for training.
    seed
        The same samples and seed give the same rows.

    Returns
    -------
    dict of str to Rows
        The rows of each region for each purpose.

    Raises
    ------
    InputError
        If shares are out of range, or samples are not given by region.
    """
    estimate, test = as_share("estimate", estimate), as_number("test", test, least=0.0, meaning="shares")
    if estimate + test > 1:
        raise InputError(
            "shares must not add up to more than 1", field="estimate", found=f"= {estimate:g} and test = {test:g}"
        )
    check_samples("samples", samples)
    seeds = np.random.SeedSequence(as_count("seed", seed, least=0, meaning="the seed")).spawn(len(samples))
    return {
        region: split_rows(len(as_batch(region, *as_pair(given))[1]), estimate, test, np.random.default_rng(child))
        for (region, given), child in zip(samples.items(), seeds, strict=True)
    }


def check_samples(field: str, samples: Any) -> None:
    """Reject samples that are not a mapping from names of regions."""
    if not isinstance(samples, Mapping) or not all(isinstance(name, str) for name in samples):
        raise InputError("an object is needed with the samples of each region by its name", field=field, value=samples)


def as_pair(given: Any) -> tuple[Any, Any]:
    """Return the features and the targets of a region; reject anything else."""
    if isinstance(given, tuple | list) and len(given) == 2:
        return given[0], given[1]
    raise InputError("expected a pair of features and targets")


def fitted_map(features: FeatureMap | None, pooled: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
    """Return a plain function from a feature map; a transformer that is not fitted yet is fitted on a copy."""
    if features is None or isinstance(features, FeaturesScaling):
        return features
    if not hasattr(features, "transform") or isinstance(features, type):
        if not callable(features) or isinstance(features, type):
            raise InputError("expected a callable or an object with transform", field="features", value=features)
        return lambda inputs: _check_mapped(features(inputs), inputs)
    ready = features
    if hasattr(features, "fit") and not is_fitted(features):
        ready = copy.deepcopy(features).fit(pooled)
    return lambda inputs: _check_mapped(ready.transform(inputs), inputs)


def _check_mapped(outputs: Any, inputs: FloatArray) -> FloatArray:
    if hasattr(outputs, "toarray"):  # a sparse matrix
        outputs = outputs.toarray()
    table = np.asarray(outputs, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(inputs):
        raise InputError(
            f"a table of shape {inputs.shape} became one of shape {table.shape}; expected one row of features per "
            "sample",
            field="features",
        )
    return freeze(table)


def is_fitted(transformer: Any) -> bool:
    """Return whether a transformer is fitted: as in scikit-learn, fitted attributes end with an underscore."""
    says = getattr(transformer, "__sklearn_is_fitted__", None)
    if says is not None:
        return bool(says())
    return any(name.endswith("_") and not name.startswith("__") for name in vars(transformer))
