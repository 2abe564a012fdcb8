"""``dialgauge compare``: which system is better, and by which measure; from trackers' files or any stored runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from dialgauge.cli.choices import PROFILES, measures_of, names_of
from dialgauge.cli.common import (
    CoverageOption,
    ExcludeOption,
    FigureFormatOption,
    FiguresOption,
    GoldFormatOption,
    JsonOption,
    PredFormatOption,
    RunOption,
    SeedOption,
    StoreOption,
    TableOption,
    ViewOption,
    WideOption,
    check_table,
    draw_figures,
    figure_kinds,
    on_screen,
    write_document,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option, WholeNumber, application
from dialgauge.cli.screen import err, out
from dialgauge.text import split_at_commas

if TYPE_CHECKING:
    from dialgauge.comparison import Comparison, ComparisonOptions
    from dialgauge.report import Table
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
        why="a comparison is its tests and intervals, all from resamples",
        help="Resamples for tests and intervals.",
    ),
]
ConfidenceOption = Annotated[
    float,
    Option(
        "--confidence",
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
PairsOption = Annotated[bool, Option("--pairs", help="Print every pair of systems; files always list them.")]
SweepOption = Annotated[bool, Option("--sweep", help="Show FGA over λ, and where the ranking changes.")]
ShowOption = Annotated[
    int,
    Option(
        metavar="N",
        min=0,
        help="Show the N dialogues where the first system differs most from each other one, and the turn.",
    ),
]
ShowByOption = Annotated[
    str | None,
    Option(
        metavar="MEASURE",
        known=measures_of("tracking", several=False),
        help="Measure that ranks dialogues for --show. Default: the first.",
    ),
]
RatingsOption = Annotated[
    Path | None,
    Option(metavar="FILE", help="Correlate with human ratings: CSV with columns dialogue, rater, rating."),
]
RatedOption = Annotated[
    str | None, Option(metavar="SYSTEM", help="Which system was rated, if the ratings file does not say.")
]
ToOption = Annotated[
    str,
    Option(
        "--to",
        metavar="FORMAT",
        known=names_of("report", "FORMATS"),
        help="Output format: terminal, markdown, latex, html, csv or json.",
    ),
]


#: How the id of a run begins; files are rarely called so.
_RUN = re.compile(r"\d{8}(-\d{0,6}(-[a-z0-9-]*)?)?")


@app.command()
def main(
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="GOLD PRED PRED... | RESULTS RESULTS... | RUN RUN...",
            help="The gold file, then two or more prediction files ('self' in place of GOLD uses the gold inside "
            "PRED); or agent results (tau-bench, tau2-bench); or stored runs of any kind (ids or unique prefixes).",
        ),
    ] = None,
    systems: Annotated[
        Path | None,
        Option(metavar="FILE", help="Instead of files: a CSV table of systems and scores, as printed in papers."),
    ] = None,
    measures: MeasuresOption = None,
    profile: Annotated[
        str | None,
        Option(
            "--profile",
            "-p",
            metavar="NAME|FILE",
            known=PROFILES,
            help="Value-matching rules: a profile name or a YAML file.",
        ),
    ] = None,
    coverage: CoverageOption = "intersection",
    missing: MissingOption = "shared",
    exclude: ExcludeOption = None,
    gold_format: GoldFormatOption = None,
    pred_format: PredFormatOption = None,
    resamples: ResamplesOption = 10_000,
    seed: SeedOption = 0,
    level: ConfidenceOption = 0.95,
    pairs: PairsOption = False,
    correlation: CorrelationOption = None,
    sweep: SweepOption = False,
    show: ShowOption = 0,
    show_by: ShowByOption = None,
    ratings: RatingsOption = None,
    rated: RatedOption = None,
    to: ToOption = "terminal",
    table: TableOption = None,
    json: JsonOption = None,
    figures: FiguresOption = None,
    figure_format: FigureFormatOption = "svg",
    run: RunOption = False,
    view: ViewOption = False,
    store: StoreOption = None,
    wide: WideOption = False,
) -> int:
    """Compare systems: scores with letters and ranks, paired tests, what the test set can resolve.

    Exit code: 0 done, 1 a system lacks dialogues or turns that were to be compared, 2 nothing could be compared.
    """
    out.wide = wide
    output = ComparisonOutput(to, table, json, figures, figure_format, view, store, run)
    request = Request(pairs, correlation, sweep, show, show_by, ratings, rated)
    scoring = {
        "--profile": profile,
        "--exclude": exclude,
        "--gold-format": gold_format,
        "--pred-format": pred_format,
    }
    if systems is not None:
        needs_dialogues = {"--correlation": correlation, "--sweep": sweep, "--show": show, "--ratings": ratings}
        arguments = {"GOLD PRED PRED": files, "--measures": measures, "--run": run, "--view": view}
        _refuse("--systems compares only a table of scores", {**arguments, **scoring, **needs_dialogues})
        _present_systems(systems, output)
        return 0
    from dialgauge.errors import DialgaugeError

    if not files:
        raise DialgaugeError(
            "nothing to compare: give a gold file and two or more prediction files (dialgauge compare GOLD PRED PRED), "
            "or stored runs (dialgauge compare RUN RUN)"
        )
    if _are_runs(files, store):
        own_coverage = coverage if coverage != "intersection" else None
        _refuse("stored runs are already scored", {**scoring, "--coverage": own_coverage, "--run": run})
        return compare_stored(files, store, measures, resamples, seed, level, missing, request, output)
    if len(files) < 3:  # before it is said that they are too few: a missing file is
        _require_files(files)
    if _are_results(files):
        own_coverage = coverage if coverage != "intersection" else None
        _refuse("agent results are already scored", {**scoring, "--coverage": own_coverage})
        from dialgauge.tasks import score_results

        scored = score_results(files, resamples=0)
        return compare_stored(scored, store, measures, resamples, seed, level, missing, request, output)
    from dialgauge.tracking import compare
    from dialgauge.values import DEFAULT_PROFILE

    with err.status("scoring and comparing"):
        comparison = compare(
            files[0],
            files[1:],
            measures=measures or None,
            profile=profile or DEFAULT_PROFILE,
            coverage=coverage,
            missing=missing,
            exclude=exclude or (),
            resamples=resamples,
            seed=seed,
            level=level,
            gold_format=gold_format,
            pred_format=pred_format,
        )
    for name, each in comparison.runs.items():
        err.print(f"{name} ({profile or DEFAULT_PROFILE}): {each.coverage.sentence()}")
    return present(comparison, request.options(comparison.systems), output)


def compare_stored(
    runs: Sequence[Run | str],
    store: Path | None,
    measures: Sequence[str] | None,
    resamples: int,
    seed: int,
    level: float,
    missing: str,
    request: Request,
    output: ComparisonOutput,
) -> int:
    """Compare runs, stored ones or such as were just scored, without their inputs."""
    from dialgauge.comparison import compare_runs

    names = _names(measures or ())
    comparison = compare_runs(
        runs, store=store, measures=names or None, resamples=resamples, seed=seed, level=level, missing=missing
    )
    return present(comparison, request.options(comparison.systems), output)


def _are_runs(arguments: Sequence[str], store: Path | None) -> bool:
    """Whether the arguments name stored runs: not where one is a file; with a store they do."""
    if any(argument == "self" or Path(argument).exists() for argument in arguments):
        return False
    return store is not None or all(_RUN.fullmatch(argument) for argument in arguments)


def _require_files(files: Sequence[str]) -> None:
    from dialgauge.formats import expand

    for name in files:
        if name != "self":
            expand(name)


def _are_results(files: Sequence[str]) -> bool:
    """Whether the arguments are results of agents; the first one's content says it."""
    if not Path(files[0]).is_file():
        return False
    from dialgauge.tasks import are_results

    return are_results(files)


