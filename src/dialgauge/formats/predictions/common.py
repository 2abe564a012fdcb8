"""What the prediction formats share: JSON objects keyed by dialogue and turn, holes, and states written as texts.

Predictions are aligned with gold by the index of the user turn. A turn number that the file leaves out therefore
becomes :data:`HOLE`, a user turn about which nothing is recorded, and is counted in the notes; the turns after it keep
their index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from dialgauge.dialogue import Dialogue, State, Turn, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.jsonfile import KeyLocation, Remembered, as_key, decode, members_of
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part
from dialgauge.formats.state_values import present

#: A user turn that the file does not have.
HOLE = Turn(speaker="user")
#: A turn number beyond this is a mistake, not a long dialogue with holes.
MOST_TURNS = 10_000

_NUMBER = re.compile(r"[0-9]{1,9}")
_LOOK_AT = 20
_COUNTING = [str(number) for number in range(100)]

T = TypeVar("T")


def members(part: Part) -> list[tuple[str, msgspec.Raw]]:
    """Key and undecoded value of each member of the file's JSON object, also of keys that occur twice."""
    return members_of(part.buffer(), part)


class NumberedTurns(Generic[T]):
    """A JSON object of dialogues, each of them an object of turns by number: ``{dialogue: {"0": ..., "1": ...}}``."""

    def __init__(self, turn: type[T]) -> None:
        self._dialogue = msgspec.json.Decoder(dict[KeyLocation, turn], dec_hook=as_key)  # type: ignore[valid-type]

    def read(self, part: Part, notes: Notes, build: Callable[[str, list[T | None]], Dialogue]) -> Iterator[Dialogue]:
        """What ``build`` makes of each dialogue's turns."""

        def from_raw(dialogue: str, raw: msgspec.Raw) -> Dialogue:
            return build(dialogue, by_turn(raw, self._dialogue, part, notes))

        return built(members(part), from_raw, part, notes)


def built(
    items: Iterable[tuple[str, T]], build: Callable[[str, T], Dialogue], part: Part, notes: Notes
) -> Iterator[Dialogue]:
    """The dialogue of each (id, content); one that cannot be built is refused with its place."""
    for dialogue, content in items:
        try:
            made = build(dialogue, content)
        except DialgaugeError as error:
            notes.refuse(error.at(file=part.name, dialogue=dialogue))
        else:
            yield made


def grouped(items: Iterable[tuple[str, str, T]]) -> dict[str, list[tuple[str, T]]]:
    """(dialogue, turn, content) by dialogue, in order of first appearance."""
    groups: dict[str, list[tuple[str, T]]] = {}
    for dialogue, turn, content in items:
        groups.setdefault(dialogue, []).append((turn, content))
    return groups


def by_turn(
    raw: msgspec.Raw, decoder: msgspec.json.Decoder[dict[KeyLocation, T]], part: Part, notes: Notes
) -> list[T | None]:
    """The turns of one dialogue, ``{"0": ..., "1": ...}``, in numeric order; ``None`` where a number is missing."""
    try:
        turns = decode(decoder, raw, part)
    except DialgaugeError as error:
        raise _in_turn(raw, decoder, part) or error from error
    return in_order([(key.text, turn) for key, turn in turns.items()], notes)


def _in_turn(
    raw: msgspec.Raw, decoder: msgspec.json.Decoder[dict[KeyLocation, T]], part: Part
) -> DialgaugeError | None:
    """The error of the first turn that does not decode on its own, if it is the fault of one turn."""
    try:
        turns = members_of(raw, part)
    except DialgaugeError:
        return None
    for key, value in turns:
        alone = b"{" + msgspec.json.encode(key) + b":" + bytes(value) + b"}"
        try:
            decode(decoder, alone, part)
        except DialgaugeError as error:
            return error.at(turn=int(key)) if _NUMBER.fullmatch(key) else error
    return None


def in_order(items: Sequence[tuple[str, T]], notes: Notes) -> list[T | None]:
    """Items sorted by the number in their key, ``None`` for each number left out before the last."""
    if [key for key, _ in items] == _COUNTING[: len(items)]:  # nearly every dialogue
        return [item for _, item in items]
    numbered: dict[int, T] = {}
    for key, item in items:
        number = _turn_number(key)
        if number in numbered:
            raise DialgaugeError("this turn appears twice; keep one of them", turn=number)
        numbered[number] = item
    length = max(numbered, default=-1) + 1
    notes.add("missing turns, left as holes", length - len(numbered))
    return [numbered.get(number) for number in range(length)]


@lru_cache(maxsize=MOST_TURNS)
def _turn_number(key: str) -> int:
    if not _NUMBER.fullmatch(key):
        raise DialgaugeError(f"'{key[:40]}' is not a turn number; turns are keyed 0, 1, 2, ...")
    number = int(key)
    if number >= MOST_TURNS:
        raise DialgaugeError(f"turn {number} is beyond the {MOST_TURNS:,} turns a dialogue may have")
    return number


def example_rows(dialogue: str = "", slots: Mapping[str, str] | None = None, *, name: str = "state") -> str:
    """A file of three lines that is read, with somebody's own id and slots where there are any."""
    filled = [(slot[:60], value[:60]) for slot, value in (slots or {}).items()] or [
        ("hotel-area", "north"),
        ("hotel-stars", "4"),
    ]
    states: tuple[dict[str, str], ...] = ({}, dict(filled[:1]), dict(filled[:2]))
    rows = (
        {"dialogue_id": dialogue[:40] or "dialogue-1", "turn": turn, name: each} for turn, each in enumerate(states)
    )
    return "\n".join(msgspec.json.encode(row).decode() for row in rows)


