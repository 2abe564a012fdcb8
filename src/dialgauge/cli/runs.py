"""``dialgauge runs``: what has been measured so far."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dialgauge import explorer, report, runs as run_store, users
from dialgauge.cli import writing
from dialgauge.cli.app import EXIT_INCOMPLETE, group
from dialgauge.cli.options import KINDS, PATH, RUN, bundle
from dialgauge.cli.output import TablesOutput, open_run
from dialgauge.cli.screen import confirm, err
from dialgauge.errors import DialgaugeError
from dialgauge.kinds import kind_named

if TYPE_CHECKING:
    from dialgauge.runs import Annotations, Run

app = group("runs", "The run store: one folder per stored measurement, with run.json and Parquet tables.")

_STORE = click.option("--store", type=PATH, metavar="FOLDER", help="Run store [$DIALGAUGE_RUNS or ./runs].")


@app.command("list")
@click.option("--kind", shell_complete=KINDS, help="Only runs of this kind, for example tracking.")
@_STORE
@bundle(output=TablesOutput)
def list_runs(kind: str | None, store: Path | None, output: TablesOutput) -> int:
    """List all runs, oldest first, and name damaged ones."""
    opened = run_store.Store(store)
    survey = opened.survey()
    runs = [run for run in survey.runs if kind in (None, run.kind)]
    problems = list(survey.problems)
    notes: list[Annotations] = []
    for run in runs:
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
        runs=[run.id for run in runs],
        warnings=[*map(str, problems), *unfinished],
        tables={"runs": _list_table(runs, notes)},
        verdict="" if runs else f"No runs in {opened.folder}; 'dialgauge score' stores some.",
    )
    output.present(page, runs=runs)
    return EXIT_INCOMPLETE if problems else 0


@app.command()
@click.argument("run", type=RUN, help="Run id, system, tag or latest.")
@click.argument("tags", nargs=-1, required=True, metavar="TAG...", help="Names of your own for the run.")
@click.option("--remove", is_flag=True, help="Take the tags away instead.")
@_STORE
def tag(run: str, tags: tuple[str, ...], remove: bool, store: Path | None) -> None:
    """Give a run a name of your own. Commands accept the tag in place of a run, meaning the newest one that has it.

    dialgauge runs tag latest baseline
    """
    opened = run_store.Store(store)
    named = open_run(opened, run)
    opened.tag(named.id, () if remove else tags, without=tags if remove else ())


@app.command()
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    metavar="RUN",
    type=RUN,
    help="Runs (ids, systems, tags or latest), or names of unfinished work.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@_STORE
def rm(runs: tuple[str, ...], yes: bool, store: Path | None) -> None:
    """Delete runs permanently."""
    opened = run_store.Store(store)
    names = list(dict.fromkeys(opened.resolve(name, unfinished=True) for name in runs))
    if not yes:
        confirm(f"Delete {', '.join(names)}?")
    for name in names:
        opened.remove(name)
        err.print(f"removed {name}")


@app.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=RUN, help="Runs: ids, systems, tags or latest.")
@click.option("-o", "--out", "target", type=PATH, required=True, help="Run store to copy them to; with --to a file.")
@click.option("--to", type=click.Choice(["gcdf1"]), help="Write one run in another layout: JSON of GCDF1's authors.")
@click.option("--redact", is_flag=True, help="Replace personal data, as far as rules find it.")
@_STORE
def export(runs: tuple[str, ...], target: Path, to: str | None, redact: bool, store: Path | None) -> None:
    """Copy runs with their dialogues to another run store, to share them.

    With --redact, personal data that rules can find is replaced, and annotations are not copied.
    """
    opened = run_store.Store(store)
    if to is not None:
        if len(runs) > 1 or redact:
            raise DialgaugeError(f"--to {to} writes the numbers of one run, which hold no words to redact")
        writing.write_json(target, users.gcdf1_tree(open_run(opened, runs[0])))
        return
    chosen: Sequence[Run] = list({run.id: run for run in (open_run(opened, name) for name in runs)}.values())
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
