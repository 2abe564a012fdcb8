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

from msgspec import Struct, structs

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
from dialgauge.users.labels import NO_EXCUSE, REPEATED, REPEATED_REQUESTS, SPURIOUS
from dialgauge.users.profile import DatasetProfile
from dialgauge.users.verdicts import Cause, Verdict

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

LOOP = "lost/loop"
LIMIT = "lost/limit_exceeded"
MISHEARD = "lost/answer_misheard"
HEARD = "lost/answer_heard"
IGNORED = "lost/no_answer"
PROMPT = "lost/prompt_misheard"
STUCK = "lost/never_reached"
#: Why a point is lost where the labels of the reference do not say it.
_UNNAMED = {
    ("I-GCDF1", "wrong-value"): ("lost/value_not_in_goal",),
    ("R-GCDF1", "out-of-goal"): ("lost/request_not_in_goal",),
    ("R-GCDF1", "missing"): ("lost/never_asked",),
}
#: Excuses that speak of the system; all others speak of the user, or of an answer that the user did not accept.
_OF_SYSTEM: dict[str, Cause] = {
    f"{REPEATED}/failed_sys_nlu": "system NLU",
    f"{REPEATED}/elicited_by_sys_question": "system policy",
    f"{REPEATED_REQUESTS}/system_req_nlu_failure": "system NLU",
    f"{REPEATED_REQUESTS}/delayed_response": "system policy",
    f"{REPEATED_REQUESTS}/user_prempted_request": "system policy",
}
#: Our reasons for a lost point, and its cause.
Reason: TypeAlias = tuple[tuple[str, ...], Cause]


