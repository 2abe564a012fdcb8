"""What was said against what was heard: the errors of both sides' language understanding.

Acts said and acts heard in a turn are compared without regard to order. What is left over on both sides is paired: acts
that differ only in the value, then only in the name, then only in the slot; the rest was missed or invented.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Act, Speaker
from dialgauge.users.turns import (
    BOOK,
    NOBOOK,
    NOOFFER,
    OFFERBOOKED,
    REQUEST,
    SILENCE,
    ActLexicon,
    Folded,
    PreparedTurn,
    Said,
    folded,
)

ErrorKind: TypeAlias = Literal["value", "act", "slot", "missed", "invented"]

NOTHING = ""


class Confusion(Struct, frozen=True, array_like=True, gc=False, cache_hash=True):
    """``speaker`` said one thing and the other side heard another. Values are only given when they alone differ."""

    speaker: Speaker
    fault: ErrorKind
    said: str
    heard: str


#: The turn of a confusion, the confusion, and the sentence that was misheard, with its values replaced.
Occurrence: TypeAlias = tuple[int, Confusion, str]

#: What an act of the system comes to.
Outcome: TypeAlias = Literal["told", "asked", "refused", "booked"]
_OUTCOMES: tuple[tuple[Outcome, int], ...] = (
    ("refused", NOOFFER | NOBOOK),
    ("booked", BOOK | OFFERBOOKED),
    ("asked", REQUEST),
)


class UtteranceHearing(NamedTuple):
    """What was said in a turn against what was heard: its confusions, and for each the act said and the act heard."""

    confusions: tuple[Confusion, ...]
    acts: tuple[tuple[Said | None, Said | None], ...]


class Misheard:
    """What was misheard in one dialogue: the confusions of every turn, and those that bear on something.

    There are none where it was not recorded what the other side understood.
    """

    def __init__(self, turns: Sequence[PreparedTurn], lexicon: ActLexicon) -> None:
        self._turns, self._lexicon = turns, lexicon
        self._heard = [_compared(turn) for turn in turns]
        self.confusions = [heard.confusions for heard in self._heard]

    def bearing_on(self, position: int, services: tuple[str, ...], slots: frozenset[str]) -> tuple[Confusion, ...]:
        """The confusions of a turn that bear on the slots of the services.

        Such a confusion is about one of the slots, or it hides or feigns the outcome: something was told, refused or
        booked. Who hears a refusal, but not all of the criteria that it names, has heard the refusal.
        """
        if not self.confusions[position]:
            return ()
        turn = self._turns[position]
        sides = (turn.heard or SILENCE, turn.said)
        in_heard, in_said = ({self._outcome(act) for act in side.acts} for side in sides)

        def bears(act: Said | None, other: set[tuple[str, Outcome]]) -> bool:
            if act is None or act.act.domain not in services:
                return False
            service, outcome = self._outcome(act)
            about = outcome != "refused" and act.slot in slots
            return about or (outcome != "asked" and (service, outcome) not in other)

        heard = self._heard[position]
        return tuple(
            confusion
            for confusion, (own, other) in zip(heard.confusions, heard.acts, strict=True)
            if bears(own, in_heard) or bears(other, in_said)
        )

    def _outcome(self, spoken: Said) -> tuple[str, Outcome]:
        """What an act comes to, and in which service."""
        families = self._lexicon.families(spoken.act.name)
        return spoken.act.domain, next((kind for kind, members in _OUTCOMES if families & members), "told")

    def occurrences(self) -> Iterator[Occurrence]:
        """All confusions, each with the sentence that was misheard, its values replaced; turns whose acts or whose
        understanding were not recorded do not count."""
        for turn, heard in zip(self._turns, self._heard, strict=True):
            if heard.confusions and turn.said is not SILENCE:
                words = template(turn.text, turn.said.acts)
                for confusion, (act, _) in zip(heard.confusions, heard.acts, strict=True):
                    yield turn.position, confusion, sentence_of(words, act)


def _compared(turn: PreparedTurn) -> UtteranceHearing:
    """What was said in a turn against what was heard."""
    errors: list[Confusion] = []
    acts: list[tuple[Said | None, Said | None]] = []
    if turn.heard is not None and turn.heard is not turn.said:
        said, heard = turn.said.acts, turn.heard.acts
        for fault, index, other in _errors([act.folded for act in said], [act.folded for act in heard]):
            pair = None if index is None else said[index], None if other is None else heard[other]
            texts = [NOTHING if each is None else describe(each.act, fault == "value") for each in pair]
            errors.append(Confusion(turn.speaker, fault, *texts))
            acts.append(pair)
    return UtteranceHearing(tuple(errors), tuple(acts))


SENTENCE_ENDS = re.compile(r"(?<=[.?!]) +")
_ENDS = (". ", "? ", "! ")


def template(text: str, acts: Sequence[Said]) -> str:
    """The words of a turn in lower case, with the values of its acts replaced by their slots: ``it is [postcode] .``"""
    words = text.lower()
    values = {value.lower(): act.slot for act in acts if act.slot for value in act.act.values}
    for value in sorted(values, key=len, reverse=True) if len(values) > 1 else values:
        if len(value) > 1 or value.isdigit():
            words = words.replace(value, f"[{values[value]}]")
    return words


def sentence_of(words: str, spoken: Said | None) -> str:
    """Of a template the sentence that has the value of an act; all of it where none has it, or nothing was said."""
    offset = -1 if spoken is None or not spoken.slot else words.find(f"[{spoken.slot}]")
    if offset < 0:
        return words
    begin = max([words.rfind(end, 0, offset) for end in _ENDS]) + 1
    ends = [end for end in [words.find(end, offset) for end in _ENDS] if end >= 0]
    return words[begin : min(ends) + 1 if ends else None].strip()


class Mishearing(NamedTuple):
    """An act that was said and what was heard for it: None where that is nothing, or where nothing was said."""

    fault: ErrorKind
    said: Act | None
    heard: Act | None


def misheard(acts: Sequence[Act], understood: Sequence[Act]) -> Iterator[Mishearing]:
    """Where what was heard differs from what was said."""
    for fault, index, other in _errors(list(map(folded, acts)), list(map(folded, understood))):
        yield Mishearing(fault, None if index is None else acts[index], None if other is None else understood[other])


#: What two acts have in common that differ by each error: of name, slot and values the first two, the slot, the name.
_RULES: tuple[tuple[ErrorKind, Callable[[Folded], object]], ...] = (
    ("value", itemgetter(0, 1)),
    ("act", itemgetter(1)),
    ("slot", itemgetter(0)),
)


def _errors(said: Sequence[Folded], heard: Sequence[Folded]) -> Iterator[tuple[ErrorKind, int | None, int | None]]:
    """Each error with the places of the act that was said and of the one that was heard for it."""
    places: dict[Folded, list[int]] = {}
    for place in range(len(heard) - 1, -1, -1):
        places.setdefault(heard[place], []).append(place)
    missed = []
    for place, act in enumerate(said):
        if same := places.get(act):
            same.pop()
        else:
            missed.append(place)
    invented = sorted(chain.from_iterable(places.values()))
    for fault, key in _RULES:
        for index in list(missed) if invented else ():
            match = next((other for other in invented if key(heard[other]) == key(said[index])), None)
            if match is not None:
                missed.remove(index)
                invented.remove(match)
                yield fault, index, match
    for index in missed:
        yield "missed", index, None
    for index in invented:
        yield "invented", None, index


def describe(act: Act, with_value: bool = False) -> str:
    """An act as people write it: ``restaurant-inform(food)``, ``restaurant-inform(food=thai)``."""
    slot = act.slot.lower()
    inside = f"{slot}={', '.join(act.values).lower()}" if with_value and act.values else slot
    return f"{act.name.lower()}({inside})"
