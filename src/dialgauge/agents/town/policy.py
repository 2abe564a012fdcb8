"""The rule system of the town: it looks things up, answers about what it offered, books, and says when it cannot.

What it must not do is as important as what it does (``docs/decisions/town.md``): it answers and books the very
row it named, it never repeats a question, it echoes what it understood when it finds nothing, it says that a value is
unknown, and it answers a goodbye with a goodbye.
"""

from __future__ import annotations

from collections.abc import Sequence

from dialgauge.agents.town.tracker import Belief
from dialgauge.dialogue import DONTCARE, Act, State
from dialgauge.draws import Draws
from dialgauge.intents import REQUEST
from dialgauge.worlds.town import (
    ASKED,
    BOOK_SLOTS,
    CHOICE,
    REFERENCE,
    SEARCH_SLOTS,
    VENUE_DOMAINS,
    Backend,
    Booking,
    TownRow,
    act,
)

_TITLE = {domain: domain.capitalize() for domain in SEARCH_SLOTS}
#: What is told of a venue beside its name, the most telling first.
_DESCRIPTION = {
    "restaurant": ("food", "area", "pricerange"),
    "hotel": ("type", "area", "pricerange", "stars"),
    "attraction": ("type", "area", "entrance fee"),
}
#: What is asked for to narrow a search, the most telling first.
_NARROWING = {
    "restaurant": ("food", "area", "pricerange"),
    "hotel": ("area", "pricerange", "type", "stars", "parking", "internet"),
    "attraction": ("type", "area"),
}
_TRAIN_NEEDS = ("departure", "destination", "day")
_TAXI_NEEDS = ("departure", "destination")
_TIMES = ("leaveAt", "arriveBy")
_WELCOME, _BYE = act("general-welcome"), act("general-bye")
_MORE, _GREET = act("general-reqmore"), act("general-greet")
_OFFER, _OFFER_TRAIN, _SELECT_TRAIN = act("Booking-Inform"), act("Train-OfferBook"), act("Train-Select")
_GENERAL = "general"


