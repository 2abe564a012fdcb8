"""``dialgauge report``: runs as one file to mail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dialgauge import explorer
from dialgauge.cli import common, writing
from dialgauge.cli.options import Argument, Option, OutputFile, application
from dialgauge.cli.screen import err, out
from dialgauge.runs import Store
from dialgauge.text import plain

app = application("Runs as one self-contained HTML file, and as Markdown.")

_MAILABLE = 5_000_000


@app.command()
def report(
    runs: Annotated[list[str], Argument(metavar="RUN...", help="Runs (ids, systems, tags or latest).")],
    html: Annotated[Path, OutputFile("--out", "-o", help="HTML file to write.")] = Path("report.html"),
    markdown: Annotated[Path | None, OutputFile(help="Also write a Markdown page; - for stdout.")] = None,
    dialogues: Annotated[
        int, Option("--dialogues", "-n", min=0, max=5000, help="Number of dialogues to include.")
    ] = 40,
    dialogue: Annotated[
        list[str] | None,
        Option(metavar="ID", help="Include this dialogue instead of selected ones; repeatable."),
    ] = None,
    title: Annotated[str, Option(help="Title of the page.")] = "",
    redact: common.RedactOption = False,
    store: common.StoreOption = None,
) -> None:
    """Write runs as one self-contained HTML file: answers, scores, charts and selected dialogues.

    Several runs of one kind are compared, with their dialogues side by side, biggest differences first. Charts need the
    extra 'figures'.
    """
    opened = Store(store)
    chosen = list({run.id: run for run in (opened.open(name) for name in runs)}.values())
    if redact:
        chosen, redactor = explorer.redacted_runs(chosen)
        err.print(plain(redactor.sentence()))
    with err.status("writing the report"):
        explorer.write_report(html, chosen, dialogues=dialogues, only=dialogue or (), title=title)
    if markdown is not None:
        writing.write_file(markdown, explorer.report_markdown(chosen).encode())
    size = html.stat().st_size
    err.print(f"{html}: {size / 1e6:.1f} MB")
    if size > _MAILABLE:
        err.print("That is large for an e-mail; reduce it with --dialogues.")
    screen = out if writing.on_screen(markdown) else err
    screen.print(f"Open {html.resolve().as_uri()}")
