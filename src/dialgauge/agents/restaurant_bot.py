"""The rule bot: solves tasks 1 to 5 completely, in the released files and in conversation.

It knows the values and names of the knowledge base and the sentences of the world; what it proposes and tells comes
from the facts shown in the dialog.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from dialgauge.agents.protocol import Database, Reply, SystemContext
from dialgauge.dialogue import Fact, Turn
from dialgauge.formats import is_silence
from dialgauge.worlds.restaurant import FIELDS, INFO, FactDatabase, Heard, Phrases, WorldLexicon, lexicon_of

_START = Heard("")
_THANKS = frozenset({"thank", "thanks"})


class FollowingBot(ABC):
    """A bot that follows a dialog: what it said counts when the user goes on, and may be overruled until then."""

    _last: str | None = None
    #: Whether the last answer was given for want of a better one: nothing in it has to do with what the user said.
    lost = False

    @abstractmethod
    def start(self, context: SystemContext) -> None:
        """Forget everything: a new dialog begins."""

    def respond(self, turn: Turn | None) -> Reply:
        """The answer to what the user said."""
        if self._last is not None:
            self._said(self._last)
        if turn is not None:
            self._hear(turn.text, turn.results)
        self.lost = False
        self._last = self._reply()
        return Reply(turn=Turn(speaker="system", text=self._last))

    def overrule(self, turn: Turn) -> None:
        self._last = turn.text

    def take_back(self) -> None:
        """The last answer counts as not given."""
        self._last = None

    @abstractmethod
    def understands(self, text: str) -> bool:
        """Whether any word that the user says means something to the bot."""

    @abstractmethod
    def _hear(self, text: str, facts: Iterable[Fact] | None) -> None:
        """Take in what was shown and said."""

    @abstractmethod
    def _said(self, text: str) -> None:
        """Remember what the bot said."""

    @abstractmethod
    def _reply(self) -> str:
        """What the bot says now."""


class RuleBot(FollowingBot):
    """Hears the user and what the knowledge base showed, then replies.

    Its words are those of the lexicon given, or else of the database that it is started with.
    """

    name = "restaurant-bot"

    def __init__(self, phrases: Phrases, lexicon: WorldLexicon | None = None) -> None:
        self._phrases, self._given = phrases, lexicon
        self._openers = tuple(f"{opener} " for opener in phrases.user.update)
        self._cues = _cues(phrases)
        self._words = phrases.user.words()

    def start(self, context: SystemContext) -> None:
        """Forget everything: a new dialog begins."""
        self._lexicon = self._given or lexicon_of_database(context.database)
        self._slots: dict[str, str] = {}
        self._facts: dict[str, dict[str, str]] = {}
        self._offered: set[str] = set()
        self._selected = ""
        self._booked = False
        self._previous = _START
        self._text = ""
        self._last = None

    def understands(self, text: str) -> bool:
        known = (self._words, self._lexicon.fields, self._lexicon.names)
        return any(word in words for word in text.split() for words in known)

    def _hear(self, text: str, facts: Iterable[Fact] | None) -> None:
        """Take in facts shown and words said; later mentions of a field overwrite earlier ones."""
        if facts is not None:
            self._facts = {}
            for fact in facts:
                self._facts.setdefault(fact.entity, {})[fact.relation] = fact.value
        self._text = text.strip()
        if is_silence(text):
            return
        for word in self._text.split():
            field = self._lexicon.fields.get(word)
            if field is not None:
                self._slots[field] = word
        if self._text.startswith(self._openers):
            # What was found for the old request is of no use for the new one.
            self._facts, self._offered, self._selected = {}, set(), ""

    def _said(self, text: str) -> None:
        """Remember what the bot said: it may have proposed or booked a restaurant."""
        self._previous = self._phrases.read(text.strip())
        if self._previous.kind == "option":
            self._selected = self._previous.words[0]
            self._offered.add(self._selected)
        elif self._previous.kind == "reserve":
            named = self._named()
            self._selected, self._booked = named or self._selected, True

    def _reply(self) -> str:
        bot, user, previous = self._phrases.bot, self._phrases.user, self._previous.kind
        if self._previous is _START:
            return bot.greet
        if is_silence(self._text):
            return self._unasked()
        if previous == "greet":
            return bot.reserve if self._named() else bot.on_it
        if previous == "ask":
            return self._question()
        if self._text.startswith(self._openers):
            return bot.more
        if self._text in user.no_more:
            return bot.look
        if self._text in user.nothing_else:
            return bot.welcome
        if previous == "option":
            return bot.other if self._text in user.reject else bot.reserve
        about = self._asked_about()
        if about:
            return self._phrases.info(
                self._facts.get(self._selected, {}).get(f"R_{about}", f"{self._selected}_{about}")
            )
        self.lost = not self._booked and self._text not in user.thanks and not _THANKS & set(self._text.split())
        return bot.anything if self._booked else bot.welcome

    def _unasked(self) -> str:
        """The user is silent: the bot goes on with what it announced."""
        if self._previous.kind == "on_it":
            return self._question()
        if self._previous.kind == "look" and not self._facts:
            return self._phrases.api_call(self._slots.get(field, f"R_{field}") for field in FIELDS)
        return self._option()

    def _question(self) -> str:
        """Ask for the first missing field; when none is missing, go and look."""
        missing = next((field for field in FIELDS if field not in self._slots), None)
        return self._phrases.bot.look if missing is None else self._phrases.bot.ask[missing]

    def _option(self) -> str:
        """The best rated restaurant not yet proposed; when there is none, the request has to change."""
        left = [name for name in self._facts if name not in self._offered]
        if not left:
            return self._phrases.bot.more
        return self._phrases.option(max(left, key=self._rating))

    def _rating(self, name: str) -> tuple[bool, int]:
        """For sorting: one whose rating is not shown comes after all others."""
        rating = self._facts[name].get("R_rating", "")
        known = rating.removeprefix("-").isdecimal()
        return known, int(rating) if known else 0

    def _named(self) -> str:
        """The restaurant the user names, if any."""
        return next((word for word in reversed(self._text.split()) if word in self._lexicon.names), "")

    def _asked_about(self) -> str:
        """``phone`` or ``address`` when the user asks for it: one of the world's questions, or its telling word."""
        words = set(self._text.split())
        for about in INFO:
            if self._text in self._phrases.user.ask[about] or words & self._cues[about]:
                return about
        return ""


def lexicon_of_database(database: Database) -> WorldLexicon:
    """The words of a database; one of ours keeps them from dialog to dialog."""
    return database.lexicon if isinstance(database, FactDatabase) else lexicon_of(database.facts)


def _cues(phrases: Phrases) -> dict[str, frozenset[str]]:
    """For phone and address, the words that all questions about it have and those about the other have not."""
    words = {about: [set(question.split()) for question in phrases.user.ask[about]] for about in INFO}
    everywhere = {about: set.intersection(*words[about]) for about in INFO}
    anywhere = {about: set.union(*words[about]) for about in INFO}
    phone, address = INFO
    return {
        phone: frozenset(everywhere[phone] - anywhere[address]),
        address: frozenset(everywhere[address] - anywhere[phone]),
    }