class RuleSystem:
    """Tracker and policy; one instance serves one conversation."""

    def __init__(
        self,
        backend: Backend,
        draws: Draws,
        *,
        ask_above: int = 10,
        attributes: int = 2,
        select: float = 0.1,
        exact: float = 0.1,
        more: float = 0.3,
        terse: bool = False,
    ) -> None:
        """Options: rows above which it asks back, attributes told beside a name, and how often it lets the user choose,
        tells that no train leaves at the very minute, and asks for more. A terse one does not offer to
        book, confirms bookings of all kinds with nothing but the reference, and does not ask back when the user says
        the same again and again."""
        self._backend, self._draws = backend, draws
        self._ask_above, self._attributes = ask_above, attributes
        self._select, self._exact, self._more, self._terse = select, exact, more, terse
        #: Something was answered or booked in this turn, and nothing was asked.
        self._settled = False
        self.belief = Belief()
        self._focus: dict[str, TownRow] = {}
        self._asked: dict[str, set[str]] = {}
        self._booked: dict[str, tuple[TownRow, dict[str, str], Booking]] = {}
        self._taxi: tuple[dict[str, str], str, str] | None = None
        #: Domains in which the user was offered to choose, or to book.
        self._offered: set[str] = set()
        self._last: tuple[Sequence[Act], Sequence[Act]] = ((), ())
        self._repeats = 0

    @property
    def state(self) -> State:
        """What the user is believed to want."""
        return self.belief.state

    def step(self, heard: Sequence[Act]) -> tuple[Act, ...]:
        """The answer to a user's turn."""
        intents = {one.name for one in heard if one.domain == _GENERAL}
        given = self.belief.hear(heard, self._places())
        if "general-bye" in intents:
            return (_WELCOME, _BYE) if "general-thank" in intents else (_BYE,)
        acts: list[Act] = [_GREET] if "general-greet" in intents else []
        self._settled = False
        for domain in self._domains(heard, intents):
            asked = [one.slot for one in heard if one.domain == domain and one.intent == REQUEST]
            self._serve(domain, given.get(domain, {}), asked, "general-affirm" in intents, acts)
        if "general-thank" in intents:
            acts += [_WELCOME, _MORE] if not acts else [_WELCOME]
        if not acts or acts == [_GREET] or (self._settled and self._draws.unit() < self._more):
            acts.append(_MORE)
        return self._unrepeated(heard, acts)

    def _places(self) -> dict[str, str]:
        return {f"the {domain}": row.get("name") for domain, row in self._focus.items() if domain in VENUE_DOMAINS}

    def _domains(self, heard: Sequence[Act], intents: set[str]) -> list[str]:
        """What this turn is about; an answer without a domain is about the last one."""
        domains = list(dict.fromkeys(one.domain for one in heard if one.domain in SEARCH_SLOTS))
        if not domains and self.belief.domain and "general-affirm" in intents:
            return [self.belief.domain]
        return domains

    def _serve(self, domain: str, given: dict[str, str], asked: list[str], affirmed: bool, acts: list[Act]) -> None:
        search = SEARCH_SLOTS[domain]
        if any(slot in search and value != DONTCARE for slot, value in given.items()):
            self._focus.pop(domain, None)
        if domain == "taxi":
            self._serve_taxi(asked, acts)
        elif domain in ("police", "hospital"):
            self._inform_office(domain, asked, acts)
        elif asked:
            self._answer(domain, asked, acts)
            if any(slot in BOOK_SLOTS.get(domain, ()) and slot not in search for slot in given):
                self._book(domain, acts)
        elif domain in BOOK_SLOTS and self._wants_booking(domain, given, affirmed):
            self._book(domain, acts)
        else:
            self._offer(domain, acts, affirmed)

    def _wants_booking(self, domain: str, given: dict[str, str], affirmed: bool) -> bool:
        slots = BOOK_SLOTS[domain]
        return any(slot in given for slot in slots) or (affirmed and domain in self._focus)

    # Searching

    def _constraints(self, domain: str) -> dict[str, str]:
        wanted = self.belief.wanted.get(domain, {})
        return {slot: wanted[slot] for slot in SEARCH_SLOTS[domain] if slot in wanted and wanted[slot] != DONTCARE}

    def _search(self, domain: str, acts: list[Act]) -> tuple[TownRow, ...]:
        """The rows that fit; where there are none it is said, with all that was understood."""
        constraints = self._constraints(domain)
        found = self._backend.search(domain, constraints)
        if found.rows and not found.mismatched:
            return found.rows
        name = f"{_TITLE[domain]}-NoOffer"
        echoed = found.mismatched or tuple(constraints)
        acts += [act(name, slot, constraints[slot]) for slot in echoed] or [act(name)]
        return ()

    def _offer(self, domain: str, acts: list[Act], affirmed: bool) -> None:
        if domain == "train":
            self._offer_train(acts, affirmed)
            return
        rows = self._search(domain, acts)
        if not rows:
            return
        title, wanted = _TITLE[domain], self.belief.wanted.get(domain, {})
        asked = self._asked.setdefault(domain, set())
        if len(rows) > self._ask_above and not affirmed:
            open_slots = [slot for slot in _NARROWING[domain] if slot not in wanted and slot not in asked]
            if open_slots:
                chosen = open_slots[: 1 + (self._draws.unit() < 0.3)]
                asked.update(chosen)
                acts += [act(f"{title}-Request", slot, ASKED) for slot in chosen]
                return
        if len(rows) == 1:
            self._name(rows[0], "Inform", acts)
        elif domain not in self._offered and self._draws.unit() < self._select:
            self._offered.add(domain)
            pair = self._draws.sample(rows, 2)
            acts += [act(f"{title}-Select", "name", row.get("name")) for row in pair]
            return
        else:
            acts.append(act(f"{title}-Inform", CHOICE, str(len(rows))))
            self._name(self._draws.pick(rows), "Recommend", acts)
        if domain in BOOK_SLOTS and not self._terse and not any(slot in wanted for slot in BOOK_SLOTS[domain]):
            acts.append(_OFFER)

    def _name(self, row: TownRow, intent: str, acts: list[Act]) -> None:
        """Speak of a row from now on: its name and what tells most of it."""
        self._focus[row.domain] = row
        title, constraints = _TITLE[row.domain], self._constraints(row.domain)
        acts.append(act(f"{title}-{intent}", "name", row.get("name")))
        telling = [slot for slot in _DESCRIPTION[row.domain] if slot not in constraints and slot in row.values]
        acts += [act(f"{title}-{intent}", slot, row.values[slot]) for slot in telling[: self._attributes]]

    def _offer_train(self, acts: list[Act], affirmed: bool) -> None:
        wanted = self.belief.wanted.get("train", {})
        missing = [slot for slot in _TRAIN_NEEDS if slot not in wanted]
        if not missing and not any(slot in wanted for slot in _TIMES):
            missing = [self._draws.pick(_TIMES)]
        if missing:
            acts += [act("Train-Request", slot, ASKED) for slot in missing[:2]]
            return
        rows = self._search("train", acts)
        if not rows:
            return
        if not affirmed and len(rows) > 1 and "train" not in self._offered and self._draws.unit() < self._select:
            self._offered.add("train")
            acts += [act("Train-Inform", CHOICE, str(len(rows))), _SELECT_TRAIN]
            return
        row = self._focus["train"] = rows[0]
        wish = wanted.get("leaveAt", row.get("leaveAt"))
        if wish not in (row.get("leaveAt"), DONTCARE) and self._draws.unit() < self._exact:
            acts.append(act("Train-NoOffer", "leaveAt", wish))
        acts += [act("Train-Inform", slot, row.get(slot)) for slot in ("trainID", *_TIMES)]
        acts.append(_OFFER_TRAIN)

    # Answers

    def _focused(self, domain: str, acts: list[Act]) -> TownRow | None:
        """The row that is spoken of; where there is none yet, the best one, which is named."""
        row = self._focus.get(domain)
        if row is None and (domain != "train" or not self._missing_train(acts)):
            rows = self._search(domain, acts)
            if rows:
                row = self._focus[domain] = rows[0]
                named = "trainID" if domain == "train" else "name"
                acts.append(act(f"{_TITLE[domain]}-Inform", named, row.get(named)))
        return row

    def _missing_train(self, acts: list[Act]) -> bool:
        wanted = self.belief.wanted.get("train", {})
        missing = [slot for slot in _TRAIN_NEEDS if slot not in wanted]
        acts += [act("Train-Request", slot, ASKED) for slot in missing[:2]]
        return bool(missing)

    def _answer(self, domain: str, asked: list[str], acts: list[Act]) -> None:
        row = self._focused(domain, acts)
        if row is None:
            return
        title, self._settled = _TITLE[domain], True
        for slot in dict.fromkeys(asked):
            if slot == REFERENCE:
                self._tell_reference(domain, acts)
            else:
                acts.append(act(f"{title}-Inform", slot, row.get(slot)))

    def _tell_reference(self, domain: str, acts: list[Act]) -> None:
        if domain in self._booked:
            acts.append(act(f"{_TITLE[domain]}-Inform", REFERENCE, self._booked[domain][2].reference))
        elif domain in BOOK_SLOTS:
            self._book(domain, acts)

    def _inform_office(self, domain: str, asked: list[str], acts: list[Act]) -> None:
        rows = self._search(domain, acts)
        if rows:
            title, slots = _TITLE[domain], asked or ("phone", "address")
            acts += [act(f"{title}-Inform", slot, rows[0].get(slot)) for slot in dict.fromkeys(slots)]

    def _serve_taxi(self, asked: list[str], acts: list[Act]) -> None:
        wanted = self._constraints("taxi")
        missing = [slot for slot in _TAXI_NEEDS if slot not in wanted]
        if not any(slot in wanted for slot in _TIMES):
            missing.append(self._draws.pick(_TIMES))
        if missing:
            acts += [act("Taxi-Request", slot, ASKED) for slot in missing[:2]]
            return
        if self._taxi is None or self._taxi[0] != wanted:
            sent = self._backend.taxi(wanted)
            self._taxi = (wanted, sent.car, sent.phone)
        told = {"car type": self._taxi[1], "phone": self._taxi[2]}
        acts += [act("Taxi-Inform", slot, value) for slot, value in told.items() if not asked or slot in asked]

    # Booking

    def _book(self, domain: str, acts: list[Act]) -> None:
        row = self._focused(domain, acts)
        if row is None:
            return
        wanted = self.belief.wanted.get(domain, {})
        slots = {slot: wanted[slot] for slot in BOOK_SLOTS[domain] if slot in wanted and wanted[slot] != DONTCARE}
        missing = [slot for slot in BOOK_SLOTS[domain] if slot not in slots]
        if missing:
            name = "Train-Request" if domain == "train" else "Booking-Request"
            acts += [act(name, slot, ASKED) for slot in missing[:2]]
            return
        done = self._booked.get(domain)
        if done is None or done[0] is not row or done[1] != slots:
            booking = self._backend.book(row, slots)
            if booking.outcome != "booked":
                acts += [act("Booking-NoBook", slot, slots[slot]) for slot in booking.slots] or [act("Booking-NoBook")]
                return
            done = self._booked[domain] = (row, slots, booking)
        self._settled = True
        acts += [act("Booking-Book", REFERENCE, done[2].reference)] if self._terse else _confirmation(*done)

    # Repetition

    def _unrepeated(self, heard: Sequence[Act], acts: list[Act]) -> tuple[Act, ...]:
        """The answer; where the same was said and answered twice already, also a question that may bring us on."""
        said = tuple(acts)
        same = (heard, said) == self._last and bool(heard)
        self._repeats = self._repeats + 1 if same else 0
        self._last = (heard, said)
        domain = self.belief.domain
        if self._repeats > 1 and domain in _NARROWING and not self._terse:
            wanted = self.belief.wanted.get(domain, {})
            slot = next((slot for slot in _NARROWING[domain] if slot not in wanted), "")
            said += (act(f"{_TITLE[domain]}-Request", slot, ASKED) if slot else _MORE,)
        return said


def _confirmation(row: TownRow, slots: dict[str, str], booking: Booking) -> list[Act]:
    if row.domain != "train":
        return [act("Booking-Book", "name", row.get("name")), act("Booking-Book", REFERENCE, booking.reference)]
    confirmed = [act("Train-OfferBooked", "trainID", row.get("trainID"))]
    confirmed.append(act("Train-OfferBooked", REFERENCE, booking.reference))
    if booking.total:
        confirmed.append(act("Train-OfferBooked", "price", booking.total))
    return confirmed
