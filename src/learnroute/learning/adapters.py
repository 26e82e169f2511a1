"""Adapters that give learners of other libraries `partial_fit` and `predict`: scikit-learn pipelines, river, PyTorch.

No library is imported before it is used; the kind of a model is recognised by its attributes.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any, Self

import numpy as np

from learnroute.errors import InputError, check_callable
from learnroute.learning.data import is_fitted
from learnroute.learning.measures import check_learner
from learnroute.model.validation import FloatArray, as_count


def as_learner(model: Any, classes: FloatArray | None = None) -> Any:
    """Return a copy of a model with `partial_fit(features, targets)` and `predict`, which continues its training.

    `classes` are all labels that occur in the regions; a classifier needs them before its first batch.
    """
    if not isinstance(model, type):
        steps = getattr(model, "steps", None)
        if isinstance(steps, list) and hasattr(model, "named_steps"):
            return PipelineLearner(model, classes)
        if hasattr(model, "learn_many") and hasattr(model, "predict_many"):
            return RiverLearner(model)
    check_learner("learner", model, "partial_fit", "predict")
    return _ClassifierWithClasses(model, classes) if _requires_classes(model) else copy.deepcopy(model)


def is_classifier(model: Any) -> bool:
    """Return whether a learner predicts classes: by scikit-learn's tags, or by its methods and attributes."""
    if isinstance(model, type):
        return False
    steps = getattr(model, "steps", None)
    if isinstance(steps, dict) and steps:  # a pipeline of river
        return is_classifier(list(steps.values())[-1])
    if isinstance(steps, list) and steps and hasattr(model, "named_steps"):
        return is_classifier(steps[-1][1])
    if hasattr(model, "__sklearn_tags__"):
        return bool(model.__sklearn_tags__().estimator_type == "classifier")
    if getattr(model, "_estimator_type", None) == "classifier" or hasattr(model, "classes_"):
        return True
    return _requires_classes(model) if hasattr(model, "partial_fit") else hasattr(model, "predict_proba_many")


def _requires_classes(model: Any) -> bool:
    try:
        return "classes" in inspect.signature(model.partial_fit).parameters
    except (TypeError, ValueError):
        return False


class _ModelWrapper:
    """Wrapper that delegates all attributes it does not define to the wrapped model."""

    model: Any

    def __getattr__(self, name: str) -> Any:
        if name == "model" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.model, name)


class _ClassifierWithClasses(_ModelWrapper):
    """A classifier that receives all classes with each batch."""

    def __init__(self, model: Any, classes: FloatArray | None) -> None:
        self.model, self.class_arguments = copy.deepcopy(model), classes

    def partial_fit(self, features: Any, targets: Any) -> Self:
        """Train on one batch."""
        self.model.partial_fit(features, targets, classes=self.class_arguments)
        return self


class PipelineLearner(_ModelWrapper):
    """A scikit-learn pipeline whose last step has `partial_fit`.

    The steps before it are fitted on the first batch (the only one known then), unless they are already fitted. Steps
    that have `partial_fit` are trained on every batch.
    """

    def __init__(self, pipeline: Any, classes: FloatArray | None = None) -> None:
        self.model = copy.deepcopy(pipeline)
        last = self.model.steps[-1][1]
        if not hasattr(last, "partial_fit"):
            reason = "its last step needs a method partial_fit, as SGDClassifier has"
            raise InputError(reason, field="learner", value=last)
        self.class_arguments = {"classes": classes} if _requires_classes(last) else {}

    def partial_fit(self, features: Any, targets: Any) -> Self:
        """Train on one batch."""
        for _, step in self.model.steps[:-1]:
            if step is None or step == "passthrough":
                continue
            if hasattr(step, "partial_fit"):
                step.partial_fit(features)
            elif not is_fitted(step):
                step.fit(features, targets)
            features = step.transform(features)
        self.model.steps[-1][1].partial_fit(features, targets, **self.class_arguments)
        return self


class RiverLearner(_ModelWrapper):
    """A river model that learns mini-batches (`learn_many`), which river expects as pandas tables."""

    def __init__(self, model: Any) -> None:
        self.model = copy.deepcopy(model)

    def partial_fit(self, features: Any, targets: Any) -> Self:
        """Train on one batch."""
        import pandas

        self.model.learn_many(self._table(features), pandas.Series(np.asarray(targets)))
        return self

    def predict(self, features: Any) -> Any:
        """Predict the target of each sample."""
        return np.asarray(self.model.predict_many(self._table(features)))

    @staticmethod
    def _table(features: Any) -> Any:
        import pandas

        table = np.asarray(features)
        return pandas.DataFrame(table, columns=[f"x{k + 1}" for k in range(table.shape[1])])


