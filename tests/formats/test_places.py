"""Places in one CSV table, with the learner in a companion file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from learnroute import Constraints, InputError, plan, read_problem, write_plan, write_problem
from learnroute.formats.json_files import problem_to_dict
from samples import small

ROOT = Path(__file__).parents[2]
TABLE = "name,lat,lon,v1,v2\nLondon,51.5,-0.1,1,2\nParis,48.86,2.35,3,4\nBerlin,52.5,13.4,5,6\n"
LEARNER = {"features": 80, "samples": 100}
VECTORS = [[0.1, 1], [2, 3], [1e-17, 0], [4, 4]]
GLOBE = [[8.5, 47.4], [-0.1, 51.5], [13.4, 52.5], [2.35, 48.86]]


def table(folder: Path, text: str) -> Path:
    (folder / "places.csv").write_text(text)
    return folder / "places.csv"


def test_distances_are_great_circles(tmp_path: Path) -> None:
    problem = read_problem(table(tmp_path, TABLE), LEARNER)
    assert problem.regions == ("London", "Paris", "Berlin")
    assert problem.travel[0, 1] == pytest.approx(343, rel=0.01)
    assert problem.coordinates is not None
    assert problem.coordinates.tolist() == [[-0.1, 51.5], [2.35, 48.86], [13.4, 52.5]]
    assert problem.vectors is not None
    assert problem.vectors.tolist() == [[1, 2], [3, 4], [5, 6]]
    (tmp_path / "learner.csv").write_text("features,samples,noise\n120,100,0.5\n")
    for path in (tmp_path, tmp_path / "places.csv"):
        assert read_problem(path).learner.features == 120


def test_places_in_a_plane_and_dissimilarities_beside_them(tmp_path: Path) -> None:
    path = table(tmp_path, "region,y,x,initial\nA,0,3,1\nB,4,0,2\n")
    (tmp_path / "dissimilarity.csv").write_text(",B,A\nB,0,7\nA,7,0\n")
    problem = read_problem(path, LEARNER)
    assert problem.travel.tolist() == [[0, 5], [5, 0]]
    assert not problem.geographic
    assert problem.initial.tolist() == [1, 2]
    assert problem.dissimilarity is not None
    assert problem.dissimilarity.tolist() == [[0, 7], [7, 0]]


@pytest.mark.parametrize("geographic", [True, False])
def test_problems_round_trip_to_the_last_bit(tmp_path: Path, geographic: bool) -> None:
    base = small(travel=None, dissimilarity=None, vectors=VECTORS, coordinates=GLOBE, geographic=geographic)
    for k, problem in enumerate((
        base,
        base.replace(samples=[90, 105, 110, 95], title="With, comma", constraints=Constraints("A", None, True)),
        base.replace(importance=[0, 1, 0.5, 3]),
    )):  # fmt: skip
        (tmp_path / str(k)).mkdir()
        write_problem(problem, tmp_path / str(k) / "places.csv")
        assert problem_to_dict(read_problem(tmp_path / str(k) / "places.csv")) == problem_to_dict(problem)


def test_fields_unsupported_by_tables_of_places_are_rejected(tmp_path: Path) -> None:
    whole = small(travel=None, dissimilarity=None, vectors=VECTORS, coordinates=GLOBE, geographic=True)
    for problem, message in (
        (small(), "travel: a table of places cannot hold it"),
        (small(travel=None, coordinates=GLOBE), "dissimilarity: a table of places cannot hold it"),
        (whole.replace(truth=VECTORS), "truth: a table of places cannot hold it"),
    ):
        with pytest.raises(InputError, match=message):
            write_problem(problem, tmp_path / "p.csv")
    write_problem(whole, tmp_path / "p.csv")
    write_problem(whole, tmp_path / "p.csv")
    (tmp_path / "learner.csv").write_text("features,samples,noise\n7,100,0.1\n")
    with pytest.raises(InputError, match=r"learner\.csv: exists and belongs to another problem"):
        write_problem(whole, tmp_path / "p.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,lat,lon\nA,1,2\nB,3,4\n", "columns v1, v2, …: missing"),
        (
            "name,lat,lon,v1,v3\nA,1,2,3,4\nB,3,4,5,6\n",
            "column 'v2': missing; number the columns of the vector v1 … v2",
        ),
        ("name,lat,lon,v1,height\nA,1,2,3,4\nB,3,4,5,6\n", "column 'height': unknown; known are"),
        ("name,lat,lon,v1,v1\nA,1,2,3,4\nB,3,4,5,6\n", "column 'v1': given twice"),
        ("name,lat,lon,v1\nA,1,2,x\nB,3,4,5\n", "places.csv, line 2, v1 = 'x': expected a finite number"),
        ("name,lat,lon,v1\nA,1,2,3\nA,3,4,5\n", "line 3, name = 'A': also in line 2; names must be unique"),
        ("name,lat,lon,v1\nA,91,2,3\nB,3,4,5\n", "places.csv, line 2, lat = '91': expected degrees from -90 to 90"),
        ("name,lat,lon,v1\n", "at least 2 regions"),
        ("name,lat,lon,v1\nA,1,2\n", "places.csv, line 2: 3 cells"),
    ],
)
def test_wrong_tables_are_rejected_by_line_and_column(tmp_path: Path, text: str, message: str) -> None:
    path = table(tmp_path, text)
    with pytest.raises(InputError) as refusal:
        read_problem(path, LEARNER)
    assert str(refusal.value).startswith(str(path))
    assert message in str(refusal.value)


def test_example_is_valid_and_two_in_a_folder_are_rejected(tmp_path: Path) -> None:
    assert read_problem(ROOT / "examples" / "sensors").size == 8
    table(tmp_path, TABLE)
    (tmp_path / "other.csv").write_text(TABLE)
    with pytest.raises(InputError, match=r"2 problems in this folder; give one of them: other\.csv, places\.csv"):
        read_problem(tmp_path)


@pytest.mark.parametrize("text", [
    "id,latitude,longitude,v1,v2\nLondon,51.5,-0.1,1,2\nParis,48.86,2.35,3,4\nBerlin,52.5,13.4,5,6\n",
    "ID,Longitude,Latitude,V1,V2\nLondon,-0.1,51.5,1,2\nParis,2.35,48.86,3,4\nBerlin,13.4,52.5,5,6\n",
    "lng,v2,lat,name,v1,id\n-0.1,2,51.5,London,1,7\n2.35,4,48.86,Paris,3,8\n13.4,6,52.5,Berlin,5,9\n",
    "\ufeffname;lat;lon;v1;v2\nLondon;51.5;-0.1;1;2\nParis;48.86;2.35;3;4\nBerlin;52.5;13.4;5;6\n",
    "name;lat;lon;v1;v2\nLondon;51,5;-0,1;1;2\nParis;48,86;2,35;3,0;4\nBerlin;52,5;13,4;5;6,0\n",
    "name\tlat\tlon\tv1\tv2\nLondon\t51.5\t-0.1\t1\t2\nParis\t48.86\t2.35\t3\t4\nBerlin\t52.5\t13.4\t5\t6\n",
])  # fmt: skip
def test_tables_of_other_programs(tmp_path: Path, text: str) -> None:
    usual = read_problem(table(tmp_path, TABLE), LEARNER)
    assert problem_to_dict(read_problem(table(tmp_path, text), LEARNER)) == problem_to_dict(usual)


def test_names_with_semicolons_stay_names(tmp_path: Path) -> None:
    (tmp_path / "travel.csv").write_text(",A;1;2;3,B\nA;1;2;3,0,2.5\nB,2.5,0\n")
    (tmp_path / "dissimilarity.csv").write_text(";B;A;1\nB;0;7\n".replace("A;1", '"A;1;2;3"') + '"A;1;2;3";7,0;0\n')
    problem = read_problem(tmp_path, LEARNER)
    assert problem.regions == ("A;1;2;3", "B")
    assert problem.dissimilarity is not None
    assert problem.dissimilarity.tolist() == [[0, 7], [7, 0]]


def test_two_columns_of_the_same_kind_are_rejected(tmp_path: Path) -> None:
    text = TABLE.replace("v2", "latitude")
    with pytest.raises(InputError, match=r"columns 'lat' and 'latitude': both are read as lat; remove one of them"):
        read_problem(table(tmp_path, text), LEARNER)


def test_invalid_problem_files_are_rejected_with_a_remedy(tmp_path: Path) -> None:
    path = table(tmp_path, TABLE)
    with pytest.raises(InputError, match=r"learner: missing; add it, such as .*, or use --features"):
        read_problem(path)
    problem = read_problem(path, LEARNER)
    write_plan(plan(problem), tmp_path / "plan.json")
    with pytest.raises(
        InputError, match=r"plan\.json: is a plan, not a problem; give the problem that it was made for"
    ):
        read_problem(tmp_path / "plan.json")


def test_an_initial_model_beside_vectors(tmp_path: Path) -> None:
    """The same model in options.csv, beside places or in a folder, and in GeoJSON."""
    path = table(tmp_path, TABLE)
    (tmp_path / "options.csv").write_text("initial_model,travel_rate\n1 -1,0.5\n")
    squares = [9.0, 29.0, 65.0]
    assert read_problem(path, LEARNER).initial.tolist() == squares
    folder = tmp_path / "folder"
    write_problem(read_problem(path, LEARNER), folder)
    assert read_problem(folder).initial.tolist() == squares
    lines = (folder / "regions.csv").read_text().splitlines()
    (folder / "regions.csv").write_text("\n".join(",".join(line.split(",")[:-1]) for line in lines))
    assert "initial" not in (folder / "regions.csv").read_text()
    (folder / "options.csv").write_text("initial_model,travel_rate\n1 -1,0.5\n")
    assert read_problem(folder).initial.tolist() == squares
    found = read_problem(path, LEARNER)
    write_problem(found, tmp_path / "places.geojson")
    data = json.loads((tmp_path / "places.geojson").read_text())
    for feature in data["features"]:
        del feature["properties"]["initial"]
    (tmp_path / "places.geojson").write_text(json.dumps({**data, "initial_model": [1, -1]}))
    assert read_problem(tmp_path / "places.geojson").initial.tolist() == squares
    (tmp_path / "options.csv").write_text("initial_model\n1 x\n")
    with pytest.raises(InputError, match="line 2, initial_model = 'x': expected a finite number"):
        read_problem(path, LEARNER)
