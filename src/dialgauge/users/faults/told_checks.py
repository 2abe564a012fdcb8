"""Checks against what the user was told: facts it makes up or keeps to itself, and what it was told not to mention."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from dialgauge.users.faults.conversation_view import (
    LIGHT,
    ConversationView,
    RecordedExchange,
    plain_text,
    sentences,
    words,
)
from dialgauge.users.faults.entities import bookings, entities, is_known
from dialgauge.users.faults.fault_records import FaultFindings, UserFault, not_checked, runs_of
from dialgauge.users.faults.knowledge import ASKED, KnownThing, known_things
from dialgauge.users.faults.withheld_items import secret_items

_LICENCE = re.compile(
    r"(?<!never )(?<!not )(?<!n't )\b(?:make (?:something|it|one|them|anything) up|make up (?:a|an|any|the)|invent|"
    r"of your choice|any\w* you like)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\?|\b(?:if|maybe|perhaps|could you (?:check|look)|check|not sure|e\.g\.|for example|such as|or)\b", re.IGNORECASE
)
#: A booking picked by its place in a list.
_BY_ORDER = re.compile(
    r"\b(?:it(?:'s| is| must be| should be)|i(?:'ll| will)? (?:think|believe|guess|take|choose|pick)|probably)\b"
    r"[^.?!]{0,40}"
    r"\bthe (?:first|second|third|last|latest|most recent)(?: one| reservation| booking)?\b",
    re.IGNORECASE,
)
#: What tells one of several bookings from the others, where a list does more than name them.
_DETAIL = re.compile(
    r"\b[A-Z]{3}\b|\d{4}-\d\d-\d\d|\$|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d|"
    r"\b(?:one.way|round.trip|economy|business|flight|departing|trip|from|passenger)\b"
)


def invented(view: ConversationView) -> FaultFindings:
    """Addresses, ids, days and places that neither instruction nor agent gave, and guesses among listed bookings."""
    if not view.instruction:
        return not_checked("invented", "no_instruction")
    if _LICENCE.search(view.instruction):
        return not_checked("invented", "may_invent")
    faults = [fault for exchange in view.exchanges for fault in (*_unknown(view, exchange), *_guesses(view, exchange))]
    return FaultFindings("invented", "part", "facts", runs_of(faults))


def _unknown(view: ConversationView, exchange: RecordedExchange) -> Iterator[UserFault]:
    stated = [
        entity
        for sentence in sentences(exchange.plain)
        for entity in entities(sentence)
        if entity.kind not in ("airport", "city", "day") or not _UNSURE.search(sentence)
    ]
    if not stated:
        return
    known_texts = "\n".join(
        [view.instruction, view.said_before(exchange.turn, "system"), view.said_before(exchange.turn, "user")]
    )
    for entity in stated:
        if not is_known(entity, known_texts):
            yield _invented(view, exchange, "fact_of_nobody", entity.kind, entity.written)


def _guesses(view: ConversationView, exchange: RecordedExchange) -> Iterator[UserFault]:
    """One of several bookings that the agent only listed, named as its own."""
    listed = list(dict.fromkeys(bookings(f"reservation {plain_text(exchange.asked)}")))
    known_texts = "\n".join([view.instruction, view.said_before(exchange.turn, "user")])
    if len(listed) < 2:
        return
    before = view.said_before(exchange.turn, "system").rsplit(exchange.asked.replace("’", "'"), 1)[0]
    for sentence in sentences(exchange.plain):
        if (
            _BY_ORDER.search(sentence)
            and not sentence.endswith("?")
            and not _described(listed[0], listed, exchange.asked)
        ):
            yield _invented(view, exchange, "booking_by_order", "booking")
        named = [code for code in listed if code in sentence]
        asks = sentence.endswith("?") and not re.search(r"\bcan (?:we|you) (?:proceed|please)", sentence)
        if len(named) != 1 or asks:
            continue
        [code] = named
        if code in known_texts or code in before or _described(code, listed, exchange.asked) or _asks_to_look(sentence):
            continue
        yield _invented(view, exchange, "booking_guessed", "booking", code)


def _invented(view: ConversationView, exchange: RecordedExchange, reason: str, about: str, *given: str) -> UserFault:
    return UserFault("invented", exchange.turn, view.message(exchange.turn), reason, about=about, given=given)


def _asks_to_look(sentence: str) -> bool:
    return re.search(r"\b(?:check|look|start with|try|details)\b", sentence, re.IGNORECASE) is not None


def _described(code: str, listed: list[str], message: str) -> bool:
    """Does the message say of any listed booking what tells it from the others?"""
    places = sorted(message.find(name) for name in listed)
    ends = [*places[1:], min(len(message), places[-1] + 80)]
    pieces = [message[start + 6 : end] for start, end in zip(places, ends, strict=True)]
    last = pieces[-1]
    pieces[-1] = re.split(r"\n\n|(?<=[.?!])\s", last)[0]
    return any(_DETAIL.search(piece) for piece in pieces)


_ASKING = (
    r"(?:provide|share|give me|tell me|need|require|have|enter|what(?:'s| is)|know|confirm|verify|gather|supply|send)\b"
)
#: A line of a list, less its mark and what may stand before the thing.
_ITEM = re.compile(r"(?:[-*•]|\d+[.)])\s+(?:\*\*)?(?:your |the )?(?:\*\*)?(?P<rest>.*)", re.IGNORECASE)
_OFFERED = re.compile(r"\b(?:look up|find|retrieve|locate|search for|using|with just|through)\b[^.?!]*$", re.IGNORECASE)


def withheld(view: ConversationView) -> FaultFindings:
    """An id, number or address that the instruction gives is asked for, and the answer lacks it."""
    goal = view.dialogue.goal
    if goal is None or not goal.instruction:
        return not_checked("withheld", "no_giving_instruction")
    every = known_things(goal)
    kept = secret_items(view.instruction, (thing.kind for thing in every))
    given = [thing for thing in every if not _is_kept(thing, kept)]
    unasked = tuple(thing.name for thing in every if _is_kept(thing, kept))
    if not given:
        return not_checked("withheld", "not_to_give" if unasked else "gives_nothing", about=unasked)
    faults = []
    for exchange in view.exchanges:
        for thing in given:
            if _is_withheld(view, exchange, thing, given):
                number, minor = view.message(exchange.turn), _is_minor(view, exchange, thing)
                faults.append(UserFault("withheld", exchange.turn, number, "not_given", about=thing.name, minor=minor))
    reason, about = "questions_but" if unasked else "questions", tuple(thing.name for thing in given)
    return FaultFindings("withheld", "part", reason, runs_of(faults), about, left=unasked)


def _is_kept(thing: KnownThing, kept: frozenset[str]) -> bool:
    """Is it not to be given? Of a kind that orders are not read for, any order may be about it."""
    return thing.kind in kept or (thing.kind not in ASKED and bool(kept))


def _is_minor(view: ConversationView, exchange: RecordedExchange, thing: KnownThing) -> bool:
    """Was it one of several things asked for, and did the user give it when it was next asked for it?"""
    several = any(_asks_for(exchange.asked, asked) for name, asked in ASKED.items() if name != thing.name)
    again = (later for later in view.exchanges if later.turn > exchange.turn and _asks_for(later.asked, thing.asked))
    answer = next(again, None)
    return several and answer is not None and any(_says(value, answer.text.lower()) for value in thing.values)


def _is_withheld(
    view: ConversationView, exchange: RecordedExchange, thing: KnownThing, given: list[KnownThing]
) -> bool:
    if (exchange.stops and not exchange.plain) or not _asks_for(exchange.asked, thing.asked):
        return False
    own_texts = f"{view.said_before(exchange.turn, 'user')}\n{exchange.text}".lower()
    shown = view.said_before(exchange.turn, "system").lower()
    if any(_says(value, own_texts) or _says(value, shown) for value in thing.values):
        return False
    gave_another = any(_says(value, exchange.text.lower()) for other in given for value in other.values)
    return not (gave_another and _alternative(exchange.asked, thing.asked))


_SEPARATOR = re.compile(r"[-.,/ ()#_]")


def _says(value: str, text: str) -> bool:
    plain = _SEPARATOR.sub("", value)
    return value.lstrip("#") in text or (len(plain) >= 5 and plain in _SEPARATOR.sub("", text))


def _asks_for(message: str, name: str) -> bool:
    """Is the thing asked for, in a sentence or as a line of a list that a request opens?"""
    requested = False
    for line in plain_text(message).split("\n"):
        item = _ITEM.match(line.strip())
        if item and requested and re.match(rf"{name}(?![*]*:[*]*\s*\S)", item["rest"], re.IGNORECASE):
            return True
        for sentence in sentences(line):
            requested = requested or re.search(rf"\b{_ASKING}", sentence, re.IGNORECASE) is not None
            if any(
                not _OFFERED.search(match["before"])
                for match in re.finditer(rf"(?P<before>\b{_ASKING}[^.?!\n]{{0,150}}?\b){name}", sentence, re.IGNORECASE)
            ):
                return True
    return False


def _alternative(message: str, name: str) -> bool:
    """Could something else have been given instead?"""
    return re.search(rf"{name}[^.?!\n]{{0,20}}\bor\b|\bor\b[^.?!\n]{{0,30}}{name}", message, re.IGNORECASE) is not None


# Orders about manner: does the user mention by itself what it was told not to mention? An order is followed as far as
# its words allow: it must say what is not to be mentioned, and a condition must be that the agent speaks of it first.
# Any other order is counted among those that were not checked.

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
