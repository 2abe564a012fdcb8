"""``dialgauge runs``: what has been measured so far."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import click

from dialgauge import explorer, report, users
from dialgauge.cli import common, writing
from dialgauge.cli.app import EXIT_INCOMPLETE, group
from dialgauge.cli.options import KINDS, PATH, RUN, Whole, bundle
from dialgauge.cli.screen import confirm, err, out
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Coverage, Score
from dialgauge.rendering import SCORES_IN_LIST, SHARE, Column, Table, Value, plain, run_tables, score_column
from dialgauge.runs import Annotations, Manifest, Run, Store, plain as as_json
from dialgauge.text import counted

app = group("runs", "The run store: one folder per stored measurement, with run.json and Parquet tables.")

#: Facts about a run that are not shown in a table, where they would be folded.
_WHOLE = ("command", "folder")
#: Letters of a text before it is cut.
_LONGEST = 36


@app.command("list")
@click.option("--kind", "kind", shell_complete=KINDS, help="Only runs of this kind, for example tracking.")
@click.option(
    "--store", "store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
)
@bundle(output=common.TableOutput)
def list_runs(kind: str | None, store: Path | None, output: common.TableOutput) -> None:
    """List all runs, oldest first, and name damaged ones."""
    opened = Store(store)
    survey = opened.survey()
    runs = [run for run in survey.runs if kind in (None, run.kind)]
    for problem in survey.problems:
        _say(problem)
    for name in opened.unfinished():
        _say(f"unfinished: {name} (rerun the same command to resume, or 'dialgauge runs rm {name}')")
    annotated = _Annotated(opened)
    output.document("runs-list", {"runs": [_summary(run, annotated[run.id]) for run in runs]})
    if runs:
        output.show([_list_table(opened, [run.manifest for run in runs], annotated)])
    else:
        _say(f"no runs in {opened.folder}; 'dialgauge score --run' stores some")
    if survey.problems or annotated.damaged:
        raise SystemExit(EXIT_INCOMPLETE)


@app.command()
@click.argument("run", type=RUN, help="Run id, system, tag or latest.")
@click.option(
    "--limit", "limit", type=Whole(0), default=5, help="Rows to show of each table; 0 for all. Files have as many."
)
@click.option(
    "--store", "store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
)
@bundle(output=common.TableOutput)
def show(run: str, limit: int, store: Path | None, output: common.TableOutput) -> None:
    """Show one run: provenance, scores and the first rows of its tables, after verifying checksums."""
    opened = Store(store)
    stored = opened.open(run)
    stored.verify()
    annotated = _Annotated(opened)
    written = annotated[stored.id]
    verdict = report.view_of(stored).verdict(stored)
    output.document("runs-show", {**as_json(stored.manifest), "verdict": verdict, "annotations": as_json(written)})
    tables = run_tables(stored)
    facts, annotations = tables.pop("run"), _annotation_tables(written)
    facts.add("verdict", verdict)
    heads = _heads(stored, common.row_limit(limit))
    if output.on_screen:
        shown = tables if out.wide else {name: table for name, table in tables.items() if name != "settings"}
        if len(shown) < len(tables):  # they are longer than all others
            shown["scores"].notes.append("--wide and files have the settings of each score.")
        kept = _without(facts, _WHOLE if out.wide else {*_WHOLE, "signature"})
        writing.print_tables([kept, *annotations, *shown.values(), *(heads if out.wide else map(_cut_table, heads))])
        _print_whole(facts)
    writing.write_table_file([facts, *annotations, *tables.values(), *heads], output.table)
    if annotated.damaged:
        raise SystemExit(EXIT_INCOMPLETE)


@app.command()
@click.argument("run", type=RUN, help="Run id, system, tag or latest.")
@click.option("--tag", "tag", multiple=True, metavar="TAG", help="Tag for the run; repeatable.")
@click.option("--dialogue", "dialogue", metavar="ID", help="Annotate this dialogue instead of the run.")
@click.option("--label", "label", multiple=True, metavar="LABEL", help="Label for the dialogue; repeatable.")
@click.option("--note", "note", help="Note on the run or the dialogue.")
@click.option(
    "--store", "store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
)
def annotate(
    run: str, tag: tuple[str, ...], dialogue: str | None, label: tuple[str, ...], note: str | None, store: Path | None
) -> None:
    """Tag and annotate a run, or label and annotate one of its dialogues.

    New values replace old ones; the rest stays. An empty text removes a value: --note "", --tag "", --label "".
    The table **annotations** of 'dialgauge sql' holds all of them.

    dialgauge runs annotate RUN --tag baseline --note "trained on half of the data"

    dialgauge runs annotate RUN --dialogue MUL0001 --label "wrong area" --label "user gave up"
    """
    if not tag and not label and note is None:
        raise DialgaugeError("nothing to annotate: give --tag, --label or --note")
    opened = Store(store)
    if dialogue is None:
        opened.annotate(run, tags=_texts(tag), note=note)
    else:
        opened.annotate_dialogue(run, dialogue, labels=_texts(label), note=note)


@app.command()
@click.argument("run", type=RUN, help="Run id, system, tag or latest.")
@click.argument("tags", nargs=-1, required=True, metavar="TAG...", help="Tags to add to the run.")
@click.option(
    "--store", "store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
)
def tag(run: str, tags: tuple[str, ...], store: Path | None) -> None:
    """Give a run a name of your own. Commands accept the tag in place of a run, meaning the newest one that has it.

    dialgauge runs tag latest baseline
    """
    Store(store).tag(run, tags)


@app.command()
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    metavar="RUN",
    type=RUN,
    help="Runs (ids, systems, tags or latest), or names of unfinished work.",
)
@click.option("-y", "--yes", "yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--store", "store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
)
def rm(runs: tuple[str, ...], yes: bool, store: Path | None) -> None:
    """Delete runs permanently."""
    opened = Store(store)
    names = list(dict.fromkeys(opened.resolve(name, unfinished=True) for name in runs))
    if not yes:
        confirm(f"Delete {', '.join(names)}?")
    for name in names:
        opened.remove(name)
        _say(f"removed {name}")


@app.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=RUN, help="Runs (ids or unique prefixes).")
@click.option("-o", "--out", "target", type=PATH, required=True, help="Run store to copy them to; with --to a file.")
@click.option(
    "--to",
    type=click.Choice(["gcdf1"]),
    help="Write one run in another layout instead: gcdf1 is the JSON of GCDF1's authors.",
)
@click.option(
    "--redact",
    "redact",
    is_flag=True,
    help="Replace personal data, found by its shape, by field names in tool calls, and by what users know.",
)
@click.option(
    "--store", "store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
)
def export(runs: tuple[str, ...], target: Path, to: str | None, redact: bool, store: Path | None) -> None:
    """Copy runs with their dialogues to another run store, to share them.

    With --redact, personal data that rules can find is replaced, and annotations are not copied.
    """
    opened = Store(store)
    if to is not None:
        if len(runs) > 1 or redact:
            raise DialgaugeError(f"--to {to} writes the numbers of one run, which hold no words to redact")
        writing.write_json(target, users.gcdf1_tree(opened.open(runs[0])))
        return
    chosen = list({run.id: run for run in (opened.open(name) for name in runs)}.values())
    if redact:
        chosen, redactor = explorer.redacted_runs(chosen)
        _say(redactor.sentence())
    for run in chosen:
        _say(f"{target / Store(target).add(run).id}")


class _Annotated:
    """The annotations of the runs of a store; what is wrong with them is said once, and they then count as none."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, Annotations] = {}
        self.damaged = False

    def __getitem__(self, run: str) -> Annotations:
        if run not in self._known:
            try:
                self._known[run] = self._store.annotations(run)
            except DialgaugeError as problem:
                _say(problem)
                self.damaged = True
                self._known[run] = Annotations()
        return self._known[run]


