"""Tables: aligned for any characters, wrapped if they are too wide, safe to print."""

from __future__ import annotations

from click import unstyle

from learnroute.cli.tables import table_lines
from learnroute.model.table import Table


def lines_of(table: Table, width: int = 80) -> list[str]:
    return [unstyle(line) for line in table_lines(table, width, "-")]


def test_text_is_on_the_left_and_numbers_are_on_the_right() -> None:
    table = Table.of_texts(("region", "travel"), [("A", "1.25"), ("東京", "10"), ("Zoe\u0308", "")])
    assert lines_of(table) == [
        "",
        " region   travel",
        " ---------------",
        " A          1.25",
        " 東京         10",
        " Zoe\u0308",
        "",
    ]


def test_text_is_wrapped_if_the_table_would_be_too_wide_and_numbers_never_are() -> None:
    row = ("route", "one two three four five six seven eight nine ten", "0.123456789")
    table = Table.of_texts(("claim", "detail", "number"), [row], left=2)
    found = lines_of(table, 40)
    assert max(map(len, found)) <= 40
    assert " ".join(" ".join(found[3:]).split()) == (
        "route one two three 0.123456789 four five six seven eight nine ten"
    )
    assert any("0.123456789" in line for line in lines_of(table, 1))


def test_names_can_neither_break_a_line_nor_command_a_terminal() -> None:
    table = Table.of_texts(("region",), [("a\nb\x1b[2J[bold]",)])
    assert lines_of(table)[3] == r" a b\x1b[2J[bold]"
