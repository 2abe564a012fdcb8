"""What the NLU learns from and is tried on: rendered acts of a made-up conversation, or human dialogues with acts.

The practice turns need no data at all. They cover the town's whole vocabulary of acts: half of them are what the town's
agents say in their usual order, half are any act with any slots, so that an agent with other habits is understood too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.agents.manners import AFFIRM, BYE, GREET, MORE, NEGATE, THANK, WELCOME
from dialgauge.agents.speech.nlg import TemplateNlg
from dialgauge.agents.speech.nlu import ParseContext
from dialgauge.agents.speech.nlu_training import NluSample
from dialgauge.agents.speech.phrase_book import NO_SLOT
from dialgauge.dialogue import DONTCARE, Act, Dialogue, Ontology, SlotSpec, Speaker
from dialgauge.draws import Draws
from dialgauge.intents import INFORM, INTENTS, RECOMMEND, REQUEST, service_of
from dialgauge.values import DAYS
from dialgauge.worlds.domain import GENERAL
from dialgauge.worlds.town import (
    ASKED,
    BOOK_SLOTS,
    CHOICE,
    REFERENCE,
    REQUEST_SLOTS,
    SEARCH_SLOTS,
    SYSTEM_ACTS,
    TOWN,
    TOWN_DOMAINS,
    UNKNOWN,
    USER_ACTS,
    VENUE_DOMAINS,
    act,
    goal_act,
    spoken_town,
)

_SPEAKERS: tuple[Speaker, ...] = ("user", "system")
#: What has ends, what of it is made to order, what is booked by a general act, and what is booked at all from rows.
_JOURNEYS = tuple(name for name, slots in SEARCH_SLOTS.items() if "departure" in slots)
_RIDES = tuple(name for name in _JOURNEYS if TOWN.services[name].rows is None)
_TABLES = tuple(name for name in VENUE_DOMAINS if name in BOOK_SLOTS)
_BOOKED = tuple(name for name in BOOK_SLOTS if name not in _RIDES)
_GENERAL = (GENERAL, "booking")
_YES_NO = ("parking", "internet")
_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#: How values are drawn that no list has.
_DRAWN: dict[str, Callable[[Draws], str]] = {
    **dict.fromkeys(("people", "stay"), lambda draws: str(draws.integer(1, 8))),
    **dict.fromkeys(
        ("time", "leaveAt", "arriveBy"),
        lambda draws: f"{draws.integer(5, 23):02}:{draws.pick(('00', '15', '29', '30', '45', '51'))}",
    ),
    **dict.fromkeys(_YES_NO, lambda draws: draws.pick(("yes", "yes", "no"))),
    "stars": lambda draws: str(draws.integer(0, 5)),
    CHOICE: lambda draws: str(draws.integer(1, 40)),
    "day": lambda draws: draws.pick(DAYS),
    REFERENCE: lambda draws: "".join(draws.pick(_SIGNS) for _ in range(7)) + draws.pick("ABCDEFGHIJ"),
    "trainID": lambda draws: f"TR{draws.integer(0, 9999):04}",
    "phone": lambda draws: f"01{draws.integer(100000000, 999999999)}",
    "postcode": lambda draws: f"cb{draws.integer(1, 29)}{draws.integer(1, 9)}{draws.pick('abd')}{draws.pick('efg')}",
    "price": lambda draws: f"{draws.integer(4, 90)}.{draws.integer(10, 99)} pounds",
    "duration": lambda draws: f"{draws.integer(17, 170)} minutes",
    "entrance fee": lambda draws: draws.pick(("free", "5 pounds", "2.50 pounds", "4 pounds")),
}

#: A town just large enough to practise in: the NLU sees kinds of values, not the values.
PRACTICE_ONTOLOGY = Ontology(
    domains={
        service: {slot: SlotSpec(values=values) for slot, values in slots.items()}
        for service, slots in spoken_town().practice.items()
    }
)


def practice_samples(count: int, *, seed: int = 0) -> Iterator[NluSample]:
    """Made-up turns in the words of our NLG, a third of them users'; half as our agents speak."""
    words = TemplateNlg(strict=True)
    practice = _Practice(PRACTICE_ONTOLOGY, words)
    for number in range(count):
        draws = Draws(seed, "nlu practice", number)
        speaker: Speaker = "system" if number % 3 else "user"  # systems have twice as much to say
        acts, context = practice.turn(speaker, draws)
        wording = words.generate(acts, speaker, draws)
        yield NluSample(text=wording.text, speaker=speaker, acts=acts, context=context, spans=wording.spans)


