"""The calls that a task expects, beside those that an agent made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from dialgauge.dialogue import Call, Dialogue

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
    """The expected calls, beside those that were made: by name, and with the same arguments."""
    return matched_actions(dialogue.ended.expected or (), made_calls(dialogue))


def made_calls(dialogue: Dialogue) -> list[Call]:
    """All calls of a conversation."""
    return [call for _, call in dialogue.calls()]


def matched_actions(expected: Sequence[Call], made: Sequence[Call]) -> list[ExpectedAction]:
    """Expected calls and made ones, one to one: equal ones first, then what is left by its name.

    A call that matches one is no second try at another; a call that failed was a try only where no other was.
    """
    wanted = [(call.name, _texts(call)) for call in expected]
    calls = [(call.name, _texts(call)) for call in made]
    order = sorted(range(len(calls)), key=lambda number: made[number].failed)
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


def _texts(call: Call) -> dict[str, str]:
    """The arguments of a call, comparable however the file orders them."""
    return {key: msgspec.json.encode(value, order="sorted").decode() for key, value in call.given.items()}


def _taken(spare: dict[int, _Made], wanted: tuple[str, dict[str, str] | None]) -> int | None:
    """The first spare call of that name, and with these arguments where they matter; it is then taken."""
    name, given = wanted
    fits = (number for number, call in spare.items() if call[0] == name and given in (None, call[1]))
    number = next(fits, None)
    if number is not None:
        del spare[number]
    return number
