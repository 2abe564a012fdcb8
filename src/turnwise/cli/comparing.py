"""What ``turnwise compare`` and ``turnwise runs compare`` share: their options and their output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turnwise.cli.common import err, out, write_json

if TYPE_CHECKING:
    from turnwise.comparison.document import Wishes
    from turnwise.comparison.result import Comparison
    from turnwise.report.table import Table

ResamplesOption = Annotated[int, typer.Option(min=1, help="Resamples of dialogues for tests and intervals.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of the resampling; part of the signature.")]
LevelOption = Annotated[float, typer.Option(help="Level of the intervals.")]
CorrelationOption = Annotated[
    str | None,
    typer.Option(metavar="KIND", help="Also correlations of the measures: pearson, spearman, kendall or all."),
]
SweepOption = Annotated[bool, typer.Option("--sweep", help="Also FGA over λ, and where systems change places.")]
ShowOption = Annotated[
    int,
    typer.Option(metavar="N", min=0, help="Also the N dialogues where the first system parts most from each other."),
]
ShowByOption = Annotated[
    str | None, typer.Option(metavar="MEASURE", help="The measure that --show goes by; the first one without it.")
]
RatingsOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also correlation with human ratings: CSV with dialogue, rater, rating."),
]
RatedOption = Annotated[
    str | None, typer.Option(metavar="SYSTEM", help="Which system was rated, where the ratings file does not say.")
]
FormatOption = Annotated[
    str, typer.Option("--format", help="How to print: terminal, markdown, latex, html, csv or json.")
]
TableOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also write the tables as .md, .tex, .html, .csv or .json.")
]
JsonOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also write everything as JSON; - is standard output.")
]
FiguresOption = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Also draw the figures into this folder.")]
FigureFormatOption = Annotated[str, typer.Option(help="svg, png, pdf or json (Vega-Lite).")]


def wished(
    systems: tuple[str, ...],
    *,
    correlation: str | None,
    sweep: bool,
    show: int,
    show_by: str | None,
    ratings: Path | None,
    rated: str | None,
) -> Wishes:
    """What was asked for, checked against the systems."""
    from turnwise.comparison.document import Wishes
    from turnwise.comparison.ratings import assigned, read_ratings
    from turnwise.stats import CORRELATIONS
    from turnwise.stats import correlation as correlation_named

    kinds = tuple(CORRELATIONS) if correlation == "all" else tuple(filter(None, [correlation]))
    for kind in kinds:
        correlation_named(kind)
    given = assigned(read_ratings(ratings), systems, rated) if ratings else {}
    return Wishes(kinds, sweep, show, show_by, given)


def tell(
    comparison: Comparison,
    wishes: Wishes,
    *,
    format: str,
    table: Path | None,
    json: Path | None,
    figures: Path | None,
    figure_format: str,
) -> None:
    """Print, write and draw a comparison."""
    from turnwise.comparison.document import as_json, tables
    from turnwise.comparison.drawings import drawings

    show(
        tables(comparison, wishes),
        lambda: as_json(comparison, wishes),
        lambda: drawings(comparison),
        format=format,
        table=table,
        json=json,
        figures=figures,
        figure_format=figure_format,
    )


def show(
    tables: Sequence[Table],
    content: Callable[[], dict[str, Any]],
    drawings: Callable[[], Mapping[str, Callable[[], Any]]],
    *,
    format: str,
    table: Path | None,
    json: Path | None,
    figures: Path | None,
    figure_format: str,
) -> None:
    """Tables to the screen and to a file, JSON, and figures, as far as each was asked for."""
    from turnwise.report.table import render_tables, write_tables

    if table is not None:
        write_tables(tables, table)
    if json is not None:
        write_json(json, content())
    if figures is not None:
        from turnwise.report.figures import save

        for name, draw in drawings().items():
            path = save(draw(), figures / f"{name}.{figure_format}")
            err.print(f"drew {path}", markup=False, soft_wrap=True)
    if json is not None and str(json) == "-":
        return
    if format != "terminal":
        out.out(render_tables(tables, format), end="", highlight=False)
        return
    for one in tables:
        out.print(one.render("terminal"))
        out.print()
