"""What else a conversation shows: loops and their cause, confusions of language understanding, expression patterns.

Loops: the user says the very same acts in three or more of its turns running. In the paper most lost points come from
loops: the user mishears the booking reference and states its booking constraints until the session ends. A loop's cause
follows from what was said and heard inside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Act, Speaker, Task, Turn
from dialgauge.users.turns import (
    BOOK,
    EQUALS,
    NOBOOK,
    NOOFFER,
    OFFERBOOKED,
    REQUEST,
    ActLexicon,
    PreparedTurn,
)

MIN_REPEATS = 3
_GOODBYE = "bye"

#: How a conversation ends: in a loop, with the user's goodbye, or just so.
End: TypeAlias = Literal["loop", "goodbye", "open"]
ENDS: tuple[End, ...] = ("loop", "goodbye", "open")

Cause: TypeAlias = Literal["user NLU", "system NLU", "system policy", "user policy"]

CAUSES: dict[Cause, str] = {
    "user NLU": "the user did not understand the system's answers",
    "system NLU": "the system did not understand the user",
    "system policy": "the system understood and gave no answer in the domain",
    "user policy": "both sides understood each other, and the user still repeated itself",
}


class Loop(Struct, frozen=True, array_like=True, gc=False):
    """The same acts in the user turns ``first`` to ``last``: how often, and why; ``detail`` is the main confusion."""

    first: int
    last: int
    repeats: int
    acts: tuple[str, ...]
    domains: tuple[str, ...]
    cause: Cause
    detail: str = ""


def loops(
    turns: Sequence[Turn], misheard: Misheard, *, general_service: str = "", booking_service: str = ""
) -> Iterator[Loop]:
    """The loops of a dialogue, in order. Pleasantries alone are no loop."""
    users = [place for place, turn in enumerate(turns) if turn.speaker == "user"]
    start = 0
    for end in range(1, len(users) + 1):
        if end < len(users) and _same(turns[users[end]].acts, turns[users[end - 1]].acts):
            continue
        if end - start >= MIN_REPEATS:
            acts = [act for act in turns[users[start]].acts or () if act.domain != general_service]
            if acts:
                yield _loop(turns, users[start:end], acts, misheard, booking_service)
        start = end


def _same(acts: tuple[Act, ...] | None, others: tuple[Act, ...] | None) -> bool:
    """Are these the same acts, in whatever order?"""
    if acts == others:
        return True
    if not acts or not others or len(acts) != len(others) or acts[0] not in others:
        return False
    return Counter(acts) == Counter(others)


def _loop(turns: Sequence[Turn], places: list[int], acts: list[Act], misheard: Misheard, booking_service: str) -> Loop:
    domains = tuple(dict.fromkeys(act.domain for act in acts))
    services = (*domains, booking_service) if booking_service else domains
    slots = frozenset(misheard.slot(act) for act in acts if act.slot)
    cause, detail = _cause(turns, places, misheard, services, slots)
    return Loop(
        first=places[0],
        last=places[-1],
        repeats=len(places),
        acts=tuple(dict.fromkeys(describe(act, with_value=True) for act in acts)),
        domains=domains,
        cause=cause,
        detail=detail,
    )


def _cause(
    turns: Sequence[Turn], places: list[int], misheard: Misheard, services: tuple[str, ...], slots: frozenset[str]
) -> tuple[Cause, str]:
    """The side whose understanding failed in at least half of the repetitions, or else the side that stands still.

    Of the answers that the user misheard only those count in which it missed something that bears on what it repeats.
    """
    repeated = places[:-1]
    answers = [place + 1 for place in repeated if turns[place + 1].speaker == "system"]
    sides: tuple[tuple[Cause, list[tuple[Confusion, ...]]], ...] = (
        ("system NLU", [misheard.confusions[place] for place in repeated]),
        ("user NLU", [misheard.bearing_on(place, services, slots) for place in answers]),
    )
    for cause, errors in sides:
        failed = [each for each in errors if each]
        if failed and 2 * len(failed) >= len(errors):
            return cause, _commonest([confusion for each in failed for confusion in each])
    answered = [place for place in answers if any(act.domain in services for act in turns[place].acts or ())]
    return ("user policy" if 2 * len(answered) >= len(answers) else "system policy"), ""


def _commonest(confusions: list[Confusion]) -> str:
    (confusion, _), *_ = Counter(confusions).most_common(1)
    return f"{confusion.said or 'nothing'} heard as {confusion.heard or 'nothing'}"


def conversation_end(turns: Sequence[Turn], repeats: Sequence[Loop], general_service: str) -> End:
    """How the conversation ends: still in a loop when the user last spoke of anything, with a goodbye, or otherwise."""
    goodbye = False
    for position in range(len(turns) - 1, -1, -1):
        turn = turns[position]
        if turn.speaker != "user":
            continue
        acts = turn.acts or ()
        goodbye = goodbye or any(_GOODBYE in act.name.lower() for act in acts)
        if any(act.domain != general_service for act in acts):
            if repeats and repeats[-1].last == position:
                return "loop"
            break
        if not goodbye:
            break
    return "goodbye" if goodbye else "open"


# What was said against what was heard: the errors of both sides' language understanding.
#
# Acts said and acts heard in a turn are compared without regard to order. What is left over on both sides is paired:
# acts that differ only in the value, then only in the name, then only in the slot; the rest was missed or invented.

Fault: TypeAlias = Literal["value", "act", "slot", "missed", "invented"]

NOTHING = ""


class Confusion(Struct, frozen=True, array_like=True, gc=False):
    """``speaker`` said one thing and the other side heard another. Values are only given when they alone differ."""

    speaker: Speaker
    fault: Fault
    said: str
    heard: str


#: What an act of the system comes to.
Outcome: TypeAlias = Literal["told", "asked", "refused", "booked"]


class Misheard:
    """What was misheard in one dialogue: the confusions of every turn, and those that bear on something."""

    def __init__(self, turns: Sequence[Turn], confusions: list[tuple[Confusion, ...]], lexicon: ActLexicon) -> None:
        self._turns, self._lexicon = turns, lexicon
        self.confusions = confusions
        #: Loops repeat their answers. By the identity of what was said and heard, which the turns keep.
        self._bearing: dict[tuple[int, int, tuple[str, ...], frozenset[str]], tuple[Confusion, ...]] = {}

    def slot(self, act: Act) -> str:
        """The act's slot under the name that goals use."""
        return self._lexicon.slot(act)

    def bearing_on(self, place: int, services: tuple[str, ...], slots: frozenset[str]) -> tuple[Confusion, ...]:
        """The confusions of a turn that bear on the slots of the services.

        Such a confusion is about one of the slots, or it hides or feigns the outcome: something was told, refused or
        booked. Who hears a refusal, but not all of the criteria that it names, has heard the refusal.
        """
        if not self.confusions[place]:
            return ()
        turn = self._turns[place]
        key = id(turn.acts), id(turn.heard), services, slots
        known = self._bearing.get(key)
        if known is None:
            known = self._bearing[key] = self._bear(place, services, slots)
        return known

    def _bear(self, place: int, services: tuple[str, ...], slots: frozenset[str]) -> tuple[Confusion, ...]:
        turn = self._turns[place]
        acts, heard = turn.acts or (), turn.heard or ()
        outcomes = [{self._outcome(act) for act in side} for side in (heard, acts)]

        def bears(act: Act | None, other: set[tuple[str, Outcome]]) -> bool:
            if act is None or act.domain not in services:
                return False
            service, outcome = self._outcome(act)
            about = outcome != "refused" and self.slot(act) in slots
            return about or (outcome != "asked" and (service, outcome) not in other)

        pairs = zip(self.confusions[place], _mishearings(acts, heard), strict=True)
        return tuple(
            confusion
            for confusion, mishearing in pairs
            if bears(mishearing.said, outcomes[0]) or bears(mishearing.heard, outcomes[1])
        )

    def _outcome(self, act: Act) -> tuple[str, Outcome]:
        """What an act comes to, and in which service."""
        families = self._lexicon.families(act.name)
        kinds: tuple[tuple[Outcome, int], ...] = (
            ("refused", NOOFFER | NOBOOK),
            ("booked", BOOK | OFFERBOOKED),
            ("asked", REQUEST),
        )
        return act.domain, next((kind for kind, members in kinds if families & members), "told")


