"""Calibrated laws: of learners with a known law, and of learners without one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from learnroute import Calibrated, InputError, Learner, RefusedError, evaluate, plan
from learnroute.learning import (
    ProximalRegressor,
    RegionData,
    Transfer,
    calibrate,
    follow,
    model_distance,
    transfer,
)
from learnroute.learning.calibration import _student
from learnroute.model.spectrum import proximal_moments

M, N, SIGMA, STRENGTH, SIZE = 12, 20, 0.5, 0.6, 8


def known_law() -> tuple[float, float, float]:
    found = proximal_moments(M, N, STRENGTH)
    return float(found.retention), float(found.coupling), float(found.noise) * SIGMA**2


def models(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((SIZE, M)) * 0.7


def pilot(truth: np.ndarray, seed: int, strength: float = STRENGTH) -> tuple[list[int], np.ndarray, np.ndarray]:
    """A proximal learner along a random route, batch by batch: p₁, q and ν of its law are known."""
    rng = np.random.default_rng((seed, 7))
    order, w = rng.permutation(SIZE), rng.standard_normal(M) * 0.5
    errors = [((truth - w) ** 2).sum(axis=1)]
    for k in order:
        x = rng.standard_normal((N, M))
        y = x @ truth[k] + SIGMA * rng.standard_normal(N)
        w = np.linalg.solve(x.T @ x / N + strength * np.eye(M), x.T @ y / N + strength * w)
        errors.append(((truth - w) ** 2).sum(axis=1))
    table = np.array(errors)[:, order]
    return order.tolist(), table[1:], table[0]


def distances(truth: np.ndarray) -> np.ndarray:
    return np.asarray(((truth[:, None] - truth[None]) ** 2).sum(axis=2))


def test_intervals_cover_a_known_law_at_their_level() -> None:
    wanted, covered, sums = known_law(), np.zeros(3), 0
    runs = 600
    for seed in range(runs):
        truth = models(seed)
        found = calibrate(distances(truth), [pilot(truth, 2 * seed), pilot(truth, 2 * seed + 1)])
        parts = (found.retention, found.coupling, found.noise)
        covered += [part.low <= value <= part.high for part, value in zip(parts, wanted, strict=True)]
        sums += found.coefficient_sum.holds(1.0)
    # 95 % of 600 is 570; three standard deviations of a binomial are 16
    assert (covered >= 554).all(), covered
    assert (covered <= 586).all(), covered
    assert 554 <= sums <= 586, sums


def test_more_routes_find_the_law_itself() -> None:
    truth = models(3)
    found = calibrate(distances(truth), [pilot(truth, seed) for seed in range(150)])
    for part, value in zip((found.retention, found.coupling, found.noise), known_law(), strict=True):
        assert part.value == pytest.approx(value, abs=4 * part.standard_error)
        assert part.standard_error < 0.05
    assert found.verdict == "supported"
    assert found.r_squared > 0.8
    assert found.visits == 150 * SIZE
    assert set(found.residuals) == {f"R{k + 1}" for k in range(SIZE)}
    learner = found.learner
    assert (learner.rule, learner.retention) == ("calibrated", found.retention.value)


def test_exact_errors_give_the_law_back_to_the_last_digits() -> None:
    rng = np.random.default_rng(0)
    moved, law = rng.random((6, 6)), Calibrated(retention=0.35, coupling=0.12, noise=-0.02)
    problem = Transfer.of(moved).to_problem(law)
    routes = []
    for _ in range(2):
        order = rng.permutation(6)
        errors = [np.array(problem.initial)]
        for k in order:
            errors.append(0.35 * errors[-1] - 0.12 * errors[-1][k] + 0.65 * moved[k] - 0.02)
        routes.append((order.tolist(), np.array(errors)[1:, order], errors[0][order]))
    found = calibrate(moved, routes)
    assert [found.retention.value, found.coupling.value, found.noise.value] == pytest.approx([0.35, 0.12, -0.02])
    assert found.coefficient_sum.value == pytest.approx(1.0)
    assert found.r_squared == pytest.approx(1.0)
    final = evaluate(found.to_problem(), [int(k) for k in routes[0][0]]).loss
    assert final.error == pytest.approx(routes[0][1][-1].mean())
    best = plan(found.to_problem(), "exact")
    assert best.optimal
    assert best.loss.error <= final.error


def along(moved: np.ndarray, law: Learner, first: np.ndarray, order: np.ndarray, noise: float, seed: int) -> Any:
    """Errors along a route by the law itself, measured with noise; the first visit is known to have D's errors."""
    rng = np.random.default_rng(seed)
    assert law.retention is not None
    assert law.coupling is not None
    rho = law.retention - law.coupling if law.common_retention is None else law.common_retention
    own, gained, rows = first, 0.0, []
    for t, k in enumerate(order):
        if t or law.common_retention is None:
            gained = rho * gained + law.coupling * own[k] - law.noise
            own = law.retention * own + (1 - law.retention) * moved[k]
        else:
            own = moved[k]
        rows.append(own - gained + noise * rng.standard_normal(len(own)))
    return order.tolist(), np.array(rows)[:, order]


