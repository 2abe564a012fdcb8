"""Where results go, the same for every command that scores: screen, files, figures, the run store, the explorer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialgauge import comparison, rendering, report, runs
from dialgauge.cli import common, writing
from dialgauge.cli.options import PATH, option, options, typed_options
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


@options
class Output(common.DrawnOutput):
    """Where results go. What cannot be written is refused before the work begins."""

    run: bool = option(
        "--run", is_flag=True, help="Store the results in the run store, one run per system. --store implies it."
    )
    store: Path | None = option(
        "--store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
    )

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
class AlwaysStoredOutput(Output):
    """The same for a command that always stores its runs."""

    run: bool = option(
        "--run",
        is_flag=True,
        help="Store the results in the run store. This command always does, with or without --run.",
    )

    @property
    def always(self) -> bool:
        return True


@options
class ViewedOutput(Output):
    """The same for a command that also opens its runs in the explorer, which must be stored for that."""

    view: bool = option(
        "--view", is_flag=True, help="Store the results and open them in the explorer (Ctrl-C stops it)."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.view:
            from dialgauge.cli.explore import require_explorer

            require_explorer()

    @property
    def always(self) -> bool:
        return self.view

    def present(self, results: rendering.RunSet, *schema: str, **how: Any) -> list[Run]:
        """The same, and then the explorer."""
        runs = super().present(results, *schema, **how)
        if self.view:
            from dialgauge.cli.explore import view_runs

            view_runs(runs, self.store)
        return runs


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
