"""The comparison of learners on the page: the table, the picture, and rows that are applied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from learnroute import compare_learners, evaluate, read_problem
from learnroute.comparison.of_learners import LearnerRow
from pages import Open, cancel, route, settle, show, total
from service import districts


def few_regions(**changes: Any) -> dict[str, Any]:
    """Return five districts of the city, whose three routes differ."""
    return districts((0, 1, 4, 6, 11), **{"travel_rate": 0.5, **changes})


def start_comparison(page: Page) -> None:
    page.click("#compare-learners")
    page.wait_for_selector("#worth-rows tr")


def line(row: LearnerRow) -> str:
    return f'#worth-rows tr[data-learner="{row.learner}"][data-route="{row.route_kind}"]'


def save_file(page: Page, what: str, path: Path) -> Path:
    page.select_option("#save-what", what)
    with page.expect_download() as waiting:
        page.click("#save")
    waiting.value.save_as(path)
    return path


def test_the_table_and_the_picture_are_those_of_the_library(opened: Open, tmp_path: Path) -> None:
    page = opened()
    problem = show(page, tmp_path, few_regions())
    start_comparison(page)
    found = compare_learners(problem)
    assert page.locator("#worth-rows tr").count() == len(found.rows)
    for row in found.rows:
        shown = page.locator(line(row)).locator("td").all_inner_texts()
        assert [float(text) for text in shown[2:5]] == pytest.approx([row.error, row.travel_cost, row.total], rel=1e-4)
        saves = 0.0 if row.saves is None else row.saves
        assert float(shown[5].replace("−", "-") or 0) == pytest.approx(saves, rel=0.006, abs=1e-9)
        assert shown[6] == ("" if row.memory is None else str(row.memory))
        if isinstance(row.regularization, float):
            assert float(shown[7]) == pytest.approx(row.regularization, rel=5e-3)
    assert f"{found.floor.total:.5g}" in page.inner_text("#worth-text")
    for note in found.notes:
        assert note[1:] in page.inner_text("#worth-notes")
    assert page.locator("#worth-picture .worth-curve").count() == len(found.curves) == 3
    floor = float(page.get_attribute("#worth-picture .floor", "y1") or "nan")
    for curve in found.curves:
        points = page.get_attribute(f'#worth-picture [data-route="{curve.route_kind}"]', "points") or ""
        x, y = np.array([point.split(",") for point in points.split()], dtype=float).T
        losses = np.array([curve.limit, *curve.totals, found.floor.total], dtype=float)
        assert np.corrcoef(losses, [*y, floor])[0, 1] == pytest.approx(-1, abs=1e-9)  # one axis for all, upwards
        assert np.diff(x[1:]) == pytest.approx(np.full(70, np.diff(x[1:])[0]))  # logarithmic
        assert x[0] < x[1]  # the paper's learner is at the left end


def test_clicking_a_row_applies_it(opened: Open, tmp_path: Path) -> None:
    page = opened()
    problem = show(page, tmp_path, few_regions())
    before = route(page), total(page)
    start_comparison(page)
    found = compare_learners(problem)
    rows = {(row.learner, row.route_kind): row for row in found.rows}
    shortest, papers = rows["proximal", "shortest"], rows["proximal", "papers-best"]
    assert shortest.route != papers.route
    for row in (papers, shortest, rows["schedule", "own-best"], rows["running-mean", "shortest"]):
        page.click(f"{line(row)} td:nth-child(4)")
        settle(page)
        assert route(page) == list(row.route or ())
        assert total(page) == pytest.approx(row.total, rel=1e-5)
        assert page.get_attribute(line(row), "aria-current") == "true"
        kept = read_problem(save_file(page, "problem .json", tmp_path / "problem.json"))
        assert (kept.learner.rule, kept.learner.regularization) == ("proximal", row.regularization)
        plan = json.loads(save_file(page, "plan .json", tmp_path / "plan.json").read_text())
        assert plan["route"] == list(row.route or ())
        assert evaluate(kept, plan["route"]).loss.total == pytest.approx(row.total, rel=1e-9)
    least_squares = rows["least-squares", "shortest"]
    page.focus(f"{line(least_squares)} button")
    page.keyboard.press("Enter")
    settle(page)
    assert (page.input_value("#rule"), route(page)) == ("least-squares", list(least_squares.route or ()))
    assert total(page) == pytest.approx(least_squares.total, rel=1e-5)
    assert page.evaluate("() => document.activeElement.closest('tr').dataset.learner") == "least-squares"
    for learner in ("recursive", "mean-model"):  # no rule of a problem's learner
        assert page.locator(f'[data-learner="{learner}"] button').count() == 0
    for _ in range(5):
        page.click("#undo")
        settle(page)
    assert (route(page), total(page)) == before
    assert page.is_visible("#worth-table")  # the learner's own rule does not count


def test_another_problem_has_another_table(opened: Open, tmp_path: Path) -> None:
    page = opened()
    show(page, tmp_path, few_regions())
    start_comparison(page)
    page.click('#worth-rows tr[data-learner="least-squares"][data-route="shortest"]')
    settle(page)
    given = total(page)
    page.fill("#noise", "0.9")
    for node in ("#worth-table", "#worth-picture", "#worth-legend"):
        assert not page.is_visible(node)
    assert "compare the learners again" in page.inner_text("#worth-text")
    page.fill("#noise", str(few_regions()["learner"]["noise"]))
    settle(page)
    assert total(page) < given  # a route is planned again


def test_refusal_has_one_line(opened: Open, tmp_path: Path) -> None:
    page = opened()
    show(page, tmp_path, few_regions(initial=[0] * 5))
    page.click("#compare-learners")
    page.wait_for_selector("#worth-text.wrong")
    said = page.inner_text("#worth-text")
    assert said.startswith("initial is missing or 0 for all regions: ")
    assert "\n" not in said
    assert not page.is_visible("#worth-table")
    page.click("#add")
    settle(page)
    assert page.locator("#worth-text.wrong").count() == 0  # it was about another problem


def test_a_comparison_is_cancelled_by_hand_or_by_a_change(opened: Open) -> None:
    page = opened()
    page.click("#compare-learners")
    cancel(page)
    page.wait_for_selector("#worth-text:has-text('Cancelled.')")
    assert page.is_enabled("#compare-learners")
    page.click("#compare-learners")
    page.wait_for_selector("#working:not([hidden])")
    with page.expect_request(lambda request: request.method == "DELETE"):
        page.fill("#noise", "0.9")
    settle(page)
    assert "compare the learners again" in page.inner_text("#worth-text")
    assert page.is_enabled("#compare-learners")
    assert not page.is_visible("#working")


def test_it_fits_a_phone_without_least_squares(opened: Open, tmp_path: Path) -> None:
    page = opened(viewport={"width": 400, "height": 800})
    data = few_regions()
    data["learner"] |= {"features": 200, "samples": 200, "rule": "proximal", "regularization": 1}
    problem = show(page, tmp_path, data)
    start_comparison(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
    found = compare_learners(problem)
    assert found.rows[0].refused is not None
    assert page.locator(line(found.rows[0])).locator("td").nth(2).inner_text() == "none"
    assert page.locator(f"{line(found.rows[0])} button").count() == 0
    assert found.rows[0].refused in page.inner_text("#worth-notes")
    assert page.locator("#worth-picture .paper").count() == 0
