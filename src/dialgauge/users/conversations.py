"""Single conversations of a run: explained, printed, and found by what happened in them.

Everything is read from the tables of the run, so it is the same for a fresh run and for a stored one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Act, Dialogue, Goal, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.errors import nearest as nearest_name
from dialgauge.report import Column, Table, plain
from dialgauge.runs import Run
from dialgauge.users.analyses import CAUSES
from dialgauge.users.records import COMBINED, ENDS, MEASURES, VERDICTS, MeasureName, matching_labels, meaning
from dialgauge.users.scoring import nearest_id
from dialgauge.users.turns import EQUALS

if TYPE_CHECKING:
    import polars


def explanation(run: Run, dialogue: str) -> list[Table]:
    """Where every point of a dialogue was won or lost: the goal, verdicts for each measure, and the loops."""
    identifier = scored_id(run, dialogue)
    tables = [_goal(run, identifier)]
    for measure in MEASURES:
        scores = [row for row in _rows(run, "domain_scores", identifier) if row["measure"] == measure]
        if scores:
            tables.append(_verdicts(run, identifier, measure, scores))
    loops = _rows(run, "loops", identifier)
    return [*tables, _loops(loops)] if loops else tables


def scored_id(run: Run, dialogue: str) -> str:
    """The id of a scored dialogue as the run writes it, or the reason why the dialogue has no score."""
    key = dialogue_key(dialogue)
    ids: list[str] = run.table("conversation_facts")["dialogue"].to_list()
    for identifier in ids:
        if dialogue_key(identifier) == key:
            return identifier
    for row in run.table("failures").iter_rows(named=True):
        if dialogue_key(row["dialogue"]) == key:
            raise DialgaugeError(row["reason"], file=row["file"], dialogue=row["dialogue"], turn=row["turn"])
    raise DialgaugeError(f"{run.name} has no dialogue '{dialogue}'.{nearest_id(dialogue, ids)}")


def transcript(run: Run, dialogue: str) -> Iterator[str]:
    """The conversation turn by turn: the words, the acts behind them, and what was heard where that differs."""
    for position, turn in enumerate(_conversation(run, dialogue).turns):
        yield f"{position:>3} {turn.speaker:<6} {plain(turn.text)}"
        if turn.acts:
            yield f"{'':>11}said  {plain(_acts(turn.acts))}"
        if turn.heard is not None and turn.heard != turn.acts:
            yield f"{'':>11}heard {plain(_acts(turn.heard)) or 'nothing'}"


def _conversation(run: Run, dialogue: str) -> Dialogue:
    key = dialogue_key(dialogue)
    for each in run.dialogues():
        if dialogue_key(each.id) == key:
            return each
    raise DialgaugeError(f"the run {run.id} has no conversation '{dialogue}': it was stored without what was said")


def _rows(run: Run, table: str, dialogue: str) -> list[dict[str, Any]]:
    import polars as pl

    return run.table(table).filter(pl.col("dialogue") == dialogue).to_dicts()


def _goal(run: Run, dialogue: str) -> Table:
    (facts,) = _rows(run, "conversation_facts", dialogue)
    table = Table(f"{dialogue}: the goal", ["domain", "part", "wanted"])
    for domain, part, wanted in _goal_parts(msgspec.json.decode(facts["goal"], type=Goal)):
        table.add(domain, part, wanted)
    if facts["requests_removed"]:
        removed = facts["requests_removed"]
        table.notes.append(f"a search that failed made the requests of {removed} pointless; they do not count")
    table.notes += msgspec.json.decode(facts["warnings"] or "[]", type=list[str])
    return table


def _goal_parts(goal: Goal) -> Iterator[tuple[str, str, str]]:
    for domain, task in goal.tasks.items():
        for part in ("info", "fail_info", "book", "fail_book"):
            constraints: dict[str, str] = getattr(task, part)
            if constraints:
                yield domain, part, ", ".join(f"{slot}={value}" for slot, value in constraints.items())
        if task.requests:
            yield domain, "requests", ", ".join(task.requests)


class _Mention(NamedTuple):
    """What verdicts have in common that differ in the turn only."""

    domain: str
    item: str
    verdict: str
    behaviours: str


def _verdicts(run: Run, dialogue: str, measure: MeasureName, scores: list[dict[str, Any]]) -> Table:
    columns: list[str | Column] = [
        "domain",
        Column("turns", align="left"),
        "constraint" if measure == "I-GCDF1" else "request",
    ]
    table = Table(f"{measure} of {dialogue}", [*columns, "verdict", "TP", "FP", "FN", "because"])
    verdicts = [row for row in _rows(run, "verdicts", dialogue) if row["measure"] == measure]
    for mention, group in _grouped(verdicts, [row["domain"] for row in scores]):
        counts = (sum(row[key] for row in group) or None for key in ("tp", "fp", "fn"))
        because = "; ".join(meaning(label) for label in mention.behaviours.split(", ") if label)
        turns = _turns([row["turn"] for row in group if row["turn"] is not None])
        table.add(mention.domain, turns, mention.item.replace(EQUALS, "="), mention.verdict, *counts, because)
    for row in scores:
        table.notes.append(
            f"{row['domain']}: F1 {row['f1']:.4f}, precision {row['precision']:.4f}, recall {row['recall']:.4f} "
            f"(TP {row['tp']}, FP {row['fp']}, FN {row['fn']})"
        )
    return table


def _grouped(verdicts: Iterable[dict[str, Any]], domains: list[str]) -> Iterator[tuple[_Mention, list[dict[str, Any]]]]:
    """Verdicts that differ in the turn only, together; by domain, then by first turn, what was never said last."""
    groups: dict[_Mention, list[dict[str, Any]]] = {}
    for row in verdicts:
        groups.setdefault(_Mention(*(row[key] for key in _Mention._fields)), []).append(row)
    places = {domain: place for place, domain in enumerate([*domains, COMBINED])}

    def order(mention: _Mention) -> tuple[int, bool, int]:
        first = groups[mention][0]["turn"]
        return places[mention.domain], first is None, first or 0

    return ((mention, groups[mention]) for mention in sorted(groups, key=order))


def _turns(turns: list[int]) -> str:
    """Turns as people write them: ``4``, ``4, 8``, ``6–38 (17 times)``."""
    if len(turns) <= 3:
        return ", ".join(map(str, turns))
    return f"{turns[0]}–{turns[-1]} ({len(turns)} times)"


def _loops(loops: list[dict[str, Any]]) -> Table:
    table = Table("Loops: the same user acts three or more times running", ["turns", "times", "acts", "cause"])
    for loop in loops:
        detail = f" ({loop['detail']})" if loop["detail"] else ""
        turns = f"{loop['first_turn']}–{loop['last_turn']}"
        table.add(turns, loop["repeats"], loop["acts"], f"{CAUSES[loop['cause']]}{detail}")
    return table


def _acts(acts: tuple[Act, ...]) -> str:
    return ", ".join(
        f"{act.name}({act.slot}{'=' if act.slot and act.values else ''}{'|'.join(act.values)})" for act in acts
    )


# Conversations by what happened in them, where, how often, how they scored and how they ended.


class Query(Struct, frozen=True):
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
                raise DialgaugeError(f"there is no {name} '{value}'.{nearest_name(value, known)}")
        for low, high in (("first_turn", "last_turn"), ("min_score", "max_score"), ("min_turns", "max_turns")):
            least, most = getattr(self, low), getattr(self, high)
            if any(limit is not None and math.isnan(limit) for limit in (least, most)):
                raise DialgaugeError("NaN is no limit of a score; give a number from 0 to 1")
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
        fitting = fitting.filter(pl.col("domains").str.split(", ").list.contains(query.domain))
    return fitting


def _scored(run: Run, query: Query) -> polars.DataFrame:
    """All conversations with their combined scores, or with those of the domain asked for."""
    import polars as pl

    domain = query.domain or COMBINED
    facts = run.table("conversation_facts").select(
        "dialogue",
        "turns",
        "domains",
        "end",
        "loops",
        "longest_loop",
        "most_mentions",
    )
    for measure in MEASURES:
        scores = run.table("domain_scores").filter(pl.col("measure") == measure, pl.col("domain") == domain)
        facts = facts.join(
            scores.select("dialogue", pl.col("f1").alias(measure)), on="dialogue", how="left", maintain_order="left"
        )
    return facts


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

    limits = (query.behaviour, query.verdict, query.slot, query.first_turn, query.last_turn, query.min_repeats)
    if all(limit is None for limit in limits):
        return None
    if query.verdict is None and query.min_repeats is None:
        rows = _behaviour_rows(run.table("behaviours"), query)
    else:
        rows = _verdict_rows(run.table("verdicts"), query)
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


def _check_names(run: Run, query: Query) -> None:
    """A domain or slot that no conversation has is a misspelling; one that only these conditions rule out is not."""
    for what, value in (("domain", query.domain), ("slot", query.slot)):
        if value is None:
            continue
        known = {*run.table("verdicts")[what].to_list(), *run.table("behaviours")[what].to_list()}
        if what == "domain":
            known.update(run.table("conversation_facts")["domains"].str.split(", ").explode().to_list())
        known -= {"", COMBINED}
        if known and value not in known:
            raise DialgaugeError(f"no conversation has the {what} '{value}'.{nearest_name(value, known)}")
