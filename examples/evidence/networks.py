"""Small networks as learners: scikit-learn's perceptron, and a convolutional one in PyTorch where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neural_network import MLPClassifier


class Perceptron(ClassifierMixin, BaseEstimator):
    """One hidden layer of 64 units, SGD with momentum, which sees each of a region's images `epochs` times."""

    def __init__(self, epochs: int = 10, alpha: float = 1e-4, random_state: int = 0) -> None:
        self.epochs, self.alpha, self.random_state = epochs, alpha, random_state

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Perceptron:  # noqa: N803
        """Train in one region: all epochs in one pass, shuffled together, which spares nine checks of the input."""
        if not hasattr(self, "network_"):
            self.network_ = MLPClassifier(
                (64,), solver="sgd", learning_rate_init=0.05, momentum=0.9, batch_size=25, alpha=self.alpha,
                random_state=self.random_state,
            )  # fmt: skip
        self.network_.partial_fit(np.tile(X, (self.epochs, 1)), np.tile(y, self.epochs), classes=classes)
        self.classes_ = self.network_.classes_
        return self

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the likeliest class of each image."""
        return self.network_.predict(X)


class Convolution(ClassifierMixin, BaseEstimator):
    """Two convolutions and a linear layer on images of `side` x `side`, Adam; ImportError where there is no PyTorch."""

    def __init__(self, side: int = 8, epochs: int = 10, decay: float = 0.0, random_state: int = 0) -> None:
        self.side, self.epochs, self.decay, self.random_state = side, epochs, decay, random_state

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Convolution:  # noqa: N803
        """Train in one region."""
        self._ready().partial_fit(X, y)
        return self

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the likeliest class of each image."""
        return self._ready().predict(X)

    def _ready(self) -> Any:
        """Make the network when it is needed first, with weights that depend on the random state alone."""
        if not hasattr(self, "network_"):
            import torch

            from learnroute.learning import TorchLearner

            torch.set_num_threads(1)
            decay, half = self.decay, self.side // 2
            with torch.random.fork_rng():
                torch.manual_seed(self.random_state)
                module = torch.nn.Sequential(
                    torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                    torch.nn.Conv2d(8, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
                    torch.nn.Linear(16 * half * half, 10),
                )  # fmt: skip
            self.network_ = TorchLearner(
                module, torch.nn.CrossEntropyLoss(),
                lambda p: torch.optim.Adam(p, lr=0.01, weight_decay=decay), epochs=self.epochs,
                batch_size=50, classes=range(10), shape=(1, self.side, self.side), seed=self.random_state,
            )  # fmt: skip
        return self.network_
