"""Whose fault a lost point is: the user's understanding, the user's policy, or the system's.

The first rule that fits decides:

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

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from dialgauge.users.labels import REPEATED, REPEATED_REQUESTS
from dialgauge.users.loops import Cause, End, Loop
from dialgauge.users.mishearing import Misheard
from dialgauge.users.turns import RECOMMEND, REQUEST, PreparedTurn, Said

#: The labels of a lost point, and its cause.
Reason: TypeAlias = tuple[tuple[str, ...], Cause]

LOOP = "lost/loop"
LIMIT = "lost/limit_exceeded"
MISHEARD = "lost/answer_misheard"
ANSWERED = "lost/answer_heard"
IGNORED = "lost/no_answer"
PROMPT = "lost/prompt_misheard"
STUCK = "lost/never_reached"

#: What a system asks for a value with, or puts one up for choice.
_ASKS = REQUEST | RECOMMEND

#: Excuses that speak of the system; all others speak of the user, or of an answer that the user did not accept.
_OF_SYSTEM: dict[str, Cause] = {
    f"{REPEATED}/failed_sys_nlu": "system NLU",
    f"{REPEATED}/elicited_by_sys_question": "system policy",
    f"{REPEATED_REQUESTS}/system_req_nlu_failure": "system NLU",
    f"{REPEATED_REQUESTS}/delayed_response": "system policy",
    f"{REPEATED_REQUESTS}/user_prempted_request": "system policy",
}


class Blame:
    """The causes of one dialogue's lost points."""

    def __init__(
        self,
        prepared: Sequence[PreparedTurn],
        loops: tuple[Loop, ...],
        end: End,
        misheard: Misheard,
    ) -> None:
        self._prepared = prepared
        self.loops, self.end, self.misheard = loops, end, misheard
        self._looping: dict[int, Cause] = {
            turn: loop.cause for loop in loops for turn in range(loop.first + 1, loop.last + 1)
        }
        self._in_loops: dict[tuple[str, ...], tuple[str, ...]] = {}
        #: The loop the conversation ended in.
        self._last = loops[-1] if end == "loop" else None
        #: The services that the user speaks of.
        self._spoken_of: set[str] | None = None

    def looping(self, turn: int) -> Cause | None:
        """The cause of the loop in which a turn says the same again."""
        return self._looping.get(turn)

    def excused_too_often(self, labels: tuple[str, ...], turn: int) -> Reason:
        """A repetition with an excuse that no longer counts."""
        reasons = (LIMIT,) if self.looping(turn) is None else (LIMIT, LOOP)
        return (*labels, *reasons), self.excused(labels, turn)

    def excused(self, labels: tuple[str, ...], turn: int) -> Cause:
        """Whose doing a repetition with an excuse is."""
        cause = self.looping(turn)
        if cause is not None:
            return cause
        return next((_OF_SYSTEM[label] for label in labels if label in _OF_SYSTEM), "user policy")

    def unexcused(
        self, labels: tuple[str, ...], services: tuple[str, ...], slot: str, first: int, second: int
    ) -> Reason:
        """What was said of a slot of the services in turn ``first`` is said again in ``second``."""
        cause = self._looping.get(second)
        if cause is not None:
            return self._in_loops.setdefault(labels, (*labels, LOOP)), cause
        between = self._prepared[first + 1 : second : 2]
        if any(_asks_unsaid(turn, services, slot) for turn in between):
            return (*labels, PROMPT), "user NLU"
        if any(
            self.misheard.bearing_on(position, services, frozenset((slot,))) for position in (first + 1, second - 1)
        ):
            return (*labels, MISHEARD), "user NLU"
        if any(service in turn.services for turn in between for service in services):
            return (*labels, ANSWERED), "user policy"
        return (*labels, IGNORED), "system policy"

    def answered(
        self, labels: tuple[str, ...], services: tuple[str, ...], slot: str, answer: PreparedTurn, second: int
    ) -> Reason:
        """A request is made again in turn ``second`` although it was answered."""
        cause = self.looping(second)
        if cause is not None:
            return (*labels, LOOP), cause
        heard = None if answer.heard is None else _about(answer.heard.services, services, slot)
        if heard is None or any(not act.families & REQUEST for act in heard):
            return (*labels, ANSWERED), "user policy"
        return (*labels, MISHEARD), "user NLU"

    def uncalled_for(self, labels: tuple[str, ...], turn: int, services: tuple[str, ...], slot: str = "") -> Reason:
        """Something the goal does not have, a slot or a whole domain, is said in a turn."""
        cause = self.looping(turn)
        if cause is not None:
            return (*labels, LOOP), cause
        if turn > 0 and _prompts_unsaid(self._prepared[turn - 1], services, slot):
            return (*labels, PROMPT), "user NLU"
        return labels, "user policy"

    def unsaid(self, labels: tuple[str, ...], domain: str) -> Reason:
        """Something of a domain of the goal was never said, or never asked."""
        loop = self._last
        if loop is not None and (domain in loop.domains or not self._discussed(domain)):
            return (*labels, STUCK), loop.cause
        return labels, "user policy"

    def _discussed(self, domain: str) -> bool:
        if self._spoken_of is None:
            self._spoken_of = set[str]().union(*[turn.services for turn in self._prepared[::2]])
        return domain in self._spoken_of


def _about(acts: Mapping[str, Sequence[Said]], services: tuple[str, ...], slot: str) -> list[Said]:
    return [act for service in services for act in acts.get(service, ()) if act.slot == slot]


def _asks_unsaid(turn: PreparedTurn, services: tuple[str, ...], slot: str) -> bool:
    """Did the user hear that it was asked for the slot, or offered a choice of it, although the system did neither?"""
    if turn.heard is None:
        return False
    heard, said = (_about(acts, services, slot) for acts in (turn.heard.services, turn.services))
    return any(act.families & _ASKS for act in heard) and not any(act.families & _ASKS for act in said)


def _prompts_unsaid(turn: PreparedTurn, services: tuple[str, ...], slot: str) -> bool:
    """Did the user hear of the slot, or of a whole service, although the system had not spoken of it?"""
    if turn.heard is None:
        return False
    heard = turn.heard.services
    if any(service in heard and service not in turn.services for service in services):
        return True
    if _about(heard, services, slot) and not _about(turn.services, services, slot):
        return True
    return _asks_unsaid(turn, services, slot)
