from __future__ import annotations

import hashlib
import json
import time
from datetime import datetime
from pathlib import Path

import polars
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Scores
from dialgauge.runs import Store, new_run
from support.forgery import forge
from support.made_runs import run_with
from support.soak import examples


def stored(store: Store, name: str, **tables: polars.DataFrame) -> str:
    config = {"name": name, "n": [1]}
    return store.add(run_with(tables, kind="tracking", name=name, config=config, seeds=4, details={"JGA": 0.5})).id


@pytest.fixture
def two(store: Store, scores: polars.DataFrame) -> tuple[str, str]:
    return stored(store, "a", dialogue_scores=scores), stored(store, "b", dialogue_scores=scores.head(1))


def test_a_corpus_value_is_a_ratio_of_sums_per_run(store: Store, two: tuple[str, str]) -> None:
    answer = store.sql("SELECT run, sum(num) / sum(den) AS score FROM dialogue_scores GROUP BY run ORDER BY run")
    assert answer.rows() == sorted([(two[0], 4 / 6), (two[1], 1 / 2)])


def test_rows_come_in_the_order_of_runs_and_tables(store: Store, two: tuple[str, str]) -> None:
    answer = store.sql("SELECT run, dialogue FROM dialogue_scores")
    assert answer.rows() == [(two[0], "a"), (two[0], "b"), (two[1], "a")]


def test_the_table_runs_holds_the_manifests(store: Store, two: tuple[str, str]) -> None:
    answer = store.sql("SELECT id, kind, name, created, seeds, config->>'$.name', details->>'$.JGA' FROM runs")
    assert [row[0] for row in answer.rows()] == list(two)
    _, kind, name, created, seeds, configured, score = answer.row(0)
    assert (kind, name, seeds, configured, score) == ("tracking", "a", [4], "a", "0.5")
    assert isinstance(created, datetime)


def test_columns_are_matched_by_name_and_missing_ones_are_null(store: Store) -> None:
    stored(store, "a", t=polars.DataFrame({"x": [1], "y": ["p"]}))
    stored(store, "b", t=polars.DataFrame({"z": [1.5], "x": ["text"]}))
    answer = store.sql("SELECT x, y, z FROM t")
    assert answer.rows() == [("1", "p", None), ("text", None, 1.5)]


def test_show_tables_lists_all_of_them(store: Store, two: tuple[str, str]) -> None:
    stored(store, "c", turn_scores=polars.DataFrame({"x": [1]}))
    assert store.sql("SHOW TABLES")["name"].to_list() == [
        "annotations", "dialogue_scores", "dialogues", "runs", "scores", "turn_scores", "turns",
    ]  # fmt: skip
    assert store.sql("DESCRIBE turn_scores")["column_name"].to_list() == ["run", "x"]


def test_tables_named_in_capitals_or_quotes_are_found(store: Store, two: tuple[str, str]) -> None:
    assert store.sql('SELECT count(*) FROM "dialogue_scores" JOIN RUNS ON run = id').item() == 3
    assert store.sql("SELECT count(*) FROM DIALOGUE_SCORES").item() == 3


