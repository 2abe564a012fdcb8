"""The charts: means, lines over lambda, bars by domain, histograms of dialogues, correlations."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev
from textwrap import wrap
from typing import Any

from dialgauge.rendering.figures import (
    DIVERGING,
    INK,
    PAPER,
    QUIET,
    RISING,
    SHADES,
    altair,
    data,
    lines,
    shades,
    share_ticks,
    styled,
    ticks,
)
from dialgauge.rendering.interval_panels import interval_plot

#: Between a domain and its number of cases, which stands on a line of its own.
_BREAK = " · "

#: Pixels of a bar beside others, and of a letter below it.
_BAR, _LETTER = 26, 7

#: So many letters make a line, however narrow bars are.
_SHORT = 13

#: Crossings that are labelled; more would hide each other.
_LABELLED = 4

#: How much of the paper a band of intervals covers: bands of several systems lie over each other.
_BAND = 0.16

#: The cell of an undefined correlation.
_UNDEFINED = "#e4e4e4"


def mean_spread(
    values: Mapping[str, Sequence[float]], *, percent: bool = False, title: str = "", note: str = ""
) -> Any:
    """Bars of each measure's mean over systems, whiskers of one standard deviation, a dot for every system.

    ``values`` has by measure those of the systems; with ``percent`` they are shares, and the axis ends at 100.
    """
    alt = altair()
    scale, digits = (100.0, 1) if percent else (1.0, 3)
    order = [name for name, numbers in values.items() if numbers]
    rows = []
    for name in order:
        mean, spread = scale * fmean(values[name]), scale * pstdev(values[name])
        ends = {"mean": mean, "low": mean - spread, "high": mean + spread}
        top, text = max(mean + spread, scale * max(values[name])), f"{mean:.{digits}f} ± {spread:.{digits}f}"
        rows.append({"measure": name, **ends, "top": top, "text": text})
    x = alt.X("measure:N", sort=order, title=None, axis={"labelAngle": 0})
    base = alt.Chart(data(rows)).encode(x=x)
    y = alt.Y(
        "mean:Q",
        title="mean over systems (%)" if percent else "mean over systems",
        scale={"domain": [0, 100]} if percent else alt.Undefined,
        axis={"grid": False},
    )
    layers = base.mark_bar(color=SHADES[2], stroke=INK, strokeWidth=0.6, size=48).encode(y=y)
    single = [{"measure": name, "value": scale * value} for name in order for value in values[name]]
    dots = alt.Chart(data(single)).mark_circle(color=SHADES[0], size=26, opacity=0.75, xOffset=36)
    layers = layers + dots.encode(x=x, y=alt.Y("value:Q"))
    layers = layers + base.mark_rule(color=INK, strokeWidth=1.6).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    for edge in ("low", "high"):
        layers = layers + base.mark_tick(color=INK, size=14, thickness=1.6, opacity=1).encode(y=f"{edge}:Q")
    layers = layers + base.mark_text(dy=-12).encode(y=alt.Y("top:Q"), text=alt.Text("text:N"))
    legend = [*filter(None, [note]), "whiskers: one standard deviation; dots: the systems"]
    heading = title or "Mean and spread across systems"
    return styled(layers.properties(width=alt.Step(120), height=260), title=heading, note=legend)


def _known_ends(interval: tuple[float, float] | None, value: float) -> tuple[float, float]:
    """The ends of an interval; the value itself where there is none, or none is defined."""
    return interval if interval and not any(map(math.isnan, interval)) else (value, value)


def lambda_sweep(
    lambdas: Sequence[float],
    scores: Mapping[str, Sequence[float]],
    *,
    intervals: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    swaps: Sequence[float] = (),
    note: str | Sequence[str] = "",
) -> Any:
    """Flexible goal accuracy over lambda, one line per system; dashed rules where two systems change places.

    ``intervals`` has the ends at each lambda: a pale band around the line, or none where they are not known.
    """
    alt = altair()
    names = list(scores)
    rows: list[dict[str, Any]] = []
    for name in names:
        known = (intervals or {}).get(name, ())
        for index, (at, value) in enumerate(zip(lambdas, scores[name], strict=True)):
            low, high = _known_ends(known[index] if known else None, value)
            rows.append({"system": name, "lambda": at, "fga": 100 * value, "low": 100 * low, "high": 100 * high})
    legend = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 2.5, "symbolSize": 500, "symbolOpacity": 1}
    colours, dashes = ({"domain": names, "range": look} for look in lines(len(names)))
    x = alt.X("lambda:Q", title="λ (0 is joint goal accuracy)", scale={"nice": False})
    marked = share_ticks([row[end] for row in rows for end in ("low", "high")])
    height = {"title": "flexible goal accuracy (%)", "scale": marked.scale(alt), "axis": marked.axis(alt)}
    base = alt.Chart(data(rows)).encode(x=x, color=alt.Color("system:N", sort=names, scale=colours, legend=legend))
    layers = base.mark_line(strokeWidth=2).encode(
        y=alt.Y("fga:Q", **height), strokeDash=alt.StrokeDash("system:N", sort=names, scale=dashes, legend=legend)
    )
    if any(row["low"] < row["high"] for row in rows):
        bands = base.mark_area(opacity=_BAND, strokeWidth=0).encode(y=alt.Y("low:Q", **height), y2=alt.Y2("high:Q"))
        layers = bands + layers
    if swaps:
        shown = [{"lambda": at, "text": f"λ = {at:.2f}" if len(swaps) <= _LABELLED else ""} for at in swaps]
        marks = alt.Chart(data(shown))
        layers = layers + marks.mark_rule(color=QUIET, strokeDash=[2, 3]).encode(x=x)
        layers = layers + marks.mark_text(align="left", dx=4, baseline="bottom", color=QUIET).encode(
            x=x, y=alt.value(258), text=alt.Text("text:N")
        )
    return styled(layers.properties(width=420, height=260), title="FGA by strictness", note=note)


def domain_bars(
    scores: Mapping[str, Mapping[str, float | None]],
    *,
    title: str = "",
    note: str | Sequence[str] = "",
    value: str = "score",
    percent: bool = False,
    counts: Mapping[str, int | Mapping[str, int]] | None = None,
    intervals: Mapping[str, Mapping[str, tuple[float, float]]] | None = None,
) -> Any:
    """Groups of bars: ``scores`` maps a domain to its bars (measures or systems) and their heights.

    With ``percent`` heights are shares and the axis ends at 100; ``counts`` says how many cases each domain has, or
    each of its bars, and ``intervals`` between which ends a height lies.
    More bars than there are shades that readers tell apart become points in a panel for each domain, each beside its
    name.
    """
    groups = list(dict.fromkeys(name for bars in scores.values() for name in bars))
    sizes, heading = counts or {}, title or "Scores by domain"
    size_labels = {domain: f"n = {_size(sizes[domain])}" if domain in sizes else "" for domain in scores}
    rows: list[dict[str, Any]] = []
    for domain, bars in scores.items():
        for name, height in bars.items():
            if height is not None:
                interval = (intervals or {}).get(domain, {}).get(name)
                known = interval is not None and not any(map(math.isnan, interval))
                low, high = _known_ends(interval, height)
                label = _sized(_BREAK, domain, size_labels[domain])
                ends = {"low": low, "high": high, "known": known}
                rows.append({"domain": domain, "label": label, "group": name, "value": height, **ends})
    for row in rows:
        cases = sizes.get(row["domain"], {})
        row["alike"] = isinstance(cases, int) or len(set(cases.values())) < 2
        row["cases"] = cases if isinstance(cases, int) else cases.get(row["group"])
    if len(groups) > len(SHADES):
        return _domain_panels(rows, size_labels, percent=percent, title=heading, note=note)
    width = 60 if sizes else 30
    return _grouped_bars(rows, size_labels, groups, width=width, value=value, percent=percent, title=heading, note=note)


def _sized(mark: str, name: str, size: str) -> str:
    return f"{name}{mark}{size}" if size else name


def _size(cases: int | Mapping[str, int]) -> str:
    """The number of cases behind bars, of each in turn where they are not the same."""
    sizes = [cases] if isinstance(cases, int) else list(cases.values())
    return ", ".join(f"{size:,}" for size in (sizes if len(set(sizes)) > 1 else sizes[:1]))


def _domain_panels(
    rows: Sequence[Mapping[str, Any]],
    size_labels: Mapping[str, str],
    *,
    percent: bool,
    title: str,
    note: str | Sequence[str],
) -> Any:
    """A panel for each domain, a point in its interval for each bar; ``told`` is what is said of a domain's size."""
    own = [
        {
            **row,
            **({} if row["known"] else {"low": None, "high": None}),
            "system": row["group"],
            "measure": _sized(", ", row["domain"], size_labels[row["domain"]]) if row["alike"] else row["domain"],
            "percent": percent,
            "cases": None if row["alike"] else row["cases"],
        }
        for row in rows
    ]
    return interval_plot(own, same_axis=True, title=title, note=note)


