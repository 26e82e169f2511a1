"""State and files on the page: undo, reloads, links, files, streets; zoom and pan; hidden options."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from learnroute import Learner, plan, read_problem, tradeoff, write_plan, write_problem
from learnroute.study.families import random_problem
from pages import Open, drag, region, route, settle, total, wait_until
from service import EXAMPLES, Service, example

OLD_TOWN = EXAMPLES / "old-town" / "old-town.graphml"


def open_file(page: Page, *paths: Path) -> None:
    page.set_input_files("#file", list(paths))
    page.wait_for_selector('#status:has-text("Opened")')
    settle(page)


def spot(page: Page, name: str) -> tuple[float, float]:
    box = region(page, name).locator(".ring").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def choices(page: Page) -> list[str]:
    found: list[str] = page.eval_on_selector_all("#save-what option", "nodes => nodes.map(n => n.value)")
    return found


def test_undo_and_redo(opened: Open) -> None:
    page = opened()
    assert page.is_disabled("#undo")
    assert page.is_disabled("#redo")
    totals = [total(page)]
    drag(page, "Airport", -120, -60)  # one step, however many moves it had
    assert page.inner_text("#status") == "Airport moved."
    totals.append(total(page))
    page.fill("#features", "")
    page.locator("#features").press_sequentially("300")  # one step, too
    settle(page)
    totals.append(total(page))
    region(page, "Market").focus()
    page.keyboard.press("Delete")
    settle(page)
    totals.append(total(page))
    for wanted in totals[-2::-1]:
        page.click("#undo")
        settle(page)
        assert total(page) == wanted
        assert page.inner_text("#status") == "Undone."  # and nothing about the step that is undone
    assert page.is_disabled("#undo")
    assert page.input_value("#features") == "60"
    assert len(route(page)) == 12
    page.locator("#map").click(position={"x": 5, "y": 5})
    for wanted in totals[1:]:
        page.keyboard.press("Control+Shift+Z")
        settle(page)
        assert total(page) == wanted
    page.keyboard.press("Control+z")
    settle(page)
    assert total(page) == totals[2]
    page.click("#add")
    settle(page)
    assert page.is_disabled("#redo")  # another way was taken


def test_the_state_is_kept_over_a_reload(opened: Open) -> None:
    page = opened()
    page.select_option("#example", "north-sea")
    settle(page)
    page.fill("#rate", "2.5")
    page.select_option("#method", "nearest")
    page.eval_on_selector("#lambda", "n => { n.value = 81; n.dispatchEvent(new Event('input', { bubbles: true })) }")
    settle(page)
    before = total(page), route(page), page.input_value("#example")
    page.reload()
    page.wait_for_selector("body[data-plans]")
    settle(page)
    assert (total(page), route(page), page.input_value("#example")) == before
    assert (page.input_value("#rate"), page.input_value("#method")) == ("2.5", "nearest")
    assert page.inner_text("#lambda-label") == "10"
    assert page.input_value("#projection") == "geographic"


def test_a_link_holds_the_problem(opened: Open, service: Service) -> None:
    page = opened()
    drag(page, "Airport", -120, -60)
    page.fill("#rate", "3")
    settle(page)
    before = total(page), route(page)
    page.click("#link")
    page.wait_for_selector('#status:has-text("contains the problem")')
    link = page.url
    assert link.startswith(f"{service.url}/#problem=")
    assert len(link) < 4000
    other = opened()
    other.goto("about:blank")
    other.goto(link)
    settle(other)
    assert (total(other), route(other)) == before
    assert "#" not in other.url  # it no longer says what is shown once something changes
    third = opened()
    third.goto("about:blank")
    third.goto(link[:-40])
    third.wait_for_selector('#status.wrong:has-text("The link in the address is incomplete")')
    assert third.inner_text("#title").startswith("City survey")


def test_zoom_and_pan(opened: Open) -> None:
    page = opened()
    before = total(page)
    airport, harbour = spot(page, "Airport"), spot(page, "Harbour")
    page.click("#zoom-in")
    wide = spot(page, "Airport")[0] - spot(page, "Harbour")[0]
    assert wide == pytest.approx(1.4 * (airport[0] - harbour[0]), rel=0.01)
    at = spot(page, "Station")
    page.mouse.move(*at)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    wait_until(page, lambda: spot(page, "Airport")[0] - spot(page, "Harbour")[0] > 1.01 * wide)
    assert spot(page, "Station") == pytest.approx(at, abs=1)  # zoomed around the pointer
    box = page.locator("#map").bounding_box()
    assert box is not None
    corner = box["x"] + 12, box["y"] + 12
    page.mouse.move(*corner)
    page.mouse.down()
    page.mouse.move(corner[0] + 60, corner[1] + 40, steps=3)
    page.mouse.up()
    assert spot(page, "Station") == pytest.approx((at[0] + 60, at[1] + 40), abs=1)
    page.click("#fit")
    assert spot(page, "Airport") == pytest.approx(airport, abs=1)
    settle(page)
    assert total(page) == before  # nothing but the view has changed


def test_the_stops_in_order_as_a_list(opened: Open) -> None:
    page = opened()
    page.click("#stops-box summary")
    stops = [text.split(" travel ") for text in page.locator("#stops li").all_inner_texts()]
    assert [stop[0].strip() for stop in stops] == route(page)
    found = plan(read_problem(EXAMPLES / "city-survey.json"))
    assert sum(float(stop[1]) for stop in stops[1:]) == pytest.approx(found.travel_cost, rel=1e-3)
    page.check("#way-back")
    settle(page)
    assert page.locator("#stops li").last.inner_text().startswith(f"back to {route(page)[0]}")


def test_the_menu_of_examples_follows_an_opened_file(opened: Open, tmp_path: Path) -> None:
    page = opened()
    write_problem(random_problem("euclidean", 5, Learner(80, 100), 1), tmp_path / "five.json")
    open_file(page, tmp_path / "five.json")
    assert page.eval_on_selector("#example", "node => node.selectedOptions[0].textContent") == "five.json"
    page.select_option("#example", "city-survey")  # also the one that was shown first
    page.wait_for_selector('#title:has-text("City survey")')
    settle(page)
    assert page.locator("#example .own").count() == 0
    page.click("#undo")
    settle(page)
    assert (page.input_value("#example"), len(route(page))) == ("five.json", 5)


def test_an_opened_file_fills_the_field_that_has_the_focus(opened: Open, tmp_path: Path) -> None:
    page = opened()
    page.fill("#vehicles", "3")
    settle(page)
    write_problem(random_problem("euclidean", 5, Learner(80, 100), 1), tmp_path / "five.json")
    open_file(page, tmp_path / "five.json")
    assert page.input_value("#vehicles") == "1"


def test_names_beside_the_heat_map_differ(opened: Open, tmp_path: Path) -> None:
    page = opened(viewport={"width": 400, "height": 900})
    names = [f"Tuindorp Oost, plot {k}" for k in range(5)]
    write_problem(random_problem("euclidean", 5, Learner(80, 100), 1).replace(regions=names), tmp_path / "five.json")
    open_file(page, tmp_path / "five.json")
    shown = page.locator("#heat text[text-anchor=end]").all_text_contents()
    assert len(set(shown)) == 5
    assert all("…" in name for name in shown)
    lefts = page.eval_on_selector_all("#heat text", "nodes => nodes.map(n => n.getBoundingClientRect().left)")
    assert min(lefts) >= page.locator("#heat").bounding_box()["x"] - 1  # type: ignore[index]


def test_a_new_file_has_no_curve_and_more_than_20_regions_have_one(opened: Open, tmp_path: Path) -> None:
    page = opened()
    page.select_option("#example", "warehouse-robot")
    settle(page)
    page.click("#curve")
    page.wait_for_selector("#tradeoff .point")
    problem = random_problem("euclidean", 21, Learner(80, 100), 1)
    write_problem(problem, tmp_path / "many.json")
    open_file(page, tmp_path / "many.json")
    assert page.inner_text("#tradeoff-text") == "The problem has changed: draw the curve again."
    assert not page.is_visible("#tradeoff")
    page.click("#curve")
    page.wait_for_selector("#tradeoff .point")
    assert page.locator("#tradeoff .point").count() == len(tradeoff(problem).points)


@pytest.mark.parametrize("width", [1280, 400])
def test_the_heat_map_of_60_regions_does_not_scroll_sideways(opened: Open, tmp_path: Path, width: int) -> None:
    page = opened(viewport={"width": width, "height": 900})
    write_problem(random_problem("euclidean", 60, Learner(80, 100), 1), tmp_path / "sixty.json")
    page.select_option("#method", "nearest")
    settle(page)
    open_file(page, tmp_path / "sixty.json")
    assert page.locator("#heat .cell").count() == 60 * 61
    assert page.eval_on_selector("#heat", "n => n.parentElement.scrollWidth <= n.parentElement.clientWidth")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_formats_are_offered_if_the_places_suit_them(opened: Open, tmp_path: Path) -> None:
    page = opened()
    assert not {"plan .gpx", "plan .geojson", "plan .plan", "problem .geojson"} & set(choices(page))
    assert "plan .yaml" in choices(page)
    page.select_option("#example", "north-sea")
    settle(page)
    assert {"plan .gpx", "plan .geojson", "plan .plan", "plan .yaml", "problem .geojson"} <= set(choices(page))
    page.select_option("#save-what", "plan .yaml")
    page.click("#save")
    page.wait_for_selector('#status.wrong:has-text("need places on one flat map")')
    near = {"regions": ["A", "B", "C"], "coordinates": [[8.0, 47.0], [8.01, 47.0], [8.0, 47.02]], "geographic": True}
    data = {**near, "dissimilarity": [[0, 1, 2], [1, 0, 1], [2, 1, 0]], "learner": example()["learner"]}
    (tmp_path / "near.json").write_text(json.dumps(data))
    open_file(page, tmp_path / "near.json")
    page.select_option("#save-what", "plan .yaml")
    with page.expect_download() as saved:
        page.click("#save")
    assert "metres east (x) and north (y)" in Path(saved.value.path()).read_text()
    write_problem(random_problem("closure", 5, Learner(80, 100), 1), tmp_path / "nowhere.json")
    open_file(page, tmp_path / "nowhere.json")
    assert not {"plan .gpx", "plan .yaml"} & set(choices(page))
    for choice in choices(page):  # all that is offered can be written
        page.select_option("#save-what", choice)
        with page.expect_download():
            page.click("#save")


def test_errors_end_with_the_cause(opened: Open, tmp_path: Path) -> None:
    page = opened()
    (tmp_path / "broken.json").write_text("{")
    page.set_input_files("#file", tmp_path / "broken.json")
    page.wait_for_selector("#status.wrong")
    assert "(files)" not in page.inner_text("#status")


def test_geojson_without_a_learner_uses_the_learner_of_the_page(opened: Open, tmp_path: Path) -> None:
    page = opened()
    data = json.loads((EXAMPLES / "lakes.geojson").read_text())
    data.pop("learner")
    for k, feature in enumerate(data["features"]):
        feature["properties"]["samples"] = 150 + k
    (tmp_path / "lakes.geojson").write_text(json.dumps(data))
    page.fill("#features", "123")
    settle(page)
    open_file(page, tmp_path / "lakes.geojson")
    assert "has no learner: m, n and σ are taken from the fields" in page.inner_text("#status")
    assert (page.input_value("#features"), page.input_value("#samples")) == ("123", "200")
    problem = read_problem(tmp_path / "lakes.geojson", {"features": 123, "samples": 200, "noise": 0.5})
    problem = problem.replace(samples=range(150, 150 + problem.size))
    assert total(page) == pytest.approx(plan(problem).loss.total, rel=1e-5)


def test_maps_of_longitudes_have_no_x(opened: Open) -> None:
    page = opened()
    region(page, "Harbour").click()
    assert [page.inner_text(f"#region-{axis}-label") for axis in "xy"] == ["x", "y"]
    page.select_option("#example", "north-sea")
    settle(page)
    region(page, "Oslo").click()
    assert [page.inner_text(f"#region-{axis}-label") for axis in "xy"] == ["longitude", "latitude"]


def test_routes_along_streets_are_drawn_and_saved_as_such(opened: Open, tmp_path: Path) -> None:
    page = opened()
    open_file(page, OLD_TOWN)
    problem = read_problem(OLD_TOWN)
    found = plan(problem)
    assert problem.streets is not None
    assert route(page) == list(found.route)
    drawn = page.eval_on_selector_all(".leg", "nodes => nodes.map(n => n.points.length)")
    legs = list(zip(found.order, found.order[1:], strict=False))
    assert drawn == [len(problem.streets.path(a, b)) for a, b in legs]
    assert max(drawn) > 2
    page.select_option("#save-what", "plan .gpx")
    with page.expect_download() as waiting:
        page.click("#save")
    waiting.value.save_as(tmp_path / "page.gpx")
    write_plan(found, tmp_path / "library.gpx", problem)

    def points(name: str) -> list[str]:
        return re.findall(r"<trkpt[^>]*>", (tmp_path / name).read_text())

    assert points("page.gpx") == points("library.gpx")
    assert len(points("page.gpx")) == 21
    drag(page, found.route[1], 30, 10)  # its streets are not known any more
    drawn = page.eval_on_selector_all(".leg", "nodes => nodes.map(n => n.points.length)")
    order = route(page)
    moved = order.index(found.route[1])
    assert {drawn[k] for k in (moved - 1, moved) if 0 <= k < len(drawn)} == {2}


def test_nothing_is_claimed_if_there_is_no_plan(opened: Open) -> None:
    page = opened()
    page.fill("#features", "201")
    settle(page)
    assert page.inner_text("#total") == "–"
    assert page.locator("#verdict dd, #parts td, #stops li, .leg, #heat .cell, #halo-scale").count() == 0
    page.evaluate("() => scrollTo(0, document.body.scrollHeight)")
    assert page.locator("#status").bounding_box()["y"] >= 0  # type: ignore[index]  # the reason stays in view
    page.fill("#features", "60")
    settle(page)
    assert "optimal, proved" in page.inner_text('[data-fact="gap"]')


def test_another_problem_has_no_loss_until_it_is_planned(opened: Open, tmp_path: Path) -> None:
    """Also if it has as many regions, and comes from a file of the same name."""
    page = opened()
    data = example("city-survey")
    (tmp_path / "own.json").write_text(json.dumps(data))
    open_file(page, tmp_path / "own.json")
    assert total(page) > 0
    held: list[Any] = []
    page.route("**/api/plan", lambda request: held.append(request))
    (tmp_path / "own.json").write_text(json.dumps({**data, "travel_rate": 3}))
    page.set_input_files("#file", tmp_path / "own.json")
    wait_until(page, lambda: len(held) == 1)
    assert page.inner_text("#total") == "–"
    assert page.locator("#verdict dd, #parts td, #stops li, .leg, #heat .cell").count() == 0
    held[0].continue_()
    page.unroute("**/api/plan")
    settle(page)
    assert total(page) == pytest.approx(plan(read_problem(tmp_path / "own.json")).loss.total, rel=1e-5)


def test_streets_over_http(service: Service) -> None:
    read = service.post("read", files=[{"name": OLD_TOWN.name, "text": OLD_TOWN.read_text()}]).json()
    problem = read_problem(OLD_TOWN)
    assert problem.streets is not None
    assert read["ways"][0][2] == problem.streets.path(0, 2).tolist()
    asked = {"problem": read["problem"], "what": "plan", "format": ".gpx"}
    straight = service.post("export", **asked).text
    along = service.post("export", **asked, ways=read["ways"]).text
    assert (straight.count("<trkpt"), along.count("<trkpt")) == (0, 21)
    for ways, message in (
        ([[None]], "rows and columns, one per region"),
        ([[[[0, "x"]]]], "the places of a way must be numeric"),
        ({"a": 1}, "expected a list of ways for each region"),
    ):
        answer = service.post("export", **asked, ways=ways)
        assert answer.status_code == 422
        assert message in answer.json()["detail"]


def test_learner_for_uploaded_files_over_http(service: Service) -> None:
    data = example()
    learner = data.pop("learner")
    files = [{"name": "problem.json", "text": json.dumps(data)}]
    assert service.post("read", files=files).status_code == 422
    read = service.post("read", files=files, learner=learner).json()
    assert read["learner_taken"]
    assert read["problem"]["learner"]["features"] == learner["features"]
    samples = list(range(70, 70 + len(data["regions"])))
    apart = [{"name": "problem.json", "text": json.dumps({**data, "samples": samples})}]
    assert service.post("read", files=apart, learner=learner).json()["problem"]["samples"] == samples
    own = [{"name": "problem.json", "text": json.dumps(example())}]
    read = service.post("read", files=own, learner={"features": 5, "samples": 50}).json()
    assert not read["learner_taken"]
    assert read["problem"]["learner"]["features"] == learner["features"]
    assert service.post("read", files=files, learner={"features": -5, "samples": 50}).status_code == 422


@pytest.mark.parametrize("calibrated", [True, False])
def test_measured_errors_and_a_calibrated_learner_are_shown(opened: Open, tmp_path: Path, calibrated: bool) -> None:
    errors = [[0.1, 1, 2], [1.5, 0.2, 1], [2, 1, 0.1]]
    law = {"rule": "calibrated", "retention": 0.5, "coupling": 0.1, "noise": -0.05}
    learner = law if calibrated else {"features": 60, "samples": 90, "noise": 0.3}
    data = {"travel": [[0, 1, 2], [1, 0, 1], [2, 1, 0]], "transfer": errors, "learner": learner, "initial": [1, 2, 1]}
    file = tmp_path / "measured.json"
    file.write_text(json.dumps(data))
    page = opened()
    open_file(page, file)
    assert total(page) == pytest.approx(plan(read_problem(file)).loss.total, rel=1e-5)
    assert page.is_disabled("#features") == calibrated
    assert ("p₁ = 0.5" in page.inner_text("#regime")) == calibrated
    page.click("#add")
    settle(page)
    assert len(route(page)) == 4
    page.keyboard.press("Delete")
    settle(page)
    assert total(page) == pytest.approx(plan(read_problem(file)).loss.total, rel=1e-5)
    page.select_option("#rule", "least-squares")
    settle(page)
    page.fill("#features", "60")
    page.fill("#samples", "90")
    settle(page)
    changed = read_problem(file).replace(learner=Learner(60, 90, float(page.input_value("#noise"))))
    assert total(page) == pytest.approx(plan(changed).loss.total, rel=1e-5)
