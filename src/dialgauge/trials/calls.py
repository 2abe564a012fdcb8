"""The calls that a task expects beside those that were made, and the single values of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from dialgauge.dialogue import Call, Dialogue
from dialgauge.worlds.tools import canonical

Expected = TypeVar("Expected")


def paired(
    expected: Sequence[Expected], made: Sequence[Call], *keys: Callable[[Expected | Call], str | None]
) -> list[int | None]:
    """The place of the made call for each expected one: matched by the first key, what is left by the next.

    A made call matches one expected call at most; a key of None matches nothing.
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


def leaves(value: Any, path: str = "", *, numbered: bool = False) -> Iterator[tuple[str, Any]]:
    """The single values of arguments with their dotted paths; places in lists are part of a path if ``numbered``."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from leaves(each, f"{path}.{key}" if path else key, numbered=numbered)
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from leaves(each, f"{path}[{place}]" if numbered else path, numbered=numbered)
    elif value is not None:
        yield path, value


class ExpectedAction(Struct, frozen=True):
    """A call that a task expects: whether one of that name was made for it, and with these arguments.

    ``call`` is the number of the call that was made for it, among all calls of the conversation.
    """

    name: str
    arguments: Mapping[str, Any]
    same: bool
    call: int | None = None
    tried: Mapping[str, Any] = {}

    @property
    def differences(self) -> list[tuple[str, str, str]]:
        """Argument, expected value and made value, wherever a call that was made differs from the expected one."""
        if self.call is None:
            return []
        expected, made = (dict(leaves(each, numbered=True)) for each in (self.arguments, self.tried))
        names = dict.fromkeys([*expected, *made])
        pairs = [(name, expected.get(name, ""), made.get(name, "")) for name in names]
        return [(name, str(should), str(was)) for name, should, was in pairs if should != was]


def expected_actions(dialogue: Dialogue) -> list[ExpectedAction]:
    """The expected calls beside those that were made: equal ones first, then what is left by its name.

    A call that failed is a try only where no other was.
    """
    expected, calls = dialogue.ended.expected or (), [call for _, call in dialogue.calls()]
    order = sorted(range(len(calls)), key=lambda number: calls[number].failed)
    made = [calls[number] for number in order]
    same = paired(expected, made, _exactly)
    actions = []
    for call, equal, place in zip(
        expected, same, paired(expected, made, _exactly, lambda call: call.name), strict=True
    ):
        number = None if place is None else order[place]
        tried = {} if number is None else calls[number].given
        actions.append(ExpectedAction(call.name, call.given, equal is not None, number, tried))
    return actions


def _exactly(call: Call) -> str:
    return f"{call.name} {canonical(call.given, 'as-written')}"
