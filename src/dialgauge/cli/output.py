"""Where results go, the same for every command that scores: screen, files, figures, the run store, the explorer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from dialgauge import comparison, report, runs
from dialgauge.cli import writing
from dialgauge.cli.options import FILE, FOLDER, PATH, option, options
from dialgauge.cli.screen import err, out, progress_bar
from dialgauge.engine import Progress
from dialgauge.errors import DialgaugeError
from dialgauge.kinds import kind_named

if TYPE_CHECKING:
    from dialgauge.cli.gates import Checks
    from dialgauge.runs import Run


#: Stored runs that are named one by one.
_MOST_NAMED = 5


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
        with progress_bar("reading", total) as advance:
            yield advance


def open_run(store: runs.Store, name: str) -> Run:
    """A stored run by id or its beginning, system, tag or ``latest``; which one it is, is said."""
    run = store.open(name)
    if name != run.id:
        err.print(f"{name}: run {run.id}", style="dim")
    return run


@options
class TablesOutput:
    """Where a page goes: to the screen, into files, and as JSON. What cannot be written is refused before the work."""

    json: Path | None = option("--json", type=FILE, help="Write JSON; - for stdout, without tables.")
    table: Path | None = option("--table", type=FILE, help="Write tables: .md .tex .html .csv or .json.")
    wide: bool = option("--wide", is_flag=True, help="Show every column.")

    def __post_init__(self) -> None:
        out.wide = self.wide
        if self.table is not None:
            report.require_format(self.table)

    def present(
        self,
        page: report.Page,
        *,
        runs: Sequence[Run] = (),
        checks: Checks | None = None,
        everything: bool = False,
        screen: report.Page | None = None,
    ) -> None:
        """Write the files that were asked for, and print the page, or a shorter one; its verdict comes last.

        ``runs`` are those whose manifests ``--json`` has; ``everything`` prints all rows and folded texts.
        """
        if self.json is not None:
            document = report.json_document(page, runs, checks.records() if checks else ())
            writing.write_file(self.json, document.encode("utf-8", "backslashreplace"))
        if self.table is not None:
            report.write_page(page, self.table)
        if writing.on_screen(self.json):
            out.page(screen or page, everything=everything)


@options
class PageOutput(TablesOutput):
    """The same for pages with charts."""

    figures: Path | None = option("--figures", type=FOLDER, help="Draw figures into FOLDER, as SVG and PDF.")

    def present(
        self,
        page: report.Page,
        *,
        runs: Sequence[Run] = (),
        checks: Checks | None = None,
        everything: bool = False,
        screen: report.Page | None = None,
    ) -> None:
        """The same, and the figures; they are drawn first."""
        for path in report.write_figures(page, self.figures) if self.figures is not None else ():
            err.print(f"drew {path}")
        super().present(page, runs=runs, checks=checks, everything=everything, screen=screen)


@options
class Output(PageOutput):
    """The same for a command that makes runs, which it stores."""

    store: Path | None = option("--store", type=PATH, metavar="FOLDER", help="Run store [$DIALGAUGE_RUNS or ./runs].")
    no_store: bool = option("--no-store", is_flag=True, help="Keep no run.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.no_store:
            runs.Store(self.store).check_writable()

    def store_runs(self, made: Sequence[Run]) -> list[Run]:
        """Store runs and say which; without a store, they come back as they are."""
        if self.no_store:
            return list(made)
        store = runs.Store(self.store)
        stored = [run if run.stored else store.add(run) for run in made]
        for run in stored[:_MOST_NAMED]:
            err.print(f"stored as run {run.id} in {store.folder}")
        if len(stored) > _MOST_NAMED:
            err.print(f"and {len(stored) - _MOST_NAMED:,} more")
        return stored

    def present(
        self,
        page: report.Page | report.RunSet,
        *,
        runs: Sequence[Run] = (),
        checks: Checks | None = None,
        everything: bool = False,
        screen: report.Page | None = None,
    ) -> None:
        """The same; runs are stored first, and their page is presented, of several systems their comparison."""
        if isinstance(page, report.RunSet):
            stored = report.RunSet(self.store_runs(page.runs))
            page, runs = runs_page(stored), stored.runs
        super().present(page, runs=runs, checks=checks, everything=everything, screen=screen)


def runs_page(results: report.RunSet) -> report.Page:
    """The page of some runs: of one, what there is to say of it; of several, their comparison, if they compare."""
    page = results.page()
    if len(results) == 1:
        return page
    about = {tuple(map(str, map(run.manifest.config.get, kind_named(run.kind).measured_on))) for run in results.runs}
    if len(about) > 1:
        return page
    try:
        view = report.view_of(results.runs[0])
        names = ["scores", *(name for name in view.screen if name in view.compared)]
        compared = comparison.comparison_page(comparison.compare_runs(results.runs), names)
    except DialgaugeError as why:
        return replace(page, verdict=f"Not compared: {why}.")
    warnings = list(dict.fromkeys([*page.warnings, *compared.warnings]))
    notes = [note for note in dict.fromkeys([*page.notes, *compared.notes]) if note not in warnings]
    return replace(compared, warnings=warnings, notes=notes)
