"""The calls that a task expects, beside those that an agent made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge.presentation.pages import Reason

if TYPE_CHECKING:
    from dialgauge.dialogue import Call, Dialogue

#: The detail of an outcome that lists the calls a task expects.
_EXPECTED = "expected_actions"
#: Name and arguments of a call.
_Made: TypeAlias = tuple[str, dict[str, str]]


class ExpectedAction(Struct, frozen=True):
    """An action that the task expects: whether a call of that name was made for it, and with these arguments.

    ``call`` is the number of the call that was made for it, among all calls of the conversation.
    """

    name: str
    arguments: str
    made: bool
    same: bool
    call: int | None = None
    given: Mapping[str, str] = {}
    tried: Mapping[str, str] = {}


def expected_actions(dialogue: Dialogue) -> list[ExpectedAction]:
    """The expected actions, beside the calls that were made: by name, and with the same arguments."""
    try:
        actions = msgspec.json.decode(dialogue.details.get(_EXPECTED, "[]"), type=list[dict[str, Any]])
    except (msgspec.DecodeError, msgspec.ValidationError):
        return []
    return matched_actions(actions, made_calls(dialogue))


def names_expected_calls(dialogue: Dialogue) -> bool:
    """Whether the record says which calls were expected, if only that none was; most logs say nothing of it."""
    return _EXPECTED in dialogue.details


def made_calls(dialogue: Dialogue) -> list[Call]:
    """All calls of a conversation."""
    return [call for turn in dialogue.turns for call in turn.calls or ()]


def matched_actions(actions: Sequence[Mapping[str, Any]], made: Sequence[Call]) -> list[ExpectedAction]:
    """Expected actions and calls, one to one: equal ones first, then what is left by its name.

    A call that matches one action is no second try at another; a call that failed was a try only where no other was.
    """
    wanted = [(str(action.get("name", "")), _arguments(action)) for action in actions]
    calls = [(call.name, {key: _plain(value) for key, value in call.arguments.items()}) for call in made]
    order = sorted(range(len(calls)), key=lambda number: made[number].outcome == "error")
    spare = {number: calls[number] for number in order}
    same = [_taken(spare, action) for action in wanted]
    tried = [
        _taken(spare, (name, None)) if equal is None else equal for equal, (name, _) in zip(same, wanted, strict=True)
    ]
    return [
        ExpectedAction(
            name,
            ", ".join(f"{key} = {value}" for key, value in given.items()),
            attempt is not None,
            equal is not None,
            attempt,
            given,
            {} if attempt is None else calls[attempt][1],
        )
        for (name, given), attempt, equal in zip(wanted, tried, same, strict=True)
    ]


def call_reasons(actions: Sequence[ExpectedAction], turns: Sequence[int]) -> list[Reason]:
    """What expected calls are missing or other than expected; ``turns`` has the turn of each call that was made."""
    reasons = []
    for action in actions:
        if action.call is not None and not action.same:
            names = dict.fromkeys([*action.given, *action.tried])
            rows = [(name, action.given.get(name, "–"), action.tried.get(name, "–")) for name in names]
            wrong = [name for name, expected, actual in rows if expected != actual]
            text = f"Called {action.name} with other values than expected for {', '.join(wrong)}"
            reasons.append(Reason(text, turns[action.call], sorted(rows, key=lambda row: row[1] == row[2])))
    never: dict[str, int] = {}
    for action in actions:
        if action.call is None:
            never[action.name] = never.get(action.name, 0) + 1
    reasons += [
        Reason(f"Never called {name}, as was expected" + (f" {count} times" if count > 1 else ""))
        for name, count in never.items()
    ]
    return reasons


def _arguments(action: Mapping[str, Any]) -> dict[str, str]:
    given = action.get("arguments") or action.get("kwargs") or {}
    return {str(key): _plain(value) for key, value in given.items()} if isinstance(given, dict) else {}


def _taken(spare: dict[int, _Made], wanted: tuple[str, dict[str, str] | None]) -> int | None:
    """The first spare call of that name, and with these arguments where they matter; it is then taken."""
    name, given = wanted
    fits = (number for number, call in spare.items() if call[0] == name and given in (None, call[1]))
    number = next(fits, None)
    if number is not None:
        del spare[number]
    return number


def _plain(value: Any) -> str:
    """A value however its file writes it: calls keep theirs as text."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            return str(value)
    return msgspec.json.encode(value, order="sorted").decode()
