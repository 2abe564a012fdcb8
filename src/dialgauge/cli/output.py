"""Where results go, the same for every command that scores: screen, files, figures, the run store, the explorer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialgauge.cli.common import (
    check_table,
    draw_figures,
    figure_kinds,
    kept_for_good,
    on_screen,
    write_document,
    write_table_file,
)
from dialgauge.cli.screen import err, out, progress_bar
from dialgauge.engine import Progress

if TYPE_CHECKING:
    from dialgauge.report import RunSet, Table
    from dialgauge.runs import Run


class OnScreen(Progress):
    """Bars and sentences on standard error."""

    def say(self, text: str) -> None:
        err.print(text, style="dim")

    @contextmanager
    def bar(self, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        with progress_bar(what, total) as advance:
            yield advance

    @contextmanager
    def reading(self, total: int | None = None) -> Iterator[Callable[[int], None]]:
        with kept_for_good(), progress_bar("reading", total) as advance:
            yield advance


@dataclass(frozen=True)
class Output:
    """Where results go. What cannot be written is refused before the work begins."""

    json: Path | None = None
    table: Path | None = None
    figures: Path | None = None
    figure_format: str = "svg"
    run: bool = False
    view: bool = False
    store: Path | None = None

    def __post_init__(self) -> None:
        check_table(self.table)
        figure_kinds(self.figure_format, self.figures)
        if self.view:
            from dialgauge.cli.explore import require_explorer

            require_explorer()
        if self.run or self.view:
            from dialgauge.runs import Store

            Store(self.store).check_writable()

    def present(
        self,
        results: RunSet,
        schema: str,
        *,
        tables: Sequence[Table],
        texts: Sequence[Table | str] = (),
        in_files: Callable[[], Sequence[Table]] | None = None,
        document: Callable[[], Mapping[str, Any]] | None = None,
    ) -> list[Run]:
        """Print tables, then texts, and write what was asked for; the runs, stored where that was asked for.

        ``in_files`` are the tables of ``--table``, where they are longer than those on the screen.
        """
        if on_screen(self.json):
            for place, part in enumerate((*tables, *texts)):
                if place:
                    out.print()
                out.print(part if isinstance(part, str) else part.render("terminal"))
        if self.table is not None:
            write_table_file(in_files() if in_files else tables, self.table)
        if self.json is not None:
            write_document(self.json, schema, (document or results.document)())
        if (self.run or self.view) and not all(run.stored for run in results.runs):
            results = self.save(results)
        if self.figures is not None:
            draw_figures(results.figures(), self.figures, self.figure_format)
        if self.view:
            from dialgauge.cli.explore import view_runs

            view_runs(results.runs, self.store)
        return results.runs

    def save(self, results: RunSet) -> RunSet:
        """Store the runs, and say which."""
        from dialgauge.runs import Store

        place = Store(self.store)
        stored = results.save(place)
        for run in stored.runs:
            err.print(f"stored as run {run.id} in {place.folder}")
        return stored


def refuse(why: str, options: Mapping[str, object]) -> None:
    """An error where options were given that have no use here."""
    if unfit := [name for name, value in options.items() if value]:
        from dialgauge.errors import DialgaugeError

        raise DialgaugeError(f"{why}; leave out {', '.join(unfit)}")
