"""Pages as files: Markdown for pull requests, LaTeX for papers, CSV and JSON for programs, HTML for everybody."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic
from dialgauge.report.charts import Picture, has_picture
from dialgauge.report.html import html_page
from dialgauge.report.page import Page
from dialgauge.report.table import Cell, Column, Table, Value
from dialgauge.report.transcript import Transcript, Turn
from dialgauge.runs import plain as plain_values
from dialgauge.text import encodable, plain

if TYPE_CHECKING:
    from dialgauge.runs import Run

SCHEMA = "dialgauge/page/1"

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~&])")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "–": "--", "…": r"\ldots{}", "×": r"$\times$", "±": r"$\pm$", "λ": r"$\lambda$", "τ": r"$\tau$",
}  # fmt: skip
#: How a text begins that a spreadsheet would compute, unless it is a number.
_FORMULA = ("=", "+", "-", "@", "\t", "\n")
_NUMBER = re.compile(r"[+-]?(\d[\d,]*(\.\d*)?|\.\d+)([eE][+-]?\d+)?%?|[+-]?(inf|nan)|[-–]")


def write_page(page: Page, path: Path) -> None:
    """Write a page to a file, atomically; the ending says how."""
    require_format(path)
    render = _RENDERERS[path.suffix.lower()]
    with atomic(path) as scratch:
        scratch.write_bytes(render(page).encode("utf-8", "backslashreplace"))


def require_format(path: Path) -> None:
    """An error if the ending of a file does not say how a page is written to it."""
    if path.suffix.lower() not in _RENDERERS:
        raise DialgaugeError(f"use one of these endings: {', '.join(_RENDERERS)}", file=str(path))


def write_figures(page: Page, folder: Path) -> list[Path]:
    """Draw the chart of every table of the page into a folder: SVG, and PDF with the extra ``figures``."""
    endings = [".svg", *([".pdf"] if find_spec("vl_convert") else [])]
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, table in page.tables.items():
        for ending in endings if has_picture(table) else ():
            written.append(Picture(table).save(folder / f"{name}{ending}"))
    return written


# Markdown


def markdown_page(page: Page) -> str:
    """Everything on the page."""
    title = f"## {markdown(page.title)}" if page.title else ""
    parts = [title, *(f"> {markdown(warning)}" for warning in page.warnings)]
    parts += [markdown(page.verdict), *map(markdown_table, page.tables.values())]
    parts += [_markdown_transcript(transcript) for reading in page.dialogues for transcript in reading]
    parts += [*map(markdown, page.notes), f"`{plain(page.signature)}`" if page.signature else ""]
    return "\n\n".join(filter(None, parts)) + "\n"


def markdown_table(table: Table) -> str:
    """A pipe table under its title, with its answer above and its legend below."""
    shown = table.shown
    rules = ["---:" if table.is_numeric(index) else ":---" for index in shown]
    heads = [markdown(table.columns[index].name) for index in shown]
    rows = [[_markdown_cell(table.columns[index], row[index]) for index in shown] for row in table.rows]
    grid = "\n".join(f"| {' | '.join(row)} |" for row in (heads, rules, *rows)) if rows else ""
    title = f"**{markdown(table.title)}**" if table.title else ""
    return "\n\n".join(filter(None, [title, markdown(table.answer), grid, *map(markdown, table.legend())]))


def _markdown_cell(column: Column, cell: Cell) -> str:
    text = markdown(column.text(cell))
    return " ".join(filter(None, [f"**{text}**" if cell.strong else text, cell.mark, markdown(column.interval(cell))]))


def _markdown_transcript(transcript: Transcript) -> str:
    marks = "".join(f" ({markdown(mark.text)})" for mark in transcript.marks)
    parts = [f"### {markdown(transcript.dialogue)}{marks}", *map(markdown_table, transcript.tables.values())]
    for turn in transcript.turns:
        marks = "".join(f" *{markdown(mark.text)}*" for mark in turn.marks)
        words = "\n".join(map(markdown, turn.text.splitlines()))
        parts += [f"**{turn.message} {markdown(turn.speaker)}**{marks}", *map(markdown_table, turn.before), words]
        parts += map(markdown_table, turn.beside)
    return "\n\n".join(filter(None, parts))


def markdown(text: str) -> str:
    """A text as Markdown shows it: no sign of it means anything."""
    return _MARKDOWN.sub(r"\\\1", plain(text))


# LaTeX


def latex_page(page: Page) -> str:
    """The tables of the page."""
    return "\n".join(latex_table(table, page.signature) for table in page.tables.values())


def latex_table(table: Table, signature: str = "") -> str:
    r"""A ``table`` environment for the package booktabs, to be put into a paper by ``\input``."""
    shown = table.shown
    columns = [table.columns[index] for index in shown]
    shape = "".join("r" if table.is_numeric(index) else "l" for index in shown)
    rows = [[_latex_cell(table.columns[index], row[index]) for index in shown] for row in table.rows]
    label = re.sub(r"[^a-z0-9]+", "-", table.title.lower()).strip("-")
    lines = [
        r"% needs \usepackage{booktabs}",
        *([f"% Signature: {plain(signature)}"] if signature else []),
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(' '.join([f'{table.title}.', *table.legend(columns)]))}}}",
        rf"\label{{tab:{label}}}",
        rf"\begin{{tabular}}{{{shape}}}",
        r"\toprule",
        " & ".join(_latex(column.name) for column in columns) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(column: Column, cell: Cell) -> str:
    text = _latex(column.text(cell))
    interval = _latex(column.interval(cell))
    return (
        (rf"\textbf{{{text}}}" if cell.strong else text)
        + (rf"\textsuperscript{{{_latex(cell.mark)}}}" if cell.mark else "")
        + (rf" {{\scriptsize {interval}}}" if interval else "")
    )


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in plain(text))


# CSV and JSON: raw values in full precision, all columns and rows


def csv_page(page: Page) -> str:
    """The tables of the page, an empty line between them."""
    return "\n".join(map(csv_table, page.tables.values()))


def csv_table(table: Table) -> str:
    """A table; an interval is two more columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_csv_value, table.keys()))
    writer.writerows(map(_csv_value, record.values()) for record in table.records())
    return text.getvalue()