def test_an_empty_store_has_an_empty_table_of_runs(store: Store) -> None:
    assert store.sql("SELECT * FROM runs").height == 0


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "exactly one SELECT"),
        ("SELECT '\udcff'", "not UTF-8 text"),
        ("SELECT 1; SELECT 2", "exactly one SELECT"),
        ("DROP TABLE runs", "exactly one SELECT"),
        ("INSERT INTO runs SELECT * FROM runs", "exactly one SELECT"),
        ("EXPLAIN ANALYZE COPY runs TO 'x.csv'", "exactly one SELECT"),
        ("ATTACH 'x.db'", "exactly one SELECT"),
        ("INSTALL httpfs", "exactly one SELECT"),
        ("SET lock_configuration = false", "exactly one SELECT"),
        ("CALL pragma_version()", "exactly one SELECT"),
        ("SELEC 1", "syntax error"),
        ("SELECT nothing FROM runs", "nothing"),
        ("SELECT * FROM dialog_scores", "Did you mean 'dialogue_scores'"),
        ("SELECT * FROM scores_by_martians", r"Did you mean|Known: dialogue_scores, dialogues, runs, scores, turns"),
        ("SELECT INTERVAL 1 DAY", "cast the column to VARCHAR"),
        ("SELECT error('stop')", "stop"),
        ("SELECT CASE WHEN range = 200000 THEN error('late') END FROM range(300000)", "^the query failed: .*late"),
        ("SELECT TIMESTAMP 'infinity' AS a", "a date beyond the years 1 to 9999 in the column 'a'"),
        ("SELECT DATE '-infinity'", "cast the column to VARCHAR"),
        ("SELECT DATE '290000-01-01'", "cast the column to VARCHAR"),
        ("SELECT TIMESTAMP_S '99999-01-01'", "cast the column to VARCHAR"),
        ("SELECT TIMESTAMP_NS 'infinity'", "cast the column to VARCHAR"),
        ("SELECT TIMESTAMPTZ '-infinity'", "cast the column to VARCHAR"),
        ("SELECT [NULL, TIMESTAMP 'infinity']", "cast the column to VARCHAR"),
        ("SELECT [DATE 'infinity']::DATE[1]", "cast the column to VARCHAR"),
        ("SELECT {'x': [{'y': DATE 'infinity'}]}", "cast the column to VARCHAR"),
        ("SELECT MAP {'x': DATE 'infinity'}", "cast the column to VARCHAR"),
        ("SELECT DATE '2020-01-01' - INTERVAL '3000 years'", "cast the column to VARCHAR"),
        ("SELECT 340282366920938463463374607431768211455::UHUGEINT AS a", "the type UHUGEINT in the column 'a'"),
        ("SELECT TIMETZ '01:00:00+05'", "the type TIME WITH TIME ZONE"),
        ("SELECT '101'::BIT", "the type BIT"),
    ],
)
def test_a_query_that_cannot_be_answered_is_one_sentence(
    store: Store, two: tuple[str, str], query: str, said: str
) -> None:
    with pytest.raises(DialgaugeError, match=said) as error:
        store.sql(query)
    assert "\n" not in str(error.value)


def test_dates_of_pythons_calendar_and_their_absence_are_answered(store: Store) -> None:
    query = (
        "SELECT DATE '0001-01-03' AS a, TIMESTAMP '9999-12-30' AS b, TIMESTAMP_NS '2262-04-11 23:47:16' AS c, "
        "NULL::DATE AS d, [DATE '2020-01-01', NULL] AS e, {'x': TIMESTAMP_MS '2020-01-01'} AS f, 7::HUGEINT AS g"
    )
    (row,) = store.sql(query).rows(named=True)
    assert (row["a"].year, row["b"].year, row["c"].year, row["d"], row["g"]) == (1, 9999, 2262, None, 7)
    assert (len(row["e"]), row["f"]["x"].year) == (2, 2020)


