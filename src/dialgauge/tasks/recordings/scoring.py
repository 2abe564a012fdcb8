"""The scores of recorded conversations, with intervals, and what a run keeps of them as tables.

Trials of one goal are not independent, so intervals come from resampling goals with all their trials.

``outcomes``       dialogue, domain, rule, success, entity (what the user ended up with), turn (since when)
``reasons``        why not (``tasks/reasons.py``)
``conversations``  dialogue, goal, requests and bookings (of the goal), reason (of its end), ended_by, complete (the
                   user's belief), strict, compat, utterances, exchanges, longest_run, usage (JSON); those that are
                   left out have no verdict
``calls``          dialogue, turn, name, domain, outcome, arguments (JSON), rows, result (JSON)
``heard``          listener, said, heard (act and slot; empty: nothing), same (value and all), times
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import msgspec
from msgspec import structs

from dialgauge.dialogue import Dialogue, Outcome
from dialgauge.measures import (
    FLIPS,
    NOISE,
    Count,
    Coverage,
    Measure,
    Resampling,
    Scores,
    Setting,
    Signature,
    SystemEvidence,
    score_systems,
)
from dialgauge.runs import GivenTable, calls_table, frame_from_rows
from dialgauge.tasks.reasons import REASONS, TaskFailure, reasons_table
from dialgauge.tasks.recordings.conduct import ConversationCounts, HeardActs, conduct
from dialgauge.tasks.recordings.judging import JudgedConversation, JudgedConversations, goal_of
from dialgauge.tasks.recordings.measures import CARDS, COMPAT, RULE_SET, STRICT, OutcomeEvidence

OUTCOMES, CONVERSATIONS, CALLS, HEARD = "outcomes", "conversations", "calls", "heard"
_OUTCOMES = {
    "dialogue": "String", "domain": "String", "rule": "String", "success": "Boolean", "entity": "String",
    "turn": "Int64",
}  # fmt: skip
_CONVERSATIONS = {
    "dialogue": "String", "goal": "String", "requests": "Int64", "bookings": "Int64", "reason": "String",
    "ended_by": "String", "complete": "Boolean", "strict": "Boolean", "compat": "Boolean", "utterances": "Int64",
    "exchanges": "Int64", "longest_run": "Int64", "usage": "String",
}  # fmt: skip
_HEARD = {"listener": "String", "said": "String", "heard": "String", "same": "Boolean", "times": "Int64"}


def outcome_measures(evidence: OutcomeEvidence) -> Iterator[Measure[Any]]:
    """All that can be measured: both rule sets, by domain where that means something, and pass^k."""
    for card in CARDS:
        if card.name in (FLIPS, NOISE) and evidence.trials < 2:
            continue
        settings: list[list[tuple[str, Setting]]] = [
            [(each.name, value) for value in (evidence.rules if each.name == RULE_SET.name else each.choices)]
            for each in card.parameters
        ]
        if card.cutoff:
            settings.append([(card.cutoff.name, k) for k in range(1, max(evidence.trials, 1) + 1)])
        for given in product(*settings):
            measure = Measure(card, tuple(sorted(given)))
            yield measure
            yield from (replace(measure, part=domain) for domain in _domains(measure, evidence))


def _domains(measure: Measure[Any], evidence: OutcomeEvidence) -> Sequence[str]:
    """The domains that a measure is given for. ConvLab-2's book rate is one of whole dialogues."""
    if measure.card.name == "Book":
        return () if (RULE_SET.name, COMPAT) in measure.given else evidence.bookable
    return evidence.domains if measure.card.name in ("Success", "EntityMatch") else ()


