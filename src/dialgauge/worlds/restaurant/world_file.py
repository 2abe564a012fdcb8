"""A world of one's own: a small YAML file, read safely and checked; and the worlds that come with dialgauge."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from math import prod
from pathlib import Path
from typing import Any

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import SILENCE
from dialgauge.worlds.restaurant.phrases import API_CALL, FIELDS, FIXED, INFO, BotPhrases, Phrases, UserPhrases
from dialgauge.worlds.restaurant.world import PLACEHOLDERS, Half, World
from dialgauge.yaml_file import parse_yaml, read_yaml

#: The worlds that come with dialgauge.
BUILT_IN = ("restaurant", "bakery")

_KEYS = ("title", "domain", "name", "halves", "prices", "sizes", "ratings", "phrases")
_WORD = re.compile(r"[^\s{}]+")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
#: More restaurants than any study needs; a world with more is a slip.
MOST_RESTAURANTS = 200_000


def load_world(source: str | Path = "restaurant") -> World:
    """A built-in world by its name, or the world in a YAML file.

    A file with ``base: restaurant`` says only what differs from that world; without it, everything must be said.
    """
    name = str(source)
    if name in BUILT_IN:
        return _world(_built_in(name))
    if not Path(name).exists() and not name.endswith((".yaml", ".yml")):
        raise DialgaugeError(f"there is no built-in world and no file named '{name}'.{nearest(name, BUILT_IN)}")
    raw = _mapping(read_yaml(name).content, "the file", name)
    try:
        base = raw.pop("base", None)
        if base is not None:
            if base not in BUILT_IN:
                raise DialgaugeError(f"there is no built-in world '{base}'.{nearest(str(base), BUILT_IN)}")
            raw = _merged(_built_in(base), raw)
        return _world(raw)
    except DialgaugeError as error:
        raise error.at(file=name) from None


def _built_in(name: str) -> dict[str, Any]:
    text = resources.files("dialgauge.worlds.restaurant").joinpath("worlds", f"{name}.yaml").read_text("utf-8")
    return _mapping(parse_yaml(text, name).content, "the file", name)


def _merged(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """The base with what the other says: mappings are merged, everything else is replaced."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _world(raw: dict[str, Any]) -> World:
    raw = {"title": "a world of one's own", "domain": "restaurant", **raw}
    _keys(raw, _KEYS, "a world")
    phrases = _mapping(raw["phrases"], "phrases")
    _keys(phrases, ("bot", "user"), "phrases")
    world = World(
        title=_line(raw["title"], "title"),
        domain=_word(raw["domain"], "domain"),
        name=_line(raw["name"], "name"),
        halves=_halves(raw["halves"]),
        prices=_words(raw["prices"], "prices"),
        sizes=_words(raw["sizes"], "sizes"),
        ratings=_numbers(raw["ratings"], "ratings"),
        phrases=Phrases(bot=_bot(phrases["bot"]), user=_user(phrases["user"])),
    )
    check_world(world)
    return world


def _halves(raw: Any) -> tuple[Half, ...]:
    halves = _mapping(raw, "halves")
    unknown = next((key for key in halves if key not in ("A", "B")), None)
    if unknown is not None:
        raise DialgaugeError(f"halves holds '{unknown}'; the halves are called A and B")
    if "A" not in halves:
        raise DialgaugeError("halves needs A, the half for training and test (B, for unseen entities, may be left out)")
    checked = []
    for name in sorted(halves):
        where = f"halves.{name}"
        half = _mapping(halves[name], where)
        _keys(half, ("locations", "cuisines"), where)
        checked.append(
            Half(
                name=name,
                locations=_words(half["locations"], f"{where}.locations"),
                cuisines=_words(half["cuisines"], f"{where}.cuisines"),
            )
        )
    return tuple(checked)


def _bot(raw: Any) -> BotPhrases:
    said = _mapping(raw, "phrases.bot")
    _keys(said, BotPhrases.__struct_fields__, "phrases.bot")
    ask = _mapping(said["ask"], "phrases.bot.ask")
    _keys(ask, FIELDS, "phrases.bot.ask")
    plain = {key: _line(value, f"phrases.bot.{key}") for key, value in said.items() if key != "ask"}
    return BotPhrases(**plain, ask={key: _line(value, f"phrases.bot.ask.{key}") for key, value in ask.items()})


