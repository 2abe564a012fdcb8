"""What a task run holds beside its scores: what was said, and why each domain of each goal was or was not served.

``task_verdicts``  dialogue, rules, domain, inform, success, turn (of the offer that counts), offered and fitting
                   (rows), requested, missing (what was never told, or not where it counts), reason: one row for each
                   domain of each goal under each rule set
``dialogue_sums``  dialogue, measure, place, sum: what BLEU and Combined are made of, where they were scored
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from dialgauge.columns import ColumnKind, ColumnTable
from dialgauge.dialogue import Dialogue, State, Turn, Values
from dialgauge.tasks.delexical import ADDRESS, PHONE, POST, REFERENCE, TRAINID
from dialgauge.tasks.gold import DomainGoal, TaskState
from dialgauge.tasks.predictions import estimated_domains
from dialgauge.tasks.rules import RULES, DialogueVerdict, DomainVerdict, JudgedDialogue, Rules, is_valid, mentions
from dialgauge.text import counted
from dialgauge.worlds.town import DATABASE_DOMAINS, TownDatabase

VERDICTS, DIALOGUE_SUMS = "task_verdicts", "dialogue_sums"
_KINDS: dict[str, ColumnKind] = {
    "dialogue": "String", "rules": "String", "domain": "String", "inform": "Boolean", "success": "Boolean",
    "turn": "Int64", "offered": "Int64", "fitting": "Int64", "requested": "String", "missing": "String",
    "reason": "String",
}  # fmt: skip
_NAMES = {PHONE: "phone", ADDRESS: "address", POST: "postcode", REFERENCE: "reference", TRAINID: "train id"}
_OFFERS = {"train": "[train_id] or [time]", "taxi": "[car] or [phone]"}


def run_dialogues(judged: Sequence[JudgedDialogue]) -> Iterator[Dialogue]:
    """What was said: the user's recorded words, and the system's responses."""
    written: dict[int, dict[str, Values]] = {}

    def as_state(state: TaskState) -> State:
        """Turns share the slots of a domain that did not change, and what was written of them."""
        for slots in state.values():
            if id(slots) not in written:
                written[id(slots)] = {slot: (value,) for slot, value in slots.items()}
        return {domain: written[id(slots)] for domain, slots in state.items()}

    for each in judged:
        turns: list[Turn] = []
        for number, words in enumerate(each.gold.user_texts):
            answer = each.turns[number] if number < len(each.turns) else None
            turns.append(
                Turn(
                    speaker="user",
                    text=words,
                    state=as_state(each.gold.states[number]) if number < len(each.gold.states) else None,
                    predicted=as_state(answer.state) if answer and answer.state is not None else None,
                    active=answer.active if answer else None,
                )
            )
            if answer is not None:
                turns.append(Turn(speaker="system", text=answer.response))
        yield Dialogue(id=each.gold.id, turns=tuple(turns), goal=each.gold.goal, domains=tuple(each.gold.domains))


def run_tables(judged: Sequence[JudgedDialogue], town: TownDatabase) -> Mapping[str, Callable[[], ColumnTable]]:
    """The functions that make the tables when they are asked for."""
    return {VERDICTS: partial(_verdicts, judged, town)}


def _verdicts(judged: Sequence[JudgedDialogue], town: TownDatabase) -> ColumnTable:
    rows = [row for each in judged for row in _rows(each, town)]
    return ColumnTable.of(_KINDS, zip(*rows, strict=True) if rows else [()] * len(_KINDS))


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
        return _not_told(rules, domain, missing, each, town)
    failed = [name for name, other in verdict.domains.items() if not other.inform]
    return f"under mwzeval a domain cannot succeed while another fails ({', '.join(failed)})"


def _not_informed(
    rules: Rules, domain: str, each: JudgedDialogue, one: DomainVerdict, goal: DomainGoal, town: TownDatabase
) -> str:
    if one.offer_turn is None:
        return f"nothing was offered: no response that counts for {domain} has {_offer(rules, domain, goal)}"
    state = each.states[one.offer_turn].get(domain)
    when = f"in turn {2 * one.offer_turn + 1}"
    if state is None:
        return f"the state at the offer, {when}, does not have {domain}"
    if domain not in DATABASE_DOMAINS:
        return f"the state at the last offer, {when}, does not say what the goal says: {_written(state)}"
    if not one.offered:
        return f"the state at the offer, {when}, fits nothing in the database: {_written(state)}"
    table, fitting = town.tables[domain], town.answer(domain, goal.informable)
    wrong = one.offered & ~(table.same_ids(fitting) if rules == "mwzeval" else fitting)
    first = wrong & -wrong
    (row,) = table.at(first)
    failed = town.failed_constraints(domain, first, goal.informable)
    faults = (f"{slot} is {row.get(slot, 'unknown')}, wanted {goal.informable[slot]}" for slot in failed)
    return (
        f"{when} the state led to {counted(one.offered.bit_count(), 'row')}, {wrong.bit_count():,} of which "
        f"{'does' if wrong.bit_count() == 1 else 'do'} not fit the goal, such as {row.get('name') or row['trainid']}: "
        f"{'; '.join(faults)}"
    )


def _offer(rules: Rules, domain: str, goal: DomainGoal) -> str:
    """What would have been an offer."""
    if rules == "mwzeval":
        return "a [train_id]" if domain == "train" else "a [name]"
    if "name" in goal.informable or domain not in (*DATABASE_DOMAINS, "taxi"):
        return "a placeholder"
    return f"a {_OFFERS.get(domain, '[name]')}"


def _not_told(rules: Rules, domain: str, missing: frozenset[str], each: JudgedDialogue, town: TownDatabase) -> str:
    said = set().union(*(mentions(turn.response).classes for turn in each.turns))
    sentences = [f"never told: {_told(sorted(missing - said))}"] if missing - said else []
    why = _why_not_mwzeval if rules == "mwzeval" else _why_not_grounded
    for word in sorted(missing & said):
        reasons: dict[str, list[int]] = {}
        for number, turn in enumerate(each.turns):
            if word in mentions(turn.response).classes:
                reasons.setdefault(why(word, domain, number, each, town), []).append(2 * number + 1)
        told = "; ".join(f"turn {', '.join(map(str, turns))}: {reason}" for reason, turns in reasons.items())
        sentences.append(f"given in the wrong place: {_told([word])} ({told})")
    return "; ".join(sentences)


def _why_not_mwzeval(word: str, domain: str, number: int, each: JudgedDialogue, town: TownDatabase) -> str:
    active = each.active[number] if number < len(each.active) else ()
    if domain not in active:
        return f"treated as the {', '.join(active)} domain" if active else "treated as no domain"
    return "nothing was booked yet by the human wizard"


def _why_not_grounded(word: str, domain: str, number: int, each: JudgedDialogue, town: TownDatabase) -> str:
    said, estimate = mentions(each.turns[number].response), estimated_domains(each.states)[number]
    if said.stuffed:
        return "the response is stuffed"
    if word not in said.of(domain, estimate):
        owners = [owner or estimate or "no domain" for owner, words in said.owned.items() if word in words]
        return f"it belongs to {', '.join(owners)}"
    if word == REFERENCE and domain not in each.gold.booked[number] and _fits(domain, number, each, town):
        return "nothing was booked yet by the human wizard"
    return "the state does not fit the goal"


def _fits(domain: str, number: int, each: JudgedDialogue, town: TownDatabase) -> bool:
    goal, state = each.gold.domains[domain], each.states[number]
    rows = town.answer(domain, state[domain]) if domain in DATABASE_DOMAINS and domain in state else 0
    fitting = town.answer(domain, goal.informable) if domain in DATABASE_DOMAINS else 0
    return is_valid(domain, goal, rows, fitting, state)


def _written(slots: Mapping[str, str]) -> str:
    return ", ".join(f"{slot}={value}" for slot, value in slots.items()) or "nothing"
