"""Checks of facts: what the user makes up, and what it keeps to itself though it was told it and is asked for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dialgauge.users.faults.conversation_view import ConversationView, RecordedExchange, plain_text, sentences
from dialgauge.users.faults.entities import bookings, entities, is_known
from dialgauge.users.faults.fault_records import FaultFindings, UserFault, not_checked, runs_of
from dialgauge.users.faults.knowledge import ASKED, KnownThing, known_things
from dialgauge.users.faults.withheld_items import kept_back

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
    if not view.instruction:
        return not_checked("withheld", "no_giving_instruction")
    every, kept = known_things(view.instruction), kept_back(view.instruction)
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


def _says(value: str, text: str) -> bool:
    digits = re.sub(r"\D", "", value)
    return value in text or (len(digits) >= 9 and digits in re.sub(r"[-. ()]", "", text))


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
