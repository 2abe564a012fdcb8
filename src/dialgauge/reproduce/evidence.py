"""The tables that claims are judged by, in a database that reaches nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import partial
from threading import Timer
from typing import TYPE_CHECKING, Any

from dialgauge.errors import DialgaugeError, missing_extra
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars as pl

    from dialgauge.runs import Run

#: How long one question may take, in seconds, and how much memory all may use.
LONGEST, MEMORY = 60.0, "4GB"
#: A claims file is hostile: it sees the tables it is given, and nothing else of the machine.
_LOCKS = ("enable_external_access = false", "python_enable_replacements = false", "lock_configuration = true")
_UNKNOWN = re.compile(r'(?:Table with name|Referenced column|column named) "?([\w.]+)"?')


class NotComputable(Exception):
    """Evidence that is not there: why, and by which command one gets it."""

    def __init__(self, why: str, get: str = "") -> None:
        super().__init__(f"{why}; get it with '{get}'" if get else why)
        self.get = get


class ClaimTables:
    """Tables by name, each built when a claim first names it.

    No table has NULLs, which SQL's three-valued logic would decide claims by: a column with an unknown value is left
    out. ``why_absent`` says of tables and columns that may be absent why they are, ``missing_data`` what is not here.
    """

    def __init__(
        self,
        tables: Mapping[str, Callable[[], pl.DataFrame]],
        why_absent: Mapping[str, str] | None = None,
        missing_data: Iterable[str] = (),
        datasets_to_get: Iterable[str] = (),
        in_print: ClaimTables | None = None,
    ) -> None:
        self._tables = dict(tables)
        #: What the paper prints, in the place of what was measured.
        self.in_print = in_print
        self._why_absent = dict(why_absent or {})
        self.missing_data = list(missing_data)
        #: Datasets that 'data get' fetches and that are not there, wholly or in part.
        self.datasets_to_get = list(datasets_to_get)
        try:
            import duckdb
        except ImportError as error:
            raise missing_extra("duckdb", "sql", "judging claims") from error
        self._duckdb = duckdb
        self._database = duckdb.connect(":memory:", config={"memory_limit": MEMORY, "temp_directory": ""})
        for lock in _LOCKS:
            self._database.execute(f"set {lock}")

    def __enter__(self) -> ClaimTables:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()
        if self.in_print is not None:
            self.in_print.__exit__()

    def add(self, name: str, frame: pl.DataFrame) -> None:
        """Hand a table over. Columns with unknown values are left out."""
        unknown = {column.name: column.null_count() for column in frame if column.null_count()}
        for column, count in unknown.items():
            self._why_absent[column] = f"the column '{column}' of '{name}' has no value in {counted(count, 'row')}"
        self._database.register("handed_over", _Stream(frame.drop(list(unknown))))
        self._database.execute(f'create table "{name}" as from handed_over')
        self._database.unregister("handed_over")

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The answer to one SELECT; raises :class:`NotComputable` if it needs what is not there."""
        for name in self._tables.keys() & set(re.findall(r"\w+", query)):
            build = self._tables.pop(name)
            try:
                self.add(name, build())
            except NotComputable as why:
                self._why_absent[name] = str(why)
        timer = Timer(LONGEST, self._database.interrupt)
        timer.start()
        try:
            statements = self._duckdb.extract_statements(query)
            if len(statements) != 1 or statements[0].type != self._duckdb.StatementType.SELECT:
                raise DialgaugeError("a claim asks one question: one SELECT, and no other statement")
            answer = self._database.execute(statements[0])
            names = [column[0] for column in answer.description or ()]
            return [dict(zip(names, map(_plain, row), strict=True)) for row in answer.fetchall()]
        except (self._duckdb.CatalogException, self._duckdb.BinderException) as error:
            raise NotComputable(self._why(str(error))) from error
        except self._duckdb.Error as error:
            raise DialgaugeError(" ".join(str(error).split("\n\n")[0].split())) from error
        finally:
            timer.cancel()

    def _why(self, error: str) -> str:
        """Why a name is unknown; the database's own words where nothing is known of it."""
        named = [name for name in _UNKNOWN.findall(error) if name in self._why_absent]
        return self._why_absent[named[0]] if named else " ".join(re.split(r"\nLINE |\n\n", error)[0].split())


def run_evidence(runs: Mapping[str, Run]) -> ClaimTables:
    """The tables of stored runs as evidence, each with a column ``run``, and their ``scores``."""
    names = dict.fromkeys(name for run in runs.values() for name in run.tables)
    tables: dict[str, Callable[[], pl.DataFrame]] = {name: partial(_rows_of_runs, runs, name) for name in names}
    return ClaimTables({"scores": partial(_scores_of_runs, runs), **tables})


def _rows_of_runs(runs: Mapping[str, Run], table: str) -> pl.DataFrame:
    import polars as pl

    frames = [
        run.table(table).select(pl.lit(name).alias("run"), pl.all())
        for name, run in runs.items()
        if table in run.tables
    ]
    return pl.concat(frames, how="diagonal_relaxed")


def _scores_of_runs(runs: Mapping[str, Run]) -> pl.DataFrame:
    import polars as pl

    rows = [
        (name, measure, score.value, score.low, score.high)
        for name, run in runs.items()
        for measure, score in run.scores.items()
        if score.value is not None
    ]
    if not rows:
        raise NotComputable("no run is given", "--run NAME=RUN")
    return pl.DataFrame(rows, schema=["run", "measure", "value", "low", "high"], orient="row")


def _plain(value: Any) -> Any:
    """SQL's decimals are numbers like others."""
    return float(value) if isinstance(value, Decimal) else value


class _Stream:
    """Rows by Arrow's C interface: DuckDB would take a frame of polars by pyarrow, and keep its class for good."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)