def _user(raw: Any) -> UserPhrases:
    said = _mapping(raw, "phrases.user")
    _keys(said, UserPhrases.__struct_fields__, "phrases.user")
    checked: dict[str, Any] = {}
    for key, value in said.items():
        where = f"phrases.user.{key}"
        groups = {"request": FIELDS, "answer": FIELDS, "ask": INFO}.get(key)
        if groups is None:
            checked[key] = _lines(value, where)
            continue
        group = _mapping(value, where)
        _keys(group, groups, where)
        checked[key] = {name: _lines(lines, f"{where}.{name}") for name, lines in group.items()}
    return UserPhrases(**checked)


def _mapping(raw: Any, where: str, file: str | None = None) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise DialgaugeError(f"{where} must hold keys with values, such as 'key: value'", file=file)
    return {str(key): value for key, value in raw.items()}


def _keys(raw: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Exactly the known keys, no other and none missing."""
    names = tuple(known)
    for key in raw:
        if key not in names:
            raise DialgaugeError(f"{where} has no key '{key}'.{nearest(key, names)}")
    missing = [name for name in names if name not in raw]
    if missing:
        raise DialgaugeError(f"{where} lacks {', '.join(missing)}")


def _list(raw: Any, where: str) -> list[Any]:
    if not isinstance(raw, list) or not raw:
        raise DialgaugeError(f"{where} must be a list with at least one value")
    return raw


def _line(raw: Any, where: str) -> str:
    if isinstance(raw, bool):
        raise DialgaugeError(f"{where} reads as yes or no in YAML; put the word in quotes")
    if not isinstance(raw, (str, int)) or not str(raw).strip():
        raise DialgaugeError(f"{where} lacks its text")
    return str(raw)


def _lines(raw: Any, where: str) -> tuple[str, ...]:
    return tuple(_line(item, where) for item in _list(raw, where))


def _word(raw: Any, where: str) -> str:
    word = _line(raw, where)
    if not _WORD.fullmatch(word):
        raise DialgaugeError(f"{where} holds '{word}', which is not one word; write underscores for spaces")
    return word


def _words(raw: Any, where: str) -> tuple[str, ...]:
    return tuple(_word(item, where) for item in _list(raw, where))


def _numbers(raw: Any, where: str) -> tuple[int, ...]:
    for item in _list(raw, where):
        if not isinstance(item, int) or isinstance(item, bool):
            raise DialgaugeError(f"{where} must be whole numbers, not {item!r}")
    return tuple(raw)


def check_world(world: World) -> None:
    """Refuse a world that is ambiguous or too large, before anything is simulated in it.

    Most of it protects one property: a bot that knows the words and the phrases can understand every utterance.
    """
    _unique_values(world)
    _size(world)
    _name_pattern(world)
    _patterns(world)
    _bot_sentences(world.phrases)
    _user_sentences(world.phrases.user)


def _unique_values(world: World) -> None:
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


def _size(world: World) -> None:
    for half in world.halves:
        count = prod(map(len, (half.locations, half.cuisines, world.prices, world.ratings)))
        if count > MOST_RESTAURANTS:
            raise DialgaugeError(
                f"half {half.name} would have {count:,} restaurants, one for each location, cuisine, price and rating; "
                f"at most {MOST_RESTAURANTS:,} are possible"
            )


def _name_pattern(world: World) -> None:
    if sorted(_PLACEHOLDER.findall(world.name)) != sorted(PLACEHOLDERS):
        wanted = " ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise DialgaugeError(f"name '{world.name}' must hold each of {wanted} once and nothing else in braces")
    if world.name.split() != [world.name]:
        raise DialgaugeError(f"name '{world.name}' must be one word; write underscores for spaces")
    names = [name for half in world.halves for name in world.restaurant_names(half)]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise DialgaugeError(f"two restaurants would be called '{twice}'; put a separator between the parts of name")


def _patterns(world: World) -> None:
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
