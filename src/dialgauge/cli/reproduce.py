"""``dialgauge reproduce``: every table, worked example and figure of a paper, theirs beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dialgauge.cli.babi_options import tell
from dialgauge.cli.common import (
    FigureFormatOption,
    FiguresOption,
    JsonOption,
    WideOption,
    err,
    on_screen,
    out,
    write_file,
    write_json,
)
from dialgauge.cli.compare import draw_all
from dialgauge.cli.options import Argument, Option, OutputFile, application
from dialgauge.errors import DialgaugeError
from dialgauge.reproduce import PAPERS, Fresh, reproduce

app = application("What the papers printed, what dialgauge computes from the data that is present, and a verdict.")


@app.command()
def main(
    paper: Annotated[str, Argument(help=f"Which paper: {', '.join(PAPERS)}.")],
    data: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="Where the datasets lie; without it, $DIALGAUGE_DATA, else none."),
    ] = None,
    fresh: Annotated[
        bool, Option("--fresh", help="Train the learned models anew (babi only; takes an hour and more).")
    ] = False,
    seeds: Annotated[int | None, Option(min=1, help="With --fresh: seeds per learned model. Default: 3.")] = None,
    workers: Annotated[
        int | None, Option(min=0, help="With --fresh: processes; 0 is one per core. Default: 1.")
    ] = None,
    store: Annotated[
        Path | None, Option(metavar="FOLDER", help="With --fresh: the run store; else $DIALGAUGE_RUNS or ./runs.")
    ] = None,
    markdown: Annotated[Path | None, OutputFile(metavar="FILE", help="Also write a Markdown page.")] = None,
    html: Annotated[Path | None, OutputFile(metavar="FILE", help="Also write a web page with the figures.")] = None,
    json: JsonOption = None,
    figures: FiguresOption = None,
    figure_format: FigureFormatOption = "svg",
    wide: WideOption = False,
) -> None:
    """Compute what a paper printed. What is missing to do more is said first; nothing is downloaded.

    Exit code: 0 something was computed, 2 nothing could be.
    """
    out.wide = wide
    from dialgauge.report import check_ending
    from dialgauge.reproduce import as_json, as_markdown, item_tables, missing_table

    if not fresh and (seeds, workers, store) != (None, None, None):
        raise DialgaugeError("--seeds, --workers and --store are about training; add --fresh or leave them out")
    if figures is not None:
        check_ending(Path(f"figure.{figure_format}"))
    training = Fresh(seeds or 3, 1 if workers is None else workers, store, tell) if fresh else None
    with err.status(f"computing what {paper} printed"):
        reproduction = reproduce(paper, data, fresh=training)
    if markdown is not None:
        write_file(markdown, as_markdown(reproduction).encode("utf-8", "backslashreplace"))
    if html is not None:
        from dialgauge.reproduce import write_html

        write_html(reproduction, html)
    if figures is not None:
        draw_all(reproduction.figures, figures, figure_format)
    if json is not None:
        write_json(json, as_json(reproduction))
    if on_screen(json):
        tables = [missing_table(reproduction)] if reproduction.missing else []
        for table in (*tables, *item_tables(reproduction)):
            out.print(table.render("terminal"))
            out.print()
    if reproduction.is_empty:
        raise DialgaugeError(
            f"nothing of {paper} could be computed from the data that is here; name the folder of the datasets with "
            "--data or DIALGAUGE_DATA; what can be fetched is listed by the command data"
        )