class Position(Protocol):
    """Where the reader is, for notes."""

    dialogue: str
    turn: int


def assembled(
    dialogue: str, turns: Iterable[T | None], make: Callable[[T], Turn], position: Position | None = None
) -> Dialogue:
    """The dialogue of one made turn per item, holes where there is none; errors of ``make`` get their turn."""
    made: list[Turn] = []
    if position is not None:
        position.dialogue = dialogue
    for number, item in enumerate(turns):
        if position is not None:
            position.turn = number
        try:
            made.append(HOLE if item is None else make(item))
        except DialgaugeError as error:
            raise error.at(turn=number) from error
    return Dialogue(id=dialogue, turns=tuple(made))


def sample_dialogues(peek: Peek) -> list[Any]:
    """The values of the first members of the file's JSON object; empty when it is something else."""
    return list(islice(peek.json.values(), _LOOK_AT)) if isinstance(peek.json, dict) else []


def sample_turns(dialogues: Iterable[Any]) -> list[Any]:
    """The values under turn numbers in the first dialogues, ``{"0": ...}``; empty unless all are keyed by numbers."""
    turns: list[Any] = []
    for dialogue in dialogues:
        if not isinstance(dialogue, dict) or not all(map(_NUMBER.fullmatch, dialogue)):
            return []
        turns.extend(dialogue.values())
    return turns


def some_have(samples: Iterable[Any], *names: str) -> bool:
    """Is there a sample, and is each an object, and does one of them have a key of these names?"""
    objects = list(samples)
    return all(isinstance(item, dict) for item in objects) and any(
        not item.keys().isdisjoint(names) for item in objects
    )


Triple: TypeAlias = tuple[str, str, str]

_TEXTS = msgspec.json.Decoder(list[str])
TWO_VALUES = "slots with two values in one state, the later kept"


def hyphenated(text: str) -> Triple:
    """``domain-slot-value``; only the first two hyphens separate, for values may contain more.

    >>> hyphenated("restaurant-name-the slug-and-lettuce")
    ('restaurant', 'name', 'the slug-and-lettuce')
    """
    pieces = text.split("-", 2)
    if len(pieces) < 3 or not pieces[0] or not pieces[1]:
        raise DialgaugeError(f"'{text[:80]}' is not of the form domain-slot-value")
    return pieces[0], pieces[1], pieces[2]


@lru_cache(maxsize=1 << 10)
def hyphenated_slot(text: str) -> tuple[str, str]:
    """``domain-slot``, where the slot may contain hyphens.

    >>> hyphenated_slot("hotel-book people")
    ('hotel', 'book people')
    """
    domain, _, slot = text.partition("-")
    if not domain or not slot:
        raise DialgaugeError(f"'{text[:80]}' is not of the form domain-slot")
    return domain, slot


class Beliefs:
    """Lists of texts as states, for one file. ``parse`` takes one text apart.

    A file repeats the same few thousand texts over and over, so each is taken apart once, and each different state is
    built once; that takes a third of the time.

    A state has one value a slot: of two different values the later stands, as in a JSON object, and that is noted,
    with the place where it is predicted. Values that mean "absent" are left out.
    """

    def __init__(self, parse: Callable[[str], Triple], part: Part, notes: Notes) -> None:
        self._parse = parse
        self._notes = notes
        self.dialogue, self.turn = "", 0
        self._known: dict[str, tuple[str, str, Values]] = {}
        self._states = Remembered(_TEXTS, self._made, part)

    def state(self, texts: Iterable[str], *, gold: bool = False) -> State:
        """The state of texts that are already decoded."""
        return self._noted(self._made(texts), gold=gold)

    def read(self, raw: msgspec.Raw, *, gold: bool = False) -> State:
        """The state of a JSON array of texts."""
        return self._noted(self._states.read(raw), gold=gold)

    def optional_gold(self, raw: msgspec.Raw) -> State | None:
        """The gold state of a JSON array of texts that may not be recorded."""
        made = self._states.optional(raw)
        return None if made is None else self._noted(made, gold=True)

    def _noted(self, made: tuple[State, int], *, gold: bool) -> State:
        state, twice = made
        if twice and gold:
            self._notes.add(f"gold: {TWO_VALUES}", twice)
        elif twice:
            self._notes.add_at(TWO_VALUES, twice, f"dialogue {self.dialogue}, turn {self.turn}")
        return state

    def _made(self, texts: Iterable[str]) -> tuple[State, int]:
        """The state, and how many slots had two values."""
        state: State = {}
        twice = 0
        for text in texts:
            domain, slot, values = self._known.get(text) or self._learned(text)
            if not values:
                continue
            slots = state.get(domain)
            if slots is None:
                slots = state[domain] = {}
            elif slots.get(slot, values) != values:
                twice += 1
            slots[slot] = values
        return state, twice

    def _learned(self, text: str) -> tuple[str, str, Values]:
        domain, slot, value = self._parse(text)
        known = self._known[text] = (domain, slot, present(value))
        return known


def slot_state(values: Mapping[str, Values]) -> State:
    """The state of ``domain-slot`` to values, without empty ones."""
    state: State = {}
    for name, given in values.items():
        if given:
            domain, slot = hyphenated_slot(name)
            state.setdefault(domain, {})[slot] = given
    return state
