"""Conversations by what happened in them, where, how often, whose fault it was, how they scored and how they ended.

Everything is read from the tables of the run, so it is the same for a fresh run and for a stored one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest as nearest_name
from dialgauge.runs import Run
from dialgauge.users.causes import CAUSES, ENDS
from dialgauge.users.labels import LABELS, REASONS, matching_labels
from dialgauge.users.measures import score_name
from dialgauge.users.verdicts import COMBINED, MEASURES, REPEATED, VERDICTS

if TYPE_CHECKING:
    import polars

#: Behaviours that concern an item as a whole, or a whole domain; the verdicts on single mentions do not repeat them.
_OF_ITEMS = frozenset(
    {
        "repeated_inform",
        "repetitions_warning",
        "multiple_req",
        "single_repetitions_nog",
        "missed_domain",
        "informed_wrong_value",
        "requests_not_in_goal",
    }
)


class Query(Struct, frozen=True):
    """Conditions that must all hold. ``behaviour``, ``verdict``, ``fault``, ``slot`` and the turn span speak of one
    mention; ``measure`` is the one that the score limits are about."""

    behaviour: str | None = None
    verdict: str | None = None
    #: Points were lost by this side.
    fault: str | None = None
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
        for name, known in (("verdict", VERDICTS), ("fault", CAUSES), ("end", ENDS), ("cause", CAUSES)):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise DialgaugeError(f"there is no {name} '{value}'.{nearest_name(value, known)}")
        for low, high in (("first_turn", "last_turn"), ("min_score", "max_score"), ("min_turns", "max_turns")):
            least, most = getattr(self, low), getattr(self, high)
            if any(limit is not None and math.isnan(limit) for limit in (least, most)):
                raise DialgaugeError("NaN is not a valid limit; give a number from 0 to 1")
            if least is not None and most is not None and least > most:
                what = low.partition("_")[2]
                raise DialgaugeError(f"no {what} is at least {least:g} and at most {most:g}; swap the limits")


def find(run: Run, query: Query) -> polars.DataFrame:
    """The conversations for which everything holds, with scores and the number of mentions that fit, in file order."""
    import polars as pl

    _check_names(run, query)
    fitting = _scored(run, query).filter(*_conversation_conditions(query))
    hits = _mentions(run, query)
    if hits is not None:
        fitting = fitting.join(hits, on="dialogue", how="inner", maintain_order="left")
    if query.cause is not None:
        looping = run.table("loops").filter(pl.col("cause") == query.cause)
        fitting = fitting.join(looping.select("dialogue").unique(), on="dialogue", how="semi")
    if query.domain is not None and hits is None:
        fitting = fitting.filter(pl.col("domains").list.contains(query.domain))
    return fitting


def _scored(run: Run, query: Query) -> polars.DataFrame:
    """All conversations with their combined scores, or with those of the domain asked for."""
    import polars as pl

    facts = run.table("conversation_facts").select(
        "dialogue",
        "turns",
        "domains",
        "end",
        "loops",
        "longest_loop",
        "most_mentions",
    )
    part = score_name("I-GCDF1", domain=query.domain or COMBINED).removeprefix("I-GCDF1")
    columns = {str(measure): f"{measure}{part}" for measure in MEASURES}
    if query.measure not in columns:
        columns[query.measure] = _measure_name(run, query.measure, part)
    elif query.min_score is not None or query.max_score is not None:
        _measure_name(run, query.measure, part)
    for column, measure in columns.items():
        scores = run.table("dialogue_scores").filter(pl.col("measure") == measure)
        value = (pl.col("num") / pl.col("den")).alias(column)
        facts = facts.join(scores.select("dialogue", value), on="dialogue", how="left", maintain_order="left")
    return facts


def _measure_name(run: Run, measure: str, part: str) -> str:
    """The name under which a run has a measure, for a domain where one is asked for."""
    known = run.scores
    for name in (measure if "[" in measure else f"{measure}{part}", measure):
        for each in known:
            if each.lower() == name.lower():
                return each
    reason = run.details.get("left_out", {}).get(measure)
    if reason:
        raise DialgaugeError(f"the run has no {measure}: {reason}")
    raise DialgaugeError(f"the run has no score of a measure '{measure}'.{nearest_name(measure, known)}")


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


def _mentions(run: Run, query: Query) -> polars.DataFrame | None:
    """The dialogues with mentions that fit and how many they are; None when the question is not about mentions."""
    import polars as pl

    limits = (query.behaviour, query.slot, query.first_turn, query.last_turn)
    of_verdicts = (query.verdict, query.fault, query.min_repeats)
    if all(limit is None for limit in (*limits, *of_verdicts)):
        return None
    labels = None if query.behaviour is None else matching_labels(query.behaviour)
    if all(limit is None for limit in of_verdicts) and not (labels and set(labels) <= REASONS.keys()):
        rows = run.table("behaviours")
        if labels is not None:
            rows = rows.filter(pl.col("behaviour").is_in(labels))
        rows = _within(rows, query, "first_turn", "last_turn")
    else:
        rows = _verdict_rows(run, query, labels)
    for column, value in (("domain", query.domain), ("slot", query.slot)):
        if value is not None:
            rows = rows.filter(pl.col(column) == value)
    if query.min_repeats is not None:
        again = rows.filter(pl.col("verdict").is_in(REPEATED))
        counted = again.group_by("dialogue", "measure", "domain", "item").len()
        rows = counted.filter(pl.col("len") >= query.min_repeats)
    return rows.group_by("dialogue").agg(pl.len().alias("mentions"))


def _verdict_rows(run: Run, query: Query, labels: list[str] | None) -> polars.DataFrame:
    import polars as pl

    rows = run.table("verdicts")
    if query.verdict is not None:
        rows = rows.filter(pl.col("verdict") == query.verdict)
    if query.fault is not None:
        rows = rows.filter(pl.col("fault") == query.fault)
    if labels is not None:
        own = pl.col("behaviours").list.set_intersection(labels).list.len() > 0
        rows = rows.filter(own | _of_items(run, rows, _OF_ITEMS.intersection(labels)))
    return _within(rows, query, "turn", "turn")


def _of_items(run: Run, rows: polars.DataFrame, labels: frozenset[str]) -> polars.Series:
    """Which verdicts are about an item, or a domain, that one of the behaviours is about."""
    import polars as pl

    if not labels:
        return pl.Series([False] * rows.height, dtype=pl.Boolean)
    seen = run.table("behaviours").filter(pl.col("behaviour").is_in(sorted(labels)))
    key = pl.struct("dialogue", "measure", "domain", "item")
    items = seen.select(key.alias("key"))["key"]
    wanted = seen.filter(pl.col("expected").is_not_null())
    wanted_items = wanted.with_columns(item=pl.col("expected")).select(key.alias("key"))["key"]
    whole = seen.filter(pl.col("item") == "").with_columns(key=pl.struct("dialogue", "measure", "domain"))["key"]
    return rows.select(
        key.is_in(items.implode())
        | key.is_in(wanted_items.implode())
        | pl.struct("dialogue", "measure", "domain").is_in(whole.implode())
    ).to_series()


def several_meanings(behaviour: str) -> list[str]:
    """The whole labels that a plain name means, where it means more than one."""
    labels = [label for label in matching_labels(behaviour) if label in LABELS or label in REASONS]
    return labels if len(labels) > 1 and "*" not in behaviour else []


def _within(rows: polars.DataFrame, query: Query, first: str, last: str) -> polars.DataFrame:
    import polars as pl

    if query.first_turn is not None:
        rows = rows.filter(pl.col(first) >= query.first_turn)
    if query.last_turn is not None:
        rows = rows.filter(pl.col(last) <= query.last_turn)
    return rows


def _check_names(run: Run, query: Query) -> None:
    """A domain or slot that no conversation has is a misspelling; one that only these conditions rule out is not."""
    for what, value in (("domain", query.domain), ("slot", query.slot)):
        if value is None:
            continue
        known = {*run.table("verdicts")[what].to_list(), *run.table("behaviours")[what].to_list()}
        if what == "domain":
            known.update(run.table("conversation_facts")["domains"].explode().to_list())
        known -= {"", COMBINED}
        if known and value not in known:
            raise DialgaugeError(f"no conversation has the {what} '{value}'.{nearest_name(value, known)}")
