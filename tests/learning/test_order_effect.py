"""Whether the order matters, choice of a predictor, and pictures of measurements."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calls import call
from learnroute import InputError, Learner, Problem, evaluate, expected_loss, plan, read_problem
from learnroute.learning import ProximalRegressor, RegionData, calibrate, estimate, follow, transfer
from learnroute.learning.predictors import rank_correlation
from learnroute.model.order_effect import expected_order_effect


def samples(alike: bool, size: int = 5, count: int = 120) -> dict[str, Any]:
    """Linear regions with equal or with different models."""
    rng = np.random.default_rng(1)
    common, found = rng.standard_normal(3), {}
    for k in range(size):
        model = common if alike else common + 2 * rng.standard_normal(3)
        inputs = rng.standard_normal((count, 3))
        found[f"R{k}"] = (inputs, inputs @ model + 0.3 * rng.standard_normal(count))
    return found


def test_random_orders_beside_a_plan() -> None:
    rng = np.random.default_rng(0)
    problem = Problem(np.zeros((5, 5)), Learner(3, 20, 0.1), vectors=rng.standard_normal((5, 3)))
    found = plan(problem)
    effect = expected_order_effect(problem, found.order)
    assert effect is not None
    everything = [expected_loss(problem, order).error for order in itertools.permutations(range(5))]
    assert effect.planned == pytest.approx(min(everything))
    assert min(everything) <= effect.least <= effect.mean <= effect.most <= max(everything) + 1e-12
    assert effect.matters
    assert ("order", effect.text) in found.sheet().lines
    same = problem.replace(vectors=np.zeros((5, 3)))
    level = expected_order_effect(same, range(5))
    assert level is not None
    assert not level.matters
    assert "any order will do" in dict(plan(same).sheet().lines)["order"]


def test_a_poor_order_does_not_hide_that_the_order_matters() -> None:
    problem = read_problem(Path(__file__).parents[2] / "examples" / "city-survey.json")
    worst = max(range(12), key=lambda last: problem.scores[last])
    route = [*(i for i in range(12) if i != worst), worst]
    effect = expected_order_effect(problem, route)
    assert effect is not None
    assert effect.planned > effect.mean
    assert effect.matters
    assert "the order matters, and random orders are better" in dict(evaluate(problem, route).sheet().lines)["order"]


def test_estimates_name_the_learner_whose_order_is_judged() -> None:
    found = estimate(samples(alike=False))
    assert "(least squares, no travel)" in dict(found.sheet().lines)["order"]
    assert "models fitted by least squares" in found.sheet().headline
    told = found.compare_predictors(0.5)
    assert "(λ = 0.5, no travel)" in dict(told.sheet().lines)["order"]
    lines = dict(told.sheet().lines)
    assert all(len(f"{label:<10} {lines[label]}") <= 100 for label in ("order", "predictor"))


def test_estimates_say_whether_the_order_matters() -> None:
    assert "the order matters" in dict(estimate(samples(alike=False)).sheet().lines)["order"]
    nothing_left = estimate(samples(alike=False), share=1.0)
    assert dict(nothing_left.sheet().lines)["order"] == "unknown: no samples are left for training"
    few = estimate(samples(alike=False, count=16))
    assert "least squares with 3 features does not exist" in dict(few.sheet().lines)["order"]
    many = estimate(samples(alike=False, size=61, count=40))
    assert dict(many.sheet().lines)["order"] == "unknown: compared for at most 60 regions"


def test_estimates_without_travel_plan_by_error_alone() -> None:
    problem = estimate(samples(alike=False)).to_problem()
    assert not problem.travel.any()
    found = plan(problem)
    assert found.loss.error == pytest.approx(
        min(expected_loss(problem, order).error for order in itertools.permutations(range(5)))
    )


def test_predictors_are_compared_on_held_out_samples() -> None:
    found = estimate(samples(alike=False)).compare_predictors(0.1)
    told = found.predictors
    assert told is not None
    assert told.rehearsal > 0.5
    assert told.better in ("law", "rehearsal")
    assert ("predictor", told.text) in found.sheet().lines
    assert found.to_dict()["predictors"] == told.to_dict()
    assert found.compare_predictors(0.1).predictors == told
    with pytest.raises(InputError, match="no samples are left for testing"):
        estimate(samples(alike=False), share=1.0).compare_predictors(0.1)


@pytest.mark.parametrize("strength", ["auto", "schedule", [0.5, 1.0, 1.0, 2.0, 3.0]])
def test_predictors_are_compared_for_the_lambda_that_a_plan_uses(strength: Any) -> None:
    found = estimate(samples(alike=False), seed=3).compare_predictors(strength)
    planned = plan(found.to_problem(regularization=strength)).learner
    assert planned is not None
    given = found.regularization
    assert given == (pytest.approx(planned.regularization) if isinstance(strength, str) else tuple(strength))
    assert found.predictors == estimate(samples(alike=False), seed=3).compare_predictors(given).predictors
    assert ("predictor", found.predictors.text) in found.sheet().lines  # type: ignore[union-attr]
    said = f"λ = {given:.4g}" if isinstance(given, float) else "by position"
    assert said in dict(found.sheet().lines)["order"]


@pytest.mark.parametrize("strength", ["auto", "schedule", "1,2,3,4,5,6"])
def test_the_report_has_order_and_predictor_for_every_lambda(capsys: pytest.CaptureFixture[str], strength: str) -> None:
    buoys = Path(__file__).parents[2] / "examples" / "buoys" / "samples"
    given = ["estimate", str(buoys), "--target", "height", "--scaling", "whiten", "--intercept"]
    code, out, _ = call(capsys, *given, "--regularization", strength)
    assert code == 0
    said = {line.split()[0]: line for line in out.splitlines() if line[:1].isalpha()}
    assert "the order matters (λ = " in said["order"]
    assert "use the law" in said["predictor"]
    code, out, _ = call(capsys, *given, "--regularization", strength, "--no-split")
    assert code == 0
    assert "order      unknown: no samples are left for training" in out
    assert "law and rehearsal were not compared: region 'Anse Noire': no samples are left for testing" in out


def test_estimates_below_zero_are_counted_and_tables_agree() -> None:
    found = estimate({name: (x[:40], y[:40]) for name, (x, y) in samples(alike=True).items()})
    negative = int((found.dissimilarity < 0).sum()) // 2
    assert negative > 0
    said = (
        f"{negative} of 10 estimated dissimilarities and 0 of 5 initial errors are below 0 by chance; they count as 0"
    )
    assert sum(said in caveat for caveat in found.caveats) == 1
    assert not any("below 0" in caveat for caveat in estimate(samples(alike=False)).caveats)
    table, problem = found.sheet().tables[0], found.to_problem(regularization=1.0)
    assert [row[4] for row in table.rows] == pytest.approx((problem.scores / 5).tolist())
    assert [row[6] for row in table.rows] == problem.initial_errors.tolist()
    planned = plan(problem)
    by_name = dict(zip(found.regions, (row[4] for row in table.rows), strict=True))
    shown = [row[-1] for row in planned.table().rows if row[-1] is not None]
    assert shown == pytest.approx([by_name[name] for name in planned.route])


def test_features_of_uneven_directions_are_for_rehearsal() -> None:
    rng = np.random.default_rng(3)
    given = {}
    for k in range(6):  # each region shows one direction well, the others hardly
        inputs = rng.standard_normal((200, 6)) * np.where(np.arange(6) == k, 3.0, 0.3)
        given[f"R{k}"] = (inputs, inputs @ (5 * rng.standard_normal(6)) + rng.standard_normal(200))
    told = estimate(given).compare_predictors(0.05).predictors
    assert told is not None
    assert told.better == "rehearsal"


def test_rank_correlation() -> None:
    assert rank_correlation(np.array([1.0, 2.0, 4.0]), np.array([1.0, 5.0, 6.0])) == pytest.approx(1.0)
    assert rank_correlation(np.array([1.0, 2.0, 4.0]), np.array([3.0, 2.0, 1.0])) == pytest.approx(-1.0)
    assert rank_correlation(np.array([1.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, 4.0])) == pytest.approx(0.9486833)
    assert rank_correlation(np.ones(3), np.arange(3.0)) == 0.0


def test_measurements_have_pictures(tmp_path: Path) -> None:
    given = samples(alike=False)
    data = {name: RegionData((x[:60], y[:60]), (x[60:], y[60:])) for name, (x, y) in given.items()}
    moved = transfer(data, ProximalRegressor(0.1))
    pilots = [
        follow([f"R{k}" for k in order], data, ProximalRegressor(0.1)) for order in ([0, 1, 2, 3, 4], [3, 1, 4, 2, 0])
    ]
    law = calibrate(moved, pilots)
    for k, result in enumerate((estimate(given), moved, pilots[0], law)):
        figure = result.plot(path=tmp_path / f"{k}.svg")
        assert figure.axes
        result.save(tmp_path / f"{k}.png")
        assert "<img" in result._repr_html_()
        assert len(result.to_frame())
    assert law.plot().axes[0].get_yticklabels()[0].get_text() == "retention p₁"
    assert "by the law" in dict(law.sheet().lines)["order"]
