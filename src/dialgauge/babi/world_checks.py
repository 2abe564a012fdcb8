"""What must hold for a world before anything is simulated in it, each with the sentence a user reads when it does not.

Most of it protects one property: a bot that knows the words and the phrases can understand every utterance.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from math import prod

from dialgauge.babi.phrases import API_CALL, FIELDS, FIXED, INFO, Phrases, UserPhrases
from dialgauge.babi.world import PLACEHOLDERS, World
from dialgauge.errors import DialgaugeError
from dialgauge.formats.babi import SILENCE

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


#: More restaurants than any study needs; a world with more is a slip.
MOST_RESTAURANTS = 200_000


def check_world(world: World) -> None:
    """Refuse a world that is ambiguous or too large."""
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
                raise DialgaugeError(f"the value '{value}' stands in {before} and in {where}; values must be unique")
        _twice(where, [value.casefold() for value in values])
    _twice("ratings", [str(rating) for rating in world.ratings])


def _twice(where: str, values: Iterable[str]) -> None:
    for value, count in Counter(values).items():
        if count > 1:
            raise DialgaugeError(f"the value '{value}' stands {count} times in {where}; values must be unique")


def _size(world: World) -> None:
    for half in world.halves:
        count = prod(map(len, (half.locations, half.cuisines, world.prices, world.ratings)))
        if count > MOST_RESTAURANTS:
            raise DialgaugeError(
                f"half {half.name} would have {count:,} restaurants, one for each location, cuisine, price and rating; "
                f"at most {MOST_RESTAURANTS:,} are possible"
            )


def _name_pattern(world: World) -> None:
    found = _PLACEHOLDER.findall(world.name)
    if sorted(found) != sorted(PLACEHOLDERS):
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
