"""``dialgauge compare``: which system is better, and by which measure; from trackers' files or any stored runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from dialgauge import comparison, formats, rendering, runs, stats, trials, values
from dialgauge.cli import common, writing
from dialgauge.cli.app import EXIT_INCOMPLETE, command
from dialgauge.cli.options import (
    FORMATS,
    PATH,
    PROFILES,
    RUN,
    Real,
    Whole,
    bundle,
    measures_of,
    option,
    options,
    refuse,
    typed_options,
)
from dialgauge.cli.screen import err, out
from dialgauge.errors import DialgaugeError
from dialgauge.text import note_kind, split_at_commas

if TYPE_CHECKING:
    from dialgauge.runs import Run


#: Notes on how a file was read.
_READ = ("read_as", "outside_inventory")
#: How the id of a run begins; files are rarely called so.
_RUN = re.compile(r"\d{8}(-\d{0,6}(-[a-z0-9-]*)?)?")


@options
class Testing:
    """What is compared, and how differences are tested."""

    measures: tuple[str, ...] = option(
        "-m",
        "--measures",
        multiple=True,
        metavar="NAMES",
        shell_complete=measures_of("tracking"),
        help="Measures, comma-separated: JGA, FGA@0.5, ...",
    )
    resamples: int = option(
        "--resamples", type=Whole(1, 1_000_000), default=10000, help="Resamples for tests and intervals of differences."
    )
    seed: int = option("--seed", type=Whole(0), default=0, help="Random seed for resampling.")
    confidence: float = option(
        "--confidence",
        type=Real(0, 1, min_open=True, max_open=True),
        default=0.95,
        metavar="LEVEL",
        help="Confidence level of intervals; differences are significant where p < 1 - LEVEL.",
    )
    missing: Literal["shared", "empty", "without", "refuse"] = option(
        "--missing",
        type=click.Choice(["shared", "empty", "without", "refuse"]),
        default="shared",
        help="When a system lacks dialogues: 'shared' compares those all systems have, 'empty' scores them as empty "
        "states, 'without' drops the system, 'refuse' stops.",
    )

    @property
    def names(self) -> list[str]:
        """Measures by the names that runs have them under; commas inside parentheses belong to a name."""
        return [name.strip() for text in self.measures or () for name in split_at_commas(text) if name.strip()]


@options
class TrackerInputs(common.Inputs):
    """How files of trackers are read and matched."""

    profile: str | None = option(
        "-p",
        "--profile",
        metavar="NAME|FILE",
        shell_complete=PROFILES,
        help="Value-matching rules: a profile name or a YAML file.",
    )


@options
class ComparisonOutput(common.DrawnOutput):
    """Where a comparison goes. What cannot be written is refused before the work begins."""

    view: bool = option(
        "--view", is_flag=True, help="Store the results and open them in the explorer (Ctrl-C stops it)."
    )
    store: Path | None = option(
        "--store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
    )
    run: bool = option(
        "--run", is_flag=True, help="Store the results in the run store, one run per system. --store implies it."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.view:
            from dialgauge.cli.explore import require_explorer

            require_explorer()
        if self.stores:
            runs.Store(self.store).check_writable()

    @property
    def stores(self) -> bool:
        """Whether the runs are stored: a typed --store means --run."""
        return self.run or typed_options("store", "view") == ["--store"]


@options
class Request:
    """What to show beyond scores and tests, as the options say it."""

    pairs: bool = option("--pairs", is_flag=True, help="Print every pair of systems; files always list them.")
    detail: bool = option(
        "--detail", is_flag=True, help="Also show resolution, spread and ranks; files always have them."
    )
    correlation: Literal["pearson", "spearman", "kendall", "all"] | None = option(
        "--correlation",
        type=click.Choice(["pearson", "spearman", "kendall", "all"]),
        help="Show correlations between measures: pearson, spearman, kendall or all.",
    )
    sweep: bool = option("--sweep", is_flag=True, help="Show FGA over λ, and where the ranking changes.")
    show: int = option(
        "--show",
        type=Whole(0),
        default=0,
        help="Show the N dialogues where the first system differs most from each other one, and the turn.",
    )
    show_by: str | None = option(
        "--show-by",
        metavar="MEASURE",
        shell_complete=measures_of("tracking", several=False),
        help="Measure that ranks dialogues for --show. Default: the first.",
    )
    ratings: Path | None = option(
        "--ratings", type=PATH, help="Correlate with human ratings: CSV with columns dialogue, rater, rating."
    )
    rated: str | None = option(
        "--rated", metavar="SYSTEM", help="Which system was rated, if the ratings file does not say."
    )

    def correlations(self) -> tuple[str, ...]:
        """The names of the correlations."""
        if self.correlation is None or self.correlation == "all":
            return tuple(stats.CORRELATIONS) if self.correlation else ()
        return (self.correlation,)

    def options(self, systems: tuple[str, ...]) -> comparison.ComparisonOptions:
        """The options as the comparison takes them, checked against the systems."""
        ratings = (
            comparison.assigned(comparison.read_ratings(self.ratings), systems, self.rated) if self.ratings else {}
        )
        extras = ("sweep",) if self.sweep else ()
        return comparison.ComparisonOptions(
            self.correlations(), extras, self.show, self.show_by, ratings, self.pairs, self.detail
        )


@command("compare")
@click.argument(
    "files",
    nargs=-1,
    metavar="GOLD PRED PRED... | RESULTS RESULTS... | RUN RUN...",
    type=RUN,
    help="The gold file, then two or more prediction files, each FILE or NAME=FILE ('self' in place of GOLD uses the "
    "gold inside PRED); or logs of agents (chat messages, inspect, OpenTelemetry, Langfuse, tau; files or "
    "folders); or stored runs (ids, systems, tags or latest).",
)
@click.option(
    "--systems", "systems", type=PATH, help="Instead of files: a CSV table of systems and scores, as printed in papers."
)
@click.option(
    "--format", "format", metavar="NAME", shell_complete=FORMATS, help="Input format; overrides format detection."
)
@bundle(inputs=TrackerInputs, testing=Testing, request=Request, output=ComparisonOutput)
def app(
    files: tuple[str, ...],
    systems: Path | None,
    format: str | None,
    inputs: TrackerInputs,
    testing: Testing,
    request: Request,
    output: ComparisonOutput,
) -> int:
    """Compare systems: scores with letters and ranks, paired tests, what the test set can resolve.

    Exit code: 0 done, 1 a system lacks dialogues or turns that were to be compared, 2 nothing could be compared.
    """
    if systems is not None:
        refuse(
            "--systems compares only a table of scores", TrackerInputs, Testing, Request, names=("files", "run", "view")
        )
        _present_systems(systems, output)
        return 0
    if not files:
        raise DialgaugeError(
            "nothing to compare: give a gold file and two or more prediction files (dialgauge compare GOLD PRED PRED), "
            "or stored runs (dialgauge compare RUN RUN)"
        )
    if _are_runs(files, output.store):
        refuse("stored runs are already scored", TrackerInputs, names=("run", "format"))
        return _compare_stored(files, testing, request, output)
    if format or _are_results(files, output.store):
        refuse("agent results are already scored", TrackerInputs)
        return _compare_stored(files, testing, request, output, format)
    if len(files) < 3:  # before it is said that they are too few: a missing file is
        _require_files(files)
    from dialgauge import compare

    profile = inputs.profile or values.DEFAULT_PROFILE
    with err.status("scoring and comparing"):
        comparison = compare(
            files[0],
            common.named_systems(files[1:]),
            measures=testing.measures or None,
            profile=profile,
            coverage=inputs.coverage,
            missing=testing.missing,
            exclude=inputs.exclude or (),
            resamples=testing.resamples,
            seed=testing.seed,
            level=testing.confidence,
            gold_format=inputs.gold_format,
            pred_format=inputs.pred_format,
            turns=inputs.turns,
            rename=inputs.rename,
            accept=inputs.accept or (),
        )
    for name, each in comparison.runs.items():
        notes = [note for note in each.notes if note_kind(note) in _READ]
        err.print("; ".join([f"{name} ({profile}): {each.coverage.sentence()}", *notes]))
    return _present(comparison, request.options(comparison.systems), output)


def _compare_stored(
    runs: Sequence[Run | str],
    testing: Testing,
    request: Request,
    output: ComparisonOutput,
    format: str | None = None,
) -> int:
    """Compare runs, stored ones or results of agents, without their inputs."""
    from dialgauge import compare

    comparison = compare(
        list(runs),
        store=output.store,
        measures=testing.names or None,
        resamples=testing.resamples,
        seed=testing.seed,
        level=testing.confidence,
        missing=testing.missing,
        format=format,
    )
    return _present(comparison, request.options(comparison.systems), output)


def _are_runs(arguments: Sequence[str], store: Path | None) -> bool:
    """Whether the arguments name stored runs: not where one is a file; with a store they do."""
    if any(argument == "self" or Path(argument).exists() for argument in arguments):
        return False
    return store is not None or all(_RUN.fullmatch(argument) or _is_stored(argument) for argument in arguments)


def _is_stored(name: str, store: Path | None = None) -> bool:
    """Whether the store has a run of this name: a system's, a tag, ``latest``."""
    try:
        return bool(runs.Store(store).resolve(name))
    except DialgaugeError:
        return name.partition(":")[0] == "latest"


