"""``dialgauge compare``: which system is better, and by which measure; from trackers' files or any stored runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dialgauge.cli.common import (
    CoverageOption,
    ExcludeOption,
    FigureFormatOption,
    FiguresOption,
    GoldFormatOption,
    PredFormatOption,
    StoreOption,
    ViewOption,
    WideOption,
    err,
    on_screen,
    out,
    write_json,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option, OutputFile, application

if TYPE_CHECKING:
    from dialgauge.comparison import Comparison, ComparisonOptions
    from dialgauge.report import Table
    from dialgauge.runs import Run

app = application("Is B better than A, or is it noise? Paired tests over dialogues, and measures about measures.")

MeasuresOption = Annotated[
    list[str] | None, Option("--measures", "-m", help="Measures, comma-separated: JGA, FGA@0.5, ...")
]
ResamplesOption = Annotated[int, Option(min=1, max=1_000_000, help="Resamples of dialogues for tests and intervals.")]
SeedOption = Annotated[int, Option(min=0, help="Seed of the resampling; part of the signature.")]
LevelOption = Annotated[float, Option(help="Level of the intervals, between 0 and 1.")]
CorrelationOption = Annotated[
    str | None,
    Option(metavar="KIND", help="Also correlations of the measures: pearson, spearman, kendall or all."),
]
MissingOption = Annotated[
    str,
    Option(
        metavar="HOW",
        help="Where a system lacks dialogues: 'shared' compares what all have, 'empty' scores them as empty states, "
        "'without' leaves the system out, 'refuse' stops.",
    ),
]
PairsOption = Annotated[bool, Option("--pairs", help="Also print every pair of systems; files have them always.")]
SweepOption = Annotated[bool, Option("--sweep", help="Also FGA over λ, and where trackers change places.")]
ShowOption = Annotated[
    int,
    Option(
        metavar="N",
        min=0,
        help="Also the N dialogues where the first system diverges most from each other, with the turn.",
    ),
]
ShowByOption = Annotated[
    str | None, Option(metavar="MEASURE", help="The measure that --show goes by; the first one without it.")
]
RatingsOption = Annotated[
    Path | None,
    Option(metavar="FILE", help="Also correlation with human ratings: CSV with dialogue, rater, rating."),
]
RatedOption = Annotated[
    str | None, Option(metavar="SYSTEM", help="Which system was rated, where the ratings file does not say.")
]
FormatOption = Annotated[str, Option("--format", help="How to print: terminal, markdown, latex, html, csv or json.")]
TableOption = Annotated[
    Path | None, OutputFile(metavar="FILE", help="Also write the tables as .md, .tex, .html, .csv or .json.")
]
JsonOption = Annotated[
    Path | None, OutputFile(metavar="FILE", help="Also write everything as JSON; - is standard output.")
]


#: How the id of a run begins; files are rarely called so.
_RUN = re.compile(r"\d{8}(-\d{0,6}(-[a-z0-9-]*)?)?")


@app.command()
def main(
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="GOLD PRED PRED... | RESULTS RESULTS... | RUN RUN...",
            help="The gold file, then two prediction files or more ('self' in place of GOLD uses the gold inside "
            "PRED); or results of agents (tau-bench, tau2-bench); or ids of stored runs of any kind, or their "
            "beginnings.",
        ),
    ] = None,
    systems: Annotated[
        Path | None,
        Option(metavar="FILE", help="Instead of files: a CSV table of systems and their scores, as papers print."),
    ] = None,
    measures: MeasuresOption = None,
    profile: Annotated[
        str | None, Option("--profile", "-p", help="When two values are the same: a name or a YAML file.")
    ] = None,
    coverage: CoverageOption = "intersection",
    missing: MissingOption = "shared",
    exclude: ExcludeOption = None,
    gold_format: GoldFormatOption = None,
    pred_format: PredFormatOption = None,
    resamples: ResamplesOption = 10_000,
    seed: SeedOption = 0,
    level: LevelOption = 0.95,
    pairs: PairsOption = False,
    correlation: CorrelationOption = None,
    sweep: SweepOption = False,
    show: ShowOption = 0,
    show_by: ShowByOption = None,
    ratings: RatingsOption = None,
    rated: RatedOption = None,
    format: FormatOption = "terminal",
    table: TableOption = None,
    json: JsonOption = None,
    figures: FiguresOption = None,
    figure_format: FigureFormatOption = "svg",
    view: ViewOption = False,
    store: StoreOption = None,
    wide: WideOption = False,
) -> int:
    """Compare systems: scores with letters and ranks, paired tests, what the test set can resolve.

    Exit code: 0 done, 1 a system lacks dialogues or turns that were to be compared, 2 nothing could be compared.
    """
    out.wide = wide
    output = ComparisonOutput(format, table, json, figures, figure_format, view, store)
    request = Request(pairs, correlation, sweep, show, show_by, ratings, rated)
    scoring = {
        "--profile": profile,
        "--exclude": exclude,
        "--gold-format": gold_format,
        "--pred-format": pred_format,
    }
    if systems is not None:
        needs_dialogues = {"--correlation": correlation, "--sweep": sweep, "--show": show, "--ratings": ratings}
        arguments = {"GOLD PRED PRED": files, "--store": store, "--measures": measures, "--view": view}
        _refuse("--systems takes only a table of scores", {**arguments, **scoring, **needs_dialogues})
        _present_systems(systems, output)
        return 0
    from dialgauge.errors import DialgaugeError

    if not files:
        raise DialgaugeError(
            "name the gold file and two prediction files or more (dialgauge compare GOLD PRED PRED), "
            "or stored runs (dialgauge compare RUN RUN)"
        )
    if _are_runs(files, store):
        own_coverage = coverage if coverage != "intersection" else None
        _refuse("stored runs are scored already", {**scoring, "--coverage": own_coverage})
        return compare_stored(files, store, measures, resamples, seed, level, missing, request, output)
    if _are_results(files):
        own_coverage = coverage if coverage != "intersection" else None
        _refuse("results of agents are judged already", {**scoring, "--coverage": own_coverage})
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
    for name, run in comparison.runs.items():
        err.print(f"{name} ({profile or DEFAULT_PROFILE}): {run.coverage.sentence()}")
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


def _are_results(files: Sequence[str]) -> bool:
    """Whether the arguments are results of agents; the first one's content says it."""
    if not Path(files[0]).is_file():
        return False
    from dialgauge.tasks import are_results

    return are_results(files)


