"""The calls that a task expects, beside those that an agent made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Call, Dialogue

Expected = TypeVar("Expected")


def paired(
    expected: Sequence[Expected], made: Sequence[Call], *keys: Callable[[Expected | Call], str | None]
) -> list[int | None]:
    """For each expected call the place of the one made for it: of those with the same first key, then the next.

    A call is made for one only; a key of None pairs with nothing.
    """
    pairs: list[int | None] = [None] * len(expected)
    spare = dict.fromkeys(range(len(made)))
    for key in keys:
        texts = {place: key(made[place]) for place in spare}
        for number, call in enumerate(expected):
            wanted = key(call) if pairs[number] is None else None
            place = None if wanted is None else next((each for each in spare if texts[each] == wanted), None)
            if place is not None:
                pairs[number] = place
                del spare[place]
    return pairs


class ExpectedAction(Struct, frozen=True):
    """An action that the task expects: whether a call of that name was made for it, and with these arguments.

    ``call`` is the number of the call that was made for it, among all calls of the conversation.
    """

    name: str
    given: Mapping[str, str]
    same: bool
    call: int | None = None
    tried: Mapping[str, str] = {}

    @property
    def arguments(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.given.items())


def expected_actions(dialogue: Dialogue) -> list[ExpectedAction]:
    """The expected calls beside those that were made: equal ones first, then what is left by its name.

    A call that failed is a try only where no other was.
    """
    expected, calls = dialogue.ended.expected or (), [call for _, call in dialogue.calls()]
    order = sorted(range(len(calls)), key=lambda number: calls[number].failed)
    made = [calls[number] for number in order]
    same = paired(expected, made, _exactly)
    actions = []
    for call, equal, place in zip(expected, same, paired(expected, made, _exactly, _name), strict=True):
        tried = {} if place is None else _texts(made[place])
        number = None if place is None else order[place]
        actions.append(ExpectedAction(call.name, _texts(call), equal is not None, number, tried))
    return actions


def _name(call: Call) -> str:
    return call.name


def _exactly(call: Call) -> str:
    return f"{call.name} {msgspec.json.encode(_texts(call), order='sorted').decode()}"


def _texts(call: Call) -> dict[str, Any]:
    """The arguments of a call, comparable however the log orders them."""
    return {key: msgspec.json.encode(value, order="sorted").decode() for key, value in call.given.items()}
