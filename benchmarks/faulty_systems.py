"""Systems with a fault in their policy or in the office that they consult, and the ledger of faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from dialgauge.agents import RuleSystem
from dialgauge.dialogue import Act, Call, Speaker
from dialgauge.draws import Draws
from dialgauge.worlds.domain import Booking, Entity, Service, ServiceDesk, SlotType, act

#: Times that are booked instead.
_HOURS = tuple(f"{hour:02d}:15" for hour in range(9, 21))


def other_values(kind: SlotType | None) -> tuple[str, ...]:
    """Values that a booking can have; none where it takes any text."""
    if kind is None:
        return ()
    return _HOURS if kind.kind == "time" else kind.some()


class InjectedEvent(Struct, frozen=True):
    """What a fault did, the first time that it did it."""

    #: In a few words: ``constraint``, ``request``, ``drop``, ``wrong day`` and so on.
    what: str
    domain: str = ""
    slot: str = ""


class InjectedFaults:
    """What really happened in each conversation: the injected fault, and what the channel damaged."""

    def __init__(self) -> None:
        self.events: dict[str, InjectedEvent] = {}
        #: The domains whose acts the channel damaged, by dialogue and who had said them.
        self.damaged: dict[str, set[tuple[Speaker, str]]] = {}
        self.dialogue = ""

    def note(self, what: str, domain: str = "", slot: str = "") -> None:
        """The fault happened."""
        self.events.setdefault(self.dialogue, InjectedEvent(what, domain, slot))

    def damage(self, speaker: Speaker, domain: str) -> None:
        """The channel changed an act."""
        self.damaged.setdefault(self.dialogue, set()).add((speaker, domain))


class _FaultyCore(RuleSystem):
    """A rule system with a fault; ``place`` says which of the things that it could befall it does."""

    ledger: InjectedFaults
    place: int
    how: str

    #: What the fault could befall, in the order of its coming up.
    kinds: list[tuple[str, str]]

    def struck(self, domain: str, slot: str) -> bool:
        """Does the fault befall this slot?"""
        if (domain, slot) not in self.kinds:
            self.kinds.append((domain, slot))
        return self.kinds.index((domain, slot)) == self.place


def faulty_core(
    kind: type[_FaultyCore], draws: Draws, ledger: InjectedFaults
) -> Callable[[ServiceDesk, Draws], RuleSystem]:
    """What makes systems with a fault of a kind; the draws decide which slot it befalls."""

    def make(backend: ServiceDesk, own: Draws) -> RuleSystem:
        core = kind(backend, own)
        core.ledger, core.kinds, core.place = ledger, [], draws.integer(0, 3)
        core.how = draws.pick(("search", "request", "booking"))
        return core

    return make


class IgnoringPolicy(_FaultyCore):
    """Leaves a constraint out of its searches, a question unanswered, or bookings undone."""

    def _constraints(self, domain: str) -> dict[str, str]:
        wanted = super()._constraints(domain)
        if self.how != "search":
            return wanted
        kept = {slot: value for slot, value in wanted.items() if not self.struck(domain, slot)}
        for slot in wanted.keys() - kept.keys():
            self.ledger.note("constraint ignored", domain, slot)
        return kept

    def _answer(self, domain: str, asked: list[str], acts: list[Act]) -> None:
        kept = [slot for slot in asked if self.how != "request" or not self.struck(domain, slot)]
        for slot in asked:
            if slot not in kept:
                self.ledger.note("request ignored", domain, slot)
        if kept:
            super()._answer(domain, kept, acts)

    def _book(self, domain: str, acts: list[Act]) -> None:
        if self.how != "booking":
            super()._book(domain, acts)
        elif self._focused(domain, acts) is not None:
            self.ledger.note("booking ignored", domain)


class LatePolicy(_FaultyCore):
    """Answers each question one turn late, or every turn: then it may not matter any more, or be taken for another."""

    _late: tuple[Act, ...] = ()

    def step(self, heard: Sequence[Act]) -> tuple[Act, ...]:
        late, self._late = self._late, ()
        answer = super().step(heard)
        if self.how != "booking":
            return (*late, *answer)
        self._late = answer
        served = next((statement for statement in answer if statement.domain in self._services), None)
        if served is not None:
            self.ledger.note("reply late", served.domain, served.slot)
        return late or (act("general-reqmore"),)

    def _answer(self, domain: str, asked: list[str], acts: list[Act]) -> None:
        if self.how == "booking":
            super()._answer(domain, asked, acts)
            return
        answers: list[Act] = []
        super()._answer(domain, asked, answers)
        self._late += tuple(answers)
        for answer in answers:
            if answer.slot in asked:
                self.ledger.note("answer late", domain, answer.slot)


class MisinformingPolicy(_FaultyCore):
    """Answers a question with what is not true."""

    def _answer(self, domain: str, asked: list[str], acts: list[Act]) -> None:
        answers: list[Act] = []
        super()._answer(domain, asked, answers)
        for answer in answers:
            if answer.slot in asked and answer.values and self.struck(domain, answer.slot):
                self.ledger.note("untrue answer", domain, answer.slot)
                acts.append(act(answer.name, answer.slot, f"not {answer.values[0]}"))
            else:
                acts.append(answer)


# The office


class _FaultyBackend(ServiceDesk):
    """An office with a fault. It shares the list of calls with the one that it takes the place of."""

    @classmethod
    def around(cls, office: ServiceDesk, draws: Draws, ledger: InjectedFaults) -> _FaultyBackend:
        """An office like another one, which it stands in for."""
        kind = type(cls.__name__, (cls, type(office)), {})
        other: _FaultyBackend = object.__new__(kind)
        other.__dict__.update(office.__dict__)
        other._ledger = ledger
        other._how, other._place = draws.unit() < 0.5, draws.integer(0, 3)
        return other

    _ledger: InjectedFaults
    _how: bool
    _place: int


class WrongBackend(_FaultyBackend):
    """Finds what does not fit one constraint, or books with one slot changed."""

    def search(self, domain: str, constraints: Mapping[str, str]) -> tuple[Entity, ...]:
        matches = super().search(domain, constraints)
        slots = [slot for slot in constraints if slot != self.domain.services[domain].name_slot]
        if not self._how or not slots or not matches:
            return matches
        slot = slots[self._place % len(slots)]
        rest = {name: value for name, value in constraints.items() if name != slot}
        wrong = tuple(
            row for row in self._search.find(domain, rest) if not self._search.has(row, slot, constraints[slot])
        )
        if not wrong:
            return matches
        self._ledger.note("misfit offered", domain, slot)
        return wrong

    def book(self, service: str, slots: Mapping[str, str], row: Entity | None = None) -> Booking:
        book = self.domain.services[service].book
        choices = (
            {
                slot: others
                for slot, value in slots.items()
                if (others := [other for other in other_values(book.takes.get(slot)) if other != value])
            }
            if book is not None and row is not None and not book.missing(slots)
            else {}
        )
        if self._how or not choices:
            return super().book(service, slots, row)
        slot = list(choices)[self._place % len(choices)]
        others = choices[slot]
        self._ledger.note("booked wrongly", service, slot)
        return super().book(service, {**slots, slot: others[self._place % len(others)]}, row)


class RefusingBackend(_FaultyBackend):
    """Refuses every booking, or finds nothing in the first domain that it is asked for."""

    _closed = ""

    def _refuses(self, service: Service, slots: Mapping[str, str]) -> tuple[str, ...]:
        scripted = super()._refuses(service, slots)
        if scripted or not self._how or not service.books:
            return scripted
        self._ledger.note("booking refused", service.name)
        return tuple(slots)

    def search(self, domain: str, constraints: Mapping[str, str]) -> tuple[Entity, ...]:
        if self._how:
            return super().search(domain, constraints)
        self._closed = self._closed or domain
        if domain != self._closed:
            return super().search(domain, constraints)
        self._ledger.note("nothing found", domain)
        self._calls.append(Call(name="search", domain=domain, arguments=dict(constraints), found=0))
        return ()
