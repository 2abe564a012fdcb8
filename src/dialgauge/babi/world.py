"""A world: the entities that exist, how restaurants are named, and what is said about them.

The entities come in up to two halves that share prices, sizes and ratings but no location and no cuisine: half A for
training, development and test, half B for the out-of-vocabulary test.
"""

from __future__ import annotations

from itertools import product
from typing import TypeAlias

from msgspec import Struct

from dialgauge.babi.phrases import Phrases
from dialgauge.errors import DialgaugeError, nearest

#: A whole request: cuisine, location, size, price.
Request: TypeAlias = tuple[str, str, str, str]

PLACEHOLDERS = ("location", "price", "cuisine", "rating")


class Half(Struct, frozen=True, kw_only=True):
    """One half of a world's entities."""

    name: str
    locations: tuple[str, ...]
    cuisines: tuple[str, ...]


class World(Struct, frozen=True, kw_only=True):
    """Everything a simulation draws from."""

    title: str
    #: The name under which belief states and goals file this world.
    domain: str
    #: How a restaurant is called, with the placeholders ``{location} {price} {cuisine} {rating}``.
    name: str
    halves: tuple[Half, ...]
    prices: tuple[str, ...]
    sizes: tuple[str, ...]
    ratings: tuple[int, ...]
    phrases: Phrases

    def half(self, name: str) -> Half:
        """The half of that name, or an error that lists them."""
        for half in self.halves:
            if half.name == name:
                return half
        raise DialgaugeError(f"this world has no half '{name}'.{nearest(name, [half.name for half in self.halves])}")

    def values(self, half: Half) -> dict[str, tuple[str, ...]]:
        """The values each field of a request can have."""
        return {"cuisine": half.cuisines, "location": half.locations, "size": self.sizes, "price": self.prices}

    def requests(self, half: Half) -> list[Request]:
        """Every request that can be made in a half, in a fixed order."""
        return list(product(half.cuisines, half.locations, self.sizes, self.prices))

    def restaurant_names(self, half: Half) -> list[str]:
        """Every restaurant of a half, in the order of the knowledge-base file."""
        return [self.restaurant_name(*place) for place in self.places(half)]

    def places(self, half: Half) -> list[tuple[str, str, str, int]]:
        """Location, price, cuisine and rating of every restaurant: there is one for each combination."""
        return list(product(half.locations, self.prices, half.cuisines, self.ratings))

    def restaurant_name(self, location: str, price: str, cuisine: str, rating: int) -> str:
        """The name of the restaurant with these properties."""
        name = self.name
        for placeholder, value in zip(PLACEHOLDERS, (location, price, cuisine, str(rating)), strict=True):
            name = name.replace("{" + placeholder + "}", value)
        return name
