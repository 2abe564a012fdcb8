"""Stored runs: ``dialgauge show``, ``compare``, ``sql``, and ``runs``, which lists, tags, copies and removes them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from dialgauge import comparison, explorer, report, runs as run_store, users
from dialgauge.cli.app import EXIT_INCOMPLETE, command, group
from dialgauge.cli.options import PATH, RUN, Advanced, Real, Whole, bundle, measures_option, option, options, refuse
from dialgauge.cli.output import Figures, Json, Stored, Tables
from dialgauge.cli.screen import confirm, err, write_file
from dialgauge.errors import DialgaugeError
from dialgauge.kinds import kind_named
from dialgauge.text import split_at_commas

if TYPE_CHECKING:
    import polars

    from dialgauge.runs import Annotations, Run

#: Rows of an answer to a query that the screen shows unasked.
_SHOWN = 100


@command("show")
@click.argument("run", type=RUN, help="Its id or the beginning, system, tag or latest.")
@click.option("--by", multiple=True, metavar="X", help="Show the scores by domain, slot, turn, ...; repeatable.")
@click.option("--only", multiple=True, metavar="TABLE", help="Show only this table; repeatable.")
@click.option("--worst", type=Whole(0), default=0, help="List the N worst dialogues with their errors.")
@click.option("--dialogue", multiple=True, metavar="ID", help="Show this dialogue turn by turn; repeatable.")
@click.option("--all", is_flag=True, help="Show all tables, all rows and folded texts.")
@bundle(store=Stored, output=Figures)
def show(
    run: str,
    by: tuple[str, ...],
    only: tuple[str, ...],
    worst: int,
    dialogue: tuple[str, ...],
    all: bool,
    store: Stored,
    output: Figures,
) -> None:
    """Show a stored run.

    Without options: its scores, the tables that matter most, and a sentence.
    """
    opened = store.open(run)
    tables = [*(f"by-{name}" for name in by), *only]
    asked = [
        name for name, given in (("--by or --only", tables), ("--worst", worst), ("--dialogue", dialogue)) if given
    ]
    if len(asked) > 1:
        raise DialgaugeError(f"{asked[0]} and {asked[1]} show different things; leave one out")
    if worst:
        page = report.worst_page(opened, worst)
    elif dialogue:
        page = report.dialogue_page(opened, *dialogue)
    else:
        page = report.run_page(opened, tables or (None if all else report.screen_tables(opened)))
        if tables and not page.tables:
            raise DialgaugeError(f"{opened.name} has nothing to show in {', '.join(tables)}")
    output.present(page, runs=[opened], everything=all)


@options
class Tests:
    """What is compared, how it is tested, and what is shown."""

    measures: tuple[str, ...] = measures_option("Measures, comma-separated: JGA, FGA@0.5, ...", "tracking")
    only: tuple[str, ...] = option(
        "--only",
        multiple=True,
        metavar="TABLE",
        help="Show only this table: scores, differences, ranks, divergences, resolution, spread, agreement; of "
        "trackers sweep, of agents settling; repeatable.",
    )
    all: bool = option("--all", is_flag=True, help="Show all tables with all rows.")
    printed: Path | None = option(
        "--printed", type=PATH, metavar="CSV", help="Instead of runs: a table of scores as papers print it."
    )
    resamples: int = option("--resamples", cls=Advanced, type=Whole(1, 1_000_000), default=10_000, help="Of the tests.")
    seed: int = option("--seed", cls=Advanced, type=Whole(0), default=0, help="Random seed for resampling.")
    confidence: float = option(
        "--confidence",
        cls=Advanced,
        type=Real(0, 1, min_open=True, max_open=True),
        default=0.95,
        metavar="LEVEL",
        help="Level of intervals; differences are significant where p < 1 - LEVEL.",
    )


@command("compare")
@click.argument("runs", nargs=-1, metavar="RUN RUN...", type=RUN, help="Stored runs: id, system, tag or latest.")
@bundle(tests=Tests, store=Stored, output=Figures)
def compare(runs: tuple[str, ...], tests: Tests, store: Stored, output: Figures) -> int:
    """Compare stored runs of one kind: scores with letters, paired tests, a verdict.

    'dialgauge score GOLD A B' stores runs and compares them, too.

    Exit code: 0 done, 1 a run lacks dialogues or turns that others have, 2 nothing could be compared.
    """
    if tests.printed is not None:
        names = ("runs", "measures", "only", "resamples", "seed", "confidence")
        refuse("printed scores have no dialogues to test", names=names)
        page = comparison.printed_page(comparison.read_system_table(tests.printed))
        output.present(page, everything=tests.all)
        return 0
    if len(runs) < 2:
        raise DialgaugeError(
            "name at least two stored runs: dialgauge compare RUN RUN ('dialgauge runs list' shows them)"
        )
    opened = [store.open(name) for name in runs]
    measures = [name.strip() for text in tests.measures for name in split_at_commas(text) if name.strip()]
    with err.status("comparing"):
        compared = comparison.compare_runs(
            opened, measures=measures or None, resamples=tests.resamples, seed=tests.seed, level=tests.confidence
        )
        tables = list(tests.only) or (None if tests.all else comparison.screen_tables(compared))
        page = comparison.comparison_page(compared, tables)
    output.present(page, runs=opened, everything=tests.all)
    return 0 if compared.complete else EXIT_INCOMPLETE


@command("sql")
@click.argument("query", help="One SELECT (DuckDB SQL); - to read it from stdin.")
@click.option("--all", is_flag=True, help=f"Show all rows, not {_SHOWN}; files have all.")
@bundle(store=Stored, output=Tables)
def sql(query: str, all: bool, store: Stored, output: Tables) -> int:
    """Query all stored runs with one SELECT.

    Every table of a run is a table here, with the run id in the column **run**; **runs** has one row per run.
    SHOW TABLES lists them. The query runs with your rights.

    dialgauge sql "SELECT run, measure, sum(num) / sum(den) AS score FROM dialogue_scores GROUP BY ALL ORDER BY ALL"
    """
    problems: list[DialgaugeError] = []
    if query == "-" and sys.stdin is None:
        raise DialgaugeError("standard input is closed; pass the query as an argument")
    text = sys.stdin.read() if query == "-" else query
    import polars  # noqa: F401 - which sets a handler of its own

    # DuckDB would run Python's handlers when the query ends.
    stops = {stop: signal.signal(stop, signal.SIG_DFL) for stop in (signal.SIGINT, signal.SIGTERM)}
    try:
        frame = store.folder.sql(text, on_problem=problems.append)
    finally:
        for stop, handler in stops.items():
            signal.signal(stop, handler)
    warnings = [f"left out: {problem}" for problem in problems]
    output.present(report.Page(title="", tables={"answer": frame_table(frame)}, warnings=warnings), everything=all)
    return EXIT_INCOMPLETE if problems else 0


def frame_table(frame: polars.DataFrame) -> report.Table:
    """The rows of a frame; dates and nested values are texts."""
    columns = [report.Column(name, report.Number(4)) for name in frame.columns]
    answer = "" if frame.height else f"No rows of {', '.join(frame.columns)}."
    return report.Table("", columns, (map(_value, row) for row in frame.iter_rows()), answer=answer, first=_SHOWN)


def _value(cell: Any) -> report.Value:
    """SQL's sums of integers are decimals; dates are written as ISO 8601, nested values as JSON."""
    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() else float(cell)
    if cell is None or isinstance(cell, str | int | float):
        return cell
    return msgspec.json.encode(cell).decode().strip('"')