class Hearing:
    """Compares what was said with what was heard; turns that share both, as readers let them, are compared once."""

    _KEPT = 1 << 14

    def __init__(self, lexicon: ActLexicon) -> None:
        self._lexicon = lexicon
        #: By the identity of what was said and heard; both are kept, so that no others can take their identity.
        self._known: dict[tuple[Speaker, int, int], tuple[tuple[Confusion, ...], Any]] = {}

    def misheard(self, turns: Sequence[Turn]) -> Misheard:
        """The confusions of each turn; none where it was not recorded what the other side understood."""
        keys = [(turn.speaker, id(turn.acts), id(turn.heard)) for turn in turns]
        errors = {key: self._confusions(key, turn) for key, turn in dict(zip(keys, turns, strict=True)).items()}
        return Misheard(turns, [errors[key] for key in keys], self._lexicon)

    def _confusions(self, key: tuple[Speaker, int, int], turn: Turn) -> tuple[Confusion, ...]:
        heard = turn.heard
        if heard is None:
            return ()
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= self._KEPT:
                self._known.clear()
            acts = turn.acts or ()
            errors = () if acts == heard else _compare(turn.speaker, acts, heard)
            known = self._known[key] = errors, (turn.acts, heard)
        return known[0]


def confusions(turns: Sequence[Turn], misheard: Misheard) -> dict[Confusion, int]:
    """All confusions of a dialogue; turns whose understanding was not recorded do not count."""
    told = [errors for turn, errors in zip(turns, misheard.confusions, strict=True) if errors and turn.acts is not None]
    alike = {id(errors): errors for errors in told}
    counts: dict[Confusion, int] = {}
    for identity, times in Counter(map(id, told)).items() if told else ():
        for confusion in alike[identity]:
            counts[confusion] = counts.get(confusion, 0) + times
    return counts


