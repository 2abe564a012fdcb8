"""One dialogue while it is being scored: prepared turns, the goal, the options, the records that build up, and what the
rules ask about a turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from dialgauge.dialogue import Task
from dialgauge.errors import DialgaugeError
from dialgauge.users.config import GcdfConfig
from dialgauge.users.normalise import Attempt, Normaliser
from dialgauge.users.point_causes import Blame
from dialgauge.users.profile import DatasetDomain, DatasetProfile
from dialgauge.users.records import Behaviour, Ledger, MeasureName
from dialgauge.users.turns import (
    BETWEEN,
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
    PreparedTurn,
    Utterance,
)

#: Service to parameter text to the positions at which it was said.
Parameters = dict[str, dict[str, list[int]]]


def refusal(profile: DatasetProfile) -> str:
    """Who refuses what reference mode refuses; the authors' evaluator knows one dataset and says nothing of others."""
    if profile.of_reference:
        return "the reference evaluator aborts here (--mode recommended does not)"
    return "reference mode refuses it (--mode recommended does not)"


class DialogueContext:
    """The turns of a dialogue with everything the rules ask about them; remembers what is asked often."""

    def __init__(
        self,
        turns: list[PreparedTurn],
        tasks: dict[str, Task],
        config: GcdfConfig,
        profile: DatasetProfile,
        normaliser: Normaliser,
        blame: Blame,
    ) -> None:
        self.turns = turns
        self.blame = blame
        self.tasks = tasks
        self.config = config
        self.profile = profile
        self.behaviours: list[Behaviour] = []
        self.attempts: list[tuple[str, int, Attempt]] = []
        #: What is odd about the dialogue, each sentence once, in order of appearance.
        self.warnings: dict[str, None] = {}
        self.requests_removed: list[str] = []
        #: How often each thing was said.
        self.utterances = Counter([turn.said for turn in turns])
        self._normaliser = normaliser
        self._user_parameters: Parameters | None = None
        self._system_parameters: Parameters | None = None
        self._system_attempts: list[tuple[str, int, Attempt]] = []
        self._heard: dict[int, tuple[dict[str, list[str]], list[tuple[str, int, Attempt]]]] = {}
        self._said: dict[tuple[Utterance, int], tuple[dict[str, list[str]], list[Attempt]]] = {}
        # The reference takes values apart at its own separator, so that one said value counts as several.
        for turn in turns if any(utterance.torn for utterance in self.utterances) else ():
            if turn.said.torn:
                self.warn(f"turn {turn.position}: the value '{turn.said.torn}' contains '{BETWEEN}' and is split")

    def refuse(self, message: str, turn: int | None = None) -> None:
        """Something the reference aborts on: the dialogue fails in reference mode, and is warned about otherwise."""
        if self.config.strict:
            raise DialgaugeError(f"{message}; {refusal(self.profile)}", turn=turn)
        self.warnings[message if turn is None else f"turn {turn}: {message}"] = None

    def warn(self, message: str) -> None:
        self.warnings[message] = None

    def empty(self) -> None:
        """The conversation has no turns. The reference gives it 0 like any silent user; better is to refuse it."""
        message = "the conversation is empty"
        if not self.config.strict:
            raise DialgaugeError(f"{message}: there is no user to measure", turn=0)
        self.warnings[f"{message}, and counts as a user that says nothing"] = None

    def record(
        self,
        measure: MeasureName,
        label: str,
        domain: str,
        item: str = "",
        *,
        turns: tuple[int, ...] = (),
        count: int = 0,
        expected: str = "",
    ) -> None:
        self.behaviours.append(Behaviour(measure, label, domain, item, turns, count, expected))

    def outside_domain(
        self, measure: MeasureName, label: str, service: str, mentions: Mapping[str, list[int]], *, every: bool
    ) -> Ledger:
        """The books of a domain that the goal does not have: what is said there is wrong, once or ``every`` time."""
        ledger = Ledger(measure, service)
        for item, turns in mentions.items():
            for turn in turns if every else turns[:1]:
                self.record(measure, label, service, item)
                ledger.said_wrong(item, turn, "outside-domain", *self.blame.uncalled_for((label,), turn, (service,)))
        return ledger

    def require_domain(self, name: str, turn: int) -> None:
        """A rule needs to know the entities of a goal domain."""
        if self.profile.domain(name) is None:
            self.refuse(f"the profile {self.profile.name} does not know the domain '{name}' of the goal", turn)

    def with_booking(self, domain: str) -> tuple[str, ...]:
        """The domain and, where the dataset has one, the booking service."""
        return (domain, self.profile.booking_service) if self.profile.booking_service else (domain,)

    def system_before(self, position: int) -> Iterator[PreparedTurn]:
        """The system turns before a user turn, most recent first."""
        return (self.turns[index] for index in range(position - 1, 0, -2))

    def span(self, first: int, second: int) -> list[PreparedTurn]:
        """The system turns between two user turns, most recent first."""
        return [self.turns[index] for index in range(second - 1, first, -2)]

    @cached_property
    def first_answers(self) -> dict[Utterance, int]:
        """The different things that the system says, each with its first turn."""
        answers: dict[Utterance, int] = {}
        for turn in self.turns[1::2]:
            answers.setdefault(turn.said, turn.position)
        return answers

    def user_parameters(self) -> Parameters:
        """What the user informed of, with canonical values."""
        if self._user_parameters is None:
            self._user_parameters = self._parameters("user", INFORM, range(0, len(self.turns), 2))
        return self._user_parameters

    def system_parameters(self) -> Parameters:
        """What the system said, with canonical values. The reference normalises anew each time, and records it."""
        if self._system_parameters is None:
            before = len(self.attempts)
            self._system_parameters = self._parameters("system", SLOT_VALUE, range(1, len(self.turns), 2))
            self._system_attempts = self.attempts[before:]
        elif self._system_attempts:
            self.attempts += self._system_attempts
        return self._system_parameters

    def heard(self, position: int, domain: str) -> Iterable[str]:
        """What the system understood the user to inform of in a user turn, with canonical values. Like the reference,
        this records what was normalised each time it is asked."""
        known = self._heard.get(position)
        if known is None:
            heard, before = self.turns[position].heard, len(self.attempts)
            texts = {} if heard is None else self._texts("nlu", [position], heard, INFORM)
            self._heard[position] = texts, self.attempts[before:]
            return texts.get(domain, ())
        texts, attempts = known
        if attempts:
            self.attempts += attempts
        return texts.get(domain, ())

    def _parameters(self, source: str, families: int, positions: Iterable[int]) -> Parameters:
        """Turns with the same acts are looked at together; the first mention still decides the order."""
        places: dict[Utterance, list[int]] = {}
        for position in positions:
            utterance = self.turns[position].said
            if utterance.families & families:
                places.setdefault(utterance, []).append(position)
        parameters: Parameters = {}
        for utterance, at in places.items():
            for service, texts in self._texts(source, at, utterance, families).items():
                constraints = parameters.setdefault(service, {})
                for text in texts:
                    constraints.setdefault(text, []).extend(at)
        for constraints in parameters.values():
            for mentions in constraints.values():
                mentions.sort()
        return parameters

    def _texts(self, source: str, positions: list[int], utterance: Utterance, families: int) -> dict[str, list[str]]:
        """The distinct parameters of some acts by service, normalised; what that took is kept with their turns."""
        known = self._said.get((utterance, families))
        if known is None:
            try:
                known = self._said[utterance, families] = self._normalised(utterance, families)
            except DialgaugeError as error:
                raise error.at(turn=positions[0]) from error
        texts, attempts = known
        if attempts:
            self.attempts.extend((source, position, attempt) for position in positions for attempt in attempts)
        return texts

    def _normalised(self, utterance: Utterance, families: int) -> tuple[dict[str, list[str]], list[Attempt]]:
        """Acts with several values come last, later acts first: the order in which the reference takes them."""
        normalised: dict[str, list[str]] = {}
        attempts: list[Attempt] = []
        for service, acts in utterance.services.items():
            chosen = [act for act in acts if act.families & families and act.parameters]
            if not chosen:
                continue
            parameters = [act.parameters[0] for act in chosen if len(act.parameters) == 1]
            if len(parameters) < len(chosen):
                several = [act for act in reversed(chosen) if len(act.parameters) > 1]
                parameters += [parameter for act in several for parameter in act.parameters]
            texts, tried = self._normaliser.texts(service, parameters)
            attempts += tried
            normalised[service] = list(dict.fromkeys(texts))
        return normalised, attempts