def _texts(given: Sequence[str]) -> list[str] | None:
    """The tags or labels of a command line, where a single empty one stands for none."""
    return [] if list(given) == [""] else list(given) or None


def _annotation_tables(written: Annotations) -> list[Table]:
    """Tags and note of a run, and on how many dialogues there is something."""
    table = Table("Annotations", ["kind", "text"])
    for dialogue, kind, text in written.rows():
        if dialogue is None:
            for index, line in enumerate(text.splitlines() or [text]):
                table.add(kind if index == 0 else "", line)
    if written.dialogues:
        table.add("dialogues", f"{counted(len(written.dialogues), 'dialogue')} with labels or notes")
    return [table] if table.cells else []


def _say(message: object) -> None:
    err.print(plain(str(message)))


def _list_table(store: Store, manifests: list[Manifest], annotated: _Annotated) -> Table:
    tagged = any(annotated[manifest.id].tags for manifest in manifests)
    columns = [Column("run", whole=True, exact=True), Column("name", drop=2), Column("scored", drop=3)]
    columns += [Column("score", exact=True), Column("more scores", exact=True, drop=4)]
    columns += [Column("tags", drop=1)] if tagged else []
    table = Table(f"Runs in {store.folder}", columns)
    for manifest in manifests:
        numbers = [_score(name, score) for name, score in manifest.scores.items() if score.value is not None]
        more = ", ".join([*numbers[1:SCORES_IN_LIST], *(["..."] if len(numbers) > SCORES_IN_LIST else [])])
        tags = [", ".join(annotated[manifest.id].tags) or None] if tagged else []
        first = f"{next(iter(numbers), '')} {_incomplete(manifest.coverage)}".strip()
        table.add(manifest.id, manifest.name, _scored(manifest.coverage), first, more, *tags)
    return table


