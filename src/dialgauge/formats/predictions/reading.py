"""What the formats of predictions share: dialogues by id, turns by number, and notes on states with their places.

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
from typing import Any, ClassVar, TypeAlias, TypeVar

import msgspec
from msgspec import Raw

from dialgauge.dialogue import Dialogue, State, Turn, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Peek
from dialgauge.formats.jsonfile import NOTHING, decode, members_of
from dialgauge.formats.notes import INVALID, Notes
from dialgauge.formats.predictions.states import Misfit, Slot, open_answer, read_state, state_of, strings, values_of
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
        for name, content in reader.dialogues():
            reader.dialogue = name
            try:
                items = in_order(reader.turns(content), notes)
                turns = tuple(turn for number, item in enumerate(items) for turn in reader._made(number, item))
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=name))
            else:
                yield Dialogue(id=name, turns=turns, domains=reader.domains)

    def noted(self, make: Callable[[bytes, Seen], T], raw: Raw, *, gold: bool = False) -> T:
        """The meaning of a piece of a turn; what ``make`` has seen in it is noted, of predictions with the place."""
        seen: Seen = Counter()
        made = make(bytes(raw), seen)
        for what, count in (+seen).items():
            if gold:
                self.notes.add(f"gold: {what}", count)
            else:
                self.notes.add_at(what, count, f"dialogue {self.dialogue}, turn {self.turn}")
        return made

    def optional(self, make: Callable[[bytes, Seen], T], raw: Raw, *, gold: bool = False) -> T | None:
        """The same of a piece that may be left out or null: then nothing is recorded."""
        return None if bytes(raw) in NOTHING else self.noted(make, raw, gold=gold)

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

    def gold_state(self, content: bytes, seen: Seen) -> Any:
        """The gold state of a turn; by default ``["domain-slot-value"]``."""
        texts = decode(TEXTS, content, self.part)
        return state_of_slots(strings(texts), seen)

    def predicted_state(self, content: bytes, seen: Seen) -> Any:
        """The predicted state of a turn; by default as the gold one."""
        return self.gold_state(content, seen)

    def made(self, content: Raw) -> Iterable[Turn]:
        sides = decode(self.sides, content, self.part)
        gold = self.optional(self.gold_state, sides.gold, gold=True)
        yield Turn(speaker="user", state=gold, predicted=self.optional(self.predicted_state, sides.predicted))


def sides(gold: str, predicted: str, *, required: bool = True) -> msgspec.json.Decoder[Any]:
    """Decodes a turn with a gold and a predicted state under these names."""
    fields: list[Any] = [("predicted", Raw) if required else ("predicted", Raw, Raw())]
    fields += [("gold", Raw, Raw())]
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

ODD = "values that are none, or have no slot, kept as wrong values"
#: Where a value stands that has a domain and no slot.
_NO_SLOT = "(no slot)"
_WRAPPERS = frozenset({"state", "belief_state", "dialogue_state", "predicted_state"})
_ANY = msgspec.json.Decoder()


def model_state(content: bytes, part: Part, seen: Seen) -> State:
    """A nested state; what else a model wrote is read by :func:`written_state`."""
    try:
        return read_state(content, part)
    except DialgaugeError:
        return written_state(decode(_ANY, content, part), seen)


def written_state(value: Any, seen: Seen) -> State:
    """The state in what a model wrote: domains with slots, ``domain-slot`` with values, or a text with either.

    What is no state is an *invalid output*: an empty prediction, never a missing one. What is no value is kept as one
    that is right nowhere, so that nothing is to a system's advantage.

    >>> written_state('Sure! {"hotel-stars": 4, "hotel": {"area": null}}', Counter())
    {'hotel': {'stars': ('4',)}}
    """
    try:
        written = open_answer(value) if isinstance(value, str) else value
    except Misfit:
        written = None
    if isinstance(written, dict) and len(written) == 1 and not _WRAPPERS.isdisjoint(written):
        [written] = written.values()
    if not isinstance(written, dict):
        seen[INVALID] += 1
        return {}
    state: State = {}
    for name, content in written.items():
        domain, _, slot = str(name).partition("-")
        slots = content if isinstance(content, dict) else {slot: content}
        for slot, given in slots.items():
            if values := _values(given, seen):
                seen[ODD] += not slot
                state.setdefault(str(name) if slots is content else domain, {})[slot or _NO_SLOT] = values
    return state


def _values(given: Any, seen: Seen) -> Values:
    try:
        return values_of(given)
    except Misfit:
        seen[ODD] += 1
        return (str(given)[:200],)