def test_common_retention_is_recovered() -> None:
    rng = np.random.default_rng(4)
    moved = 0.2 + rng.random((SIZE, SIZE))
    law = Calibrated(retention=0.3, coupling=0.1, noise=0.01, common_retention=0.7)
    exact = [along(moved, law, moved[0], rng.permutation(SIZE), 0.0, 0) for _ in range(2)]
    found = calibrate(moved, exact)
    assert found.form == "common"
    assert found.common_retention is not None
    parts = (found.retention, found.coupling, found.noise, found.common_retention)
    assert [part.value for part in parts] == pytest.approx([0.3, 0.1, 0.01, 0.7], abs=1e-5)
    assert found.learner.common_retention == found.common_retention.value
    assert found.forms["common"] > 0.9999 > found.forms["linear"]
    order = exact[0][0]
    predicted = evaluate(found.to_problem(initial=moved[order[0]]), order).loss.error
    assert predicted == pytest.approx(exact[0][1][-1].mean(), abs=0.02)  # the initial model's share is small by then
    assert calibrate(moved, exact, forms=["linear"]).form == "linear"
    assert calibrate(moved, exact, forms=["held"]).form == "linear"  # the initial model is not known
    with pytest.raises(InputError, match=r"forms = 'round': unknown; known are linear, held, common"):
        calibrate(moved, exact, forms=["round"])


def test_intervals_of_a_common_retention_cover_it_about_at_their_level() -> None:
    """Noise in measured errors biases q towards 0 in the linear form, but not in this one."""
    law = Calibrated(retention=0.3, coupling=0.15, common_retention=0.7)
    wanted, covered, values, linear = np.array([0.3, 0.15, 0.0, 0.7]), np.zeros(4), [], []
    runs = 60
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        moved = 0.2 + rng.random((SIZE, SIZE))
        routes = [along(moved, law, moved[0], rng.permutation(SIZE), 0.05, 9 * seed + k) for k in range(3)]
        found = calibrate(moved, routes)
        linear.append(calibrate(moved, routes, forms=()).coupling.value)
        if found.common_retention is not None:
            parts = (found.retention, found.coupling, found.noise, found.common_retention)
            covered += [part.holds(value) for part, value in zip(parts, wanted, strict=True)]
            values.append([part.value for part in parts])
    assert len(values) > 0.9 * runs
    assert (covered >= 0.8 * len(values)).all(), covered
    assert np.mean(values, axis=0) == pytest.approx(wanted, abs=0.05)
    assert np.mean(linear) < 0.1


def test_regularisation_towards_the_initial_model_is_corrected() -> None:
    rng = np.random.default_rng(6)
    own, first = 0.2 + rng.random((SIZE, SIZE)), 2 + rng.random(SIZE)
    law = Calibrated(retention=0.4, coupling=0.1)
    moved = 0.4 * first - 0.1 * first[:, None] + 0.6 * own
    routes = [along(own, law, first, rng.permutation(SIZE), 0.0, 0) for _ in range(2)]
    told = Transfer.of(moved, before=first)
    found = calibrate(told, routes)
    assert found.form == "held"
    assert [found.retention.value, found.coupling.value, found.noise.value] == pytest.approx([0.4, 0.1, 0.0], abs=1e-9)
    assert found.coefficient_sum.value == pytest.approx(1.0)
    problem = found.to_problem()
    assert problem.transfer == pytest.approx(own)
    assert evaluate(problem, routes[0][0]).loss.error == pytest.approx(routes[0][1][-1].mean())
    assert set(calibrate(told, routes, forms=["held"]).forms) == {"held"}
    untold = calibrate(moved, routes, forms=())
    assert abs(untold.retention.value - 0.4) > 0.02


