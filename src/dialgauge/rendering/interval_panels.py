"""Scores as points in their intervals: a panel for each measure, a line for each system, the numbers at the right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from dialgauge.rendering.figures import INK, QUIET, SHADES, Ticks, altair, data, share_ticks, styled, ticks

#: Panels side by side before the next row begins.
_ACROSS = 3

#: Pixels across of a panel beside others, and between two of them.
_PANEL = 170
_BETWEEN = 22

#: Letters on a line of the name of such a panel.
_LETTERS = 40

#: Steps of an axis: labels of shares are short, those of other numbers may not be.
_SHARE_STEPS, _STEPS = 5, 3


def interval_plot(
    rows: Sequence[Mapping[str, Any]],
    *,
    same_axis: bool = False,
    whole_axis: bool = False,
    width: int = _PANEL,
    title: str = "",
    note: str | Sequence[str] = "",
) -> Any:
    """One panel per measure, one line per system: the score as a point in its confidence interval.

    Each row has ``system``, ``measure``, ``value``, ``low`` and ``high``; with ``percent``, these are shares and shown
    in percent. Without an interval both ends are None, or not a number. The numbers stand at the right of a panel,
    where no name and no bar is in their way, and a row's ``cases`` behind them. ``same_axis``: the panels have one
    scale, because what they show is one measure. ``whole_axis``: shares stand on an axis from 0 to 100, not on the part
    of it that shows them.
    """
    alt = altair()
    shown = [_scaled(row) for row in rows if row["value"] is not None]
    systems = list(dict.fromkeys(row["system"] for row in shown))
    panels = []
    for index, measure in enumerate(dict.fromkeys(row["measure"] for row in shown)):
        ours = [row for row in shown if row["measure"] == measure]
        marked = _ticks(shown if same_axis else ours, whole_axis)
        panels.append(_panel(alt, ours, measure, systems, marked, labelled=not index % _ACROSS, width=width))
    rows_of_panels = [
        alt.hconcat(*panels[start : start + _ACROSS], spacing=_BETWEEN) for start in range(0, len(panels), _ACROSS)
    ]
    chart = rows_of_panels[0] if len(rows_of_panels) == 1 else alt.vconcat(*rows_of_panels, spacing=_BETWEEN)
    return styled(chart, title=title or "Scores with confidence intervals", note=note)


def _scaled(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row as it is drawn: shares in percent, with the sign in the panel's title."""
    share = bool(row.get("percent"))
    ends = row["low"], row["high"]
    known = not any(end is None or math.isnan(end) for end in ends)
    value, low, high = (
        (100 if share else 1) * number for number in (row["value"], *(ends if known else [row["value"]] * 2))
    )
    text = _number(value, share=share)
    if known:
        text += f" [{_number(low, share=share)}, {_number(high, share=share)}]"
    if row.get("cases") is not None:
        text += f", n = {row['cases']:,}"
    measure = row["measure"]
    if share:
        measure += ", %" if measure.endswith(")") else " (%)"
    return dict(row, value=value, low=low, high=high, measure=measure, text=text)


def _number(value: float, *, share: bool) -> str:
    """A percentage with one digit behind the point; other numbers with two, whole ones with none, small ones with two
    that count."""
    if share:
        return f"{value:.1f}"
    if value == round(value):
        return f"{value:,.0f}"
    return f"{value:.2g}" if abs(value) < 0.1 else f"{value:,.2f}"


def _ticks(rows: Sequence[Mapping[str, Any]], whole: bool) -> Ticks:
    """An axis that shows these rows: of shares 0 to 100, or a part of it."""
    ends = [row[end] for row in rows for end in ("value", "low", "high")]
    if not all(row.get("percent") for row in rows):
        return ticks(ends, most=_STEPS)
    return ticks([0.0, 100.0]) if whole else share_ticks(ends, most=_SHARE_STEPS)


def _panel(
    alt: Any, rows: list[dict[str, Any]], measure: str, systems: list[str], marked: Ticks, *, labelled: bool, width: int
) -> Any:
    """The systems on one measure; the systems' names stand at the leftmost panel only."""
    axis = {"ticks": False, "domain": False, "labelPadding": 8} if labelled else None
    # All systems, also those without this score: the names stand at the leftmost panel only, and lines must match them.
    y = alt.Y("system:N", sort=systems, scale={"domain": systems}, title=None, axis=axis)
    base = alt.Chart(data(rows)).encode(y=y)
    x = alt.X("low:Q", title=None, scale=marked.scale(alt), axis=marked.axis(alt))
    rule = _marked(base, "rule", color=SHADES[1], strokeWidth=3).encode(x=x, x2=alt.X2("high:Q"))
    # Narrower than most intervals are: a dot must not hide that there is one.
    point = _marked(base, "tick", color=INK, size=11, thickness=2, opacity=1).encode(x=alt.X("value:Q"))
    number = _marked(base, "text", align="left", dx=8, fontSize=10, color=QUIET).encode(
        x=alt.value(width), text=alt.Text("text:N")
    )
    letters = _LETTERS * width // _PANEL
    title = {
        "text": wrap(measure, letters, break_on_hyphens=False) or "",
        "fontSize": 12,
        "anchor": "start",
        "frame": "group",
    }
    return (rule + point + number).properties(width=width, height=alt.Step(24), title=title)


def _marked(chart: Any, mark: str, **look: Any) -> Any:
    """The chart with a mark; Altair's own method gives it a hundred undefined properties, each copied ten times."""
    copied = chart.copy(deep=False)
    copied.mark = {"type": mark, **look}
    return copied