runs = group("runs", "The run store: one folder per stored measurement, with run.json and Parquet tables.")


@runs.command("list")
@bundle(store=Stored, output=Json)
def list_runs(store: Stored, output: Json) -> int:
    """List all runs, oldest first, and name damaged ones."""
    opened = store.folder
    survey = opened.survey()
    found = survey.runs
    problems = list(survey.problems)
    notes: list[Annotations] = []
    for run in found:
        try:
            notes.append(opened.annotations(run.id))
        except DialgaugeError as problem:
            problems.append(problem)
            notes.append(run_store.Annotations())
    unfinished = [
        f"unfinished: {name} (run its command again to go on, or 'dialgauge runs rm {name}')"
        for name in opened.unfinished()
    ]
    page = report.Page(
        title=f"Runs in {opened.folder}",
        runs=[run.id for run in found],
        warnings=[*map(str, problems), *unfinished],
        tables={"runs": _list_table(found, notes)},
        verdict="" if found else f"No runs in {opened.folder}; 'dialgauge score' stores some.",
    )
    output.present(page, runs=found)
    return EXIT_INCOMPLETE if problems else 0


@runs.command()
@click.argument("run", type=RUN, help="Run id, system, tag or latest.")
@click.argument("tags", nargs=-1, required=True, metavar="TAG...", help="Names of your own for the run.")
@click.option("--remove", is_flag=True, help="Take the tags away instead.")
@bundle(store=Stored)
def tag(run: str, tags: tuple[str, ...], remove: bool, store: Stored) -> None:
    """Give a run a name of your own. Commands accept the tag in place of a run, meaning the newest one that has it.

    dialgauge runs tag latest baseline
    """
    named = store.open(run)
    store.folder.tag(named.id, () if remove else tags, without=tags if remove else ())


