"""``dialgauge report``: runs as one file to mail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dialgauge.cli.common import StoreOption, err, on_screen, out, write_file
from dialgauge.cli.options import Argument, Option, OutputFile, application
from dialgauge.runs import Store

app = application("Runs as one self-contained HTML file, and as Markdown.")

_MAILABLE = 5_000_000


@app.command()
def report(
    runs: Annotated[list[str], Argument(metavar="RUN...", help="Ids of runs, or unique prefixes.")],
    html: Annotated[Path, OutputFile("--out", "-o", metavar="FILE", help="The HTML file to write.")] = Path(
        "report.html"
    ),
    markdown: Annotated[
        Path | None, OutputFile(metavar="FILE", help="Also write a Markdown summary for a pull request; - for stdout.")
    ] = None,
    dialogues: Annotated[int, Option("--dialogues", "-n", min=0, max=5000, help="How many dialogues to include.")] = 40,
    dialogue: Annotated[
        list[str] | None,
        Option(metavar="ID", help="Include this dialogue (repeatable), instead of those that say most."),
    ] = None,
    title: Annotated[str, Option(metavar="TEXT", help="Title of the report.")] = "",
    store: StoreOption = None,
) -> None:
    """Write runs as one HTML file that opens without a server: answers, scores, charts, and a choice of dialogues.

    Several runs of one kind are compared, and their dialogues stand side by side, those that differ most first.
    """
    from dialgauge.explorer import report_markdown, write_report

    place = Store(store)
    chosen = list({run.id: run for run in (place.open(name) for name in runs)}.values())
    with err.status("writing the report"):
        write_report(html, chosen, dialogues=dialogues, only=dialogue or (), title=title)
    if markdown is not None:
        write_file(markdown, report_markdown(chosen).encode())
    size = html.stat().st_size
    err.print(f"{html}: {size / 1e6:.1f} MB")
    if size > _MAILABLE:
        err.print("That is much for a mail; --dialogues takes fewer.")
    screen = out if on_screen(markdown) else err
    screen.print(f"Open {html.resolve().as_uri()}")