class Signals:
    """What a system turn says about one domain: was a booking confirmed, an entity offered, a booking refused?

    "In the domain" means the act's service is the domain; "in booking" the dataset's booking service.
    """

    def __init__(self, context: DialogueContext, domain: str) -> None:
        self._context = context
        self._name = domain
        self._own = (domain,)
        self._both = context.with_booking(domain)
        #: What the profile knows of the domain; an unknown one has no entities and takes no bookings.
        self.domain = context.profile.domain(domain) or DatasetDomain()
        self._first_recommendation: int | None = None

    def requests(self, turn: PreparedTurn) -> bool:
        """Does the turn ask for anything in the domain or in booking?"""
        return turn.has(REQUEST, self._both)

    def requests_slot(self, turn: PreparedTurn, slot: str) -> bool:
        return slot in turn.slots(REQUEST, self._both)

    def presents_slot(self, turn: PreparedTurn, slot: str) -> bool:
        """Does the turn inform of, recommend or book something with a slot whose name contains this one?"""
        return any(slot in offered for offered in turn.slots(PRESENT, self._both))

    def recommends(self, turn: PreparedTurn) -> bool:
        return turn.has(RECOMMEND, self._own)

    def recommended_before(self, position: int) -> bool:
        """Was anything of the domain recommended in any earlier system turn?"""
        if self._first_recommendation is None:
            turns = self._context.turns[1::2]
            self._first_recommendation = next(
                (turn.position for turn in turns if self.recommends(turn)), len(turns) * 2
            )
        return self._first_recommendation < position

    def has_choice(self, turn: PreparedTurn) -> bool:
        """Does the turn speak of the number of matches?"""
        choices = self._context.profile.choice_slots
        return any(act.slot in choices for act in turn.services.get(self._name, ()))

    def refuses_booking(self, turn: PreparedTurn) -> bool:
        return self._somewhere(turn, NOBOOK, "NoBook")

    def invites_booking(self, turn: PreparedTurn) -> bool:
        """Does the turn invite to a booking, in the way of this domain?"""
        if self.domain.books_itself:
            return turn.has(OFFERBOOK, self._own)
        return self.domain.transactional and self._somewhere(turn, BOOKING_INFORM, "Booking-Inform")

    def is_void(self, turn: PreparedTurn) -> bool:
        """Does the turn say that nothing was found?"""
        booking = self._context.profile.booking_service
        if booking and turn.has(NOOFFER, (booking,)):
            self._context.refuse("a NoOffer act stands in the booking service", turn.position)
        return turn.has(NOOFFER, self._own)

    def confirms_booking(self, turn: PreparedTurn) -> bool:
        """Does the turn give a reference number?"""
        if self.domain.books_itself:
            slots = turn.slots(OFFERBOOKED | INFORM, self._own)
        else:
            slots = turn.slots(BOOK | INFORM, self._both)
        return any(reference in slots for reference in self._context.profile.reference_slots)

    def offers(self, turn: PreparedTurn) -> bool:
        """Does the turn offer an entity or a booking?"""
        if not self.domain.entity_slots:
            return False
        if self.domain.books_itself:
            return self._offers_itself(turn)
        if turn.has(RECOMMEND, self._own):
            return True
        presented = turn.slots(PRESENT, self._both)
        if any(entity in slot for slot in presented for entity in self.domain.entity_slots):
            return True
        if not self.domain.transactional:
            return False
        return self._somewhere(turn, BOOKING_INFORM, "Booking-Inform") and not self.refuses_booking(turn)

    def _offers_itself(self, turn: PreparedTurn) -> bool:
        if any(entity in turn.slots(INFORM, self._own) for entity in self.domain.entity_slots):
            return True
        services = turn.services_with(OFFERBOOK)
        if services and self._name not in services:
            self._context.refuse(f"an OfferBook act stands outside the service '{self._name}'", turn.position)
        return bool(services)

    def shows_progress(self, turn: PreparedTurn) -> bool:
        """Was a booking confirmed, or an entity or a booking offered?"""
        return self.confirms_booking(turn) or self.offers(turn)

    def _somewhere(self, turn: PreparedTurn, families: int, name: str) -> bool:
        """An act in the domain or in booking; anywhere else it makes no sense."""
        services = turn.services_with(families)
        if self._context.profile.booking_service and any(service not in self._both for service in services):
            self._context.refuse(
                f"a {name} act stands in the service '{services[0]}' while '{self._name}' is discussed", turn.position
            )
        return any(service in self._both for service in services)
