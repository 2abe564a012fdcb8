"""The engine: how claims are judged, and what a hostile file of claims cannot do."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.reproduce import Claim, ClaimTables, Grid, NotComputable, Paper, ReportedValue, judge, load

TURNS = pl.DataFrame(
    [("a", 1, True, 0.5), ("a", 2, False, 0.25), ("b", 1, True, 0.75), ("b", 2, True, 0.5)],
    schema=["system", "turn", "exact", "score"],
    orient="row",
)


def lines(*claims: Claim, grids: tuple[Grid, ...] = ()) -> list[ReportedValue]:
    with ClaimTables({"turns": lambda: TURNS}, {"absent_table": "not here; get it by 'data get x'"}) as evidence:
        return judge(Paper(title="t", claims=list(claims), grids=list(grids)), evidence)


def claim(**how: Any) -> Claim:
    return Claim(**{"part": "Section 1", "says": "it is so", "source": "turns", **how})


@pytest.mark.parametrize(("how", "verdict", "ours"), [
    ({"share": "exact"}, "differs", "3 of 4"),
    ({"share": "exact", "more_than": 0.7}, "holds", "3 of 4"),
    ({"share": "exact", "more_than": 0.75}, "differs", "3 of 4"),
    ({"holds": "avg(score) = 0.5", "ours": "avg(score)"}, "holds", "50.00%"),
    ({"holds": "count(*) = 4", "ours": {"rows": "count(*)", "systems": "count(distinct system)"}}, "holds",
     "rows 4, systems 2"),
    ({"printed": "50%", "ours": "avg(score)"}, "exact", 0.5),
    ({"printed": "51%", "ours": "avg(score)"}, "differs", 0.5),
    ({"printed": "1 0 1 1", "ours": "string_agg(exact::int, ' ' order by system, turn)"}, "exact", "1 0 1 1"),
    ({"ours": "count(*)"}, "computed", "4"),
    ({"every": "system", "share": "exact", "more_than": 0.4}, "holds", "a: 1 of 2; b: 2 of 2"),
    ({"every": "system", "share": "exact"}, "differs", "a: 1 of 2; b: 2 of 2"),
    ({"source": "turns where system = 'c'", "share": "exact"}, "cannot be computed", None),
    ({"source": "turns where system = 'c'", "holds": "avg(score) > 0"}, "cannot be computed", None),
    ({"source": "absent_table", "holds": "count(*) = 0"}, "cannot be computed", None),
    ({"holds": "avg(absent_column) > 0"}, "cannot be computed", None),
    ({"source": "", "because": "it is a survey"}, "cannot be computed", None),
])  # fmt: skip
def test_how_claims_are_judged(how: dict[str, Any], verdict: str, ours: object) -> None:
    [line] = lines(claim(**how))
    assert (line.verdict, line.ours) == (verdict, ours)
    assert verdict != "cannot be computed" or line.why


def test_each_gives_a_line_for_each_value() -> None:
    assert [(line.what, line.verdict) for line in lines(claim(each="system", share="exact"))] == [
        ("it is so (a)", "differs"), ("it is so (b)", "holds"),
    ]  # fmt: skip


def test_cells_of_a_printed_table_stand_beside_ours() -> None:
    grid = Grid(
        part="Table 1", columns=["first", "second"], rows={"a": ["50%", "100"], "b": ["75.0%", "50%"], "c": ["", "1%"]},
        ours="select system as row, if(turn = 1, 'first', 'second') as col, score as ours from turns",
        differs={"a, second": "known", "": "other"}, absent="no file of c", name="table1",
    )  # fmt: skip
    found = {line.what: line for line in lines(grids=(grid,))}
    assert {what: line.verdict for what, line in found.items()} == {
        "a, first": "exact", "a, second": "differs", "b, first": "exact", "b, second": "exact",
        "c, second": "cannot be computed",
    }  # fmt: skip
    assert (found["a, second"].why, found["c, second"].why) == ("known", "no file of c")
    *_, line = lines(claim(source="table1", ours="sum(value)", plain=True), grids=(grid,))
    assert line.ours == "101.76"


def test_columns_with_unknown_values_are_left_out_and_claims_on_them_say_so() -> None:
    with ClaimTables({"turns": lambda: TURNS.with_columns(aga=pl.Series([None, 1, 1, 1]))}) as evidence:
        [line] = judge(Paper(title="t", claims=[claim(holds="min(aga) = 1")]), evidence)
    assert line.verdict == "cannot be computed" and "no value in 1 row" in line.why


@pytest.mark.parametrize("source", [
    "read_csv('{secret}')", "read_text('{secret}')", "'{secret}'", "glob('/*')", "parquet_scan('{secret}')",
    "turns; copy turns to '{written}'", "turns; attach '{written}'", "turns; install httpfs", "turns; drop table turns",
    "turns; set enable_external_access = true", "turns; select 1", "TURNS_FRAME",
])  # fmt: skip
def test_a_claims_file_reaches_nothing_but_its_tables(source: str, tmp_path: Path) -> None:
    TURNS_FRAME = TURNS  # noqa: F841 - what a replacement scan would find
    secret, written = tmp_path / "secret.csv", tmp_path / "written"
    secret.write_text("name,key\nme,hush\n")
    hostile = claim(source=source.format(secret=secret, written=written), holds="count(*) > 0", ours="count(*)")
    with suppress(DialgaugeError):
        assert lines(hostile)[0].verdict == "cannot be computed"
    assert not written.exists()


@pytest.mark.parametrize("statement", [
    "copy turns to '{0}'", "attach '{0}'", "install httpfs", "load httpfs", "create table x as select 1",
    "set memory_limit = '1TB'", "select 1; select 2", "pragma database_list", "export database '{0}'",
])  # fmt: skip
def test_one_select_and_nothing_else_is_asked(statement: str, tmp_path: Path) -> None:
    with ClaimTables({"turns": lambda: TURNS}) as evidence:
        with pytest.raises((DialgaugeError, NotComputable)):
            evidence.rows(statement.format(tmp_path / "written"))
        assert evidence.rows("select count(*) as n from turns") == [{"n": 4}]
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize(("text", "named"), [
    ("title: t\nclaims:\n- {part: p, says: s, source: turns}", "nothing to judge"),
    ("title: t\nclaims:\n- {part: p, says: s, source: turns, share: a, holds: b}", "judged in two ways"),
    ("title: t\nclaims:\n- {part: p, says: s}", "has no source"),
    ("title: t\nclaims:\n- {part: p, says: s, source: t, hold: b}", "hold"),
    ("title: t\nclaims:\n- {part: p, says: s, source: t, printed: '1', ours: {a: b}}", "one expression"),
    ("title: t\ngrids:\n- {part: p, columns: [a, b], rows: {c: ['1']}}", "1 cells for 2 columns"),
    ("title: t\ngrids:\n- {part: p, name: 'x\" as select 1', columns: [a], rows: {c: ['1']}}", "name"),
    ("title: t\nfacts: {'x\"; drop table y; --': [{a: 1}]}", "facts"),
])  # fmt: skip
def test_files_that_are_wrong_are_refused(text: str, named: str, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(DialgaugeError, match=named):
        load(tmp_path / "mine.yaml")


def test_queries_that_do_not_fit_are_errors_with_their_place() -> None:
    wrong = Grid(part="Table 1", columns=["a"], rows={"b": ["1"]}, ours="select 1 as row, 2 as col")
    with pytest.raises(DialgaugeError, match="gives row, col and ours"):
        lines(grids=(wrong,))
    with pytest.raises(DialgaugeError, match="ours is 'a'"):
        lines(claim(printed="1", ours="any_value(system)"))
    with pytest.raises(DialgaugeError, match="Section 1, 'it is so' cannot be judged"):
        lines(claim(share="exact +"))


def test_words_of_a_grid_are_words() -> None:
    hostile = Grid(part="Table {row.__class__}", says="{row:>99999999} {col}", columns=["a"], rows={"b": ["1"]})
    [line] = lines(grids=(hostile,))
    assert (line.part, line.what) == ("Table {row.__class__}", "{row:>99999999} a")
