"""What each side said, heard and did about one domain, turn by turn, as the record has it."""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import lru_cache
from typing import NamedTuple

from dialgauge.dialogue import Act, Blame, Call, Dialogue, Turn
from dialgauge.intents import INFORM, OFFERING, REQUEST
from dialgauge.lab.blame.reasons import Cause, blame_for
from dialgauge.values import TRUTHS, comparable, constrains, same_value
from dialgauge.worlds.domain import DomainSearch, Service


class Word(NamedTuple):
    """One thing that was said or heard in a turn."""

    turn: int
    intent: str
    slot: str
    value: str

    @property
    def tells(self) -> bool:
        """Does the system tell something with it?"""
        return self.intent in OFFERING


class DomainRecord:
    """The talk about one service."""

    def __init__(self, dialogue: str, domain: str, service: Service | None) -> None:
        """Of acts that name no service there is talk too."""
        self.dialogue, self.domain = dialogue, domain
        #: What the user can ask for, and what a booking gives.
        self.informable = service.informable if service else ()
        self.gives = service.gives if service and service.books else ()
        #: What the user said and what the system heard of it; what the system told and what the user heard of it.
        self.said: list[Word] = []
        self.heard: list[Word] = []
        self.told: list[Word] = []
        self.told_heard: list[Word] = []
        self.calls: list[tuple[int, Call]] = []
        #: The last turn in which the user spoke of the domain.
        self.last_turn: int | None = None
        #: What the system showed as its state after each user turn.
        self.believed: list[tuple[int, dict[str, str]]] = []

    def blame(self, code: str, turn: int, *arguments: str, cause: Cause | None = None) -> Blame:
        return blame_for(self.dialogue, self.domain, code, turn, *arguments, cause=cause)

    def says(self, slot: str) -> list[Word]:
        return [word for word in self.said if word.intent == INFORM and word.slot == slot]

    def asks(self, slot: str) -> list[int]:
        return [word.turn for word in self.said if word.intent == REQUEST and same_slot(word.slot, slot)]

    def asks_heard(self, slot: str) -> list[int]:
        return [word.turn for word in self.heard if word.intent == REQUEST and same_slot(word.slot, slot)]

    def called(self, name: str, upto: int) -> list[tuple[int, Call]]:
        return [(turn, call) for turn, call in self.calls if call.name == name and turn <= upto]

    def hears(self, slot: str, upto: int) -> Word | None:
        """What the system last heard of a slot, up to a turn; by its state, where it does not say what it heard."""
        words = [word for word in self.heard if word.intent == INFORM and word.slot == slot and word.turn <= upto]
        if words or not self.believed:
            return words[-1] if words else None
        shown = [(turn, state.get(slot, "")) for turn, state in self.believed if turn <= upto]
        if not shown or not shown[-1][1]:
            return None
        value = shown[-1][1]
        before = [turn for turn, other in shown if other != value]
        since = next(turn for turn, _ in shown if not before or turn > before[-1])
        return Word(since, INFORM, slot, value)

    def tells(self, intent: str, after: int) -> list[int]:
        """The turns after another in which the system said acts of a kind."""
        return sorted({word.turn for word in self.told if word.intent == intent and word.turn > after})


class TalkRecord:
    """A conversation by domain."""

    def __init__(self, dialogue: Dialogue, search: DomainSearch) -> None:
        self.dialogue, self.domains = dialogue, search.domain
        self.turns = dialogue.turns
        self.last = max(len(self.turns) - 1, 0)
        self._domains: dict[str, DomainRecord] = {}
        users = [turn for turn in self.turns if turn.speaker == "user"]
        systems = [turn for turn in self.turns if turn.speaker == "system"]
        #: Is it on the record what the user and the system said, and what each heard? The last turn is for nobody.
        self.user_acts = all(turn.acts is not None for turn in users)
        self.system_acts = all(turn.acts is not None for turn in systems)
        self.system_hears = any(turn.heard is not None or turn.predicted is not None for turn in users)
        self.user_hears = len(systems) < 2 or any(turn.heard is not None for turn in systems)
        self._bookable = ""
        for index, turn in enumerate(self.turns):
            (self._read_user if turn.speaker == "user" else self._read_system)(turn, index)

    @property
    def last_user_turn(self) -> int:
        return max((index for index, turn in enumerate(self.turns) if turn.speaker == "user"), default=0)

    def domain(self, name: str) -> DomainRecord:
        """The talk about a domain; empty where there was none."""
        if name not in self._domains:
            self._domains[name] = DomainRecord(self.dialogue.id, name, self.domains.services.get(name))
        return self._domains[name]

    def _read_user(self, turn: Turn, position: int) -> None:
        for act in turn.acts or ():
            record = self.domain(act.domain)
            record.said += _words(act, position)
            record.last_turn = position
            if act.domain in self.domains.services and self.domains.services[act.domain].takes:
                self._bookable = act.domain
        for act in turn.heard or ():
            self.domain(act.domain).heard += _words(act, position)
        if turn.heard is None:
            for domain, state in (turn.predicted or {}).items():
                self.domain(domain).believed.append((position, {slot: values[0] for slot, values in state.items()}))

    def _read_system(self, turn: Turn, position: int) -> None:
        calls = turn.calls or ()
        for call in calls:
            self.domain(call.domain).calls.append((position, call))
        booked = next((call.domain for call in reversed(calls) if call.name == "book"), self._bookable)
        said = turn.heard if turn.acts is None else turn.acts
        for act in said or ():
            self._meant(act, booked).told += _words(act, position)
        for act in turn.heard or ():
            self._meant(act, booked).told_heard += _words(act, position)

    def _meant(self, act: Act, booked: str) -> DomainRecord:
        return self.domain(booked if act.domain in self.domains.booking_acts else act.domain)


def _words(act: Act, turn: int) -> list[Word]:
    return [Word(turn, act.intent, act.slot, value) for value in act.values or ("",)]


@lru_cache(1 << 14)
def alike(value: str, other: str) -> bool:
    """Are two values the same, however they are written: yes and true, 9:00 and 09:00?"""
    return same_value(value, other) or comparable(value, TRUTHS) == comparable(other, TRUTHS)


def names_one(word: Word, names: Container[str]) -> bool:
    """Is one named with it, in whatever kind of act?"""
    return word.slot in names and word.intent != REQUEST and bool(word.value) and constrains(word.value)


def same_slot(slot: str, other: str) -> bool:
    """Whether two slots are one, however they are spelled."""
    return slot.lower() == other.lower()


def about(turns: Iterable[Turn], domain: str) -> list[tuple[int, Turn]]:
    """The turns of a domain, or of all."""
    return [
        (index, turn)
        for index, turn in enumerate(turns)
        if any(act.domain != "general" and domain in ("", act.domain) for act in turn.acts or ())
    ]
