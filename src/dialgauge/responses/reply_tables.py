"""Tables and charts of a run of replies: accuracy by class, ranks of the gold reply, how conversations ended."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dialgauge.presentation import RunTables
from dialgauge.rendering import INK, Column, Table, altair, data, shades, styled
from dialgauge.stats import ratio_intervals

if TYPE_CHECKING:
    from dialgauge.runs import Run

#: Where the bars of ranks begin.
_STEPS = (1, 2, 3, 6, 11, 21, 51, 101, 501, 1001)
_UNKNOWN = "not known"


def _classes(library: RunTables, run: Run) -> list[dict[str, Any]]:
    """What became of the replies of each class, by the name of the class."""
    import polars as pl

    replies = library.table(run, "replies").with_columns(pl.col("class").fill_null(_UNKNOWN))
    counts = replies.group_by("class").agg(
        pl.len().alias("replies"),
        pl.col("correct").fill_null(False).sum().alias("right"),
        (pl.col("chosen").fill_null("") == "").sum().alias("unanswered"),
        pl.col("tied").fill_null(False).sum().alias("tied"),
        pl.col("rank").median().alias("median rank"),
    )
    return counts.sort("class").to_dicts()


def class_table(library: RunTables, run: Run) -> Table:
    """How many replies of each class are right, and where the gold reply is ranked."""
    columns = [Column("accuracy %", digits=2, percent=True), Column("median rank of gold", digits=1)]
    table = Table("Accuracy by class of reply", ["class", "replies", "right", *columns, "no answer", "tied"])
    for row in library.of_run("classes of replies", run, lambda: _classes(library, run)):
        share = row["right"] / row["replies"]
        table.add(row["class"], row["replies"], row["right"], share, row["median rank"], row["unanswered"], row["tied"])
    return table


def class_chart(library: RunTables, run: Run) -> Any:
    """Accuracy of each class as a point in its interval, with its number of replies; dialogues are resampled."""
    share = Column("", digits=1, percent=True)
    rows = [
        {**row, "text": f"{share.text(row['value'] / 100)}% of {row['replies']:,}"}
        for row in library.of_run("accuracy of classes", run, lambda: _class_accuracy(library, run))
    ]
    alt = altair()
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("class:N", sort=[row["class"] for row in rows], title=None), tooltip=["class:N", "text:N"]
    )
    across = {
        "title": "replies that are right, in percent",
        "scale": {"domain": [0, 100], "nice": False},
        "axis": {"grid": True, "values": [0, 25, 50, 75, 100]},
    }
    rules = base.mark_rule(color=shades(2)[1], strokeWidth=3).encode(x=alt.X("low:Q", **across), x2=alt.X2("high:Q"))
    points = base.mark_circle(color=INK, size=48, opacity=1).encode(x=alt.X("value:Q", **across))
    numbers = base.mark_text(align="left", fontSize=10).encode(x=alt.value(428), text=alt.Text("text:N"))
    drawn = (rules + points + numbers).properties(width=420, height=alt.Step(20))
    return styled(drawn, title="Accuracy by class of reply", note="95% intervals")


def _class_accuracy(library: RunTables, run: Run) -> list[dict[str, Any]]:
    """By class its replies, the percentage that is right, and the ends of its interval."""
    import polars as pl

    replies = library.table(run, "replies").select(
        "dialogue", pl.col("class").fill_null(_UNKNOWN), pl.col("correct").fill_null(False)
    )
    sums = replies.group_by("class", "dialogue").agg(pl.col("correct").sum(), pl.len())
    classes = sums["class"].unique().sort().to_list()
    places = {name: index for index, name in enumerate(sums["dialogue"].unique().sort().to_list())}
    right, whole = (np.zeros((len(classes), len(places))) for _ in range(2))
    for name, dialogue, correct, size in sums.iter_rows():
        at = classes.index(name), places[dialogue]
        right[at], whole[at] = correct, size
    values = right.sum(axis=1) / whole.sum(axis=1)
    ends = ratio_intervals(right, whole, bounds=(0.0, 1.0))
    rows = zip(classes, whole.sum(axis=1).tolist(), values.tolist(), ends.tolist(), strict=True)
    return [
        {"class": name, "replies": int(size), "value": 100 * value, **_percent_ends(low, high, value)}
        for name, size, value, (low, high) in rows
    ]


def _percent_ends(low: float, high: float, value: float) -> dict[str, float]:
    known = (low, high) if low == low else (value, value)
    return {"low": 100 * known[0], "high": 100 * known[1]}


def _ranks(library: RunTables, run: Run) -> list[tuple[str, int]]:
    """How many gold replies stand at which ranks."""
    ranks = library.table(run, "replies")["rank"].drop_nulls()
    steps = [*_STEPS, max([_STEPS[-1], *ranks.to_list()]) + 1]
    counted = [
        (f"{low:,}" if high - low == 1 and low < _STEPS[3] else f"{low:,}–{high - 1:,}", low, high)
        for low, high in pairwise(steps)
    ]
    bars = [(name, int(ranks.is_between(low, high, closed="left").sum())) for name, low, high in counted]
    last = max((index for index, (_, count) in enumerate(bars) if count), default=0)
    return bars[: last + 1]


def rank_table(library: RunTables, run: Run) -> Table:
    """How many gold replies stand at which ranks."""
    table = Table("Rank of the gold reply", ["rank", "replies"])
    for name, count in _ranks(library, run):
        table.add(name, count)
    return table


def stated_ranks(library: RunTables, run: Run) -> Any:
    """The ranks of the gold reply as bars, which grow wider as ranks get worse."""
    ranks = _ranks(library, run)
    rows = [{"rank": name, "replies": count, "text": f"{count:,}"} for name, count in ranks]
    alt = altair()
    largest = max(count for _, count in ranks) or 1
    scale = {"domain": [0, 1.2 * largest], "nice": False}  # room for the number beside the longest bar
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("rank:N", sort=[row["rank"] for row in rows], title="rank of the gold reply"),
        x=alt.X("replies:Q", title="replies", scale=scale, axis={"grid": False, "tickMinStep": 1}),
        tooltip=["rank:N", "replies:Q"],
    )
    bars = base.mark_bar(color=shades(3)[1], stroke=INK, strokeWidth=0.6)
    numbers = base.mark_text(align="left", dx=4, fontSize=10).encode(text=alt.Text("text:N"))
    return styled((bars + numbers).properties(width=420, height=alt.Step(20)), title="Rank of the gold reply")


def outcome_table(library: RunTables, run: Run) -> Table:
    """How many conversations ended in which way."""
    import polars as pl

    ends = library.table(run, "outcomes").select(
        pl.col("success").cast(pl.String).replace({"true": "done", "false": "not done"}).fill_null("not judged"),
        pl.col("reason", "ended_by").fill_null(""),
    )
    counts = ends.group_by("success", "reason", "ended_by").len()
    order = ["len", "success", "reason", "ended_by"]
    table = Table("How the conversations ended", ["task", "reason", "ended by", "conversations"])
    for row in counts.sort(order, descending=[True, False, False, False]).iter_rows():
        table.add(*row)
    return table
