"""What commands share: how inputs are read, where work runs, and where results go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from dialgauge import comparison, engine, formats, report, runs
from dialgauge.cli.options import FILE, FOLDER, PATH, Advanced, Whole, names_of, option, options
from dialgauge.cli.screen import err, on_screen, out, progress_bar, write_file
from dialgauge.engine import Progress
from dialgauge.errors import DialgaugeError
from dialgauge.kinds import kind_named

if TYPE_CHECKING:
    from dialgauge.cli.gates import Checks
    from dialgauge.engine import WorkPlace
    from dialgauge.runs import Run

#: Stored runs that are named one by one.
_MOST_NAMED = 5


@options
class Resampling:
    """How intervals are made."""

    resamples: int = option("--resamples", type=Whole(0, 1_000_000), default=1000, help="For the 95% intervals.")
    seed: int = option("--seed", type=Whole(0), default=0, help="Random seed for resampling.")


@options
class Placement:
    """Where the work runs."""

    engine: str | None = option(
        "--engine",
        metavar="NAME",
        shell_complete=names_of("engine", "ENGINES"),
        cls=Advanced,
        help="Where work runs: local, pool (processes) or ray.",
    )
    address: str | None = option(
        "--address", metavar="HOST:PORT", cls=Advanced, help="Ray cluster: HOST:PORT, or auto."
    )
    workers: int | None = option(
        "--workers", type=Whole(0, 512), cls=Advanced, help="Number of workers; 0 for one per core."
    )

    def __post_init__(self) -> None:
        engine.checked_place(self.place)

    @property
    def place(self) -> WorkPlace:
        return engine.WorkPlace(self.engine, self.workers, self.address)


def named_systems(arguments: Sequence[str]) -> list[str] | dict[str, str]:
    """Files of systems; a mapping of names to files if any is given as NAME=FILE."""
    parts = [_name_and_file(text) for text in arguments]
    if not any(name for name, _ in parts):
        return list(arguments)
    own = formats.system_names([file for _, file in parts])
    names = [name or usual for (name, _), usual in zip(parts, own, strict=True)]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DialgaugeError(f"two systems are called '{twice}'; give each a name of its own (NAME=FILE)")
    return {name: file for name, (_, file) in zip(names, parts, strict=True)}


def _name_and_file(text: str) -> tuple[str, str]:
    """A system's name, empty where none is given, and its file."""
    from glob import glob

    name, _, file = text.partition("=")
    named = name.strip() and file and "/" not in name and not Path(text).exists() and not glob(text)
    return (name.strip(), file) if named else ("", text)


