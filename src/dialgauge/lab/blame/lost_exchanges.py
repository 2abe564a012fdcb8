"""Exchanges that brought a conversation no further, each with what lost it: for conversations that ran out of steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dialgauge.dialogue import Act, Call, Turn
from dialgauge.intents import INFORM, NO_OFFER, REFUSING, REQUEST
from dialgauge.lab.blame.broken_links import Cause
from dialgauge.values import constrains, same_value
from dialgauge.worlds.domain import GENERAL

_BOOKING = "booking"


def fully_lost_exchanges(turns: Sequence[Turn]) -> list[tuple[int, Cause]]:
    """The turns in which exchanges were lost, in order. A user that says nothing new lost its exchange already."""
    repeated = dict(repeats(turns))
    lost = list(repeated.items())
    for index in range(1, len(turns)):
        if turns[index].speaker == "system" and turns[index - 1].speaker == "user" and index - 1 not in repeated:
            if nothing_heard(turns[index - 1]):
                lost.append((index - 1, "said_not_heard"))
            elif cause := _beside(turns, index) or _asked_again(turns, index):
                lost.append((index, cause))
            elif _needless_question(turns, index - 1):
                lost.append((index - 1, "said_not_heard"))
            elif nothing_heard(turns[index]) or _told_again(turns, index):
                lost.append((index, "answered_not_heard"))
    return sorted(lost)


def partly_lost_exchanges(turns: Sequence[Turn]) -> list[tuple[int, Cause]]:
    """The turns in which a part of an exchange was lost, in order: something had to be said, asked or told again.

    They decide where no exchange was lost as a whole. A user that says again what was heard and answered, beside
    something new, has used up no step by it.
    """
    lost: list[tuple[int, Cause]] = [pair for pair in _said_again(turns) if pair[1] != "never_said"]
    for index, turn in enumerate(turns):
        if turn.speaker == "system" and index:
            if cause := _asked_needlessly(turns, index):
                lost.append((index, cause))
            if _partly_told_again(turns, index):
                lost.append((index, "answered_not_heard"))
    return sorted(lost)


def late_reply(turns: Sequence[Turn]) -> tuple[int, int] | None:
    """The first user turn that the system understood and passed over, and the later turn in which it came back to it
    though the user spoke of something else by then. None: it answered in time."""
    for index in range(1, len(turns)):
        asked, reply = turns[index - 1], turns[index]
        if reply.speaker != "system" or not asked.heard or reply.acts is None:
            continue
        answered = _domains(reply.acts)
        passed_over = _domains(asked.heard) - answered if _BOOKING not in answered else set()
        for later in range(index + 2, len(turns), 2):
            spoken, answering = _domains(turns[later - 1].heard), _domains(turns[later].acts)
            if passed_over & answering - spoken:
                return index - 1, later
    return None


def _said_again(turns: Sequence[Turn]) -> Iterator[tuple[int, Cause]]:
    """The user turns that say something again, and what made the user do so."""
    for index, acts, before in _with_earlier(turns):
        if again := [act for act in acts if act in before]:
            yield index, _why_repeated(again, before, turns, index)


def _with_earlier(turns: Sequence[Turn]) -> Iterator[tuple[int, list[Act], Mapping[Act, int]]]:
    """The user turns with what they say, and what was said before, each with the last turn that said it."""
    before: dict[Act, int] = {}
    for index, turn in enumerate(turns):
        if turn.speaker == "user":
            acts = _matter(turn.acts)
            yield index, acts, before
            before.update(dict.fromkeys(acts, index))


def _asked_needlessly(turns: Sequence[Turn], position: int) -> Cause | None:
    """Does a system's turn ask for something that the user had said, among other things? And why."""
    asked = {(act.domain, act.slot) for act in _matter(turns[position].acts) if act.intent == REQUEST}
    since = _last_refusal(turns, position)
    for turn in turns[since:position]:
        if turn.speaker != "user":
            continue
        for act in turn.acts or ():
            given = act.intent == INFORM and act.values and constrains(act.values[-1])
            if given and (act.domain, act.slot) in asked:
                return "said_not_heard" if turn.heard is not None and act not in turn.heard else "heard_not_acted_on"
    return None


def _partly_told_again(turns: Sequence[Turn], position: int) -> bool:
    """Does the system tell again something that it told before, and that the user had not heard?"""
    statements = {act for act in _matter(turns[position].acts) if act.intent != REQUEST}
    return any(
        act in statements and act not in (turn.heard or ())
        for turn in turns[:position]
        if turn.speaker == "system" and turn.heard is not None
        for act in _matter(turn.acts)
    )


def repeats(turns: Sequence[Turn], domain: str = "") -> Iterator[tuple[int, Cause]]:
    """The user turns that say nothing new, of a domain or of all, each with what made the user say it again."""
    for index, acts, before in _with_earlier(turns):
        spoken = not domain or any(act.domain == domain for act in acts)
        if acts and spoken and all(act in before for act in acts):
            yield index, _why_repeated(acts, before, turns, index)


