"""Expected losses of given orders by the closed forms of the paper and of regularised learners.

Equation numbers refer to the paper; docs/theory.md has the other formulas. All losses are per region, as in the paper
(each sum divided by T).
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from learnroute.errors import check_type
from learnroute.model.given_routes import as_order
from learnroute.model.problem import Problem
from learnroute.model.routes import Routes
from learnroute.model.validation import FloatArray
from learnroute.model.value import Loss, error_histories, loss_of, true_dissimilarities


def expected_loss(problem: Problem, order: ArrayLike) -> Loss:
    """Return the expected overall loss of a route: (e8) in the under regime, (e14) in the over regime.

    It uses the problem's unbiased estimates of the dissimilarities if there are any. With upper bounds, it is an upper
    bound for a least squares learner, but not for a regularised one, whose loss may decrease with a dissimilarity.
    `Plan.loss_at_most` is an upper bound for both.

    Parameters
    ----------
    problem
        The problem.
    order
        Indices of the regions in order of visit, as in `Plan.order`.

    Returns
    -------
    Loss
        The loss per region, and its parts.

    Raises
    ------
    InputError
        If the order does not contain each index exactly once.
    """
    check_type("problem", problem, Problem)
    return loss_of(problem.instance, Routes.of_order(as_order(problem, order)))


def true_loss(problem: Problem, order: ArrayLike) -> Loss:
    """Return the expected overall loss of a route if the true models are known: (e7), or (e4) with (e12).

    Its `error` is the paper's expected forgetting loss, (e6) or (e12).

    Parameters
    ----------
    problem
        A problem with `truth`.
    order
        Indices of the regions in order of visit, as in `Plan.order`.

    Returns
    -------
    Loss
        The loss per region, and its parts.

    Raises
    ------
    InputError
        If the problem has no true models, or the order does not contain each index exactly once.
    """
    check_type("problem", problem, Problem)
    true = problem.instance.knowing(true_dissimilarities(problem))
    return loss_of(true, Routes.of_order(as_order(problem, order)))


def travel_cost(problem: Problem, order: ArrayLike) -> float:
    """Return the travel cost of a route, in units of travel, including the return trip if it counts."""
    return problem.decided.instance.paid_travel(Routes.of_order(as_order(problem, order)))


def error_over_time(problem: Problem, order: ArrayLike) -> FloatArray:
    """Return the expected error in each region after each visit of a route.

    Row t is the model after t visits (row 0: the initial model), column i is region i. Lemma 2 is restarted after every
    visit: training in region k keeps a share r of the previous error and adds (1-r)·Δ[k, i], and the noise is that of
    a route of t regions. The mean of the last row, weighted by importance, is the `error` of `expected_loss`.
    Regularised learners also subtract q times the error in k before the visit from all errors (docs/theory.md).

    Parameters
    ----------
    problem
        The problem.
    order
        Indices of the regions in order of visit, as in `Plan.order`.

    Returns
    -------
    numpy.ndarray
        T + 1 rows of T errors, read-only.

    Raises
    ------
    InputError
        If the order does not contain each index exactly once.
    """
    check_type("problem", problem, Problem)
    return error_histories(problem, Routes.of_order(as_order(problem, order)))[0]
