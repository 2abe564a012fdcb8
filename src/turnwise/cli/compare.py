"""``turnwise compare``: which tracker is better, and by which measure."""

from __future__ import annotations

from typing import Annotated

import typer

from turnwise.cli.common import application, err
from turnwise.cli.comparing import (
    CorrelationOption,
    FigureFormatOption,
    FiguresOption,
    FormatOption,
    JsonOption,
    LevelOption,
    RatedOption,
    RatingsOption,
    ResamplesOption,
    SeedOption,
    ShowByOption,
    ShowOption,
    SweepOption,
    TableOption,
    tell,
    wished,
)

app = application("Is B better than A, or is it noise? Paired tests over dialogues, and measures about measures.")


@app.command()
def main(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The gold file; 'self' uses the gold inside PRED.")],
    predictions: Annotated[list[str], typer.Argument(metavar="PRED PRED...", help="Two prediction files, or more.")],
    measures: Annotated[
        list[str] | None, typer.Option("--measures", "-m", help="Measures, comma-separated: JGA, FGA@0.5, ...")
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", "-p", help="When two values are the same: a name or a YAML file.")
    ] = None,
    coverage: Annotated[
        str, typer.Option(help="Turns without prediction: 'intersection' leaves them out, 'empty' scores them empty.")
    ] = "intersection",
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Leave out a dialogue (PMUL1455 for published numbers).")
    ] = None,
    gold_format: Annotated[
        str | None, typer.Option(metavar="NAME", help="The format of GOLD, if not recognised.")
    ] = None,
    pred_format: Annotated[
        str | None, typer.Option(metavar="NAME", help="The format of PRED, if not recognised.")
    ] = None,
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
) -> None:
    """Compare trackers: scores with intervals, paired tests, what the test set can resolve, and how measures differ."""
    from turnwise.comparison import compare
    from turnwise.values.registry import DEFAULT

    with err.status("scoring and comparing"):
        comparison = compare(
            gold,
            predictions,
            measures=measures or None,
            profile=profile or DEFAULT,
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
    wishes = wished(
        comparison.systems,
        correlation=correlation,
        sweep=sweep,
        show=show,
        show_by=show_by,
        ratings=ratings,
        rated=rated,
    )
    tell(comparison, wishes, format=format, table=table, json=json, figures=figures, figure_format=figure_format)