def human_samples(dialogues: Iterable[Dialogue]) -> Iterator[NluSample]:
    """The turns of annotated dialogues, with acts in the town's spelling and what the listener knew."""
    for dialogue in dialogues:
        known = _Known()
        for turn in dialogue.turns:
            acts = tuple(_plain(each) for each in turn.acts or ())
            yield NluSample(text=turn.text, speaker=turn.speaker, acts=acts, context=known.context(turn.speaker))
            known.heard(turn.speaker, acts)


def _plain(annotated: Act) -> Act:
    """An annotated act in our spelling; a facility that is told without a value is there."""
    renamed = goal_act(annotated)
    return replace(renamed, values=("yes",)) if renamed.slot in _YES_NO and not renamed.values else renamed


class _Known(Struct):
    """What both sides of a conversation know of it."""

    last: dict[str, tuple[Act, ...]] = {}
    domain: str = ""
    pending: str = ""

    def context(self, speaker: Speaker) -> ParseContext:
        listener = "system" if speaker == "user" else "user"
        return ParseContext(
            own=self.last.get(listener, ()),
            before=self.last.get(speaker, ()),
            domain=self.domain,
            pending=self.pending if listener == "user" else self.domain,
        )

    def heard(self, speaker: Speaker, acts: tuple[Act, ...]) -> None:
        self.last = {**self.last, speaker: acts}
        for each in acts:
            if speaker == "user" and each.domain not in _GENERAL:
                self.domain = each.domain
                if each.slot in BOOK_SLOTS.get(each.domain, ()) and each.intent == INFORM:
                    self.pending = each.domain
            elif each.slot == REFERENCE:
                self.pending = ""