def _names(measures: Sequence[str]) -> list[str]:
    """Measures by the names that runs have them under; commas inside parentheses belong to a name."""
    return [name.strip() for text in measures for name in split_at_commas(text) if name.strip()]


def _refuse(why: str, options: Mapping[str, object]) -> None:
    from dialgauge.errors import DialgaugeError

    unfit = [name for name, value in options.items() if value]
    if unfit:
        raise DialgaugeError(f"{why}; leave out {', '.join(unfit)}")


def _present_systems(path: Path, output: ComparisonOutput) -> None:
    from dialgauge.comparison import read_system_table, spread_figure, system_table_json, system_tables

    read = read_system_table(path)
    figures = {"mean_spread": lambda: spread_figure(read)}
    tables = system_tables(read)
    _write(lambda: tables, lambda: tables, lambda: system_table_json(read), lambda: figures, output, "compare-systems")


@dataclass(frozen=True)
class ComparisonOutput:
    """Where a comparison goes. What cannot be written is refused before the work begins."""

    to: str
    table: Path | None
    json: Path | None
    figures: Path | None
    figure_format: str
    view: bool = False
    store: Path | None = None
    run: bool = False

    def __post_init__(self) -> None:
        from dialgauge.errors import DialgaugeError, nearest
        from dialgauge.report import FORMATS

        if self.view:
            from dialgauge.cli.explore import require_explorer

            require_explorer()
        if self.run:
            from dialgauge.runs import Store

            Store(self.store).check_writable()
        if self.to not in FORMATS:
            raise DialgaugeError(f"unknown output format '{self.to}' for --to.{nearest(self.to, FORMATS)}")
        check_table(self.table)
        figure_kinds(self.figure_format, self.figures)


