"""A world of one's own: a small YAML file, read safely and checked; and the worlds that come with dialgauge."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import SILENCE
from dialgauge.worlds.restaurant.phrases import API_CALL, FIELDS, FIXED, INFO, Phrases, UserPhrases
from dialgauge.worlds.restaurant.world import DEFAULT_WORLD, PLACEHOLDERS, Half, SimulatorWorld
from dialgauge.yaml_file import as_record, merged, read_yaml, shipped_yaml

#: The worlds that come with dialgauge.
BUILT_IN = (DEFAULT_WORLD, "bakery")

_WORD = re.compile(r"[^\s{}]+")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
#: More restaurants than any study needs; a world with more is a slip.
MOST_RESTAURANTS = 200_000


_Words: TypeAlias = Annotated[list[str | int], Meta(min_length=1)]


class _Half(Struct, frozen=True):
    locations: _Words
    cuisines: _Words


class _Halves(Struct, frozen=True):
    """A is the half for training and test; B, for unseen entities, may be left out."""

    A: _Half
    B: _Half | UnsetType = UNSET


class _File(Struct, frozen=True, kw_only=True):
    """A world as it is written."""

    title: Annotated[str, Meta(pattern=r"\S")] = "a world of one's own"
    domain: str = DEFAULT_WORLD
    name: str
    halves: _Halves
    prices: _Words
    sizes: _Words
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
    content = dict(read_yaml(name).as_mapping("a world"))
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
    return shipped_yaml("dialgauge.worlds.restaurant", "worlds", f"{name}.yaml").as_mapping("a world")


def _world(content: dict[str, Any]) -> SimulatorWorld:
    file = as_record(content, _File, "a world")
    bot, user = file.phrases.bot, file.phrases.user
    _refuse_other_keys(bot.ask, FIELDS, "phrases.bot.ask")
    _refuse_other_keys(user.request, FIELDS, "phrases.user.request")
    _refuse_other_keys(user.answer, FIELDS, "phrases.user.answer")
    _refuse_other_keys(user.ask, INFO, "phrases.user.ask")
    halves = {"A": file.halves.A} | ({"B": file.halves.B} if file.halves.B is not UNSET else {})
    world = SimulatorWorld(
        title=file.title,
        domain=_word(file.domain, "domain"),
        name=file.name,
        halves=tuple(
            Half(
                name=name,
                locations=_words(half.locations, f"halves.{name}.locations"),
                cuisines=_words(half.cuisines, f"halves.{name}.cuisines"),
            )
            for name, half in halves.items()
        ),
        prices=_words(file.prices, "prices"),
        sizes=_words(file.sizes, "sizes"),
        ratings=file.ratings,
        phrases=file.phrases,
    )
    check_world(world)
    return world


def _refuse_other_keys(given: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if key not in known:
            raise DialgaugeError(f"{where} has no key '{key}'.{nearest(key, known)}")
    if missing := [key for key in known if key not in given]:
        raise DialgaugeError(f"{where} lacks {', '.join(missing)}")


def _word(given: str | int, where: str) -> str:
    word = str(given)
    if not _WORD.fullmatch(word):
        raise DialgaugeError(f"{where} holds '{word}', which is not one word; write underscores for spaces")
    return word


def _words(given: Sequence[str | int], where: str) -> tuple[str, ...]:
    return tuple(_word(word, where) for word in given)


def check_world(world: SimulatorWorld) -> None:
    """Refuse a world that is ambiguous or too large, before anything is simulated in it.

    Most of it protects one property: a bot that knows the words and the phrases can understand every utterance.
    """
    _unique_values(world)
    _size(world)
    _name_pattern(world)
    _patterns(world)
    _bot_sentences(world.phrases)
    _user_sentences(world.phrases.user)


def _unique_values(world: SimulatorWorld) -> None:
    """A value names one thing: it may stand in one list only, once (upper and lower case do not differ)."""
    lists = [("prices", world.prices), ("sizes", world.sizes)]
    for half in world.halves:
        lists.append((f"locations of half {half.name}", half.locations))
        lists.append((f"cuisines of half {half.name}", half.cuisines))
    seen: dict[str, str] = {}
    for where, values in lists:
        for value in values:
            before = seen.setdefault(value.casefold(), where)
            if before is not where:
                raise DialgaugeError(f"the value '{value}' appears in {before} and in {where}; values must be unique")
        _twice(where, [value.casefold() for value in values])
    _twice("ratings", [str(rating) for rating in world.ratings])


def _twice(where: str, values: Iterable[str]) -> None:
    for value, count in Counter(values).items():
        if count > 1:
            raise DialgaugeError(f"the value '{value}' appears {count} times in {where}; values must be unique")


def _size(world: SimulatorWorld) -> None:
    for half in world.halves:
        count = prod(map(len, (half.locations, half.cuisines, world.prices, world.ratings)))
        if count > MOST_RESTAURANTS:
            raise DialgaugeError(
                f"half {half.name} would have {count:,} restaurants, one for each location, cuisine, price and rating; "
                f"at most {MOST_RESTAURANTS:,} are possible"
            )


def _name_pattern(world: SimulatorWorld) -> None:
    if sorted(_PLACEHOLDER.findall(world.name)) != sorted(PLACEHOLDERS):
        wanted = " ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise DialgaugeError(f"name '{world.name}' must hold each of {wanted} once and nothing else in braces")
    if world.name.split() != [world.name]:
        raise DialgaugeError(f"name '{world.name}' must be one word; write underscores for spaces")
    names = [name for half in world.halves for name in world.restaurant_names(half)]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise DialgaugeError(f"two restaurants would be called '{twice}'; put a separator between the parts of name")


def _patterns(world: SimulatorWorld) -> None:
    """Every pattern has exactly its placeholders, as whole words, and no value of the world besides."""
    values = {v.casefold() for half in world.halves for field in FIELDS for v in world.values(half)[field]}
    for where, pattern, wanted in _all_patterns(world.phrases):
        words = pattern.split()
        if not words or " ".join(words) != pattern:
            raise DialgaugeError(f"phrases.{where} '{pattern}' must be words separated by single spaces")
        if [word for word in words if "{" in word or "}" in word] != [f"{{{name}}}" for name in wanted]:
            need = " and ".join(f"{{{name}}}" for name in wanted) or "no placeholder"
            raise DialgaugeError(f"phrases.{where} '{pattern}' must hold {need}, once, as a word of its own")
        clash = next((word for word in words if word.casefold() in values), None)
        if clash is not None:
            raise DialgaugeError(
                f"phrases.{where} '{pattern}' holds the word '{clash}', which is a value of this world; "
                "a bot could not tell them apart"
            )


def _all_patterns(phrases: Phrases) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Where each pattern stands, the pattern, and the placeholders it must hold."""
    bot, user = phrases.bot, phrases.user
    for kind in FIXED:
        yield f"bot.{kind}", getattr(bot, kind), ()
    yield from ((f"bot.ask.{field}", bot.ask[field], ()) for field in FIELDS)
    yield "bot.option", bot.option, ("name",)
    yield "bot.info", bot.info, ("value",)
    for key in ("greet", "opener", "update", "no_more", "thanks", "reject", "accept", "nothing_else"):
        yield from ((f"user.{key}", pattern, ()) for pattern in getattr(user, key))
    yield from (("user.at_name", pattern, ("name",)) for pattern in user.at_name)
    for field in FIELDS:
        yield from ((f"user.request.{field}", pattern, (field,)) for pattern in user.request[field])
        yield from ((f"user.answer.{field}", pattern, (field,)) for pattern in user.answer[field])
    for about in INFO:
        yield from ((f"user.ask.{about}", pattern, ()) for pattern in user.ask[about])


