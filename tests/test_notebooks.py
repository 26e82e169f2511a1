from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import learnroute.plots
from learnroute import (
    InputError,
    Journey,
    Learner,
    Plan,
    Problem,
    compare,
    compare_learners,
    evaluate,
    plan,
    robustness,
    tradeoff,
    verify,
)
from learnroute.formats import PICTURES
from learnroute.learning import ProximalRegressor, calibrate, estimate, follow, simulate, transfer
from learnroute.model.certificates.one_tree import OneTree
from learnroute.model.constraints import Constraints
from learnroute.model.result_mixin import PictureMixin, ResultMixin, TableMixin
from learnroute.model.table import route_text
from learnroute.study.experiment import Experiment
from learnroute.study.sweeps import sweep
from samples import OVER, UNDER, small
from waiting import GUARD

ROOT = Path(__file__).parents[1]
NASTY = ("<script>alert(1)</script>", "$\\bad{$", "a & b", "\"D' --><img src=x onerror=alert(1)>")


class Checked(HTMLParser):
    """Rejects HTML with unbalanced tags, and collects tags and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


@cache
def result(kind: str) -> Any:
    """One result per kind, of a problem with names that must be escaped."""
    problem = small(OVER, regions=NASTY, title="x $ <b> $ _{")
    found = plan(problem)
    makers: dict[str, Callable[[], Any]] = {
        "plan": lambda: found,
        "comparison": lambda: compare(problem, ["exact", "nearest"]),
        "tradeoff": lambda: tradeoff(problem),
        "learners": lambda: compare_learners(problem),
        "robustness": lambda: robustness(problem, 0.9, 20),
        "simulation": lambda: simulate(problem, found.order, 200),
    }
    return makers[kind]()


KINDS = ("plan", "comparison", "tradeoff", "learners", "robustness", "simulation")


def of_size(size: int, name: str = "R{}") -> Plan:
    """A plan of many regions, made without solving."""
    places = np.random.default_rng(0).random((size, 2))
    problem = Problem(None, UNDER, vectors=places, coordinates=places, regions=[name.format(i) for i in range(size)])
    certificate = OneTree(1.0, np.zeros(size + 2))
    base = plan(small())
    order = tuple(range(size))
    return replace(base, route=problem.regions, order=order, certificate=certificate, problem=problem)


def test_reprs_are_short() -> None:
    few = small(samples=[90, 100, 110, 120])
    learners, curve, robust = compare_learners(few), tradeoff(few), robustness(few, 0.2, 2)
    shown = [few, few.replace(title="t" * 1000), few.learner, compare(few, ["nearest"]), learners, learners.rows[0]]
    for size in (3, 60, 5000):
        found = of_size(size, "a name that is a good deal longer than anyone would want to read it {}")
        assert found.problem is not None
        trip = object.__new__(Journey)
        trip.problem, trip.visits, trip.rest = found.problem, (), found.route
        points = tuple(replace(point, route=found.route) for point in curve.points)
        shown += [
            found, replace(found, optimal=False), replace(found, closed=True), found.problem, found.certificate, trip,
            replace(curve, points=points), points[0], replace(simulate(few, range(4), 10), route=found.route),
            replace(robust, plan=found), estimate(_samples(size)),
        ]  # fmt: skip
    for one in shown:
        assert len(repr(one)) < 300, repr(one)
        assert "\n" not in repr(one)


def _samples(size: int) -> dict[str, tuple[Any, Any]]:
    rng = np.random.default_rng(0)
    return {f"region {i}": (rng.random((40, 3)), rng.random(40)) for i in range(min(size, 20))}


def test_reprs_name_the_essentials() -> None:
    problem = small()
    found = plan(problem)
    assert repr(found) == f"<Plan {' → '.join(found.route)}: total loss {found.loss.total:.5g}, proved optimal, " \
                          f"method {found.method}>"  # fmt: skip
    assert repr(problem) == "<Problem: 4 regions, under regime, m = 80, n = 100, σ = 0.1>"
    assert repr(OneTree(2.5, np.zeros(6))) == "<one-tree certificate: bound 2.5, 6 multipliers>"
    trip = Journey(problem)
    trip.visit()
    assert repr(trip) == f"<Journey after 1 of 4 visits, next {' → '.join(trip.rest)}>"
    assert route_text("ABCDEFG", closed=True) == "A → B → C → … 2 more … → F → G → back"


@pytest.mark.parametrize("kind", KINDS)
def test_html_is_well_formed_and_names_do_no_harm(kind: str) -> None:
    html = result(kind)._repr_html_()
    page = Checked(html)
    assert {tag for tag, _ in page.tags} <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td", "img"}
    images = [attributes for tag, attributes in page.tags if tag == "img"]
    assert len(images) == 1
    assert str(images[0]["src"]).startswith("data:image/png;base64,iVBOR")
    assert all(not name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert "http" not in html.replace(str(images[0]["src"]), "")
    assert "x $ <b> $ _{" in page.text


@pytest.mark.parametrize("kind", KINDS)
def test_without_matplotlib_the_table_is_shown_alone(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "img" not in {tag for tag, _ in Checked(result(kind)._repr_html_()).tags}
    with pytest.raises(InputError, match=r"pip install matplotlib, or pip install '\.\[plot\]'"):
        result(kind).plot()


@pytest.mark.parametrize("kind", KINDS)
def test_frames_have_one_row_each_and_need_pandas(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = result(kind)
    rows = {"plan": "order", "comparison": "rows", "tradeoff": "points", "learners": "rows", "robustness": "pairs",
            "simulation": "errors"}  # fmt: skip
    assert len(found.to_frame()) == len(getattr(found, rows[kind]))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"^tables need pandas: pip install pandas$"):
        found.to_frame()
    assert len(found._repr_html_()) > 1000


def test_the_frame_of_a_plan_adds_up() -> None:
    places = [[0, 0], [0, 1], [1, 1], [1, 0]]
    problem = small(OVER, coordinates=places, constraints=Constraints(start="A", returns=True))
    found = plan(problem)
    frame = found.to_frame()
    assert list(frame.columns) == [
        "position", "region", "index", "travel_from_previous", "travel_so_far", "score", "weight", "x", "y",
    ]  # fmt: skip
    assert list(frame["region"]) == [*found.route, "A"]
    assert frame["travel_from_previous"].sum() == pytest.approx(found.travel_cost)
    assert frame["travel_so_far"].iloc[-1] == pytest.approx(found.travel_cost)
    error = (frame["score"] * frame["weight"])[:4].sum() / 4
    assert error == pytest.approx(found.loss.dissimilarity)
    assert frame[["x", "y"]].to_numpy()[:4].tolist() == [places[i] for i in found.order]
    alone = pickle.loads(pickle.dumps(found))
    assert list(alone.to_frame().columns) == ["position", "region", "index"]
    assert alone.to_frame(problem=problem).equals(frame)


def test_other_data_frames_have_their_columns() -> None:
    compared, curve, simulated = result("comparison"), result("tradeoff"), result("simulation")
    assert compared.to_frame()["total"].tolist() == [row.loss.total for row in compared.rows]
    assert curve.to_frame().query("chosen")["loss"].item() == curve.to_frame()["loss"].min()
    assert curve.to_frame()["route"].iloc[0] == curve.points[0].route
    assert simulated.to_frame()["error"].mean() == pytest.approx(simulated.mean)


def test_rejected_methods_have_a_row_too() -> None:
    travel = [[0, 2, 3], [1, 0, 1], [3, 2, 0]]
    found = compare(Problem(travel, UNDER, [[0, 1, 4], [1, 0, 1], [4, 1, 0]]), ["exact", "algorithm1"])
    frame = found.to_frame()
    assert frame["total"].isna().tolist() == [False, True]
    assert frame["refused"].iloc[1] in Checked(found._repr_html_()).text


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_saved_by_extension(kind: str, tmp_path: Path) -> None:
    found = result(kind)
    for suffix in (".json", ".csv", *PICTURES):
        found.save(tmp_path / f"a{suffix}")
    assert json.loads((tmp_path / "a.json").read_text()) == json.loads(json.dumps(found.to_dict()))
    table = (tmp_path / "a.csv").read_text()
    assert len(table.splitlines()) == len(found.to_frame()) + 1
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert len(list(tmp_path.iterdir())) == 5  # and no temporary file is left


def test_results_of_no_problem_have_tables_too(tmp_path: Path) -> None:
    problem = small()
    data = {name: (*pair, *pair) for name, pair in _samples(4).items()}
    learner = ProximalRegressor(1.0)
    routes = [list(data), list(data)[::-1], [list(data)[k] for k in (1, 3, 0, 2)]]
    followed, known = [follow(route, data, learner) for route in routes], transfer(data, learner)
    experiment = Experiment("uniform", (4,), 80, methods=("nearest", "exact"), replicates=2)  # type: ignore[arg-type]
    checked = verify(problem, plan(problem))
    found: dict[TableMixin, int] = {
        Journey(problem): 4,
        checked: len(checked),
        estimate(_samples(4)): 4,
        known: 4,
        followed[0]: 4,
        calibrate(known, followed, forms=["linear"]): 5,
        sweep(experiment, tmp_path / "sweep", workers=1): 2,
    }
    for k, (result, rows) in enumerate(found.items()):
        frame, sheet = result.to_frame(), result.sheet()
        assert len(frame) == rows
        page = Checked(result._repr_html_())
        assert sheet.headline in page.text
        drawn = isinstance(result, PictureMixin)
        assert ("img" in {tag for tag, _ in page.tags}) == drawn
        for suffix in (".json", ".csv", ".md"):
            result.save(tmp_path / f"{k}{suffix}")
        lines = (tmp_path / f"{k}.csv").read_text().splitlines()
        assert lines[0].split(",") == list(frame.columns)
        assert len(lines) == rows + 1
        assert (tmp_path / f"{k}.md").read_text().startswith(sheet.headline)
        if drawn:
            continue
        with pytest.raises(InputError, match=r"unknown format '\.png'; known are \.json, \.csv, \.md"):
            result.save(tmp_path / "a.png")


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_extension_is_rejected_before_any_work(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = result(kind)
    monkeypatch.setattr(type(found), "to_dict", lambda self: pytest.fail("work was done"))
    monkeypatch.setattr(learnroute.plots, found.picture, lambda *_, **__: pytest.fail("work was done"))
    for name, reason in (("a.docx", r"unknown format '\.docx'"), ("a", r"a: the name has no extension for the format")):
        with pytest.raises(InputError, match=reason + r"; known are \.json, .*\.png, \.svg, \.pdf"):
            found.save(tmp_path / name)
    with pytest.raises(InputError, match=r"no folder"):
        found.save(tmp_path / "nowhere" / "a.png")
    with pytest.raises(InputError, match=r"unknown picture format '\.json'"):
        found.plot(path=tmp_path / "a.json")
    assert not list(tmp_path.iterdir())


def test_failed_write_leaves_the_file_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.png"
    file.write_text("before")

    def half(self: Any, path: Path, **options: Any) -> None:
        Path(path).write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", half)
    with pytest.raises(InputError, match="No space left on device"):
        result("plan").save(file)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_a_plan_is_saved_if_its_problem_has_places(tmp_path: Path) -> None:
    problem = small(coordinates=[[0, 50], [1, 51], [2, 50], [3, 51]], geographic=True)
    found = plan(problem)
    found.save(tmp_path / "a.gpx")
    assert "<gpx" in (tmp_path / "a.gpx").read_text()
    with pytest.raises(InputError, match=r"degrees|longitude"):
        plan(small()).save(tmp_path / "b.gpx")


@pytest.mark.parametrize("kind", KINDS)
def test_plots_are_those_of_the_plot_functions(kind: str, tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    found = result(kind)
    figure = found.plot(path=tmp_path / "a.svg")
    assert isinstance(figure, Figure)
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    assert (tmp_path / "a.svg").stat().st_size > 5000
    own = Figure()
    left, right = own.subplots(1, 2)
    assert found.plot(left) is own
    assert left.get_title(loc="left")
    assert not right.has_data()
    own.savefig(tmp_path / "b.png")


def test_pickled_results_do_not_contain_the_problem() -> None:
    size = 400
    travel = np.random.default_rng(0).uniform(1, 2, (size, size))
    np.fill_diagonal(travel, 0)
    problem = Problem(travel, UNDER, vectors=np.eye(size))
    found = replace(of_size(size), problem=problem)
    data = pickle.dumps(found)
    assert len(data) < 20_000
    alone: Plan = pickle.loads(data)
    assert alone.problem is None
    assert alone == replace(found, certificate=alone.certificate)
    assert found.to_dict() == alone.to_dict()
    for kind in KINDS:
        assert pickle.loads(pickle.dumps(result(kind))).problem is None


def test_a_result_without_its_problem_asks_for_it(tmp_path: Path) -> None:
    problem = small()
    found: Plan = pickle.loads(pickle.dumps(plan(problem)))
    assert "img" not in {tag for tag, _ in Checked(found._repr_html_()).tags}
    with pytest.raises(InputError, match=r"^problem: unknown after pickling; give the problem"):
        found.plot()
    with pytest.raises(InputError, match=r"^problem: has other regions"):
        found.plot(problem=small(regions=["W", "X", "Y", "Z"]))
    with pytest.raises(InputError, match="expected a Problem"):
        found.plot(problem="a.json")  # type: ignore[arg-type]
    found.save(tmp_path / "a.png", problem=problem)
    found.save(tmp_path / "a.json")
    assert found.plot(problem=problem).axes


def test_all_results_know_their_problem() -> None:
    problem = small(OVER)
    found = evaluate(problem, ["A", "B", "C", "D"])
    assert found.problem is problem
    others = compare(problem, ["nearest"]), tradeoff(problem), compare_learners(problem), robustness(problem, 0.3, 2)
    for one in (*others, simulate(problem, range(4), 10)):
        assert isinstance(one, ResultMixin)
        assert one.problem is problem
        assert "problem" not in one.to_dict()
    assert robustness(problem, 0.3, 2).plan.problem is problem


@pytest.mark.parametrize("size", [13, 60, 5000])
def test_long_routes_are_abbreviated(size: int) -> None:
    page = Checked(of_size(size)._repr_html_())
    parts = 6  # the head and the parts of the loss, in a table of their own
    assert sum(tag == "tr" for tag, _ in page.tags) == 14 + parts
    assert f"… {size - 12:,} more …" in page.text
    assert f"R{size - 1}\n" in page.text


def test_regions_without_places_are_drawn_only_if_that_is_a_moment() -> None:
    size = 600
    problem = Problem(np.ones((size, size)) - np.eye(size), Learner(80, 100), vectors=np.zeros((size, 1)))
    found = replace(of_size(size), problem=problem, route=problem.regions)
    assert "img" not in {tag for tag, _ in Checked(found._repr_html_()).tags}


@pytest.mark.parametrize("name", learnroute.plots.__all__)
def test_public_plot_functions_are_documented(name: str) -> None:
    text = getattr(learnroute.plots, name).__doc__
    sections = re.findall(r"^ *(\w+)\n *-{5,}$", text, re.M)
    assert sections == ["Parameters", *(["Returns"] if name.startswith("draw_") else []), "Raises"]


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "notebooks.md").read_text()
    code = "".join(re.findall(r"```python\n(.*?)```", text, re.S)).replace("examples/", f"{ROOT}/examples/")
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, timeout=GUARD, check=True, capture_output=True)
    assert {path.name for path in tmp_path.iterdir()} == {"route.png", "route.csv", "two.png"}
