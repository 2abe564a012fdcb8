"""The rule system of a domain: it looks things up, answers about what it offered, books, and says when it cannot.

What it must not do is as important as what it does (``docs/decisions.md``): it answers and books the very
row it named, it never repeats a question, it echoes what it understood when it finds nothing, it says that a value is
unknown, and it answers a goodbye with a goodbye.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from dialgauge.agents.vocabulary import AFFIRM, BYE, GREET, MORE, THANK, WELCOME
from dialgauge.dialogue import DONTCARE, Act, State, Values
from dialgauge.draws import Draws
from dialgauge.intents import INFORM, INTENTS, REQUEST
from dialgauge.worlds.domain import ASKED, CHOICE, GENERAL, Booking, Domain, Entity, Role, Service, ServiceDesk, act


class RuleSystem:
    """Tracker and policy; one instance serves one conversation."""

    #: With more rows it asks back.
    ask_above = 10
    #: Told beside a name.
    attributes = 2
    #: How often it lets the user choose, tells that nothing has the very time asked for, and asks for more.
    select = 0.1
    exact = 0.1
    more = 0.3
    #: Does not offer to book, confirms bookings of all kinds with nothing but the reference, and does not ask back when
    #: the user says the same again and again.
    terse = False

    def __init__(self, backend: ServiceDesk, draws: Draws) -> None:
        self._backend, self._draws = backend, draws
        self._services = backend.domain.services
        self._referred = backend.domain.referred
        #: Something was answered or booked in this turn, and nothing was asked.
        self._settled = False
        self.belief = Belief(backend.domain)
        self._focus: dict[str, Entity] = {}
        #: The row that was offered last, whether or not the user said more since.
        self._named: dict[str, Entity] = {}
        #: What was told of it with the offer.
        self._told: dict[str, set[str]] = {}
        self._asked: dict[str, set[str]] = {}
        self._booked: dict[str, tuple[Entity | None, dict[str, str], Booking]] = {}
        #: Services in which the user was offered to choose.
        self._offered: set[str] = set()
        self._last: tuple[Sequence[Act], Sequence[Act]] = ((), ())
        self._repeats = 0

    @property
    def domain(self) -> str:
        """What the user speaks of."""
        return self.belief.domain

    @property
    def state(self) -> State:
        """What the user is believed to want."""
        return self.belief.state

    def step(self, heard: Sequence[Act]) -> tuple[Act, ...]:
        """The answer to a user's turn."""
        manners = {act.name for act in heard if act.domain == GENERAL}
        given = self.belief.hear(heard, self._places)
        if BYE.name in manners:
            return (WELCOME, BYE) if THANK.name in manners else (BYE,)
        acts: list[Act] = [GREET] if GREET.name in manners else []
        self._settled = False
        for domain in self._domains(heard, manners):
            asked = [act.slot for act in heard if act.domain == domain and INTENTS[act.name] == REQUEST]
            self._serve(domain, given.get(domain, {}), asked, AFFIRM.name in manners, acts)
        if THANK.name in manners:
            acts += [WELCOME, MORE] if not acts else [WELCOME]
        if not acts or acts == [GREET] or (self._settled and self._draws.unit() < self.more):
            acts.append(MORE)
        return self._unrepeated(heard, acts)

    def _places(self) -> dict[str, str]:
        """What "the hotel" is; where a row has that very name, the row is meant."""
        places = {f"the {domain}": row.name for domain, row in self._focus.items() if domain in self._referred}
        if self._backend.domain.multiwoz:
            return places
        return {
            words: name
            for words, name in places.items()
            if not any(self._backend.named(service, words) for service in self._referred)
        }

    def _domains(self, heard: Sequence[Act], manners: set[str]) -> list[str]:
        """What this turn is about; an answer without a service is about the last one."""
        domains = list(dict.fromkeys([act.domain for act in heard if act.domain in self._services]))
        if not domains and self.belief.domain and AFFIRM.name in manners:
            return [self.belief.domain]
        return domains

    def _serve(self, domain: str, given: dict[str, str], asked: list[str], affirmed: bool, acts: list[Act]) -> None:
        service = self._services[domain]
        if any(slot in service.wishes and value != DONTCARE for slot, value in given.items()):
            self._focus.pop(domain, None)
        if service.rows is None:
            self._order(service, asked, acts)
        elif service.tells:
            self._tell_at_once(service, asked, acts)
        elif asked:
            self._answer(domain, asked, acts)
            if any(slot in service.takes for slot in given):
                self._book(domain, acts)
        elif any(slot in service.takes for slot in given) or (affirmed and service.takes and domain in self._focus):
            self._book(domain, acts)
        else:
            self._offer(service, acts, affirmed)

    # Searching

    def _constraints(self, domain: str) -> dict[str, str]:
        wanted = self.belief.wanted.get(domain, {})
        slots = self._services[domain].informable
        return {slot: wanted[slot] for slot in slots if slot in wanted and wanted[slot] != DONTCARE}

    def _search(self, service: Service, acts: list[Act]) -> tuple[Entity, ...]:
        """The rows that fit; where there are none it is said, with all that was understood."""
        constraints = self._constraints(service.name)
        rows = self._backend.search(service.name, constraints)
        if rows:
            return rows
        name = service.act_name("no_offer")
        acts += [act(name, slot, value) for slot, value in constraints.items()] or [act(name)]
        return ()

    def _offer(self, service: Service, acts: list[Act], affirmed: bool) -> None:
        wanted = self.belief.wanted.get(service.name, {})
        missing = [slot for slot in service.requires if slot not in wanted]
        if not missing:
            groups = [group for group in service.requires_one_of if not any(slot in wanted for slot in group)]
            missing = [self._draws.pick(group) for group in groups]
        if missing:
            acts += [act(service.act_name("request"), slot, ASKED) for slot in missing[:2]]
            return
        rows = self._search(service, acts)
        if not rows:
            return
        if service.order:
            self._offer_first(service, rows, acts, affirmed)
        else:
            self._offer_one(service, rows, acts, affirmed)

    def _offer_one(self, service: Service, rows: tuple[Entity, ...], acts: list[Act], affirmed: bool) -> None:
        """One of the rows by name, unless a question narrows them or the user is to choose."""
        wanted = self.belief.wanted.get(service.name, {})
        asked = self._asked.setdefault(service.name, set())
        if len(rows) > self.ask_above and not affirmed:
            open_slots = [slot for slot in service.narrowing if slot not in wanted and slot not in asked]
            if open_slots:
                chosen = open_slots[: 1 + (self._draws.unit() < 0.3)]
                asked.update(chosen)
                acts += [act(service.act_name("request"), slot, ASKED) for slot in chosen]
                return
        if len(rows) == 1:
            self._name(service, rows[0], "offer", acts)
        elif self._lets_choose(service):
            pair = self._draws.sample(rows, 2)
            acts += [act(service.act_name("select"), service.name_slot, row.name) for row in pair]
            return
        else:
            acts.append(act(service.act_name("inform"), CHOICE, str(len(rows))))
            self._name(service, self._preferred(service, rows), "recommend", acts)
        offer = service.act_name("offer_booking")
        if offer and not self.terse and not any(slot in wanted for slot in service.takes):
            acts.append(act(offer))

    def _preferred(self, service: Service, rows: tuple[Entity, ...]) -> Entity:
        """One of the rows: the one that was offered before while it fits. The town's own system draws each time."""
        drawn, before = self._draws.pick(rows), self._named.get(service.name)
        return before if before in rows and not service.multiwoz else drawn

    def _lets_choose(self, service: Service) -> bool:
        """Now and then, and once, the user is to choose."""
        if not service.act_name("select") or service.name in self._offered or self._draws.unit() >= self.select:
            return False
        self._offered.add(service.name)
        return True

    def _name(self, service: Service, row: Entity, role: Role, acts: list[Act]) -> None:
        """Speak of a row from now on: its name and what tells most of it."""
        again = not service.multiwoz and self._named.get(row.domain) is row
        known = self._told[row.domain] if again else set()
        self._focus[row.domain] = self._named[row.domain] = row
        name, constraints = service.act_name(role), self._constraints(row.domain)
        acts.append(act(name, service.name_slot, row.name))
        if service.id_slot and not again:
            acts.append(act(name, service.id_slot, row.get(service.id_slot)))
        telling = [slot for slot in service.description if slot not in constraints and slot in row.values]
        fresh = [slot for slot in telling[: self.attributes] if slot not in known]
        acts += [act(name, slot, row.values[slot]) for slot in fresh]
        self._told[row.domain] = known | set(fresh)

    def _offer_first(self, service: Service, rows: tuple[Entity, ...], acts: list[Act], affirmed: bool) -> None:
        """The first row in the order that the user's wish implies."""
        inform = service.act_name("inform")
        if not affirmed and len(rows) > 1 and self._lets_choose(service):
            acts += [act(inform, CHOICE, str(len(rows))), act(service.act_name("select"))]
            return
        row = self._focus[service.name] = rows[0]
        wanted = self.belief.wanted.get(service.name, {})
        slot = list(service.order)[-1]
        wish = wanted.get(slot, row.get(slot))
        if wish not in (row.get(slot), DONTCARE) and self._draws.unit() < self.exact:
            acts.append(act(service.act_name("no_offer"), slot, wish))
        acts += [
            act(service.act_name("offer"), described, row.get(described))
            for described in (service.name_slot, *service.describe)
        ]
        if offer := service.act_name("offer_booking"):
            acts.append(act(offer))

    # Answers

    def _focused(self, domain: str, acts: list[Act]) -> Entity | None:
        """The row that is spoken of; where there is none yet, the best one, which is named."""
        row, service = self._focus.get(domain), self._services[domain]
        if row is None and not self._lacks_required(service, acts):
            rows = self._search(service, acts)
            if rows:
                row = self._focus[domain] = rows[0]
                acts.append(act(service.act_name("inform"), service.name_slot, row.get(service.name_slot)))
        return row

    def _lacks_required(self, service: Service, acts: list[Act]) -> bool:
        wanted = self.belief.wanted.get(service.name, {})
        missing = [slot for slot in service.requires if slot not in wanted]
        acts += [act(service.act_name("request"), slot, ASKED) for slot in missing[:2]]
        return bool(missing)

    def _answer(self, domain: str, asked: list[str], acts: list[Act]) -> None:
        row = self._focused(domain, acts)
        if row is None:
            return
        service, self._settled = self._services[domain], True
        for slot in dict.fromkeys(asked):
            if slot in service.gives and slot not in service.columns:
                if domain in self._booked:
                    acts.append(act(service.act_name("inform"), slot, self._booked[domain][2].gives[slot]))
                else:
                    self._book(domain, acts)
            else:
                acts.append(act(service.act_name("inform"), slot, row.get(slot)))

    def _tell_at_once(self, service: Service, asked: list[str], acts: list[Act]) -> None:
        rows = self._search(service, acts)
        if rows:
            slots = asked or service.tells
            acts += [act(service.act_name("inform"), slot, rows[0].get(slot)) for slot in dict.fromkeys(slots)]

    # Booking

    def _order(self, service: Service, asked: list[str], acts: list[Act]) -> None:
        """Book a service that has no rows, as soon as all that it needs is known."""
        wanted = self._constraints(service.name)
        book = service.book
        if book is None:
            return
        missing = [slot for slot in book.needs if slot not in wanted]
        missing += [self._draws.pick(group) for group in book.one_of if not any(slot in wanted for slot in group)]
        if missing:
            acts += [act(service.act_name("ask_booking"), slot, ASKED) for slot in missing[:2]]
            return
        booking = self._made(service, None, wanted, acts)
        if booking is not None:
            name = service.act_name("book")
            given = {slot: value for slot, value in booking.gives.items() if not asked or slot in asked}
            acts += [act(name, slot, value) for slot, value in given.items()] or [act(name)]

    def _book(self, domain: str, acts: list[Act]) -> None:
        row, service = self._focused(domain, acts), self._services[domain]
        if row is None or service.book is None:
            return
        wanted = self.belief.wanted.get(domain, {})
        slots = {slot: wanted[slot] for slot in service.takes if slot in wanted and wanted[slot] != DONTCARE}
        missing = service.book.missing(slots)
        if missing:
            acts += [act(service.act_name("ask_booking"), slot, ASKED) for slot in missing[:2]]
            return
        booking = self._made(service, row, slots, acts)
        if booking is None:
            return
        self._settled = True
        if self.terse:
            acts += [act(service.act_name("confirm"), slot, value) for slot, value in booking.gives.items()]
        else:
            acts += _confirmation(service, row, booking)

    def _made(self, service: Service, row: Entity | None, slots: dict[str, str], acts: list[Act]) -> Booking | None:
        """The booking, made now unless it was made before; that it cannot be made is said."""
        done = self._booked.get(service.name)
        if done is None or done[0] is not row or done[1] != slots:
            booking = self._backend.book(service.name, slots, row)
            if booking.outcome != "booked":
                name = service.act_name("no_book")
                acts += [act(name, slot, slots.get(slot, "")) for slot in booking.slots] or [act(name)]
                return None
            done = self._booked[service.name] = (row, slots, booking)
        return done[2]

    # Repetition

    def _unrepeated(self, heard: Sequence[Act], acts: list[Act]) -> tuple[Act, ...]:
        """The answer; where the same was said and answered twice already, also a question that may bring us on."""
        answer = tuple(acts)
        same = (heard, answer) == self._last and bool(heard)
        self._repeats = self._repeats + 1 if same else 0
        self._last = (heard, answer)
        service = self._services.get(self.belief.domain)
        if self._repeats > 1 and service is not None and service.narrowing and not self.terse:
            wanted = self.belief.wanted.get(service.name, {})
            slot = next((slot for slot in service.narrowing if slot not in wanted), "")
            answer += (act(service.act_name("request"), slot, ASKED) if slot else MORE,)
        return answer


