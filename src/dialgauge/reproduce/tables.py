"""A reproduction as tables, Markdown and JSON. What is missing is said first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dialgauge import __version__
from dialgauge.report import Column, Table
from dialgauge.report.escape import markdown
from dialgauge.reproduce.record import Item, Printed, Reproduction


def missing_table(reproduction: Reproduction, title: str | None = None) -> Table:
    """What would be needed to compute more."""
    table = Table(title or f"{reproduction.title}: what is missing", ["missing"])
    for line in reproduction.missing:
        table.add(line)
    return table


def item_tables(reproduction: Reproduction) -> list[Table]:
    """The tables of every part of the paper, in its order."""
    return [table for found in tables_by_part(reproduction).values() for table in found]


def tables_by_part(reproduction: Reproduction) -> dict[str, list[Table]]:
    """Part of the paper to its lines as a table, with a summary below the last, and its tables of another shape."""
    parts: dict[str, list[Item]] = {}
    for item in reproduction.items:
        parts.setdefault(item.part, []).append(item)
    lines = {part: _table(part, items, reproduction.notes.get(part, ())) for part, items in parts.items()}
    if lines:
        list(lines.values())[-1].notes.append(summary(reproduction))
    return {part: [table, *reproduction.tables.get(part, ())] for part, table in lines.items()}


def _table(part: str, items: list[Item], notes: Sequence[str]) -> Table:
    columns = [
        Column("what"),
        Column("theirs", align="right"),
        Column("ours", align="right"),
        Column("difference", align="right"),
        Column("verdict"),
        Column("note"),
    ]
    noted = any(item.note for item in items)
    table = Table(part, columns if noted else columns[:-1], notes=list(notes))
    for item in items:
        ours, difference = _shown(item)
        table.add(item.what, item.theirs, ours, difference, item.verdict, *([item.note or None] if noted else []))
    return table


def _shown(item: Item) -> tuple[str | None, str | None]:
    """Ours and the difference in the unit in which theirs is printed."""
    if not isinstance(item.ours, float | int):
        return item.ours, None
    printed = Printed.parse(item.theirs)
    ours = printed.show(item.ours)
    if item.low is not None and item.high is not None:
        ours += f" [{printed.show(item.low)}, {printed.show(item.high)}]"
    return ours, None if item.difference is None else printed.show(item.difference, signed=True)


def summary(reproduction: Reproduction) -> str:
    """How it went, in one sentence."""
    counts = [f"{count} {verdict}" for verdict, count in reproduction.tally().items() if count]
    return f"{len(reproduction.items)} lines: {', '.join(counts)}. dialgauge {__version__}."


def as_markdown(reproduction: Reproduction) -> str:
    """A page: the paper, what is missing, every table."""
    lines = [f"# {markdown(reproduction.title)}", "", markdown(reproduction.citation), ""]
    if reproduction.missing:
        lines += ["## What is missing", "", *(f"- {markdown(line)}" for line in reproduction.missing), ""]
    return "\n".join(lines) + "\n" + "\n".join(table.render("markdown") for table in item_tables(reproduction))


def as_json(reproduction: Reproduction) -> dict[str, Any]:
    """Everything, for programs."""
    return {
        "paper": reproduction.paper,
        "title": reproduction.title,
        "citation": reproduction.citation,
        "missing": reproduction.missing,
        "tally": reproduction.tally(),
        "items": [asdict(item) for item in reproduction.items],
        "notes": reproduction.notes,
        "tables": {
            part: [{"title": table.title, "rows": table.records(), "notes": table.notes} for table in tables]
            for part, tables in reproduction.tables.items()
        },
        "figures": sorted(reproduction.figures),
        "version": __version__,
    }