def test_calibration_recovers_the_law_of_a_proximal_learner() -> None:
    """Measured from w₀ = 0, errors D of a learner with a large λ are those of models half way to their regions'."""
    truth, rng = models(8) + 0.5, np.random.default_rng(8)

    def data(count: int) -> dict[str, RegionData]:
        found = {}
        for k in range(SIZE):
            x = rng.standard_normal((count, M))
            y = x @ truth[k] + SIGMA * rng.standard_normal(count)
            found[f"R{k + 1}"] = RegionData((x[:N], y[:N]), (x[N:], y[N:]), truth[k])
        return found

    learner = ProximalRegressor(STRENGTH)
    draws = [transfer(data(2 * N), learner, error=model_distance) for _ in range(60)]
    assert draws[0].before == pytest.approx((truth**2).sum(axis=1))
    moved = Transfer.of(np.mean([one.errors for one in draws], axis=0), before=draws[0].before)
    routes = [follow(rng.permutation(SIZE).tolist(), data(2 * N), learner, model_distance) for _ in range(30)]
    found, untold = calibrate(moved, routes), calibrate(moved, routes, forms=())
    for part, value in zip((found.retention, found.coupling), known_law(), strict=False):
        assert part.value == pytest.approx(value, abs=4 * part.standard_error)
    assert abs(untold.retention.value - known_law()[0]) > 4 * untold.retention.standard_error
    assert found.to_problem().transfer == pytest.approx(distances(truth), abs=2.5)


def test_data_without_a_law_are_rejected_or_give_a_warning() -> None:
    rng = np.random.default_rng(1)
    routes: list[Any] = [(rng.permutation(SIZE).tolist(), rng.random((SIZE, SIZE))) for _ in range(4)]
    found = calibrate(rng.random((SIZE, SIZE)), routes)
    assert found.verdict == "not supported"
    assert "does not differ significantly from 0" in found.reason
    growing = [(list(range(SIZE)), np.outer(3.0 ** np.arange(SIZE), 1 + rng.random(SIZE)))]
    found = calibrate(rng.random((SIZE, SIZE)), growing)
    assert found.verdict == "not supported"
    assert "from 1, where training changes nothing" in found.reason
    assert found.retention.value <= 1  # the learner to plan with stays within the bounds of the law
    with pytest.raises(RefusedError, match="follow more routes, for at least 6"):
        calibrate(rng.random((4, 4)), [([0, 1, 2, 3], rng.random((4, 4)))])
    with pytest.raises(InputError, match=r"followed\[0\].route = 'Oslo': not in the transfer matrix"):
        calibrate(rng.random((2, 2)), [(["Oslo", "R1"], rng.random((2, 2)))])


def test_quantiles_are_those_of_student() -> None:
    assert [_student(0.975, d) for d in (5, 10, 30)] == pytest.approx([2.5706, 2.2281, 2.0423], abs=0.005)


def test_a_proximal_regressor_obeys_its_law_from_samples() -> None:
    truth, rng = models(5), np.random.default_rng(5)
    found = []
    for _ in range(40):
        data = {}
        for k in range(SIZE):
            x = rng.standard_normal((N, M))
            data[f"R{k + 1}"] = RegionData((x, x @ truth[k] + SIGMA * rng.standard_normal(N)), (x, x[:, 0]), truth[k])
        route = [f"R{k + 1}" for k in rng.permutation(SIZE)]
        found.append(follow(route, data, ProximalRegressor(STRENGTH), model_distance))
    fitted = calibrate(distances(truth), found)
    for part, value in zip((fitted.retention, fitted.coupling, fitted.noise), known_law(), strict=True):
        assert part.value == pytest.approx(value, abs=4 * part.standard_error)
