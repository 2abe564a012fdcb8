"""Tables as people see them: alike on a terminal and in a pipe, no wider than asked, and no word broken."""

from __future__ import annotations

import io
import math
import re

import pytest
from hypothesis import given, settings, strategies as st
from msgspec import structs
from rich.cells import cell_len
from rich.console import Console

from dialgauge.rendering import INTERVALS, Cell, Column, Table, plain
from support.soak import some

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


def through_rich(table: Table, width: int | None = None) -> str:
    console = Console(file=io.StringIO(), width=40, soft_wrap=True, highlight=False, markup=False, emoji=False)
    console.print(table.render("terminal").fitted(width))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def words(text: str) -> set[str]:
    return set(re.split(r"[\s|]+", text))


@st.composite
def tables(draw: st.DrawFn) -> Table:
    columns = draw(st.lists(COLUMNS, max_size=4))
    rows = st.lists(st.lists(CELLS, min_size=len(columns), max_size=len(columns)), max_size=4 if columns else 0)
    return Table(draw(TEXTS), columns, draw(rows), draw(st.lists(TEXTS, max_size=2)))


@settings(deadline=None)
@given(tables())
def test_any_table(table: Table) -> None:
    assert table.render("terminal").fitted(None).text() == through_rich(table)


@settings(deadline=None)
@given(tables(), st.integers(20, 100))
def test_any_table_in_any_width(table: Table, width: int) -> None:
    bare = Table("", table.columns, [[structs.replace(cell) for cell in row] for row in table.cells])
    shown = bare.render("terminal").fitted(width).text()
    grid = [line for line in shown.splitlines() if not line.startswith(("Left out to fit", "Some names are shortened"))]
    assert all(cell_len(line) <= width for line in grid)
    whole = words(bare.render("terminal").fitted(None).text())
    for word in words("\n".join(grid)) - whole:
        parts = re.compile(".*".join(map(re.escape, word.split("…"))))
        assert set(word) == {"─"} or ("…" in word and any(parts.fullmatch(one) for one in whole))


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
    assert table.render("terminal").fitted(None).text() == through_rich(table)


def shown(table: Table, width: int) -> list[str]:
    return table.render("terminal").fitted(width).text().splitlines()


def test_columns_go_in_the_declared_order_and_the_note_says_which() -> None:
    titles: list[str | Column] = [
        "system",
        Column("score", drop=1),
        Column("provenance", drop=3),
        Column("seeds", drop=2),
        "verdict",
    ]
    table = Table("", titles, [["trade", 0.5, "a paper", 5, "better"]])
    assert shown(table, 80)[0].split() == ["system", "score", "provenance", "seeds", "verdict"]
    assert shown(table, 40)[0].split() == ["system", "score", "seeds", "verdict"]
    assert shown(table, 40)[-1] == "Left out to fit 40 columns: provenance (--wide shows all)."
    assert shown(table, 30)[0].split() == ["system", "score", "verdict"]
    assert shown(table, 20)[0].split() == ["system", "verdict"]
    assert shown(table, 20)[-1] == "Left out to fit 20 columns: score, provenance, seeds (--wide shows all)."
    assert shown(table, 10)[0].split() == ["system"]


def test_intervals_go_before_columns_that_nobody_declared_less_important() -> None:
    columns: list[str | Column] = [
        "measure",
        *(Column(name, digits=2, percent=True) for name in ("augpt", "dots", "mintl", "ubar")),
    ]
    table = Table("", columns, [["JGA", *(Cell(0.4948, 0.4742, 0.5155) for _ in range(4))]])
    table.explain("Intervals: 95%.", INTERVALS)
    assert "[47.42, 51.55]" in shown(table, 110)[2]
    assert shown(table, 80) == [
        "measure            augpt             dots            mintl             ubar",
        "───────────────────────────────────────────────────────────────────────────",
        "JGA                49.48            49.48            49.48            49.48",
        "          [47.42, 51.55]   [47.42, 51.55]   [47.42, 51.55]   [47.42, 51.55]",
        "Intervals: 95%.",
    ]
    assert shown(table, 60) == [
        "measure   augpt    dots   mintl    ubar",
        "───────────────────────────────────────",
        "JGA       49.48   49.48   49.48   49.48",
        "Left out to fit 60 columns: intervals (--wide shows all).",
    ]