def _confirmation(service: Service, row: Entity, booking: Booking) -> list[Act]:
    name = service.act_name("book")
    confirmed = [act(name, service.name_slot, row.name)]
    confirmed += [act(name, slot, value) for slot, value in booking.gives.items()]
    if booking.total:
        confirmed += [act(name, price, booking.total) for price in service.total]
    return confirmed


class Belief:
    """What the system believes the user wants, from the user's acts alone.

    ``wanted`` holds the plain values; ``state`` is the same as records keep it. A state is never changed once it was
    looked at: the next act makes a new one, which shares what did not change.
    """

    def __init__(self, domain: Domain) -> None:
        self._services, self._referring = domain.services, domain.referring
        self.wanted: dict[str, dict[str, str]] = {}
        self.state: State = {}
        #: The service that was spoken of last.
        self.domain = ""

    def hear(self, acts: Iterable[Act], places: Callable[[], Mapping[str, str]] = dict) -> dict[str, dict[str, str]]:
        """Take in a user's turn; the values it gave, by service. ``places`` says what "the hotel" is."""
        given: dict[str, dict[str, str]] = {}
        for said in acts:
            domain, slot = said.domain, said.slot
            service = self._services.get(domain)
            if service is None:
                continue
            self.domain = domain
            if slot and said.values and slot in service.known and INTENTS[said.name] == INFORM:
                value = said.values[0].strip()
                if service.multiwoz:
                    value = value.lower()
                if slot in self._referring and value.lower().startswith("the "):
                    value = places().get(value.lower(), value)
                if domain in given:
                    given[domain][slot] = value
                else:
                    given[domain] = {slot: value}
        for domain, values in given.items():
            self.wanted[domain] = {**self.wanted.get(domain, {}), **values}
            kept: dict[str, Values] = {slot: (value,) for slot, value in values.items()}
            self.state = {**self.state, domain: {**self.state.get(domain, {}), **kept}}
        return given
