"""Why points are lost: what was misheard, where a user is caught in a loop, and whose fault a lost point is.

The first rule that fits decides whose fault it is:

* A repetition inside a loop has the loop's cause, whatever excuse the rules of GCDF1 would find for it.
* A repetition that was excused, but too often: the side that the excuse speaks of.
* A repetition without an excuse: the user's NLU where it heard a prompt that was never given, or misheard the answer
  in what bears on the repeated slot; the user's policy where it was answered; else the system's policy.
* Something said that the goal does not have: the user's NLU where it heard a prompt that was never given, else its
  policy. An act of the booking service is a prompt for every domain that shares the service.
* Something never said: the cause of the loop in which the conversation ended, if that loop is about the domain or kept
  the user from ever coming to it; else the user's policy.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Act, Speaker
from dialgauge.users.acts import (
    BOOK,
    NOBOOK,
    NOOFFER,
    OFFERBOOKED,
    RECOMMEND,
    REQUEST,
    ActReader,
    Spoken,
    SpokenTurn,
)
from dialgauge.users.labels import REPEATED, REPEATED_REQUESTS

Cause: TypeAlias = Literal["user NLU", "system NLU", "system policy", "user policy"]

CAUSES: dict[Cause, str] = {
    "user NLU": "the user did not understand the system's answers",
    "system NLU": "the system did not understand the user",
    "system policy": "the system understood and gave no answer in the domain",
    "user policy": "both sides understood each other, and the user still repeated itself",
}

#: How a conversation ends: in a loop, with the user's goodbye, or just so.
End: TypeAlias = Literal["loop", "goodbye", "open"]
ENDS: tuple[End, ...] = ("loop", "goodbye", "open")

# What was said against what was heard.

ErrorKind: TypeAlias = Literal["value", "act", "slot", "missed", "invented"]


class Confusion(Struct, frozen=True, array_like=True, gc=False, cache_hash=True):
    """``speaker`` said one thing and the other side heard another. Values are only given when they alone differ."""

    speaker: Speaker
    error: ErrorKind
    said: str
    heard: str


#: The turn of a confusion, the confusion, and the sentence that was misheard, with its values replaced.
Occurrence: TypeAlias = tuple[int, Confusion, str]


class Mishearing(NamedTuple):
    """An act that was said and what was heard for it: None where that is nothing, or where nothing was said."""

    error: ErrorKind
    said: Act | None
    heard: Act | None


def misheard(said: Sequence[Act], heard: Sequence[Act]) -> Iterator[Mishearing]:
    """Where what was heard differs from what was said, without regard to order and case.

    Acts left over on both sides are paired: those that differ in values only, then in the name only, then in the slot;
    the rest was missed or invented.
    """
    missed, invented = list(said), list(heard)
    for act in said:
        same = next((other for other in invented if _folded(other) == _folded(act)), None)
        if same is not None:
            missed.remove(act)
            invented.remove(same)
    rules: tuple[tuple[ErrorKind, slice], ...] = (("value", slice(0, 2)), ("act", slice(1, 2)), ("slot", slice(0, 1)))
    for fault, shared in rules:
        for act in list(missed):
            like = next((other for other in invented if _folded(other)[shared] == _folded(act)[shared]), None)
            if like is not None:
                missed.remove(act)
                invented.remove(like)
                yield Mishearing(fault, act, like)
    yield from (Mishearing("missed", act, None) for act in missed)
    yield from (Mishearing("invented", None, act) for act in invented)


@lru_cache(1 << 14)
def _folded(act: Act) -> tuple[str, str, tuple[str, ...]]:
    return act.name.lower(), act.slot.lower(), tuple(value.lower().strip() for value in act.values)


def describe(act: Act, with_value: bool = False) -> str:
    """An act as people write it: ``restaurant-inform(food)``, ``restaurant-inform(food=thai)``."""
    slot = act.slot.lower()
    inside = f"{slot}={', '.join(act.values).lower()}" if with_value and act.values else slot
    return f"{act.name.lower()}({inside})"


#: What an act of the system comes to.
Outcome: TypeAlias = Literal["told", "asked", "refused", "booked"]


class Hearing:
    """What was misheard in one dialogue; nothing where it was not recorded what the other side understood."""

    def __init__(self, turns: Sequence[SpokenTurn], reader: ActReader) -> None:
        self._turns, self._reader = turns, reader
        self._pairs = [
            list(misheard([act.act for act in turn.said or ()], [act.act for act in turn.heard]))
            if turn.heard is not None and turn.heard != turn.said
            else []
            for turn in turns
        ]
        self.confusions = [
            tuple(_confusion(("user", "system")[turn.position % 2], pair) for pair in pairs)
            for turn, pairs in zip(turns, self._pairs, strict=True)
        ]

    def bearing_on(self, position: int, services: Sequence[str], slots: frozenset[str]) -> tuple[Confusion, ...]:
        """The confusions of a turn that bear on the slots of the services.

        Such a confusion is about one of the slots, or it hides or feigns an outcome: that something was told, refused
        or booked. A refusal that was heard with other criteria is a refusal that was heard.
        """
        pairs = self._pairs[position]
        if not pairs:
            return ()
        turn = self._turns[position]
        in_said, in_heard = ({self._outcome(act.act) for act in acts or ()} for acts in (turn.said, turn.heard))

        def bears(act: Act | None, other: set[tuple[str, Outcome]]) -> bool:
            if act is None or act.domain not in services:
                return False
            service, outcome = self._outcome(act)
            about = outcome != "refused" and self._reader.slot(act) in slots
            return about or (outcome != "asked" and (service, outcome) not in other)

        return tuple(
            confusion
            for confusion, pair in zip(self.confusions[position], pairs, strict=True)
            if bears(pair.said, in_heard) or bears(pair.heard, in_said)
        )

    def _outcome(self, act: Act) -> tuple[str, Outcome]:
        families = self._reader.families(act.name)
        if families & (NOOFFER | NOBOOK):
            return act.domain, "refused"
        if families & (BOOK | OFFERBOOKED):
            return act.domain, "booked"
        return act.domain, "asked" if families & REQUEST else "told"

    def occurrences(self) -> Iterator[Occurrence]:
        """All confusions, each with the sentence that was misheard; turns whose acts are not recorded do not count."""
        for turn, pairs, confusions in zip(self._turns, self._pairs, self.confusions, strict=True):
            if pairs and turn.said is not None:
                words = template(turn.text, turn.said)
                for pair, confusion in zip(pairs, confusions, strict=True):
                    slot = "" if pair.said is None else self._reader.slot(pair.said)
                    yield turn.position, confusion, sentence_of(words, slot)


def _confusion(speaker: Speaker, pair: Mishearing) -> Confusion:
    texts = ["" if act is None else describe(act, pair.error == "value") for act in (pair.said, pair.heard)]
    return Confusion(speaker, pair.error, *texts)


SENTENCE_ENDS = re.compile(r"(?<=[.?!]) +")


def template(text: str, acts: Iterable[Spoken]) -> str:
    """The words of a turn in lower case, with the values of its acts replaced by their slots: ``it is [postcode] .``"""
    words = text.lower()
    values = {value.lower(): act.slot for act in acts if act.slot for value in act.act.values}
    for value in sorted(values, key=len, reverse=True):
        if len(value) > 1 or value.isdigit():
            words = words.replace(value, f"[{values[value]}]")
    return words


def sentence_of(words: str, slot: str) -> str:
    """Of a template the sentence with a slot; all of it where none has it."""
    if not slot:
        return words
    return next((part for part in SENTENCE_ENDS.split(words) if f"[{slot}]" in part), words).strip()


# Loops: the user says the very same acts in three or more of its turns running.

MIN_REPEATS = 3


class Loop(Struct, frozen=True, array_like=True, gc=False):
    """The same acts in the user turns ``first`` to ``last``: how often, and why.

    ``said`` and ``heard`` are the main confusion; both are empty where nothing was misheard.
    """

    first: int
    last: int
    repeats: int
    acts: tuple[str, ...]
    domains: tuple[str, ...]
    cause: Cause
    said: str = ""
    heard: str = ""


def main_confusion(loop: Mapping[str, Any]) -> str:
    """The main confusion of a loop, a row of the table, in words."""
    said, heard = loop["said"], loop["heard"]
    return f"{said or 'nothing'} heard as {heard or 'nothing'}" if said or heard else ""


def loops(turns: Sequence[SpokenTurn], hearing: Hearing, booking_service: str = "") -> Iterator[Loop]:
    """The loops of a dialogue, in order. Pleasantries alone are no loop."""
    users = turns[::2]
    acts_of = [Counter(act.act for act in turn.said or ()) for turn in users]
    start = 0
    for end in range(1, len(users) + 1):
        if end < len(users) and acts_of[end] == acts_of[end - 1]:
            continue
        if end - start >= MIN_REPEATS:
            acts = [act for act in users[start].said or () if act.in_domain]
            if acts:
                yield _loop(turns, range(2 * start, 2 * end, 2), acts, hearing, booking_service)
        start = end


def _loop(
    turns: Sequence[SpokenTurn], places: range, acts: Sequence[Spoken], hearing: Hearing, booking_service: str
) -> Loop:
    domains = tuple(dict.fromkeys(act.act.domain for act in acts))
    services = (*domains, booking_service) if booking_service else domains
    slots = frozenset(act.slot for act in acts if act.act.slot)
    cause, said, heard = _loop_cause(turns, places[:-1], hearing, services, slots)
    return Loop(
        first=places[0],
        last=places[-1],
        repeats=len(places),
        acts=tuple(dict.fromkeys(describe(act.act, with_value=True) for act in acts)),
        domains=domains,
        cause=cause,
        said=said,
        heard=heard,
    )


def _loop_cause(
    turns: Sequence[SpokenTurn], repeated: range, hearing: Hearing, services: Sequence[str], slots: frozenset[str]
) -> tuple[Cause, str, str]:
    """The side whose understanding failed in at least half of the repetitions, else the side that stands still.

    Of the answers that the user misheard only those count in which it missed something that bears on what it repeats.
    """
    answers = [position + 1 for position in repeated]
    sides: tuple[tuple[Cause, list[tuple[Confusion, ...]]], ...] = (
        ("system NLU", [hearing.confusions[position] for position in repeated]),
        ("user NLU", [hearing.bearing_on(answer, services, slots) for answer in answers]),
    )
    for cause, errors in sides:
        failed = [each for each in errors if each]
        if failed and 2 * len(failed) >= len(errors):
            ((main, _),) = Counter(confusion for each in failed for confusion in each).most_common(1)
            return cause, main.said, main.heard
    answered = [answer for answer in answers if not turns[answer].services.keys().isdisjoint(services)]
    return ("user policy" if 2 * len(answered) >= len(answers) else "system policy"), "", ""


def conversation_end(turns: Sequence[SpokenTurn], repeats: Sequence[Loop]) -> End:
    """How the conversation ends: still in a loop when the user last spoke of anything, with a goodbye, or otherwise."""
    goodbye = False
    for turn in reversed(turns[::2]):
        acts = turn.said or ()
        goodbye = goodbye or any("bye" in act.act.name.lower() for act in acts)
        if any(act.in_domain for act in acts):
            if repeats and repeats[-1].last == turn.position:
                return "loop"
            break
        if not goodbye:
            break
    return "goodbye" if goodbye else "open"


# Whose fault a lost point is.

#: The labels of a lost point, and its cause.
Reason: TypeAlias = tuple[tuple[str, ...], Cause]

LOOP = "lost/loop"
LIMIT = "lost/limit_exceeded"
MISHEARD = "lost/answer_misheard"
ANSWERED = "lost/answer_heard"
IGNORED = "lost/no_answer"
PROMPT = "lost/prompt_misheard"
STUCK = "lost/never_reached"

#: Excuses that speak of the system; all others speak of the user, or of an answer that the user did not accept.
_OF_SYSTEM: dict[str, Cause] = {
    f"{REPEATED}/failed_sys_nlu": "system NLU",
    f"{REPEATED}/elicited_by_sys_question": "system policy",
    f"{REPEATED_REQUESTS}/system_req_nlu_failure": "system NLU",
    f"{REPEATED_REQUESTS}/delayed_response": "system policy",
    f"{REPEATED_REQUESTS}/user_prempted_request": "system policy",
}


class Causes:
    """The causes of one dialogue's lost points."""

    def __init__(self, turns: Sequence[SpokenTurn], reader: ActReader, booking_service: str) -> None:
        self._turns = turns
        self.hearing = Hearing(turns, reader)
        self.loops = tuple(loops(turns, self.hearing, booking_service))
        self.end = conversation_end(turns, self.loops)
        self._looping: dict[int, Cause] = {
            turn: loop.cause for loop in self.loops for turn in range(loop.first + 1, loop.last + 1)
        }

    def excused(self, labels: Iterable[str], turn: int) -> Cause:
        """Whose doing a repetition with an excuse is."""
        if turn in self._looping:
            return self._looping[turn]
        return next((_OF_SYSTEM[label] for label in labels if label in _OF_SYSTEM), "user policy")

    def excused_too_often(self, labels: tuple[str, ...], turn: int) -> Reason:
        """A repetition with an excuse that no longer counts."""
        reasons = (LIMIT, LOOP) if turn in self._looping else (LIMIT,)
        return (*labels, *reasons), self.excused(labels, turn)

    def unexcused(
        self, labels: tuple[str, ...], services: tuple[str, ...], slot: str, first: int, second: int
    ) -> Reason:
        """What was said of a slot of the services in turn ``first`` is said again in ``second``."""
        if second in self._looping:
            return (*labels, LOOP), self._looping[second]
        between = self._turns[first + 1 : second : 2]
        if any(_asks_unsaid(turn, services, slot) for turn in between):
            return (*labels, PROMPT), "user NLU"
        answers = (first + 1, second - 1)
        if any(self.hearing.bearing_on(answer, services, frozenset((slot,))) for answer in answers):
            return (*labels, MISHEARD), "user NLU"
        if any(service in turn.services for turn in between for service in services):
            return (*labels, ANSWERED), "user policy"
        return (*labels, IGNORED), "system policy"

    def answered(
        self, labels: tuple[str, ...], services: tuple[str, ...], slot: str, answer: SpokenTurn, second: int
    ) -> Reason:
        """A request is made again in turn ``second`` although it was answered."""
        if second in self._looping:
            return (*labels, LOOP), self._looping[second]
        heard = None if answer.heard is None else _about(answer.heard, services, slot)
        if heard is None or any(not act.families & REQUEST for act in heard):
            return (*labels, ANSWERED), "user policy"
        return (*labels, MISHEARD), "user NLU"

    def uncalled_for(self, labels: tuple[str, ...], turn: int, services: tuple[str, ...], slot: str = "") -> Reason:
        """Something the goal does not have, a slot or a whole domain, is said in a turn."""
        if turn in self._looping:
            return (*labels, LOOP), self._looping[turn]
        if turn > 0 and _prompts_unsaid(self._turns[turn - 1], services, slot):
            return (*labels, PROMPT), "user NLU"
        return labels, "user policy"

    def unsaid(self, labels: tuple[str, ...], domain: str) -> Reason:
        """Something of a domain of the goal was never said, or never asked."""
        if self.end == "loop":
            loop = self.loops[-1]
            if domain in loop.domains or domain not in self._spoken_of:
                return (*labels, STUCK), loop.cause
        return labels, "user policy"

    @cached_property
    def _spoken_of(self) -> set[str]:
        """The services that the user speaks of."""
        return {service for turn in self._turns[::2] for service in turn.services}


def _about(acts: Iterable[Spoken], services: tuple[str, ...], slot: str) -> list[Spoken]:
    return [act for act in acts if act.act.domain in services and act.slot == slot]


def _asks_unsaid(turn: SpokenTurn, services: tuple[str, ...], slot: str) -> bool:
    """Did the user hear that it was asked for the slot, or offered a choice of it, although the system did neither?"""
    if turn.heard is None:
        return False
    heard, said = (_about(acts, services, slot) for acts in (turn.heard, turn.said or ()))
    asks = REQUEST | RECOMMEND
    return any(act.families & asks for act in heard) and not any(act.families & asks for act in said)


def _prompts_unsaid(turn: SpokenTurn, services: tuple[str, ...], slot: str) -> bool:
    """Did the user hear of the slot, or of a whole service, although the system had not spoken of it?"""
    if turn.heard is None:
        return False
    heard = {act.act.domain for act in turn.heard}
    if any(service in heard and service not in turn.services for service in services):
        return True
    if _about(turn.heard, services, slot) and not _about(turn.said or (), services, slot):
        return True
    return _asks_unsaid(turn, services, slot)
