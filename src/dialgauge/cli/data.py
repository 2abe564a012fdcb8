"""``dialgauge data``: look at files, convert them, and keep datasets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dialgauge.cli.common import WideOption, err, on_screen, out, progress_bar, write_json
from dialgauge.cli.options import Argument, Option, OutputFile, application
from dialgauge.formats import DEFAULT_LIMIT
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.data import TransferProgress, Watcher
    from dialgauge.report import Table

app = application("Look at dialogue files, convert them, and keep datasets.")

Limit = Annotated[int, Option("--max-bytes", min=1, help="The most bytes a compressed file may unpack to.")]
JsonFile = Annotated[Path | None, OutputFile("--json", help="Write the result as JSON to this file (- : output).")]
Name = Annotated[str, Argument(help="The dataset's name, as 'dialgauge data list' shows it.", show_default=False)]


@app.command()
def check(
    source: Annotated[
        list[str],
        Argument(help="Files, folders, patterns, archives, or - for standard input.", show_default=False),
    ],
    gold: Annotated[str | None, Option(help="A gold file: tell how much of it the sources cover.")] = None,
    ontology: Annotated[str | None, Option(help="The ontology to compare values with.")] = None,
    format: Annotated[str | None, Option(help="The format, if it is not to be recognised.")] = None,
    places: Annotated[int, Option(min=0, help="How many places to name for each finding.")] = 5,
    max_bytes: Limit = DEFAULT_LIMIT,
    json: JsonFile = None,
    wide: WideOption = False,
) -> None:
    """What is this, what is in it, and what is wrong with it.

    Exit code: 0 sound, 1 problems that make scores incomplete, 2 nothing could be read.
    """
    out.wide = wide
    from dialgauge.data import check as look
    from dialgauge.data import show
    from dialgauge.errors import DialgaugeError
    from dialgauge.report import Table

    with progress_bar("reading dialogues") as advance:
        report = look(
            source, format=format, gold=gold, ontology=ontology, limit=max_bytes, kept=places, advance=advance
        )
    if json is not None:
        _write_record(json, report)
    if report.exit_code == 2 and (len(report.unread) == 1 or not on_screen(json)):
        first, *others = report.unread
        more = f"; and so with {counted(len(others), 'other file')}" if others else ""
        raise DialgaugeError(f"{first.why}{more}", file=first.file)
    if on_screen(json):
        for item in show(report):
            out.print(item.render("terminal") if isinstance(item, Table) else item)
            out.print()
    raise SystemExit(report.exit_code)


@app.command()
def convert(
    source: Annotated[str, Argument(help="File, folder, pattern, archive, or - for standard input.")],
    target: Annotated[Path, Argument(help="The file to write (- : output); gzipped if its name ends in .gz.")],
    to: Annotated[str, Option("--to", help="The format to write; 'dialgauge data formats' lists them.")],
    from_: Annotated[str | None, Option("--from", help="The source's format, if it is not recognised.")] = None,
    original_ids: Annotated[
        str | None,
        Option(help="A ConvLab-3 data file: its original_id (PMUL4648.json) replaces multiwoz21-test-0."),
    ] = None,
    force: Annotated[bool, Option("--force", help="Overwrite the target.")] = False,
    max_bytes: Limit = DEFAULT_LIMIT,
    json: JsonFile = None,
) -> None:
    """Write dialogues in another format, and tell what was kept and what was not."""
    from dialgauge.data import convert as turn_into
    from dialgauge.errors import DialgaugeError

    if str(target) == str(json) == "-":
        raise DialgaugeError("standard output takes the dialogues or --json, not both; name a file for one of them")
    with progress_bar("converting dialogues") as advance:
        done = turn_into(
            source,
            target,
            to=to,
            format=from_,
            force=force,
            limit=max_bytes,
            original_ids=original_ids,
            advance=advance,
        )
    if json is not None:
        _write_record(json, done)
    if not on_screen(json):
        return
    console = err if str(target) == "-" else out
    place = "standard output" if done.target == "-" else done.target
    console.print(
        f"{counted(done.dialogues, 'dialogue')} with {counted(done.turns, 'turn')}: "
        f"{done.source_format} to {done.target_format}, written to {place}",
    )
    for words, counts in (("kept", done.kept), ("reader's notes", done.reading), ("writer's notes", done.writing)):
        if counts:
            items = ", ".join(f"{name} ({count:,})" for name, count in counts.items())
            console.print(f"{words}: {items}")


@app.command("formats")
def list_formats(json: JsonFile = None, wide: WideOption = False) -> None:
    """The formats dialgauge knows, those of other packages too."""
    out.wide = wide
    from dialgauge.formats import DialogueFormat, format_listing
    from dialgauge.report import Table

    table = Table("Formats", ["name", "kind", "reads", "writes", "what it is"])
    for plugin in format_listing():
        known = plugin.content
        if known is None:
            table.add(plugin.name, None, False, False, plugin.reason)
            continue
        writes = isinstance(known, DialogueFormat) and known.writes
        table.add(plugin.name, known.kind, known.kind != "document", writes, known.summary)
    _print_table(table, json)


@app.command("list")
def list_datasets(json: JsonFile = None, wide: WideOption = False) -> None:
    """The datasets dialgauge can fetch, and which are here."""
    out.wide = wide
    from dialgauge.data import catalogue, data_folder, listing, listing_table

    folder = data_folder()
    items = listing(catalogue(), folder)
    if json is not None:
        _write_record(json, items)
    if on_screen(json):
        out.print(listing_table(items, folder).render("terminal"))


@app.command()
def get(
    name: Name,
    offline: Annotated[bool, Option("--offline", help="Use no network.")] = False,
    accept_change: Annotated[
        bool, Option("--accept-change", help="Take files that differ from those of the first download.")
    ] = False,
) -> None:
    """Fetch a dataset, checked and unpacked, whole or not at all; an interrupted download goes on."""
    from dialgauge.data import catalogue, data_folder
    from dialgauge.data import get as fetch_dataset
    from dialgauge.data import offline as no_network

    dataset = catalogue().find(name)
    with _transfer_progress() as watcher:
        done = fetch_dataset(
            dataset, data_folder(), network=not no_network(offline), accept_change=accept_change, watcher=watcher
        )
    if not done.fetched:
        err.print(f"{dataset.title} is already here.")
    for url in done.trusted:
        err.print(
            f"The checksum of {url} is not published: what came was trusted, its checksum is kept, and later downloads "
            "must be the same.",
        )
    err.print(f"Licence: {dataset.licence}. Please cite: {dataset.citation}")
    out.print(str(done.path))


@app.command()
def path(name: Name) -> None:
    """Print the folder a dataset is in."""
    from dialgauge.data import catalogue, data_folder
    from dialgauge.errors import DialgaugeError

    dataset, folder = catalogue().find(name), data_folder()
    place = folder.path(dataset.name)
    if not place.is_dir():
        raise DialgaugeError(f"{name} is not in {folder.root}; 'dialgauge data get {name}' fetches it")
    out.print(str(place))


@app.command()
def verify(
    name: Annotated[str | None, Argument(help="The dataset; all that are here without it.")] = None,
    json: JsonFile = None,
    wide: WideOption = False,
) -> None:
    """Compare every file of a dataset with its checksum. Exit code 1 if one is changed or missing."""
    out.wide = wide
    from dialgauge.data import catalogue, data_folder, verification_table
    from dialgauge.data import verify as compare
    from dialgauge.errors import DialgaugeError

    known, folder = catalogue(), data_folder()
    here = [item for item in known.datasets if folder.path(item.name).is_dir()] if name is None else [known.find(name)]
    if not here:
        raise DialgaugeError(f"no dataset is in {folder.root}; 'dialgauge data list' shows what can be fetched")
    results = [compare(dataset, folder) for dataset in here]
    if json is not None:
        _write_record(json, results)
    if on_screen(json):
        out.print(verification_table(results).render("terminal"))
    raise SystemExit(0 if all(result.sound for result in results) else 1)


@app.command()
def rm(name: Name) -> None:
    """Remove a dataset that dialgauge fetched."""
    from dialgauge.data import catalogue, data_folder, remove
    from dialgauge.errors import DialgaugeError

    dataset, folder = catalogue().find(name), data_folder()
    if not remove(dataset, folder):
        raise DialgaugeError(f"{dataset.title} is not in {folder.root}; 'dialgauge data list' shows what is there")
    err.print(f"{dataset.title} was removed from {folder.root}")


@contextmanager
def _transfer_progress() -> Iterator[Watcher]:
    """A bar for each download, with size, speed and remaining time; nothing where there is no terminal."""
    from rich import progress

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=err.console, transient=True, disable=not err.console.is_terminal) as bars:

        def watch(name: str) -> TransferProgress:
            task = bars.add_task(name, total=None)
            return lambda total, here: bars.update(task, total=total, completed=here)

        yield watch


def _write_record(path: Path, record: object) -> None:
    import msgspec

    write_json(path, msgspec.to_builtins(record))


def _print_table(table: Table, json: Path | None) -> None:
    if json is not None:
        write_json(json, table.records())
    if on_screen(json):
        out.print(table.render("terminal"))
