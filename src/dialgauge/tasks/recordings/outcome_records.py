"""What a run keeps of the outcomes of conversations, as tables.

``outcomes``       dialogue, domain, rule, success, entity (what the user ended up with), turn (since when)
``reasons``        why not (``tasks/reasons.py``)
``conversations``  dialogue, goal, requests and bookings (of the goal), reason (of its end), ended_by, complete (the
                   user's belief), strict, compat, utterances, exchanges, longest_run, repeated_constraints,
                   repeated_requests, usage (JSON); those that are left out have no verdict
``calls``          dialogue, turn, name, domain, outcome, arguments (JSON), rows, result (JSON)
``heard``          listener, said, heard (act and slot; empty: nothing), same (value and all), times
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.runs import calls_table, frame_of
from dialgauge.tasks.reasons import REASONS, TaskFailure, reasons_table
from dialgauge.tasks.recordings.conduct import ConversationCounts, HeardActs, conduct
from dialgauge.tasks.recordings.judged_conversations import JudgedConversation, JudgedConversations, goal_of
from dialgauge.tasks.recordings.outcome_measures import COMPAT, STRICT

if TYPE_CHECKING:
    import polars


OUTCOMES, CONVERSATIONS, CALLS, HEARD = "outcomes", "conversations", "calls", "heard"
_COLUMNS: dict[str, Mapping[str, str]] = {
    OUTCOMES: {
        "dialogue": "String", "domain": "String", "rule": "String", "success": "Boolean", "entity": "String",
        "turn": "Int64",
    },
    CONVERSATIONS: {
        "dialogue": "String", "goal": "String", "requests": "Int64", "bookings": "Int64",
        "reason": "String", "ended_by": "String", "complete": "Boolean",
        "strict": "Boolean", "compat": "Boolean", "utterances": "Int64", "exchanges": "Int64", "longest_run": "Int64",
        "repeated_constraints": "Int64", "repeated_requests": "Int64", "usage": "String",
    },
    HEARD: {"listener": "String", "said": "String", "heard": "String", "same": "Boolean", "times": "Int64"},
}  # fmt: skip


def outcome_frames(judged: JudgedConversations) -> Mapping[str, Callable[[], polars.DataFrame]]:
    """The functions that make the tables when they are asked for."""
    rows: dict[str, Callable[[], Iterable[tuple[Any, ...]]]] = {
        OUTCOMES: lambda: (row for conversation in judged for row in _outcomes(conversation)),
        CONVERSATIONS: lambda: _conversations(judged),
        HEARD: lambda: ((*heard, count) for heard, count in sorted(judged.understanding.counts.items())),
    }

    def frame(name: str) -> polars.DataFrame:
        return frame_of(rows[name](), _COLUMNS[name])

    frames = {name: partial(frame, name) for name in rows}
    return {
        **frames,
        CALLS: lambda: calls_table(conversation.dialogue for conversation in judged),
        REASONS: lambda: reasons_table(row for conversation in judged for row in _reasons(conversation)),
    }


def _outcomes(conversation: JudgedConversation) -> Iterator[tuple[Any, ...]]:
    identifier = conversation.dialogue.id
    for domain, task in (conversation.strict.tasks if conversation.strict else {}).items():
        yield identifier, domain, STRICT, task.success, task.entity or None, task.turn
    for domain, success in (conversation.compat.domains if conversation.compat else {}).items():
        yield identifier, domain, COMPAT, success, None, None


def _reasons(conversation: JudgedConversation) -> Iterator[tuple[str, str, str, TaskFailure]]:
    strict = (
        {domain: task.failures for domain, task in conversation.strict.tasks.items()} if conversation.strict else {}
    )
    for rule, tasks in {STRICT: strict, COMPAT: conversation.compat.failures if conversation.compat else {}}.items():
        for domain, failures in tasks.items():
            yield from ((conversation.dialogue.id, domain, rule, failure) for failure in failures)


def _conversations(judged: JudgedConversations) -> Iterator[tuple[Any, ...]]:
    for conversation in judged:
        strict = conversation.strict.success if conversation.strict else None
        yield _conversation(
            conversation.dialogue,
            conversation.conduct,
            strict=strict,
            compat=conversation.compat.success if conversation.compat else None,
        )
    for dialogue in judged.left_out:
        yield _conversation(dialogue, conduct(dialogue, HeardActs()), strict=None, compat=None)


def _conversation(
    dialogue: Dialogue, went: ConversationCounts, *, strict: bool | None, compat: bool | None
) -> tuple[Any, ...]:
    tasks = dialogue.goal.tasks.values() if dialogue.goal else ()
    return (
        dialogue.id,
        goal_of(dialogue.id),
        sum(len(task.requests) for task in tasks),
        sum(bool(task.book) for task in tasks),
        went.reason,
        dialogue.outcome.ended_by if dialogue.outcome else "",
        went.complete,
        strict,
        compat,
        went.utterances,
        went.exchanges,
        went.longest_run,
        went.repeated_constraints,
        went.repeated_requests,
        _json(went.usage),
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
