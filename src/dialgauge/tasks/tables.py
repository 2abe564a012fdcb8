"""The tables of a task run, and the reasons in them.

``task_verdicts``  dialogue, rules, domain, inform, success, turn (of the offer that counts), offered and fitting (rows),
                   requested, missing (what was never told, or not where it counts), reason: one row for each domain
                   of each goal under each rule set
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.tasks.delexical import REFERENCE
from dialgauge.tasks.gold import DomainGoal
from dialgauge.tasks.rules import RULES, DialogueVerdict, DomainVerdict, JudgedDialogue, Rules, mentions
from dialgauge.text import counted
from dialgauge.worlds.town import DATABASE_DOMAINS, TownDatabase

if TYPE_CHECKING:
    import polars

VERDICTS = "task_verdicts"
_NAMES = {"PHONE": "phone", "ADDRESS": "address", "POST": "postcode", "REFERENCE": "reference", "TRAINID": "train id"}


def run_tables(judged: Sequence[JudgedDialogue], town: TownDatabase) -> Mapping[str, Callable[[], polars.DataFrame]]:
    """The functions that make the tables when they are asked for."""
    return {VERDICTS: partial(_verdicts, judged, town)}


def _verdicts(judged: Sequence[JudgedDialogue], town: TownDatabase) -> polars.DataFrame:
    import polars as pl

    kinds: dict[str, Any] = {
        "dialogue": pl.String, "rules": pl.String, "domain": pl.String, "inform": pl.Boolean, "success": pl.Boolean,
        "turn": pl.Int64, "offered": pl.Int64, "fitting": pl.Int64, "requested": pl.String, "missing": pl.String,
        "reason": pl.String,
    }  # fmt: skip
    rows = [row for each in judged for row in _rows(each, town)]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(kinds)
    return pl.DataFrame(
        [pl.Series(name, column, kind) for (name, kind), column in zip(kinds.items(), columns, strict=True)]
    )


def _rows(each: JudgedDialogue, town: TownDatabase) -> Iterator[tuple[Any, ...]]:
    for rules in RULES:
        verdict = each.verdicts[rules]
        if verdict is None:
            continue
        for domain, goal in each.gold.domains.items():
            one = verdict.domains[domain]
            fitting = town.answer(domain, goal.informable).bit_count() if domain in DATABASE_DOMAINS else None
            missing = sorted(goal.requestable - one.provided)
            yield (
                each.gold.id,
                rules,
                domain,
                one.inform,
                one.success,
                None if one.offer_turn is None else 2 * one.offer_turn + 1,
                one.offered.bit_count() if domain in DATABASE_DOMAINS else None,
                fitting,
                _told(sorted(goal.requestable)),
                _told(missing),
                reason(rules, domain, each, verdict, town),
            )


def _told(classes: Sequence[str]) -> str:
    return ", ".join(_NAMES[each] for each in classes)


def reason(rules: Rules, domain: str, each: JudgedDialogue, verdict: DialogueVerdict, town: TownDatabase) -> str | None:
    """Why a domain failed; None where it succeeded."""
    one, goal = verdict.domains[domain], each.gold.domains[domain]
    if one.success:
        return None
    if not each.turns:
        return "the system has no responses for this dialogue"
    if not one.inform:
        return _not_informed(rules, domain, each, one, goal, town)
    missing = goal.requestable - one.provided
    if missing:
        return _not_told(rules, domain, missing, each)
    failed = [name for name, other in verdict.domains.items() if not other.inform]
    return f"under mwzeval a domain cannot succeed while another fails ({', '.join(failed)})"


def _not_informed(
    rules: Rules, domain: str, each: JudgedDialogue, one: DomainVerdict, goal: DomainGoal, town: TownDatabase
) -> str:
    if one.offer_turn is None:
        word = {"train": "[train_id]", "taxi": "car or phone"}.get(domain, "[name]")
        return f"nothing was offered: no response that counts for {domain} has a {word}"
    state = dict(each.states[one.offer_turn].get(domain, {})) if one.offer_turn < len(each.states) else {}
    when = f"in turn {2 * one.offer_turn + 1}"
    if domain not in DATABASE_DOMAINS:
        return f"the state at the last offer, {when}, does not say what the goal says: {_written(state)}"
    if not one.offered:
        what = f"fits nothing in the database: {_written(state)}" if state else f"says nothing about {domain}"
        return f"the state at the offer, {when}, {what}"
    table = town.tables[domain]
    fitting = town.answer(domain, goal.informable)
    wrong = one.offered & ~fitting
    first = table.at(wrong & -wrong)[0]
    name = first.get("name") or first.get("trainid", "")
    why = town.why_not(domain, first, goal.informable)
    offered = counted(one.offered.bit_count(), "row")
    return f"{when} the state led to {offered}, {wrong.bit_count()} of which do not fit the goal: of {name}, {why}"


def _not_told(rules: Rules, domain: str, missing: frozenset[str], each: JudgedDialogue) -> str:
    said = set().union(*(mentions(turn.response).classes for turn in each.turns))
    sentences = []
    silent, elsewhere = sorted(missing - said), sorted(missing & said)
    if silent:
        sentences.append(f"never told: {_told(silent)}")
    if elsewhere:
        where = (
            "only in turns that do not count for this domain (another domain, a state that does not fit, or stuffed)"
            if rules == "grounded"
            else "only in turns that are not about this domain"
        )
        early = " or before the wizard had booked" if REFERENCE in elsewhere else ""
        sentences.append(f"told {where}{early}: {_told(elsewhere)}")
    return "; ".join(sentences)


def _written(slots: Mapping[str, str]) -> str:
    return ", ".join(f"{slot}={value}" for slot, value in slots.items()) or "nothing"
