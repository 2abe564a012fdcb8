"""``turnwise babi evaluate | table | models``: how far a bot is from carrying whole dialogs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from turnwise.cli.common import err, out, progress_bar, write_json
from turnwise.errors import TurnwiseError

DataOption = Annotated[
    Path, typer.Option("--data", metavar="FOLDER", help="Folder with the dialog bAbI files, plain or gzipped.")
]
StoreOption = Annotated[
    Path | None, typer.Option("--store", metavar="FOLDER", help="The run store; without it, $TURNWISE_RUNS or ./runs.")
]
JsonOption = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Also write JSON; - is standard output.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to ``turnwise babi``."""
    app.command("models")(models)
    app.command("evaluate")(evaluate)
    app.command("table")(table)


def models() -> None:
    """List the models that can be evaluated."""
    from turnwise.report.table import Table
    from turnwise.responses.ranker import ranker_class, ranker_names

    listing = Table("Models", ["name", "what it is", "seeds matter"])
    for name in ranker_names():
        found = ranker_class(name)
        listing.add(name, found.summary, found.seeded)
    out.print(listing.render("terminal"))


def evaluate(
    data: DataOption,
    model: Annotated[str, typer.Option(help="A model's name (see 'turnwise babi models').")] = "rules",
    task: Annotated[int, typer.Option(min=1, max=6, help="Which task.")] = 1,
    split: Annotated[
        list[str] | None, typer.Option(help="dev, tst or tst-OOV; repeat for several. Default: all.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="Evaluate the bot behind this HTTP address instead of a model.")
    ] = None,
    folder: Annotated[Path | None, typer.Option("--load", help="Use the fitted model in this folder.")] = None,
    save: Annotated[Path | None, typer.Option(help="Keep the fitted model in this folder.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the model.")] = 0,
    store: StoreOption = None,
    json: JsonOption = None,
) -> None:
    """Fit one model on one task and evaluate it: per-response, per-dialog, hits@10, MRR, by class of reply."""
    from turnwise.responses.cells import Key, compute, data_digest
    from turnwise.responses.ranker import Ranker, load_ranker, ranker_class, save_ranker
    from turnwise.responses.replying import HttpBot
    from turnwise.responses.task import load_task
    from turnwise.runs import Store

    loaded = load_task(data, task)
    ranker: Ranker
    if folder is not None:
        ranker = load_ranker(folder, task=loaded)
    else:
        ranker = HttpBot(url) if url else ranker_class(model)(seed)
        ranker.fit(loaded, _tell)
    if save is not None:
        save_ranker(ranker, save, task)
        _tell(f"model kept in {save}")
    digest = data_digest(loaded)
    found = []
    for name in _splits(split, loaded.splits):
        _tell(f"{ranker.name} on task {task}, {name}")
        found.append(compute(Key(ranker.name, task, name, ranker.seed, digest), ranker, loaded, Store(store)))
    _show(found, json, classes=True)


def table(
    data: DataOption,
    models: Annotated[str, typer.Option(help="Models, separated by commas.")] = "rules,tfidf,tfidf-type,nearest",
    tasks: Annotated[str, typer.Option(help="Tasks, separated by commas.")] = "1,2,3,4,5,6",
    splits: Annotated[str, typer.Option(help="Splits, separated by commas.")] = "dev,tst,tst-OOV",
    seeds: Annotated[int, typer.Option(min=1, help="Seeds per model that draws random numbers.")] = 1,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 is one per core.")] = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything again, kept results included.")] = False,
    statistics: Annotated[bool, typer.Option(help="Show the paper's Table 1 too.")] = True,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write Markdown.")] = None,
    latex: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write LaTeX.")] = None,
    store: StoreOption = None,
    json: JsonOption = None,
) -> None:
    """The paper's Table 2: every model on every task, ours beside theirs. Finished cells are kept and reused."""
    from turnwise.report.table import write_tables
    from turnwise.responses.plan import Job, jobs_of, run_jobs
    from turnwise.responses.tables import results_table, statistics_table
    from turnwise.responses.task import load_task

    wanted = [_number(item, "task") for item in _items(tasks)]
    names = _splits(_items(splits), None)
    jobs: list[Job] = jobs_of(data, _items(models), wanted, names, seeds, store, fresh=fresh)
    found = []
    with progress_bar("cells", len(jobs)) as advance:
        for cells in run_jobs(jobs, workers=workers):
            found.extend(cells)
            advance(1)
    tables = [results_table(found)]
    if statistics:
        tables.insert(0, statistics_table([load_task(data, number) for number in wanted]))
    for shown in tables:
        out.print(shown.render("terminal"))
    for path, kind in ((markdown, "markdown"), (latex, "latex")):
        if path is not None:
            write_tables(tables, path, kind)
    _write(found, json)


def _items(text: str) -> list[str]:
    found = [item.strip() for item in text.split(",") if item.strip()]
    if not found:
        raise TurnwiseError(f"'{text}' names nothing; separate names by commas")
    return found


def _number(text: str, what: str) -> int:
    if not text.isdecimal():
        raise TurnwiseError(f"'{text}' is not a {what}; give a number such as 1")
    return int(text)


def _splits(asked: Sequence[str] | None, available: Any) -> list[str]:
    from turnwise.responses.task import EVALUATED

    for name in asked or ():
        if name not in EVALUATED:
            raise TurnwiseError(f"there is no split '{name}'; splits are {', '.join(EVALUATED)}")
        if available is not None and name not in available:
            raise TurnwiseError(f"this task has no split '{name}' in that folder")
    chosen = list(asked or EVALUATED)
    return [name for name in chosen if available is None or name in available]


def _show(cells: list[Any], json: Path | None, *, classes: bool) -> None:
    from turnwise.responses.tables import class_table, results_table

    out.print(results_table(cells).render("terminal"))
    if classes:
        out.print(class_table(cells).render("terminal"))
    for cell in cells:
        out.print(f"[dim]{cell.signature}[/dim]", soft_wrap=True)
    _write(cells, json)


def _write(cells: list[Any], json: Path | None) -> None:
    import msgspec

    if json is not None:
        write_json(json, {"cells": [msgspec.to_builtins(cell) for cell in cells]})


def _tell(line: str) -> None:
    err.print(line, style="dim")