def _incomplete(coverage: Coverage) -> str:
    """``(14 of 200)`` beside the number of a run that is not whole, however narrow the screen; else nothing."""
    lacking = (count for count in coverage.units.values() if count.expected and not count.complete)
    return next((f"({count.scored or 0:,} of {count.expected:,})" for count in lacking), "")


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


def _summary(run: Run, written: Annotations) -> dict[str, Any]:
    fields = ("id", "kind", "name", "created", "signature", "coverage", "scores", "notes", "note_kinds")
    facts = {field: as_json(getattr(run.manifest, field)) for field in fields}
    tables = {name: info.rows for name, info in run.tables.items()}
    return facts | {"tags": list(written.tags), "note": written.note, "tables": tables}


def _without(facts: Table, fields: Collection[str]) -> Table:
    return Table(facts.title, facts.columns, [row for row in facts.cells if row[0].value not in fields])


def _print_whole(facts: Table) -> None:
    """Print the command and the folder in full, so that they can be copied from the screen."""
    for field, value in (row for row in facts.cells if row[0].value in _WHOLE):
        out.print(f"\n{str(field.value).capitalize()}:")
        if field.value == "command":
            out.print(str(value.value))
        else:
            out.write(f"{plain(str(value.value))}\n")


def _heads(run: Run, rows: int) -> list[Table]:
    """The beginning of every table that has rows, as SQL sees it."""
    return [
        writing.frame_table(f"Table {name}: {counted(info.rows, 'row')}", run.table(name).head(min(rows, info.rows)))
        for name, info in run.tables.items()
        if info.rows
    ]


def _cut_table(whole: Table) -> Table:
    """The table without the ends of long texts."""
    cells = [[_cut(cell.value) for cell in row] for row in whole.cells]
    return Table(whole.title, whole.columns, cells, notes=whole.notes)


def _cut(value: Value) -> Value:
    """A long text without its end; other values as they are."""
    if isinstance(value, str):
        text = plain(value)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return value