def _why_repeated(acts: list[Act], before: Mapping[Act, int], turns: Sequence[Turn], position: int) -> Cause:
    """What was not heard, or not answered, comes before the user's own doing."""
    if any(act not in (turns[before[act]].heard or ()) for act in acts if turns[before[act]].heard is not None):
        return "said_not_heard"
    replies = [before[act] + 1 for act in acts] + [position - 1]
    if any(
        turns[reply].heard is not None and set(turns[reply].acts or ()) != set(turns[reply].heard or ())
        for reply in replies
    ):
        return "answered_not_heard"
    if any(not _matter(turns[reply].acts) for reply in replies):
        return "heard_not_acted_on"
    wrong = (_beside(turns, reply) or _asked_again(turns, reply) for reply in replies)
    return next((cause for cause in wrong if cause), "never_said")


def nothing_heard(turn: Turn) -> bool:
    """Did the other side hear nothing at all of what a turn said? The intent may be taken for another one."""
    said = {(act.domain, act.slot, act.values) for act in _matter(turn.acts)}
    return bool(said) and turn.heard is not None and not said & {(a.domain, a.slot, a.values) for a in turn.heard}


def _beside(turns: Sequence[Turn], position: int) -> Cause | None:
    """What made a system's turn deal with another domain, or refuse what was not asked for. None: it did not."""
    reply, asked = turns[position], turns[position - 1]
    spoken, called = _domains(asked.acts), {call.domain for call in reply.calls or ()}
    if not spoken:
        return None
    touched = called or _domains(reply.acts)
    if touched and _BOOKING not in touched and not touched & spoken:
        if asked.heard is not None and not spoken & _domains(asked.heard):
            return "said_not_heard"
        return "acted_on_wrong" if called else "heard_not_acted_on"
    if any(act.intent == NO_OFFER for act in reply.acts or ()):
        searches = (call for call in reply.calls or () if call.name == "search")
        return next((cause for call in searches if (cause := _searched_otherwise(turns[:position], call))), None)
    return None


def _searched_otherwise(turns: Sequence[Turn], call: Call) -> Cause | None:
    """Why a search was for something that the user does not want."""
    for slot, value in call.arguments.items():
        wish = _last(call.domain, slot, (turn.acts for turn in turns if turn.speaker == "user"))
        if not constrains(value) or (wish is not None and same_value(wish, value)):
            continue
        heard = _last(call.domain, slot, (turn.heard for turn in turns if turn.speaker == "user"))
        return "said_not_heard" if heard is not None and same_value(heard, value) else "acted_on_wrong"
    return None


def _asked_again(turns: Sequence[Turn], position: int) -> Cause | None:
    """The system asked for nothing but what it had heard, and nothing had been refused that would give it reason."""
    acts = _matter(turns[position].acts)
    if not acts or any(act.intent != REQUEST for act in acts):
        return None
    since = _last_refusal(turns, position)
    heard = {
        (act.domain, act.slot)
        for turn in turns[since:position]
        if turn.speaker == "user"
        for act in turn.heard or ()
        if act.intent == INFORM and act.values and constrains(act.values[-1])
    }
    return "heard_not_acted_on" if all((act.domain, act.slot) in heard for act in acts) else None


def _last_refusal(turns: Sequence[Turn], position: int) -> int:
    """The last turn before a place that refused something, which gives reason to ask again; else the first turn."""
    return max(
        (number for number in range(position) if any(a.intent in REFUSING for a in turns[number].acts or ())), default=0
    )


def _needless_question(turns: Sequence[Turn], position: int) -> bool:
    """Does the user answer a question with "any", though it said something of the domain that was not heard?"""
    acts = _matter(turns[position].acts)
    if not acts or any(act.intent != INFORM or not act.values or constrains(act.values[-1]) for act in acts):
        return False
    domains, before = _domains(turns[position].acts), [turn for turn in turns[:position] if turn.speaker == "user"]
    heard = {act for turn in before for act in turn.heard or ()}
    return any(
        act.domain in domains and act.slot and act not in heard
        for turn in before
        if turn.heard is not None
        for act in turn.acts or ()
    )


def _told_again(turns: Sequence[Turn], position: int) -> bool:
    """Does the system say just what it said before, which the user had heard otherwise?"""
    acts, before = set(_matter(turns[position].acts)), turns[position - 2] if position > 1 else None
    if before is None or before.heard is None or not acts:
        return False
    return acts <= set(before.acts or ()) and set(before.acts or ()) != set(before.heard)


def _last(domain: str, slot: str, turns: Iterable[tuple[Act, ...] | None]) -> str | None:
    """The last value of a slot that was informed of."""
    value = None
    for acts in turns:
        for act in acts or ():
            if act.domain == domain and act.slot == slot and act.values and act.intent == INFORM:
                value = act.values[-1]
    return value


def _matter(acts: tuple[Act, ...] | None) -> list[Act]:
    return [act for act in acts or () if act.domain != GENERAL]


def _domains(acts: tuple[Act, ...] | None) -> set[str]:
    return {act.domain for act in _matter(acts)}
