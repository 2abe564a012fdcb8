"""One dialogue while it is scored: its turns, its goal, and what the rules ask about a turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, TypeAlias

from dialgauge.dialogue import Task
from dialgauge.errors import DialgaugeError
from dialgauge.users.acts import (
    BOOK,
    BOOKING_INFORM,
    INFORM,
    NOBOOK,
    NOOFFER,
    OFFERBOOK,
    OFFERBOOKED,
    PRESENT,
    RECOMMEND,
    REQUEST,
    SLOT_VALUE,
    Spoken,
    SpokenTurn,
    by_service,
)
from dialgauge.users.config import GcdfConfig
from dialgauge.users.normalise import Attempt, Normaliser, goal_values
from dialgauge.users.profile import DatasetDomain, DatasetProfile

#: Service to constraint (or request) to the turns in which it was said.
Mentions: TypeAlias = dict[str, dict[str, list[int]]]
Source: TypeAlias = Literal["user", "system", "nlu"]


class Talk:
    """The turns of a dialogue with everything that the rules ask about them."""

    def __init__(
        self,
        turns: list[SpokenTurn],
        tasks: dict[str, Task],
        config: GcdfConfig,
        profile: DatasetProfile,
        normaliser: Normaliser,
    ) -> None:
        self.turns, self.tasks, self.config, self.profile = turns, tasks, config, profile
        #: What is odd about the dialogue, each sentence once, in order of appearance.
        self.warnings: dict[str, None] = {}
        #: Domains whose requests a failed search removed from the goal.
        self.requests_removed: list[str] = []
        self._normaliser = normaliser
        self._goal_values = {domain: goal_values(task) for domain, task in tasks.items()}
        self._attempts: dict[tuple[Source, int], list[Attempt]] = {}
        self._asked: Counter[Source | int] = Counter()
        self._heard: dict[int, dict[str, list[str]]] = {}
        #: Constraints of acts that were said before: simulated users say the same over and over.
        self._normalised: dict[tuple[str, tuple[Spoken, ...]], tuple[list[str], list[Attempt]]] = {}
        self.informed = self._mentions("user", INFORM, turns[::2])

    def warn(self, message: str) -> None:
        """Note something odd."""
        self.warnings[message] = None

    def refuse(self, message: str, turn: int) -> None:
        """Something the reference aborts on: reference mode fails the dialogue, recommended mode warns."""
        if not self.config.strict:
            self.warn(f"turn {turn}: {message}")
            return
        raise DialgaugeError(f"{message}; reference mode refuses it (--mode recommended does not)", turn=turn)

    def require_domain(self, name: str, turn: int) -> None:
        """A rule needs to know the entities of a goal domain."""
        if self.profile.domain(name) is None:
            self.refuse(f"the profile {self.profile.name} does not know the domain '{name}' of the goal", turn)

    def span(self, first: int, second: int) -> list[SpokenTurn]:
        """The system turns between two user turns, the latest first."""
        return [self.turns[position] for position in range(second - 1, first, -2)]

    @cached_property
    def requested(self) -> Mentions:
        """What the user asked for."""
        requested: Mentions = {}
        for turn in self.turns[::2]:
            for service, requests in turn.requested.items():
                for request in requests:
                    requested.setdefault(service, {}).setdefault(request, []).append(turn.position)
        return requested

    @cached_property
    def _system_said(self) -> Mentions:
        return self._mentions("system", SLOT_VALUE, self.turns[1::2])

    def system_said(self) -> Mentions:
        """What the system said, with canonical values. The reference normalises it anew for each domain that asks."""
        self._asked["system"] += 1
        return self._system_said

    def heard(self, position: int, domain: str) -> Sequence[str]:
        """What the system understood the user to say in a turn. The reference normalises it anew each time."""
        self._asked[position] += 1
        if position not in self._heard:
            heard = self.turns[position].heard
            self._heard[position] = self._texts("nlu", INFORM, by_service(heard or ()), position)
        return self._heard[position].get(domain, ())

    def attempts(self) -> Iterator[tuple[Source, int, Attempt, int]]:
        """Everything that was normalised, as often as the reference evaluator records it."""
        for (source, position), attempts in self._attempts.items():
            times = {"user": 1, "system": self._asked["system"], "nlu": self._asked[position]}[source]
            yield from ((source, position, attempt, count * times) for attempt, count in Counter(attempts).items())

    def _mentions(self, source: Source, families: int, turns: Iterable[SpokenTurn]) -> Mentions:
        mentions: Mentions = {}
        for turn in turns:
            for service, texts in self._texts(source, families, turn.services, turn.position).items():
                for text in texts:
                    mentions.setdefault(service, {}).setdefault(text, []).append(turn.position)
        return mentions

    def _texts(
        self, source: Source, families: int, services: Mapping[str, Sequence[Spoken]], position: int
    ) -> dict[str, list[str]]:
        """The distinct constraints of some acts by service, normalised."""
        texts: dict[str, list[str]] = {}
        for name, acts in services.items():
            chosen = tuple([act for act in acts if act.families & families and act.constraints])
            if not chosen:
                continue
            if (name, chosen) not in self._normalised:
                try:
                    made = self._normaliser.constraints(name, self._goal_values.get(name), chosen)
                except DialgaugeError as error:
                    raise error.at(turn=position) from error
                self._normalised[name, chosen] = made
            found, attempts = self._normalised[name, chosen]
            texts[name] = list(dict.fromkeys(found))
            if attempts:
                self._attempts.setdefault((source, position), []).extend(attempts)
        return texts


class Signals:
    """What a turn says about one domain: was a booking confirmed, an entity offered, a booking refused?"""

    def __init__(self, talk: Talk, domain: str) -> None:
        self._talk, self.name = talk, domain
        self.own, self.both = (domain,), talk.profile.with_booking(domain)
        #: An unknown domain has no entities and takes no bookings.
        self.domain = talk.profile.domain(domain) or DatasetDomain()

    def asks(self, turn: SpokenTurn) -> bool:
        """For anything in the domain or in booking."""
        return turn.has(REQUEST, self.both)

    def asks_for(self, turn: SpokenTurn, slot: str) -> bool:
        return slot in turn.slots(REQUEST, self.both)

    def presents(self, turn: SpokenTurn, slot: str) -> bool:
        """Something with a slot whose name contains this one."""
        return any(slot in shown for shown in turn.slots(PRESENT, self.both))

    def recommends(self, turn: SpokenTurn) -> bool:
        return turn.has(RECOMMEND, self.own)

    def counts_matches(self, turn: SpokenTurn) -> bool:
        return any(act.slot in self._talk.profile.choice_slots for act in turn.services.get(self.name, ()))

    def refuses_booking(self, turn: SpokenTurn) -> bool:
        return self._here(turn, NOBOOK, "NoBook")

    def invites_booking(self, turn: SpokenTurn) -> bool:
        if self.domain.books_itself:
            return turn.has(OFFERBOOK, self.own)
        return self.domain.transactional and self._here(turn, BOOKING_INFORM, "Booking-Inform")

    def found_nothing(self, turn: SpokenTurn) -> bool:
        booking = self._talk.profile.booking_service
        if booking and turn.has(NOOFFER, [booking]):
            self._talk.refuse("a NoOffer act stands in the booking service", turn.position)
        return turn.has(NOOFFER, self.own)

    def confirms_booking(self, turn: SpokenTurn) -> bool:
        own = self.domain.books_itself
        slots = turn.slots(OFFERBOOKED | INFORM, self.own) if own else turn.slots(BOOK | INFORM, self.both)
        return not slots.isdisjoint(self._talk.profile.reference_slots)

    def offers(self, turn: SpokenTurn) -> bool:
        """An entity or a booking."""
        entities = self.domain.entity_slots
        if not entities:
            return False
        if self.domain.books_itself:
            if not turn.slots(INFORM, self.own).isdisjoint(entities):
                return True
            services = turn.services_with(OFFERBOOK)
            if services and self.name not in services:
                self._talk.refuse(f"an OfferBook act stands outside the service '{self.name}'", turn.position)
            return bool(services)
        if self.recommends(turn) or any(self.presents(turn, entity) for entity in entities):
            return True
        if not self.domain.transactional:
            return False
        return self._here(turn, BOOKING_INFORM, "Booking-Inform") and not self.refuses_booking(turn)

    def _here(self, turn: SpokenTurn, family: int, name: str) -> bool:
        """In the domain or in booking; anywhere else such an act makes no sense."""
        services = turn.services_with(family)
        if self._talk.profile.booking_service and any(service not in self.both for service in services):
            self._talk.refuse(
                f"a {name} act stands in the service '{services[0]}' while '{self.name}' is discussed", turn.position
            )
        return any(service in self.both for service in services)
