"""Knowledge bases: the restaurants of one half, what is known of each, and what API calls and candidates say of them.

Each restaurant takes parties of one size only, drawn uniformly and independently; the rest follows from the world.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct

from dialgauge.dialogue import Fact
from dialgauge.draws import Draws
from dialgauge.worlds.restaurant.world import API_CALL, FIELDS, INFO, Half, Request, SimulatorWorld

#: The order of a restaurant's facts in the knowledge-base file and in the answer to an API call.
FILE_ORDER = ("R_cuisine", "R_location", "R_price", "R_rating", "R_phone", "R_address", "R_number")
ANSWER_ORDER = ("R_phone", "R_cuisine", "R_address", "R_location", "R_number", "R_price", "R_rating")
_FIELD = {"R_cuisine": "cuisine", "R_location": "location", "R_number": "size", "R_price": "price"}
#: Fields of a call, in order: tasks 1-5 name four, task 6 names three and writes an open field as its relation.
_CALLS = {4: ("R_cuisine", "R_location", "R_number", "R_price"), 3: ("R_cuisine", "R_location", "R_price")}


class Restaurant(Struct, frozen=True, dict=True):
    """A restaurant's name and its properties."""

    name: str
    cuisine: str
    location: str
    size: str
    price: str
    rating: int

    @property
    def phone(self) -> str:
        return f"{self.name}_phone"

    @property
    def address(self) -> str:
        return f"{self.name}_address"

    @property
    def request(self) -> Request:
        """The one request this restaurant fits."""
        return (self.cuisine, self.location, self.size, self.price)

    @cached_property
    def answer(self) -> tuple[Fact, ...]:
        """Its facts as an API call returns them."""
        return self._facts(ANSWER_ORDER)

    @cached_property
    def listing(self) -> tuple[Fact, ...]:
        """Its facts as the knowledge-base file lists them."""
        return self._facts(FILE_ORDER)

    def _facts(self, order: Iterable[str]) -> tuple[Fact, ...]:
        values = {
            "R_cuisine": self.cuisine,
            "R_location": self.location,
            "R_price": self.price,
            "R_rating": str(self.rating),
            "R_phone": self.phone,
            "R_address": self.address,
            "R_number": self.size,
        }
        return tuple(Fact(self.name, relation, values[relation]) for relation in order)


class KnowledgeBase:
    """The restaurants of a half, found by request."""

    def __init__(self, restaurants: Iterable[Restaurant]) -> None:
        self.restaurants = tuple(restaurants)
        fitting: dict[Request, list[Restaurant]] = {}
        for restaurant in self.restaurants:
            fitting.setdefault(restaurant.request, []).append(restaurant)
        self._results = {request: tuple(restaurants) for request, restaurants in fitting.items()}

    def query(self, request: Request) -> tuple[Restaurant, ...]:
        """The restaurants that match all four fields, in the knowledge base's order; often none."""
        return self._results.get(request, ())


def draw_knowledge_base(world: SimulatorWorld, half: Half, seed: int) -> KnowledgeBase:
    """The knowledge base of a half: every combination of properties once, party sizes drawn."""
    draws = Draws(seed, "sizes", half.name)
    return KnowledgeBase(
        Restaurant(world.restaurant_name(*place), place[2], place[0], draws.pick(world.sizes), place[1], place[3])
        for place in world.places(half)
    )


class WorldLexicon(Struct, frozen=True):
    """The words that mean something: field values, and restaurants' names."""

    fields: dict[str, str]
    names: frozenset[str]


def lexicon_of(facts: Iterable[Fact]) -> WorldLexicon:
    """The lexicon of a knowledge base, such as the one in the released file (both halves)."""
    fields: dict[str, str] = {}
    names: set[str] = set()
    for fact in facts:
        names.add(fact.entity)
        if fact.relation in _FIELD:
            fields[fact.value] = _FIELD[fact.relation]
    return WorldLexicon(fields, frozenset(names))


def lexicon_of_world(world: SimulatorWorld) -> WorldLexicon:
    """The lexicon of a world: all values and names of all its halves."""
    fields = {value: field for half in world.halves for field in FIELDS for value in world.values(half)[field]}
    return WorldLexicon(fields, frozenset(name for half in world.halves for name in world.restaurant_names(half)))


class FactDatabase:
    """Facts that API calls are answered from. They are read when they are first needed."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._given = facts

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """All facts in their order."""
        return tuple(self._given)

    @cached_property
    def lexicon(self) -> WorldLexicon:
        """The words that mean something here."""
        return lexicon_of(self.facts)

    @cached_property
    def _entities(self) -> list[tuple[frozenset[tuple[str, str]], tuple[Fact, ...]]]:
        facts: dict[str, list[Fact]] = {}
        for fact in self.facts:
            facts.setdefault(fact.entity, []).append(fact)
        return [(frozenset((fact.relation, fact.value) for fact in own), tuple(own)) for own in facts.values()]

    def opening(self) -> tuple[Fact, ...] | None:
        """Nothing is shown before somebody calls."""
        return None

    def answer(self, text: str) -> tuple[Fact, ...] | None:
        """The facts of all entities that match a call, ``()`` when there are none, None when it is no call."""
        words = text.split()
        fields = _CALLS.get(len(words) - 1)
        if not words or words[0] != API_CALL or fields is None:
            return None
        wanted = {(field, value) for field, value in zip(fields, words[1:], strict=True) if value != field}
        return tuple(fact for properties, facts in self._entities if wanted <= properties for fact in facts)


def world_candidates(world: SimulatorWorld) -> list[str]:
    """Everything the bot of a world can ever say: the replies to choose from in tasks 1 to 5. No two are equal.

    In the released world these are 12 fixed sentences, 600 API calls, and an option, a phone number and an address for
    each of 1,200 restaurants: 4,212 in all.
    """
    phrases = world.phrases
    calls = [phrases.api_call(request) for half in world.halves for request in world.requests(half)]
    names = [name for half in world.halves for name in world.restaurant_names(half)]
    options = [phrases.option(name) for name in names]
    answers = [phrases.info(f"{name}_{about}") for about in INFO for name in names]
    return [*phrases.fixed_sentences(), *calls, *options, *answers]
