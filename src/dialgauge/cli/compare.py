"""``dialgauge compare``: which tracker is better, and by which measure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from dialgauge.cli import comparing
from dialgauge.cli.common import (
    CoverageOption,
    ExcludeOption,
    FigureFormatOption,
    FiguresOption,
    GoldFormatOption,
    PredFormatOption,
    application,
    err,
)

app = application("Is B better than A, or is it noise? Paired tests over dialogues, and measures about measures.")


@app.command()
def main(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GOLD PRED PRED...",
            help="The gold file, then two prediction files or more; 'self' in place of GOLD uses the gold inside PRED.",
        ),
    ] = None,
    systems: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Instead of files: a CSV table of systems and their scores, as papers print."
        ),
    ] = None,
    measures: Annotated[
        list[str] | None, typer.Option("--measures", "-m", help="Measures, comma-separated: JGA, FGA@0.5, ...")
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", "-p", help="When two values are the same: a name or a YAML file.")
    ] = None,
    coverage: CoverageOption = "intersection",
    exclude: ExcludeOption = None,
    gold_format: GoldFormatOption = None,
    pred_format: PredFormatOption = None,
    resamples: comparing.ResamplesOption = 10_000,
    seed: comparing.SeedOption = 0,
    level: comparing.LevelOption = 0.95,
    correlation: comparing.CorrelationOption = None,
    sweep: comparing.SweepOption = False,
    show: comparing.ShowOption = 0,
    show_by: comparing.ShowByOption = None,
    ratings: comparing.RatingsOption = None,
    rated: comparing.RatedOption = None,
    format: comparing.FormatOption = "terminal",
    table: comparing.TableOption = None,
    json: comparing.JsonOption = None,
    figures: FiguresOption = None,
    figure_format: FigureFormatOption = "svg",
) -> None:
    """Compare trackers: scores with intervals, paired tests, what the test set can resolve, and how measures differ."""
    output = comparing.ComparisonOutput(format, table, json, figures, figure_format)
    asked = comparing.Asked(correlation, sweep, show, show_by, ratings, rated)
    if systems is not None:
        _refuse(
            {
                "GOLD PRED PRED": files,
                "--measures": measures,
                "--profile": profile,
                "--exclude": exclude,
                "--gold-format": gold_format,
                "--pred-format": pred_format,
                "--correlation": correlation,
                "--sweep": sweep,
                "--show": show,
                "--ratings": ratings,
            }
        )
        _tell_systems(systems, output)
        return
    from dialgauge.comparison import compare
    from dialgauge.errors import DialgaugeError
    from dialgauge.values import DEFAULT_PROFILE

    if not files:
        raise DialgaugeError("name the gold file and two prediction files or more: dialgauge compare GOLD PRED PRED")
    with err.status("scoring and comparing"):
        comparison = compare(
            files[0],
            files[1:],
            measures=measures or None,
            profile=profile or DEFAULT_PROFILE,
            coverage=coverage,
            exclude=exclude or (),
            resamples=resamples,
            seed=seed,
            level=level,
            gold_format=gold_format,
            pred_format=pred_format,
        )
    for system in comparison.results:
        err.print(f"{system.name} ({system.profile}): {system.coverage.sentence()}", markup=False, soft_wrap=True)
    comparing.tell(comparison, asked.wishes(comparison.systems), output)


def _refuse(given: Mapping[str, object]) -> None:
    """What needs dialogues cannot go with a table of systems, whose correlations are always told."""
    from dialgauge.errors import DialgaugeError

    unfit = [name for name, value in given.items() if value]
    if unfit:
        raise DialgaugeError(f"--systems takes only a table of scores, so leave out {', '.join(unfit)}")


def _tell_systems(path: Path, output: comparing.ComparisonOutput) -> None:
    from dialgauge.comparison import read_system_table, spread_figure, system_table_json, system_tables

    read = read_system_table(path)
    drawings = {"mean_spread": lambda: spread_figure(read)}
    comparing.show(system_tables(read), lambda: system_table_json(read), lambda: drawings, output)
