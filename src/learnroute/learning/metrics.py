"""What a matrix of errors along a route says about learning, keeping and forgetting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError
from learnroute.model.labelled_tables import align_square
from learnroute.model.validation import LARGEST_VALUE, as_matrix

MEANING: Mapping[str, str] = MappingProxyType(
    {
        "average_final_error": "mean error over all regions after the last one: the paper's F_T; lower is better",
        "learning_error": "mean error in a region right after learning it (learning accuracy, as an error); "
        "lower is better",
        "forgetting": "mean rise of a region's error from right after learning it to the end; lower is better",
        "forgetting_from_best": "mean rise of a region's error from its least one before the end to the end "
        "(max-minus-last, for errors); lower is better",
        "backward_transfer": "mean fall of a region's error from right after learning it to the end, "
        "so minus the forgetting; higher is better",
    }
)
HIGHER_IS_BETTER = frozenset({"backward_transfer"})


@dataclass(frozen=True)
class Metrics:
    """The metrics of one route; `MEANING` says of each what it is and which way is better.

    `average_final_error` is what the paper calls forgetting loss. `forgetting` is what the continual-learning
    field calls so: a difference between two times. It and its variants are means over all regions but the last.
    """

    average_final_error: float
    learning_error: float
    forgetting: float
    forgetting_from_best: float
    backward_transfer: float

    def to_dict(self) -> dict[str, float]:
        """Return the metrics by name."""
        return asdict(self)


def metrics_of(errors: ArrayLike) -> Metrics:
    """Return the metrics of errors[i][j]: after training on the i-th region of a route, tested on the j-th.

    The columns of a table with labels are brought into the order of its rows, which is that of the visits.

    Parameters
    ----------
    errors
        T × T errors.

    Returns
    -------
    Metrics
        Average final error, forgetting and the others; `MEANING` says what each is.

    Raises
    ------
    InputError
        Where the errors are not T rows of T numbers, T ≥ 2.
    """
    matrix = as_matrix("errors", align_square("errors", errors), None, None, least=-LARGEST_VALUE, meaning="errors")
    size = len(matrix)
    if size < 2 or matrix.shape[1] != size:
        raise InputError(
            "T rows of T >= 2 are needed", field="errors", found=f"has {size} rows of {matrix.shape[1]} entries"
        )
    final, learnt = matrix[-1], np.diagonal(matrix)
    rise = float(np.mean(final[:-1] - learnt[:-1]))
    return Metrics(
        average_final_error=float(final.mean()),
        learning_error=float(learnt.mean()),
        forgetting=rise,
        forgetting_from_best=float(np.mean(final[:-1] - matrix[:-1, :-1].min(axis=0))),
        backward_transfer=-rise,
    )
