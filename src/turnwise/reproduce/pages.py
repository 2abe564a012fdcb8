"""A reproduction as a web page: every part of the paper with its tables and figures."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from turnwise.report.figures import save
from turnwise.report.page import Figure, Section, write_page
from turnwise.report.table import Table
from turnwise.reproduce.record import Reproduction
from turnwise.reproduce.tables import missing_table, summary, tables_by_part

#: ``rsa_figureA1_trade`` belongs to Figure A1.
_PART = re.compile(r"_(table|figure)([A-Z]?\d+)(?:_|$)")


def write_html(reproduction: Reproduction, path: Path) -> None:
    """Write the page, atomically; the figures are part of the file."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = _drawn(reproduction, Path(folder))
        sections = [Section("What is missing", parts=[missing_table(reproduction)])] if reproduction.missing else []
        for part, tables in tables_by_part(reproduction).items():
            figures = drawn.pop(part, [])
            sections.append(Section(part, parts=[*tables, *figures]))
        others: list[Table | Figure] = [figure for figures in drawn.values() for figure in figures]
        if others:
            sections.append(Section("Other figures", parts=others))
        write_page(path, reproduction.title, sections, footer=f"{reproduction.citation}. {summary(reproduction)}")


def _drawn(reproduction: Reproduction, folder: Path) -> dict[str, list[Figure]]:
    """Part of the paper to its figures; what belongs to no part is under an empty name."""
    found: dict[str, list[Figure]] = {}
    for name, draw in reproduction.figures.items():
        figure = Figure(save(draw(), folder / f"{name}.svg"), name.replace("_", " "))
        found.setdefault(part_of(name), []).append(figure)
    return found


def part_of(figure: str) -> str:
    """The part of the paper that a figure's name points to.

    >>> part_of("rsa_figureA1_trade"), part_of("fga_lambda_sweep")
    ('Figure A1', '')
    """
    match = _PART.search(figure)
    return f"{match[1].capitalize()} {match[2]}" if match else ""
