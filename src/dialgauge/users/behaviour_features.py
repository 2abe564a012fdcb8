"""What a user does in a conversation, as numbers: one row of a table for each, with what it counts.

Every rule reads the words and turns alone, so that corpora with and without dialogue acts are counted alike; the rows
that need acts are undefined where none are recorded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from dialgauge.dialogue import Act, Dialogue
from dialgauge.intents import INFORM
from dialgauge.users.faults import plain_text, sentences, weighty, words

_QUESTION_STARTS = frozenset(
    """
    what what's when where which who whose why how can could do does did is are was will would may shall
    """.split()  # noqa: SIM905
)
_POLITE = re.compile(r"\b(?:please|thanks?|thank you|appreciated?|grateful|sorry|excuse me|pardon)\b", re.IGNORECASE)
_GREETING = re.compile(r"\W*(?:hi|hello|hey|howdy|greetings|good (?:morning|afternoon|evening|day))\b", re.IGNORECASE)
_CLOSING = re.compile(
    r"\b(?:thanks?|thank you|good ?bye|bye|that is all|that's all|that will be all|that'll be all|have a \w+ day)\b",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"\b(?:actually|i mean(?:t)?|instead|scratch that|correction|my mistake|i misspoke|changed? my mind|"
    r"on second thoughts?)\b|\A\W*wait\b|\A\W*no\W+(?:i|it|that|the|not)\b|\bnot what i\b",
    re.IGNORECASE,
)
_DETAIL_WORDS = frozenset(
    """
    two three four five six seven eight nine ten eleven twelve noon midnight today tonight tomorrow monday tuesday
    wednesday thursday friday saturday sunday january february march april june july august september october november
    december
    """.split()  # noqa: SIM905
)
#: Six or more letters and digits mixed (not ``1500dollars``), or seven or more digits; a date is no identifier.
_CODE = re.compile(r"(?!\d+[a-z]+\Z)(?=\w*\d)(?=\w*[a-z])[a-z0-9_]{6,}|\d{7,}")
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?-\d\d?-\d{4}")
#: Words of a message that is a mere answer, and the least that one needs to count as said again.
_SHORT, _REPEATED = 3, 3
_NO_VALUES = frozenset({"", "?", "none"})


class UserMessage(Struct, frozen=True):
    """What the user said in one turn: without stop tokens, and which of it the other side had said before."""

    text: str
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    weighty: tuple[str, ...]
    heard: frozenset[str]
    acts: tuple[Act, ...] | None

    @property
    def informs(self) -> list[tuple[tuple[str, str], str]]:
        """Domain and slot with a value, for each value that an inform act tells."""
        return [
            ((act.domain.lower(), act.slot.lower()), value.lower())
            for act in self.acts or ()
            for value in act.values
            if act.intent == INFORM and value.lower() not in _NO_VALUES
        ]


class UserTalk(Struct, frozen=True):
    """One conversation, the user's side of it: at least one message."""

    messages: tuple[UserMessage, ...]
    has_text: bool
    has_acts: bool
    last_word: bool


def user_talk(dialogue: Dialogue) -> UserTalk | None:
    """The user's messages; None where it never speaks. A turn that another of the user follows went to a tool."""
    turns = [turn for turn in dialogue.turns if plain_text(turn.text) or turn.acts or turn.speaker == "system"]
    messages: list[UserMessage] = []
    heard: set[str] = set()
    for index, turn in enumerate(turns):
        if turn.speaker == "system":
            heard.update(words(turn.text), _tokens(turn.text))
        elif index + 1 == len(turns) or turns[index + 1].speaker == "system":
            text = plain_text(turn.text)
            tokens, own = tuple(_tokens(text)), tuple(words(text))
            known = frozenset({*tokens, *own} & heard)
            messages.append(UserMessage(text, tokens, own, tuple(weighty(text)), known, turn.acts))
    if not messages:
        return None
    return UserTalk(
        messages=tuple(messages),
        has_text=any(message.text for message in messages),
        has_acts=any(message.acts for message in messages),
        last_word=dialogue.turns[-1].speaker == "user",
    )


def _tokens(text: str) -> list[str]:
    """Between spaces, without punctuation at the ends: times, prices and codes stay whole."""
    return [token for part in text.lower().split() if (token := part.strip(".,;:!?()[]{}\"'*#$£€`"))]


def is_detail(token: str) -> bool:
    """A figure, a number in words, a day, a month."""
    return token in _DETAIL_WORDS or any(sign.isdigit() for sign in token)


def is_identifier(token: str) -> bool:
    """A code or a long number: ``tr8658``, ``emma_kim_9957``, ``555-123-2002``."""
    return not _DATE.fullmatch(token) and _CODE.fullmatch(token.replace("-", "")) is not None


def is_question(text: str) -> bool:
    """A question mark, or a sentence that begins as questions do."""
    return "?" in text or any(set(words(part)[:1]) & _QUESTION_STARTS for part in sentences(text))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _share_of_messages(holds: Callable[[str], object]) -> Callable[[UserTalk], float]:
    return lambda talk: _mean([bool(holds(message.text)) for message in talk.messages])


