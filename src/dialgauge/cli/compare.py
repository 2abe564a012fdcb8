"""``dialgauge compare``: which system is better, and by which measure; from trackers' files or any stored runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Struct

from dialgauge import comparison, formats, rendering, runs, stats, tasks, values
from dialgauge.cli import common, writing
from dialgauge.cli.choices import PROFILES, measures_of
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option, WholeNumber, application
from dialgauge.cli.output import refuse
from dialgauge.cli.screen import err, out
from dialgauge.errors import DialgaugeError
from dialgauge.text import note_kind, split_at_commas

if TYPE_CHECKING:
    from dialgauge.runs import Run

app = application("Is B better than A, or is it noise? Paired tests over dialogues, and measures about measures.")

MeasuresOption = Annotated[
    list[str] | None,
    Option(
        "--measures",
        "-m",
        metavar="NAMES",
        known=measures_of("tracking"),
        help="Measures, comma-separated: JGA, FGA@0.5, ...",
    ),
]
ResamplesOption = Annotated[
    int,
    WholeNumber(
        of="resamples",
        min=1,
        why="a comparison is its tests, all from resamples",
        help="Resamples for tests and intervals of differences.",
    ),
]
ConfidenceOption = Annotated[
    float,
    Option(
        metavar="LEVEL",
        min=0,
        max=1,
        exclusive=True,
        example=0.95,
        help="Confidence level of intervals; differences are significant where p < 1 - LEVEL.",
    ),
]
CorrelationOption = Annotated[
    Literal["pearson", "spearman", "kendall", "all"] | None,
    Option(metavar="KIND", help="Show correlations between measures: pearson, spearman, kendall or all."),
]
MissingOption = Annotated[
    Literal["shared", "empty", "without", "refuse"],
    Option(
        metavar="HOW",
        help="When a system lacks dialogues: 'shared' compares those all systems have, 'empty' scores them as empty "
        "states, 'without' drops the system, 'refuse' stops.",
    ),
]
PairsOption = Annotated[bool, Option(help="Print every pair of systems; files always list them.")]
SweepOption = Annotated[bool, Option(help="Show FGA over λ, and where the ranking changes.")]
ShowOption = Annotated[
    int,
    Option(min=0, help="Show the N dialogues where the first system differs most from each other one, and the turn."),
]
ShowByOption = Annotated[
    str | None,
    Option(
        metavar="MEASURE",
        needs="--show",
        known=measures_of("tracking", several=False),
        help="Measure that ranks dialogues for --show. Default: the first.",
    ),
]
RatingsOption = Annotated[
    Path | None, Option(help="Correlate with human ratings: CSV with columns dialogue, rater, rating.")
]
RatedOption = Annotated[
    str | None,
    Option(metavar="SYSTEM", needs="--ratings", help="Which system was rated, if the ratings file does not say."),
]
DetailOption = Annotated[bool, Option(help="Also show resolution, spread and ranks; files always have them.")]

#: Notes on how a file was read.
_READ = ("understood", "outside_inventory")
#: How the id of a run begins; files are rarely called so.
_RUN = re.compile(r"\d{8}(-\d{0,6}(-[a-z0-9-]*)?)?")


class Testing(Struct, frozen=True):
    """What is compared, and how differences are tested."""

    not_with: ClassVar = ("--systems",)
    measures: MeasuresOption = None
    resamples: ResamplesOption = 10_000
    seed: common.SeedOption = 0
    confidence: ConfidenceOption = 0.95
    missing: MissingOption = "shared"

    @property
    def names(self) -> list[str]:
        """Measures by the names that runs have them under; commas inside parentheses belong to a name."""
        return [name.strip() for text in self.measures or () for name in split_at_commas(text) if name.strip()]


class TrackerInputs(common.Inputs, frozen=True):
    """How files of trackers are read and matched."""

    profile: Annotated[
        str | None,
        Option(
            "--profile",
            "-p",
            metavar="NAME|FILE",
            known=PROFILES,
            help="Value-matching rules: a profile name or a YAML file.",
        ),
    ] = None


class ComparisonOutput(common.DrawnOutput, frozen=True):
    """Where a comparison goes. What cannot be written is refused before the work begins."""

    view: common.ViewOption = False
    store: common.StoreOption = None
    run: common.RunOption = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.view:
            from dialgauge.cli.explore import require_explorer

            require_explorer()
        if self.run:
            runs.Store(self.store).check_writable()


class Request(Struct, frozen=True):
    """What to show beyond scores and tests, as the options say it."""

    not_with: ClassVar = ("--systems",)
    pairs: PairsOption = False
    detail: DetailOption = False
    correlation: CorrelationOption = None
    sweep: SweepOption = False
    show: ShowOption = 0
    show_by: ShowByOption = None
    ratings: RatingsOption = None
    rated: RatedOption = None

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


@app.command()
def main(
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="GOLD PRED PRED... | RESULTS RESULTS... | RUN RUN...",
            not_with=("--systems",),
            help="The gold file, then two or more prediction files, each FILE or NAME=FILE ('self' in place of "
            "GOLD uses the gold inside PRED); or logs of agents (chat messages, inspect, OpenTelemetry, Langfuse, tau; "
            "files or folders); or stored runs (ids, systems, tags or latest).",
        ),
    ] = None,
    systems: Annotated[
        Path | None,
        Option(
            alone="--systems compares only a table of scores",
            help="Instead of files: a CSV table of systems and scores, as printed in papers.",
        ),
    ] = None,
    format: common.FormatOption = None,
    *,
    inputs: TrackerInputs,
    testing: Testing,
    request: Request,
    output: ComparisonOutput,
) -> int:
    """Compare systems: scores with letters and ranks, paired tests, what the test set can resolve.

    Exit code: 0 done, 1 a system lacks dialogues or turns that were to be compared, 2 nothing could be compared.
    """
    if systems is not None:
        _present_systems(systems, output)
        return 0
    if not files:
        raise DialgaugeError(
            "nothing to compare: give a gold file and two or more prediction files (dialgauge compare GOLD PRED PRED), "
            "or stored runs (dialgauge compare RUN RUN)"
        )
    if _are_runs(files, output.store):
        refuse("stored runs are already scored", inputs, run=output.run, format=format)
        return _compare_stored(files, testing, request, output)
    if format or _are_results(files, output.store):
        refuse("agent results are already scored", inputs)
        return _compare_stored(files, testing, request, output, format)
    if len(files) < 3:  # before it is said that they are too few: a missing file is
        _require_files(files)
    if not inputs.gold_format:
        tasks.refuse_unknown(files)
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
    if not inputs or not all(_is_stored(name, store) for name in others) or not tasks.are_results(inputs):
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
    if output.run:
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