@runs.command()
@click.argument(
    "names",
    nargs=-1,
    required=True,
    metavar="RUN",
    type=RUN,
    help="Runs (ids, systems, tags or latest), or names of unfinished work.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@bundle(store=Stored)
def rm(names: tuple[str, ...], yes: bool, store: Stored) -> None:
    """Delete runs permanently."""
    opened = store.folder
    meant = list(dict.fromkeys(opened.resolve(name, unfinished=True) for name in names))
    if not yes:
        confirm(f"Delete {', '.join(meant)}?")
    for name in meant:
        opened.remove(name)
        err.print(f"removed {name}")


@runs.command()
@click.argument(
    "names", nargs=-1, required=True, metavar="RUN...", type=RUN, help="Runs: ids, systems, tags or latest."
)
@click.option("-o", "--out", "target", type=PATH, required=True, help="Run store to copy them to; with --to a file.")
@click.option("--to", type=click.Choice(["gcdf1"]), help="Write one run in another layout: JSON of GCDF1's authors.")
@click.option("--redact", is_flag=True, help="Replace personal data, as far as rules find it.")
@bundle(store=Stored)
def export(names: tuple[str, ...], target: Path, to: str | None, redact: bool, store: Stored) -> None:
    """Copy runs with their dialogues to another run store, to share them.

    With --redact, personal data that rules can find is replaced, and annotations are not copied.
    """
    chosen: Sequence[Run] = list({run.id: run for run in map(store.open, names)}.values())
    if to is not None:
        if len(chosen) > 1 or redact:
            raise DialgaugeError(f"--to {to} writes the numbers of one run, which hold no words to redact")
        tree = msgspec.json.encode(run_store.plain(users.gcdf1_tree(chosen[0])))
        write_file(target, msgspec.json.format(tree, indent=2) + b"\n")
        return
    if redact:
        chosen, redactor = explorer.redacted_runs(chosen)
        err.print(redactor.sentence())
    for run in chosen:
        err.print(f"{target / run_store.Store(target).add(run).id}")


def _list_table(runs: Sequence[Run], notes: Sequence[Annotations]) -> report.Table:
    """The runs with the measure that heads their kind, and how much of its dialogues each scored."""
    spare = {"name": 1, "scored": 3, "note": 4, "kind": 5}
    heads = ("run", "name", "measure", "score", "scored", "tags", "note", "kind")
    table = report.Table("", [report.Column(head, spare=spare.get(head, 0)) for head in heads])
    for run, written in zip(runs, notes, strict=True):
        measures = [name for name in (*kind_named(run.kind).headline, *run.scores) if name in run.scores]
        measure = next((name for name in measures if run.scores[name].value is not None), None)
        counts = [(unit, count) for unit, count in run.coverage.units.items() if count.scored is not None]
        scored = [
            f"{count.scored:,}{'' if count.complete else f' of {count.expected:,}'} {unit}" for unit, count in counts
        ]
        table.add(
            run.id,
            run.name,
            measure,
            report.score_cell(run.scores[measure]) if measure else None,
            report.Cell(next(iter(scored), None), tone="plain" if run.coverage.complete else "warn"),
            ", ".join(written.tags),
            written.note,
            run.kind,
        )
    return table
