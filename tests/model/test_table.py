"""One table in every medium."""

from __future__ import annotations

import csv
import io
import math

import pytest

from learnroute.model.table import Column, Sheet, Table, clip, route_difference

COLUMNS = (
    Column("region", "region", left=True),
    Column("index"),
    Column("error", "error / 2", lambda error: f"{error / 2:.1f}", missing="none"),
    Column(None, "share", ".0%"),
)
TABLE = Table(COLUMNS, [("A", 0, 3.0, 0.25), ("=B|", None, math.nan, None), ("C", 2, 1.0, 1.0)])


def test_printed_columns_have_heads_and_texts() -> None:
    assert [column.head for column in TABLE.printed] == ["region", "error / 2", "share"]
    assert TABLE.texts() == [("A", "1.5", "25%"), ("=B|", "none", ""), ("C", "0.5", "100%")]


@pytest.mark.parametrize(("size", "most"), [(4, 4), (5, 4), (1500, 12)])
def test_long_tables_say_how_many_rows_are_omitted(size: int, most: int) -> None:
    texts = Table.of_texts(("visit", "region", "score"), [(f"{k}", f"R{k}", "1") for k in range(size)], left=2).texts(
        most
    )
    if size == most:
        assert len(texts) == size
        return
    assert len(texts) == most + 1
    assert texts[most // 2] == ("", f"… {size - most:,} more …", "")
    assert texts[most // 2 - 1][0] == f"{most // 2 - 1}"
    assert texts[-1][0] == f"{size - 1}"


def test_named_columns_are_written_and_no_text_is_a_formula() -> None:
    rows = list(csv.reader(io.StringIO(TABLE.to_csv())))
    assert rows == [["region", "index", "error"], ["A", "0", "3.0"], ["'=B|", "", ""], ["C", "2", "1.0"]]
    routes = Table((Column("route"),), [(("-A", "B"),)])
    assert routes.to_csv() == "route\n'-A > B\n"


def test_whole_numbers_stay_whole_in_frames() -> None:
    frame = TABLE.to_frame()
    assert list(frame.columns) == ["region", "index", "error"]
    assert str(frame["index"].dtype) == "Int64"
    assert str(frame["error"].dtype) == "float64"


def test_markdown_keeps_names_inside_their_cells() -> None:
    lines = Sheet("head\nline", (TABLE,), (("note", "x"),)).to_markdown().splitlines()
    assert lines[:4] == ["head line", "", "| region | error / 2 | share |", "| --- | --- | --- |"]
    assert lines[5] == "| =B\\| | none |  |"
    assert lines[-1] == "- note: x"


def test_names_are_cut_to_a_readable_length() -> None:
    assert clip("abcdef", 4) == "abc…"
    assert clip("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    ("route", "said"),
    [
        ("ABCDE", ""),
        ("ACBDE", "visits 2–3: C → B"),
        ("ABXDE", "visit 3: X"),
        ("ABXCDE", "visit 3: X"),
        ("ABDE", "without C"),
        ("AABCDE", "visit 2: A"),
        ("E", "without A → B → C → D"),
        ("EDCBA", "visits 1–5: E → D → C → B → A"),
        ("ZYXWVUTS", "visits 1–8: Z → Y → X → … 3 more … → T → S"),
    ],
)
def test_differences_between_routes(route: str, said: str) -> None:
    assert route_difference(route, "ABCDE") == said
