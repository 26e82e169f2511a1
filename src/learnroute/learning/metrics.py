"""Metrics of learning, retention and forgetting from a matrix of errors along a route."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError
from learnroute.model.labelled_tables import align_square
from learnroute.model.validation import FloatArray, as_count, as_matrix, as_vector

MEANING: Mapping[str, str] = MappingProxyType(
    {
        "average_final_error": "mean error over all regions after the last one: the paper's F_T; lower is better",
        "learning_error": "mean error in a region right after learning it (learning accuracy, as an error); "
        "lower is better",
        "forgetting": "mean rise of a region's error from right after learning it to the end; lower is better",
        "forgetting_from_best": "mean rise of a region's error from its minimum before the end to the end "
        "(max-minus-last, for errors); lower is better",
        "backward_transfer": "mean fall of a region's error from right after learning it to the end, "
        "the negative of the forgetting; higher is better",
    }
)
HIGHER_IS_BETTER = frozenset({"backward_transfer"})


@dataclass(frozen=True)
class Metrics:
    """The metrics of one route; `MEANING` defines each metric and says whether lower or higher is better.

    `average_final_error` is the paper's forgetting loss. `forgetting` is used as in the continual-learning literature,
    for a difference between two times. It and its variants are means over all visited regions except the last one, and
    0 if there is no other region.
    """

    average_final_error: float
    learning_error: float
    forgetting: float
    forgetting_from_best: float
    backward_transfer: float

    def to_dict(self) -> dict[str, float]:
        """Return the metrics by name."""
        return asdict(self)


def metrics_of(errors: ArrayLike, visits: Sequence[int] | None = None, final: ArrayLike | None = None) -> Metrics:
    """Return the metrics of errors[i][j] in the j-th region of a route after training in the i-th region.

    The columns of a labelled table are brought into the order of its rows, which is the order of visits.

    Parameters
    ----------
    errors
        One row per visit, one column per region.
    visits
        The column of the region that each row trained in, if regions are skipped or visited several times; "right
        after learning it" then means after a region's last visit. If omitted, T rows of T errors are needed.
    final
        The error in each region at the end, if it differs from the last row. This is the case for several models,
        where each row belongs to the model that was trained. Forgetting is then a mean over all visited regions.

    Returns
    -------
    Metrics
        Average final error, forgetting and the other metrics; `MEANING` defines each of them.

    Raises
    ------
    InputError
        If the errors do not match `visits` or, without `visits`, are not T rows of T numbers with T ≥ 2.
    """
    if visits is not None:
        if isinstance(visits, str) or not isinstance(visits, Sequence) or not visits:
            raise InputError("expected a list of columns", field="visits", value=visits)
        table = as_matrix("errors", errors, len(visits), None, meaning="errors")
        width = table.shape[1]
        columns = [as_count("visits", one, least=0, meaning="the index of a column") for one in visits]
        if max(columns) >= width:
            raise InputError(f"there are {width} columns; indices go from 0", field="visits", value=max(columns))
        served = None if final is None else as_vector("final", final, width, meaning="errors")
        return _metrics(table, columns, served)
    if final is not None:
        raise InputError("needs visits, the column of the region that each row trained on", field="final")
    matrix = as_matrix("errors", align_square("errors", errors), None, None, meaning="errors")
    size = len(matrix)
    if size < 2 or matrix.shape[1] != size:
        raise InputError(
            "expected T rows of T >= 2", field="errors", found=f"has {size} rows of {matrix.shape[1]} entries"
        )
    return _metrics(matrix, range(size))


def _metrics(matrix: FloatArray, visits: Sequence[int], served: FloatArray | None = None) -> Metrics:
    rows = {region: row for row, region in enumerate(visits)}
    learnt = {region: matrix[row, region] for region, row in rows.items()}
    before, earlier, final = [*learnt], matrix, served
    if final is None:  # the last row
        before, earlier, final = [region for region in learnt if region != visits[-1]], matrix[:-1], matrix[-1]
    rise = float(np.mean([final[region] - learnt[region] for region in before])) if before else 0.0
    best = float(np.mean(final[before] - earlier[:, before].min(axis=0))) if before else 0.0
    return Metrics(
        average_final_error=float(final.mean()),
        learning_error=float(np.mean(list(learnt.values()))),
        forgetting=rise,
        forgetting_from_best=best,
        backward_transfer=-rise,
    )
