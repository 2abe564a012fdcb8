"""A world: the entities that exist, how restaurants are named, and what user and bot say about them.

The entities come in up to two halves that share prices, sizes and ratings but no location and no cuisine: half A for
training, development and test, half B for the out-of-vocabulary test. The bot has one sentence for each thing it can
say; the user has several and picks one. The API call is part of the tasks' protocol and is the same in every world.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.yaml_file import YamlDocument, merged, read_yaml, shipped_yaml

#: The world that is meant where none is named, and all that come with dialgauge.
DEFAULT_WORLD = "restaurant"
BUILT_IN = (DEFAULT_WORLD, "bakery")
#: The fields of a request, in the order in which the bot asks for them and the API call lists them.
FIELDS = ("cuisine", "location", "size", "price")
#: What a user can ask about a booked restaurant.
INFO = ("phone", "address")
API_CALL = "api_call"
PLACEHOLDERS = ("location", "price", "cuisine", "rating")
#: More restaurants than any study needs.
MOST_RESTAURANTS = 200_000

#: A whole request: cuisine, location, size, price.
Request: TypeAlias = tuple[str, str, str, str]
Words: TypeAlias = Annotated[tuple[str, ...], Meta(min_length=1)]
BotKind: TypeAlias = Literal[
    "greet", "on_it", "ask", "look", "api", "more", "option", "other", "reserve", "info", "anything", "welcome", ""
]
#: The bot's sentences without a placeholder, by their name in a world file.
FIXED: tuple[BotKind, ...] = ("greet", "on_it", "look", "more", "other", "reserve", "anything", "welcome")

_WORD = re.compile(r"[^\s{}]+")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


class BotPhrases(Struct, frozen=True, kw_only=True):
    """One sentence for each thing the bot says; ``ask`` has one for each field."""

    greet: str
    on_it: str
    ask: dict[str, str]
    look: str
    more: str
    option: str
    other: str
    reserve: str
    info: str
    anything: str
    welcome: str


class UserPhrases(Struct, frozen=True, kw_only=True):
    """The ways in which the user says each thing.

    ``request`` and ``answer`` have variants for each field, ``ask`` for phone and address. A request is an opener and
    pieces, an update its opener and one piece.
    """

    greet: Words
    opener: Words
    request: dict[str, Words]
    at_name: Words
    answer: dict[str, Words]
    update: Words
    no_more: Words
    thanks: Words
    reject: Words
    accept: Words
    ask: dict[str, Words]
    nothing_else: Words

    def words(self) -> frozenset[str]:
        """All words of these sentences, without the placeholders."""
        parts = (getattr(self, name) for name in self.__struct_fields__)
        groups = [group for part in parts for group in (part.values() if isinstance(part, dict) else [part])]
        words = {word for group in groups for sentence in group for word in sentence.split()}
        return frozenset(word for word in words if "{" not in word)


class Heard(Struct, frozen=True):
    """A bot's sentence understood: what kind it is, and its words: the field asked for, the name, the call's values."""

    kind: BotKind
    words: tuple[str, ...] = ()


class Phrases(Struct, frozen=True, dict=True):
    """All that is said in a world."""

    bot: BotPhrases
    user: UserPhrases

    @cached_property
    def _fixed(self) -> dict[str, Heard]:
        known = {getattr(self.bot, kind): Heard(kind) for kind in FIXED}
        return known | {self.bot.ask[field]: Heard("ask", (field,)) for field in FIELDS}

    @cached_property
    def _around(self) -> tuple[tuple[BotKind, str, str], ...]:
        """For the two sentences with a placeholder: what stands before and after it."""
        option, info = self.bot.option.split("{name}"), self.bot.info.split("{value}")
        return ("option", option[0], option[1]), ("info", info[0], info[1])

    def read(self, text: str) -> Heard:
        """Understand a bot's sentence; the kind is ``""`` for one that is none of the world's."""
        known = self._fixed.get(text)
        if known is not None:
            return known
        if text.startswith(API_CALL + " "):
            return Heard("api", tuple(text.split()[1:]))
        for kind, before, after in self._around:
            if text.startswith(before) and text.endswith(after) and len(text) > len(before) + len(after):
                return Heard(kind, (text[len(before) : len(text) - len(after)],))
        return Heard("")

    def api_call(self, values: Iterable[str]) -> str:
        """The call for a whole request: its values in the order of the fields."""
        return " ".join((API_CALL, *values))

    def option(self, name: str) -> str:
        """The bot proposes a restaurant."""
        return self.bot.option.replace("{name}", name)

    def info(self, value: str) -> str:
        """The bot tells a phone number or an address."""
        return self.bot.info.replace("{value}", value)

    def fixed_sentences(self) -> list[str]:
        """The sentences without placeholders, in the order of a dialog."""
        return list(self._fixed)


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


# World files


class _Half(Struct):
    locations: Words
    cuisines: Words


class _Halves(Struct):
    """Half B, for unseen entities, may be left out."""

    A: _Half
    B: _Half | None = None


class _File(Struct, kw_only=True):
    """A world as it is written."""

    title: str = "a world of one's own"
    domain: str = DEFAULT_WORLD
    name: str
    halves: _Halves
    prices: Words
    sizes: Words
    ratings: Annotated[tuple[int, ...], Meta(min_length=1)]
    phrases: Phrases


def load_world(source: str | Path = DEFAULT_WORLD) -> SimulatorWorld:
    """A built-in world by its name, or the world in a YAML file.

    A file with ``base: restaurant`` says only what differs from that world; without it, everything must be said.

    >>> import dialgauge
    >>> [dialogue] = dialgauge.simulate(dialgauge.load_world("bakery"), task=1)
    >>> dialogue.domains
    ('baeckerei',)
    """
    name = str(source)
    if name in BUILT_IN:
        return _world(_built_in(name))
    if not Path(name).exists() and not name.endswith((".yaml", ".yml")):
        raise DialgaugeError(f"there is no built-in world and no file named '{name}'.{nearest(name, BUILT_IN)}")
    content = dict(read_yaml(name, as_text=True).as_mapping("a world"))
    try:
        base = content.pop("base", None)
        if base is not None:
            if base not in BUILT_IN:
                raise DialgaugeError(f"there is no built-in world '{base}'.{nearest(str(base), BUILT_IN)}")
            content = merged(_built_in(base), content)
        return _world(content)
    except DialgaugeError as error:
        raise error.at(file=name) from None


def _built_in(name: str) -> dict[str, Any]:
    return shipped_yaml("dialgauge.worlds.restaurant", "worlds", f"{name}.yaml", as_text=True).as_mapping("a world")


def _world(content: dict[str, Any]) -> SimulatorWorld:
    file = YamlDocument(content, None, None).as_record(_File, "a world", strict=False)
    halves = {"A": file.halves.A, "B": file.halves.B}
    world = SimulatorWorld(
        title=file.title,
        domain=file.domain,
        name=file.name,
        halves=tuple(
            Half(name=name, locations=half.locations, cuisines=half.cuisines)
            for name, half in halves.items()
            if half is not None
        ),
        prices=file.prices,
        sizes=file.sizes,
        ratings=file.ratings,
        phrases=file.phrases,
    )
    check_world(world)
    return world


def check_world(world: SimulatorWorld) -> None:
    """Refuse a world whose entities are ambiguous, whose patterns lack a placeholder, or that is too large.

    Sentences that can be mistaken for each other show when a dialogue is simulated: the rule bot cannot complete it.
    """
    lists = [("prices", world.prices), ("sizes", world.sizes)]
    for half in world.halves:
        lists.append((f"locations of half {half.name}", half.locations))
        lists.append((f"cuisines of half {half.name}", half.cuisines))
        count = prod(map(len, (half.locations, half.cuisines, world.prices, world.ratings)))
        if count > MOST_RESTAURANTS:
            raise DialgaugeError(
                f"half {half.name} would have {count:,} restaurants, one for each location, cuisine, price and rating; "
                f"at most {MOST_RESTAURANTS:,} are possible"
            )
    seen: dict[str, str] = {}
    for where, values in (("domain", (world.domain,)), *lists):
        for value in values:
            if not _WORD.fullmatch(value):
                raise DialgaugeError(f"{where} holds '{value}', which is not one word; write underscores for spaces")
    for where, values in lists:
        for value in values:
            if before := seen.get(value.casefold()):
                raise DialgaugeError(f"the value '{value}' appears in {before} and in {where}; values must be unique")
            seen[value.casefold()] = where
    wanted = [f"{{{name}}}" for name in PLACEHOLDERS]
    if sorted(_PLACEHOLDER.findall(world.name)) != sorted(wanted) or world.name.split() != [world.name]:
        raise DialgaugeError(f"name '{world.name}' must be one word that holds each of {' '.join(wanted)} once")
    names = Counter(name for half in world.halves for name in world.restaurant_names(half))
    if twice := next((name for name, count in names.items() if count > 1), ""):
        raise DialgaugeError(f"two restaurants would be called '{twice}'; put a separator between the parts of name")
    _check_patterns(world.phrases)


def _check_patterns(phrases: Phrases) -> None:
    """Refuse a pattern that does not have exactly its placeholders, as whole words."""
    for where, group, keys in (
        ("bot.ask", phrases.bot.ask, FIELDS),
        ("user.request", phrases.user.request, FIELDS),
        ("user.answer", phrases.user.answer, FIELDS),
        ("user.ask", phrases.user.ask, INFO),
    ):
        if set(group) != set(keys):
            raise DialgaugeError(f"phrases.{where} needs the keys {', '.join(keys)}, and no others")
    for where, pattern, placeholder in _patterns(phrases):
        words = pattern.split()
        if not words or " ".join(words) != pattern:
            raise DialgaugeError(f"phrases.{where} '{pattern}' must be words separated by single spaces")
        if [word for word in words if "{" in word or "}" in word] != ([placeholder] if placeholder else []):
            need = f"{placeholder}, once, as a word of its own" if placeholder else "no placeholder"
            raise DialgaugeError(f"phrases.{where} '{pattern}' must hold {need}")


def _patterns(phrases: Phrases) -> Iterator[tuple[str, str, str]]:
    """Where each pattern stands, the pattern, and the placeholder that it must hold."""
    placeholders = {"bot.option": "{name}", "bot.info": "{value}", "user.at_name": "{name}"}
    for side, said in (("bot", phrases.bot), ("user", phrases.user)):
        for key in said.__struct_fields__:
            where, patterns = f"{side}.{key}", getattr(said, key)
            for part, group in patterns.items() if isinstance(patterns, dict) else [("", patterns)]:
                own = f"{{{part}}}" if key in ("request", "answer") else placeholders.get(where, "")
                for pattern in (group,) if isinstance(group, str) else group:
                    yield f"{where}.{part}".rstrip("."), pattern, own