@dataclass(frozen=True)
class Request:
    """What to show beyond scores and tests, as the options say it."""

    pairs: bool
    correlation: str | None
    sweep: bool
    show: int
    show_by: str | None
    ratings: Path | None
    rated: str | None

    def __post_init__(self) -> None:
        from dialgauge.errors import DialgaugeError

        if self.show_by is not None and not self.show:
            raise DialgaugeError("--show-by needs --show N, the number of dialogues to show")
        if self.rated is not None and self.ratings is None:
            raise DialgaugeError("--rated needs --ratings FILE, the file of ratings")
        self.correlations()

    def correlations(self) -> tuple[str, ...]:
        """The names of the correlations."""
        from dialgauge.stats import CORRELATIONS, correlation

        if self.correlation is None or self.correlation == "all":
            return tuple(CORRELATIONS) if self.correlation else ()
        correlation(self.correlation)
        return (self.correlation,)

    def options(self, systems: tuple[str, ...]) -> ComparisonOptions:
        """The same, checked against the systems."""
        from dialgauge.comparison import ComparisonOptions, assigned, read_ratings

        ratings = assigned(read_ratings(self.ratings), systems, self.rated) if self.ratings else {}
        extras = ("sweep",) if self.sweep else ()
        return ComparisonOptions(self.correlations(), extras, self.show, self.show_by, ratings, self.pairs)


def present(comparison: Comparison, options: ComparisonOptions, output: ComparisonOutput) -> int:
    """Print, write and draw a comparison; the exit code says whether it is complete."""
    from dialgauge.comparison import (
        comparison_figures,
        comparison_json,
        comparison_tables,
        missing_sentences,
        screen_tables,
    )

    screen = out if on_screen(output.json) and output.to == "terminal" else err
    told = missing_sentences(comparison)
    if told:
        screen.print("\n".join(f"{sentence}." for sentence in told) + "\n")
    _write(
        lambda: comparison_tables(comparison, options),
        lambda: screen_tables(comparison, options),
        lambda: comparison_json(comparison, options),
        lambda: comparison_figures(comparison, options),
        output,
        "compare",
    )
    runs = list(comparison.runs.values())
    if output.run:
        from dialgauge.runs import Store

        place = Store(output.store)
        runs = [place.add(run) for run in runs]
        for run in runs:
            err.print(f"stored as run {run.id} in {place.folder}")
    if output.view:
        from dialgauge.cli.explore import view_runs

        view_runs(runs, output.store)
    return 0 if comparison.complete else EXIT_INCOMPLETE


def _write(
    tables: Callable[[], Sequence[Table]],
    screen: Callable[[], Sequence[Table]],
    content: Callable[[], dict[str, Any]],
    figures: Callable[[], Mapping[str, Callable[[], Any]]],
    output: ComparisonOutput,
    schema: str,
) -> None:
    """Tables to the screen and to a file, JSON, and figures, as far as each was asked for."""
    from dialgauge.report import render_tables, write_tables

    if output.table is not None:
        write_tables(tables(), output.table)
    if output.json is not None:
        write_document(output.json, schema, content())
    if output.figures is not None:
        draw_figures(figures(), output.figures, output.figure_format)
    if not on_screen(output.json):
        return
    if output.to != "terminal":
        out.write(render_tables(tables(), output.to))
        return
    for one in screen():
        out.print(one.render("terminal"))
        out.print()