@lru_cache(maxsize=1 << 14)
def _compare(speaker: Speaker, acts: tuple[Act, ...], understood: tuple[Act, ...]) -> tuple[Confusion, ...]:
    return tuple(
        Confusion(speaker, fault, *(NOTHING if act is None else describe(act, fault == "value") for act in pair))
        for fault, *pair in _mishearings(acts, understood)
    )


class Mishearing(NamedTuple):
    """An act that was said and what was heard for it: None where that is nothing, or where nothing was said."""

    fault: Fault
    said: Act | None
    heard: Act | None


@lru_cache(maxsize=1 << 14)
def _mishearings(acts: tuple[Act, ...], understood: tuple[Act, ...]) -> tuple[Mishearing, ...]:
    return tuple(misheard(acts, understood))


def misheard(acts: Iterable[Act], understood: Iterable[Act]) -> Iterator[Mishearing]:
    """Where what was heard differs from what was said."""
    acts, understood = tuple(acts), tuple(understood)
    said, heard = _rest(acts, understood), _rest(understood, acts)
    rules: tuple[tuple[Fault, Callable[[Act], tuple[str, ...]]], ...] = (
        ("value", lambda act: (act.name.lower(), act.slot.lower())),
        ("act", lambda act: (act.slot.lower(),)),
        ("slot", lambda act: (act.name.lower(),)),
    )
    for fault, key in rules:
        for one, other in _pairs(said, heard, key):
            yield Mishearing(fault, one, other)
    for act in said:
        yield Mishearing("missed", act, None)
    for act in heard:
        yield Mishearing("invented", None, act)


def describe(act: Act, with_value: bool = False) -> str:
    """An act as people write it: ``restaurant-inform(food)``, ``restaurant-inform(food=thai)``."""
    slot = act.slot.lower()
    inside = f"{slot}={', '.join(act.values).lower()}" if with_value and act.values else slot
    return f"{act.name.lower()}({inside})"


