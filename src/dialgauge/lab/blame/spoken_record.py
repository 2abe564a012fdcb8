"""What each side said, heard and did about one domain, turn by turn, as the record has it."""

from __future__ import annotations

from collections.abc import Container, Iterable

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Act, Call, Dialogue, Turn
from dialgauge.intents import INFORM, OFFERING, REQUEST
from dialgauge.values import TRUTHS, comparable, constrains
from dialgauge.worlds.domain import DomainGoal, DomainSearch, Service


class Word(Struct, frozen=True, gc=False):
    """One thing that was said or heard in a turn."""

    turn: int
    #: Of the act.
    name: str
    slot: str
    value: str
    #: What the act does.
    intent: str

    @property
    def tells(self) -> bool:
        """Does the system tell something with it?"""
        return self.intent in OFFERING


class DomainRecord:
    """The talk about one service."""

    def __init__(self, domain: str, service: Service | None) -> None:
        """Of acts that name no service there is talk too."""
        self.domain = domain
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

    def says(self, slot: str) -> list[Word]:
        return [word for word in self.said if word.intent == INFORM and word.slot == slot]

    def asks(self, slot: str) -> list[int]:
        return [word.turn for word in self.said if word.intent == REQUEST and same_slot(word.slot, slot)]

    def asks_heard(self, slot: str) -> list[int]:
        return [word.turn for word in self.heard if word.intent == REQUEST and same_slot(word.slot, slot)]

    def called(self, name: str, upto: int) -> list[tuple[int, Call]]:
        return [(turn, call) for turn, call in self.calls if call.name == name and turn <= upto]

    def hears(self, slot: str, upto: int) -> Word | None:
        """What the system last heard of a slot, up to a turn."""
        words = [word for word in self.heard if word.intent == INFORM and word.slot == slot and word.turn <= upto]
        if words or not self.believed:
            return words[-1] if words else None
        shown = [(turn, state.get(slot, "")) for turn, state in self.believed if turn <= upto]
        if not shown or not shown[-1][1]:
            return None
        value = shown[-1][1]
        before = [turn for turn, other in shown if other != value]
        since = next(turn for turn, _ in shown if not before or turn > before[-1])
        return Word(since, INFORM, slot, value, INFORM)

    def tells(self, intent: str, after: int) -> list[int]:
        """The turns after another in which the system said acts of a kind."""
        return sorted({word.turn for word in self.told if word.intent == intent and word.turn > after})

    def user_heard(self, intent: str, turns: Iterable[int]) -> bool:
        """Did the user hear an act of that kind in one of the turns?"""
        places = set(turns)
        return any(word.intent == intent and word.turn in places for word in self.told_heard)


