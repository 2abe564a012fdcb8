"""Why tasks failed, counted by groups of reasons: for charts, filters and sentences about runs of tasks and the lab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialgauge.presentation import NAMED, columns, tallied
from dialgauge.rendering import plain
from dialgauge.tasks.reasons import OTHER, REASON_GROUPS, REASONS, reason_texts

if TYPE_CHECKING:
    import polars

    from dialgauge.presentation import DialogueRows
    from dialgauge.runs import Run


def dialogue_reasons(tables: DialogueRows, dialogue: str, rule: str) -> list[str]:
    """Why each domain of a dialogue failed by a rule set."""
    rows = [row for row in tables.records(REASONS, dialogue) if row["rule"] == rule]
    return [f"{plain(domain or '')}: {plain(why)}" for (_, domain, _), why in reason_texts(rows).items()]


def reason_groups(reasons: polars.DataFrame) -> polars.DataFrame:
    """Of a table ``reasons``, each group once for each task: dialogue, domain, rule, group."""
    import polars as pl

    group = pl.col("reason").replace_strict(REASON_GROUPS, default=OTHER, return_dtype=pl.String)
    given = reasons.filter(pl.col("reason").fill_null("") != "")
    return given.select("dialogue", "domain", "rule", group.alias("group")).unique(maintain_order=True)


def reason_pairs(reasons: polars.DataFrame) -> polars.DataFrame:
    """Dialogues with the groups and rules of their reasons, for a filter."""
    import polars as pl

    return reason_groups(reasons).select("dialogue", pl.format("{} ({})", "group", "rule").alias("value"))


def reason_counts(reasons: polars.DataFrame, by: str) -> dict[str, dict[str, int]]:
    """How often each group occurs, by the values of another column."""
    counts: dict[str, dict[str, int]] = {}
    for group, value, count in reason_groups(reasons).group_by("group", by).len().sort("group", by).rows():
        counts.setdefault(group, {})[value or "unknown"] = count
    return counts


def frequent_reasons(run: Run, rule: str) -> str:
    """The groups of reasons that occur most, with their numbers."""
    frame = columns(run, REASONS, text=("dialogue", "domain", "rule", "reason"))
    if frame is None:
        return ""
    groups = tallied(reason_groups(frame.filter(frame["rule"] == rule))["group"])
    return "; ".join(f"{group} ({count:,})" for group, count in groups[:NAMED])
