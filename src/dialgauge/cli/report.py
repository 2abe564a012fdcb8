"""``dialgauge report``: runs as one file to mail."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dialgauge import explorer, runs as run_store
from dialgauge.cli import writing
from dialgauge.cli.app import command
from dialgauge.cli.options import FILE, PATH, RUN, Whole
from dialgauge.cli.screen import err, out
from dialgauge.text import plain

if TYPE_CHECKING:
    from dialgauge.runs import Run, Store

_MAILABLE = 5_000_000


@command("report")
@click.argument(
    "runs", nargs=-1, required=True, metavar="RUN...", type=RUN, help="Runs (ids, systems, tags or latest)."
)
@click.option("-o", "--out", "html", type=FILE, default=Path("report.html"), help="HTML file to write.")
@click.option("--markdown", "markdown", type=FILE, help="Also write a Markdown page; - for stdout.")
@click.option("-n", "--dialogues", "dialogues", type=Whole(0, 5000), default=40, help="Number of dialogues to include.")
@click.option(
    "--dialogue",
    "dialogue",
    multiple=True,
    metavar="ID",
    help="Include this dialogue instead of selected ones; repeatable.",
)
@click.option("--title", "title", default="", show_default=False, help="Title of the page.")
@click.option(
    "--redact",
    "redact",
    is_flag=True,
    help="Replace personal data, found by its shape, by field names in tool calls, and by what users know.",
)
@click.option("--store", "store", type=PATH, metavar="FOLDER", help="Run store [$DIALGAUGE_RUNS or ./runs].")
def app(
    runs: tuple[str, ...],
    html: Path,
    markdown: Path | None,
    dialogues: int,
    dialogue: tuple[str, ...],
    title: str,
    redact: bool,
    store: Path | None,
) -> None:
    """Write runs as one self-contained HTML file: answers, scores, charts and selected dialogues.

    Several runs of one kind are compared, with their dialogues side by side, biggest differences first.
    """
    opened = run_store.Store(store)
    chosen = list({run.id: run for name in runs for run in _named(opened, name)}.values())
    if runs == ("latest",):
        err.print(f"latest: {', '.join(run.name for run in chosen)}")
    if redact:
        chosen, redactor = explorer.redacted_runs(chosen)
        err.print(plain(redactor.sentence()))
    with err.status("writing the report"):
        explorer.write_report(html, chosen, dialogues=dialogues, only=dialogue or (), title=title)
    if markdown is not None:
        writing.write_file(markdown, explorer.report_markdown(chosen).encode())
    size = html.stat().st_size
    err.print(f"{html}: {size / 1e6:.1f} MB")
    if size > _MAILABLE:
        err.print("That is large for an e-mail; reduce it with --dialogues.")
    screen = out if writing.on_screen(markdown) else err
    screen.print(f"Open {html.resolve().as_uri()}")


def _named(store: Store, name: str) -> list[Run]:
    """The run of a name; of ``latest`` all runs that its command stored, as when it scored several systems."""
    run = store.open(name)
    if name != "latest":
        return [run]
    newest_first = sorted(store.list(), key=lambda manifest: manifest.created, reverse=True)
    own = takewhile(lambda manifest: manifest.command == run.manifest.command, newest_first)
    return [store.open(manifest.id) for manifest in reversed(list(own))]
