"""Heat maps of correlation matrices, every cell with its number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialgauge.report.figures.style import INK, PAPER, altair, data, styled

_UNDEFINED = "#efefef"


def correlation_heatmap(
    names: Sequence[str], matrix: Sequence[Sequence[float | None]], *, title: str = "", note: str = ""
) -> Any:
    """A correlation matrix. Undefined correlations are pale cells with a dash.

    Without negative values the scale runs from 0 to 1 in one hue; with them it runs from -1 to 1, and the numbers say
    which side is which, also in grey. They make a legend of the colours superfluous.
    """
    alt = altair()
    rows: list[dict[str, Any]] = [
        {"row": row, "column": column, "r": value, "text": "–" if value is None else f"{value:.2f}".replace("-", "−")}
        for row, values in zip(names, matrix, strict=True)
        for column, value in zip(names, values, strict=True)
    ]
    negative = any(row["r"] is not None and row["r"] < 0 for row in rows)
    domain, scheme = ([-1, 1], "purpleorange") if negative else ([0, 1], "blues")
    order = list(names)
    base = alt.Chart(data(rows)).encode(
        x=alt.X(
            "column:N", sort=order, title=None, axis=alt.Axis(labelAngle=0, orient="top", ticks=False, domain=False)
        ),
        y=alt.Y("row:N", sort=order, title=None, axis=alt.Axis(ticks=False, domain=False)),
    )
    scale = alt.Scale(domain=domain, scheme=scheme, reverse=negative)
    cells = base.mark_rect(stroke=PAPER, strokeWidth=2, invalid="show").encode(
        color=alt.condition("datum.r === null", alt.value(_UNDEFINED), alt.Color("r:Q", scale=scale, legend=None))
    )
    dark = "abs(datum.r) > 0.62" if negative else "datum.r > 0.7"
    numbers = base.mark_text(fontSize=12).encode(
        text="text:N", color=alt.condition(dark, alt.value(PAPER), alt.value(INK))
    )
    size = alt.Step(max(58, 7 * max(map(len, names), default=0)))
    chart = (cells + numbers).properties(width=size, height=alt.Step(40))
    return styled(chart, title=title or "Correlation of measures", note=note)
