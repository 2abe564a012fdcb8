"""One look for every figure, readable in print, in grey and for colour-blind people; and a chart as a file.

Colour is never the only sign. Shades of one hue differ in lightness, lines differ in dash, and cells and bars carry
their numbers. Ticks stand at round numbers and at both ends of an axis. Files are SVG and PDF, drawn without a browser.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from dialgauge.errors import DialgaugeError, missing_extra
from dialgauge.files import write_all
from dialgauge.text import plain

#: Pixels for the name of a system or a measure; longer ones end in dots.
_NAME = 420

INK, QUIET, PAPER = "#1a1a1a", "#6b6b6b", "#ffffff"

#: Dark to light shades of one hue, far enough apart to tell in grey: groups of bars.
SHADES = ("#0b2545", "#2f6699", "#6fa3cc", "#b1d0e8", "#f0f5fa")

#: Lines and points: far apart in the eyes of colour-blind readers too, and dark enough on paper
#: (tests/rendering/test_colours.py computes both); each line has a dash of its own besides.
LINES = ("#12355b", "#d55e00", "#30a878", "#7800f0", "#9090c0", "#903000", "#786060", "#301800")

#: Heat maps: from nothing, which is white, to the most; and through white from negative to positive.
RISING = ("#ffffff", "#2f6699", "#0b2545")
DIVERGING = ("#903000", "#d98a4e", "#ffffff", "#5f8fc0", "#12355b")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [4, 1, 1, 1], [1, 3], [10, 2, 2, 2, 2, 2])

#: Metric-compatible with Arial and Helvetica, and part of the renderer, so figures look alike on every machine.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"


def altair() -> Any:
    """The module altair, or an error with the line that installs it."""
    try:
        import altair as module
    except ImportError as error:
        raise missing_extra("altair", "figures", "Drawing a figure") from error
    return module


def shades(size: int) -> list[str]:
    """So many shades from dark to light, which readers tell apart; who has more groups than SHADES must join some."""
    if size > len(SHADES):
        raise ValueError(f"{size} groups, but only {len(SHADES)} shades can be told apart")
    return list(SHADES[:size])


def lines(size: int) -> tuple[list[str], list[list[int]]]:
    """So many colours and dashes; no two lines share both, up to the product of their numbers."""
    colours = [LINES[index % len(LINES)] for index in range(size)]
    dashes = [DASHES[(index + index // len(LINES)) % len(DASHES)] for index in range(size)]
    return colours, dashes


def styled(chart: Any, *, title: str, note: str | Sequence[str] = "") -> Any:
    """The chart with its title, quieter lines below it, and the house's look."""
    heading: dict[str, Any] = {"text": title}
    if note:
        heading["subtitle"] = note if isinstance(note, str) else list(note)
    look = {
        "background": PAPER,
        "font": FONT,
        "padding": 8,
        "view": {"stroke": None},
        "title": {
            "anchor": "start", "fontSize": 14, "fontWeight": "bold", "color": INK, "offset": 12,
            "subtitleFontSize": 11, "subtitleColor": QUIET, "subtitlePadding": 4,
        },
        "axis": {
            "labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal", "labelColor": INK, "titleColor": INK,
            "domainColor": INK, "tickColor": INK, "gridColor": "#e3e3e3", "labelLimit": _NAME,
            "labelFlush": False, "titlePadding": 8,
        },
        "header": {"labelFontSize": 12, "labelFontWeight": "bold", "labelColor": INK, "titleColor": INK},
        "legend": {
            "labelLimit": _NAME, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal",
            "symbolStrokeWidth": 0.8,
        },
        "text": {"fontSize": 11, "color": INK},
    }  # fmt: skip
    return chart.properties(title=heading).configure(**look)


def data(rows: list[dict[str, Any]]) -> Any:
    """Rows as the chart's own data: figures never load anything."""
    return altair().Data(values=rows)


def save_all(folder: Path, charts: Mapping[str, Callable[[], Any]]) -> list[Path]:
    """Write charts into a folder, each as SVG and as PDF.

    All are drawn before the first is written, so there are all of them or none.
    """
    files: dict[Path, bytes] = {}
    with unchecked():
        for name, draw in charts.items():
            chart = draw()
            files |= {folder / f"{name}.svg": drawn(chart, "svg"), folder / f"{name}.pdf": drawn(chart, "pdf")}
    write_all(files)
    return list(files)


def figure_label(position: int, system: str) -> str:
    """A system as part of a file name: its place from 1, so that no two are alike, and its name."""
    safe = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in system)[:60]
    return f"{position}_{safe}"