class Causes:
    """What was misheard in one dialogue, its loops and its end, and the causes of lost points that follow from these.

    Where it was not recorded what the other side understood, nothing was misheard.
    """

    def __init__(self, turns: Sequence[SpokenTurn], reader: ActReader, profile: DatasetProfile) -> None:
        self._turns, self._reader, self._profile = turns, reader, profile
        self._pairs = [
            list(misheard([act.act for act in turn.said or ()], [act.act for act in turn.heard]))
            if turn.heard is not None and turn.heard != turn.said
            else []
            for turn in turns
        ]
        self._services = {service for turn in turns[::2] for service in turn.services}
        self.loops = tuple(self._find_loops())
        self.end = self._find_end()
        self._looping: dict[int, Cause] = {
            turn: loop.cause for loop in self.loops for turn in range(loop.first + 1, loop.last + 1)
        }

    def occurrences(self) -> Iterator[Occurrence]:
        """All confusions, each with the sentence that was misheard; turns whose acts are not recorded do not count."""
        for turn, pairs in zip(self._turns, self._pairs, strict=True):
            if pairs and turn.said is not None:
                words = template(turn.text, turn.said)
                for pair, confusion in zip(pairs, self._confusions(turn.position, pairs), strict=True):
                    slot = "" if pair.said is None else self._reader.slot(pair.said)
                    parts = (part for part in SENTENCE_ENDS.split(words) if slot and f"[{slot}]" in part)
                    yield turn.position, confusion, next(parts, words).strip() if slot else words

    def _confusions(self, position: int, pairs: Iterable[Mishearing]) -> list[Confusion]:
        """What was misheard in a turn, in words."""
        speaker: Speaker = "system" if position % 2 else "user"
        return [
            Confusion(speaker, error, *(describe(act, error == "value") for act in (said, heard)))
            for error, said, heard in pairs
        ]

    def _relevant(self, position: int, services: Sequence[str], slots: frozenset[str]) -> list[Mishearing]:
        """What was misheard in a turn that bears on the slots of the services.

        Such a mishearing is about one of the slots, or it hides or feigns an outcome: that something was told, refused
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

        return [pair for pair in self._pairs[position] if bears(pair.said, in_heard) or bears(pair.heard, in_said)]

    def _outcome(self, act: Act) -> tuple[str, str]:
        """The service of an act of the system, and its outcome: refused, booked, asked or told."""
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
        services = self._profile.with_booking(*domains)
        slots = frozenset(act.slot for act in acts if act.act.slot)
        answers = [place + 1 for place in places[:-1]]
        answered = [answer for answer in answers if not self._turns[answer].services.keys().isdisjoint(services)]
        cause: Cause = "user policy" if 2 * len(answered) >= len(answers) else "system policy"
        said = heard = ""
        sides: dict[Cause, dict[int, list[Mishearing]]] = {
            "user NLU": {answer: self._relevant(answer, services, slots) for answer in answers},
            "system NLU": {place: self._pairs[place] for place in places[:-1]},
        }
        for side, by_turn in sides.items():
            failed = [self._confusions(turn, pairs) for turn, pairs in by_turn.items() if pairs]
            if failed and 2 * len(failed) >= len(by_turn):
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

    def explained(self, verdict: Verdict) -> Verdict:
        """The verdict with the cause of its lost or forgiven point, and our reasons among the labels of a lost one."""
        if verdict.verdict == "repeated-forgiven":
            return structs.replace(verdict, cause=self._excused(verdict))
        if not verdict.fp and not verdict.fn:
            return verdict
        reasons, cause = self._unsaid(verdict.domain) if verdict.turn is None else self._wrong(verdict, verdict.turn)
        named = _UNNAMED.get((verdict.measure, verdict.verdict), ())
        return structs.replace(verdict, labels=(*verdict.labels, *named, *reasons), cause=cause)

    def _excused(self, verdict: Verdict) -> Cause:
        """The cause of a repetition with an excuse."""
        named: Cause = next((_OF_SYSTEM[label] for label in verdict.labels if label in _OF_SYSTEM), "user policy")
        return self._looping.get(verdict.turn or 0, named)

    def _wrong(self, verdict: Verdict, turn: int) -> Reason:
        """Something is said that the goal does not have, or said again."""
        loop, again = self._looping.get(turn), verdict.verdict == "repeated-penalised"
        if SPURIOUS in verdict.labels:
            return (), "user policy"
        may_excuse = again or verdict.verdict == "out-of-goal"
        if may_excuse and verdict.labels and NO_EXCUSE.isdisjoint(verdict.labels):
            return (LIMIT,) if loop is None else (LIMIT, LOOP), self._excused(verdict)
        if loop is not None:
            return (LOOP,), loop
        if not again:
            return self._uncalled_for(verdict, turn)
        return self._again(verdict, turn) if verdict.answer is None else self._answered(verdict, verdict.answer)

    def _again(self, verdict: Verdict, second: int) -> Reason:
        """Something is said again, without an excuse."""
        services, slot, first = self._profile.with_booking(verdict.domain), verdict.slot, verdict.turns[0]
        between = self._turns[first + 1 : second : 2]
        if any(_asks_unsaid(turn, services, slot) for turn in between):
            return (PROMPT,), "user NLU"
        if any(self._relevant(answer, services, frozenset((slot,))) for answer in (first + 1, second - 1)):
            return (MISHEARD,), "user NLU"
        if any(service in turn.services for turn in between for service in services):
            return (HEARD,), "user policy"
        return (IGNORED,), "system policy"

    def _answered(self, verdict: Verdict, answer: int) -> Reason:
        """A request is made again although it was answered."""
        acts = self._turns[answer].heard
        services = self._profile.with_booking(verdict.domain)
        if acts is None or any(not act.families & REQUEST for act in _about(acts, services, verdict.slot)):
            return (HEARD,), "user policy"
        return (MISHEARD,), "user NLU"

    def _uncalled_for(self, verdict: Verdict, turn: int) -> Reason:
        """Something that the goal does not have is said: a slot, or a whole domain."""
        shares_booking = (verdict.measure, verdict.verdict) == ("I-GCDF1", "out-of-goal")
        services = self._profile.with_booking(verdict.domain) if shares_booking else (verdict.domain,)
        slot = "" if verdict.verdict == "outside-domain" else verdict.slot
        if turn > 0 and _prompts_unsaid(self._turns[turn - 1], services, slot):
            return (PROMPT,), "user NLU"
        return (), "user policy"

    def _unsaid(self, domain: str) -> Reason:
        """Something of a domain of the goal was never said, or never asked."""
        if self.end == "loop" and (domain in self.loops[-1].domains or domain not in self._services):
            return (STUCK,), self.loops[-1].cause
        return (), "user policy"


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
