"""``dialgauge runs``: what has been measured so far."""

from __future__ import annotations

import textwrap
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any

from dialgauge.cli import compare as comparing
from dialgauge.cli.common import (
    FigureFormatOption,
    FiguresOption,
    JsonOption,
    StoreOption,
    ViewOption,
    confirm,
    err,
    frame_table,
    on_screen,
    out,
    write_json,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option, application
from dialgauge.measures import Coverage, Score
from dialgauge.report import SHARE, Table, Value, plain, run_tables, score_column
from dialgauge.runs import Manifest, Run, Store
from dialgauge.runs import plain as as_json
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars

app = application("The run store: every measurement that was stored, as a folder with run.json and Parquet tables.")

_SCORES_IN_LIST = 3

#: Columns of a screen, the space between two columns of a table, and letters of a text before it is cut.
_SCREEN, _GAP, _LONGEST = 80, 3, 36


@app.command("list")
def list_runs(
    kind: Annotated[str | None, Option(help="Only runs of this kind, such as tracking.")] = None,
    json: JsonOption = None,
    store: StoreOption = None,
) -> None:
    """List all runs, oldest first, and say which are damaged."""
    place = Store(store)
    survey = place.survey()
    runs = [run for run in survey.runs if kind in (None, run.kind)]
    for problem in survey.problems:
        _say(problem)
    for name in place.unfinished():
        _say(f"unfinished: {name} (run the same command again to go on, or 'dialgauge runs rm {name}')")
    if json is not None:
        write_json(json, [_summary(run) for run in runs])
    if on_screen(json):
        _print_list(place, [run.manifest for run in runs])
    if survey.problems:
        raise SystemExit(EXIT_INCOMPLETE)


@app.command()
def show(
    run: Annotated[str, Argument(metavar="RUN", help="A run's id, or its beginning.")],
    rows: Annotated[int, Option(min=0, help="Rows to show of each table.")] = 5,
    json: JsonOption = None,
    store: StoreOption = None,
) -> None:
    """Show one run: where it comes from, its scores, and the beginning of its tables, after verifying their bytes."""
    stored = Store(store).open(run)
    stored.verify()
    if json is not None:
        write_json(json, as_json(stored.manifest))
    if on_screen(json):
        for table in (*run_tables(stored), *_heads(stored, rows)):
            out.print(table.render("terminal"))


@app.command()
def compare(
    runs: Annotated[list[str], Argument(metavar="RUN RUN...", help="Ids of two runs or more, or their beginnings.")],
    measures: comparing.MeasuresOption = None,
    resamples: comparing.ResamplesOption = 10_000,
    seed: comparing.SeedOption = 0,
    level: comparing.LevelOption = 0.95,
    missing: comparing.MissingOption = "shared",
    pairs: comparing.PairsOption = False,
    correlation: comparing.CorrelationOption = None,
    sweep: comparing.SweepOption = False,
    show: comparing.ShowOption = 0,
    show_by: comparing.ShowByOption = None,
    ratings: comparing.RatingsOption = None,
    rated: comparing.RatedOption = None,
    format: comparing.FormatOption = "terminal",
    table: comparing.TableOption = None,
    json: comparing.JsonOption = None,
    figures: FiguresOption = None,
    figure_format: FigureFormatOption = "svg",
    view: ViewOption = False,
    store: StoreOption = None,
) -> int:
    """Compare stored runs of one kind over the dialogues they share, as 'dialgauge compare RUN RUN' does."""
    output = comparing.ComparisonOutput(format, table, json, figures, figure_format, view, store)
    request = comparing.Request(pairs, correlation, sweep, show, show_by, ratings, rated)
    return comparing.compare_stored(runs, store, measures, resamples, seed, level, missing, request, output)


@app.command()
def rm(
    runs: Annotated[
        list[str], Argument(metavar="RUN", help="Ids of runs, or their beginnings; names of unfinished work.")
    ],
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    store: StoreOption = None,
) -> None:
    """Delete runs for good."""
    place = Store(store)
    names = list(dict.fromkeys(place.resolve(name, unfinished=True) for name in runs))
    if not yes:
        confirm(f"Delete {', '.join(names)}?")
    for name in names:
        place.remove(name)
        _say(f"removed {name}")


@app.command()
def path(
    run: Annotated[str, Argument(metavar="RUN", help="A run's id, or its beginning.")], store: StoreOption = None
) -> None:
    """Print the folder of a run, for other tools."""
    place = Store(store)
    out.print(str(place.folder / place.resolve(run)))


def _say(message: object) -> None:
    err.print(plain(str(message)))


def _print_list(store: Store, manifests: list[Manifest]) -> None:
    if not manifests:
        _say(f"no runs in {store.folder}: commands that measure store one, such as 'dialgauge score --run'")
        return
    table = Table(f"Runs in {store.folder}", ["run", "name", "scored", "scores"])
    for manifest in manifests:
        numbers = [_score(name, score) for name, score in manifest.scores.items() if score.value is not None]
        more = ", ..." if len(numbers) > _SCORES_IN_LIST else ""
        scores = ", ".join(numbers[:_SCORES_IN_LIST]) + more
        table.add(manifest.id, manifest.name, _scored(manifest.coverage), scores)
    out.print(table.render("terminal"))


def _score(name: str, score: Score) -> str:
    """``JGA 49.48%``; what is no share has its unit."""
    unit = "%" if score.unit == SHARE else f" {score.unit}" if score.unit else ""
    return f"{name} {score_column(name, score).text(score.value)}{unit}"


def _scored(coverage: Coverage) -> str | None:
    """``998 of 1000 dialogues``, or nothing when the run does not count."""
    for unit, count in coverage.units.items():
        if count.scored is not None:
            return f"{count.scored}{'' if count.expected is None else f' of {count.expected}'} {unit}"
    return None


def _summary(run: Run) -> dict[str, Any]:
    fields = ("id", "kind", "name", "created", "signature", "coverage", "scores", "notes")
    facts = {field: as_json(getattr(run.manifest, field)) for field in fields}
    return facts | {"tables": {name: info.rows for name, info in run.tables.items()}}


def _heads(run: Run, rows: int) -> list[Table]:
    """The beginning of every table that has rows, cut to what fits a screen."""
    return [
        _narrow(f"Table {name}: {counted(info.rows, 'row')}", run.table(name).head(min(rows, info.rows)))
        for name, info in run.tables.items()
        if info.rows
    ]


def _narrow(title: str, frame: polars.DataFrame) -> Table:
    """As many columns as fit a screen side by side, long texts cut; notes name the others."""
    whole = frame_table(title, frame)
    texts = [[_cut(cell.value) for cell in row] for row in whole.cells]
    widths = [
        max([len(column.title), *(len(column.text(row[place])) for row in texts)]) + _GAP
        for place, column in enumerate(whole.columns)
    ]
    fitting = max(1, sum(total <= _SCREEN + _GAP for total in accumulate(widths)))
    others = ", ".join(column.title for column in whole.columns[fitting:])
    notes = textwrap.wrap(f"Columns not shown: {others}", _SCREEN) if others else []
    return Table(title, whole.columns[:fitting], [row[:fitting] for row in texts], notes)


def _cut(value: Value) -> Value:
    """A long text without its end; other values as they are."""
    if isinstance(value, str):
        text = plain(value)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return value
