"""``dialgauge runs compare``: stored runs of any kind against each other, without their inputs."""

from __future__ import annotations

from typing import Annotated

import typer

from dialgauge.cli import comparing
from dialgauge.cli.common import FigureFormatOption, FiguresOption, StoreOption


def compare(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN RUN...", help="Ids of two runs or more, or their beginnings.")
    ],
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
    store: StoreOption = None,
) -> None:
    """Compare stored runs over the dialogues they share: trackers, rankers, users and lab runs alike."""
    from dialgauge.comparison import compare_runs
    from dialgauge.runs import Store

    output = comparing.ComparisonOutput(format, table, json, figures, figure_format)
    asked = comparing.Asked(correlation, sweep, show, show_by, ratings, rated)
    comparison = compare_runs(runs, Store(store), resamples=resamples, seed=seed, level=level)
    comparing.tell(comparison, asked.wishes(comparison.systems), output)
