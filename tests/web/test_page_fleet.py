"""Several vehicles or models on the page: fields, routes, lists, service, error histories, and the table."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page

from learnroute import Fleet, Visits, compare_fleets, plan, read_problem, visit_curve
from pages import Open, region, route, settle, total
from service import EXAMPLES

CITY = EXAMPLES / "city-survey.json"  # what the page opens on


def fill(page: Page, **fields: str) -> None:
    for name, value in fields.items():
        page.fill(f"#{name}", value)
        settle(page)


def lists(page: Page) -> list[list[str]]:
    """Return the stops that are listed for each vehicle."""
    found: list[list[str]] = page.eval_on_selector_all(
        "#stops ol", "lists => lists.map(list => [...list.children].map(stop => stop.firstChild.textContent))"
    )
    return found


def members(page: Page) -> list[list[str]]:
    """Return the rows of the table of vehicles or models."""
    found: list[list[str]] = page.eval_on_selector_all(
        "#members tbody tr", "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return found


def test_two_vehicles_are_drawn_listed_and_saved(opened: Open, tmp_path: Path) -> None:
    page = opened()
    fill(page, vehicles="2")
    problem = read_problem(CITY).replace(fleet=Fleet(vehicles=2))
    found = plan(problem)
    assert found.travels is not None
    assert found.weights is not None
    assert total(page) == pytest.approx(found.loss.total, rel=1e-5)
    assert lists(page) == [list(way) for way in found.routes]
    for vehicle, way in enumerate(found.routes):
        assert page.locator(f".leg.own-{vehicle}").count() == len(way) - 1
        for place, name in enumerate(way, 1):
            label = region(page, name).get_attribute("aria-label") or ""
            assert f", visit {place} of {len(way)} of vehicle {vehicle + 1}," in label
    assert members(page) == [
        [f"vehicle {k}", str(len(way)), f"{travel:.4g}", f"{weight:.3g} of the average"]
        for k, way, travel, weight in zip((1, 2), found.routes, found.travels, found.weights, strict=True)
    ]
    page.select_option("#history-model", "1")
    last = found.routes[1][-1]
    assert page.inner_text("#error-history-text").startswith(f"After visit {len(found.routes[1])}, {last}:")
    page.click("#back")
    assert page.locator(".leg.ahead").count() == page.locator(".leg.own-1.ahead").count() == 1
    page.select_option("#save-what", "plan .yaml")
    with page.expect_download() as waiting:
        page.click("#save")
    waiting.value.save_as(tmp_path / "plan.zip")
    assert waiting.value.suggested_filename == "plan.zip"
    with zipfile.ZipFile(tmp_path / "plan.zip") as archive:
        assert archive.namelist() == ["plan-1.yaml", "plan-2.yaml"]
    page.select_option("#paid", "longest")
    settle(page)
    longest = plan(problem.replace(fleet=Fleet(vehicles=2, travel="longest")))
    assert total(page) == pytest.approx(longest.loss.total, rel=1e-5)
    page.click("#undo")
    page.click("#undo")
    settle(page)
    assert page.input_value("#vehicles") == "1"
    assert not page.is_visible("#members")
    assert route(page) == list(plan(problem.replace(fleet=None)).route)


def test_models_and_the_regions_that_they_serve(opened: Open) -> None:
    page = opened(viewport={"width": 400, "height": 900}, color_scheme="dark")
    fill(page, vehicles="3", models="2")
    page.check("#visit-paying")
    settle(page)
    assert page.input_value("#vehicles") == "1"  # only one of the two is above 1
    assert page.input_value("#serve") == "own"
    problem = read_problem(CITY).replace(fleet=Fleet(models=2), visits=Visits())
    found = plan(problem)
    assert found.served_by is not None
    assert found.models is not None
    assert total(page) == pytest.approx(found.loss.total, rel=1e-5)
    assert route(page) == list(found.route)
    for name, model in found.served_by.items():
        label = region(page, name).get_attribute("aria-label") or ""
        assert f", served by {'the initial model' if model is None else f'model {model + 1}'}," in label
        outline = region(page, name).locator(".dot").first.evaluate("node => getComputedStyle(node).stroke")
        own = "node => getComputedStyle(node).fill"
        if model is not None:
            assert outline == page.locator(f"#members .own-{model} :is(circle, polygon)").evaluate(own)
    for name, model in zip(found.route, found.models, strict=True):
        assert region(page, name).locator("polygon").get_attribute("visibility") == ("visible" if model else "hidden")
    rows = members(page)
    for k in range(2):
        served = [name for name, model in found.served_by.items() if model == k]
        assert rows[k] == [f"model {k + 1}", str(found.models.count(k)), ", ".join(served)]
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.focus("#visit-count")
    page.keyboard.press("End")
    settle(page)
    every = visit_curve(problem).rows[-1]
    assert every.models is not None
    assert total(page) == pytest.approx(every.total, rel=1e-5)
    assert [row[1] for row in members(page)[:2]] == [str(every.models.count(k)) for k in range(2)]


def test_the_table_of_fleets(opened: Open) -> None:
    page = opened()
    page.click("#compare-fleets")
    page.wait_for_selector("#fleets-rows tr")
    found = compare_fleets(read_problem(CITY))
    shown = page.eval_on_selector_all(
        "#fleets-rows tr", "rows => rows.map(row => [...row.cells].map(c => c.textContent))"
    )
    assert [row[0] for row in shown] == [row.name for row in found.rows]
    assert [float(row[4]) for row in shown] == pytest.approx([row.total for row in found.rows], rel=1e-3)
    assert [int(row[5]) for row in shown] == [row.samples for row in found.rows]
    assert [k for k, row in enumerate(shown) if row[6] == "best"] == [found.best]
    assert page.locator("#fleets-rows [aria-current]").inner_text().startswith("1 vehicle")
    page.focus("#fleets-rows tr.best .take")
    page.keyboard.press("Enter")
    settle(page)
    best = found.rows[found.best]
    assert total(page) == pytest.approx(best.total, rel=1e-5)
    assert page.input_value("#vehicles" if best.vehicles > 1 else "#models") == str(best.models)
    assert page.locator("#fleets-rows .best[aria-current]").count() == 1  # the table stays
    fill(page, noise="0.4")
    assert page.inner_text("#fleets-text") == "The problem has changed: compare the fleets again."
    assert not page.is_visible("#fleets-table")


def test_a_refusal_is_shown_in_plain_words(opened: Open) -> None:
    page = opened()
    fill(page, vehicles="2", limit="1")
    said = page.inner_text("#status.wrong")
    assert said.startswith("fleet.limit = 1")
    assert "\n" not in said
    assert page.get_attribute("#limit", "aria-invalid") == "true"
    assert not page.is_visible("#members")
    assert lists(page) == []
    page.fill("#limit", "")
    page.select_option("#start-at", "Harbour")
    settle(page)
    assert "is one region, but there are several vehicles" in page.inner_text("#status.wrong")
    fill(page, vehicles="1")
    assert page.inner_text("#status") == ""
    assert route(page)[0] == "Harbour"


@pytest.mark.parametrize("remedy", ["limit", "visits", "undo"])
def test_marks_of_refused_fields_go_with_the_reason(opened: Open, remedy: str) -> None:
    page = opened()
    fill(page, vehicles="2", limit="1")
    assert page.get_attribute("#limit", "aria-invalid") == "true"
    if remedy == "limit":
        fill(page, limit="1000")
    elif remedy == "undo":
        page.click("#undo")
        settle(page)
    else:
        page.check("#visit-paying")
        settle(page)
    assert page.inner_text("#status") in ("", "Undone.")
    assert page.locator('[aria-invalid="true"]').count() == 0
