"""What a run keeps of the outcomes of conversations, as tables.

``outcomes``       dialogue, domain, rule, success, entity (what the user ended up with), turn (since when)
``reasons``        why not (``tasks/reasons.py``)
``conversations``  dialogue, goal, requests and bookings (of the goal), reason (of its end), ended_by, complete (the
                   user's belief), strict, compat, utterances, exchanges, longest_run, usage (JSON); those that are
                   left out have no verdict
``calls``          dialogue, turn, name, domain, outcome, arguments (JSON), rows, result (JSON)
``heard``          listener, said, heard (act and slot; empty: nothing), same (value and all), times
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import structs

from dialgauge.dialogue import Dialogue, Outcome
from dialgauge.runs import GivenTable, calls_table, frame_of
from dialgauge.tasks.reasons import REASONS, TaskFailure, reasons_table
from dialgauge.tasks.recordings.conduct import ConversationCounts, HeardActs, conduct
from dialgauge.tasks.recordings.judging import JudgedConversation, JudgedConversations, goal_of
from dialgauge.tasks.recordings.measures import COMPAT, STRICT

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


def outcome_frames(judged: JudgedConversations) -> Mapping[str, Callable[[], GivenTable]]:
    """The functions that make the tables when they are asked for."""
    heard = judged.understanding.counts
    return {
        OUTCOMES: lambda: frame_of((row for each in judged for row in _outcomes(each)), _OUTCOMES),
        CONVERSATIONS: lambda: frame_of(_conversations(judged), _CONVERSATIONS),
        HEARD: lambda: frame_of(((*each, count) for each, count in sorted(heard.items())), _HEARD),
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
