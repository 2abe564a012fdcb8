"""What the formats of predictions share: dialogues by id, turns by number, and states that are read once if equal.

Predictions are aligned with gold by the index of the user turn. A turn number that the file leaves out therefore
becomes :data:`HOLE`, a user turn about which nothing is recorded, and is counted in the notes; the turns after it keep
their index.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import Raw

from dialgauge.dialogue import Dialogue, State, Turn, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Peek
from dialgauge.formats.jsonfile import NOTHING, decode, members_of
from dialgauge.formats.notes import INVALID, Notes
from dialgauge.formats.predictions.states import Misfit, Slot, open_answer, present_text, state_of, strings
from dialgauge.formats.source import Part

T = TypeVar("T")
#: What was read as something else, or left out, and how often.
Seen: TypeAlias = Counter[str]

#: A user turn that the file does not have.
HOLE = Turn(speaker="user")
#: A turn number beyond this is a mistake, not a long dialogue with holes.
MOST_TURNS = 10_000
TWO_VALUES = "slots with two values in one state, the later kept"
_HOLES = "missing turns, left as holes"
TEXTS = msgspec.json.Decoder(list[str])

_NUMBER = re.compile(r"[0-9]{1,9}")
_COUNTING = [str(number) for number in range(100)]
_LOOK_AT = 20


# -- files -----------------------------------------------------------------------------------------------------------


class PredictionFormat(DialogueFormat):
    """A format of predictions; an instance of its own reads one file."""

    kind = "predictions"
    fields = frozenset({"state", "predicted"})
    part: Part
    notes: Notes
    #: Where the reading is, for errors and notes.
    dialogue, turn = "", 0
    #: The domains of the dialogue, where the file says so.
    domains: tuple[str, ...] = ()

    def begin(self) -> None:
        """A file begins."""

    def dialogues(self) -> Iterable[tuple[str, Any]]:
        """Id and content of each dialogue."""
        return members_of(self.part.buffer(), self.part)

    def turns(self, content: Any) -> Sequence[tuple[str, Any]]:
        """Number and content of each turn of a dialogue that begins here."""
        return members_of(content, self.part) if isinstance(content, Raw) else list(content)

    @abstractmethod
    def made(self, content: Any) -> Iterable[Turn]:
        """What becomes of one turn."""

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        """The dialogues of the file; one that cannot be read is refused with its place."""
        reader = type(self)()
        reader.part, reader.notes = part, notes
        reader.begin()
        for name, content in reader.dialogues():
            reader.dialogue = name
            try:
                items = in_order(reader.turns(content), notes)
                turns = tuple(turn for number, item in enumerate(items) for turn in reader._made(number, item))
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=name))
            else:
                yield Dialogue(id=name, turns=turns, domains=reader.domains)

    def _made(self, number: int, item: Any) -> Iterable[Turn]:
        self.turn = number
        try:
            return (HOLE,) if item is None else tuple(self.made(item))
        except DialgaugeError as error:
            raise error.at(turn=number) from error


class StatesFormat(PredictionFormat):
    """Turns that are objects with a gold and a predicted state under two names."""

    #: Decodes a turn, whose ``gold`` and ``predicted`` stay undecoded.
    sides: ClassVar[msgspec.json.Decoder[Any]]

    def begin(self) -> None:
        self.gold, self.predicted = Pieces(self.gold_state, self, gold=True), Pieces(self.predicted_state, self)

    def gold_state(self, content: bytes, seen: Seen) -> Any:
        """The gold state of a turn; by default ``["domain-slot-value"]``."""
        texts = decode(TEXTS, content, self.part)
        return state_of_slots(strings(texts), seen)

    def predicted_state(self, content: bytes, seen: Seen) -> Any:
        """The predicted state of a turn; by default as the gold one."""
        return self.gold_state(content, seen)

    def made(self, content: Raw) -> Iterable[Turn]:
        sides = decode(self.sides, content, self.part)
        gold, predicted = self.gold.optional(sides.gold), self.predicted.optional(sides.predicted)
        yield Turn(speaker="user", state=gold, predicted=predicted)


def sides(gold: str, predicted: str, *others: str, required: bool = True) -> msgspec.json.Decoder[Any]:
    """Decodes a turn with a gold and a predicted state under these names."""
    fields: list[Any] = [("predicted", Raw) if required else ("predicted", Raw, Raw())]
    fields += [(name, Raw, Raw()) for name in ("gold", *others)]
    return msgspec.json.Decoder(
        msgspec.defstruct("Turn", fields, gc=False, rename={"gold": gold, "predicted": predicted})
    )


def grouped(items: Iterable[tuple[str, str, T]]) -> dict[str, list[tuple[str, T]]]:
    """(dialogue, turn, content) by dialogue, in order of first appearance."""
    groups: dict[str, list[tuple[str, T]]] = {}
    for dialogue, turn, content in items:
        groups.setdefault(dialogue, []).append((turn, content))
    return groups


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
    notes.add(_HOLES, length - len(numbered))
    return [numbered.get(number) for number in range(length)]


@lru_cache(maxsize=MOST_TURNS)
def _turn_number(key: str) -> int:
    if not _NUMBER.fullmatch(key):
        raise DialgaugeError(f"'{key[:40]}' is not a turn number; turns are keyed 0, 1, 2, ...")
    number = int(key)
    if number >= MOST_TURNS:
        raise DialgaugeError(f"turn {number} is beyond the {MOST_TURNS:,} turns a dialogue may have")
    return number


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
    """Whether all samples are objects, and one of them has a key of these names."""
    objects = list(samples)
    return all(isinstance(item, dict) for item in objects) and any(
        not item.keys().isdisjoint(names) for item in objects
    )


# -- states ----------------------------------------------------------------------------------------------------------


class Pieces(Generic[T]):
    """What pieces of a file mean.

    A state stays the same over many turns, and a good prediction is the same as the gold state: equal pieces are read
    once. What ``make`` has seen in a piece is noted wherever the piece stands, with the place.
    """

    def __init__(self, make: Callable[[bytes, Seen], T], reader: PredictionFormat, *, gold: bool = False) -> None:
        self._make, self._reader, self._gold = make, reader, gold
        self._known: dict[bytes, T] = {}
        self._odd: dict[bytes, Seen] = {}

    def read(self, raw: Raw | bytes) -> T:
        """The meaning of a member that must be there."""
        content = bytes(raw)
        if content not in self._known:
            seen: Seen = Counter()
            self._known[content] = self._make(content, seen)
            if +seen:
                self._odd[content] = +seen
        for what, count in self._odd[content].items() if content in self._odd else ():
            if self._gold:
                self._reader.notes.add(f"gold: {what}", count)
            else:
                self._reader.notes.add_at(what, count, f"dialogue {self._reader.dialogue}, turn {self._reader.turn}")
        return self._known[content]

    def optional(self, raw: Raw) -> T | None:
        """The meaning of a member that may be left out or null: then nothing is recorded."""
        return None if bytes(raw) in NOTHING else self.read(raw)


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


def slot_state(values: Mapping[str, Values]) -> State:
    """The state of ``domain-slot`` to values, without empty ones."""
    state: State = {}
    for name, given in values.items():
        if given:
            domain, slot = hyphenated_slot(name)
            state.setdefault(domain, {})[slot] = given
    return state


def state_of_slots(slots: Iterable[Slot], seen: Seen) -> State:
    """The state of slots with values; of two different values of a slot the later stands."""
    try:
        state, twice = state_of(slots)
    except Misfit as error:
        raise DialgaugeError(str(error)) from None
    seen[TWO_VALUES] += twice
    return state


# -- what language models write --------------------------------------------------------------------------------------
#
# Gold must have the shape that the format says; of predictions everything is taken that can be meant: null, numbers,
# truth values, flat keys, words around the JSON. What no reading makes a state of is an *invalid output*: an empty
# prediction, never a missing one, so that it is scored. What is neither absent nor a text is kept as a value that is
# right nowhere. Nothing of it is to a system's advantage.

NULL = "null values read as absent"
NUMBER = "numbers read as texts"
TRUTH = "booleans read as the texts true and false"
NO_VALUE = "objects and lists in place of a value, kept as wrong values"
NO_SLOT = "values without a slot, kept as wrong values"
#: Where a value stands that has a domain and no slot.
NO_NAME = "(no slot)"
_WRAPPERS = frozenset({"state", "belief_state", "dialogue_state", "predicted_state"})


def else_loosely(strict: Callable[[bytes], T], loose: Callable[[Any, Seen], T]) -> Callable[[bytes, Seen], T]:
    """Reads JSON with ``strict`` and, what that refuses, with ``loose``."""

    def read(content: bytes, seen: Seen) -> T:
        try:
            return strict(content)
        except DialgaugeError as error:
            try:
                value = msgspec.json.decode(content)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                raise error from None
        return loose(value, seen)

    return read


def loose_changes(value: Any, seen: Seen) -> dict[str, Values]:
    """``domain-slot`` with values, of which an empty one empties its slot, in whatever a model put out."""
    if not isinstance(value, dict):
        seen[INVALID] += 1
        return {}
    changes: dict[str, Values] = {}
    for name, content in value.items():
        inside = content if isinstance(content, dict) else {"": content}
        for slot, given in inside.items():
            whole = f"{name}-{slot}" if slot else name
            nameless = "-" not in whole.strip("-")
            seen[NO_SLOT] += nameless
            changes[f"{whole or 'unknown'}-{NO_NAME}" if nameless else whole] = loose_value(given, seen)
    return changes


def loose_state(value: Any, seen: Seen, text: Callable[[str], Values] = present_text) -> State:
    """The state in whatever a model put out: domains with slots, or ``domain-slot`` with values, or a text with it.

    ``text`` takes a value apart that lists alternatives.

    >>> seen: Seen = Counter()
    >>> loose_state({"hotel-stars": 4, "hotel": {"area": None}}, seen), dict(+seen)
    ({'hotel': {'stars': ('4',)}}, {'numbers read as texts': 1, 'null values read as absent': 1})
    """
    written = value
    if isinstance(value, str):
        try:
            written = open_answer(value)
        except Misfit:
            written = None
    if isinstance(written, dict) and len(written) == 1 and not _WRAPPERS.isdisjoint(written):
        [written] = written.values()
    if not isinstance(written, dict):
        seen[INVALID] += 1
        return {}
    state: State = {}
    for key, content in written.items():
        domain, hyphen, slot = str(key).partition("-")
        if isinstance(content, dict):
            domain, slots = str(key), {str(name): loose_value(given, seen, text) for name, given in content.items()}
        else:
            slots = {slot if hyphen else NO_NAME: loose_value(content, seen, text)}
            seen[NO_SLOT] += not hyphen and any(slots.values())
        filled = {slot: values for slot, values in slots.items() if values}
        if filled:
            state[domain] = {**state.get(domain, {}), **filled}
    return state


def loose_value(value: Any, seen: Seen, text: Callable[[str], Values] = present_text) -> Values:
    """The acceptable values of a slot, whatever stands there; empty where it means absent."""
    if isinstance(value, str):
        return text(value)
    if value is None:
        seen[NULL] += 1
        return ()
    if isinstance(value, bool):
        seen[TRUTH] += 1
        return ("true" if value else "false",)
    if isinstance(value, int | float):
        seen[NUMBER] += 1
        if isinstance(value, float):
            return (f"{value:.0f}" if value.is_integer() else repr(value),)
        return (str(value),)
    if isinstance(value, list | tuple) and not any(isinstance(item, list | tuple | dict) for item in value):
        return tuple(name for item in value for name in loose_value(item, seen, text))
    seen[NO_VALUE] += 1
    return (" ".join(re.sub(r"[\[\]{}]", " ", str(value)[:200]).split()) or NO_NAME,)
