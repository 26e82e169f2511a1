from __future__ import annotations

import itertools
import signal
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from learnroute import InputError, Learner, plan
from learnroute.model.ends import Ends
from learnroute.model.linear import Linear, Weighted
from learnroute.model.relaxation import LinearError
from learnroute.model.travel import Places, TravelMatrix
from learnroute.model.validation import IntArray
from learnroute.solvers import methods, tours
from learnroute.solvers.contract import Budget, Order
from learnroute.solvers.exact.held_karp import held_karp
from learnroute.solvers.local_search.candidates import candidates_of
from learnroute.solvers.local_search.iterated import iterated_local_search, members_for, search_effort
from learnroute.solvers.local_search.rotations import best_cut
from learnroute.solvers.local_search.tour_search import TourSearch
from learnroute.solvers.params import IteratedLocalSearchParams, KOptParams, PopulationParams, SolverParams
from learnroute.solvers.solve import solve
from learnroute.study.families import random_problem
from samples import ALL_FAMILIES, LEARNERS, OVER, UNDER, asymmetric, linear_of

RNG = np.random.default_rng


@pytest.mark.parametrize("learner", LEARNERS)
def test_finds_the_optimum_of_small_problems(learner: str) -> None:
    for seed in range(8):
        family = ALL_FAMILIES[seed % len(ALL_FAMILIES)]
        problem = (
            random_problem(family, 13, LEARNERS[learner], seed) if seed % 4 else asymmetric(13, LEARNERS[learner], seed)
        )
        objective = linear_of(problem)
        least = objective(held_karp(objective, RNG(0), Budget()).order)
        found = solve(problem.instance, methods.METHODS["search"], RNG(seed), Budget(), bounds=False)
        assert objective(found.routes.order) == pytest.approx(least, rel=1e-10)


def test_same_seed_same_route_and_never_worse_than_the_start() -> None:
    objective = linear_of(random_problem("euclidean", 60, OVER, 1))
    start = RNG(1).permutation(60)
    one, two = (iterated_local_search(objective, RNG(3), Budget(), 100, initial=start) for _ in range(2))
    assert np.array_equal(one, two)
    assert objective(one) < objective(start)
    again = iterated_local_search(objective, RNG(3), Budget(), 0, initial=one)
    assert objective(again) <= objective(one)


@pytest.mark.parametrize("geographic", [False, True])
def test_places_are_searched_like_their_distances(geographic: bool) -> None:
    rng = RNG(5)
    points = Places(np.column_stack([rng.uniform(-180, 180, 40), rng.uniform(-80, 80, 40)]), geographic=geographic)
    scores, weights = rng.uniform(0, 1, 40), 0.2 * 0.8 ** np.arange(39, -1, -1.0)
    by_places, by_matrix = Weighted(points, scores, weights), Weighted(TravelMatrix(points.matrix), scores, weights)
    found = iterated_local_search(by_places, RNG(0), Budget(), 2_000)
    again = iterated_local_search(by_matrix, RNG(0), Budget(), 2_000)
    assert by_matrix(found) == pytest.approx(by_places(found), rel=1e-12)
    assert by_matrix(found) == pytest.approx(by_matrix(again), rel=1e-9)


def test_few_regions_and_equal_regions_are_no_trouble() -> None:
    for size in (2, 3, 4, 5):
        objective = linear_of(random_problem("uniform", size, UNDER, size))
        found = iterated_local_search(objective, RNG(0), Budget(), 20)
        assert objective(found) == pytest.approx(objective(held_karp(objective, RNG(0), Budget()).order))
    flat = Weighted(TravelMatrix(np.zeros((20, 20))), np.ones(20), np.full(20, 0.05))
    assert sorted(iterated_local_search(flat, RNG(0), Budget(), 20)) == list(range(20))
    assert plan(random_problem("uniform", 20, Learner(5000, 3, 1), 1), "exact").optimal


def test_geometric_weights_are_recognised() -> None:
    def rate(weights: Any) -> float | None:
        travel = TravelMatrix(np.zeros((len(weights), len(weights))))
        return Weighted(travel, np.ones(len(weights)), np.asarray(weights)).rate

    assert rate([0.0, 0.0, 1.0]) == 0.0
    assert rate(0.5 * 0.5 ** np.arange(9, -1, -1.0)) == pytest.approx(0.5)
    assert rate(np.zeros(4)) == 0.0
    assert rate([0.1, 0.3, 0.4]) is None
    assert rate([0.1, 0.0]) is None


