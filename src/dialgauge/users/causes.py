"""Why points are lost: what was misheard, where a user is caught in a loop, and the cause of a lost point.

The first rule that fits decides the cause:

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
from functools import lru_cache
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
    """An act and what was heard for it. ``said`` is None if it was invented, ``heard`` if it was missed."""

    error: ErrorKind
    said: Act | None
    heard: Act | None


def misheard(said: Sequence[Act], heard: Sequence[Act]) -> Iterator[Mishearing]:
    """Where what was heard differs from what was said, without regard to order and case.

    Acts left over on both sides are paired: those that differ in values only, then in the name only, then in the slot;
    the rest was missed or invented.
    """
    missed, invented = list(said), list(heard)
    rules: tuple[tuple[ErrorKind | None, slice], ...] = (
        (None, slice(0, 3)),
        ("value", slice(0, 2)),
        ("act", slice(1, 2)),
        ("slot", slice(0, 1)),
    )
    for error, shared in rules:
        for act in list(missed):
            like = next((other for other in invented if _folded(other)[shared] == _folded(act)[shared]), None)
            if like is not None:
                missed.remove(act)
                invented.remove(like)
                if error is not None:
                    yield Mishearing(error, act, like)
    yield from (Mishearing("missed", act, None) for act in missed)
    yield from (Mishearing("invented", None, act) for act in invented)


@lru_cache(1 << 14)
def _folded(act: Act) -> tuple[str, str, tuple[str, ...]]:
    return act.name.lower(), act.slot.lower(), tuple(value.lower().strip() for value in act.values)


def describe(act: Act | None, with_value: bool = False) -> str:
    """An act as people write it: ``restaurant-inform(food)``, ``restaurant-inform(food=thai)``; "" of none."""
    if act is None:
        return ""
    value = f"={', '.join(act.values).lower()}" if with_value and act.values else ""
    return f"{act.name.lower()}({act.slot.lower()}{value})"


SENTENCE_ENDS = re.compile(r"(?<=[.?!]) +")


def template(text: str, acts: Iterable[Spoken]) -> str:
    """The words of a turn in lower case, with the values of its acts replaced by their slots: ``it is [postcode] .``"""
    words = text.lower()
    values = {value.lower(): act.slot for act in acts if act.slot for value in act.act.values}
    for value in sorted(values, key=len, reverse=True):
        if len(value) > 1 or value.isdigit():
            words = words.replace(value, f"[{values[value]}]")
    return words


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


# The causes of lost points.

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
    """What was misheard in one dialogue, its loops and its end, and the causes of lost points that follow from these.

    Where it was not recorded what the other side understood, nothing was misheard.
    """

    def __init__(self, turns: Sequence[SpokenTurn], reader: ActReader, booking_service: str) -> None:
        self._turns, self._reader, self._booking = turns, reader, booking_service
        self._pairs = [
            list(misheard([act.act for act in turn.said or ()], [act.act for act in turn.heard]))
            if turn.heard is not None and turn.heard != turn.said
            else []
            for turn in turns
        ]
        self._confusions = [
            [
                Confusion(speaker, error, *(describe(act, error == "value") for act in (said, heard)))
                for error, said, heard in pairs
            ]
            for turn, pairs in zip(turns, self._pairs, strict=True)
            for speaker in (_SIDES[turn.position % 2],)
        ]
        self._services = {service for turn in turns[::2] for service in turn.services}
        self.loops = tuple(self._find_loops())
        self.end = self._find_end()
        self._looping: dict[int, Cause] = {
            turn: loop.cause for loop in self.loops for turn in range(loop.first + 1, loop.last + 1)
        }

    def occurrences(self) -> Iterator[Occurrence]:
        """All confusions, each with the sentence that was misheard; turns whose acts are not recorded do not count."""
        for turn, pairs, confusions in zip(self._turns, self._pairs, self._confusions, strict=True):
            if pairs and turn.said is not None:
                words = template(turn.text, turn.said)
                for pair, confusion in zip(pairs, confusions, strict=True):
                    slot = "" if pair.said is None else self._reader.slot(pair.said)
                    parts = (part for part in SENTENCE_ENDS.split(words) if slot and f"[{slot}]" in part)
                    yield turn.position, confusion, next(parts, words).strip() if slot else words

    def _relevant(self, position: int, services: Sequence[str], slots: frozenset[str]) -> list[Confusion]:
        """The confusions of a turn that bear on the slots of the services.

        Such a confusion is about one of the slots, or it hides or feigns an outcome: that something was told, refused
        or booked. A refusal that was heard with other criteria is a refusal that was heard.
        """
        if not self._pairs[position]:
            return []
        turn = self._turns[position]
        in_said, in_heard = ({self._outcome(act.act) for act in acts or ()} for acts in (turn.said, turn.heard))

        def bears(act: Act | None, other: set[tuple[str, str]]) -> bool:
            if act is None or act.domain not in services:
                return False
            service, outcome = self._outcome(act)
            about = outcome != "refused" and self._reader.slot(act) in slots
            return about or (outcome != "asked" and (service, outcome) not in other)

        return [
            confusion
            for confusion, pair in zip(self._confusions[position], self._pairs[position], strict=True)
            if bears(pair.said, in_heard) or bears(pair.heard, in_said)
        ]

    def _outcome(self, act: Act) -> tuple[str, str]:
        """What an act of the system comes to, with its service."""
        families = self._reader.families(act.name)
        if families & (NOOFFER | NOBOOK):
            return act.domain, "refused"
        if families & (BOOK | OFFERBOOKED):
            return act.domain, "booked"
        return act.domain, "asked" if families & REQUEST else "told"

    def _find_loops(self) -> Iterator[Loop]:
        """The loops of the dialogue, in order. Pleasantries alone are no loop."""
        users = self._turns[::2]
        acts_of = [Counter(act.act for act in turn.said or ()) for turn in users]
        start = 0
        for end in range(1, len(users) + 1):
            if end < len(users) and acts_of[end] == acts_of[end - 1]:
                continue
            acts = [act for act in users[start].said or () if act.in_domain]
            if end - start >= MIN_REPEATS and acts:
                yield self._loop(range(2 * start, 2 * end, 2), acts)
            start = end

    def _loop(self, places: range, acts: Sequence[Spoken]) -> Loop:
        """A loop with its cause: the side that misunderstood at least half of the repetitions, else the one that stands
        still. Of the answers that the user misheard only those count in which it missed what bears on what it repeats.
        """
        domains = tuple(dict.fromkeys(act.act.domain for act in acts))
        services = (*domains, self._booking) if self._booking else domains
        slots = frozenset(act.slot for act in acts if act.act.slot)
        answers = [place + 1 for place in places[:-1]]
        answered = [answer for answer in answers if not self._turns[answer].services.keys().isdisjoint(services)]
        cause: Cause = "user policy" if 2 * len(answered) >= len(answers) else "system policy"
        said = heard = ""
        sides: tuple[tuple[Cause, list[list[Confusion]]], ...] = (
            ("user NLU", [self._relevant(answer, services, slots) for answer in answers]),
            ("system NLU", [self._confusions[place] for place in places[:-1]]),
        )
        for side, errors in sides:
            failed = [each for each in errors if each]
            if failed and 2 * len(failed) >= len(errors):
                ((main, _),) = Counter(confusion for each in failed for confusion in each).most_common(1)
                cause, said, heard = side, main.said, main.heard
        named = tuple(dict.fromkeys(describe(act.act, with_value=True) for act in acts))
        return Loop(places[0], places[-1], len(places), named, domains, cause, said, heard)

    def _find_end(self) -> End:
        """Still in a loop when the user last spoke of anything, with a goodbye, or otherwise."""
        goodbye = False
        for turn in reversed(self._turns[::2]):
            acts = turn.said or ()
            goodbye = goodbye or any("bye" in act.act.name.lower() for act in acts)
            if any(act.in_domain for act in acts):
                if self.loops and self.loops[-1].last == turn.position:
                    return "loop"
                break
            if not goodbye:
                break
        return "goodbye" if goodbye else "open"

    def excused(self, labels: Iterable[str], turn: int) -> Cause:
        """The cause of a repetition with an excuse."""
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
        if any(self._relevant(answer, services, frozenset((slot,))) for answer in (first + 1, second - 1)):
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
        if self.end == "loop" and (domain in self.loops[-1].domains or domain not in self._services):
            return (*labels, STUCK), self.loops[-1].cause
        return labels, "user policy"


_SIDES: tuple[Speaker, Speaker] = ("user", "system")


def _about(acts: Iterable[Spoken], services: tuple[str, ...], slot: str) -> list[Spoken]:
    return [act for act in acts if act.act.domain in services and act.slot == slot]


def _asks_unsaid(turn: SpokenTurn, services: tuple[str, ...], slot: str) -> bool:
    """Did the user hear that it was asked for the slot, or offered a choice of it, although the system did neither?"""
    heard, said = (_about(acts or (), services, slot) for acts in (turn.heard, turn.said))
    asks = REQUEST | RECOMMEND
    return any(act.families & asks for act in heard) and not any(act.families & asks for act in said)


def _prompts_unsaid(turn: SpokenTurn, services: tuple[str, ...], slot: str) -> bool:
    """Did the user hear of the slot, or of a whole service, although the system had not spoken of it?"""
    heard = {act.act.domain for act in turn.heard or ()}
    if any(service in heard and service not in turn.services for service in services):
        return True
    if _about(turn.heard or (), services, slot) and not _about(turn.said or (), services, slot):
        return True
    return _asks_unsaid(turn, services, slot)