LONG = [f"our-organisation-experiment-2026-11-16-large-model-seed-{seed}" for seed in (0, 1)]


def test_long_names_are_shortened_before_scores_and_verdicts_go() -> None:
    columns: list[str | Column] = ["first", "second", Column("difference", digits=2, percent=True), "verdict"]
    table = Table("", columns, [[LONG[0], LONG[1], 0.2037, f"{LONG[0]} is better"], [*LONG, 0.1, "could be noise"]])
    lines = shown(table, 80)
    assert lines[0].split() == ["first", "second", "difference", "verdict"]
    first, second, difference, short = lines[2].split()[:4]
    assert (first, difference) == (short, "20.37")
    assert first != second and {first[-1], second[-1]} == {"0", "1"}
    assert lines[-1] == "Some names are shortened (…); --wide shows them whole."
    assert max(map(len, lines)) <= 80
    assert LONG[0] in table.render("terminal").fitted(None).text()


def test_systems_in_titles_are_shortened_and_still_differ() -> None:
    middles = [f"a-tracker-with-a-long-name-{letter}-and-a-long-end-of-it" for letter in "xyz"]
    for names in ([*LONG, "dots"], middles):
        table = Table("", ["measure", *(Column(name, digits=2, percent=True) for name in names)])
        table.add("JGA", 0.9074, 0.7037, 0.5741)
        titles = shown(table, 80)[0].split()
        assert len(set(titles)) == 4, titles
        assert shown(table, 80)[2].split() == ["JGA", "90.74", "70.37", "57.41"]


def test_columns_go_only_where_short_names_do_not_help() -> None:
    table = Table("", ["run", Column("made", drop=1), "score"], [[LONG[0], "2026-11-16 12:00", 0.5]])
    assert shown(table, 50)[0].split() == ["run", "made", "score"]
    assert shown(table, 36)[0].split() == ["run", "score"]


def test_names_to_copy_stay_whole_while_columns_can_go() -> None:
    table = Table(
        "", [Column("run", whole=True), Column("made", drop=1), "score"], [["x" * 34, "2026-11-16", "49.48%"]]
    )
    assert shown(table, 50)[2].split() == ["x" * 34, "49.48%"]
    run, made, score = shown(table, 42)[2].split()
    assert ("…" in run, made, score) == (True, "2026-11-16", "49.48%")


def test_shortened_ids_are_said_to_be_fit_for_typing() -> None:
    table = Table("", [Column("run", whole=True), "score"], [["x" * 34, "49.48%"]])
    assert shown(table, 30)[-1] == "Shortened ids (…) can be typed as shown; --wide shows them whole."


def test_an_exact_name_has_a_line_of_its_own_before_it_is_shortened() -> None:
    table = Table("", [Column("name", exact=True), "meaning"])
    table.add("a_name/that_is_longer_than_its_column", "the system asked for it")
    table.add("short_one", "nothing")
    assert shown(table, 40) == [
        "name        meaning",
        "───────────────────────────────────",
        "a_name/that_is_longer_than_its_column",
        "            the system asked for it",
        "short_one   nothing",
    ]
    assert len(shown(table, 80)) == 4


def test_an_exact_name_in_another_column_folds_between_its_parts() -> None:
    table = Table("", ["times", Column("said", exact=True)], [[7, "hotel-inform(price_range=moderately_priced)"]])
    lines = [line.split()[-1] for line in shown(table, 30)[2:]]
    assert lines == ["hotel-inform(price_", "range=moderately_", "priced)"]


