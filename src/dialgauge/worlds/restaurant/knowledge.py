"""Knowledge bases: the restaurants of one half, what is known of each, and queries.

Each restaurant takes parties of one size only, drawn uniformly and independently; the rest follows from the world.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct

from dialgauge.dialogue import Fact
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.worlds.restaurant.phrases import FIELDS, INFO
from dialgauge.worlds.restaurant.world import Half, Request, SimulatorWorld

#: The order of a restaurant's facts in the knowledge-base file and in the answer to an API call.
FILE_ORDER = ("R_cuisine", "R_location", "R_price", "R_rating", "R_phone", "R_address", "R_number")
ANSWER_ORDER = ("R_phone", "R_cuisine", "R_address", "R_location", "R_number", "R_price", "R_rating")

RELATION = {"cuisine": "R_cuisine", "location": "R_location", "size": "R_number", "price": "R_price"}


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

    @property
    def most_results(self) -> int:
        """The largest number of restaurants any request finds."""
        return max(map(len, self._results.values()))


def draw_knowledge_base(world: SimulatorWorld, half: Half, seed: int) -> KnowledgeBase:
    """The knowledge base of a half: every combination of properties once, party sizes drawn."""
    draws = Draws(seed, "sizes", half.name)
    return KnowledgeBase(
        Restaurant(world.restaurant_name(*place), place[2], place[0], draws.pick(world.sizes), place[1], place[3])
        for place in world.places(half)
    )


def knowledge_base_of(facts: Iterable[Fact], half: Half) -> KnowledgeBase:
    """The restaurants of a half as a file lists them, such as the released one (whose file holds both halves)."""
    known: dict[str, dict[str, str]] = {}
    for fact in facts:
        known.setdefault(fact.entity, {})[fact.relation] = fact.value
    restaurants = []
    for name, values in known.items():
        missing = next((relation for relation in FILE_ORDER if relation not in values), None)
        if missing:
            raise DialgaugeError(f"the knowledge base does not say {missing} of {name}")
        if values["R_location"] in half.locations and values["R_cuisine"] in half.cuisines:
            restaurants.append(_restaurant(name, values))
    if not restaurants:
        raise DialgaugeError(f"the knowledge base has no restaurant with a location and a cuisine of half {half.name}")
    return KnowledgeBase(restaurants)


def _restaurant(name: str, values: dict[str, str]) -> Restaurant:
    if not values["R_rating"].removeprefix("-").isdecimal():
        raise DialgaugeError(f"the rating of {name} must be a whole number, not '{values['R_rating']}'")
    cuisine, location, size, price = (values[RELATION[field]] for field in FIELDS)
    return Restaurant(name, cuisine, location, size, price, int(values["R_rating"]))


class WorldLexicon(Struct, frozen=True):
    """The words that mean something: field values, and restaurants' names."""

    fields: dict[str, str]
    names: frozenset[str]


def lexicon_of(facts: Iterable[Fact]) -> WorldLexicon:
    """The lexicon of a knowledge base, such as the one in the released file (both halves)."""
    field_of = {relation: field for field, relation in RELATION.items()}
    fields: dict[str, str] = {}
    names: set[str] = set()
    for fact in facts:
        names.add(fact.entity)
        if fact.relation in field_of:
            fields[fact.value] = field_of[fact.relation]
    return WorldLexicon(fields, frozenset(names))


def lexicon_of_world(world: SimulatorWorld) -> WorldLexicon:
    """The lexicon of a world: all values and names of all its halves."""
    fields = {value: field for half in world.halves for field in FIELDS for value in world.values(half)[field]}
    return WorldLexicon(fields, frozenset(name for half in world.halves for name in world.restaurant_names(half)))


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