class TalkRecord:
    """A conversation by domain."""

    def __init__(self, dialogue: Dialogue, search: DomainSearch) -> None:
        self.dialogue, self.search, self.domains = dialogue, search, search.domain
        self.turns = dialogue.turns
        self.last = max(len(self.turns) - 1, 0)
        self._domains: dict[str, DomainRecord] = {}
        users, systems = _by(self.turns, "user"), _by(self.turns, "system")
        #: Is it on the record what the user and the system said, and what each heard? The last turn is for nobody.
        self.user_acts = all(turn.acts is not None for turn in users)
        self.system_acts = all(turn.acts is not None for turn in systems)
        self.system_hears = any(turn.heard is not None or turn.predicted is not None for turn in users)
        self.user_hears = len(systems) < 2 or any(turn.heard is not None for turn in systems)
        bookable = ""
        for index, turn in enumerate(self.turns):
            if turn.speaker == "user":
                bookable = self._read_user(turn, index) or bookable
            else:
                self._read_system(turn, index, bookable)

    @property
    def user_seen(self) -> bool:
        """Would the record show a fault of the user's policy and of its ears?"""
        return self.user_acts and self.system_acts and self.user_hears

    @property
    def system_seen(self) -> bool:
        """Would the record show a fault of the system's ears?"""
        return self.user_acts and self.system_hears

    def domain(self, name: str) -> DomainRecord:
        """The talk about a domain; empty where there was none."""
        record = self._domains.get(name)
        if record is None:
            record = self._domains[name] = DomainRecord(name, self.domains.services.get(name))
        return record

    @property
    def last_user_turn(self) -> int:
        return max((index for index, turn in enumerate(self.turns) if turn.speaker == "user"), default=0)

    def _read_user(self, turn: Turn, position: int) -> str:
        """The domain of it that can be booked."""
        bookable = ""
        as_said = turn.heard is turn.acts
        for act in turn.acts or ():
            record, words = self.domain(act.domain), _words(act, position)
            record.said += words
            record.last_turn = position
            if as_said:
                record.heard += words
            if act.domain in self.domains.services and self.domains.services[act.domain].takes:
                bookable = act.domain
        for act in () if as_said else turn.heard or ():
            self.domain(act.domain).heard += _words(act, position)
        if turn.heard is None:
            for domain, state in (turn.predicted or {}).items():
                self.domain(domain).believed.append((position, {slot: values[0] for slot, values in state.items()}))
        return bookable

    def _read_system(self, turn: Turn, position: int, bookable: str) -> None:
        calls = turn.calls or ()
        for call in calls:
            self.domain(call.domain).calls.append((position, call))
        booked = next((call.domain for call in reversed(calls) if call.name == "book"), bookable)
        as_told = turn.acts is None or turn.heard is turn.acts
        for act in (turn.heard if turn.acts is None else turn.acts) or ():
            record, words = self._meant(act, booked), _words(act, position)
            record.told += words
            if as_told:
                record.told_heard += words
        for act in () if as_told else turn.heard or ():
            self._meant(act, booked).told_heard += _words(act, position)

    def _meant(self, act: Act, booked: str) -> DomainRecord:
        return self.domain(booked if act.domain in self.domains.booking_acts else act.domain)


def spelled_alike(dialogue: Dialogue, goal: DomainGoal) -> Dialogue:
    """The dialogue with values that are the same in one spelling, the goal's where it has one: yes is true, 9:00 is
    09:00, and capitals do not count."""
    spellings: dict[object, str] = {}
    for task in goal.tasks:
        for slots in (task.info, task.first, task.book, task.book_first):
            for slot, value in (slots or {}).items():
                spellings.setdefault((task.domain, slot, comparable(value, TRUTHS)), value)

    def alike(domain: str, slot: str, value: str) -> str:
        return spellings.setdefault((domain, slot, comparable(value, TRUTHS)), value)

    def acts(some: tuple[Act, ...] | None) -> tuple[Act, ...] | None:
        return some and tuple(
            replace(act, values=tuple(alike(act.domain, act.slot, value) for value in act.values)) for act in some
        )

    def calls(some: tuple[Call, ...] | None) -> tuple[Call, ...] | None:
        return some and tuple(
            replace(call, arguments={slot: alike(call.domain, slot, value) for slot, value in call.arguments.items()})
            for call in some
        )

    return replace(
        dialogue,
        turns=tuple(
            replace(turn, acts=acts(turn.acts), heard=acts(turn.heard), calls=calls(turn.calls))
            for turn in dialogue.turns
        ),
    )


def _by(turns: Iterable[Turn], speaker: str) -> list[Turn]:
    return [turn for turn in turns if turn.speaker == speaker]


def _words(act: Act, turn: int) -> list[Word]:
    return [Word(turn, act.name, act.slot, value, act.intent) for value in act.values or ("",)]


def names_one(word: Word, names: Container[str]) -> bool:
    """Is one named with it, in whatever kind of act?"""
    return word.slot in names and word.intent != REQUEST and bool(word.value) and constrains(word.value)


def same_slot(slot: str, other: str) -> bool:
    """Whether two slots are one, however they are spelled."""
    return slot.lower() == other.lower()
