"""Charts, drawn from the rows of a table.

Bars and intervals belong to rows. A page draws them inside the rows, so each label and number stands there once; for a
paper, :func:`figure` draws the same shapes with labels and an axis as a picture of its own. Curves are always a
picture. Positions are percentages of the width, so shapes stretch with the page and letters keep their size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Literal

from msgspec import Struct

from dialgauge.errors import DialgaugeError, missing_extra
from dialgauge.files import atomic
from dialgauge.report.table import Cell, Column, Number, Table, is_undefined
from dialgauge.text import plain

#: Sizes of a picture in pixels.
_WIDTH, _LABELS, _ROW, _HEIGHT, _MARGIN, _TITLE = 720, 220, 24, 280, 48, 28
#: The height of a strip of points.
_STRIP = 80
#: Colours of a picture outside a page; the style sheet of pages has its own.
_COLOURS = {
    "plain": "#66758a", "good": "#2c9a62", "bad": "#d5544b", "warn": "#b57d0c", "bad-1": "#8c2a23", "bad-2": "#f0b5b0",
    "series-0": "#2b4fd0", "series-1": "#0a7f86", "series-2": "#b8318a", "series-3": "#8347c9", "series-4": "#66758a",
}  # fmt: skip
#: Shades of a heat map, from the least value to the largest, and how many of them have dark letters.
SHADES = ("#f7f9fc", "#e3eaf6", "#c8d6ee", "#a8bee4", "#86a4d8", "#6488ca", "#476cb8", "#30519c", "#1f3a7c", "#13265a")
_DARK = 5
#: The width of a letter, and by how many degrees the heads of narrow columns are turned.
_LETTER, _TURNED = 7.5, 40
#: Ticks that are labelled on an axis of whole numbers.
_TICKS = 12


class Shape(Struct, frozen=True):
    """Something drawn in a row, from ``start`` to ``end`` in percent of the width, at a ``height`` in percent.

    ``look`` is a tone, or the number of a series.
    """

    kind: Literal["bar", "line", "dot", "rule"]
    start: float
    end: float
    look: str = "plain"
    title: str = ""
    height: float = 50.0


class Axis(Struct, frozen=True):
    """The values from one edge of a chart to the other, and those that are labelled."""

    low: float
    high: float
    ticks: tuple[float, ...] = ()
    number: Number = Number()

    def at(self, value: float) -> float:
        """Where a value stands, in percent."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    def labels(self) -> list[tuple[float, str]]:
        """Where each tick stands, and its text."""
        return [(self.at(tick), self.number.text(tick) if tick else "0") for tick in self.ticks]


class RowChart:
    """Bars or intervals: what is drawn in each row of a table."""

    def __init__(self, table: Table, kind: str, columns: Sequence[str]) -> None:
        self.kind = kind
        self.places = [index for index, column in enumerate(table.columns) if column.name in columns]
        self.columns = [table.columns[index] for index in self.places]
        drawn = [(column, row[index]) for row in table.rows for index, column in self._placed()]
        #: Shares are drawn and amounts beside them are not: one axis has one unit.
        self.percent = any(_number(column, cell).percent for column, cell in drawn)
        if kind == "bars":
            self.axis = Axis(0.0, max([1.0, *map(self.total, table.rows)]))
        else:
            self.axis = _axis([(column, cell) for column, cell in drawn if self._fits(column, cell)])

    @property
    def keyed(self) -> bool:
        """Whether a reader needs to be told which colour is which column."""
        return len(self.columns) > 1

    def look(self, column: Column) -> str:
        """How a column is drawn: as a part of a bar in its tone, in a shade of it where others have it too."""
        if self.kind != "bars" or (column.tone == "plain" and self.keyed):
            return f"series-{self.columns.index(column)}"
        shade = [other for other in self.columns if other.tone == column.tone].index(column)
        return f"{column.tone}-{shade}" if shade else column.tone

    def total(self, row: Sequence[Cell]) -> float:
        """The length of a bar; 0 if there are no bars."""
        return sum(map(_amount, self._cells(row))) if self.kind == "bars" else 0.0

    def shapes(self, row: Sequence[Cell]) -> list[Shape]:
        """What is drawn in a row."""
        return list(self._bars(row) if self.kind == "bars" else self._intervals(row))

    def _bars(self, row: Sequence[Cell]) -> Iterator[Shape]:
        start = 0.0
        for column, cell in zip(self.columns, self._cells(row), strict=True):
            end = start + _amount(cell)
            look = cell.tone if cell.tone != "plain" else self.look(column)
            if end > start:
                title = f"{column.name}: {column.text(cell)}"
                yield Shape("bar", self.axis.at(start), self.axis.at(end), look, title)
            start = end

    def _intervals(self, row: Sequence[Cell]) -> Iterator[Shape]:
        yield from (Shape("rule", self.axis.at(tick), self.axis.at(tick), "rule") for tick in self.axis.ticks)
        for number, (column, cell) in enumerate(zip(self.columns, self._cells(row), strict=True), start=1):
            if self._fits(column, cell):
                value, *_ = ends = _ends(cell)
                look = cell.tone if cell.tone != "plain" else self.look(column)
                title = f"{column.name}: {column.text(cell)} {column.interval(cell)}".strip()
                height = 100 * number / (len(self.columns) + 1)
                yield Shape("line", self.axis.at(min(ends)), self.axis.at(max(ends)), look, title, height)
                yield Shape("dot", self.axis.at(value), self.axis.at(value), look, title, height)

    def _placed(self) -> list[tuple[int, Column]]:
        return list(zip(self.places, self.columns, strict=True))

    def _cells(self, row: Sequence[Cell]) -> list[Cell]:
        return [row[index] for index in self.places]

    def _fits(self, column: Column, cell: Cell) -> bool:
        return bool(_ends(cell)) and _number(column, cell).percent == self.percent