class TorchLearner:
    """A PyTorch module with a loss and an optimiser, as a learner.

    Parameters
    ----------
    module
        The network. It is trained in place; `follow` and `transfer` train copies.
    loss
        A function of outputs and targets, such as `torch.nn.CrossEntropyLoss()`.
    optimizer
        A function that returns an optimiser for the parameters: `lambda p: torch.optim.SGD(p, lr=0.01)`. Each region
        gets a new optimiser, so that no momentum carries over between regions.
    epochs, batch_size
        Number of passes over the samples of a region, and number of samples per step.
    classes
        The labels, in the order of the module's outputs; None if it predicts numbers.
    shape
        The shape of one sample, such as (1, 8, 8) for images; unchanged if omitted.
    seed
        Seed of the order of the samples and of random layers (dropout); `random_state` is scikit-learn's name for it.
        PyTorch's global random state is not changed.

    Raises
    ------
    InputError
        If an argument is not callable, a number is out of range, or a label is not in `classes`.
    """

    def __init__(
        self, module: Any, loss: Any, optimizer: Any, epochs: int = 1, batch_size: int = 32, classes: Any = None,
        shape: tuple[int, ...] | None = None, seed: int = 0,
    ) -> None:  # fmt: skip
        for name, given in (("module", module), ("loss", loss), ("optimizer", optimizer)):
            if given is None:
                raise InputError("missing; expected a function or a class", field=name)
            check_callable(name, given)
        self.module, self.loss, self.optimizer = module, loss, optimizer
        self.epochs = as_count("epochs", epochs, meaning="the number of epochs")
        self.batch_size = as_count("batch_size", batch_size, meaning="the batch size")
        self.random_state, self.shape = as_count("seed", seed, least=0, meaning="the seed"), shape
        if classes is not None:
            self.classes_ = np.array(list(classes), dtype=np.float64)
        self.batches = 0

    def partial_fit(self, features: Any, targets: Any) -> Self:
        """Train on one region's samples."""
        torch = _torch()
        inputs = self._inputs(features)
        outputs = np.asarray(targets, dtype=np.float64)
        if hasattr(self, "classes_"):
            wanted = torch.as_tensor(self._places(outputs), dtype=torch.long, device=inputs.device)
        else:
            wanted = torch.as_tensor(outputs.astype(np.float32), device=inputs.device)[:, None]
        rng = np.random.default_rng((self.random_state, self.batches))
        optimizer = self.optimizer(self.module.parameters())
        self.module.train()
        with torch.random.fork_rng():
            torch.manual_seed(int(rng.integers(2**31)))
            for _ in range(self.epochs):
                order = rng.permutation(len(outputs))
                for begin in range(0, len(order), self.batch_size):
                    rows = torch.as_tensor(order[begin : begin + self.batch_size], device=inputs.device)
                    optimizer.zero_grad()
                    self.loss(self.module(inputs[rows]), wanted[rows]).backward()
                    optimizer.step()
        self.batches += 1
        return self

    def predict(self, features: Any) -> FloatArray:
        """Predict the target of each sample."""
        found = self._outputs(features)
        if hasattr(self, "classes_"):
            return np.asarray(self.classes_[found.argmax(axis=1)])
        return np.asarray(found[:, 0], dtype=np.float64)

    def predict_proba(self, features: Any) -> FloatArray:
        """Return the probability of each class for each sample."""
        found = self._outputs(features)
        powers = np.exp(found - found.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def _places(self, labels: FloatArray) -> Any:
        """Return the index of the module's output for each label."""
        same = labels[:, None] == self.classes_[None, :]
        if not same.any(axis=1).all():
            unknown = labels[~same.any(axis=1)][0]
            raise InputError(f"unknown label {unknown:g}; give one class per output", field="classes")
        return same.argmax(axis=1)

    def _inputs(self, features: Any) -> Any:
        table = np.array(features, dtype=np.float32)  # a copy, as PyTorch warns about read-only arrays
        where = next((tensor.device for tensor in self.module.parameters()), None)
        shaped = table if self.shape is None else table.reshape(len(table), *self.shape)
        return _torch().as_tensor(shaped, device=where)

    def _outputs(self, features: Any) -> FloatArray:
        self.module.eval()
        with _torch().no_grad():
            return np.asarray(self.module(self._inputs(features)).cpu().numpy(), dtype=np.float64)


def _torch() -> Any:
    try:
        import torch
    except ModuleNotFoundError:
        raise ImportError("TorchLearner needs PyTorch: pip install torch") from None
    return torch