class _Practice:
    """Draws turns that could have been said, with what the listener knew."""

    def __init__(self, ontology: Ontology, nlg: TemplateNlg) -> None:
        self._wordings = {speaker: nlg.book(speaker).wordings() for speaker in _SPEAKERS}
        self._values: dict[str, tuple[str, ...]] = {}
        for slots in ontology.domains.values():
            for slot, spec in slots.items():
                self._values[slot] = (*self._values.get(slot, ()), *spec.values)
        self._own = {
            (domain, slot): spec.values for domain, slots in ontology.domains.items() for slot, spec in slots.items()
        }

    def turn(self, speaker: Speaker, draws: Draws) -> tuple[tuple[Act, ...], ParseContext]:
        """What is said, and what the listener knew before."""
        if draws.unit() < 0.5:
            return self._any(speaker, draws)
        return self._user(draws) if speaker == "user" else self._system(draws)

    # Values

    def value(self, domain: str, slot: str, draws: Draws) -> str:
        if slot in _DRAWN:
            return _DRAWN[slot](draws)
        if slot in ("departure", "destination") and domain in _RIDES:
            names = [name for venue in VENUE_DOMAINS for name in self._own[venue, "name"]]
            return draws.pick((*names, *self._values["departure"], *spoken_town().ends_of_rides))
        own = self._own.get((domain, slot)) or self._values.get(slot)  # a booking's venue is any venue
        return draws.pick(own) if own else slot

    def _told(self, name: str, slots: Iterable[str], draws: Draws, odd: str = "", often: float = 0.0) -> list[Act]:
        """Acts of one name with values; now and then the odd one instead."""
        domain = service_of(name)
        return [
            act(name, slot, odd if often and slot not in ("name", CHOICE) and draws.unit() < often else
                self.value(domain, slot, draws))
            for slot in slots
        ]  # fmt: skip

    # Any act with any slots

    def _any(self, speaker: Speaker, draws: Draws) -> tuple[tuple[Act, ...], ParseContext]:
        inventory = USER_ACTS if speaker == "user" else SYSTEM_ACTS
        if draws.unit() < 0.5:  # each wording as often as any other
            first, key = draws.pick(self._wordings[speaker])
            acts = [self._part(first, part, draws) for part in draws.shuffled(key)]
        else:
            first = draws.pick(list(inventory))
            acts = self._random(first, inventory, draws)
        if draws.unit() < 0.4:
            near = (service_of(first), GENERAL)
            others = [name for name in inventory if name != first and service_of(name) in near]
            acts += self._random(draws.pick(others), inventory, draws)
        domains = [each.domain for each in acts if each.domain not in _GENERAL]
        if domains:
            domain = domains[0]
        else:
            booking = any(each.domain == "booking" for each in acts)
            domain = draws.pick(_TABLES if booking else TOWN_DOMAINS)
        before = self._system_before if speaker == "user" else self._user_before
        return tuple(acts), before(domain, draws)

    def _part(self, name: str, part: str, draws: Draws) -> Act:
        """The act of one part of a key: ``area``, ``parking=no``, ``none``."""
        slot, _, value = part.partition("=")
        if slot == NO_SLOT:
            return act(name)
        if INTENTS[name] == REQUEST:
            return act(name, slot, ASKED)
        return act(name, slot, value or self.value(service_of(name), slot, draws))

    def _random(self, name: str, inventory: dict[str, tuple[str, ...]], draws: Draws) -> list[Act]:
        slots = [slot for slot in inventory[name] if slot]
        if not slots or ("" in inventory[name] and draws.unit() < 0.2):
            return [act(name)]
        chosen = draws.sample(slots, draws.integer(1, min(4, len(slots))))
        if INTENTS[name] == REQUEST:
            return [act(name, slot, ASKED) for slot in chosen]
        if inventory is USER_ACTS:
            return self._told(name, chosen, draws, DONTCARE, 0.2)
        return self._told(name, chosen, draws, UNKNOWN, 0.25 if INTENTS[name] in (INFORM, RECOMMEND) else 0)

    def _system_before(self, domain: str, draws: Draws) -> ParseContext:
        """What the system may have said before a user speaks."""
        title = domain.capitalize()
        names = [name for name in SYSTEM_ACTS if name.startswith((f"{title}-", "Booking-", MORE.name))]
        own = self._some_of(SYSTEM_ACTS, draws.sample(names, draws.integer(0, 2)), draws)
        pending = domain if draws.unit() < 0.7 else ""
        return ParseContext(own=own, before=self._before(USER_ACTS, title, draws), domain=domain, pending=pending)

    def _user_before(self, domain: str, draws: Draws) -> ParseContext:
        title = domain.capitalize()
        names = [f"{title}-Inform", f"{title}-Request", THANK.name, AFFIRM.name]
        own = self._some_of(USER_ACTS, draws.sample(names, draws.integer(0, 2)), draws)
        pending = domain if domain in _BOOKED and draws.unit() < 0.4 else ""
        return ParseContext(own=own, before=self._before(SYSTEM_ACTS, title, draws), domain=domain, pending=pending)

    def _before(self, inventory: dict[str, tuple[str, ...]], title: str, draws: Draws) -> tuple[Act, ...]:
        names = [name for name in inventory if name.startswith(title)]
        return self._some_of(inventory, draws.sample(names, draws.integer(0, 2)), draws)

    def _some_of(self, inventory: dict[str, tuple[str, ...]], names: list[str], draws: Draws) -> tuple[Act, ...]:
        return tuple(
            act(name, slot, ASKED if slot else "")
            for name in names
            for slot in draws.sample(inventory[name], draws.integer(1, min(3, len(inventory[name]))))
        )

    # As our agents speak

    def _user(self, draws: Draws) -> tuple[tuple[Act, ...], ParseContext]:
        domain = draws.pick(TOWN_DOMAINS[:5]) if draws.unit() < 0.94 else draws.pick(TOWN_DOMAINS[5:])
        title, phase = domain.capitalize(), draws.unit()
        search, book = SEARCH_SLOTS[domain], BOOK_SLOTS.get(domain, ())
        context = self._system_before(domain, draws)
        if phase < 0.35:  # a new task
            acts = self._told(f"{title}-Inform", draws.sample(search, draws.integer(0, min(4, len(search)))), draws)
            if domain not in _JOURNEYS or not acts or draws.unit() < 0.3:
                acts.insert(0, act(f"{title}-Inform"))
            other = draws.pick((*TOWN_DOMAINS[:5], ""))
            own = draws.pick(((), (MORE,), self._system_before(other or domain, draws).own))
            context = ParseContext(own=own, before=context.before, domain=other, pending=context.pending and other)
        elif phase < 0.6 and search:  # constraints, often those that were asked for
            slots = draws.sample(search, draws.integer(1, min(3, len(search))))
            acts = self._told(f"{title}-Inform", slots, draws, DONTCARE, 0.15)
            if draws.unit() < 0.5:
                asked = [slot for slot in slots if slot in SYSTEM_ACTS.get(f"{title}-Request", ())]
                context = replace(context, own=tuple(act(f"{title}-Request", slot, ASKED) for slot in asked[:2]))
        elif phase < 0.75 and book:
            slots = [slot for slot in book if draws.unit() < 0.75] or [draws.pick(book)]
            acts = self._told(f"{title}-Inform", slots, draws)
        elif phase < 0.95:
            slots = draws.sample(REQUEST_SLOTS[domain], draws.integer(1, 3) if len(REQUEST_SLOTS[domain]) > 2 else 1)
            acts = [act(f"{title}-Request", slot, ASKED) for slot in slots]
        else:
            acts = []
        return self._with_manners(acts, draws), context

    def _with_manners(self, acts: list[Act], draws: Draws) -> tuple[Act, ...]:
        chance = draws.unit()
        if not acts:
            thanks = [THANK] if draws.unit() < 0.7 else []
            return (*thanks, BYE) if chance < 0.6 or not thanks else tuple(thanks)
        if chance < 0.04:
            return (GREET, *acts)
        if chance < 0.12:
            return (draws.pick((AFFIRM, NEGATE)), *acts)
        return (*acts, THANK) if chance < 0.15 else tuple(acts)

    def _system(self, draws: Draws) -> tuple[tuple[Act, ...], ParseContext]:
        domain = draws.pick(TOWN_DOMAINS[:5]) if draws.unit() < 0.93 else draws.pick(TOWN_DOMAINS[5:])
        context = self._user_before(domain, draws)
        if domain in VENUE_DOMAINS:
            acts = self._venue(domain, draws)
        elif domain in _JOURNEYS and domain not in _RIDES:
            acts = self._train(draws)
        else:
            acts = self._ride_or_office(domain, draws)
        asked = [each.slot for each in acts if each.name == f"{domain.capitalize()}-Inform"]
        if asked and draws.unit() < 0.5:
            asks = tuple(
                act(f"{domain.capitalize()}-Request", slot, ASKED) for slot in asked if slot in REQUEST_SLOTS[domain]
            )
            context = replace(context, own=asks)
        if any(each.slot == REFERENCE for each in acts) and draws.unit() < 0.9:
            context = replace(context, pending=domain)
        if draws.unit() < 0.3:
            acts.append(MORE)
        elif draws.unit() < 0.05:
            acts = [WELCOME, draws.pick((BYE, MORE))]
        elif draws.unit() < 0.05:
            acts = [draws.pick((BYE, GREET, WELCOME, MORE))]
        return tuple(acts), context

    def _venue(self, domain: str, draws: Draws) -> list[Act]:
        title, phase = domain.capitalize(), draws.unit()
        search = [slot for slot in SEARCH_SLOTS[domain] if slot != "name"]
        tellable = [slot for slot in SYSTEM_ACTS[f"{title}-Inform"] if slot not in ("name", CHOICE, REFERENCE)]
        telling = [slot for slot in tellable if slot in search or slot == "entrance fee"]
        few = draws.sample(telling if draws.unit() < 0.8 else tellable, draws.integer(0, 3))
        offer = [act("Booking-Inform")] if domain in BOOK_SLOTS and draws.unit() < 0.5 else []
        if phase < 0.2:
            number = self._told(f"{title}-Inform", [CHOICE], draws) if draws.unit() < 0.8 else []
            return [*number, *self._told(f"{title}-Recommend", ["name", *few], draws), *offer]
        if phase < 0.3:
            return [*self._told(f"{title}-Inform", ["name", *few], draws), *offer]
        if phase < 0.42:
            return self._told(f"{title}-NoOffer", draws.sample(search, draws.integer(1, len(search))), draws)
        if phase < 0.52:
            return [act(f"{title}-Request", slot, ASKED) for slot in draws.sample(search, draws.integer(1, 2))]
        if phase < 0.57:
            return self._told(f"{title}-Select", ["name", "name"], draws)
        if phase < 0.8 or domain not in BOOK_SLOTS:
            named = ["name"] if draws.unit() < 0.3 else []
            slots = [*named, *draws.sample(tellable, draws.integer(1, 3))]
            return self._told(f"{title}-Inform", slots, draws, UNKNOWN, 0.1)
        return self._booking(domain, draws)

    def _booking(self, domain: str, draws: Draws) -> list[Act]:
        slots, phase = list(BOOK_SLOTS[domain]), draws.unit()
        if phase < 0.4:
            more = draws.sample(slots, draws.integer(1, 3)) if draws.unit() < 0.3 else []
            return self._told("Booking-Book", ["name", REFERENCE, *more], draws)
        if phase < 0.65:
            return [act("Booking-Request", slot, ASKED) for slot in draws.sample(slots, draws.integer(1, 3))]
        if phase < 0.85:
            return self._told("Booking-NoBook", draws.sample(slots, draws.integer(1, 2)), draws)
        return self._told(f"{domain.capitalize()}-Inform", [REFERENCE], draws, UNKNOWN, 0.2)

    def _train(self, draws: Draws) -> list[Act]:
        phase = draws.unit()
        needs = ["departure", "destination", "day", "leaveAt", "arriveBy"]
        if phase < 0.25:
            wish = self._told("Train-NoOffer", ["leaveAt"], draws) if draws.unit() < 0.2 else []
            offered = self._told("Train-Inform", ["trainID", "leaveAt", "arriveBy"], draws)
            return [*wish, *offered, act("Train-OfferBook")]
        if phase < 0.4:
            return [act("Train-Request", slot, ASKED) for slot in draws.sample(needs, draws.integer(1, 2))]
        if phase < 0.5:
            return self._told("Train-NoOffer", draws.sample(needs, draws.integer(1, 5)), draws)
        if phase < 0.55:
            return [*self._told("Train-Inform", [CHOICE], draws), act("Train-Select")]
        if phase < 0.7:
            return self._told("Train-OfferBooked", ["trainID", REFERENCE, "price"], draws)
        if phase < 0.75:
            return [act("Train-Request", "people", ASKED)]
        slots = [slot for slot in SYSTEM_ACTS["Train-Inform"] if slot not in (CHOICE, REFERENCE)]
        return self._told("Train-Inform", draws.sample(slots, draws.integer(1, 3)), draws, UNKNOWN, 0.1)

    def _ride_or_office(self, domain: str, draws: Draws) -> list[Act]:
        title = domain.capitalize()
        if domain in _RIDES:
            if draws.unit() < 0.5:
                ends = SEARCH_SLOTS[domain]
                return [act(f"{title}-Request", slot, ASKED) for slot in draws.sample(ends, draws.integer(1, 2))]
            if draws.unit() < 0.6:
                return self._told(f"{title}-Inform", ["car type", "phone"], draws)
        slots = SYSTEM_ACTS[f"{title}-Inform"]
        return self._told(f"{title}-Inform", draws.sample(slots, draws.integer(1, 3)), draws)
