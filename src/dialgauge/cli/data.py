"""``dialgauge data``: look at files, convert them, and keep datasets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from dialgauge import data as datasets
from dialgauge.cli.app import group
from dialgauge.cli.options import DATASETS, FORMATS, PATH, bundle
from dialgauge.cli.output import Json
from dialgauge.cli.screen import err, on_screen, out, progress_bar
from dialgauge.errors import DialgaugeError
from dialgauge.formats import proposed_mapping, read as read_corpus
from dialgauge.redaction import redactor_of
from dialgauge.text import counted
from dialgauge.worlds import domain, tools

data = group("data", "Inspect and convert dialogue files, and download datasets.")


@data.command()
@click.argument(
    "source",
    nargs=-1,
    required=True,
    help="Files, folders, patterns, archives, the folder of a domain, or - for stdin.",
)
@click.option("--format", metavar="NAME", shell_complete=FORMATS, help="Input format, or a mapping (a YAML file).")
@click.option(
    "--load-tools",
    is_flag=True,
    help="Import the tools.py of a domain's folder, which runs it, to check it and its tasks.",
)
@bundle(output=Json)
def check(
    source: tuple[str, ...],
    format: str | None,
    load_tools: bool,
    output: Json,
) -> int:
    """Report how a file is read, what it holds, and its problems.

    'dialgauge score' says how predictions fit a gold file and an ontology.

    A domain's folder (with a domain.yaml) is read without running its tools.py, unless --load-tools is given. That code
    runs with your permissions.

    Exit code: 0 no problems, 1 problems that make scores incomplete, 2 nothing could be read.
    """
    folder = Path(source[0])
    if (folder / "domain.yaml").is_file():
        if len(source) > 1:
            raise DialgaugeError("the folder of a domain is checked alone", file=source[0])
        if tools.is_tool_domain(folder):
            output.present(tools.check_tool_domain(folder, datasets.data_folder().root, load_tools=load_tools))
        else:
            output.present(domain.check_domain(folder))
        return 0
    with progress_bar("reading dialogues") as advance:
        report = datasets.check(source, format=format, advance=advance)
    if report.exit_code == 2 and (len(report.unread) == 1 or not on_screen(output.json)):
        first, *others = report.unread
        more = f"; the same goes for {counted(len(others), 'other file')}" if others else ""
        raise DialgaugeError(f"{first.why}{more}", file=first.file)
    output.present(datasets.check_page(report))
    return report.exit_code


@data.command()
@click.argument("source", help="File, folder, pattern, archive, or - for stdin.")
@click.argument("target", type=PATH, help="File to write, - for stdout; gzipped if the name ends in .gz.")
@click.option(
    "--to",
    required=True,
    metavar="NAME",
    shell_complete=FORMATS,
    help="Output format, for example native (docs/formats.md).",
)
@click.option("--format", metavar="NAME", shell_complete=FORMATS, help="Input format; overrides format detection.")
@click.option("--redact", is_flag=True, help="Replace personal data, as far as rules find it.")
def convert(
    source: str,
    target: Path,
    to: str,
    format: str | None,
    redact: bool,
) -> None:
    """Convert dialogues to another format, and report what is lost."""
    redactor = redactor_of(read_corpus(source, format=format).dialogues) if redact else None
    with progress_bar("converting dialogues") as advance:
        done = datasets.convert(
            source,
            target,
            to=to,
            format=format,
            change=redactor.dialogue if redactor is not None else lambda dialogue: dialogue,
            advance=advance,
        )
    if redactor is not None:
        err.print(redactor.sentence())
    screen = err if str(target) == "-" else out
    screen.print(
        f"{counted(done.dialogues, 'dialogue')} with {counted(done.turns, 'turn')}: {done.source_format} to "
        f"{done.target_format}, written to {'standard output' if done.target == '-' else done.target}"
    )
    notes = {"kept": done.kept, "reader's notes": done.reading, "writer's notes": done.writing}
    for words, counts in notes.items():
        if counts:
            screen.print(f"{words}: {', '.join(f'{what} ({count:,})' for what, count in counts.items())}")


@data.command("map")
@click.argument("file", help="A file that no format reads.")
def map_file(file: str) -> None:
    """Propose a mapping for a file.

    It is YAML: read it, correct it, save it beside the file as FILE.map.yaml."""
    out.print(proposed_mapping(file).rstrip())


@data.command("list")
@bundle(output=Json)
def list_datasets(output: Json) -> None:
    """List datasets that can be downloaded, and which are present."""
    output.present(datasets.listing_page(datasets.catalogue(), datasets.data_folder()))


@data.command()
@click.argument("name", shell_complete=DATASETS, help="Dataset name (see 'dialgauge data list').")
def get(name: str) -> None:
    """Download, verify and unpack a dataset, and print its folder.

    Interrupted downloads resume."""
    dataset = datasets.catalogue().find(name)
    with _transfer_progress() as watcher:
        done = datasets.get(dataset, datasets.data_folder(), network=not datasets.offline(), watcher=watcher)
    if not done.fetched:
        err.print(f"{dataset.title} is already downloaded.")
    for url in done.trusted:
        err.print(f"No checksum is published for {url}: it was not verified.")
    err.print(f"Licence: {dataset.licence}. Please cite: {dataset.citation}")
    out.print(str(done.path))


@contextmanager
def _transfer_progress() -> Iterator[datasets.Watcher]:
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

        def watch(name: str) -> datasets.TransferProgress:
            task = bars.add_task(name, total=None)
            return lambda total, here: bars.update(task, total=total, completed=here)

        yield watch