def test_sql_cannot_read_files_that_are_no_tables(store: Store, two: tuple[str, str], tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    table = store.folder / two[0] / "dialogue_scores.parquet"
    for query in (
        f"SELECT * FROM '{secret}'",
        f"SELECT * FROM read_csv('{secret}')",
        f"SELECT * FROM read_text('{secret}')",
        f"SELECT * FROM read_blob('{store.folder}/../secret.csv')",
        f"SELECT * FROM read_text('{table.parent / 'run.json'}')",
        f"SELECT * FROM query('SELECT * FROM read_csv(''{secret}'')')",
        f"SELECT * FROM sniff_csv('{secret}')",
        f"SELECT * FROM parquet_metadata('{table}')",
        f"SELECT * FROM glob('{tmp_path}/*')",
        "SELECT * FROM read_csv('https://example.org/x.csv')",
    ):
        with pytest.raises(DialgaugeError, match="disabled by configuration"):
            store.sql(query)


def test_sql_cannot_write_even_inside_a_select(store: Store, two: tuple[str, str], tmp_path: Path) -> None:
    """DuckDB 2 lets a common table expression insert and copy, so a SELECT by its type is not one by its deeds."""
    table = store.folder / two[0] / "dialogue_scores.parquet"
    before = table.read_bytes()
    for query in (
        "WITH x AS (INSERT INTO runs SELECT * FROM runs RETURNING id) SELECT * FROM x",
        f"WITH x AS (COPY runs TO '{tmp_path / 'out.csv'}') SELECT * FROM x",
        f"WITH x AS (COPY runs TO '{table}' (FORMAT parquet)) SELECT * FROM x",
        f"WITH x AS (COPY dialogue_scores TO '{table}' (FORMAT parquet, USE_TMP_FILE false)) SELECT * FROM x",
        "SELECT * FROM enable_logging(storage = 'file')",
    ):
        with pytest.raises(DialgaugeError, match="the query failed"):
            store.sql(query)
    assert table.read_bytes() == before
    assert not (tmp_path / "out.csv").exists()
    assert sorted(path.name for path in store.folder.iterdir()) == sorted([".work", *two])


def test_sql_cannot_see_python_objects(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialgauge.runs.sql.visible", polars.DataFrame({"a": [1]}), raising=False)
    with pytest.raises(DialgaugeError, match="visible does not exist"):
        store.sql("SELECT * FROM visible")


def test_settings_are_locked(store: Store) -> None:
    assert store.sql("SELECT current_setting('temp_directory')").item() == ""
    assert store.sql("SELECT current_setting('lock_configuration')").item() is True


def test_nothing_is_written_beside_the_store(
    store: Store, two: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    store.sql("SELECT x, row_number() OVER (ORDER BY hash(x)) FROM range(300000) AS t(x) ORDER BY 2")
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("folder", ["it's", 'a"b', "g[1]*?", "a b;--", "ü\u202e", "x=1"])
def test_odd_folders_are_quoted(tmp_path: Path, scores: polars.DataFrame, folder: str) -> None:
    store = Store(tmp_path / folder)
    run = stored(store, "a", dialogue_scores=scores)
    assert store.sql("SELECT DISTINCT run FROM dialogue_scores").item() == run


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    text=st.text(),
    column=st.text(min_size=1, max_size=20).filter(lambda name: name.lower() != "run" and "\x00" not in name),
)
def test_contents_of_runs_never_become_sql(tmp_path_factory: pytest.TempPathFactory, text: str, column: str) -> None:
    store = Store(tmp_path_factory.mktemp("runs"))
    tables = {"t": polars.DataFrame({column: [text]})}
    run = store.add(run_with(tables, kind=text, name=text, config={text: text}, signature=text))
    answer = store.sql("SELECT t.* EXCLUDE (run), r.name, r.signature FROM t JOIN runs r ON t.run = r.id")
    assert answer.columns[0] == column
    assert answer.row(0) == (text, text, text)
    assert run.id == store.list()[0].id


def test_a_damaged_run_is_an_error_or_left_out_when_someone_is_told(store: Store, two: tuple[str, str]) -> None:
    (store.folder / two[0] / "dialogue_scores.parquet").unlink()
    with pytest.raises(DialgaugeError, match="the run is damaged"):
        store.sql("SELECT * FROM dialogue_scores")
    told: list[DialgaugeError] = []
    assert store.sql("SELECT DISTINCT run FROM dialogue_scores", on_problem=told.append).item() == two[1]
    assert [two[0] in str(problem) for problem in told] == [True]


@pytest.mark.parametrize("where", [slice(0, 4), slice(30, 31), slice(-40, None)])
def test_damage_that_keeps_the_size_is_found_when_the_table_is_read(
    store: Store, two: tuple[str, str], where: slice
) -> None:
    path = store.folder / two[1] / "dialogue_scores.parquet"
    content = bytearray(path.read_bytes())
    content[where] = bytes(255 - byte for byte in content[where])
    path.write_bytes(content)
    _only_first_is_used(store, two, "does not have the bytes that were written")


def test_a_file_that_duckdb_cannot_read_is_found_among_the_others(store: Store, two: tuple[str, str]) -> None:
    forge(store.open(two[1]), "dialogue_scores", b"PAR1" * 100)
    _only_first_is_used(store, two, "its table 'dialogue_scores' cannot be read")


def _only_first_is_used(store: Store, two: tuple[str, str], said: str) -> None:
    told: list[DialgaugeError] = []
    assert store.sql("SELECT DISTINCT run FROM dialogue_scores", on_problem=told.append).item() == two[0]
    assert len(told) == 1
    assert said in str(told[0])
    assert two[1] in str(told[0])
    with pytest.raises(DialgaugeError, match="the run is damaged"):
        store.sql("SELECT * FROM dialogue_scores")
    assert store.sql("SELECT count(*) FROM runs").item() == 2


def test_scores_are_a_table(store: Store, scored: Scores, dialogues: list[Dialogue]) -> None:
    run = store.add(new_run(kind="tracking", name="a", scores=scored, corpus=dialogues))
    answer = store.sql("SELECT * FROM scores")
    assert answer.columns == ["run", "measure", "value", "low", "high", "unit", "higher_is_better", "signature"]
    signature = run.scores["JGA"].signature
    assert answer.row(0) == (run.id, "JGA", 4 / 6, None, None, "share", True, signature)
    assert store.sql("SELECT scores->>'$.JGA.value' FROM runs").item() == str(4 / 6)


def test_corpora_show_under_every_run_that_has_them(store: Store, scored: Scores, dialogues: list[Dialogue]) -> None:
    runs = [store.add(new_run(kind="tracking", name=name, scores=scored, corpus=dialogues)).id for name in "ab"]
    alone = store.add(new_run(kind="tracking", name="c", corpus=dialogues[:1])).id
    stored(store, "none")
    turns = store.sql("SELECT run, dialogue, turn, speaker, text FROM turns ORDER BY run, dialogue, turn")
    assert turns.filter(polars.col("run") == runs[0]).rows() == [
        (runs[0], "a", 0, "user", "A hotel, bitte: „Zürich“"), (runs[0], "a", 1, "system", ""),
        (runs[0], "b", 0, "user", "hi"),
    ]  # fmt: skip
    assert dict(turns["run"].value_counts().iter_rows()) == {runs[0]: 3, runs[1]: 3, alone: 2}
    count = store.sql("SELECT count(*) FROM dialogue_scores JOIN dialogues USING (run, dialogue)").item()
    assert count == 6
    assert store.sql("SELECT DISTINCT domains FROM dialogues WHERE dialogue = 'a'").item().to_list() == [
        "hotel",
        "train",
    ]
    assert (
        store.sql("SELECT goal->>'$.tasks.hotel.info.area' FROM dialogues WHERE run = $$" + alone + "$$").item()
        == "north"
    )


def test_fixed_tables_are_there_even_if_empty(store: Store) -> None:
    for table in ("dialogues", "turns", "dialogue_scores", "scores"):
        assert store.sql(f"SELECT * FROM {table}").height == 0
    assert store.sql("DESCRIBE dialogues")["column_type"].to_list() == [
        "VARCHAR", "VARCHAR", "BIGINT", "VARCHAR[]", "VARCHAR", "VARCHAR",
    ]  # fmt: skip


def test_a_damaged_corpus_is_told_for_each_run_that_has_it(
    store: Store, dialogues: list[Dialogue], scores: polars.DataFrame
) -> None:
    broken = [store.add(new_run(kind="k", name=name, corpus=dialogues)) for name in "ab"]
    whole = store.add(new_run(kind="k", name="c", corpus=dialogues[:1]))
    path = broken[0].table_path("turns")
    path.write_bytes(bytes(255 - byte for byte in path.read_bytes()))
    told: list[DialgaugeError] = []
    assert store.sql("SELECT DISTINCT run FROM turns", on_problem=told.append).item() == whole.id
    assert [one.id in str(problem) for one, problem in zip(broken, told, strict=True)] == [True, True]
    content = b"PAR1" * 100
    path.write_bytes(content)
    info = path.with_name("corpus.json")
    known = json.loads(info.read_text())
    known["tables"]["turns"] |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    info.write_text(json.dumps(known))
    told.clear()
    assert store.sql("SELECT DISTINCT run FROM turns", on_problem=told.append).item() == whole.id
    assert ["cannot be read" in str(problem) for problem in told] == [True, True]


@pytest.mark.parametrize("damage", ["other bytes", "cut short", "gone"])
def test_a_question_to_a_damaged_table_names_the_file_and_what_to_do(store: Store, damage: str) -> None:
    frame = polars.DataFrame({"x": [1]})
    path = store.open(stored(store, "a", turn_scores=frame)).files["turn_scores"]
    content = path.read_bytes()
    path.write_bytes(content[:10] if damage == "cut short" else content[::-1])
    if damage == "gone":
        path.unlink()
    with pytest.raises(DialgaugeError) as caught:
        store.sql("SELECT * FROM turn_scores", on_problem=lambda problem: None)
    said = str(caught.value)
    assert f"{path}: the run is damaged: its table 'turn_scores'" in said
    assert (
        f"make the run again, and remove this one: dialgauge runs rm {path.parent.name} --store {store.folder}" in said
    )
    assert "Did you mean" not in said


def test_columns_of_one_name_are_told_apart(tmp_path: Path) -> None:
    assert Store(tmp_path).sql("SELECT 1 AS run, 2 AS run WHERE false").columns == ["run", "run_1"]
    answer = Store(tmp_path).sql("SELECT 1 AS run, 2 AS run, 3 AS run_1, 4 AS RUN")
    assert answer.rows() == [(1, 2, 3, 4)]
    assert answer.columns == ["run", "run_2", "run_1", "RUN_3"]


def test_many_columns_of_one_name_are_renamed_in_a_moment(tmp_path: Path) -> None:
    """Each new name was once compared with all before it, for each number it tried: 10 seconds for 800."""
    columns = 2_000
    query = "SELECT " + ", ".join(["1 AS x"] * columns)
    start = time.process_time()
    assert Store(tmp_path).sql(query).columns == ["x", *(f"x_{number}" for number in range(1, columns))]
    assert time.process_time() - start < 10