def test_auto_leaves_time_for_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines: list[float] = []

    def noted(objective: Linear, rng: np.random.Generator, budget: Budget, params: SolverParams) -> Order:
        deadlines.append(budget.deadline)
        return Order(np.arange(objective.size))

    monkeypatch.setattr(tours, "algorithm1", noted)
    monkeypatch.setattr(tours, "iterated_local_search", lambda *_args, initial, **_more: initial)
    budget = Budget.of(1000.0)
    solve(random_problem("euclidean", 120, UNDER).instance, methods.METHODS["auto"], RNG(0), budget)
    assert deadlines[0] < budget.deadline - 400


def test_a_search_leaves_time_for_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines: list[float] = []

    def noted(objective: Linear, _rng: np.random.Generator, budget: Budget, *_rest: Any, **_more: Any) -> IntArray:
        deadlines.append(budget.deadline)
        return np.arange(objective.size)

    monkeypatch.setattr(tours, "iterated_local_search", noted)
    budget = Budget.of(1000.0)
    solve(random_problem("euclidean", 120, UNDER).instance, methods.METHODS["search"], RNG(0), budget)
    assert deadlines[0] < budget.deadline - 100


def test_effort_is_what_params_say_unless_it_is_given() -> None:
    objective = linear_of(random_problem("uniform", 30, UNDER, 1))
    assert search_effort(objective) == (600, 2)
    few = SolverParams(search=IteratedLocalSearchParams(few_perturbations=1, starts=3))
    assert search_effort(objective, few) == (30, 3)


@pytest.mark.parametrize("over", [False, True])
def test_threads_share_the_best_route_and_repeat_themselves(over: bool) -> None:
    problem = random_problem("euclidean", 45, OVER if over else UNDER, 3)
    several = [plan(problem, "search", threads=3) for _ in range(2)]
    assert several[0].order == several[1].order
    alone = plan(problem, "search")
    assert several[0].loss.total <= 1.01 * alone.loss.total
    with pytest.raises(InputError, match="threads"):
        plan(problem, "search", threads=0)


class Counting:
    """The core of a search, with a call before each of its perturbations."""

    def __init__(self, core: Any, call: Callable[[], None]) -> None:
        self.core, self.call = core, call

    def __getattr__(self, name: str) -> Any:
        return getattr(self.core, name)

    def perturb(self, draws: Any, chosen: Any) -> None:
        self.call()
        self.core.perturb(draws, chosen)


class Interruption:
    """Ends a search in three threads after the first progress report that follows a call of each.

    From then on a call waits until the threads must stop, and no thread may begin another one.
    """

    def __init__(self, how: str) -> None:
        self.how, self.pressed = how, threading.Event()
        self.calls: Counter[int] = Counter()  # by thread
        self.late: Counter[int] = Counter()

    def tell(self, stage: str, _share: float) -> None:
        if stage != "search" or self.pressed.is_set() or len(self.calls) < 3:
            return
        self.pressed.set()
        if self.how == "a failure":
            raise ArithmeticError
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def call(self, stop: threading.Event | None) -> None:
        if stop is None:  # not in one of the threads yet
            return
        thread = threading.get_ident()
        self.calls[thread] += 1
        if self.pressed.is_set():
            assert stop.wait(300), "the threads are not told to stop"
            self.late[thread] += 1
            assert self.late[thread] == 1, "a thread goes on"

    def end(self, effort: int, params: IteratedLocalSearchParams) -> None:
        """Search until interrupted; every thread has made a call, and at most one more."""
        objective = linear_of(random_problem("euclidean", 200, UNDER, 1))
        budget = Budget.of(progress=self.tell)
        with pytest.raises(KeyboardInterrupt if self.how == "Ctrl-C" else ArithmeticError):
            iterated_local_search(objective, RNG(0), budget, effort, params=SolverParams(search=params))
        assert len(self.calls) == 3
        assert self.late.keys() <= self.calls.keys()
        assert all(late == 1 for late in self.late.values())