def score_outcomes(
    judged: JudgedConversations, *, signature: Signature | None = None, resamples: int = 1000, seed: int = 0
) -> Scores:
    """The scores of judged conversations; intervals come from resampling goals.

    ``signature`` holds what else decides them, such as agents and level; the failures' mode and the checksums of goals
    and database are added.
    """
    evidence = OutcomeEvidence(judged)
    asked = list(outcome_measures(evidence))
    left_out = {str(measure): why for measure in asked if (why := measure.obstacle(evidence))}
    possible = [measure for measure in asked if str(measure) not in left_out]
    system = SystemEvidence(
        evidence=evidence,
        measures=possible,
        dialogues=[conversation.id for conversation in judged],
        signature=(signature or Signature()).with_(
            failures=judged.failures,
            dialogues=str(len(judged)),
            goals=judged.goals,
            database=judged.database,
        ),
        coverage=_coverage(judged),
        left_out=left_out,
        resampled=evidence.by_goal(),
    )
    return score_systems([system], Resampling(resamples, seed) if resamples and len(judged) else None)[0]


def _coverage(judged: JudgedConversations) -> Coverage:
    """What was judged on what was said: a conversation that an agent's failure or a spent budget ended is no such,
    whether it is left out or counts as not done."""
    read = len(judged) + len(judged.unjudged)
    failed = len(judged.unjudged) + sum(conversation.broken for conversation in judged)
    policy = "an agent's error is not done; what an endpoint, a limit or the user ended is left out" if failed else ""
    return Coverage({"dialogues": Count(expected=read, read=read, scored=read - failed, failed=failed)}, policy=policy)


def outcome_frames(judged: JudgedConversations) -> Mapping[str, Callable[[], GivenTable]]:
    """The functions that make the tables when they are asked for."""
    heard = judged.understanding.counts
    return {
        OUTCOMES: lambda: frame_from_rows((row for each in judged for row in _outcomes(each)), _OUTCOMES),
        CONVERSATIONS: lambda: frame_from_rows(_conversations(judged), _CONVERSATIONS),
        HEARD: lambda: frame_from_rows(((*each, count) for each, count in sorted(heard.items())), _HEARD),
        CALLS: lambda: calls_table(lambda: (dialogue for dialogue, _ in judged.recorded())),
        REASONS: lambda: reasons_table(row for each in judged for row in _reasons(each)),
    }


def _outcomes(conversation: JudgedConversation) -> Iterator[tuple[Any, ...]]:
    identifier = conversation.id
    for domain, task in (conversation.strict.tasks if conversation.strict else {}).items():
        yield identifier, domain, STRICT, task.success, task.entity or None, task.turn
    for domain, success in (conversation.compat.domains if conversation.compat else {}).items():
        yield identifier, domain, COMPAT, success, None, None


def _reasons(conversation: JudgedConversation) -> Iterator[tuple[str, str, str, TaskFailure]]:
    identifier = conversation.id
    for domain, task in (conversation.strict.tasks if conversation.strict else {}).items():
        yield from ((identifier, domain, STRICT, failure) for failure in task.failures)
    for domain, failures in (conversation.compat.failures if conversation.compat else {}).items():
        yield from ((identifier, domain, COMPAT, failure) for failure in failures)


def _conversations(judged: JudgedConversations) -> Iterator[tuple[Any, ...]]:
    for dialogue, each in judged.recorded():
        strict, compat = (verdict.success if verdict else None for verdict in (each.strict, each.compat))
        yield _conversation(dialogue, each.conduct, strict, compat)
    for dialogue in judged.left_out():
        yield _conversation(dialogue, conduct(dialogue, HeardActs()), None, None)


def _conversation(
    dialogue: Dialogue, went: ConversationCounts, strict: bool | None, compat: bool | None
) -> tuple[Any, ...]:
    tasks, outcome = dialogue.goal.tasks.values() if dialogue.goal else (), dialogue.ended
    return (
        dialogue.id,
        goal_of(dialogue.id),
        sum(len(task.requests) for task in tasks),
        sum(bool(task.book) for task in tasks),
        outcome.reason,
        outcome.ended_by,
        outcome.success,
        strict,
        compat,
        went.utterances,
        went.exchanges,
        went.longest_run,
        msgspec.json.encode(_usage(outcome)).decode(),
    )


def _usage(outcome: Outcome) -> dict[str, float]:
    """What each speaker used, by name: ``system seconds``."""
    return {
        f"{'system' if side == 'agent' else side} {name}": float(count)
        for side, usage in outcome.usage.items()
        for name, count in structs.asdict(usage).items()
        if count is not None and name != "tokens"
    }
