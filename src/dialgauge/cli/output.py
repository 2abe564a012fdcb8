"""Where results go, the same for every command that scores: screen, files, figures, the run store, the explorer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from dialgauge import comparison, rendering, report, runs
from dialgauge.cli import common, writing
from dialgauge.cli.options import FILE, FOLDER, PATH, option, options, typed_options
from dialgauge.cli.screen import err, out, progress_bar
from dialgauge.engine import Progress
from dialgauge.errors import DialgaugeError
from dialgauge.kinds import kind_named

if TYPE_CHECKING:
    from dialgauge.cli.gates import Checks
    from dialgauge.runs import Run


#: Options that read from the store or write to it themselves, by click's names.
_USE_STORE = ("from_runs", "from_run", "fail_on_drop", "view")
#: Sets of dialogues, such as the splits of a task, up to which each has its verdict.
_MOST_VERDICTS = 3
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


@options
class OldOutput(common.DrawnOutput):
    """Where results of commands go that have not moved to pages yet."""

    run: bool = option(
        "--run", is_flag=True, help="Store the results in the run store, one run per system. --store implies it."
    )
    store: Path | None = option("--store", type=PATH, metavar="FOLDER", help="Run store [$DIALGAUGE_RUNS or ./runs].")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stores:
            runs.Store(self.store).check_writable()

    @property
    def always(self) -> bool:
        """Whether runs are stored without being asked for."""
        return False

    @property
    def stores(self) -> bool:
        """Whether runs are stored: a typed --store means --run, unless it says where stored runs are."""
        return self.run or self.always or typed_options("store", *_USE_STORE) == ["--store"]

    def present(
        self,
        results: rendering.RunSet,
        schema: str = "tables",
        *,
        tables: Sequence[rendering.Table],
        texts: Sequence[rendering.Table | str] = (),
        in_files: Callable[[], Sequence[rendering.Table]] | None = None,
        document: Callable[[], Mapping[str, Any]] | None = None,
        checks: Checks | None = None,
        figures: Callable[[], Mapping[str, Callable[[], Any]]] | None = None,
        tested: bool = True,
        title: str | None = None,
    ) -> list[Run]:
        """Print tables, texts and verdicts, write the files that were asked for, and return the runs, stored if asked.

        ``in_files`` are the tables of ``--table``, where they are longer than those on the screen, ``title`` that of a
        page of them; ``figures`` stand for those of the results. Unless ``tested``, nothing is said of who is ahead
        among several systems. Where no ``schema`` is named, ``--json`` has the tables beside the scores.
        """
        if self.on_screen:
            for index, part in enumerate((*tables, *texts)):
                if index:
                    out.print()
                out.print(part if isinstance(part, str) else part.render("terminal"))
            for sentence in _verdicts(results, tested=tested):
                out.print()
                writing.print_sentence(sentence)
        in_all = in_files or (lambda: tables)
        if self.table is not None:
            writing.write_table_file(in_all(), self.table, title)
        if self.json is not None:
            checked = checks.document() if checks else {}
            listed = writing.tables_document(in_all()) if schema == "tables" else {}
            writing.write_document(self.json, schema, {**(document or results.document)(), **listed, **checked})
        if self.stores and not all(run.stored for run in results.runs):
            results = self.save(results)
        if self.figures is not None:
            self.draw((figures or results.figures)())
        return results.runs

    def save(self, results: rendering.RunSet) -> rendering.RunSet:
        """Store the runs, and say which."""
        store = runs.Store(self.store)
        stored = results.save(store)
        for run in stored.runs:
            err.print(f"stored as run {run.id} in {store.folder}")
        return stored


@options
class AlwaysStoredOutput(OldOutput):
    """The same for a command that always stores its runs."""

    run: bool = option(
        "--run",
        is_flag=True,
        help="Store the results in the run store. This command always does, with or without --run.",
    )

    @property
    def always(self) -> bool:
        return True


def _verdicts(results: rendering.RunSet, *, tested: bool) -> Iterator[str]:
    """One verdict for each set of runs about the same dialogues; none if there are many such sets."""
    groups: dict[tuple[Any, ...], list[Run]] = {}
    for run in results.runs:
        about = tuple(run.manifest.config.get(key) for key in kind_named(run.kind).measured_on)
        groups.setdefault(about, []).append(run)
    if len(groups) <= _MOST_VERDICTS:
        yield from filter(None, (_verdict(runs, tested=tested) for runs in groups.values()))


def _verdict(runs: Sequence[Run], *, tested: bool) -> str:
    """Which of several runs is best and how sure that is, or the verdict of a single run."""
    if len(runs) == 1:
        return report.view_of(runs[0]).verdict(runs[0])
    if not tested or len({run.name for run in runs}) < len(runs):
        return ""
    try:
        return f"{comparison.compare_runs(runs).verdict}."
    except DialgaugeError as why:
        return f"No verdict: {why}"