def _first(talk: UserTalk, holds: Callable[[UserMessage], object]) -> float | None:
    return next((index for index, message in enumerate(talk.messages, 1) if holds(message)), None)


def _details(message: UserMessage) -> int:
    return sum(map(is_detail, message.tokens))


def _own_identifiers(message: UserMessage) -> list[str]:
    return [token for token in message.tokens if is_identifier(token) and token not in message.heard]


def _new_words(talk: UserTalk) -> float:
    used: set[str] = set()
    new = 0
    for message in talk.messages:
        new += len(set(message.weighty) - message.heard - used)
        used.update(message.weighty)
    return new / len(talk.messages)


def _words_again(talk: UserTalk) -> float | None:
    used: set[str] = set()
    again = total = 0
    for message in talk.messages:
        again += sum(word in used for word in message.weighty)
        total += len(message.weighty)
        used.update(message.weighty)
    return again / total if total else None


def _repeated(talk: UserTalk) -> float:
    sent: set[tuple[str, ...]] = set()
    again = 0
    for message in talk.messages:
        again += len(message.words) >= _REPEATED and message.words in sent
        sent.add(message.words)
    return again / len(talk.messages)


def _changed_values(talk: UserTalk) -> float:
    before: dict[tuple[str, str], set[str]] = {}
    changed = 0
    for message in talk.messages:
        changed += any(value not in before.get(slot, {value}) for slot, value in message.informs)
        for slot, value in message.informs:
            before.setdefault(slot, set()).add(value)
    return changed / len(talk.messages)


class Feature(Struct, frozen=True):
    """One row of a profile: a number for each conversation, undefined where it has none."""

    name: str
    needs: Literal["turns", "text", "acts"]
    #: Whether the number is a share, or of conversations of which it holds or does not.
    share: bool
    counts: str
    measure: Callable[[UserTalk], float | None]

    def of(self, talk: UserTalk) -> float | None:
        """Its value, None where the conversation lacks what it needs."""
        recorded = {"turns": True, "text": talk.has_text, "acts": talk.has_acts}
        value = self.measure(talk) if recorded[self.needs] else None
        return None if value is None else float(value)


FEATURES = (
    Feature("messages", "turns", False, "messages of the user", lambda talk: len(talk.messages)),
    Feature("words/message", "text", False, "words, stop tokens left out",
            lambda talk: _mean([len(message.words) for message in talk.messages])),
    Feature("words in first", "text", False, "words of the first message", lambda talk: len(talk.messages[0].words)),
    Feature("short messages", "text", True, "messages of three words or fewer",
            lambda talk: _mean([len(message.words) <= _SHORT for message in talk.messages])),
    Feature("details/message", "text", False, "figures, numbers in words, days and months",
            lambda talk: _mean([_details(message) for message in talk.messages])),
    Feature("new words/message", "text", False, "words that carry matter and that neither side has said",
            _new_words),
    Feature("first detail at", "text", False, "number of the first message with a detail",
            lambda talk: _first(talk, _details)),
    Feature("gives an id", "text", True, "conversations in which the user gives a code of six or more letters "
            "and digits, or a number of seven digits, that the other side has not said",
            lambda talk: _first(talk, _own_identifiers) is not None),
    Feature("first id at", "text", False, "number of the first such message",
            lambda talk: _first(talk, _own_identifiers)),
    Feature("informs/message", "acts", False, "values that inform acts tell",
            lambda talk: _mean([len(message.informs) for message in talk.messages])),
    Feature("first inform at", "acts", False, "number of the first message that tells a value",
            lambda talk: _first(talk, lambda message: message.informs)),
    Feature("questions", "text", True, "messages with a question mark, or a sentence that begins as questions do",
            _share_of_messages(is_question)),
    Feature("corrections", "text", True, "messages with words such as actually, I meant, instead; or wait, or no with "
            "more behind it, at the beginning", _share_of_messages(_CORRECTION.search)),
    Feature("changed values", "acts", True, "messages that tell another value of a slot than before, as written",
            _changed_values),
    Feature("polite messages", "text", True, "messages with please, thanks, sorry and the like",
            _share_of_messages(_POLITE.search)),
    Feature("greets", "text", True, "conversations whose first message begins with a greeting",
            lambda talk: _GREETING.match(talk.messages[0].text) is not None),
    Feature("repeated messages", "text", True, "messages of three words or more that the user has sent "
            "before, word for word", _repeated),
    Feature("words said again", "text", True, "words that carry matter and that the user has said before",
            _words_again),
    Feature("ends with thanks", "text", True, "conversations whose last message thanks or takes leave",
            lambda talk: _CLOSING.search(talk.messages[-1].text) is not None),
    Feature("ends by asking", "text", True, "conversations whose last message asks",
            lambda talk: is_question(talk.messages[-1].text)),
    Feature("has the last word", "turns", True, "conversations whose last turn is the user's",
            lambda talk: talk.last_word),
)  # fmt: skip
