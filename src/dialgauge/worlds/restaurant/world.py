"""A world: the entities that exist, how restaurants are named, and what is said about them.

The entities come in up to two halves that share prices, sizes and ratings but no location and no cuisine: half A for
training, development and test, half B for the out-of-vocabulary test.
"""

from __future__ import annotations

from itertools import product
from math import inf
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.worlds.restaurant.phrases import FIELDS, Phrases

#: A whole request: cuisine, location, size, price.
Request: TypeAlias = tuple[str, str, str, str]

#: The world that is meant where none is named.
DEFAULT_WORLD = "restaurant"
PLACEHOLDERS = ("location", "price", "cuisine", "rating")


class Half(Struct, frozen=True, kw_only=True):
    """One half of a world's entities."""

    name: str
    locations: tuple[str, ...]
    cuisines: tuple[str, ...]


class SimulatorWorld(Struct, frozen=True, kw_only=True):
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


TASKS = (1, 2, 3, 4, 5)

#: From, to; both included.
Range: TypeAlias = tuple[int, int]

FIELDS_SAID: dict[int, Range] = {1: (0, 4), 2: (4, 4), 3: (0, 4), 5: (1, 3)}
FIELDS_UPDATED: dict[int, Range] = {2: (1, 4), 5: (1, 3)}

#: The tasks whose dialogs show options, and how many there are at least in the released files.
_SHOWING, LEAST_RESULTS = (3, 5), 3


class Parameters(Struct, frozen=True, kw_only=True):
    """How dialogs are drawn. The defaults are what the released files show."""

    seed: int = 0
    #: The probability that the user accepts an option that is not the last one left (tasks 3 and 5).
    accept: float = 0.25
    #: The least number of results of a request whose options are shown (tasks 3 and 5), for both or by task. A task
    #: that is not named keeps its default. The paper says 3 and 1; the released files have 3 in both.
    min_results: int | dict[int, int] = LEAST_RESULTS
    #: The share of the requests that train dialogs draw from; dev and test share the others.
    pool_share: float = 0.5
    #: By task: how many fields the first request says. A task that is not named keeps its default.
    fields: dict[int, Range] = {}
    #: By task: how many fields the user changes afterwards. A task that is not named keeps its default.
    updates: dict[int, Range] = {}
    #: How often the user asks for the phone number only, for the address only, for both (tasks 4 and 5).
    info: tuple[float, float, float] = (0.25, 0.25, 0.5)

    def __post_init__(self) -> None:
        force_setattr(self, "fields", _completed("fields", self.fields, FIELDS_SAID))
        force_setattr(self, "updates", _completed("updates", self.updates, FIELDS_UPDATED))
        _check(self)

    def least_results(self, task: int) -> int:
        """The least number of results of a request whose options a task shows."""
        if isinstance(self.min_results, int):
            return self.min_results
        return self.min_results.get(task, LEAST_RESULTS)


def _completed(name: str, given: dict[int, Range], known: dict[int, Range]) -> dict[int, Range]:
    for task in given:
        if task not in known:
            able = ", ".join(map(str, known))
            raise DialgaugeError(f"{name} can be set for the tasks {able}, not for task {task}")
    return {**known, **given}


def _check(parameters: Parameters) -> None:
    if not 0 <= parameters.accept <= 1:
        raise DialgaugeError(f"the acceptance probability must be between 0 and 1 (got {parameters.accept})")
    if not 0 < parameters.pool_share < 1:
        raise DialgaugeError(f"the pool share must be above 0 and below 1 (got {parameters.pool_share})")
    if isinstance(parameters.min_results, dict):
        _completed("min_results", dict.fromkeys(parameters.min_results, (1, 1)), dict.fromkeys(_SHOWING, (1, 1)))
    least = min(map(parameters.least_results, _SHOWING))
    if least < 1:
        raise DialgaugeError(f"the minimum number of results must be at least 1 (got {least})")
    if not all(0 <= share < inf for share in parameters.info) or sum(parameters.info) <= 0:
        raise DialgaugeError("the shares of phone, address and both must not be negative, and not all zero")
    _ranges("fields", parameters.fields, least=0)
    _ranges("updates", parameters.updates, least=1)


def _ranges(name: str, ranges: dict[int, Range], *, least: int) -> None:
    most = len(FIELDS)
    for task, (low, high) in ranges.items():
        if not least <= low <= high <= most:
            raise DialgaugeError(
                f"{name} of task {task} must run from at least {least} to at most {most}, the smaller first, "
                f"not {low}-{high}"
            )
