"""Queries that nobody vouches for: what they cannot do, however they are put."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import polars
import pytest

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run, Store, new_run, sql_process
from support.forked import forks, run_module_forked
from support.soak import soak

SMALL = 2**28
#: Seconds for a query that must not be stopped: a busy machine is no fault of the code.
PATIENCE = 120.0
ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t)"


@pytest.fixture(scope="module")
def warm() -> Iterator[None]:
    with forks("polars", "duckdb", "dialgauge.runs.sql_process", "dialgauge.runs.store"):
        yield


@pytest.fixture
def forked(warm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of each query is a fork: for what a query may do, not for how its process is started and stopped."""
    forking = SimpleNamespace(run=run_module_forked, TimeoutExpired=subprocess.TimeoutExpired)
    monkeypatch.setattr(sql_process, "subprocess", forking)


@pytest.fixture
def run(store: Store, scores: polars.DataFrame) -> Run:
    with store.create(kind="tracking", name="a") as made:
        made.table("dialogue_scores", scores)
    return store.open(made.id)


def test_an_answer_is_that_of_sql(store: Store, run: Run) -> None:
    query = (
        "SELECT *, [1, NULL] AS l, {'x': DATE '2020-01-01'} AS s, NULL AS n FROM dialogue_scores JOIN runs ON run = id"
    )
    answer = store.ask(query, seconds=PATIENCE)
    assert answer.frame.equals(store.sql(query))
    assert answer.cut is False
    assert (
        store.ask("SHOW TABLES", seconds=PATIENCE).frame["name"].to_list() == store.sql("SHOW TABLES")["name"].to_list()
    )


def test_rows_beyond_the_limit_are_cut_and_the_answer_says_so(store: Store, forked: None) -> None:
    query = "SELECT i FROM range({}) t(i) ORDER BY hash(i)"
    whole = store.sql(query.format(100_000))
    cut = store.ask(query.format(100_000), rows=7, seconds=PATIENCE)
    assert cut.frame.equals(whole.head(7))
    assert cut.cut is True
    exact = store.ask(query.format(7), rows=7, seconds=PATIENCE)
    assert (exact.frame.height, exact.cut) == (7, False)
    none = store.ask("SELECT 1 AS a", rows=0, seconds=PATIENCE)
    assert (none.frame.columns, none.frame.height, none.cut) == (["a"], 0, True)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("WITH x AS (COPY runs TO '{folder}/out.csv') SELECT * FROM x", "the query failed"),
        soak("WITH x AS (INSERT INTO runs SELECT * FROM runs RETURNING id) SELECT * FROM x", "the query failed"),
        ("COPY (SELECT 1) TO '{folder}/out.csv'", "exactly one SELECT"),
        soak("EXPORT DATABASE '{folder}/out.csv'", "exactly one SELECT"),
        soak("SELECT 1; COPY runs TO '{folder}/out.csv'", "exactly one SELECT"),
        soak("ATTACH '{folder}/out.csv' AS x", "exactly one SELECT"),
        soak("DROP TABLE runs", "exactly one SELECT"),
        soak("INSTALL httpfs", "exactly one SELECT"),
        soak("LOAD httpfs", "exactly one SELECT"),
        soak("PRAGMA enable_profiling", "exactly one SELECT"),
        soak("PRAGMA database_list; SELECT 1", "exactly one SELECT"),
        ("SET memory_limit = '100GB'", "exactly one SELECT"),
        soak("RESET lock_configuration", "exactly one SELECT"),
        soak("CALL enable_logging()", "exactly one SELECT"),
        soak("SELECT * FROM read_csv('/etc/passwd')", "disabled by configuration"),
        ("SELECT * FROM read_text('/etc/passwd')", "disabled by configuration"),
        soak("SELECT * FROM read_blob('/proc/self/environ')", "disabled by configuration"),
        soak("SELECT * FROM '/etc/passwd'", "the query failed"),
        soak("SELECT * FROM glob('/etc/*')", "disabled by configuration"),
        soak("SELECT * FROM parquet_scan('{folder}/*/*.parquet')", "disabled by configuration"),
        soak("SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')", "disabled by configuration"),
        ("SELECT getenv('HOME')", "getenv does not exist"),
        soak("SELECT * FROM sqlite_scan('/etc/passwd', 'x')", "the query failed"),
        ("SELECT '\udcff'", "not UTF-8 text"),
    ],
)
def test_a_query_neither_writes_nor_reads_files_nor_changes_settings(
    store: Store, run: Run, forked: None, query: str, said: str
) -> None:
    before = sorted(str(path) for path in store.folder.rglob("*"))
    with pytest.raises(DialgaugeError, match=said) as error:
        store.ask(query.format(folder=store.folder), seconds=PATIENCE)
    assert "\n" not in str(error.value)
    assert sorted(str(path) for path in store.folder.rglob("*")) == before


@pytest.mark.parametrize(
    "query",
    [
        f"{ENDLESS} SELECT max(n) FROM t",
        soak(f"{ENDLESS} SELECT * FROM t WHERE n < 0"),
        soak("SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range < 0"),
        soak("SELECT * FROM range(10000000) a, range(10000000) b ORDER BY hash(a.range + b.range)"),
        "SELECT sum(hash(a.range * b.range)) FROM range(10000000) a, range(10000000) b",
    ],
)
def test_a_query_without_end_is_stopped(store: Store, query: str) -> None:
    with pytest.raises(DialgaugeError, match="the query took longer than 1 seconds and was stopped; ask for less"):
        store.ask(query, seconds=1, memory=SMALL)