def row_chart(table: Table) -> RowChart | None:
    """The chart that belongs into the rows of a table; None if it has none."""
    if table.chart is None or table.chart.kind not in ("bars", "intervals") or not table.rows:
        return None
    return RowChart(table, table.chart.kind, table.chart.columns)


def heat_range(table: Table) -> tuple[float, float] | None:
    """The least and the largest value of a heat map; None if the table is none or has no values."""
    if table.chart is None or table.chart.kind != "heat":
        return None
    places = [place for place, column in enumerate(table.columns) if column.name in table.chart.columns]
    values = [_amount(row[place]) for row in table.rows for place in places if _ends(row[place])]
    return (min(values), max(values)) if values else None


def shade_of(table: Table, index: int, cell: Cell, ends: tuple[float, float] | None) -> int | None:
    """The shade of a cell in a heat map with these ends: its place among ``SHADES``; None if it has none."""
    if table.chart is None or ends is None or table.columns[index].name not in table.chart.columns or not _ends(cell):
        return None
    low, high = ends
    return round((_amount(cell) - low) / (high - low) * (len(SHADES) - 1)) if high > low else 0


def has_picture(table: Table) -> bool:
    """Whether there is anything to draw: rows, and curves over numbers."""
    if table.chart is None or not table.rows:
        return False
    first = [row[0].value for row in table.rows]
    return table.chart.kind not in ("lines", "strips") or any(
        isinstance(value, int | float) and not isinstance(value, bool) for value in first
    )


def figure(table: Table, *, styled: bool = True) -> str:
    """The chart of a table as a picture (SVG); ``styled`` ones carry their colours, title and key along, for papers."""
    if table.chart is None or not has_picture(table):
        raise ValueError(f"'{table.title}' has no chart")
    chart = row_chart(table)
    if table.chart.kind == "heat":
        height, pieces = _heat(table)
    elif table.chart.kind == "strips":
        height, pieces = _strips(table, table.chart.columns)
    else:
        height, pieces = _curves(table, table.chart.columns) if chart is None else _rows(table, chart)
    rules = "".join(f".{look}{{fill:{colour};stroke:{colour}}}" for look, colour in _COLOURS.items())
    style = (
        f"<style>.axis{{stroke:#d8dde3}}{rules}.curve{{fill:none}}.band{{fill-opacity:.15;stroke:none}}"
        "text[x]{font:13px sans-serif;stroke:none}</style>"
    )
    top = 0
    if styled:
        top = _TITLE
        pieces = [style, f'<text x="0" y="{16 - _TITLE}" class="title">{_text(table.title)}</text>', *pieces]
        if chart is not None and chart.keyed:
            pieces += _key([(chart.look(column), column.name) for column in chart.columns], height)
            height += _ROW
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="figure" viewBox="0 {-top} {_WIDTH} {height + top}" role="img"'
    )
    return "".join([f'{head} aria-label="{_text(table.title)}">', *pieces, "</svg>"])


