"""Optional visits on the page: the switch, the curve and its slider, required and forbidden regions, and the budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from learnroute import Proximal, Visits, plan, read_problem, visit_curve
from learnroute.formats.json_files import problem_to_dict
from learnroute.study.families import random_problem
from pages import Open, region, route, settle, show, total
from service import districts

TRAVEL_RATE = 0.3


def survey(**changes: Any) -> dict[str, Any]:
    """Return districts of the city with a learner and a travel rate for which some visits pay."""
    data = districts(travel_rate=TRAVEL_RATE)
    return {**data, "learner": {**data["learner"], "rule": "proximal", "regularization": 5.0}, **changes}


def choose_paying(page: Page) -> None:
    page.check("#visit-paying")
    settle(page)


def press(page: Page, name: str) -> None:
    region(page, name).locator(".ring").click(force=True)
    settle(page)


def slide(page: Page, key: str) -> None:
    page.focus("#visit-count")
    page.keyboard.press(key)
    settle(page)


def undo(page: Page) -> None:
    page.click("#undo")
    settle(page)


def marked_regions(page: Page, kind: str) -> set[str]:
    """Return the names of the regions that are drawn as skipped, required or forbidden."""
    return set(page.eval_on_selector_all(f".region.{kind}", "nodes => nodes.map(n => n.dataset.name)"))


def facts(page: Page) -> dict[str, str]:
    found: dict[str, str] = page.eval_on_selector_all(
        "#verdict dd", "nodes => Object.fromEntries(nodes.map(n => [n.dataset.fact, n.textContent]))"
    )
    return found


def test_all_regions_are_visited_unless_asked_otherwise(opened: Open, tmp_path: Path) -> None:
    page = opened()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    problem = show(page, tmp_path, survey())
    assert page.is_checked("#visit-all")
    assert not page.is_visible("#visits-chosen")
    press(page, "Harbour")
    page.keyboard.press("Enter")
    settle(page)
    assert page.is_disabled("#redo")
    assert route(page) == list(plan(problem).route)
    assert not marked_regions(page, "skipped")
    assert not any("visits" in url for url in asked)


def test_regions_that_do_not_pay_are_hollow(opened: Open, tmp_path: Path) -> None:
    page = opened()
    problem = show(page, tmp_path, survey())
    before = route(page), total(page)
    choose_paying(page)
    found = plan(problem.replace(visits=Visits()))
    assert 1 < len(found.route) < problem.size
    assert route(page) == list(found.route)
    assert total(page) == pytest.approx(found.loss.total, rel=1e-5)
    assert marked_regions(page, "skipped") == set(found.skipped)
    assert page.locator(".leg").count() == len(found.route) - 1
    fill = "node => getComputedStyle(node.querySelector('circle.dot')).fill"
    hollow = {region(page, name).evaluate(fill) for name in found.skipped}
    assert hollow == {page.eval_on_selector(".card", "node => getComputedStyle(node).backgroundColor")}
    assert ", skipped, optional," in (region(page, found.skipped[0]).get_attribute("aria-label") or "")
    assert facts(page)["skipped regions"] == ", ".join(found.skipped)
    assert found.untrained is not None
    assert float(facts(page)["loss without visits"]) == pytest.approx(found.untrained, rel=1e-5)
    saved = page.eval_on_selector_all("#stops li", "nodes => nodes.map(n => n.textContent.split('saves ')[1])")
    assert found.contributions is not None
    wanted = np.array(found.contributions) - found.loss.total
    assert [float(text) for text in saved] == pytest.approx(wanted.tolist(), rel=6e-3)
    assert page.get_attribute("#time", "max") == str(len(found.route))
    assert page.locator("#heat .cell").count() == problem.size * (len(found.route) + 1)
    undo(page)
    assert (route(page), total(page), page.is_checked("#visit-all")) == (*before, True)
    page.click("#redo")
    settle(page)
    assert route(page) == list(found.route)
    page.check("#visit-all")
    settle(page)
    assert (route(page), total(page)) == before


def test_the_curve_is_that_of_the_library(opened: Open, tmp_path: Path) -> None:
    page = opened()
    problem = show(page, tmp_path, survey())
    choose_paying(page)
    found = visit_curve(problem)
    for side, middle in (("total", "Number(n.getAttribute('y')) + Number(n.getAttribute('height')) / 2"),
                         ("error", "Number(n.getAttribute('cy'))")):  # fmt: skip
        drawn = page.eval_on_selector_all(f"#visits-curve .visits-mark.{side}", f"nodes => nodes.map(n => {middle})")
        values = [getattr(row, side) for row in found.rows]
        assert np.corrcoef(drawn, values)[0, 1] == pytest.approx(-1, abs=1e-9)
        points = (page.get_attribute(f"#visits-curve .visits-line.{side}", "points") or "").split()
        travel = [float(point.split(",")[0]) for point in points]
        assert np.corrcoef(travel, [row.travel for row in found.rows])[0, 1] == pytest.approx(1, abs=1e-9)
    labels = page.locator("#visits-curve .visits-label").all_text_contents()
    assert {"untrained", str(found.rows[found.best].visits), str(problem.size)} <= set(labels)
    assert found.summary[1:] in page.inner_text("#visits-text")
    assert page.get_attribute("#visit-count", "max") == str(problem.size)
    assert page.input_value("#visit-count") == str(found.rows[found.best].visits)
    assert "(best)" in page.inner_text("#visit-count-label")
    page.fill("#rate", "0.05")
    settle(page)
    best = visit_curve(problem.replace(travel_rate=0.05))
    assert page.input_value("#visit-count") == str(best.rows[best.best].visits)
    assert best.rows[best.best].visits > found.rows[found.best].visits


def test_the_slider_shows_the_route_of_each_row(opened: Open, tmp_path: Path) -> None:
    page = opened()
    problem = show(page, tmp_path, survey())
    choose_paying(page)
    rows = visit_curve(problem).rows
    best = route(page)
    assert page.get_attribute("#best-visits", "aria-pressed") == "true"
    for key, row in (("Home", rows[1]), ("ArrowRight", rows[2]), ("End", rows[-1])):
        slide(page, key)
        assert route(page) == list(row.route)
        assert total(page) == pytest.approx(row.total, rel=1e-5)
        assert page.get_attribute("#best-visits", "aria-pressed") == "false"
        assert page.inner_text("#time-label") == f"{row.visits} of {row.visits}"
        assert page.inner_text("#visit-count-label").startswith(f"{row.visits} visit")
    page.click("#best-visits")
    settle(page)
    assert route(page) == best
    page.click('#visits-curve .visits-mark.total[data-row="3"]')
    settle(page)
    assert route(page) == list(rows[3].route)
    undo(page)
    assert route(page) == best
    assert page.input_value("#visit-count") == str(len(best))


def test_regions_are_required_and_forbidden_by_clicks_and_keys(opened: Open, tmp_path: Path) -> None:
    page = opened()
    problem = show(page, tmp_path, survey())
    choose_paying(page)
    free = plan(problem.replace(visits=Visits()))
    wanted = free.skipped[0]
    unwanted = next(name for name in plan(problem.replace(visits=Visits(required=[wanted]))).route if name != wanted)
    press(page, wanted)
    assert page.inner_text("#status") == f"{wanted} is required."
    assert marked_regions(page, "required") == {wanted}
    assert route(page) == list(plan(problem.replace(visits=Visits(required=[wanted]))).route)
    region(page, unwanted).focus()
    for _ in range(2):
        page.keyboard.press("Enter")
        settle(page)
    asked = Visits(required=[wanted], forbidden=[unwanted])
    found = plan(problem.replace(visits=asked))
    assert route(page) == list(found.route)
    assert total(page) == pytest.approx(found.loss.total, rel=1e-5)
    assert (marked_regions(page, "required"), marked_regions(page, "forbidden")) == ({wanted}, {unwanted})
    assert region(page, unwanted).locator(".number").text_content() == "×"
    assert ", skipped, forbidden," in (region(page, unwanted).get_attribute("aria-label") or "")
    page.keyboard.press(" ")
    settle(page)
    assert not marked_regions(page, "forbidden")
    undo(page)
    assert marked_regions(page, "forbidden") == {unwanted}
    region(page, wanted).focus()
    page.fill("#region-name", "Elsewhere")
    page.keyboard.press("Enter")
    settle(page)
    assert marked_regions(page, "required") == {"Elsewhere"}
    assert len(route(page)) == len(found.route)
    region(page, unwanted).focus()
    page.keyboard.press("Delete")
    settle(page)
    assert (marked_regions(page, "required"), marked_regions(page, "forbidden")) == ({"Elsewhere"}, set())
    page.keyboard.press("Control+z")
    settle(page)
    assert marked_regions(page, "forbidden") == {unwanted}


def test_travel_budget_limits_routes(opened: Open, tmp_path: Path) -> None:
    page = opened()
    problem = show(page, tmp_path, survey())
    choose_paying(page)
    free = plan(problem.replace(visits=Visits()))
    tight = round(0.6 * free.travel_cost, 1)
    page.fill("#budget", str(tight))
    settle(page)
    asked = Visits(budget=tight)
    found = plan(problem.replace(visits=asked))
    assert found.travel_cost <= tight
    assert route(page) == list(found.route)
    curve = visit_curve(problem.replace(visits=asked))
    assert page.get_attribute("#visit-count", "max") == str(curve.rows[-1].visits)
    assert curve.notes[0][1:] in page.inner_text("#visits-text")
    page.select_option("#save-what", "problem .json")
    with page.expect_download() as waiting:
        page.click("#save")
    waiting.value.save_as(tmp_path / "kept.json")
    assert read_problem(tmp_path / "kept.json").visits == asked
    far = ("Airport", "Harbour", "Garden Suburb")  # from each other
    for name in far:
        press(page, name)
    assert route(page) == []
    said = page.inner_text("#status.wrong")
    assert "\n" not in said
    assert "no route through the required regions found within this travel" in said
    assert not page.is_visible("#visits-curve")
    page.fill("#budget", "-1")
    settle(page)
    assert "travel budget" in page.inner_text("#status.wrong")
    page.fill("#budget", "")
    settle(page)
    required = Visits(required=far)
    assert route(page) == list(plan(problem.replace(visits=required)).route)
    assert page.inner_text("#status") == ""


def test_limits_on_visits(opened: Open, tmp_path: Path) -> None:
    page = opened()
    problem = show(page, tmp_path, survey(visits={"repeat": 2, "at_most": 4}))
    assert (page.input_value("#repeat"), page.input_value("#at-most"), page.input_value("#budget")) == ("2", "4", "")
    for field, text, asked in (
        ("#at-most", "2", Visits(repeat=2, at_most=2)),
        ("#repeat", "", Visits(at_most=2)),
        ("#at-most", "", Visits()),
    ):
        page.fill(field, text)
        page.press(field, "Tab")
        settle(page)
        found = plan(problem.replace(visits=asked))
        assert route(page) == list(found.route)
        assert total(page) == pytest.approx(found.loss.total, rel=1e-5)
    for text in ("1.5", "0"):
        page.fill("#at-most", text)
        settle(page)
        assert "maximum visits" in page.inner_text("#status.wrong")
    undo(page)  # both wrong values are one step: the field was not left between them
    assert page.input_value("#at-most") == ""
    assert route(page) == list(found.route)


def test_the_importance_of_a_region(opened: Open, tmp_path: Path) -> None:
    page = opened()
    problem = show(page, tmp_path, survey(visits={}))
    chosen = problem.regions.index("Airport")

    def weigh(text: str) -> None:
        region(page, "Airport").focus()
        page.fill("#region-importance", text)
        page.keyboard.press("Enter")
        settle(page)

    weigh("9")
    weighted = problem.replace(importance=[9.0 if i == chosen else 1.0 for i in range(problem.size)])
    found = plan(weighted)
    assert route(page) == list(found.route) != list(plan(problem).route)
    assert total(page) == pytest.approx(found.loss.total, rel=1e-5)
    assert f"mean expected error {found.loss.error:.4g}" in page.inner_text("#error-history-text")
    assert f"score / T {weighted.scores[chosen] / problem.size:.4g}" == page.inner_text("#region-score")
    assert ", importance 9," in (region(page, "Airport").get_attribute("aria-label") or "")
    weigh("-1")
    assert "Importance must be" in page.inner_text("#status.wrong")
    assert page.input_value("#region-importance") == "9"
    weigh("1")
    assert route(page) == list(plan(problem).route)
    assert "importance" not in (region(page, "Airport").get_attribute("aria-label") or "")
    undo(page)
    assert route(page) == list(found.route)


def test_visits_of_a_file_are_shown_and_kept_over_a_reload(opened: Open, tmp_path: Path) -> None:
    page = opened()
    visits = {"required": ["Harbour"], "repeat": 2, "at_most": 4}
    problem = show(page, tmp_path, survey(visits=visits))
    found = plan(problem)
    assert page.is_checked("#visit-paying")
    assert route(page) == list(found.route)
    assert len(set(found.route)) < len(found.route)  # a region is visited twice
    twice = next(name for name in found.route if found.route.count(name) == 2)
    assert ", visit " in (label := region(page, twice).get_attribute("aria-label") or "")
    assert " and " in label.partition(" of ")[0]
    page.reload()
    settle(page)
    assert route(page) == list(found.route)
    assert marked_regions(page, "required") == {"Harbour"}
    page.check("#visit-all")
    settle(page)
    assert len(route(page)) == problem.size


def test_a_depot_and_visits_that_pay(opened: Open, tmp_path: Path) -> None:
    page = opened()
    problem = show(page, tmp_path, survey(visits={"required": ["Harbour", "Stadium"]}))
    region(page, "Harbour").focus()
    page.click("#depot")
    settle(page)
    assert marked_regions(page, "required") == {"Stadium"}
    assert "Stadium" in route(page)
    assert page.locator(".leg").count() == len(route(page)) + 1
    assert len(route(page)) < problem.size - 1


def test_a_long_curve_can_be_cancelled(opened: Open, tmp_path: Path) -> None:
    page = opened()
    drawn = random_problem("euclidean", 25, Proximal(80, 100, 0.1, regularization=3.0), 0)
    show(page, tmp_path, problem_to_dict(drawn.replace(initial=np.full(25, 4.0))))
    page.check("#visit-paying")
    page.wait_for_selector("#visits-text:has-text('Calculating')")
    page.wait_for_function(
        "() => !document.querySelector('#working').hidden && (document.querySelector('#cancel').click(), true)",
        polling="raf",
    )
    page.wait_for_selector("#visits-text:has-text('Cancelled.')")
    settle(page)
    assert route(page)  # the plan stays
    assert page.is_disabled("#visit-count")
    assert not page.is_visible("#working")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_it_fits_every_screen(opened: Open, tmp_path: Path, width: int, scheme: str) -> None:
    page = opened(viewport={"width": width, "height": 900}, color_scheme=scheme)
    show(page, tmp_path, survey(visits={"required": ["Harbour", "Airport"], "forbidden": ["Old Town"]}))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    inside = page.locator("#visits-curve").bounding_box()
    assert inside is not None
    for label in page.locator("#visits-curve text").all():
        box = label.bounding_box()
        assert box is not None
        assert inside["x"] - 1 <= box["x"]
        assert box["x"] + box["width"] <= inside["x"] + inside["width"] + 1
    colours = page.eval_on_selector(
        ".region.required .dot",
        "node => [getComputedStyle(node).stroke, getComputedStyle(document.body).color]",
    )
    assert colours[0] == colours[1]  # visible on either ground
    region(page, "Airport").focus()
    for control in ("#visit-count", "#best-visits", "#budget", "#at-most", "#repeat", "#region-importance"):
        box = page.locator(control).bounding_box()
        assert box is not None
        assert box["height"] >= (40 if width == 400 else 16)