def _require_files(files: Sequence[str]) -> None:
    for name in files:
        if name != "self":
            formats.expand(name)


def _are_results(names: Sequence[str], store: Path | None) -> bool:
    """Whether logs of agents are named, some stored runs among them perhaps; the content of the first says it."""
    from dialgauge.api import is_input

    inputs = [name for name in names if is_input(name)]
    others = [name for name in names if name not in inputs]
    if not inputs or not all(_is_stored(name, store) for name in others) or not trials.are_results(inputs):
        return False
    for name in inputs:
        if _is_stored(name, store):
            err.print(f"{name}: compared is the file or folder of this name, not the stored run")
    return True


def _present_systems(path: Path, output: ComparisonOutput) -> None:
    read = comparison.read_system_table(path)
    figures = {"mean_spread": lambda: comparison.spread_figure(read)}
    tables = comparison.system_tables(read)
    _write(
        lambda: tables,
        lambda: tables,
        lambda: comparison.system_table_json(read),
        lambda: figures,
        output,
        "compare-systems",
    )


def _present(compared: comparison.Comparison, options: comparison.ComparisonOptions, output: ComparisonOutput) -> int:
    """Print, write and draw a comparison; the exit code says whether it is complete."""
    for note in compared.reading_notes:
        err.print(f"{note}.")
    screen = out if output.on_screen else err
    missing = comparison.missing_sentences(compared)
    if missing:
        screen.print("\n".join(f"{sentence}." for sentence in missing) + "\n")
    _write(
        lambda: comparison.comparison_tables(compared, options),
        lambda: comparison.screen_tables(compared, options),
        lambda: comparison.comparison_json(compared, options),
        lambda: comparison.comparison_figures(compared, options),
        output,
        "compare",
    )
    writing.print_sentence(f"{compared.verdict}.", screen)
    shown = list(compared.runs.values())
    if output.stores and not all(run.stored for run in compared.runs.values()):
        store = runs.Store(output.store)
        shown = [store.add(run) for run in compared.runs_with_intervals()]
        for run in shown:
            err.print(f"stored as run {run.id} in {store.folder}")
    if output.view:
        from dialgauge.cli.explore import view_runs

        view_runs(shown, output.store)
    return 0 if compared.complete else EXIT_INCOMPLETE


def _write(
    tables: Callable[[], Sequence[rendering.Table]],
    screen: Callable[[], Sequence[rendering.Table]],
    content: Callable[[], dict[str, Any]],
    figures: Callable[[], Mapping[str, Callable[[], Any]]],
    output: ComparisonOutput,
    schema: str,
) -> None:
    """Tables to the screen and to a file, JSON, and figures, as far as each was asked for."""
    if output.table is not None:
        rendering.write_tables(tables(), output.table, intervals=out.wide)
    if output.json is not None:
        output.document(schema, content())
    if output.figures is not None:
        output.draw(figures())
    for table in screen() if output.on_screen else ():
        out.print(table.render("terminal"))
        out.print()
