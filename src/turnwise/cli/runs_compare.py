"""``turnwise runs compare``: stored runs of any kind against each other, without their inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turnwise.cli.comparing import (
    Asked,
    CorrelationOption,
    FigureFormatOption,
    FiguresOption,
    FormatOption,
    JsonOption,
    LevelOption,
    Output,
    RatedOption,
    RatingsOption,
    ResamplesOption,
    SeedOption,
    ShowByOption,
    ShowOption,
    SweepOption,
    TableOption,
    tell,
)


def compare(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN RUN...", help="Ids of two runs or more, or their beginnings.")
    ],
    resamples: ResamplesOption = 10_000,
    seed: SeedOption = 0,
    level: LevelOption = 0.95,
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
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="FOLDER", help="The run store; without it, $TURNWISE_RUNS or ./runs."),
    ] = None,
) -> None:
    """Compare stored runs over the dialogues they share: trackers, rankers, users and lab runs alike."""
    from turnwise.comparison.stored import compare_runs
    from turnwise.runs import Store

    output = Output(format, table, json, figures, figure_format)
    asked = Asked(correlation, sweep, show, show_by, ratings, rated)
    comparison = compare_runs(runs, Store(store), resamples=resamples, seed=seed, level=level)
    tell(comparison, asked.wishes(comparison.systems), output)
