from __future__ import annotations

import math

import polars
import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.runs import FIXED, check_columns, check_fixed, check_table_name, empty_table, is_table_name
from runs.contract import FIXED as AGREED


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Scores",
        "a-b",
        "../x",
        "1a",
        "a b",
        "runs",
        "scores",
        "dialogues",
        "turns",
        'x"; DROP TABLE runs; --',
        "a" * 64,
    ],
)
def test_table_names_that_are_refused(name: str) -> None:
    assert not is_table_name(name)
    with pytest.raises(DialgaugeError, match="cannot be called"):
        check_table_name(name)


@pytest.mark.parametrize("columns", [["run"], ["a", "Run"], ["score", "Score"]])
def test_columns_that_sql_would_see_twice_are_refused(columns: list[str]) -> None:
    with pytest.raises(DialgaugeError, match="SQL would see that name twice"):
        check_columns("t", columns)


def test_the_fixed_tables_are_those_that_were_agreed_on() -> None:
    for name, columns in AGREED.items():
        assert dict(empty_table(name).frame().schema) == columns
        assert FIXED[name] == {column: str(kind) for column, kind in columns.items()}
        check_fixed(name, empty_table(name))


@pytest.mark.parametrize(
    "frame",
    [
        polars.DataFrame({"dialogue": ["a"], "measure": ["JGA"], "num": [1.0]}),
        polars.DataFrame({"measure": ["JGA"], "dialogue": ["a"], "num": [1.0], "den": [1.0]}),
        polars.DataFrame({"dialogue": ["a"], "measure": ["JGA"], "num": [1], "den": [1.0]}),
        polars.DataFrame({"dialogue": ["a"], "measure": ["JGA"], "num": [1.0], "den": [1.0], "more": [1]}),
        polars.DataFrame({"dialogue": [None], "measure": ["JGA"], "num": [1.0], "den": [1.0]}),
        polars.DataFrame({"dialogue": ["a"], "measure": ["JGA"], "num": [math.nan], "den": [1.0]}),
        polars.DataFrame({"dialogue": ["a"], "measure": ["JGA"], "num": [0.0], "den": [0.0]}),
    ],
)
def test_other_columns_and_rows_without_a_score_are_refused(frame: polars.DataFrame) -> None:
    with pytest.raises(ValueError, match="dialogue_scores"):
        check_fixed("dialogue_scores", frame)
