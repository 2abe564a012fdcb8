"""What ``dialgauge compare`` and ``dialgauge runs compare`` share: their options and their output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dialgauge.cli.common import err, on_screen, out, write_json

if TYPE_CHECKING:
    from dialgauge.comparison import Comparison, Wishes
    from dialgauge.report import Table

ResamplesOption = Annotated[
    int, typer.Option(min=1, max=1_000_000, help="Resamples of dialogues for tests and intervals.")
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of the resampling; part of the signature.")]
LevelOption = Annotated[float, typer.Option(help="Level of the intervals, between 0 and 1.")]
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


@dataclass(frozen=True)
class ComparisonOutput:
    """Where a comparison goes. What cannot be written is refused before the work begins."""

    format: str
    table: Path | None
    json: Path | None
    figures: Path | None
    figure_format: str

    def __post_init__(self) -> None:
        from dialgauge.errors import DialgaugeError, nearest
        from dialgauge.report import FORMATS, format_of

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
class Asked:
    """What to tell beyond scores and tests, as it was asked for."""

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
        self.kinds()

    def kinds(self) -> tuple[str, ...]:
        """The names of the correlations."""
        from dialgauge.stats import CORRELATIONS
        from dialgauge.stats import correlation as correlation_named

        if self.correlation is None or self.correlation == "all":
            return tuple(CORRELATIONS) if self.correlation else ()
        correlation_named(self.correlation)
        return (self.correlation,)

    def wishes(self, systems: tuple[str, ...]) -> Wishes:
        """The same, checked against the systems."""
        from dialgauge.comparison import Wishes, assigned, read_ratings

        given = assigned(read_ratings(self.ratings), systems, self.rated) if self.ratings else {}
        return Wishes(self.kinds(), self.sweep, self.show, self.show_by, given)


def tell(comparison: Comparison, wishes: Wishes, output: ComparisonOutput) -> None:
    """Print, write and draw a comparison."""
    from dialgauge.comparison import as_json, comparison_tables, drawings

    told = comparison_tables(comparison, wishes)
    show(told, lambda: as_json(comparison, wishes), lambda: drawings(comparison), output)


def show(
    comparison_tables: Sequence[Table],
    content: Callable[[], dict[str, Any]],
    drawings: Callable[[], Mapping[str, Callable[[], Any]]],
    output: ComparisonOutput,
) -> None:
    """Tables to the screen and to a file, JSON, and figures, as far as each was asked for."""
    from dialgauge.report import render_tables, write_tables

    if output.table is not None:
        write_tables(comparison_tables, output.table)
    if output.json is not None:
        write_json(output.json, content())
    if output.figures is not None:
        draw_all(drawings(), output.figures, output.figure_format)
    if not on_screen(output.json):
        return
    if output.format != "terminal":
        out.out(render_tables(comparison_tables, output.format), end="", highlight=False)
        return
    for one in comparison_tables:
        out.print(one.render("terminal"))
        out.print()


def draw_all(drawings: Mapping[str, Callable[[], Any]], folder: Path, figure_format: str) -> None:
    """Draw figures into a folder, and say which."""
    from dialgauge.report import save

    for name, draw in drawings.items():
        path = save(draw(), folder / f"{name}.{figure_format}")
        err.print(f"drew {path}", markup=False, soft_wrap=True)
