"""Figures that count dialogues: where the first error falls, and how many slots a dialogue has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dialgauge.report.figures.style import INK, QUIET, SHADES, altair, data, styled


def error_onset(positions: Sequence[float], *, bins: int = 10, title: str = "", note: str = "") -> Any:
    """Histogram of the relative position (0 to 1) of the first wrong turn, among dialogues that end wrong."""
    alt = altair()
    tally = Counter(min(int(position * bins), bins - 1) for position in positions)
    rows = [{"low": place / bins, "high": (place + 1) / bins, "n": tally[place]} for place in range(bins)]
    x = alt.X(
        "low:Q",
        title="relative position of the first wrong turn",
        bin="binned",
        axis=alt.Axis(format=".1f", grid=False),
    )
    base = alt.Chart(data(rows)).encode(x=x, x2="high:Q")
    bars = base.mark_bar(color=SHADES[1], stroke=INK, strokeWidth=0.6).encode(
        y=alt.Y("n:Q", title="dialogues", axis=alt.Axis(grid=False, tickMinStep=1))
    )
    middle = alt.Chart(data([{"x": (row["low"] + row["high"]) / 2, "n": row["n"]} for row in rows if row["n"]]))
    numbers = middle.mark_text(dy=-7).encode(x="x:Q", y="n:Q", text="n:Q")
    heading = title or "Where the first error falls"
    return styled((bars + numbers).properties(width=420, height=240), title=heading, note=note)


def slots_per_dialogue(counts: Sequence[int], *, threshold: int | None = None, title: str = "", note: str = "") -> Any:
    """Histogram of the largest number of slots a dialogue's states hold; a rule marks ``threshold``."""
    alt = altair()
    tally = Counter(counts)
    rows = [{"slots": slots, "n": tally[slots]} for slots in range(min(tally, default=0), max(tally, default=0) + 1)]
    steps = [row["slots"] for row in rows]
    x = alt.X("slots:O", title="slots in the fullest state of a dialogue", sort=steps, axis=alt.Axis(labelAngle=0))
    base = alt.Chart(data(rows)).encode(
        x=x, y=alt.Y("n:Q", title="dialogues", axis=alt.Axis(grid=False, tickMinStep=1))
    )
    layers = base.mark_bar(color=SHADES[1], stroke=INK, strokeWidth=0.6)
    layers = layers + base.mark_text(dy=-7, fontSize=9).encode(text=alt.Text("n:Q"))
    if threshold is not None and threshold in steps:
        below = sum(count < threshold for count in counts) / max(len(counts), 1)
        mark = alt.Chart(data([{"slots": threshold, "text": f"{below:.1%} below {threshold}"}]))
        layers = layers + mark.mark_rule(color=INK, strokeDash=[4, 3], xOffset=-11).encode(x=x)
        layers = layers + mark.mark_text(align="left", baseline="top", xOffset=-5, color=QUIET).encode(
            x=x, y=alt.value(0), text="text:N"
        )
    heading = title or "Slots per dialogue"
    return styled(layers.properties(width=alt.Step(22), height=240), title=heading, note=note)