def test_a_query_without_end_that_gives_its_rows_as_it_goes_is_cut(store: Store, forked: None) -> None:
    answer = store.ask(f"{ENDLESS} SELECT * FROM t", rows=5, memory=SMALL, seconds=PATIENCE)
    assert (answer.frame["n"].to_list(), answer.cut) == ([1, 2, 3, 4, 5], True)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT repeat('x', 4000000000)",
        soak("SELECT sum(length(repeat('x' || i, 1000000))) FROM range(20480) t(i)"),
        "SELECT list(range) FROM range(1000000000)",
        soak("SELECT string_agg(range, ', ') FROM range(1000000000)"),
        "SELECT range(1000000000)",
    ],
)
def test_a_query_that_would_take_all_memory_is_stopped(store: Store, query: str) -> None:
    with pytest.raises(DialgaugeError, match=r"needs more memory than it may take \(0\.2 GiB\); ask for fewer rows"):
        store.ask(query, seconds=PATIENCE, memory=SMALL)


def test_an_answer_of_few_rows_that_is_large_is_refused(store: Store, forked: None) -> None:
    with pytest.raises(DialgaugeError, match="the answer is larger than 20 MiB"):
        store.ask("SELECT repeat('x', 30000000)", seconds=PATIENCE)


@pytest.mark.soak
def test_all_turns_of_a_large_store(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    turns = tuple(Turn(speaker="user", text=f"turn {n} " * 20) for n in range(100))
    dialogues = [Dialogue(id=str(n), turns=turns) for n in range(1000)]
    for name in "abc":
        store.add(new_run(kind="k", name=name, corpus=dialogues))
    answer = store.ask("SELECT * FROM turns", seconds=PATIENCE, rows=10)
    assert (answer.frame.height, answer.cut) == (10, True)
    assert store.ask("SELECT count(*) FROM turns", seconds=PATIENCE).frame.item() == 300_000
    with pytest.raises(DialgaugeError, match="needs more memory"):
        store.ask("SELECT * FROM turns", seconds=PATIENCE, memory=2**24)
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_a_damaged_run_is_an_error_or_left_out_when_someone_is_told(store: Store, run: Run, forked: None) -> None:
    other = store.add(new_run(kind="k", name="b"))
    (run.path / "dialogue_scores.parquet").unlink()
    with pytest.raises(DialgaugeError, match="the run is damaged") as error:
        store.ask("SELECT id FROM runs", seconds=PATIENCE)
    assert error.value.file == str(run.path / "dialogue_scores.parquet")
    told: list[DialgaugeError] = []
    assert store.ask("SELECT id FROM runs", on_problem=told.append, seconds=PATIENCE).frame.item() == other.id
    assert [run.id in str(problem) for problem in told] == [True]


def test_stores_whose_names_are_odd(tmp_path: Path, scores: polars.DataFrame) -> None:
    for name in ("it's", "-m", os.fsdecode(b"odd\xff")):
        store = Store(tmp_path / name)
        with store.create(kind="k", name="a") as made:
            made.table("dialogue_scores", scores)
        assert store.ask("SELECT DISTINCT run FROM dialogue_scores", seconds=PATIENCE).frame.item() == made.id


def test_modules_in_the_current_folder_are_not_run(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("duckdb", "polars", "msgspec"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('not ours')")
    monkeypatch.chdir(tmp_path)
    assert store.ask("SELECT 1", seconds=PATIENCE).frame.item() == 1


def test_a_relative_store_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = Store("-odd").add(new_run(kind="k", name="a"))
    assert Store("-odd").ask("SELECT id FROM runs", seconds=PATIENCE).frame.item() == run.id


def test_a_fault_of_ours_is_no_fault_of_the_query(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match="the process that answers queries failed"):
        store.ask("SELECT 1", seconds=PATIENCE)


def test_limits_must_make_sense(store: Store) -> None:
    for seconds, rows in ((0, 1), (-1, 1), (float("nan"), 1), (1, -1)):
        with pytest.raises(ValueError, match="rows ≥ 0"):
            store.ask("SELECT 1", seconds=seconds, rows=rows)


def test_memory_is_a_part_of_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sysconf", lambda name: {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**22}[name])
    assert sql_process.usual_memory() == 4 * 2**30
    monkeypatch.setattr(os, "sysconf", lambda name: 1)
    assert sql_process.usual_memory() == 2**29


def test_columns_of_all_tables_are_those_that_sql_has(store: Store, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {"b": [True], "i": [1], "f": [1.5], "s": ["x"], "l": [["x"]], "ll": [[[1]]]}
    small = {"i8": polars.Series([1], dtype=polars.Int8), "u": polars.Series([1], dtype=polars.UInt32)}
    with store.create(kind="k", name="b") as made:
        made.table("things", polars.DataFrame({**kinds, **small, "when": polars.Series(["2020-01-01"]).str.to_date()}))
    with store.create(kind="k", name="c") as made:
        made.table("things", polars.DataFrame({"i": [1.5], "s": [2], "i8": [1], "more": [1]}))
    store.add(new_run(kind="k", name="d", corpus=[Dialogue(id="x", turns=(Turn(speaker="user", text="hi"),))]))
    known = store.columns()
    assert list(known) == store.sql("SHOW TABLES")["name"].to_list()
    for table, columns in known.items():
        described = store.sql(f"DESCRIBE {table}")
        assert dict(zip(described["column_name"], described["column_type"], strict=True)) == columns


def test_columns_need_no_table(store: Store, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "verified_path", lambda *_: pytest.fail("a table was read"))
    monkeypatch.setattr(Run, "table", lambda *_: pytest.fail("a table was read"))
    assert store.columns()["dialogue_scores"]["num"] == "DOUBLE"
    assert {"runs", "scores", "annotations", "dialogues", "turns"} < store.columns().keys()
