"""What user and bot say in a restaurant world: patterns, and how a bot's sentence is read.

The bot has one sentence for each thing it can say; the user has several and picks one. A pattern may hold
placeholders such as ``{cuisine}``. The API call is part of the tasks' protocol and is the same in every world.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

#: The fields of a request, in the order in which the bot asks for them and the API call lists them.
FIELDS = ("cuisine", "location", "size", "price")
#: What a user can ask about a booked restaurant.
INFO = ("phone", "address")

API_CALL = "api_call"

Variants: TypeAlias = Annotated[tuple[str, ...], Meta(min_length=1)]
BotKind: TypeAlias = Literal[
    "greet", "on_it", "ask", "look", "api", "more", "option", "other", "reserve", "info", "anything", "welcome", ""
]
#: The bot's sentences that never change, by their name in a world file.
FIXED: tuple[BotKind, ...] = ("greet", "on_it", "look", "more", "other", "reserve", "anything", "welcome")


class BotPhrases(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


class UserPhrases(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The ways in which the user says each thing.

    ``request`` and ``answer`` have variants for each field, ``ask`` for phone and address. A request is an opener and
    pieces, an update its opener and one piece.
    """

    greet: Variants
    opener: Variants
    request: dict[str, Variants]
    at_name: Variants
    answer: dict[str, Variants]
    update: Variants
    no_more: Variants
    thanks: Variants
    reject: Variants
    accept: Variants
    ask: dict[str, Variants]
    nothing_else: Variants

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
