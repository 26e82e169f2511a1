"""Arguments of the wrong type are rejected by public functions in one line that names the argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

import learnroute
import learnroute.learning
import learnroute.plots
from learnroute import InputError, plan
from learnroute.learning import RegionData, RouteRegressor
from learnroute.solvers.params import DEFAULTS, AutoParams, KOptParams, MatchingParams, ProofParams
from samples import small

WRONG = {"None": None, "text": "abc", "a list": [1, "b"], "a number": 3.5, "a class": dict, "an object": object()}
CALLED = {
    "order": "route",
    "returns": ".return",
    "place": "depot",
    "travel_back": "travel",
    "data": "problem",
    "methods": "method",
}  # in messages
FUNCTIONS = {
    name: getattr(module, name)
    for module in (learnroute, learnroute.learning, learnroute.plots)
    for name in module.__all__
    if inspect.isfunction(getattr(module, name))
}
CLASSES = {
    "Problem": learnroute.Problem, "LeastSquares": learnroute.LeastSquares, "Proximal": learnroute.Proximal,
    "Gradient": learnroute.Gradient, "Calibrated": learnroute.Calibrated, "Constraints": learnroute.Constraints,
    "Depot": learnroute.Depot, "FeaturesScaling": learnroute.FeaturesScaling,
    "Visits": learnroute.Visits, "Journey": learnroute.Journey,
}  # fmt: skip


@cache
def problem() -> learnroute.Problem:
    return small(truth=[[1.0], [2.0], [3.0], [4.0]], dissimilarity_low=np.zeros((4, 4)))


@cache
def batch() -> tuple[Any, Any]:
    x = np.random.default_rng(0).standard_normal((30, 2))
    return x, x @ [1.0, 2.0] + 0.1 * x[:, 0] ** 2


def row() -> dict[str, Any]:
    return {"family": "uniform", "regions": 4, "features": 8, "samples": 10, "noise": 0.1, "method": "auto",
            "ratio": 1.0, "bound_is_optimum": True}  # fmt: skip


@cache
def valid_arguments() -> dict[str, dict[str, Any]]:
    """Return valid values for all arguments of every public function."""
    asked, order = problem(), [0, 1, 2, 3]
    planned = plan(asked)
    x, y = batch()
    regions = {name: RegionData((x, y), (x, y), np.zeros(2)) for name in "ABC"}
    fitted = RouteRegressor().fit(x, y)
    simulated = learnroute.learning.simulate(asked, order, 5)
    classifier = GaussianNB().fit(x, y > 0)
    routes = np.random.default_rng(3).random((2, 7, 7))
    travel = np.array(asked.travel)
    learning = learnroute.learning
    samples = {name: batch() for name in "ABC"}
    estimated, transferred = learning.estimate(samples), learning.transfer(regions, RouteRegressor())
    followed = learning.follow(list("ABC"), regions, RouteRegressor())
    calibrated = learning.calibrate(routes[0], [(list(range(7)), routes[1])])
    rehearsed = learning.rehearse(regions, RouteRegressor(), draws=2)
    fine = {"time_limit": 5.0, "progress": None, "seed": 1}
    shape = {"features": 80, "samples": 100, "noise": 0.1}
    return {
        "plan": {"problem": asked, "method": "auto", "params": learnroute.SolverParams(), "initial": None, "stop": None,
                 "threads": 1, **fine},
        "evaluate": {"problem": asked, "route": list("ABCD"), "time_limit": 5.0, "progress": None,
                     "models": None},
        "visit_curve": {"problem": asked, **fine},
        "compare_fleets": {"problem": asked, "vehicles": [1, 2], "models": [1], "serve": "own", "rounds": 2, **fine},
        "compare": {"problem": asked, "methods": ["nearest"], "draws": 2, **fine},
        "tradeoff": {"problem": asked, "points": 2, **fine},
        "compare_learners": {"problem": asked, **fine},
        "robustness": {"problem": asked, "within": 0.1, "draws": 2, **fine},
        "verify": {"problem": asked, "plan": planned.to_dict()},
        "with_depot": {"problem": asked, "place": "B", "returns": True},
        "expected_loss": {"problem": asked, "order": order},
        "true_loss": {"problem": asked, "order": order},
        "error_over_time": {"problem": asked, "order": order},
        "objective_of": {"problem": asked},
        "check_metric": {"travel": travel},
        "metric_closure": {"travel": travel},
        "minimum_matching": {"weights": travel, "budget": None, "points": None, "extra": False,
                             "params": learnroute.SolverParams().construction.matching},
        "read_plan": {"path": "plan.json"},
        "read_problem": {"path": "problem.json", "learner": {}, "constraints": {}, "travel_rate": 1.0},
        "write_plan": {"plan": planned, "path": "out.json", "problem": asked},
        "write_problem": {"problem": asked, "path": "out.json"},
        "estimate": {"samples": {name: batch() for name in "ABC"}, "level": 0.9, "share": 0.5, "test": 0.2, "seed": 1,
                     "initial_model": None, "features": None, "scaling": "none", "intercept": False,
                     "missing": "drop", "pilot": None, "columns": ["p", "q"], "draws": 100, "progress": None},
        "follow": {"route": list("ABC"), "data": regions, "learner": RouteRegressor(),
                   "error": learnroute.learning.squared_error, "features": None, "progress": None, "repeats": 2,
                   "seed": 1},
        "transfer": {"data": regions, "learner": RouteRegressor(), "repeats": 1, "error": "squared", "workers": 1,
                     "file": None, "resample": False, "features": None, **fine},
        "calibrate": {"transfer": routes[0], "followed": [(list(range(7)), routes[1])], "level": 0.9,
                      "forms": ["linear"]},
        "rehearse": {"data": regions, "learner": RouteRegressor(), "problem": None, "regularization": None,
                     "error": "squared", "features": None, "scaling": "none", "draws": 2, "trainings": None,
                     "stop": None, **fine},
        "zero_one_error": {"model": fitted, "region": regions["A"]},
        "cross_entropy": {"model": classifier, "region": regions["A"]},
        "metrics_of": {"errors": [[1, 2], [3, 4]], "visits": [0, 1], "final": [1, 2]},
        "model_distance": {"model": fitted, "region": regions["A"]},
        "squared_error": {"model": fitted, "region": regions["A"]},
        "simulate": {"problem": asked, "route": order, "models": None, "runs": 5, "sampler": "direct", "level": 0.9,
                     **fine},
        "split": {"samples": {name: batch() for name in "ABC"}, "estimate": 0.5, "test": 0.2, "seed": 1},
        "truth_of": {"problem": asked, "rng": np.random.default_rng(1)},
        "check_picture": {"path": "picture.svg"},
        "draw_plan": {"plan": planned, "problem": asked, "ax": None},
        "draw_comparison": {"comparison": learnroute.compare(asked, ["nearest"]), "problem": asked, "ax": None,
                            "title": None},
        "draw_tradeoff": {"found": learnroute.tradeoff(asked), "problem": asked, "picked": None, "ax": None},
        "draw_visit_curve": {"found": learnroute.visit_curve(asked), "problem": asked, "ax": None},
        "draw_fleets": {"found": learnroute.compare_fleets(asked, [1], [1]), "problem": asked, "ax": None},
        "draw_learners": {"found": learnroute.compare_learners(asked), "problem": asked, "ax": None},
        "draw_robustness": {"found": learnroute.robustness(asked, draws=2), "problem": asked, "ax": None},
        "draw_simulations": {"simulations": [("auto", simulated)], "problem": asked, "ax": None},
        "draw_estimate": {"estimate": estimated, "ax": None},
        "draw_transfer": {"transfer": transferred, "ax": None},
        "draw_following": {"following": followed, "ax": None},
        "draw_calibration": {"calibration": calibrated, "ax": None},
        "draw_rehearsal": {"rehearsal": rehearsed, "problem": rehearsed.problem, "ax": None},
        "draw_ratios": {"rows": [row()], "axis": None, "where": None, "band": "none"},
        "Problem": {
            "travel": travel, "learner": asked.learner, "dissimilarity": asked.dissimilarity, "vectors": None,
            "initial": [1, 2, 3, 4], "regions": list("ABCD"), "coordinates": None, "truth": asked.truth,
            "initial_model": [0.0], "title": "", "geographic": False, "constraints": None, "travel_rate": 1.0,
            "samples": None, "dissimilarity_low": None, "dissimilarity_estimate": None, "initial_estimate": None,
            "streets": None, "transfer": None, "depot": None, "features_scaling": None,
            "visits": None, "importance": None, "fleet": None,
        },
        "LeastSquares": {**shape, "rule": "least-squares"},
        "Proximal": {**shape, "rule": "proximal", "regularization": 1.0},
        "Gradient": {**shape, "rule": "gradient", "steps": 3, "rate": 0.2},
        "Calibrated": {"features": 0, "samples": 0, "noise": 0.1, "rule": "calibrated", "retention": 0.5,
                       "coupling": 0.2, "common_retention": 0.3, "verdict": "weak", "measure": "squared_error"},
        "Visits": {"required": ["A"], "forbidden": [], "repeat": 1, "at_least": 1, "at_most": None, "budget": None},
        "Constraints": {"start": None, "end": None, "returns": False},
        "Depot": {"name": "Base", "coordinates": None, "travel": None, "travel_back": None, "returns": True},
        "FeaturesScaling": {"means": [1.0, 2.0], "matrix": [[1.0], [2.0]], "intercept": True, "columns": ["p", "q"]},
        "Journey": {"problem": asked, "method": "auto", "seed": 0, "file": None, "progress": None, "time_limit": None},
    }  # fmt: skip


METHODS: dict[str, Callable[[], tuple[Callable[..., Any], dict[str, Any]]]] = {
    "Journey.visit": lambda: (
        learnroute.Journey(problem()).visit,
        {
            "region": "A",
            "errors": {"B": 1.0},
            "dissimilarity": None,
            "vector": None,
            "progress": None,
            "time_limit": None,
        },
    ),
    "Journey.drop": lambda: (
        learnroute.Journey(problem()).drop,
        {"region": "A", "progress": None, "time_limit": None},
    ),
    "Journey.add": lambda: (
        learnroute.Journey(problem()).add,
        {
            "region": "E",
            "travel": dict.fromkeys("ABCD", 1.0),
            "travel_back": None,
            "coordinates": None,
            "dissimilarity": dict.fromkeys("ABCD", 2.0),
            "vector": None,
            "initial": 0.5,
            "samples": None,
            "importance": None,
            "progress": None,
            "time_limit": None,
        },
    ),
    "Journey.resume": lambda: (learnroute.Journey.resume, {"file": "journey.json"}),
    "Tradeoff.within": lambda: (learnroute.tradeoff(problem()).within, {"budget": 1e6}),
    "Tradeoff.below": lambda: (learnroute.tradeoff(problem()).below, {"ceiling": 1e6}),
    "Plan.plot": lambda: (plan(problem()).plot, {"ax": None, "path": "picture.svg", "problem": problem()}),
    "Plan.save": lambda: (plan(problem()).save, {"path": "out.json", "problem": problem()}),
    "Problem.from_dict": lambda: (learnroute.Problem.from_dict, {"data": {}}),
    "Problem.changed": lambda: (problem().replace, {"learner": problem().learner}),
    "Problem.dissimilarities_to": lambda: (problem().dissimilarities_to, {"region": 1}),
    "Estimate.to_problem": lambda: (
        learnroute.learning.estimate({name: batch() for name in "ABC"}, draws=100).to_problem,
        {
            "travel": 1 - np.eye(3),
            "samples": 10,
            "coordinates": None,
            "regions": list("ABC"),
            "title": "",
            "geographic": False,
            "regularization": 1.0,
        },
    ),
}


def with_params(**params: Any) -> learnroute.Plan:
    return plan(problem(), params=DEFAULTS._replace(**params))


def function_and_arguments(name: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    if name in METHODS:
        return METHODS[name]()
    return {**FUNCTIONS, **CLASSES}[name], valid_arguments()[name]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    learnroute.write_problem(problem(), "problem.json")
    learnroute.write_plan(plan(problem()), "plan.json")
    learnroute.Journey(problem(), file="journey.json")


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES, *METHODS])
def test_a_wrong_type_is_rejected_in_one_line_that_names_the_argument(name: str) -> None:
    function, arguments = function_and_arguments(name)
    given = inspect.signature(function).parameters
    if name != "Problem.changed":
        named = {argument for argument, one in given.items() if one.kind is not one.VAR_KEYWORD}
        assert set(arguments) == named, name
    if name != "Problem.from_dict":
        function(**arguments)
    wrong = []
    for argument in arguments:
        for what, value in WRONG.items():
            function, _ = function_and_arguments(name)
            try:
                partial(function, **{**arguments, argument: value})()
            except InputError as refusal:
                called_so = (argument, CALLED.get(argument, argument), *([value] if isinstance(value, str) else []))
                if "\n" in str(refusal) or not any(word in str(refusal) for word in called_so):
                    wrong.append(f"{argument} = {what}: {refusal}")
            except Exception as error:
                wrong.append(f"{argument} = {what}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plan([[0, 1], [1, 0]]), "problem = [[0, 1], [1, 0]]: expected a Problem"),  # type: ignore[arg-type]
        (
            lambda: learnroute.learning.follow(["A", "B"], {"A": batch() * 2, "B": batch() * 2}, Ridge()),
            "learner = Ridge(): has no method partial_fit, which a learner needs; RouteRegressor, ProximalRegressor",
        ),
        (
            lambda: learnroute.learning.follow(["A", "B"], {"A": batch() * 2, "B": batch() * 2}, RouteRegressor),
            "is a class; give an instance, RouteRegressor()",
        ),
        (lambda: problem().replace(travle=[]), "travle: unknown field; did you mean travel?"),
        (lambda: with_params(search=3), "search = 3: expected an IteratedLocalSearchParams"),
        (
            lambda: with_params(proof=ProofParams(both_regions=1.5)),  # type: ignore[arg-type]
            "both_regions = 1.5: expected a whole number",
        ),
        (lambda: with_params(proof=ProofParams(one_tree=())), "one_tree = (): expected an OneTreeParams"),  # type: ignore[arg-type]
        (lambda: with_params(auto=AutoParams(efforts=((9, ProofParams(both_regions="all")),))), "both_regions = 'all'"),  # type: ignore[arg-type]
        (lambda: with_params(search=DEFAULTS.search._replace(short=True)), "short = True: expected a number"),
        (
            lambda: with_params(search=DEFAULTS.search._replace(k_opt=KOptParams(breadth=3))),  # type: ignore[arg-type]
            "breadth = 3: expected a tuple",
        ),
        (
            lambda: learnroute.minimum_matching(1 - np.eye(4), params=MatchingParams(dense="few")),  # type: ignore[arg-type]
            "dense = 'few': expected a whole number",
        ),
        (lambda: learnroute.minimum_matching([[0, 1, 2, 3]] * 3), "weights[0] has 4 entries: expected 3"),
    ],
)
def test_summary_line(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        call()
    assert message in str(refusal.value)
