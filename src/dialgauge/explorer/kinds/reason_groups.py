"""Reasons of failure in a few groups, without the names and values in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialgauge.tasks import OTHER, REASON_GROUPS

if TYPE_CHECKING:
    import polars


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
