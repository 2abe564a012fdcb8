"""Checks of texts. They see only what has a shape of its own, such as an id or a code, or what the goal declares.

What takes understanding (does the user contradict its instruction, or speak as the agent?) is left to a judge, a person
or a model. ``docs/user-faults.md`` says how many faults of labelled logs these checks find.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from dialgauge.dialogue import Dialogue
from dialgauge.formats import as_text
from dialgauge.users.faults.records import FaultFindings, FaultKind, UserFault, merge_repeats, message_of, not_checked

#: What ends a conversation of tau-bench: ``###STOP###``, ``###TRANSFER###``, ``###OUT-OF-SCOPE###``.
STOP_TOKEN = re.compile(r"###\s?[A-Z][A-Z-]+\s?###")

#: Things that no other word looks like, by kind.
_FLIGHT = r"\b[A-Z]{2,3}\d{3,4}\b"
SHAPES = {
    "e-mail address": r"\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+\b",
    "user id": r"(?<![@\w.])(?!(?:certificate|gift_card|credit_card|paypal)_)[a-z]+(?:_[a-z]+)*_\d{2,}\b(?!@)",
    "payment id": r"\b(?:certificate|gift_card|credit_card|paypal)_\d{3,}\b",
    "phone number": r"(?<![\d-])\d{3}[-. ]\d{3}[-. ]\d{4}(?![\d-])",
    "order id": r"#[A-Z]\d{5,}\b",
    "flight number": _FLIGHT,
    "reservation id": rf"(?<![\w#-])(?!{_FLIGHT})(?=[A-Z0-9]*[A-Z])(?=[A-Z0-9]*\d)[A-Z0-9]{{6}}(?![\w-])",
}
#: How agents ask for what users know.
_ASKED = {
    "user id": r"user[ -]?(?:id|name)s?\b",
    "reservation id": r"(?:(?:reservation|confirmation|booking) (?:id|number|code|ref(?:erence)?)|record locator)s?\b",
    "phone number": r"phone number\b",
    "order id": r"order (?:id|number)s?\b",
    "e-mail address": r"e-?mail(?: address)?\b",
}


def things(text: str) -> set[tuple[str, str]]:
    """The kind and the value, in small letters, of all things in a text that have a shape.

    >>> sorted(things("I am ann_lee_2041, booking 59XX6W. It is URGENT."))
    [('reservation id', '59xx6w'), ('user id', 'ann_lee_2041')]
    """
    return {(kind, match[0].lower()) for kind, shape in SHAPES.items() for match in re.finditer(shape, text)}


def plain_text(text: str) -> str:
    """A text with straight apostrophes and without stop tokens.

    >>> plain_text("That’s all. ###STOP###")
    "That's all."
    """
    return STOP_TOKEN.sub("", text).replace("’", "'").replace("‘", "'").strip()


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+", text) if part.strip()]


def _bare(text: str) -> str:
    return re.sub(r"[-.,/ ()#_]", "", text)


class Exchange(Struct, frozen=True):
    """A message of the user that the agent heard, and the message of the agent that it answers ("": none)."""

    turn: int
    text: str
    asked: str
    #: The text without stop tokens.
    plain: str
    #: All that the user (also its own tools) and the agent said before.
    own: str
    shown: str

    @property
    def stops(self) -> bool:
        return STOP_TOKEN.search(self.text) is not None


class Conversation:
    """A dialogue as the checks of texts see it.

    A text beside tool calls went to the tools, so a turn that another of the same speaker follows was not heard by the
    other side. It still counts as known to whoever said it.
    """

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue, self.turns = dialogue, dialogue.turns
        self.instruction = "\n".join(dialogue.instruction).replace("’", "'")
        self.exchanges: list[Exchange] = []
        said: dict[str, list[str]] = {"user": [], "system": []}
        asked = ""
        for index, turn in enumerate(self.turns):
            calls = turn.calls or () if turn.speaker == "user" else ()
            said["user"] += [text for call in calls for text in (*map(as_text, call.given.values()), call.result or "")]
            followed = any(after.speaker == turn.speaker for after in self.turns[index + 1 : index + 2])
            if turn.text.strip() and not followed:
                if turn.speaker == "user":
                    before = ("\n".join(texts).replace("’", "'") for texts in said.values())
                    self.exchanges.append(Exchange(index, turn.text, asked, plain_text(turn.text), *before))
                else:
                    asked = plain_text(turn.text)
            said[turn.speaker].append(turn.text)

    def fault(self, kind: FaultKind, turn: int, reason: str, **about: object) -> UserFault:
        """A fault at a turn."""
        return UserFault(kind, turn, message_of(self.dialogue, turn), reason, **about)  # type: ignore[arg-type]


def text_findings(dialogue: Dialogue) -> Iterator[FaultFindings]:
    """The results of all checks of texts."""
    talk = Conversation(dialogue)
    empty = [
        talk.fault("empty", index, "no_content")
        for index, turn in enumerate(talk.turns)
        if turn.speaker == "user" and not turn.text.strip() and not turn.calls and not turn.acts
    ]
    yield FaultFindings("empty", "whole", "messages", merge_repeats(empty))
    by_both = {turn.speaker for turn in talk.turns if turn.text.strip()} == {"user", "system"}
    for kind, check in _CHECKS.items():
        yield check(talk) if by_both else not_checked(kind, "no_texts")
    yield from (not_checked(kind, "ask_a_judge") for kind in ("contradicted", "disobeyed", "role_swap"))


# Stop tokens, tool calls as text, copies.

_TOOL_SYNTAX = re.compile(
    r"</?(?:tool_call|function_call|tool|function)\b|\"(?:tool_calls|function_call|tool_name)\"\s*:"
    r"|```(?:json|tool|xml|python)|\bfunctions\.\w+\(|\{\s*\"name\"\s*:\s*\"\w+\"\s*,\s*\"arguments\"",
)


def leaked(talk: Conversation) -> FaultFindings:
    """Text after a stop token, and tool syntax."""
    faults = []
    for index, turn in enumerate(talk.turns):
        stop = STOP_TOKEN.search(turn.text)
        if turn.speaker != "user":
            continue
        if stop and plain_text(turn.text[stop.end() :]):
            faults.append(talk.fault("leaked", index, "after_stop"))
        elif _TOOL_SYNTAX.search(turn.text):
            faults.append(talk.fault("leaked", index, "tool_syntax"))
    return FaultFindings("leaked", "part", "leaks", merge_repeats(faults))


#: How often the very same words count as said again, and how many words these need: a yes or a thank-you is said often.
_COPIES, _SHORTEST_COPY = 3, 4


def repeated(talk: Conversation) -> FaultFindings:
    """The third copy of a message; where the agent too says the same words again, it has asked again."""
    faults = []
    said: dict[tuple[str, ...], list[Exchange]] = {}
    for each in talk.exchanges:
        words = tuple(re.findall(r"[a-z0-9][a-z0-9'_-]*", each.plain.lower()))
        copies = [other for other in said.get(words, ()) if "?" not in each.asked or each.asked != other.asked]
        said.setdefault(words, []).append(each)
        if len(words) >= _SHORTEST_COPY and len(copies) + 1 >= _COPIES and not talk.turns[each.turn].calls:
            earlier = message_of(talk.dialogue, copies[0].turn)
            faults.append(talk.fault("repeated", each.turn, "verbatim_again", earlier=earlier))
    return FaultFindings("repeated", "part", "copies", merge_repeats(faults))


# The end.

_TRANSFERRED = re.compile(r"###\s?TRANSFER|being transferred", re.IGNORECASE)
_YES = re.compile(
    r"^(?:(?:great|perfect|thanks?|thank you|ok(?:ay)?|alright|sounds good|got it)[^.!?]{0,60}[.!,]\s*)*"
    r"(?:yes|yeah|yep|sure|absolutely|i confirm|confirmed|please (?:go ahead|proceed)|go ahead|sounds good)\b",
    re.IGNORECASE,
)
_CONFIRMATION = re.compile(
    r"\b(?:please confirm|do you (?:confirm|want me to proceed)|(?:would you like (?:me )?to|shall i|should i) "
    r"(?:proceed|go ahead)|(?:reply|respond) with ['\"]?yes|(?:can|could) you confirm|confirm if you)\b|\(yes/no\)",
    re.IGNORECASE,
)
_DIRECT_QUESTION = re.compile(
    r"\b(?:could you|can you|please|may i|would you) (?:please |kindly )?"
    r"(?:provide|share|give|tell|confirm|specify|have)\b[^?]*\?[ }\"\n]*$",  # some log JSON
    re.IGNORECASE,
)
_LEFT_TO_THE_USER = re.compile(r"\banything else|further (?:assistance|questions|help)|\btransfer", re.IGNORECASE)


def early_end(talk: Conversation) -> FaultFindings:
    """Stops instead of answering, or stops with its own confirmation, so that the agent can no longer act."""
    last = talk.exchanges[-1] if talk.exchanges else None
    if last is None:
        return not_checked("early_end", "no_last_words")
    if not last.stops:
        if talk.dialogue.ended.ended_by in ("", "user"):
            return not_checked("early_end", "no_stop_token")
        return FaultFindings("early_end", "whole", "not_the_user")
    if _TRANSFERRED.search(f"{last.asked}\n{last.text}"):
        return FaultFindings("early_end", "whole", "handed_over")
    reason = ""
    may_refuse = any(
        re.search(_ASKED[kind], last.asked, re.I) for kind in _kept(talk, {name: set() for name in _ASKED})
    )
    asked = _DIRECT_QUESTION.search(last.asked) and not _LEFT_TO_THE_USER.search(last.asked)
    if not last.plain and asked and not may_refuse:
        reason = "stops_when_asked"
    elif _YES.match(last.plain) and _CONFIRMATION.search(last.asked):
        reason = "stops_confirming"
    faults = (talk.fault("early_end", last.turn, reason),) if reason else ()
    return FaultFindings("early_end", "part", "ends", faults)


# What the user knows, and what it makes up.

_ASKING = (
    r"\b(?:provide|share|give me|tell me|need|require|have|enter|what(?:'s| is)|know|confirm|verify|gather|supply"
    r"|send)\b"
)
#: "I can look it up by your user id": an offer, no question.
_OFFERED = re.compile(r"\b(?:look up|find|retrieve|locate|search for|using|with just|through)\b[^.?!]*$", re.IGNORECASE)
#: A sentence with any of these that names a thing may be an order to keep it back, or say that it is not known.
_KEEP = re.compile(
    r"\b(?:not|never|cannot|refuse|decline|forgot\w*|lost|secret|reluctant|unable)\b|n't\b", re.IGNORECASE
)
_PRIVATE = re.compile(r"\b(?:personal|private|identity|details)\b", re.IGNORECASE)


def withheld(talk: Conversation) -> FaultFindings:
    """An id, number or address that the user was given is asked for, and the answer lacks it."""
    goal = talk.dialogue.goal
    if goal is None or not talk.instruction:
        return not_checked("withheld", "no_instruction")
    known: dict[str, set[str]] = {}
    for kind, value in sorted(things("\n".join(goal.message))):
        if kind in _ASKED:
            known.setdefault(kind, set()).add(value)
    for name, value in goal.knows.items():
        known.setdefault(_declared(name), set()).add(value.strip().lower())
    kept = _kept(talk, known)
    given = {kind: values for kind, values in known.items() if kind not in kept}
    if not given:
        return not_checked("withheld", "not_to_give" if known else "gives_nothing", about=tuple(known))
    faults = [
        talk.fault("withheld", each.turn, "not_given", about=kind)
        for each in talk.exchanges
        if each.plain
        for kind, values in given.items()
        if _asks_for(each.asked, kind) and not _has_given(each, kind, given)
    ]
    return FaultFindings("withheld", "part", "questions", merge_repeats(faults), about=tuple(given))


def _declared(name: str) -> str:
    return name.strip().lower().replace("_", " ")


def _asked_as(kind: str) -> str:
    return _ASKED.get(kind, rf"{re.escape(kind)}\b")


def _kept(talk: Conversation, known: dict[str, set[str]]) -> set[str]:
    """What the user is not to give: declared secret, or named in a sentence with any order to keep something back."""
    kept = {_declared(name) for name in talk.dialogue.goal.secret} if talk.dialogue.goal else set()
    for sentence in filter(_KEEP.search, _sentences(talk.instruction)):
        for kind, values in known.items():
            named = re.search(_asked_as(kind), sentence, re.IGNORECASE) or _PRIVATE.search(sentence)
            if named or any(value in sentence.lower() for value in values):
                kept.add(kind)
    return kept


def _asks_for(message: str, kind: str) -> bool:
    """Is the thing asked for, in a sentence or as a line of a list that a request opens?"""
    name, requested = _asked_as(kind), False
    listed = re.compile(rf"\s*(?:[-*•]|\d+[.)])\s+\W*(?:your |the )?\W*{name}(?!\W*:\W*\w)", re.IGNORECASE)
    asking = re.compile(rf"(?P<before>{_ASKING}[^.?!\n]{{0,150}}?\b){name}", re.IGNORECASE)
    for line in message.split("\n"):
        if requested and listed.match(line):
            return True
        for sentence in _sentences(line):
            requested = requested or re.search(_ASKING, sentence, re.IGNORECASE) is not None
            if any(not _OFFERED.search(match["before"]) for match in asking.finditer(sentence)):
                return True
    return False


def _has_given(each: Exchange, kind: str, given: dict[str, set[str]]) -> bool:
    """Did either side say it by then, or did the user give what would do instead?"""
    said = f"{each.own}\n{each.text}\n{each.shown}".lower()
    if any(value in said or _bare(value) in _bare(said) for value in given[kind]):
        return True
    name = _asked_as(kind)
    other = any(value in each.text.lower() for values in given.values() for value in values)
    either = re.compile(rf"{name}[^.?!\n]{{0,20}}\bor\b|\bor\b[^.?!\n]{{0,30}}{name}", re.IGNORECASE)
    return other and either.search(each.asked) is not None


_LICENCE = re.compile(
    r"(?<!never )(?<!not )(?<!n't )\b(?:make (?:something|it|one|them|anything) up|make up (?:a|an|any|the)|invent|"
    r"of your choice|any\w* you like)\b",
    re.IGNORECASE,
)
#: Codes where bookings are spoken of: six capitals or digits.
_CODE = re.compile(rf"(?<![\w#-])(?!{_FLIGHT})(?=[A-Z0-9]*[A-Z])[A-Z0-9]{{6}}(?![\w-])")
_OF_BOOKINGS = re.compile(r"\b(?:reservation|booking|confirmation)", re.IGNORECASE)
#: What tells one of several bookings from the others, where a list does more than name them.
_DETAIL = re.compile(
    r"\b[A-Z]{3}\b|\d{4}-\d\d-\d\d|\$|\b(?:from|flights?|trip|one.way|round.trip|economy|business|departing|passengers?)\b"
)
_ASKS_TO_LOOK = re.compile(r"\b(?:check|look|start with|try|details)\b|\?$", re.IGNORECASE)


def invented(talk: Conversation) -> FaultFindings:
    """Things with a shape that neither instruction nor agent gave, and guesses among bookings that were only listed."""
    if not talk.instruction:
        return not_checked("invented", "no_instruction")
    if _LICENCE.search(talk.instruction):
        return not_checked("invented", "may_invent")
    faults = []
    for each in talk.exchanges:
        known = f"{talk.instruction}\n{each.own}\n{each.shown}".lower()
        for kind, value in sorted(things(each.plain)):
            if value not in known and _bare(value) not in _bare(known):
                faults.append(talk.fault("invented", each.turn, "fact_of_nobody", about=kind, given=(value,)))
        for code in _guesses(talk, each):
            faults.append(talk.fault("invented", each.turn, "booking_guessed", about="booking", given=(code,)))
    return FaultFindings("invented", "part", "facts", merge_repeats(faults))


def _guesses(talk: Conversation, each: Exchange) -> Iterator[str]:
    """One of several bookings that the agent only listed, named by the user as its own."""
    listed = {match[0]: match.start() for match in reversed(list(_CODE.finditer(each.asked)))}
    if len(listed) < 2 or not _OF_BOOKINGS.search(each.asked):
        return
    places = sorted(listed.values())
    ends = [*places[1:], places[-1] + 40]
    if any(_DETAIL.search(each.asked[at + 6 : end]) for at, end in zip(places, ends, strict=True)):
        return
    known = f"{talk.instruction}\n{each.own}\n{each.shown.rpartition(each.asked)[0]}"
    for sentence in _sentences(each.plain):
        named = [code for code in listed if code in sentence]
        if len(named) == 1 and named[0] not in known and not _ASKS_TO_LOOK.search(sentence):
            yield named[0]


_CHECKS: dict[FaultKind, Callable[[Conversation], FaultFindings]] = {
    "early_end": early_end,
    "invented": invented,
    "leaked": leaked,
    "repeated": repeated,
    "withheld": withheld,
}