def _csv_value(value: Value) -> Value:
    """Texts that a spreadsheet would compute get an apostrophe before them, and a lone return begins no row."""
    if not isinstance(value, str):
        return value
    text = encodable(value).replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def json_page(page: Page) -> str:
    """Everything on the page, without the manifests of its runs."""
    return json_document(page)


def json_document(page: Page, runs: Sequence[Run] = (), checks: Sequence[Mapping[str, Any]] = ()) -> str:
    """What every command writes: the runs' manifests, the checks that were asked for, and the page."""
    document = {
        "schema": SCHEMA,
        "runs": [msgspec.to_builtins(run.manifest) for run in runs],
        "checks": list(checks),
        "page": _json_page(page),
    }
    return msgspec.json.format(msgspec.json.encode(plain_values(document)), indent=2).decode() + "\n"


def _json_page(page: Page) -> dict[str, Any]:
    """The keys of its tables are their names."""
    return {
        "title": page.title,
        "runs": list(page.runs),
        "warnings": list(page.warnings),
        "verdict": page.verdict,
        "tables": _json_tables(page.tables),
        "dialogues": [_json_transcript(transcript) for reading in page.dialogues for transcript in reading],
        "notes": list(page.notes),
        "signature": page.signature,
    }


def _json_tables(tables: Mapping[str, Table]) -> dict[str, Any]:
    return {name: _json_table(table) for name, table in tables.items()}


def _json_table(table: Table) -> dict[str, Any]:
    return {"title": table.title, "answer": table.answer, "rows": table.records(), "notes": table.legend()}


def _json_transcript(transcript: Transcript) -> dict[str, Any]:
    return {
        "run": transcript.run,
        "dialogue": transcript.dialogue,
        "marks": [mark.text for mark in transcript.marks],
        "tables": _json_tables(transcript.tables),
        "turns": list(map(_json_turn, transcript.turns)),
    }


def _json_turn(turn: Turn) -> dict[str, Any]:
    def rows(tables: Sequence[Table]) -> list[dict[str, Value]]:
        return [record for table in tables for record in table.records()]

    own = {"turn": turn.number, "speaker": turn.speaker, "text": turn.text, "message": turn.message}
    return {
        **own,
        "marks": [mark.text for mark in turn.marks],
        "before": rows(turn.before),
        "beside": rows(turn.beside),
    }


_RENDERERS: dict[str, Callable[[Page], str]] = {
    ".md": markdown_page,
    ".tex": latex_page,
    ".csv": csv_page,
    ".json": json_page,
    ".html": html_page,
}
