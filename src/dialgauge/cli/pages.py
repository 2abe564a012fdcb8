"""``dialgauge explore``: the run store as web pages; ``dialgauge report``: runs as one file to mail."""

from __future__ import annotations

import os
import sys
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dialgauge import explorer
from dialgauge.cli.app import command
from dialgauge.cli.options import FILE, RUN, Whole, bundle
from dialgauge.cli.output import Stored
from dialgauge.cli.screen import err, on_screen, out, write_file
from dialgauge.errors import DialgaugeError, missing_extra
from dialgauge.text import plain

if TYPE_CHECKING:
    from dialgauge.runs import Run, Store

#: What brings the packages for web pages.
EXTRA = "explorer"
_MAILABLE = 5_000_000


@command("explore")
@click.argument(
    "runs",
    nargs=-1,
    metavar="[RUN...]",
    type=RUN,
    help="Open this run, or compare these (ids, systems, tags or latest).",
)
@click.option("--port", type=Whole(0, 65_535), help="Port to listen on. Default: 8642, or the next free one.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@bundle(store=Stored)
def explore(runs: tuple[str, ...], port: int | None, no_open: bool, store: Stored) -> None:
    """Browse runs: scores, charts, dialogues, comparisons.

    Labels and notes on dialogues are saved in the store. Nothing leaves this machine, and nothing is downloaded.
    """
    if (missing := missing_explorer()) is not None:
        raise missing
    opened = store.folder

    def ready(address: str) -> None:
        out.print(f"Explorer of {opened.folder} at {address}")
        err.print("Press Ctrl-C to stop.")
        if not no_open and _has_screen():
            import webbrowser

            webbrowser.open(address)

    path = explorer.page_address([opened.open(name).id for name in runs])
    explorer.serve(opened, port=port, path=path, ready=ready)


def _has_screen() -> bool:
    """Whether a browser would get a window of its own; one for the terminal would take it over."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def missing_explorer() -> DialgaugeError | None:
    """What to say where the extra that serves pages is not installed."""
    from importlib.util import find_spec

    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            return missing_extra(package, EXTRA, "Looking at runs in the browser")
    return None


@command("report")
@click.argument(
    "runs", nargs=-1, required=True, metavar="RUN...", type=RUN, help="Runs (ids, systems, tags or latest)."
)
@click.option("-o", "--out", "html", type=FILE, default=Path("report.html"), help="HTML file to write.")
@click.option("--markdown", type=FILE, help="Also write a Markdown page; - for stdout.")
@click.option("-n", "--dialogues", type=Whole(0, 5000), default=40, help="Number of dialogues to include.")
@click.option(
    "--dialogue", multiple=True, metavar="ID", help="Include this dialogue instead of selected ones; repeatable."
)
@click.option(
    "--redact",
    is_flag=True,
    help="Replace personal data, found by its shape, by field names in tool calls, and by what users know.",
)
@bundle(store=Stored)
def report(
    runs: tuple[str, ...],
    html: Path,
    markdown: Path | None,
    dialogues: int,
    dialogue: tuple[str, ...],
    redact: bool,
    store: Stored,
) -> None:
    """Write runs as one self-contained HTML file: answers, scores, charts and selected dialogues.

    Several runs of one kind are compared, with their dialogues side by side, biggest differences first.
    """
    chosen = list({run.id: run for name in runs for run in _named(store.folder, name)}.values())
    if runs == ("latest",):
        err.print(f"latest: {', '.join(run.name for run in chosen)}")
    if redact:
        chosen, redactor = explorer.redacted_runs(chosen)
        err.print(plain(redactor.sentence()))
    with err.status("writing the report"):
        explorer.write_report(html, chosen, dialogues=dialogues, only=dialogue)
    if markdown is not None:
        write_file(markdown, explorer.report_markdown(chosen).encode())
    size = html.stat().st_size
    err.print(f"{html}: {size / 1e6:.1f} MB")
    if size > _MAILABLE:
        err.print("That is large for an e-mail; reduce it with --dialogues.")
    screen = out if on_screen(markdown) else err
    screen.print(f"Open {html.resolve().as_uri()}")


def _named(store: Store, name: str) -> list[Run]:
    """The run of a name; of ``latest`` all runs that its command stored, as when it scored several systems."""
    run = store.open(name)
    if name != "latest":
        return [run]
    own = takewhile(lambda manifest: manifest.command == run.manifest.command, reversed(store.list()))
    return [store.open(manifest.id) for manifest in reversed(list(own))]
