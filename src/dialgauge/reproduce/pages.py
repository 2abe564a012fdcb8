"""A reproduction as a web page: every part of the paper with its tables and figures."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from dialgauge.report.figures import save
from dialgauge.report.page import Figure, Section, write_page
from dialgauge.report.table import Table
from dialgauge.reproduce.record import Reproduction
from dialgauge.reproduce.tables import missing_table, summary, tables_by_part

_MISSING = "What is missing"
#: ``rsa_figureA1_trade`` belongs to Figure A1.
_PART = re.compile(r"_(table|figure)([A-Z]?\d+)(?:_|$)")


def write_html(reproduction: Reproduction, path: Path) -> None:
    """Write the page, atomically; the figures are part of the file."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = _drawn(reproduction, Path(folder))
        sections = [Section(_MISSING, parts=[missing_table(reproduction, _MISSING)])] if reproduction.missing else []
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
        figure = Figure(save(draw(), folder / f"{name}.svg"), caption_of(name))
        found.setdefault(part_of(name), []).append(figure)
    return found


def caption_of(figure: str) -> str:
    """A figure's name in words, without the paper's.

    >>> caption_of("rsa_figureA1_trade"), caption_of("fga_figure1"), caption_of("fga_lambda_sweep")
    ('Figure A1: trade', 'Figure 1', 'lambda sweep')
    """
    match = _PART.search(figure)
    rest = figure[match.end() :] if match else figure.partition("_")[2]
    return ": ".join(text for text in (part_of(figure), rest.replace("_", " ")) if text)


def part_of(figure: str) -> str:
    """The part of the paper that a figure's name points to.

    >>> part_of("rsa_figureA1_trade"), part_of("fga_lambda_sweep")
    ('Figure A1', '')
    """
    match = _PART.search(figure)
    return f"{match[1].capitalize()} {match[2]}" if match else ""
