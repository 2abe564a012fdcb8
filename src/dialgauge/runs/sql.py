"""SQL over all runs, answered by DuckDB: views over the Parquet files, and three tables of what the store knows itself.

``runs`` holds one row per run, ``scores`` one per run and measure, ``annotations`` one per text that people wrote.
Every other table has the rows of all runs that have it, with the run's id in the column ``run``. The query is the
user's own and runs with the user's rights.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from dialgauge.errors import DialgaugeError, missing_extra, nearest
from dialgauge.runs.annotations import read_annotations
from dialgauge.runs.run import Run
from dialgauge.runs.tables import ANNOTATIONS, CORPUS_TABLES, FIXED, RUNS, SCORES
from dialgauge.text import encodable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_RUN_COLUMNS = {
    "id": "VARCHAR", "kind": "VARCHAR", "name": "VARCHAR", "created": "TIMESTAMP", "signature": "VARCHAR",
    "command": "VARCHAR[]", "seeds": "BIGINT[]", "config": "JSON", "inputs": "JSON", "versions": "JSON",
    "corpus": "VARCHAR", "coverage": "JSON", "scores": "JSON", "details": "JSON", "notes": "VARCHAR[]",
    "note_kinds": "VARCHAR[]", "tables": "JSON",
}  # fmt: skip
_SCORE_COLUMNS = {
    "run": "VARCHAR", "measure": "VARCHAR", "value": "DOUBLE", "low": "DOUBLE", "high": "DOUBLE", "unit": "VARCHAR",
    "higher_is_better": "BOOLEAN", "signature": "VARCHAR",
}  # fmt: skip
#: ``dialogue`` is null where a text is about the run itself.
_ANNOTATION_COLUMNS = {"run": "VARCHAR", "dialogue": "VARCHAR", "kind": "VARCHAR", "text": "VARCHAR"}
_OWN = {RUNS, SCORES, ANNOTATIONS}
_TYPES = {"String": "VARCHAR", "Int64": "BIGINT", "Float64": "DOUBLE", "List(String)": "VARCHAR[]"}


def select(query: str, runs: Sequence[Run], tell: Callable[[DialgaugeError], None]) -> pl.DataFrame:
    """The answer to one SELECT. A table that turns out to be damaged is left out and told."""
    try:
        import duckdb
    except ImportError as error:
        raise missing_extra("duckdb", "sql", "SQL over stored runs") from error

    with duckdb.connect(":memory:", config={"temp_directory": ""}) as connection:  # no files in the current folder
        holders: dict[str, list[Run]] = {table: [] for table in FIXED}  # the fixed ones are there even without runs
        for run in runs:
            for table in run.files:
                holders.setdefault(table, []).append(run)
        try:
            _make_tables(connection, query, runs, holders, tell)
            answer = connection.sql(encodable(query))
            if answer is None:
                raise DialgaugeError("the query gives no table; ask for one with SELECT")
            names = ", ".join('"' + name.replace('"', '""') + '"' for name in _distinct(answer.columns))
            renamed = answer.query("answer", f"SELECT * FROM answer AS answer({names})")  # noqa: S608
            answer = (answer if renamed is None else renamed).materialize()
            return pl.DataFrame(_ArrowStream(answer.__arrow_c_stream__()))
        except duckdb.Error as error:
            sentence = " ".join(re.split(r"\n(?:Did you mean|\nLINE )", str(error))[0].split())
            missing = re.search(r"Table with name (\S+) does not exist", sentence)
            raise DialgaugeError(sentence + (nearest(missing[1], [*holders, *_OWN]) if missing else "")) from error
        except RuntimeError as error:
            if "Query interrupted" in str(error):  # DuckDB's answer to Ctrl-C
                raise KeyboardInterrupt from error
            raise
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            reason = str(error).split(". ")[0]
            raise DialgaugeError(f"the answer cannot be put in a table ({reason}); cast it to VARCHAR") from error


def _distinct(columns: Sequence[str]) -> list[str]:
    """Names that differ, as a table's must: the second ``run`` is ``run_1``."""
    names: dict[str, None] = {}
    for column in columns:
        name, number = column, 0
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names[name] = None
    return list(names)


