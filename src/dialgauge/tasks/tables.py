"""What a run of responses holds beside its scores: what was said, and why each domain was or was not served.

``task_verdicts``  dialogue, rules, domain, inform, success, turn (of the offer that counts), offered and fitting
                   (rows), requested, missing (what was never told, or not where it counts): one row for each domain
                   of each goal under each rule set
``reasons``        why not (``tasks/reasons.py``)
``dialogue_sums``  dialogue, measure, place, sum: what BLEU and Combined are made of, where they were scored
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.runs import frame_from_rows
from dialgauge.tasks.database import DATABASE_DOMAINS, TownDatabase
from dialgauge.tasks.delexical import ADDRESS, PHONE, POST, REFERENCE, TRAINID
from dialgauge.tasks.gold import GoldGoal, TaskState
from dialgauge.tasks.predictions import estimated_domains
from dialgauge.tasks.reasons import REASONS, TaskFailure, reasons_table
from dialgauge.tasks.rules import (
    RULES,
    DialogueVerdict,
    DomainVerdict,
    JudgedDialogue,
    Rules,
    is_valid,
    mentions,
    offer_wanted,
)

if TYPE_CHECKING:
    import polars

VERDICTS, DIALOGUE_SUMS = "task_verdicts", "dialogue_sums"
_KINDS: dict[str, str] = {
    "dialogue": "String", "rules": "String", "domain": "String", "inform": "Boolean", "success": "Boolean",
    "turn": "Int64", "offered": "Int64", "fitting": "Int64", "requested": "List(String)", "missing": "List(String)",
}  # fmt: skip
_NAMES = {PHONE: "phone", ADDRESS: "address", POST: "postcode", REFERENCE: "reference", TRAINID: "train id"}


def run_dialogues(judged: Sequence[JudgedDialogue]) -> Iterator[Dialogue]:
    """What was said: the user's recorded words, and the system's responses."""
    for each in judged:
        turns: list[Turn] = []
        for number, words in enumerate(each.gold.user_texts):
            answer = each.turns[number] if number < len(each.turns) else None
            turns.append(
                Turn(
                    speaker="user",
                    text=words,
                    state=_as_state(each.gold.states[number]) if number < len(each.gold.states) else None,
                    predicted=_as_state(answer.state) if answer and answer.state is not None else None,
                    active=answer.active if answer else None,
                )
            )
            if answer is not None:
                turns.append(Turn(speaker="system", text=answer.response))
        yield Dialogue(id=each.gold.id, turns=tuple(turns), goal=each.gold.goal, domains=tuple(each.gold.domains))


def _as_state(state: TaskState) -> State:
    return {domain: {slot: (value,) for slot, value in slots.items()} for domain, slots in state.items()}


def run_tables(judged: Sequence[JudgedDialogue], town: TownDatabase) -> Mapping[str, Callable[[], polars.DataFrame]]:
    """The functions that make the tables when they are asked for."""
    return {VERDICTS: partial(_verdicts, judged, town), REASONS: partial(_reasons, judged, town)}


def _verdicts(judged: Sequence[JudgedDialogue], town: TownDatabase) -> polars.DataFrame:
    return frame_from_rows((row for each in judged for row in _rows(each, town)), _KINDS)


def _reasons(judged: Sequence[JudgedDialogue], town: TownDatabase) -> polars.DataFrame:
    return reasons_table(
        (each.gold.id, domain, rules, failure)
        for each in judged
        for rules in RULES
        if (verdict := each.verdicts[rules]) is not None
        for domain in each.gold.domains
        for failure in _failures(rules, domain, each, verdict, town)
    )


def _rows(each: JudgedDialogue, town: TownDatabase) -> Iterator[tuple[Any, ...]]:
    for rules in RULES:
        verdict = each.verdicts[rules]
        if verdict is None:
            continue
        for domain, goal in each.gold.domains.items():
            domain_verdict = verdict.domains[domain]
            fitting = town.answer(domain, goal.informable).bit_count() if domain in DATABASE_DOMAINS else None
            missing = sorted(goal.requestable - domain_verdict.provided)
            yield (
                each.gold.id,
                rules,
                domain,
                domain_verdict.inform,
                domain_verdict.success,
                None if domain_verdict.offer_turn is None else 2 * domain_verdict.offer_turn + 1,
                domain_verdict.offered.bit_count() if domain in DATABASE_DOMAINS else None,
                fitting,
                [_NAMES[word] for word in sorted(goal.requestable)],
                [_NAMES[word] for word in missing],
            )


def _failures(
    rules: Rules, domain: str, each: JudgedDialogue, verdict: DialogueVerdict, town: TownDatabase
) -> Iterator[TaskFailure]:
    """Why a domain failed; nothing where it succeeded."""
    domain_verdict, goal = verdict.domains[domain], each.gold.domains[domain]
    if domain_verdict.success:
        return
    if not each.turns:
        yield TaskFailure(reason="no_responses")
    elif not domain_verdict.inform:
        yield from _not_informed(rules, domain, each, domain_verdict, goal, town)
    elif missing := goal.requestable - domain_verdict.provided:
        yield from _not_told(rules, domain, missing, each, town)
    else:
        failed = tuple(name for name, other in verdict.domains.items() if not other.inform)
        yield TaskFailure(reason="another_failed", given=failed)


def _not_informed(
    rules: Rules, domain: str, each: JudgedDialogue, verdict: DomainVerdict, goal: GoldGoal, town: TownDatabase
) -> Iterator[TaskFailure]:
    if verdict.offer_turn is None:
        yield TaskFailure(reason="nothing_offered", wanted=offer_wanted(rules, domain, goal))
        return
    state, turn = each.states[verdict.offer_turn].get(domain), 2 * verdict.offer_turn + 1
    if state is None:
        yield TaskFailure(reason="state_lacks_domain", turn=turn)
        return
    if domain not in DATABASE_DOMAINS or not verdict.offered:
        reason = "state_fits_nothing" if domain in DATABASE_DOMAINS else "state_differs"
        yield TaskFailure(reason=reason, turn=turn, given=tuple(f"{slot}={value}" for slot, value in state.items()))
        return
    table, fitting = town.tables[domain], town.answer(domain, goal.informable)
    wrong = verdict.offered & ~(table.same_ids(fitting) if rules == "mwzeval" else fitting)
    first = wrong & -wrong
    (row,) = table.at(first)
    for slot in town.failed_constraints(domain, first, goal.informable):
        yield TaskFailure(
            reason="offer_unfit", slot=slot, turn=turn, given=(row.get(slot, "unknown"),),
            wanted=goal.informable[slot], entity=row.get("name") or row["trainid"],
            rows=verdict.offered.bit_count(), unfit=wrong.bit_count(),
        )  # fmt: skip


def _not_told(
    rules: Rules, domain: str, missing: frozenset[str], each: JudgedDialogue, town: TownDatabase
) -> Iterator[TaskFailure]:
    mentioned = set().union(*(mentions(turn.response).classes for turn in each.turns))
    for word in sorted(missing - mentioned):
        yield TaskFailure(reason="never_told", slot=_NAMES[word])
    why = _why_not_mwzeval if rules == "mwzeval" else _why_not_grounded
    for word in sorted(missing & mentioned):
        for number, turn in enumerate(each.turns):
            if word in mentions(turn.response).classes:
                reason, given = why(word, domain, number, each, town)
                yield TaskFailure(reason=reason, slot=_NAMES[word], turn=2 * number + 1, given=given)


#: A code of a reason, and what is given with it.
_InVain: TypeAlias = tuple[str, tuple[str, ...]]


def _why_not_mwzeval(word: str, domain: str, number: int, each: JudgedDialogue, town: TownDatabase) -> _InVain:
    active = tuple(each.active[number]) if number < len(each.active) else ()
    if domain not in active:
        return ("told_for_another", active) if active else ("told_for_none", ())
    return "told_unbooked", ()


def _why_not_grounded(word: str, domain: str, number: int, each: JudgedDialogue, town: TownDatabase) -> _InVain:
    mentioned, estimate = mentions(each.turns[number].response), estimated_domains(each.states)[number]
    if mentioned.stuffed:
        return "told_stuffed", ()
    if word not in mentioned.of(domain, estimate):
        owners = (owner or estimate or "no domain" for owner, words in mentioned.owned.items() if word in words)
        return "told_of_other", tuple(owners)
    if word == REFERENCE and domain not in each.gold.booked[number] and _fits(domain, number, each, town):
        return "told_unbooked", ()
    return "told_off_goal", ()


def _fits(domain: str, number: int, each: JudgedDialogue, town: TownDatabase) -> bool:
    goal, state = each.gold.domains[domain], each.states[number]
    rows = town.answer(domain, state[domain]) if domain in DATABASE_DOMAINS and domain in state else 0
    fitting = town.answer(domain, goal.informable) if domain in DATABASE_DOMAINS else 0
    return is_valid(domain, goal, rows, fitting, state)
