"""The check of orders about manner: does the user mention by itself what it was told not to mention?

An order is followed as far as its words allow: it must say what is not to be mentioned, and a condition must be that
the agent speaks of it first. Any other order is counted among those that were not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from dialgauge.users.faults.conversation_view import LIGHT, ConversationView, sentences, words
from dialgauge.users.faults.fault_records import FaultFindings, UserFault, not_checked, runs_of

#: Says only what it is asked for.
REACTIVE = re.compile(
    r"\breactive\b|\bonly (?:share|answer|provide|say)|not (?:say|share|volunteer) anything", re.IGNORECASE
)
_ASIDE = re.compile(r"\([^)]*\)")
#: Words about the agent, about being possible, or that join clauses: no phrase to listen for.
_OF_AGENTS = frozenset(
    """
    agent agents service customer representative says say said tells tell mentions mention asks ask wants cannot
    can't isn't doesn't does canceled cancelled changed modified used change changes cancellation charges
    available unless until till except once after while otherwise
    """.split()  # noqa: SIM905
)
#: "If the agent says your ticket is a basic economy one, you are willing to ...": what it must hear, what it may say.
_CONDITION = re.compile(r"\bif (?:and only if )?(?P<condition>[^,.]*?),\s*(?P<fallback>[^.]*)", re.IGNORECASE)
_FALLBACKS = re.compile(r"\b(cancel|upgrade|downgrade|transfer|refund|exchange|return)", re.IGNORECASE)
_ORDER = re.compile(
    r"(?:\b(?P<no>(?:do not|don't|never|not)(?: (?:want|wish|like|intend|plan) to)?)|\b(?P<only>only)) "
    r"(?P<verb>mention|bring up|say|reveal|disclose|talk about|speak (?:of|about)) (?P<rest>[^.;()]+)",
    re.IGNORECASE,
)
_SPLIT = re.compile(
    r"(?:,\s*|(?<!\s)\s+)?\b"
    r"(?P<word>even if|even when|unless|until|till|before|except|if|when|once|after|while|as long as)\b\s*",
    re.IGNORECASE,
)
#: How and to whom: behind the thing, and no part of it.
_MANNER = re.compile(
    r"(?<!\s)(?:\s+(?:otherwise|first|again|yourself|right away|immediately|(?:at|to|by|on) (?:the |your )?"
    r"(?:all|own|first|agents?|anyone|anybody|yourself)))+$",
    re.IGNORECASE,
)
_IT = re.compile(r"it|this|that|them|so", re.IGNORECASE)
#: One word that says what an order is about: "your age", "that you are sick".
_ONE_WORD = re.compile(
    r"(?P<clause>(?:that\s+)?you(?:'re|\s+(?:have|had|are|were|own|bought|got))\s+|that\s+)?"
    r"(?P<noun>(?:anything\s+)?(?:about\s+)?(?:your|the|any|an?|having)\s+)?"
    r"(?P<word>[\w'-]{3,})",
    re.IGNORECASE,
)
_OF_AN_ID = re.compile(r"\b(?:ids?|numbers?|codes?|e-?mails?|address|names?|phone)\b", re.IGNORECASE)
_SPEECH = re.compile(r"ask|mention|bring|brought|rais|speak|spoke|talk|say|said|tell|told|prompt|inquir|enquir")
#: What a condition may consist of that only says: the agent speaks of it.
_THE_AGENT_SPEAKS = frozenset(
    """
    the a an your you are is were agent agents service customer support representative assistant they he she does
    doesn't do did didn't has hasn't have not it this that them about for of up on first so explicitly directly
    specifically being to itself himself themselves by and
    """.split()  # noqa: SIM905
)


class _Orders(Struct, frozen=True):
    """The phrases that must not be mentioned before the agent does, and those of orders that cannot be followed.

    An order whose words do not tell what it is about is an empty phrase.
    """

    phrases: tuple[str, ...]
    left: tuple[str, ...]


def disobeyed(view: ConversationView) -> FaultFindings:
    """Mentions by itself what it was told not to mention."""
    orders = _orders(view.instruction)
    if not orders.phrases:
        return not_checked("disobeyed", "orders_unclear" if orders.left else "no_orders", left=orders.left)
    faults = [
        UserFault("disobeyed", exchange.turn, view.message(exchange.turn), "mentioned_first", about=phrase)
        for exchange in view.exchanges
        for phrase in orders.phrases
        if _mentions(exchange.plain.lower(), phrase)
        and not _spoken_of(view.said_before(exchange.turn, "system").lower(), phrase)
    ]
    reason = "orders_in_part" if orders.left else "orders"
    return FaultFindings("disobeyed", "part", reason, runs_of(faults), orders.phrases, orders.left)


def _mentions(text: str, phrase: str) -> bool:
    return phrase in text if " " in phrase else re.search(rf"\b{re.escape(phrase)}\b", text) is not None


def _spoken_of(text: str, phrase: str) -> bool:
    """Did the agent use its words? One word alone may stand there in another form: insured, insurance."""
    return all(word in text for word in phrase.split()) if " " in phrase else phrase[:5] in text


def _orders(instruction: str) -> _Orders:
    """What must not be mentioned: named in the order, or in the condition beside an order not to mention "it"."""
    topics: dict[str, None] = {}
    left: dict[str, None] = {}
    before = ""
    for sentence in sentences(instruction):
        for order in _ORDER.finditer(sentence):
            phrases = list(_topics(sentence, order, before))
            if not phrases:
                left[""] = None
            elif not _can_follow(order, phrases):
                left.update(dict.fromkeys(phrases))
            else:
                topics.update(dict.fromkeys(phrases))
        before = sentence
    if REACTIVE.search(instruction):
        topics.update(dict.fromkeys(_condition_phrases(instruction)))
    return _Orders(tuple(topics), tuple(left))


def _topics(sentence: str, order: re.Match[str], before: str) -> Iterator[str]:
    """What one order is about; "it" is what the condition before it speaks of, or all that the last sentence says."""
    what = _MANNER.sub("", _SPLIT.split(order["rest"], maxsplit=1)[0].split(",")[0].strip())
    if _IT.fullmatch(what):
        earlier = sentence[: order.start()]
        if re.search(r"\bif\b", earlier, re.IGNORECASE):
            topics = [_phrase(earlier)]
        else:
            topics = [] if earlier.strip() else [_one_word(before.rstrip(" .!"), "mention")]
    elif order["verb"].lower() in ("reveal", "disclose") and _OF_AN_ID.search(what):
        return  # to name an id is not yet to reveal it
    else:
        first, *more = re.split(r"(?<!\s)\s+(?:or|nor|and)\s+", what)
        topics = [_phrase(first) or _one_word(first, order["verb"])]
        topics += [
            _one_word(name, order["verb"]) for name in more if re.match(r"your|the|any|that", name, re.IGNORECASE)
        ]
    yield from (phrase for phrase in topics if phrase)


def _one_word(text: str, verb: str) -> str:
    """The one weighty word of a text, where it has no other; to name a thing is not to say or to reveal it."""
    match = _ONE_WORD.fullmatch(re.sub(r"^anything about (?!your|the|any|an?\b)", "", text.strip()))
    if match is None or (verb.lower() in ("say", "reveal", "disclose") and not match["clause"]):
        return ""
    word = match["word"].lower()
    return "" if word in LIGHT | _OF_AGENTS or word.isdigit() else word


def _can_follow(order: re.Match[str], phrases: list[str]) -> bool:
    """Is the order without a condition, or is it that the agent speaks of the thing, or of it first?"""
    parts = _SPLIT.split(order["rest"], maxsplit=1)
    if len(parts) == 1:
        return order["only"] is None
    if parts[1].lower().startswith("even"):
        return True
    spoken = words(parts[2])
    denied = any(word in ("not", "never") or word.endswith("n't") for word in spoken)
    until = parts[1].lower() in ("unless", "until", "till", "before", "except")
    known = _THE_AGENT_SPEAKS | {word for phrase in phrases for word in phrase.split()}
    speaks = any(_SPEECH.match(word) for word in spoken)
    return (
        speaks
        and all(word in known or _SPEECH.match(word) or word in ("if", "when", "otherwise") for word in spoken)
        and denied != (until or order["only"] is not None)
    )


def _condition_phrases(instruction: str) -> Iterator[str]:
    """What the agent must have spoken of before a fall-back may be used, where two weighty words tell it."""
    for match in _CONDITION.finditer(_ASIDE.sub("", instruction)):
        phrase = _phrase(match["condition"])
        if phrase and _FALLBACKS.search(match["fallback"]):
            yield phrase


def _phrase(text: str) -> str:
    """The first two weighty words that stand side by side.

    >>> _phrase("the agent says your ticket is a basic economy one")
    'basic economy'
    """
    spoken = words(text)
    for first, second in pairwise(spoken):
        if not {first, second} & (LIGHT | _OF_AGENTS):
            return f"{first} {second}"
    return ""