class _ArrowStream:
    """Rows by Arrow's C interface, because DuckDB's own ``.pl()`` needs pyarrow.

    Polars remembers the class of what it was given for good. Remembering DuckDB's would keep that module alive until
    after the interpreter's end, and DuckDB 2 prints forty lines about it.
    """

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.capsule


def _make_tables(
    connection: DuckDBPyConnection,
    query: str,
    runs: Sequence[Run],
    holders: Mapping[str, list[Run]],
    tell: Callable[[DialgaugeError], None],
) -> None:
    """The tables whose names stand in the query, after comparing their bytes with checksums; all where it names none,
    as ``SHOW TABLES`` does."""
    words = set(re.findall(r"[a-z0-9_]+", query.lower()))
    for table in sorted(words & holders.keys() or (() if words & _OWN else holders)):
        _make_view(connection, table, [run for run in holders[table] if _is_sound(run, table, tell)])
    rows = []
    for run in runs:
        facts = {name: getattr(run.manifest, name) for name in _RUN_COLUMNS}
        facts["created"] = facts["created"].replace(tzinfo=None)
        json = {
            name: msgspec.json.encode(facts[name]).decode() for name, kind in _RUN_COLUMNS.items() if kind == "JSON"
        }
        rows.append([*(facts | json).values()])
    _insert(connection, RUNS, _RUN_COLUMNS, rows)
    names = list(_SCORE_COLUMNS)[2:]
    scores = [
        [run.id, measure, *(getattr(score, name) for name in names)]
        for run in runs
        for measure, score in run.scores.items()
    ]
    _insert(connection, SCORES, _SCORE_COLUMNS, scores)
    annotations = []
    for run in runs if ANNOTATIONS in words else ():
        try:
            annotations += [[run.id, *row] for row in read_annotations(run.path).rows()]
        except DialgaugeError as problem:
            tell(problem)
    _insert(connection, ANNOTATIONS, _ANNOTATION_COLUMNS, annotations)


def _is_sound(run: Run, table: str, tell: Callable[[DialgaugeError], None]) -> bool:
    try:
        run.verify(table)
    except DialgaugeError as problem:
        tell(problem)
        return False
    return True


def _make_view(connection: DuckDBPyConnection, table: str, runs: Sequence[Run]) -> None:
    """The rows of a table over all runs, in the order of the runs; those of a corpus for every run that has it."""
    if not runs:
        columns = ", ".join(f"{column} {_TYPES[kind]}" for column, kind in FIXED.get(table, {}).items())
        if columns:
            connection.execute(f"CREATE TABLE {table} (run VARCHAR, {columns})")
        return
    files = dict.fromkeys(str(path.absolute()) for run in runs for path in run.files[table])
    listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    content = (
        "SELECT split_part(replace(__file, '\\', '/'), '/', -2) AS run, * EXCLUDE (__file) FROM "  # noqa: S608
        f"read_parquet([{listed}], union_by_name = true, filename = '__file', hive_partitioning = false)"
    )
    if table in CORPUS_TABLES:
        owners = [[run.id, run.manifest.corpus] for run in runs]
        _insert(connection, f"runs_of_{table}", {"run": "VARCHAR", "corpus": "VARCHAR"}, owners)
        content = (
            f"SELECT owner.run, content.* EXCLUDE (run) FROM ({content}) AS content "  # noqa: S608
            f"JOIN runs_of_{table} AS owner ON content.run = owner.corpus"
        )
    connection.execute(f'CREATE VIEW "{table}" AS {content}')


def _insert(connection: DuckDBPyConnection, table: str, kinds: dict[str, str], rows: Sequence[Sequence[Any]]) -> None:
    """A table of ours from its rows."""
    columns = ", ".join(f"unnest(${n}::{kind}[]) AS {name}" for n, (name, kind) in enumerate(kinds.items(), 1))
    values = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in kinds]
    connection.execute(f"CREATE TABLE {table} AS SELECT {columns}", values)
