"""Progress of downloads on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dialgauge.data.fetch import Progress
from dialgauge.data.install import Watcher

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def transfer_bars(console: Console) -> Iterator[Watcher]:
    """A bar for each download, with size, speed and remaining time; nothing where there is no terminal."""
    from rich import progress

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:

        def watch(name: str) -> Progress:
            task = bars.add_task(name, total=None)
            return lambda total, here: bars.update(task, total=total, completed=here)

        yield watch
