"""The paper's figures drawn: one panel for each domain, one bar for each behaviour, every bar with its number."""

from __future__ import annotations

from typing import Any

from dialgauge.report.figures.style import INK, SHADES, altair, data, styled
from dialgauge.users.figures import PaperFigure

_UNITS = {"dialogues": "dialogues", "goals": "goals", "percent": "percent"}


def chart(figure: PaperFigure) -> Any:
    """A figure as a chart, in one hue: domains stand beside each other, behaviours below each other.

    A figure with a single bar for each domain needs no panels: there the domains stand below each other.
    """
    alt = altair()
    digits = 1 if figure.unit == "percent" else 0
    shown = [bar for bar, heights in figure.bars.items() if any(heights.values())]
    heights = [
        (domain, bar, height) for bar in shown for domain in figure.domains if (height := figure.bars[bar].get(domain))
    ]
    rows = [
        {"domain": domain, "bar": bar, "value": height, "text": f"{height:.{digits}f}"}
        for domain, bar, height in heights
    ]
    largest = max((height for *_, height in heights), default=1.0)
    single = len(shown) == 1
    x = alt.X(
        "value:Q",
        title=_UNITS[figure.unit],
        scale=alt.Scale(domain=[0, largest * 1.25], nice=False),
        axis=alt.Axis(grid=False, tickCount=3),
    )
    y = alt.Y("domain:N", sort=figure.domains, title=None) if single else alt.Y("bar:N", sort=shown, title=None)
    base = alt.Chart(data(rows)).encode(x=x, y=y)
    bars = base.mark_bar(color=SHADES[1], stroke=INK, strokeWidth=0.6)
    numbers = base.mark_text(align="left", dx=4, fontSize=10).encode(text="text:N")
    panel = (bars + numbers).properties(width=320 if single else 120, height=alt.Step(20))
    drawn = panel if single else panel.facet(column=alt.Column("domain:N", title=None, sort=figure.domains))
    return styled(drawn, title=f"Figure {figure.key}. {figure.title}")
