"""What a system turn tells: was a booking confirmed, an entity offered, nothing found, a booking refused?

These are the predicates of the GCDF1 specification, sections 6.3 and 6.4. "In the domain" means the frame's service is
the domain; "in booking" the dataset's booking service.
"""

from __future__ import annotations

from dialgauge.users.context import DialogueContext
from dialgauge.users.profile import Domain
from dialgauge.users.turns import (
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
    PreparedTurn,
)


class Signals:
    """The predicates for one domain of one dialogue."""

    def __init__(self, scene: DialogueContext, domain: str) -> None:
        self._scene = scene
        self._name = domain
        self._own = (domain,)
        self._both = scene.with_booking(domain)
        #: What the profile knows of the domain; an unknown one has no entities and takes no bookings.
        self.domain = scene.profile.domain(domain) or Domain()
        self._first_recommendation: int | None = None

    def requests(self, turn: PreparedTurn) -> bool:
        """Does the turn ask for anything in the domain or in booking?"""
        return turn.has(REQUEST, self._both)

    def requests_slot(self, turn: PreparedTurn, slot: str) -> bool:
        """Does the turn ask for exactly this slot?"""
        return slot in turn.slots(REQUEST, self._both)

    def presents_slot(self, turn: PreparedTurn, slot: str) -> bool:
        """Does the turn inform of, recommend or book something with a slot whose name contains this one?"""
        return any(slot in offered for offered in turn.slots(PRESENT, self._both))

    def recommends(self, turn: PreparedTurn) -> bool:
        """Does the turn recommend anything in the domain?"""
        return turn.has(RECOMMEND, self._own)

    def recommended_before(self, position: int) -> bool:
        """Was anything of the domain recommended in any earlier system turn?"""
        if self._first_recommendation is None:
            turns = self._scene.moments[1::2]
            self._first_recommendation = next(
                (turn.position for turn in turns if self.recommends(turn)), len(turns) * 2
            )
        return self._first_recommendation < position

    def has_choice(self, turn: PreparedTurn) -> bool:
        """Does the turn speak of the number of matches?"""
        choices = self._scene.profile.choice_slots
        return any(act.slot in choices for act in turn.services.get(self._name, ()))

    def refuses_booking(self, turn: PreparedTurn) -> bool:
        """Does the turn refuse a booking?"""
        return self._somewhere(turn, NOBOOK, "NoBook")

    def invites_booking(self, turn: PreparedTurn) -> bool:
        """Does the turn invite to a booking, in the way of this domain?"""
        if self.domain.books_itself:
            return turn.has(OFFERBOOK, self._own)
        return self.domain.transactional and self._somewhere(turn, BOOKING_INFORM, "Booking-Inform")

    def is_void(self, turn: PreparedTurn) -> bool:
        """Does the turn say that nothing was found?"""
        booking = self._scene.profile.booking_service
        if booking and turn.has(NOOFFER, (booking,)):
            self._scene.fault("a NoOffer act stands in the booking service", turn.position)
        return turn.has(NOOFFER, self._own)

    def confirms_booking(self, turn: PreparedTurn) -> bool:
        """Does the turn give a reference number?"""
        if self.domain.books_itself:
            slots = turn.slots(OFFERBOOKED | INFORM, self._own)
        else:
            slots = turn.slots(BOOK | INFORM, self._both)
        return any(reference in slots for reference in self._scene.profile.reference_slots)

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
            self._scene.fault(f"an OfferBook act stands outside the service '{self._name}'", turn.position)
        return bool(services)

    def shows_progress(self, turn: PreparedTurn) -> bool:
        """Was a booking confirmed, or an entity or a booking offered?"""
        return self.confirms_booking(turn) or self.offers(turn)

    def _somewhere(self, turn: PreparedTurn, families: int, name: str) -> bool:
        """An act in the domain or in booking; anywhere else it makes no sense."""
        services = turn.services_with(families)
        if self._scene.profile.booking_service and any(service not in self._both for service in services):
            self._scene.fault(
                f"a {name} act stands in the service '{services[0]}' while '{self._name}' is discussed", turn.position
            )
        return any(service in self._both for service in services)