class OnScreen(Progress):
    """Bars and sentences on standard error."""

    def say(self, text: str) -> None:
        err.print(text, style="dim")

    @contextmanager
    def bar(self, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        with progress_bar(what, total) as advance:
            yield advance


# Where results go. What cannot be written is refused before the work.


@options
class Stored:
    """The store of a command that shows runs."""

    store: Path | None = option("--store", type=PATH, metavar="FOLDER", help="Run store [$DIALGAUGE_RUNS or ./runs].")

    @property
    def folder(self) -> runs.Store:
        """The run store."""
        return runs.Store(self.store)

    def open(self, name: str) -> Run:
        """A run by id or its beginning, system, tag or ``latest``; which one it is, is said."""
        run = self.folder.open(name)
        if name != run.id:
            err.print(f"{name}: run {run.id}", style="dim")
        return run


@options
class Json:
    """A page on the screen, and as JSON."""

    json: Path | None = option("--json", type=FILE, help="Write JSON; - for stdout, without tables.")

    def present(
        self,
        page: report.Page,
        *,
        runs: Sequence[Run] = (),
        checks: Checks | None = None,
        everything: bool | None = None,
        screen: report.Page | None = None,
    ) -> None:
        """Write the files that were asked for, and print the page, or a shorter one.

        ``runs`` are those whose manifests ``--json`` has; ``everything`` prints all rows and folded texts, and is None
        for a command without ``--all``.
        """
        self.write(page, runs, checks)
        if on_screen(self.json):
            more = "--all" if everything is not None else self.more_rows(runs)
            out.page(screen or page, everything=bool(everything), more=more)

    def more_rows(self, runs: Sequence[Run]) -> str:
        """How to get all rows from a command without ``--all``."""
        return "--json FILE has all"

    def write(self, page: report.Page, runs: Sequence[Run] = (), checks: Checks | None = None) -> None:
        """Write the files that were asked for."""
        if self.json is not None:
            document = report.json_document(page, runs, checks.records() if checks else ())
            write_file(self.json, document.encode("utf-8", "backslashreplace"))


@options
class Tables(Json):
    """JSON, and tables in a file."""

    table: Path | None = option("--table", type=FILE, help="Write tables: .md .tex .html .csv or .json.")

    def __post_init__(self) -> None:
        if self.table is not None:
            report.require_format(self.table)

    def write(self, page: report.Page, runs: Sequence[Run] = (), checks: Checks | None = None) -> None:
        super().write(page, runs, checks)
        if self.table is not None:
            report.write_page(page, self.table)


@options
class Figures(Tables):
    """JSON, tables, and figures."""

    figures: Path | None = option("--figures", type=FOLDER, help="Draw figures into FOLDER, as SVG and PDF.")

    def write(self, page: report.Page, runs: Sequence[Run] = (), checks: Checks | None = None) -> None:
        super().write(page, runs, checks)
        for path in report.write_figures(page, self.figures) if self.figures is not None else ():
            err.print(f"drew {path}")


@options
class Output(Tables):
    """JSON and tables of a command that makes runs, and where it stores them."""

    store: Path | None = option("--store", type=PATH, metavar="FOLDER", help="Run store [$DIALGAUGE_RUNS or ./runs].")
    no_store: bool = option("--no-store", is_flag=True, help="Keep no run.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folder is not None:
            self.folder.check_writable()

    @property
    def folder(self) -> runs.Store | None:
        """The run store; None without one."""
        return None if self.no_store else runs.Store(self.store)

    def more_rows(self, runs: Sequence[Run]) -> str:
        return "dialgauge show latest --all" if self.folder and len(runs) == 1 else super().more_rows(runs)

    def store_runs(self, made: Sequence[Run]) -> list[Run]:
        """Store runs and say which; without a store, they come back as they are."""
        if self.folder is None:
            return list(made)
        stored = [run if run.stored else self.folder.add(run) for run in made]
        for run in stored[:_MOST_NAMED]:
            err.print(f"stored as run {run.id} in {self.folder.folder}")
        if len(stored) > _MOST_NAMED:
            err.print(f"and {len(stored) - _MOST_NAMED:,} more")
        return stored

    def present_runs(self, results: report.RunSet, checks: Checks | None = None, *, named: bool = False) -> None:
        """Store the runs and present their page, of several systems their comparison; ``named`` as in runs_page."""
        stored = report.RunSet(self.store_runs(results.runs))
        self.present(runs_page(stored, named=named), runs=stored.runs, checks=checks)


def runs_page(results: report.RunSet, *, named: bool = False) -> report.Page:
    """The page of some runs: of one, what there is to say of it; of several, their comparison, if they compare.

    ``named``: the user named the measures, so all that the runs share are compared and shown.
    """
    page = results.page()
    if len(results) == 1:
        return page
    about = {tuple(map(str, map(run.manifest.config.get, kind_named(run.kind).measured_on))) for run in results.runs}
    if len(about) > 1:
        return page
    try:
        view = report.view_of(results.runs[0])
        names = ["scores", *(name for name in view.screen if name in view.compared)]
        compared = comparison.comparison_page(comparison.compare_runs(results.runs, every_measure=named), names)
    except DialgaugeError as why:
        return replace(page, verdict=f"Not compared: {why}.")
    warnings = list(dict.fromkeys([*page.warnings, *compared.warnings]))
    notes = [note for note in dict.fromkeys([*page.notes, *compared.notes]) if note not in warnings]
    return replace(compared, warnings=warnings, notes=notes)
