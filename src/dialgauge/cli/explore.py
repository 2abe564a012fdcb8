"""``dialgauge explore``: the run store as web pages."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dialgauge import explorer, runs as run_store
from dialgauge.cli.app import command
from dialgauge.cli.options import PATH, RUN, Whole
from dialgauge.cli.screen import err, out
from dialgauge.errors import DialgaugeError, missing_extra

if TYPE_CHECKING:
    from dialgauge.runs import Run, Store

#: What brings the packages for web pages.
EXTRA = "explorer"


@command("explore")
@click.argument(
    "runs",
    nargs=-1,
    metavar="[RUN...]",
    type=RUN,
    help="Open this run, or compare these (ids, systems, tags or latest).",
)
@click.option("--read", "read", type=Whole(1, 1000), help="Open the N-th conversation that RUN says to read first.")
@click.option("--port", "port", type=Whole(0, 65_535), help="Port to listen on. Default: 8642, or the next free one.")
@click.option("--no-open", "no_open", is_flag=True, help="Do not open a browser.")
@click.option("--store", "store", type=PATH, metavar="FOLDER", help="Run store [$DIALGAUGE_RUNS or ./runs].")
def app(runs: tuple[str, ...], read: int | None, port: int | None, no_open: bool, store: Path | None) -> None:
    """Browse runs: scores, charts, dialogues, comparisons.

    Labels and notes on dialogues are saved in the store. Nothing leaves this machine, and nothing is downloaded.
    """
    require_explorer()
    opened = run_store.Store(store)
    chosen = [opened.open(name) for name in runs or ()]
    path = ""
    if read is not None:
        if len(chosen) != 1:
            raise DialgaugeError("--read opens a conversation of one run: name that run")
        path = explorer.reading_address(chosen[0], read)
    show_pages(opened, chosen, path=path, port=port, browser=not no_open)


def show_pages(
    store: Store,
    runs: Sequence[Run],
    *,
    path: str = "",
    port: int | None = None,
    browser: bool = True,
) -> None:
    """Serve the explorer, opened at some runs or at a page of its own, until the keyboard stops it."""

    def ready(address: str) -> None:
        out.print(f"Explorer of {store.folder} at {address}")
        err.print("Press Ctrl-C to stop.")
        if browser and _has_screen():
            import webbrowser

            webbrowser.open(address)

    opened = path or explorer.page_address([run.id for run in runs])
    explorer.serve(store, port=port, path=opened, ready=ready)


def _has_screen() -> bool:
    """Whether a browser would get a window of its own; one for the terminal would take it over."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def require_explorer() -> None:
    """An error now, before the work, where the pages could not be shown after it."""
    if (missing := missing_explorer()) is not None:
        raise missing


def missing_explorer() -> DialgaugeError | None:
    """What to say where the extra that serves pages is not installed."""
    from importlib.util import find_spec

    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            return missing_extra(package, EXTRA, "Looking at runs in the browser")
    return None