class Picture:
    """The chart of a table, for a notebook or a file."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def content(self, ending: str) -> bytes:
        """The picture as ``.svg``, or as ``.pdf`` with the extra ``figures``."""
        svg = figure(self.table)
        if ending == ".svg":
            return svg.encode()
        if ending != ".pdf":
            raise DialgaugeError(f"a figure is written as .svg or .pdf (got '{ending}')")
        try:
            from vl_convert import svg_to_pdf
        except ModuleNotFoundError as error:
            raise missing_extra("vl-convert-python", "figures", "a PDF") from error
        pdf: bytes = svg_to_pdf(svg)
        return pdf

    def save(self, path: str | Path) -> Path:
        """Write the picture, atomically; the ending says how."""
        target = Path(path)
        content = self.content(target.suffix.lower())
        with atomic(target) as scratch:
            scratch.write_bytes(content)
        return target

    def _repr_svg_(self) -> str:
        return figure(self.table)


def _key(looks: Sequence[tuple[str, str]], top: float) -> list[str]:
    """Which colour is which column, in a line."""
    pieces, x = [], float(_LABELS)
    for look, name in looks:
        pieces.append(f'<rect class="{look}" x="{x}" y="{top}" width="10" height="10"/>')
        pieces.append(f'<text x="{x + 14}" y="{top + 10}">{_text(name)}</text>')
        x += 34 + _LETTER * len(name)
    return pieces


def _heat(table: Table) -> tuple[float, list[str]]:
    """A square for each cell, shaded, with its value; rows and columns are named at the edges."""
    chosen = table.chart.columns if table.chart is not None else ()
    shown = [index for index, column in enumerate(table.columns) if column.name in chosen]
    width, heads = (_WIDTH - _LABELS - _MARGIN) / len(shown), [table.columns[index].name for index in shown]
    longest = _LETTER * max(map(len, heads))
    turned = longest > width
    top = _ROW + (longest * math.sin(math.radians(_TURNED)) if turned else 0)
    pieces, ends = [], heat_range(table)
    for place, head in enumerate(heads):
        x, y = _LABELS + width * (place + 0.5), top - 8
        way = f'text-anchor="start" transform="rotate(-{_TURNED} {x} {y})"' if turned else 'text-anchor="middle"'
        pieces.append(f'<text x="{x}" y="{y}" {way}>{_text(head)}</text>')
    for number, row in enumerate(table.rows):
        y = top + _ROW * number
        label = _text(table.columns[0].text(row[0]))
        pieces.append(f'<text x="{_LABELS - 8}" y="{y + 16}" text-anchor="end">{label}</text>')
        for place, index in enumerate(shown):
            if (shade := shade_of(table, index, row[index], ends)) is not None:
                x, value = _LABELS + width * place, table.columns[index].text(row[index])
                ink = "#15191f" if shade < _DARK else "#ffffff"
                size = f'width="{width - 1}" height="{_ROW - 1}"'
                pieces.append(f'<rect x="{x}" y="{y}" {size} fill="{SHADES[shade]}" stroke="none"/>')
                pieces.append(
                    f'<text x="{x + width / 2}" y="{y + 16}" text-anchor="middle" fill="{ink}">{_text(value)}</text>'
                )
    return top + _ROW * len(table) + 8, pieces


def _rows(table: Table, chart: RowChart) -> tuple[float, list[str]]:
    """All rows with their labels on the left, and the axis below."""
    width, bottom = _WIDTH - _LABELS - _MARGIN, _ROW * len(table)
    pieces = []
    for place, text in chart.axis.labels():
        x = _LABELS + width * place / 100
        pieces.append(f'<line class="axis" x1="{x}" x2="{x}" y1="0" y2="{bottom}"/>')
        pieces.append(f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{text}</text>')
    for number, row in enumerate(table.rows):
        label = _text(table.columns[0].text(row[0]))
        pieces.append(f'<text x="{_LABELS - 8}" y="{_ROW * (number + 0.5) + 4}" text-anchor="end">{label}</text>')
        for shape in chart.shapes(row):
            start, end = (_LABELS + width * place / 100 for place in (shape.start, shape.end))
            middle = _ROW * (number + shape.height / 100)
            if shape.kind == "bar":
                pieces.append(
                    f'<rect class="{shape.look}" x="{start}" y="{middle - 7}" width="{end - start}" height="14"/>'
                )
            elif shape.kind == "line":
                pieces.append(
                    f'<line class="{shape.look}" x1="{start}" x2="{end}" y1="{middle}" y2="{middle}" stroke-width="2"/>'
                )
            elif shape.kind == "dot":
                pieces.append(f'<circle class="{shape.look}" cx="{start}" cy="{middle}" r="4"/>')
        if total := chart.total(row):
            x = _LABELS + width * chart.axis.at(total) / 100 + 6
            pieces.append(f'<text x="{x}" y="{_ROW * (number + 0.5) + 4}">{total:,g}</text>')
    unit = "%" if chart.percent else ""
    title = " ".join(filter(None, [chart.columns[0].name if not chart.keyed else "", unit]))
    pieces.append(
        f'<text x="{_LABELS + width / 2}" y="{bottom + 36}" text-anchor="middle" class="quiet">{_text(title)}</text>'
    )
    return bottom + _MARGIN, pieces


def _curves(table: Table, columns: Sequence[str]) -> tuple[float, list[str]]:
    """One curve for each column over the first one, with its name at its end; intervals are a band around it."""
    points = [(float(row[0].value), row) for row in table.rows if isinstance(row[0].value, int | float)]
    points.sort(key=lambda point: point[0])
    places = [place for place, _ in points]
    across = _across(table.columns[0], places)
    drawn = [(index, column) for index, column in enumerate(table.columns) if column.name in columns]
    along = _axis([(column, row[index]) for _, row in points for index, column in drawn])
    width, depth = _WIDTH - 3 * _MARGIN, _HEIGHT - _MARGIN

    def x(value: float) -> float:
        return round(_MARGIN + width * across.at(value) / 100, 1)

    def y(value: float) -> float:
        return round(10 + depth * (1 - along.at(value) / 100), 1)

    pieces = []
    for tick in along.ticks:
        pieces.append(f'<line class="axis" x1="{_MARGIN}" x2="{_MARGIN + width}" y1="{y(tick)}" y2="{y(tick)}"/>')
        unit = "%" if along.number.percent and tick == along.ticks[-1] else ""
        label = f"{along.number.text(tick)}{unit}"
        pieces.append(f'<text x="{_MARGIN - 6}" y="{y(tick) + 4}" text-anchor="end">{label}</text>')
    pieces += [
        f'<text x="{x(tick)}" y="{_HEIGHT - 16}" text-anchor="middle">{across.number.text(tick)}</text>'
        for tick in across.ticks
    ]
    pieces.append(
        f'<text x="{_MARGIN + width / 2}" y="{_HEIGHT - 1}" text-anchor="middle" class="quiet">'
        f"{_text(table.columns[0].name)}{', %' if across.number.percent else ''}</text>"
    )
    names = []
    for number, (index, column) in enumerate(drawn):
        curve = [(x(place), y(_ends(row[index])[0])) for place, row in points if _ends(row[index])]
        if not curve:
            continue
        band = [(x(place), y(end)) for place, row in points for end in _ends(row[index])[1:2]]
        band += [(x(place), y(end)) for place, row in reversed(points) for end in _ends(row[index])[2:3]]
        if band:
            edge = " ".join(f"{left},{top}" for left, top in band)
            pieces.append(f'<polygon class="series-{number % 5} band" points="{edge}"/>')
        path = " ".join(f"{left},{top}" for left, top in curve)
        pieces.append(f'<polyline class="series-{number % 5} curve" points="{path}" stroke-width="2"/>')
        if len(curve) <= _TICKS:
            pieces += [f'<circle class="series-{number % 5}" cx="{left}" cy="{top}" r="3"/>' for left, top in curve]
        names.append((curve[-1][1], curve[-1][0], f"series-{number % 5}", column.name))
    lowest = 0.0
    for top, left, look, name in sorted(names):  # pushed apart where curves end close together
        lowest = max(top, lowest + 14)
        pieces.append(f'<text class="{look}" x="{left + 6}" y="{lowest + 4}">{_text(name)}</text>')
    return _HEIGHT, pieces


def _strips(table: Table, columns: Sequence[str]) -> tuple[float, list[str]]:
    """A strip for each column that has values, with an axis of its own; points of bad cells are hollow."""
    points = [(float(row[0].value), row) for row in table.rows if isinstance(row[0].value, int | float)]
    places = [place for place, _ in points]
    across = Axis(min(places), max(*places, min(places) + 1))
    width, top, pieces = _WIDTH - 2 * _MARGIN, 0.0, []
    for index, column in enumerate(table.columns):
        known = [(place, row[index]) for place, row in points if _ends(row[index])]
        if column.name not in columns or not known:
            continue
        along = _axis([(column, cell) for _, cell in known])
        pieces.append(f'<text x="{_MARGIN}" y="{top + 12}">{_text(column.name)}</text>')
        top += _ROW
        for tick in (along.ticks[0], along.ticks[-1]):
            y = top + _STRIP * (1 - along.at(tick) / 100)
            pieces.append(f'<line class="axis" x1="{_MARGIN}" x2="{_MARGIN + width}" y1="{y}" y2="{y}"/>')
            pieces.append(f'<text x="{_MARGIN - 6}" y="{y + 4}" text-anchor="end">{along.number.text(tick)}</text>')
        for place, cell in known:
            x = round(_MARGIN + width * across.at(place) / 100, 1)
            y = round(top + _STRIP * (1 - along.at(_amount(cell)) / 100), 1)
            title = f"<title>{_text(f'{table.columns[0].name} {place:g}: {column.text(cell)}')}</title>"
            hollow = ' fill-opacity="0" stroke-width="1.5"' if cell.tone == "bad" else ""
            pieces.append(f'<circle class="{cell.tone}" cx="{x}" cy="{y}" r="3"{hollow}>{title}</circle>')
        top += _STRIP + _ROW
    pieces.append(
        f'<text x="{_MARGIN + width / 2}" y="{top}" text-anchor="middle" class="quiet">'
        f"{_text(table.columns[0].name)}</text>"
    )
    return top + 8, pieces


def _axis(drawn: Sequence[tuple[Column, Cell]]) -> Axis:
    """Shares run from 0 to 100; anything else runs over round numbers, with 0 in sight."""
    numbers = [_number(column, cell) for column, cell in drawn] or [Number()]
    values = [0.0, *(end for _, cell in drawn for end in _ends(cell))]
    percent, signed = numbers[0].percent, numbers[0].signed
    if percent and not signed:
        return Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0), Number(0, percent=True))
    step = _round_step((max(values) - min(values) or 1.0) / 4)
    first, last = math.floor(min(values) / step), math.ceil(max(values) / step)
    digits = max(0, -math.floor(math.log10(100 * step if percent else step)))
    ticks = tuple(step * place for place in range(first, max(last, first + 1) + 1))
    return Axis(ticks[0], ticks[-1], ticks, Number(digits, percent, signed))


def _across(column: Column, places: Sequence[float]) -> Axis:
    """All places are labelled where they are a few whole numbers, else round numbers between them."""
    low, high, percent = min(places), max(places), column.number.percent
    high = high if high > low else low + 1
    if len(places) <= _TICKS and all(place == int(place) for place in places) and not percent:
        return Axis(low, high, tuple(places), Number(0))
    step = _round_step((high - low) / 8)
    ticks = tuple(step * place for place in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1))
    digits = max(0, -math.floor(math.log10(100 * step if percent else step)))
    return Axis(low, high, ticks, Number(digits, percent))


def _round_step(least: float) -> float:
    """The smallest of ..., 1, 2, 5, 10, ... that is no less."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def _number(column: Column, cell: Cell) -> Number:
    return cell.number or column.number


def _ends(cell: Cell) -> list[float]:
    """The value of a cell, and the ends of its interval; empty if it holds no number."""
    ends = (cell.value, cell.low, cell.high)
    return [float(end) for end in ends if isinstance(end, int | float) and not is_undefined(end)]


def _amount(cell: Cell) -> float:
    return next(iter(_ends(cell)), 0.0)


def _text(text: str) -> str:
    return escape(plain(text))
