"""Choice of the learner on the page: λ on a slider, and the route for it."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from learnroute import Gradient, Problem, Proximal, evaluate, plan, read_problem, write_problem
from learnroute.model.losses import error_over_time
from pages import Open, cancel, route, settle, show, total, wait_until
from service import EXAMPLES, districts, example


def slide(page: Page, place: int) -> None:
    """Move the slider as a user would."""
    page.eval_on_selector(
        "#lambda",
        "(node, place) => { node.value = place; node.dispatchEvent(new Event('input', { bubbles: true })) }",
        place,
    )


def place_of(regularization: float) -> int:
    return round(1 + 20 * (math.log10(regularization) + 3))


def learner(path: Path, **training: Any) -> Problem:
    return read_problem(path, learner=training)


def saved_problem(page: Page, tmp_path: Path) -> Problem:
    page.select_option("#save-what", "problem .json")
    with page.expect_download() as waiting:
        page.click("#save")
    waiting.value.save_as(tmp_path / "saved.json")
    return read_problem(tmp_path / "saved.json")


def test_the_slider_turns_the_route_from_the_least_forgetting_to_the_shortest(opened: Open, tmp_path: Path) -> None:
    page = opened()
    asked = show(page, tmp_path, districts())
    papers, shortest = plan(asked), plan(asked, "travel")
    assert route(page) == list(papers.route) != list(shortest.route)
    assert page.inner_text("#lambda-label") == "0 (least squares)"
    assert page.locator('[data-part="pairs"]').count() == 0
    slide(page, place_of(100))
    settle(page)
    found = plan(asked.replace(learner=Proximal(60, 200, 0.5, regularization=100)))
    assert found.route in (shortest.route, shortest.route[::-1])
    assert (page.inner_text("#lambda-label"), page.input_value("#rule")) == ("100", "proximal")
    assert route(page) == list(found.route)
    assert total(page) == pytest.approx(found.loss.total, rel=1e-5)
    for part in ("travel", "dissimilarity", "initial", "noise", "pairs"):
        assert float(page.inner_text(f'[data-part="{part}"]')) == pytest.approx(getattr(found.loss, part), rel=1e-3)
    assert found.loss.pairs < 0
    assert not any(page.locator("#parts td:nth-child(3)").all_inner_texts())  # no shares beside a part below 0
    problem = saved_problem(page, tmp_path)
    assert (problem.learner.rule, problem.learner.regularization) == ("proximal", 100.0)
    mean = float(error_over_time(problem, found.order)[-1].mean())
    shown = re.search(r"mean expected error ([\d.]*\d)", page.inner_text("#error-history-text"))
    assert shown is not None
    assert float(shown[1]) == pytest.approx(mean, rel=1e-3)
    slide(page, 0)
    settle(page)
    assert page.input_value("#rule") == "least-squares"
    assert route(page) == list(papers.route)
    assert saved_problem(page, tmp_path).learner == asked.learner


def test_the_bar_leads_back_to_the_total(opened: Open) -> None:
    page = opened()
    slide(page, place_of(1))
    settle(page)
    boxes = {part: page.locator(f"#bar .part-{part}").bounding_box() for part in ("travel", "dissimilarity", "pairs")}
    bar, mark = page.locator("#bar").bounding_box(), page.locator("#bar .total").bounding_box()
    assert bar is not None
    assert mark is not None
    pairs, noise = boxes["pairs"], page.locator("#bar .part-noise").bounding_box()
    assert pairs is not None
    assert noise is not None
    assert pairs["x"] + pairs["width"] == pytest.approx(noise["x"] + noise["width"], abs=1)  # from the end of the rest
    assert pairs["x"] == pytest.approx(mark["x"] + mark["width"] / 2, abs=2)  # back to the total
    lost = total(page) - float(page.inner_text('[data-part="pairs"]'))
    assert (mark["x"] + mark["width"] / 2 - bar["x"]) / bar["width"] == pytest.approx(total(page) / lost, abs=0.01)
    assert pairs["y"] > boxes["travel"]["y"]  # type: ignore[index]


def test_old_values_are_dim_until_the_new_plan_is_there_and_stale_answers_are_dropped(
    opened: Open, tmp_path: Path
) -> None:
    page = opened()
    asked = show(page, tmp_path, districts())
    held: list[Any] = []
    page.route("**/api/plan", lambda request: held.append(request))
    before = total(page)
    slide(page, place_of(0.3))
    wait_until(page, lambda: len(held) == 1)
    assert page.get_attribute("body", "data-stale") == "plan"
    page.wait_for_function("() => getComputedStyle(document.querySelector('#total')).opacity < 0.5")
    assert total(page) == before
    slide(page, place_of(3.16))
    wait_until(page, lambda: len(held) == 2)  # the first call is called off
    assert page.inner_text("#lambda-label") == "3.16"
    held[1].continue_()
    page.unroute("**/api/plan")
    settle(page)
    assert page.get_attribute("body", "data-stale") is None
    page.wait_for_function("() => getComputedStyle(document.querySelector('#total')).opacity == 1")
    found = plan(asked.replace(learner=Proximal(60, 200, 0.5, regularization=3.16)))
    assert total(page) == pytest.approx(found.loss.total, rel=1e-5)


def test_the_best_regularization_moves_the_slider_and_shows_its_range(opened: Open, tmp_path: Path) -> None:
    page = opened()
    page.select_option("#example", "warehouse-robot")
    settle(page)
    page.click("#best-lambda")
    settle(page)
    found = plan(learner(EXAMPLES / "warehouse-robot.json", rule="proximal", regularization="auto"))
    assert found.learner is not None
    assert found.regularization_range is not None
    best = found.learner.regularization
    assert isinstance(best, float)
    assert int(page.input_value("#lambda")) == place_of(best)
    assert float(page.inner_text("#lambda-label")) == pytest.approx(best, rel=1e-3)
    assert total(page) == pytest.approx(found.loss.total, rel=1e-5)
    band = page.locator("#lambda-scale .band").bounding_box()
    scale = page.locator("#lambda-scale").bounding_box()
    assert band is not None
    assert scale is not None
    for end, shown in zip(found.regularization_range, (band["x"], band["x"] + band["width"]), strict=True):
        wanted = scale["x"] + 8 + (1 + 20 * (math.log10(end) + 3)) / 161 * (scale["width"] - 16)
        assert shown == pytest.approx(wanted, abs=1.5)
    assert saved_problem(page, tmp_path).learner.regularization == best
    slide(page, place_of(best) + 20)
    settle(page)
    assert page.locator("#lambda-scale .band").count() == 1  # the same problem: it still says where to go
    assert "The best λ is" in page.inner_text("#lambda-note")
    page.fill("#noise", "0.9")
    settle(page)
    assert page.locator("#lambda-scale .band").count() == 0


def test_one_regularization_per_stop(opened: Open, tmp_path: Path) -> None:
    page = opened()
    page.select_option("#example", "warehouse-robot")
    settle(page)
    page.click("#best-schedule")
    settle(page)
    found = plan(learner(EXAMPLES / "warehouse-robot.json", rule="proximal", regularization="schedule"))
    assert found.learner is not None
    assert total(page) == pytest.approx(found.loss.total, rel=1e-5)
    assert "one per stop" in page.inner_text("#lambda-label")
    assert page.locator("#lambda-scale .best").count() == 8
    problem = saved_problem(page, tmp_path)
    assert problem.learner.regularization == found.learner.regularization
    assert evaluate(problem, route(page)).loss.total == pytest.approx(found.loss.total, rel=1e-12)
    page.set_input_files("#file", tmp_path / "saved.json")
    settle(page)
    assert total(page) == pytest.approx(found.loss.total, rel=1e-5)


def test_regions_are_added_and_dropped_with_estimates_and_schedules(opened: Open, tmp_path: Path) -> None:
    page = opened()
    delta = [[0, 1, 4, 2], [1, 0, 1, 3], [4, 1, 0, 2], [2, 3, 2, 0]]
    problem = Problem(
        coordinates=[[0, 0], [2, 0], [2, 2], [0, 3]],
        dissimilarity=delta,
        dissimilarity_estimate=[[0.5 * entry for entry in row] for row in delta],
        initial=[4, 3, 2, 1],
        initial_estimate=[2, 1, 1, 1],
        learner=Proximal(40, 50, 0.1, regularization=(0.5, 1.0, 2.0, 3.0)),
    )
    write_problem(problem, tmp_path / "four.json")
    page.set_input_files("#file", tmp_path / "four.json")
    page.wait_for_selector("#title:has-text('4 regions')")
    settle(page)
    page.click("#add")
    settle(page)
    more = saved_problem(page, tmp_path)
    assert more.learner.regularization == (0.5, 1.0, 2.0, 3.0, 3.0)
    assert more.dissimilarity_estimate is not None
    assert more.dissimilarity is not None
    assert more.dissimilarity_estimate.tolist() == (0.5 * more.dissimilarity).tolist()
    assert total(page) == pytest.approx(plan(more).loss.total, rel=1e-5)
    page.click("#remove")
    settle(page)
    assert saved_problem(page, tmp_path).learner.regularization == (0.5, 1.0, 2.0, 3.0)
    assert total(page) == pytest.approx(plan(problem).loss.total, rel=1e-3)


def test_the_left_end_is_not_available_if_m_is_about_n(opened: Open, tmp_path: Path) -> None:
    page = opened()
    asked = show(page, tmp_path, districts())
    slide(page, place_of(1))
    settle(page)
    page.fill("#features", "200")  # n is 200, too
    settle(page)
    assert "wrong" not in (page.get_attribute("#status", "class") or "")
    at_n = asked.replace(learner=Proximal(200, 200, 0.5, regularization=1))
    assert total(page) == pytest.approx(plan(at_n).loss.total, rel=1e-5)
    assert "λ = 0 is not available: m = 200 is within 1 of n = 200" in page.inner_text("#lambda-note")
    slide(page, 0)
    settle(page)
    assert (page.input_value("#lambda"), page.input_value("#rule")) == ("1", "proximal")
    assert page.inner_text("#lambda-label") == "0.001"
    page.select_option("#rule", "least-squares")
    settle(page)
    assert "does not exist" in page.inner_text("#regime")
    assert page.inner_text("#total") == "–"
    assert page.locator("#verdict dd").count() == 0
    slide(page, place_of(1))
    settle(page)
    assert total(page) == pytest.approx(plan(at_n).loss.total, rel=1e-5)


def test_gradient_steps(opened: Open, tmp_path: Path) -> None:
    page = opened()
    asked = show(page, tmp_path, districts())
    page.select_option("#rule", "gradient")
    settle(page)
    assert not page.is_visible("#lambda")
    page.fill("#steps", "7")
    page.fill("#step-size", "0.3")
    settle(page)
    found = plan(asked.replace(learner=Gradient(60, 200, 0.5, steps=7, rate=0.3)))
    assert total(page) == pytest.approx(found.loss.total, rel=1e-5)
    problem = saved_problem(page, tmp_path)
    assert (problem.learner.rule, problem.learner.steps, problem.learner.rate) == ("gradient", 7, 0.3)
    page.fill("#step-size", "1.9")
    settle(page)
    assert "gradient steps diverge" in page.inner_text("#status")
    assert page.get_attribute("#step-size", "aria-invalid") == "true"
    assert page.inner_text("#total") == "–"
    page.select_option("#rule", "least-squares")
    settle(page)
    assert total(page) == pytest.approx(plan(asked).loss.total, rel=1e-5)


def test_cancelling_a_choice_restores_the_regularization(opened: Open) -> None:
    page = opened()
    slide(page, place_of(2))
    settle(page)
    before = total(page)
    page.click("#best-lambda")
    cancel(page)
    settle(page)
    assert page.inner_text("#lambda-label") == "2"
    assert total(page) == before


def test_file_that_leaves_lambda_to_the_plan(opened: Open, tmp_path: Path) -> None:
    page = opened()
    data = example()
    data["learner"] |= {"rule": "proximal", "regularization": "auto"}
    (tmp_path / "auto.json").write_text(json.dumps(data))
    page.set_input_files("#file", tmp_path / "auto.json")
    page.wait_for_selector("#title:has-text('Warehouse')")
    settle(page)
    assert total(page) == pytest.approx(plan(Problem.from_dict(data)).loss.total, rel=1e-5)
    assert page.locator("#lambda-scale .band").count() == 1


def test_glossary_has_a_sentence_per_term(opened: Open) -> None:
    page = opened()
    slide(page, place_of(1))
    settle(page)
    for term in ("λ", "retention", "regime", "pairs", "score", "gap", "guarantee", "lower bound", "travel rate"):
        page.locator(f'button.term[data-term="{term}"]').first.click()
        said = page.inner_text("#explained")
        assert said.lower().startswith(term.lower()), term
        assert said.endswith(".")
        page.keyboard.press("Escape")
        assert not page.is_visible("#explained")


def test_different_numbers_of_samples(opened: Open, tmp_path: Path) -> None:
    page = opened()
    problem = Problem(
        travel=[[0, 2, 3], [2, 0, 1], [3, 1, 0]],
        dissimilarity=[[0, 1, 4], [1, 0, 1], [4, 1, 0]],
        samples=[20, 40, 50],
        learner=Proximal(40, 50, 0.1, regularization=0.5),
    )
    write_problem(problem, tmp_path / "three.json")
    page.set_input_files("#file", tmp_path / "three.json")
    page.wait_for_selector("#title:has-text('3 regions')")
    settle(page)
    assert total(page) == pytest.approx(plan(problem).loss.total, rel=1e-5)
    assert "within 1 of the n of a region" in page.inner_text("#lambda-note")
    assert "20 to 50 samples" in page.inner_text("#regime")
