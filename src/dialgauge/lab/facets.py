"""How conversations of the lab can be filtered: by verdict, end, reason of failure, calls and loops."""

from __future__ import annotations

from functools import partial

import polars as pl

from dialgauge.agents import END_WORDS
from dialgauge.presentation import READ_FIRST, Facet
from dialgauge.tasks import CALLS, CONVERSATIONS, LOOP, OUTCOMES, REASONS, reason_pairs

#: What makes a conversation worth reading first.
ONLY_USER, BOTH, LUCKY = "failed, only the user erred", "failed, both erred", "done although somebody erred"
BLAME, SIDES = "blame", "blame_sides"
OUTCOME_RULES = ("strict", "compat")


def _verdict(rules: str, frame: pl.DataFrame) -> pl.DataFrame:
    words = pl.when(pl.col(rules)).then(pl.lit("done")).when(~pl.col(rules)).then(pl.lit("not done"))
    return frame.select("dialogue", words.otherwise(pl.lit("not judged")).alias("value"))


def _steady(frame: pl.DataFrame) -> pl.DataFrame:
    """Whether all conversations about a goal went the same way by the strict rules; of several only."""
    share = pl.col("strict").cast(pl.Float64).mean().over("goal")
    value = pl.when(share == 1).then(pl.lit("all pass")).when(share == 0).then(pl.lit("none passes"))
    several = frame.with_columns(value.otherwise(pl.lit("some pass")).alias("value")).filter(pl.len().over("goal") > 1)
    return several.select("dialogue", "value")


def _failed(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(~pl.col("success")).select("dialogue", pl.format("{} ({})", "domain", "rule").alias("value"))


def _call_kinds(frame: pl.DataFrame) -> pl.DataFrame:
    """Calls by what came of them, whatever the number of rows."""
    row_count = pl.when(pl.col("name") == "search").then(pl.col("rows").list.len())
    kind = (
        pl.when(row_count == 0).then(pl.lit("found nothing"))
        .when(row_count == 1).then(pl.lit("found one"))
        .when(row_count > 1).then(pl.lit("found several"))
        .otherwise(pl.col("outcome"))
    )  # fmt: skip
    return frame.select("dialogue", pl.format("{}: {}", "name", kind).alias("value"))


def _blamed(frame: pl.DataFrame) -> pl.DataFrame:
    cause = pl.col("cause").str.replace_all("_", " ")
    return frame.filter(pl.col("first")).select("dialogue", pl.format("{}: {}", "side", cause).alias("value"))


def _read_first(frame: pl.DataFrame) -> pl.DataFrame:
    """Conversations by what makes them worth reading: the verdict, and who erred."""
    user, system, done = (pl.col(name) for name in ("user_erred", "system_erred", "success"))
    value = (
        pl.when(~done & user & ~system).then(pl.lit(ONLY_USER))
        .when(~done & user & system).then(pl.lit(BOTH))
        .when(~done & system).then(pl.lit("failed, only the system erred"))
        .when(done & (user | system)).then(pl.lit(LUCKY))
    )  # fmt: skip
    return frame.select("dialogue", value.alias("value")).drop_nulls()


def _loops(frame: pl.DataFrame) -> pl.DataFrame:
    loop = pl.when(pl.col("longest_run") >= LOOP).then(pl.lit("yes")).otherwise(pl.lit("no"))
    return frame.drop_nulls("longest_run").select("dialogue", loop.alias("value"))


#: How conversations of the lab can be filtered.
LAB_FACETS = (
    *(Facet(rules, f"by {rules} rules", CONVERSATIONS, (), pairs=partial(_verdict, rules)) for rules in OUTCOME_RULES),
    Facet("end", "how it ended", CONVERSATIONS, ("reason",), words=END_WORDS, absent="not recorded"),
    Facet("by", "ended by", CONVERSATIONS, ("ended_by",)),
    Facet("why", "why a task failed", REASONS, (), pairs=reason_pairs),
    Facet("failed", "domain that failed", OUTCOMES, (), pairs=_failed),
    Facet("steady", "trials of its goal", CONVERSATIONS, (), pairs=_steady),
    Facet("call", "call to the database", CALLS, (), pairs=_call_kinds),
    Facet("blame", "blamed on", BLAME, (), pairs=_blamed),
    Facet(READ_FIRST, "read first", SIDES, (), pairs=_read_first),
    Facet("loop", f"same user turn {LOOP} times in a row", CONVERSATIONS, (), pairs=_loops),
)
