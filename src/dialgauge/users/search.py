"""Finding conversations: by what happened in them, where, how often, how they scored and how they ended.

The same question can be asked of a fresh evaluation and of a stored run, because both have the same tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.users.loops import CAUSES
from dialgauge.users.records import COMBINED, ENDS, MEASURES, VERDICTS, matching_labels

if TYPE_CHECKING:
    import polars

Tables = Mapping[str, "polars.DataFrame"]

#: The tables a question can need.
NEEDED = ("behaviours", "explanations", "domain_scores", "conversations", "loops")


@dataclass(frozen=True)
class Query:
    """Conditions that must all hold. ``behaviour``, ``verdict``, ``slot`` and the turn span speak of one mention."""

    behaviour: str | None = None
    verdict: str | None = None
    domain: str | None = None
    slot: str | None = None
    first_turn: int | None = None
    last_turn: int | None = None
    #: Something was said again at least this often.
    min_repeats: int | None = None
    measure: str = "I-GCDF1"
    min_score: float | None = None
    max_score: float | None = None
    min_turns: int | None = None
    max_turns: int | None = None
    end: str | None = None
    cause: str | None = None

    def __post_init__(self) -> None:
        for name, known in (("measure", MEASURES), ("verdict", VERDICTS), ("end", ENDS), ("cause", CAUSES)):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise DialgaugeError(f"there is no {name} '{value}'.{nearest(value, known)}")
        for low, high in (("first_turn", "last_turn"), ("min_score", "max_score"), ("min_turns", "max_turns")):
            least, most = getattr(self, low), getattr(self, high)
            if any(limit is not None and math.isnan(limit) for limit in (least, most)):
                raise DialgaugeError("NaN is no limit of a score; give a number from 0 to 1")
            if least is not None and most is not None and least > most:
                what = low.partition("_")[2]
                raise DialgaugeError(f"no {what} is at least {least:g} and at most {most:g}; swap the limits")


def find(tables: Tables, query: Query) -> polars.DataFrame:
    """The conversations for which everything holds, with scores and the number of mentions that fit, in file order."""
    import polars as pl

    _check_names(tables, query)
    found = _scored(tables, query).filter(*_conversation_conditions(query))
    hits = _mentions(tables, query)
    if hits is not None:
        found = found.join(hits, on="dialogue", how="inner", maintain_order="left")
    if query.cause is not None:
        looping = tables["loops"].filter(pl.col("cause") == query.cause)
        found = found.join(looping.select("dialogue").unique(), on="dialogue", how="semi")
    if query.domain is not None and hits is None:
        found = found.filter(pl.col("domains").str.split(", ").list.contains(query.domain))
    return found


def _scored(tables: Tables, query: Query) -> polars.DataFrame:
    """All conversations with their combined scores, or with those of the domain asked for."""
    import polars as pl

    domain = query.domain or COMBINED
    found = tables["conversations"].drop("warnings")
    for measure in MEASURES:
        scores = tables["domain_scores"].filter(pl.col("measure") == measure, pl.col("domain") == domain)
        found = found.join(
            scores.select("dialogue", pl.col("f1").alias(measure)), on="dialogue", how="left", maintain_order="left"
        )
    return found


def _conversation_conditions(query: Query) -> list[polars.Expr]:
    import polars as pl

    limits: list[tuple[Any, Callable[[Any], polars.Expr]]] = [
        (query.min_turns, lambda value: pl.col("turns") >= value),
        (query.max_turns, lambda value: pl.col("turns") <= value),
        (query.min_score, lambda value: pl.col(query.measure) >= value),
        (query.max_score, lambda value: pl.col(query.measure) <= value),
        (query.end, lambda value: pl.col("end") == value),
    ]
    return [condition(value) for value, condition in limits if value is not None]


def _mentions(tables: Tables, query: Query) -> polars.DataFrame | None:
    """The dialogues with mentions that fit and how many they are; None when the question is not about mentions."""
    import polars as pl

    asked = (query.behaviour, query.verdict, query.slot, query.first_turn, query.last_turn, query.min_repeats)
    if all(part is None for part in asked):
        return None
    if query.verdict is None and query.min_repeats is None:
        rows = _behaviour_rows(tables["behaviours"], query)
    else:
        rows = _verdict_rows(tables["explanations"], query)
    for column, value in (("domain", query.domain), ("slot", query.slot)):
        if value is not None:
            rows = rows.filter(pl.col(column) == value)
    if query.min_repeats is not None:
        again = rows.filter(pl.col("verdict").str.starts_with("repeated"))
        counted = again.group_by("dialogue", "measure", "domain", "item").len()
        rows = counted.filter(pl.col("len") >= query.min_repeats)
    return rows.group_by("dialogue").agg(pl.len().alias("mentions"))


def _behaviour_rows(rows: polars.DataFrame, query: Query) -> polars.DataFrame:
    """Records of behaviours; one that spans turns fits when it lies within the span asked for."""
    import polars as pl

    if query.behaviour is not None:
        rows = rows.filter(pl.col("behaviour").is_in(matching_labels(query.behaviour)))
    return _within(rows, query, "first_turn", "last_turn")


def _verdict_rows(rows: polars.DataFrame, query: Query) -> polars.DataFrame:
    import polars as pl

    if query.verdict is not None:
        rows = rows.filter(pl.col("verdict") == query.verdict)
    if query.behaviour is not None:
        names = {label.rpartition("/")[2] for label in matching_labels(query.behaviour)}
        rows = rows.filter(pl.col("behaviours").str.split(", ").list.set_intersection(sorted(names)).list.len() > 0)
    return _within(rows, query, "turn", "turn")


def _within(rows: polars.DataFrame, query: Query, first: str, last: str) -> polars.DataFrame:
    import polars as pl

    if query.first_turn is not None:
        rows = rows.filter(pl.col(first) >= query.first_turn)
    if query.last_turn is not None:
        rows = rows.filter(pl.col(last) <= query.last_turn)
    return rows


def _check_names(tables: Tables, query: Query) -> None:
    """A domain or slot that no conversation has is a misspelling; one that only these conditions rule out is not."""
    goals = [name for row in tables["conversations"]["domains"].to_list() for name in row.split(", ") if name]
    for what, value, more in (("domain", query.domain, goals), ("slot", query.slot, [])):
        if value is None:
            continue
        known = {*more, *tables["explanations"][what].to_list(), *tables["behaviours"][what].to_list()} - {"", COMBINED}
        if known and value not in known:
            raise DialgaugeError(f"no conversation has the {what} '{value}'.{nearest(value, known)}")