def _bot_sentences(phrases: Phrases) -> None:
    """Each sentence of the bot is understood as what it is."""
    kinds = [(kind, getattr(phrases.bot, kind)) for kind in FIXED]
    kinds += [("ask", phrases.bot.ask[field]) for field in FIELDS]
    kinds += [("option", phrases.option("x")), ("info", phrases.info("x"))]
    if len({sentence for _, sentence in kinds}) < len(kinds):
        twice = Counter(sentence for _, sentence in kinds).most_common(1)[0][0]
        raise DialgaugeError(f"the bot says '{twice}' for two different things; its sentences must differ")
    for kind, sentence in kinds:
        if sentence.split()[0] == API_CALL or phrases.read(sentence).kind != kind:
            raise DialgaugeError(f"the bot's sentence '{sentence}' ({kind}) can be mistaken for another; reword it")


def _user_sentences(user: UserPhrases) -> None:
    """What the user says once the request is made means one thing only."""
    groups = [(key, getattr(user, key)) for key in ("no_more", "thanks", "reject", "accept", "nothing_else")]
    groups += [(f"ask.{about}", user.ask[about]) for about in INFO]
    seen: dict[str, str] = {SILENCE: "silence"}
    for where, sentences in groups:
        for sentence in sentences:
            before = seen.setdefault(sentence, where)
            if before is not where:
                raise DialgaugeError(f"the user says '{sentence}' for {before} and for {where}; they must differ")
            if any(sentence.startswith(f"{opener} ") for opener in user.update):
                raise DialgaugeError(f"the user's '{sentence}' ({where}) begins like an update; reword it")