def _names(measures: Sequence[str]) -> list[str]:
    """Measures by the names that runs have them under; commas inside parentheses belong to a name."""
    return [name.strip() for text in measures for name in re.split(r",(?![^(\[]*[)\]])", text) if name.strip()]


def _refuse(why: str, options: Mapping[str, object]) -> None:
    from dialgauge.errors import DialgaugeError

    unfit = [name for name, value in options.items() if value]
    if unfit:
        raise DialgaugeError(f"{why}, so leave out {', '.join(unfit)}")


def _present_systems(path: Path, output: ComparisonOutput) -> None:
    from dialgauge.comparison import read_system_table, spread_figure, system_table_json, system_tables

    read = read_system_table(path)
    figures = {"mean_spread": lambda: spread_figure(read)}
    tables = system_tables(read)
    _write(lambda: tables, lambda: tables, lambda: system_table_json(read), lambda: figures, output)


@dataclass(frozen=True)
class ComparisonOutput:
    """Where a comparison goes. What cannot be written is refused before the work begins."""

    format: str
    table: Path | None
    json: Path | None
    figures: Path | None
    figure_format: str
    view: bool = False
    store: Path | None = None

    def __post_init__(self) -> None:
        from dialgauge.errors import DialgaugeError, nearest
        from dialgauge.report import FORMATS, format_of

        if self.view:
            from dialgauge.cli.explore import require_explorer

            require_explorer()

        if self.format not in FORMATS:
            raise DialgaugeError(f"there is no table format '{self.format}'.{nearest(self.format, FORMATS)}")
        if self.table is not None:
            format_of(self.table)
        if self.figures is not None:
            from dialgauge.report import ENDINGS

            known = [ending.removeprefix(".") for ending in ENDINGS]
            if self.figure_format not in known:
                raise DialgaugeError(
                    f"there is no figure format '{self.figure_format}'.{nearest(self.figure_format, known)}"
                )


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
            raise DialgaugeError("--show-by needs --show N: say how many dialogues to show")
        if self.rated is not None and self.ratings is None:
            raise DialgaugeError("--rated needs --ratings FILE: name the file of ratings")
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

    screen = out if on_screen(output.json) and output.format == "terminal" else err
    told = missing_sentences(comparison)
    if told:
        screen.print("\n".join(f"{sentence}." for sentence in told) + "\n")
    _write(
        lambda: comparison_tables(comparison, options),
        lambda: screen_tables(comparison, options),
        lambda: comparison_json(comparison, options),
        lambda: comparison_figures(comparison),
        output,
    )
    if output.view:
        from dialgauge.cli.explore import view_runs

        view_runs(list(comparison.runs.values()), output.store)
    return 0 if comparison.complete else EXIT_INCOMPLETE


def _write(
    tables: Callable[[], Sequence[Table]],
    screen: Callable[[], Sequence[Table]],
    content: Callable[[], dict[str, Any]],
    figures: Callable[[], Mapping[str, Callable[[], Any]]],
    output: ComparisonOutput,
) -> None:
    """Tables to the screen and to a file, JSON, and figures, as far as each was asked for."""
    from dialgauge.report import render_tables, write_tables

    if output.table is not None:
        write_tables(tables(), output.table)
    if output.json is not None:
        write_json(output.json, content())
    if output.figures is not None:
        draw_all(figures(), output.figures, output.figure_format)
    if not on_screen(output.json):
        return
    if output.format != "terminal":
        out.write(render_tables(tables(), output.format))
        return
    for one in screen():
        out.print(one.render("terminal"))
        out.print()


def draw_all(figures: Mapping[str, Callable[[], Any]], folder: Path, figure_format: str) -> None:
    """Draw figures into a folder, and say which."""
    from dialgauge.report import save_all

    for path in save_all({folder / f"{name}.{figure_format}": draw for name, draw in figures.items()}):
        err.print(f"drew {path}")
