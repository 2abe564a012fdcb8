"""Options that several commands take, each worded once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

StoreOption = Annotated[
    Path | None, typer.Option("--store", metavar="FOLDER", help="The run store; without it, $DIALGAUGE_RUNS or ./runs.")
]
JsonOption = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Also write JSON; - is standard output, without tables.")
]
FiguresOption = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Also draw the figures into this folder.")]
FigureFormatOption = Annotated[str, typer.Option(help="svg, png, pdf or json (Vega-Lite).")]

# Gold files and predictions.
CoverageOption = Annotated[
    str, typer.Option(help="Turns without prediction: 'intersection' leaves them out, 'empty' scores them as empty.")
]
ExcludeOption = Annotated[
    list[str] | None, typer.Option(metavar="ID", help="Leave out a dialogue (PMUL1455 for published numbers).")
]
GoldFormatOption = Annotated[str | None, typer.Option(metavar="NAME", help="The format of GOLD, if not recognised.")]
PredFormatOption = Annotated[str | None, typer.Option(metavar="NAME", help="The format of PRED, if not recognised.")]

# Simulated worlds.
WorldOption = Annotated[str, typer.Option(help="A world file (YAML), or restaurant or bakery.")]
AcceptOption = Annotated[float, typer.Option(help="Probability that the user accepts an option (tasks 3, 5).")]
MinResultsOption = Annotated[int, typer.Option(help="Least number of results of a shown query (tasks 3, 5).")]


def on_screen(json: Path | None) -> bool:
    """Whether tables are printed: not when JSON takes standard output."""
    return str(json) != "-"