def _broken(name: str, letters: int) -> str:
    """A name on lines of so many letters, or of one word: those of neighbours must not touch."""
    return _BREAK.join(wrap(name, max(letters, _SHORT), break_long_words=False, break_on_hyphens=False)) or name


def _grouped_bars(
    rows: Sequence[Mapping[str, Any]],
    size_labels: Mapping[str, str],
    groups: list[str],
    *,
    width: int,
    value: str,
    percent: bool,
    title: str,
    note: str | Sequence[str],
) -> Any:
    alt = altair()
    scale, digits = (100.0, 1) if percent else (1.0, 2)
    room = width if len(groups) == 1 else _BAR * len(groups)
    labels = {
        row["domain"]: _sized(_BREAK, _broken(row["domain"], room // _LETTER), size_labels[row["domain"]])
        for row in rows
    }
    room = max([room, *(_LETTER * len(line) for label in labels.values() for line in label.split(_BREAK))])
    shown = [
        {
            **row,
            **{name: scale * row[name] for name in ("value", "low", "high")},
            "label": labels[row["domain"]],
            "text": f"{scale * row['value']:.{digits}f}",
        }
        for row in rows
    ]
    axis = {"labelAngle": 0, "labelExpr": f"split(datum.label, '{_BREAK}')"}
    x = alt.X("label:N", sort=list(dict.fromkeys(labels.values())), title=None, axis=axis)
    base = alt.Chart(data(shown)).encode(x=x, xOffset=alt.XOffset("group:N", sort=groups))
    y = alt.Y(
        "value:Q",
        title=f"{value} (%)" if percent else value,
        scale={"domain": [0, 100]} if percent else alt.Undefined,
        axis={"grid": False},
    )
    colour = alt.Color("group:N", sort=groups, title=None, scale={"domain": groups, "range": shades(len(groups))})
    drawn = base.mark_bar(stroke=INK, strokeWidth=0.6).encode(y=y, color=colour)
    if any(row["low"] < row["high"] for row in shown):
        for colour, strokes in ((PAPER, 3.4), (INK, 1.4)):  # edged with paper, to be seen on a dark bar too
            rule = base.mark_rule(color=colour, strokeWidth=strokes, opacity=1)
            drawn = drawn + rule.encode(y="low:Q", y2="high:Q")
    numbers = base.mark_text(fontSize=9, dy=-6).encode(y=alt.Y("high:Q"), text=alt.Text("text:N"))
    step = alt.Step(room, **{"for": "position"}) if len(groups) == 1 else alt.Step(room / len(groups))
    return styled((drawn + numbers).properties(width=step, height=240), title=title, note=note)


def error_onset(counts: Sequence[int], *, note: str | Sequence[str] = "") -> Any:
    """How many dialogues that end wrong have their first wrong turn in each of the equal parts of the dialogue."""
    alt = altair()
    bins = len(counts)
    rows = [{"low": index / bins, "high": (index + 1) / bins, "n": count} for index, count in enumerate(counts)]
    height = ticks([0, *counts], whole=True)
    x = alt.X(
        "low:Q",
        title="first wrong turn, in percent of the dialogue",
        bin="binned",
        scale={"domain": [0, 1]},
        axis={"format": "%", "grid": False},
    )
    base = alt.Chart(data(rows)).encode(x=x, x2=alt.X2("high:Q"))
    bars = base.mark_bar(color=SHADES[1], stroke=INK, strokeWidth=0.6).encode(
        y=alt.Y("n:Q", title="dialogues", scale=height.scale(alt), axis=height.axis(alt, grid=False))
    )
    middle = alt.Chart(data([{"x": (row["low"] + row["high"]) / 2, "n": row["n"]} for row in rows if row["n"]]))
    numbers = middle.mark_text(dy=-7).encode(x=alt.X("x:Q"), y=alt.Y("n:Q"), text=alt.Text("n:Q"))
    drawn = (bars + numbers).properties(width=420, height=240)
    return styled(drawn, title="Where the first error falls", note=note)


def slot_histogram(counts: Sequence[int], *, threshold: int | None = None, note: str | Sequence[str] = "") -> Any:
    """Histogram of the largest number of slots a dialogue's states hold; a rule marks ``threshold``."""
    alt = altair()
    tally = Counter(counts)
    rows = [{"slots": slots, "n": tally[slots]} for slots in range(min(tally, default=0), max(tally, default=0) + 1)]
    steps = [row["slots"] for row in rows]
    x = alt.X("slots:O", title="slots in the fullest state of a dialogue", sort=steps, axis={"labelAngle": 0})
    height = ticks([0, *tally.values()], whole=True)
    base = alt.Chart(data(rows)).encode(
        x=x, y=alt.Y("n:Q", title="dialogues", scale=height.scale(alt), axis=height.axis(alt, grid=False))
    )
    layers = base.mark_bar(color=SHADES[1], stroke=INK, strokeWidth=0.6)
    layers = layers + base.mark_text(dy=-7, fontSize=9).encode(text=alt.Text("n:Q"))
    if threshold is not None and threshold in steps:
        below = sum(count < threshold for count in counts) / max(len(counts), 1)
        mark = alt.Chart(data([{"slots": threshold, "text": f"{below:.1%} below {threshold}"}]))
        layers = layers + mark.mark_rule(color=INK, strokeDash=[4, 3], xOffset=-11).encode(x=x)
        layers = layers + mark.mark_text(align="left", baseline="top", xOffset=-5, color=QUIET).encode(
            x=x, y=alt.value(0), text=alt.Text("text:N")
        )
    return styled(layers.properties(width=alt.Step(22), height=240), title="Slots per dialogue", note=note)


def correlation_heatmap(
    names: Sequence[str], matrix: Sequence[Sequence[float | None]], *, title: str = "", note: str | Sequence[str] = ""
) -> Any:
    """A correlation matrix. Undefined correlations are pale cells with a dash.

    Zero is white. Without negative values the scale runs from 0 to 1 in one hue; with them from -1 to 1 in two, and
    the numbers say which side is which, also in grey. They make a legend of the colours superfluous.
    """
    alt = altair()
    rows: list[dict[str, Any]] = [
        {"row": row, "column": column, "r": value, "text": "–" if value is None else f"{value:.2f}".replace("-", "−")}
        for row, values in zip(names, matrix, strict=True)
        for column, value in zip(names, values, strict=True)
    ]
    negative = any(row["r"] is not None and row["r"] < 0 for row in rows)
    domain, colours = ([-1, -0.5, 0, 0.5, 1], DIVERGING) if negative else ([0, 0.6, 1], RISING)
    order = list(names)
    base = alt.Chart(data(rows)).encode(
        x=alt.X(
            "column:N", sort=order, title=None, axis={"labelAngle": 0, "orient": "top", "ticks": False, "domain": False}
        ),
        y=alt.Y("row:N", sort=order, title=None, axis={"ticks": False, "domain": False}),
    )
    scale = {"domain": domain, "range": list(colours), "interpolate": "rgb"}
    cells = base.mark_rect(stroke=PAPER, strokeWidth=2, invalid="show").encode(
        color=alt.condition("datum.r === null", alt.value(_UNDEFINED), alt.Color("r:Q", scale=scale, legend=None))
    )
    dark = "abs(datum.r) > 0.7" if negative else "datum.r > 0.5"
    numbers = base.mark_text(fontSize=12).encode(
        text=alt.Text("text:N"), color=alt.condition(dark, alt.value(PAPER), alt.value(INK))
    )
    size = alt.Step(max(58, 7 * max(map(len, names), default=0)))
    chart = (cells + numbers).properties(width=size, height=alt.Step(40))
    return styled(chart, title=title or "Correlation of measures", note=note)
