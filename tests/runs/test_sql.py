"""Questions over all runs in SQL."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Scores
from dialgauge.runs import Run, Store, new_run


@pytest.fixture
def two(store: Store, scored: Scores, dialogues: list[Dialogue]) -> list[Run]:
    """Two runs with one corpus, and different extra tables."""
    extra = [polars.DataFrame({"x": [1, 2]}), polars.DataFrame({"x": [3], "y": ["z"]})]
    return [
        store.add(new_run(kind="k", name=name, scores=scored, corpus=dialogues, tables={"extra": frame}))
        for name, frame in zip("ab", extra, strict=True)
    ]


def test_every_table_has_the_rows_of_all_runs(store: Store, two: list[Run]) -> None:
    first, second = sorted(run.id for run in two)
    ratio = (
        "SELECT run, sum(num) / sum(den) AS value FROM dialogue_scores WHERE measure = 'JGA' GROUP BY run ORDER BY run"
    )
    assert store.sql(ratio).rows() == [(first, 4 / 6), (second, 4 / 6)]
    assert store.sql('SELECT run, x, y FROM "EXTRA" ORDER BY x').rows() == [
        (two[0].id, 1, None), (two[0].id, 2, None), (two[1].id, 3, "z"),
    ]  # fmt: skip
    assert store.sql("SELECT run, count(*) AS n FROM turns GROUP BY run ORDER BY run").rows() == [
        (first, 3),
        (second, 3),
    ]
    assert store.sql("SELECT name, config FROM runs ORDER BY name").rows() == [("a", "{}"), ("b", "{}")]
    assert store.sql("SELECT measure, value FROM scores WHERE run = (SELECT max(id) FROM runs)")[
        "measure"
    ].to_list() == ["JGA", "Exact"]
    names = store.sql("SHOW TABLES")["name"].to_list()
    assert {"annotations", "dialogue_scores", "dialogues", "extra", "runs", "scores", "turns"} <= set(names)
    assert store.sql("SELECT a.run, b.run, 1 AS run FROM extra a, extra b LIMIT 1").columns == ["run", "run_1", "run_2"]


def test_an_empty_store_has_empty_tables(store: Store) -> None:
    for table in ("runs", "scores", "annotations", "dialogues", "turns", "dialogue_scores"):
        assert store.sql(f"SELECT * FROM {table}").height == 0


def test_odd_folders_are_quoted(tmp_path: Path, two: list[Run]) -> None:
    store = Store(tmp_path / 'it\'s; DROP TABLE "runs" *[a]')
    store.add(two[0])
    assert store.sql("SELECT x FROM extra")["x"].to_list() == [1, 2]


@pytest.mark.parametrize("query", ["", "SELEC 1", "SELECT * FROM extraa", "SELECT error('late') FROM extra"])
def test_a_query_without_an_answer_is_one_sentence(store: Store, two: list[Run], query: str) -> None:
    with pytest.raises(DialgaugeError) as told:
        store.sql(query)
    assert "\n" not in str(told.value)
    if "extraa" in query:
        assert "'extra'" in str(told.value)