def missing_drawer() -> DialgaugeError | None:
    """What to say where no figure can be drawn, for want of a package."""
    for module, package in (("altair", "altair"), ("vl_convert", "vl-convert-python")):
        if find_spec(module) is None:
            return missing_extra(package, "figures", "Drawing a figure")
    return None


def unchecked() -> AbstractContextManager[None]:
    """Make charts without Altair's validation of each part, which takes most of the time; tests validate charts."""
    checks: AbstractContextManager[None] = altair().utils.schemapi.debug_mode(False)
    return checks


def chart_specification(draw: Callable[[], Any]) -> dict[str, Any]:
    """A chart as Vega-Lite."""
    with unchecked():
        specification: dict[str, Any] = draw().to_dict(validate=False)
    return specification


def drawn(chart: Any, format: Literal["svg", "pdf"]) -> bytes:
    """The chart as the content of a file."""
    specification: dict[str, Any] = _inert(chart.to_dict(validate=False))
    try:
        import vl_convert
    except ImportError as error:
        raise missing_extra("vl-convert-python", "figures", "Drawing a figure") from error
    try:
        if format == "pdf":
            pdf: bytes = vl_convert.vegalite_to_pdf(specification, allowed_base_urls=[])
            return pdf
        svg: str = vl_convert.vegalite_to_svg(specification, allowed_base_urls=[])
    except ValueError as error:
        raise DialgaugeError(f"the figure cannot be drawn ({' '.join(str(error).split())[:200]})") from error
    return svg.encode()


def _inert(value: Any) -> Any:
    """The specification with every text fit to be drawn: a control character makes the renderer end the process."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {plain(key): _inert(item) for key, item in value.items()}
    return [_inert(item) for item in value] if isinstance(value, list) else value


#: More digits behind the point than that are not read.
_DIGITS = 5


class Ticks(Struct, frozen=True):
    """The numbers at an axis, from its beginning to its end, and how d3 prints them."""

    values: list[float]
    format: str

    @property
    def domain(self) -> list[float]:
        return [self.values[0], self.values[-1]]

    def scale(self, alt: Any) -> Any:
        return {"domain": self.domain, "nice": False, "zero": False}

    def axis(self, alt: Any, **look: Any) -> Any:
        # With fewer ticks in mind, the renderer drops every other value, and so the last one.
        return dict(values=self.values, tickCount=len(self.values), format=self.format, **look)


def ticks(numbers: Sequence[float], *, most: int = 5, whole: bool = False) -> Ticks:
    """An axis in at most so many steps that shows these numbers; a single one is shown from 0.

    >>> ticks([0.0024, 0.0028], most=3)
    Ticks(values=[0.0024, 0.0026, 0.0028], format=',.4f')
    """
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    if low == high:
        low, high = min(low, 0.0), max(high, 0.0) or (0.0 if low else 1.0)
    exponent = math.floor(math.log10((high - low) / most))
    while True:
        for factor in (1, 2, 5):
            first, last = (_steps(end, factor, exponent, up=up) for end, up in ((low, False), (high, True)))
            if last - first <= most and not (whole and exponent < 0):
                digits = max(0, -exponent)
                values = [_number(step * factor, exponent) for step in range(first, last + 1)]
                return Ticks(values, f",.{digits}f" if digits <= _DIGITS else "~e")
        exponent += 1


def share_ticks(percentages: Sequence[float], *, most: int = 5) -> Ticks:
    """The part of an axis from 0 to 100 that shows these numbers with some room, never beyond its ends."""
    low, high = min(percentages, default=0.0), max(percentages, default=100.0)
    room = max(1.0, 0.08 * (high - low))
    ends = max(0.0, 5.0 * math.floor((low - room) / 5)), min(100.0, 5.0 * math.ceil((high + room) / 5))
    return ticks(ends, most=most)


def _steps(end: float, factor: int, exponent: int, *, up: bool) -> int:
    """The number of steps from 0 to the tick at or beyond an end; the last bits of a quotient are no step."""
    quotient = end / factor * 10.0**-exponent
    nearest = round(quotient)
    if math.isclose(quotient, nearest, rel_tol=1e-9, abs_tol=1e-9):
        return nearest
    return math.ceil(quotient) if up else math.floor(quotient)


def _number(steps: int, exponent: int) -> float:
    """``steps`` at a decimal place, without the last bits that multiplying leaves: 0.01, not 0.0099999999999999985."""
    return float(f"{steps}e{exponent}")
