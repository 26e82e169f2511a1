"""What the study runs: regions, a learner, an error. The order here is the order in which seeds are run.

λ = 0.001 is next to least squares, which refuses batches in which some feature is constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import images
import numpy as np
import regional
from networks import Convolution, Perceptron

from learnroute.learning import ProximalRegressor, RegionData

Samples = dict[str, RegionData]
Drawn = tuple[Samples, Samples]


@dataclass(frozen=True)
class Setting:
    """A way to make regions, the learner, and how it is judged.

    Attributes
    ----------
    draw
        Returns the samples to plan with and those to be judged by.
    places
        Longitude and latitude of each region, where regions are places.
    repeats, runs
        Trainings in each region for the transfer matrix, and trainings along each chosen order when it is judged.
    resample
        Whether each training draws its samples anew (few samples, quick learners): for D, along pilot routes, and when
        judged. Then random orders are judged by the mean of `runs` draws too.
    orders
        How many random orders there are.
    """

    name: str
    draw: Callable[[np.random.Generator], Drawn]
    learner: Any
    error: str
    places: Callable[[], Any] | None = None
    repeats: int = 2
    runs: int = 3
    resample: bool = False
    orders: int = 100


def _images(name: str, draw: Any, learner: Any, orders: int = 50, runs: int = 2) -> Setting:
    return Setting(name, draw, learner, "zero-one", orders=orders, runs=runs)


def _regional(name: str, data: Callable[[], Any], learner: Any) -> Setting:
    def draw(rng: np.random.Generator) -> Drawn:
        return regional.dealt(rng, data()[0])

    places = None if data is regional.texas else lambda: data()[1]
    return Setting(name, draw, learner, "squared", places, repeats=8, resample=True)


SETTINGS = {
    setting.name: setting
    for setting in (
        _images("rotated digits", images.rotated, Perceptron(), 100, 3),
        _images("noisy digits", images.noisy, Perceptron()),
        _images("digits by class mix", images.class_mix, Perceptron()),
        _regional("Ames, proximal 0.001", regional.ames, ProximalRegressor(0.001)),
        _regional("Ames, proximal 0.03", regional.ames, ProximalRegressor(0.03)),
        _regional("Ames, proximal 0.3", regional.ames, ProximalRegressor(0.3)),
        _regional("ozone, proximal 0.001", regional.ozone, ProximalRegressor(0.001)),
        _regional("ozone, proximal 0.1", regional.ozone, ProximalRegressor(0.1)),
        _regional("flights, proximal 0.001", regional.flights, ProximalRegressor(0.001)),
        _regional("flights, proximal 0.1", regional.flights, ProximalRegressor(0.1)),
        _regional("Texas housing, proximal 0.1", regional.texas, ProximalRegressor(0.1)),
        _images("rotated digits, convolutional network", images.rotated, Convolution()),
        _images("rotated MNIST", partial(images.rotated, digits=images.mnist), Perceptron()),
        _images("rotated digits, 4 regions", partial(images.rotated, size=4), Perceptron()),
        _images("rotated digits, 16 regions", partial(images.rotated, size=16), Perceptron()),
        _images("rotated digits, 2 epochs", images.rotated, Perceptron(epochs=2)),
        _images("rotated digits, weight decay 0.1", images.rotated, Perceptron(alpha=0.1)),
        _images("rotated digits, 30 epochs", images.rotated, Perceptron(epochs=30)),
        _images("noisy MNIST", partial(images.noisy, digits=images.mnist), Perceptron()),
        _images("MNIST by class mix", partial(images.class_mix, digits=images.mnist), Perceptron()),
    )
}