def test_a_column_that_is_left_out_is_named_with_its_group_and_its_note_goes() -> None:
    table = Table("", ["domain", Column("P", drop=2, group="I-GCDF1"), Column("P", drop=1, group="R-GCDF1"), "F1"])
    table.add("restaurant", 0.5, 0.25, 0.75)
    table.explain("P: precision.", "P")
    table.explain("F1: the harmonic mean.", "F1")
    assert shown(table, 25)[-2:] == [
        "F1: the harmonic mean.",
        "Left out to fit 25 columns: I-GCDF1 P, R-GCDF1 P (--wide shows all).",
    ]
    assert "P: precision." in shown(table, 31) and "P: precision." in table.notes_in_full


def test_a_signature_is_one_line_and_files_have_all_of_it() -> None:
    parts = "profile:canon@1-75ba0b9a|slots:30|coverage:intersection|dialogues:1000|gold:dd3746b992ba|version:0.2.0"
    long = f"{parts} + {parts.replace('75ba0b9a', '11112222')}"
    lines = shown(Table("", ["a"], [["b"]], signature=long), 80)
    assert lines[-1].startswith("Signature: sig:") and len(lines[-1]) <= 80
    assert "|d:1000|" in lines[-1] and "canon" not in lines[-1]
    other = shown(Table("", ["a"], [["b"]], signature=long.replace("1111", "3333")), 80)
    assert other[-1] != lines[-1]
    assert f"Signature: {long}" in Table("", ["a"], [["b"]], signature=long).notes_in_full


def test_long_texts_fold_at_spaces_before_a_column_goes() -> None:
    table = Table("", ["name", "what"], [["som-dst", "predictions as a dictionary of dialogues and turns"]])
    assert shown(table, 40) == [
        "name      what",
        "────────────────────────────────────────",
        "som-dst   predictions as a dictionary of",
        "          dialogues and turns",
    ]


def test_a_terminal_folds_notes_and_a_pipe_does_not() -> None:
    table = Table("", ["a"], [[1]], ["Signature: profile:canon|coverage:intersection|dialogues:1000"])
    assert shown(table, 40)[-1] == table.notes[0]
    assert through_rich(table, 40).splitlines()[-2:] == [
        "Signature: profile:canon|",
        "coverage:intersection|dialogues:1000",
    ]


def test_the_bytes() -> None:
    table = Table("Scores", ["system", Column("JGA", digits=2, percent=True)], [["日本", 0.5], ["b", None]], ["note"])
    assert (
        table.render("terminal").text()
        == "Scores\nsystem     JGA\n──────────────\n日本     50.00\nb            –\nnote\n"
    )


def test_every_character_takes_the_places_that_rich_gives_it() -> None:
    characters = some([chr(code) for code in range(0x20, 0x3000) if plain(chr(code)) == chr(code)])
    shown = Table("", ["c", "x"], [[f"a{one}b", "|"] for one in characters]).render("terminal").fitted(None).text()
    rows = [line for line in shown.splitlines() if line.endswith("|")]
    assert len(rows) == len(characters) > 1000
    assert {cell_len(row) for row in rows} == {cell_len(rows[0])}


def test_a_long_part_of_a_signature_costs_no_column() -> None:
    value = "conditions:" + ",".join(f"drop={rate}" for rate in range(40)) + "|version:0.2.0"
    lines = shown(Table("", ["field", Column("value", exact=True)], [["signature", value]]), 80)
    assert "".join(line.split()[-1] for line in lines[2:]) == value
    assert max(map(len, lines)) <= 80


def test_what_one_types_is_never_broken_while_a_column_can_go() -> None:
    exact = [Column("constraint", exact=True), Column("verdict", exact=True)]
    columns: list[str | Column] = ["domain", *exact, Column("because", drop=1)]
    table = Table("", columns, [["restaurant", "pricerange=moderate", "repeated-penalised", "nothing excuses it here"]])
    table.instead("because", ["repeated-penalised: nothing excuses it here."])
    lines = shown(table, 55)
    assert "restaurant   pricerange=moderate   repeated-penalised" in lines
    assert lines[-2:] == [
        "repeated-penalised: nothing excuses it here.",
        "Left out to fit 55 columns: because (--wide shows all).",
    ]
    assert "repeated-penalised: nothing excuses it here." not in shown(table, 80)
