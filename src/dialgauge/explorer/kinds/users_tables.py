"""The page of a users run: its tables, and charts of lost points and behaviours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.report import Table
from dialgauge.users import (
    COMBINED,
    FAULTS,
    MEASURES,
    confusion_table,
    loop_table,
    meaning,
    score_tables,
    verdict_table,
)

if TYPE_CHECKING:
    from dialgauge.explorer.library import Library
    from dialgauge.runs import Run

#: Domains that a chart tells apart.
_MOST_DOMAINS = 4
_OTHER = "other domains"
#: What the behaviours are about whose labels have two parts.
_MENTIONS = {
    "multiple_constraint_informs": "repeated constraint",
    "constraints_not_in_goal": "constraint outside the goal",
    "multiple_slot_requests": "repeated request",
}
_LOST = {fault: f"lost_{fault.lower().replace(' ', '_')}" for fault in FAULTS}


def run_tables(library: Library, run: Run) -> list[Table]:
    """What the family prints of a run; a table of the run that is missing, or empty, has none here."""
    tables = score_tables(run) if "scored_dialogues" in run.details else []
    makers: dict[str, Callable[[Run], Table]] = {
        "verdicts": verdict_table,
        "behaviours": partial(_behaviour_table, library),
        "loops": loop_table,
        "confusions": confusion_table,
    }
    return [*tables, *(make(run) for name, make in makers.items() if name in run.tables and run.tables[name].rows)]


def _behaviour_table(library: Library, run: Run) -> Table:
    import polars as pl

    counted = library.table(run, "behaviours").drop_nulls("behaviour").group_by("behaviour")
    counts = counted.agg(pl.len(), pl.col("dialogue").n_unique().alias("dialogues"))
    table = Table("Behaviours", ["behaviour", "records", "dialogues", "meaning"])
    for label, records, dialogues in counts.sort(["len", "behaviour"], descending=[True, False]).iter_rows():
        table.add(label, records, dialogues, meaning(label))
    return table


def lost_charts(library: Library, run: Run) -> Iterator[tuple[str, Callable[[], Any]]]:
    """A chart of lost points for each measure that lost any."""
    if "domain_scores" not in run.tables or not set(_LOST.values()) <= set(library.table(run, "domain_scores").columns):
        return
    for measure in MEASURES:
        bars = library.of_run(f"lost points {measure}", run, partial(_lost_points, library, run, measure))
        if any(points for split in bars.values() for points in split.values()):
            yield f"lost points {measure}", partial(_lost_chart, bars, measure)


def _lost_points(library: Library, run: Run, measure: str) -> dict[str, dict[str, int]]:
    """Domain to fault to points."""
    import polars as pl

    rows = library.table(run, "domain_scores").drop_nulls("domain")
    rows = rows.filter(pl.col("measure") == measure, pl.col("domain") != COMBINED)
    sums = rows.group_by("domain").agg(pl.col(*_LOST.values()).sum())
    return {row["domain"]: {fault: row[column] for fault, column in _LOST.items()} for row in sums.to_dicts()}


def _lost_chart(bars: dict[str, dict[str, int]], measure: str) -> Any:
    from dialgauge.explorer.charts import stacked_bars

    title = f"Points lost in {measure}, by domain and fault"
    return stacked_bars(bars, list(FAULTS), title=title, value="lost points (FP + FN)")


def _in_words(label: str) -> str:
    """What a behaviour means, after the kind of mention it is about."""
    kind = _MENTIONS.get(label.partition("/")[0])
    return f"{kind}: {meaning(label)}" if kind else meaning(label)


def behaviour_chart(library: Library, run: Run) -> Any:
    """In how many dialogues each behaviour was seen, by domain."""
    import polars as pl

    from dialgauge.explorer.charts import stacked_bars

    seen = library.table(run, "behaviours").select("dialogue", "behaviour", pl.col("domain").fill_null(""))
    counts = seen.drop_nulls("behaviour").unique().group_by("behaviour", "domain").len()
    domains = counts.group_by("domain").agg(pl.col("len").sum()).sort(["len", "domain"], descending=[True, False])
    shown = domains["domain"].head(_MOST_DOMAINS).to_list()
    bars: dict[str, dict[str, int]] = {}
    for label, domain, count in counts.iter_rows():
        group = (domain or "no domain") if domain in shown else _OTHER
        of_label = bars.setdefault(_in_words(label), {})
        of_label[group] = of_label.get(group, 0) + count
    groups = [*(domain or "no domain" for domain in shown), _OTHER]
    return stacked_bars(bars, groups, title="Behaviours by domain", value="dialogues, counted once for each domain")
