"""Tables without a terminal have the bytes that rich would write."""

from __future__ import annotations

import io
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from dialgauge.report import Cell, Column, Table, plain
from dialgauge.report.fitting import NARROW, places

ODD = [
    "日本語 ",
    "e\u0301",
    "👩\u200d🚀",
    "[bold]x[/]",
    ":hotel:",
    "\x1b[31mred",
    "a\tb\nc",
    "\u00a0",
    "x\u3000",
    " x ",
]
TEXTS = st.text(max_size=12) | st.sampled_from([*ODD, "–" * 3, "x" * 150, "many words in a long cell " * 8])
SHARES = st.none() | st.floats(0, 1)
CELLS = st.builds(
    Cell,
    TEXTS | st.integers(-5, 10**6) | st.floats() | st.none() | st.booleans(),
    SHARES,
    SHARES,
    st.sampled_from(["", "*", "†"]),
    st.booleans(),
)
COLUMNS = st.builds(Column, TEXTS, percent=st.booleans(), align=st.sampled_from([None, "left", "right"]))


def through_rich(table: Table) -> str:
    console = Console(file=io.StringIO(), width=40, soft_wrap=True, highlight=False, markup=False, emoji=False)
    console.print(table.render("terminal"))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@st.composite
def tables(draw: st.DrawFn) -> Table:
    columns = draw(st.lists(COLUMNS, max_size=4))
    rows = st.lists(st.lists(CELLS, min_size=len(columns), max_size=len(columns)), max_size=4 if columns else 0)
    return Table(draw(TEXTS), columns, draw(rows), draw(st.lists(TEXTS, max_size=2)))


@settings(deadline=None)
@given(tables())
def test_any_table(table: Table) -> None:
    assert table.render("terminal").text() == through_rich(table)


@pytest.mark.parametrize(
    "table",
    [
        Table("Scores", ["system", Column("JGA", digits=2, percent=True, best="max")],
              [["trade", Cell(0.4862, 0.47, 0.5, "*")], ["som-dst", math.nan]], ["a long note " * 30]),
        Table("Odd texts", ["text", "number"], [[text, number] for number, text in enumerate(ODD)], ODD),
        Table("", ["nothing"]),
        Table("Title", []),
        Table("", [], notes=["note"]),
        Table("", [""], [[""]]),
    ],
)  # fmt: skip
def test_some_tables(table: Table) -> None:
    assert table.render("terminal").text() == through_rich(table)


def test_the_bytes() -> None:
    table = Table("Scores", ["system", Column("JGA", digits=2, percent=True)], [["日本", 0.5], ["b", None]], ["note"])
    assert (
        table.render("terminal").text()
        == "Scores\nsystem     JGA\n──────────────\n日本     50.00\nb            –\nnote\n"
    )


def test_narrow_characters_take_one_place() -> None:
    characters = [chr(code) for code in range(0x20, 0x3000) if plain(chr(code)) == chr(code)]
    narrow = [character for character in characters if NARROW.fullmatch(character)]
    assert len(narrow) > 1000
    assert all(cell_len(character) == 1 for character in narrow)
    assert [places(character) for character in characters] == [cell_len(character) for character in characters]