@lru_cache(maxsize=1 << 14)
def _folded(act: Act) -> tuple[str, str, tuple[str, ...]]:
    return act.name.lower(), act.slot.lower(), tuple(value.lower().strip() for value in act.values)


def _rest(acts: Iterable[Act], others: Iterable[Act]) -> list[Act]:
    """The acts without those that occur on the other side too."""
    known: dict[tuple[str, str, tuple[str, ...]], int] = {}  # of one or two acts a Counter takes ten times as long
    for key in map(_folded, others):
        known[key] = known.get(key, 0) + 1
    rest = []
    for act in acts:
        key = _folded(act)
        if known.get(key):
            known[key] -= 1
        else:
            rest.append(act)
    return rest


def _pairs(said: list[Act], heard: list[Act], key: Callable[[Act], tuple[str, ...]]) -> Iterator[tuple[Act, Act]]:
    """Acts of both sides with the same key, taken out of both lists."""
    for act in list(said):
        match = next((other for other in heard if key(other) == key(act)), None)
        if match is not None:
            said.remove(act)
            heard.remove(match)
            yield act, match


# How a user brings its goal across: all at once or bit by bit, completely or not (Figures 4 and 6a of the paper). For
# each part of a goal with several constraints (or requests): ``miss_all`` when none was said; otherwise ``miss`` or
# ``no_miss`` (is any left unsaid?) and ``one`` or ``mult`` (do those said share a turn?).

PatternKind: TypeAlias = Literal["search", "booking", "request"]

PARTS: dict[str, PatternKind] = {"info": "search", "fail_info": "search", "book": "booking", "fail_book": "booking"}
PATTERNS = ("no_miss_one", "no_miss_mult", "miss_one", "miss_mult", "miss_all")


class Pattern(Struct, frozen=True, array_like=True, gc=False):
    """The pattern of one part of a goal: which part of which domain, how many things it wants, and the pattern."""

    kind: PatternKind
    domain: str
    part: str
    wanted: int
    pattern: str


def patterns(
    tasks: dict[str, Task], spoken: Sequence[PreparedTurn], said: dict[str, dict[str, list[int]]]
) -> Iterator[Pattern]:
    """The patterns of all parts of the goal that want more than one thing; ``said``: the user's normalised informs."""
    for domain, task in tasks.items():
        informed = said.get(domain, {})
        for part, kind in PARTS.items():
            stated: dict[str, str] = getattr(task, part)
            constraints = _constraints(stated) if len(stated) > 1 else ()
            if len(constraints) > 1:
                turns = [informed.get(constraint, ()) for constraint in constraints]
                yield Pattern(kind, domain, part, len(constraints), expression_pattern(turns))
        requests = dict.fromkeys([slot.lower() for slot in task.requests])
        if len(requests) > 1:
            requested = _requested(spoken, domain)
            turns = [requested.get(slot, ()) for slot in requests]
            yield Pattern("request", domain, "reqt", len(requests), expression_pattern(turns))


def expression_pattern(turns: Collection[Collection[int]]) -> str:
    """The pattern of several things, each given by the turns it was said in.

    >>> expression_pattern([[0, 4], [4]]), expression_pattern([[0], [2], []]), expression_pattern([[], []])
    ('no_miss_one', 'miss_mult', 'miss_all')
    """
    said = [set(each) for each in turns if each]
    if not said:
        return "miss_all"
    completeness = "no_miss" if len(said) == len(turns) else "miss"
    return f"{completeness}_{'one' if set.intersection(*said) else 'mult'}"


def _constraints(stated: dict[str, str]) -> Collection[str]:
    return dict.fromkeys([f"{slot}{EQUALS}{value}".lower() for slot, value in stated.items()])


def _requested(spoken: Sequence[PreparedTurn], domain: str) -> dict[str, list[int]]:
    """The slots of the user's request acts in a domain, with their turns."""
    requested: dict[str, list[int]] = {}
    for turn in spoken[::2]:
        for act in turn.services.get(domain, ()):
            if act.families & REQUEST and act.slot:
                requested.setdefault(act.slot, []).append(turn.position)
    return requested