@pytest.mark.parametrize("how", ["Ctrl-C", "a failure"])
def test_no_thread_continues_to_the_end_of_its_round(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One round has two hundred million perturbations; each thread ends after its current call of the core."""
    interruption, perturb = Interruption(how), TourSearch.perturb

    def perturb_and_count(self: TourSearch, *given: Any) -> int:
        core, stop = self.core, given[3].stop
        self.core = Counting(core, lambda: interruption.call(stop))  # type: ignore[assignment]
        try:
            return perturb(self, *given)
        finally:
            self.core = core

    monkeypatch.setattr(TourSearch, "perturb", perturb_and_count)
    no_population = PopulationParams(most_regions=0)
    rounds = IteratedLocalSearchParams(rounds_at_once=3, round_length=10**6, population=no_population)
    interruption.end(10**9, rounds)


@pytest.mark.parametrize("how", ["Ctrl-C", "a failure"])
def test_no_thread_continues_with_a_population(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand tours are requested; each thread ends after its current descent."""
    interruption, descend = Interruption(how), TourSearch.descend

    def descend_and_count(self: TourSearch, budget: Budget) -> None:
        interruption.call(budget.stop)
        descend(self, budget)

    monkeypatch.setattr(TourSearch, "descend", descend_and_count)
    interruption.end(10**9, IteratedLocalSearchParams(threads=3, population=PopulationParams(members=10_000)))


@pytest.mark.parametrize("learner", [UNDER, OVER])
def test_populations_find_the_optimum_that_is_proved(learner: Learner) -> None:
    """More regions than several starts or Held–Karp support; branch and cut proves the optimum."""
    problem = random_problem("euclidean", 110, learner, 2)
    best = plan(problem, "exact", seed=0)
    found = plan(problem, "search", seed=1)
    assert best.optimal
    assert found.loss.total == pytest.approx(best.loss.total, rel=1e-12)


def test_a_search_with_a_population_repeats_itself_whatever_the_threads() -> None:
    problem = random_problem("euclidean", 120, OVER, 3)
    few, many = (linear_of(random_problem("euclidean", size, OVER, 3)) for size in (50, 120))
    assert members_for(many, 50 * 120, PopulationParams()) == 100
    assert members_for(few, 50 * 50, PopulationParams()) == members_for(many, 100, PopulationParams()) == 0
    assert plan(problem, "search").order == plan(problem, "search").order == plan(problem, "search", threads=2).order


class Idle:
    """A search whose perturbations take no time: it only counts them."""

    def __init__(self, core: Any, rows: list[int]) -> None:
        self.core, self.rows = core, rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self.core, name)

    def perturb(self, draws: Any, _chosen: Any) -> None:
        self.rows.append(len(draws))


def test_fast_perturbations_do_not_distort_the_pace() -> None:
    """The first ones may be rejected at once and the next ones slow: the time limit is checked in between."""
    rows: list[int] = []
    objective = linear_of(random_problem("euclidean", 60, OVER, 1))
    search = TourSearch(objective, np.arange(60), candidates_of(objective, 8), KOptParams())
    search.core = Idle(search.core, rows)  # type: ignore[assignment]
    search.perturb(RNG(0), 5000, 0.0, Budget())
    assert sum(rows) == 5000
    assert rows[0] == 50
    assert all(later <= 2 * earlier for earlier, later in itertools.pairwise(rows))


@pytest.mark.parametrize("kind", ["geometric", "general", "factors"])
def test_the_best_cut_is_the_best_of_all_rotations(kind: str) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        apart = rng.random((9, 9))
        weights = {
            "geometric": 0.7 ** np.arange(8, -1, -1.0),
            "general": np.sort(rng.random(9)),
            "factors": np.zeros(9),
        }
        factors = rng.random(9) if kind == "factors" else None
        linear = LinearError(3 * rng.random(9), weights[kind], 0.0, factors)
        objective = linear.objective(TravelMatrix(apart + apart.T), Ends())
        order = rng.permutation(9)
        found = best_cut(objective, order)
        assert objective(found) == pytest.approx(min(objective(np.roll(order, k)) for k in range(9)), rel=1e-12)


def test_perturbations_of_the_tail_change_the_tail() -> None:
    rng = np.random.default_rng(0)
    points = Places(rng.random((600, 2)))
    weights = 0.9 ** np.arange(599, -1, -1.0)
    objective = Weighted(TravelMatrix(points.matrix), rng.uniform(1, 3, 600), weights)
    search = TourSearch(objective, rng.permutation(600), candidates_of(objective, 8), KOptParams())
    search.descend(Budget())
    before = search.order()
    tail = search.tail(before)
    assert tail is not None
    assert search.names[tail].tolist() == before[-66:].tolist()  # 0.9**65 is the last one above a thousandth
    search.perturb(np.random.default_rng(1), 300, 0.0, Budget(), tail)
    after = search.order()
    assert objective(after) < objective(before)
    kept = {frozenset(pair) for pair in zip(after[:-1].tolist(), after[1:].tolist(), strict=True)}
    gone = [frozenset(pair) not in kept for pair in zip(before[:-1].tolist(), before[1:].tolist(), strict=True)]
    assert np.mean(gone[-66:]) > 3 * np.mean(gone[:300])
    short = TourSearch(Weighted(TravelMatrix(points.matrix), objective.scores, 0.1 ** np.arange(599, -1, -1.0)), before,
                       candidates_of(objective, 8), KOptParams())  # fmt: skip
    assert short.tail(before) is None
