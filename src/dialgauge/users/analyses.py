"""What else a conversation shows: loops and their cause, confusions of language understanding, expression patterns.

Loops: the user says the very same acts in three or more of its turns running. In the paper most lost points come from
loops: the user mishears the booking reference and states its booking constraints until the session ends. A loop's cause
follows from what was said and heard inside it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Act, Speaker, Task
from dialgauge.users.turns import (
    BOOK,
    EQUALS,
    NOBOOK,
    NOOFFER,
    OFFERBOOKED,
    REQUEST,
    SILENCE,
    ActLexicon,
    Folded,
    PreparedTurn,
    Said,
    TurnActs,
    Utterance,
    folded,
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


def loops(turns: Sequence[PreparedTurn], misheard: Misheard, booking_service: str = "") -> Iterator[Loop]:
    """The loops of a dialogue, in order. Pleasantries alone are no loop."""
    users = turns[::2]
    start = 0
    for end in range(1, len(users) + 1):
        if end < len(users) and _same(users[end].said, users[end - 1].said):
            continue
        if end - start >= MIN_REPEATS:
            acts = [act for act in users[start].said.acts if act.about is not None]
            if acts:
                yield _loop(turns, range(2 * start, 2 * end, 2), acts, misheard, booking_service)
        start = end


def _same(utterance: Utterance, other: Utterance) -> bool:
    """Are these the same acts, in whatever order?"""
    if utterance is other:
        return True
    if (
        utterance.families != other.families
        or len(utterance.acts) != len(other.acts)
        or {*utterance.acts} != {*other.acts}
    ):
        return False
    return Counter(utterance.acts) == Counter(other.acts)


def _loop(
    turns: Sequence[PreparedTurn], places: range, acts: list[Said], misheard: Misheard, booking_service: str
) -> Loop:
    domains = tuple(dict.fromkeys([act.act.domain for act in acts]))
    services = (*domains, booking_service) if booking_service else domains
    slots = frozenset([act.slot for act in acts if act.act.slot])
    cause, detail = _cause(turns, places[:-1], misheard, services, slots)
    return Loop(
        first=places[0],
        last=places[-1],
        repeats=len(places),
        acts=tuple(dict.fromkeys([describe(act.act, with_value=True) for act in acts])),
        domains=domains,
        cause=cause,
        detail=detail,
    )


def _cause(
    turns: Sequence[PreparedTurn], repeated: range, misheard: Misheard, services: tuple[str, ...], slots: frozenset[str]
) -> tuple[Cause, str]:
    """The side whose understanding failed in at least half of the repetitions, or else the side that stands still.

    Of the answers that the user misheard only those count in which it missed something that bears on what it repeats.
    """
    answers = [position + 1 for position in repeated]
    sides: tuple[tuple[Cause, list[tuple[Confusion, ...]]], ...] = (
        ("system NLU", [misheard.confusions[position] for position in repeated]),
        ("user NLU", [misheard.bearing_on(answer, services, slots) for answer in answers]),
    )
    for cause, errors in sides:
        failed = [each for each in errors if each]
        if failed and 2 * len(failed) >= len(errors):
            return cause, _commonest([confusion for each in failed for confusion in each])
    answered = [answer for answer in answers if not turns[answer].services.keys().isdisjoint(services)]
    return ("user policy" if 2 * len(answered) >= len(answers) else "system policy"), ""


def _commonest(confusions: list[Confusion]) -> str:
    (confusion, _), *_ = Counter(confusions).most_common(1)
    return f"{confusion.said or 'nothing'} heard as {confusion.heard or 'nothing'}"


def conversation_end(turns: Sequence[PreparedTurn], repeats: Sequence[Loop]) -> End:
    """How the conversation ends: still in a loop when the user last spoke of anything, with a goodbye, or otherwise."""
    goodbye = False
    for turn in reversed(turns[::2]):
        acts = turn.said.acts
        goodbye = goodbye or any(_GOODBYE in act.folded[0] for act in acts)
        if any(act.about is not None for act in acts):
            if repeats and repeats[-1].last == turn.position:
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


class Confusion(Struct, frozen=True, array_like=True, gc=False, cache_hash=True):
    """``speaker`` said one thing and the other side heard another. Values are only given when they alone differ."""

    speaker: Speaker
    fault: Fault
    said: str
    heard: str


#: The turn of a confusion, the confusion, and the sentence that was misheard, with its values replaced.
Occurrence: TypeAlias = tuple[int, Confusion, str]

#: What an act of the system comes to.
Outcome: TypeAlias = Literal["told", "asked", "refused", "booked"]
_OUTCOMES: tuple[tuple[Outcome, int], ...] = (
    ("refused", NOOFFER | NOBOOK),
    ("booked", BOOK | OFFERBOOKED),
    ("asked", REQUEST),
)


class UtteranceHearing(NamedTuple):
    """What was said in a turn against what was heard: its confusions, and for each the act said and the act heard."""

    confusions: tuple[Confusion, ...]
    acts: tuple[tuple[Said | None, Said | None], ...]


class Misheard:
    """What was misheard in one dialogue: the confusions of every turn, and those that bear on something.

    There are none where it was not recorded what the other side understood.
    """

    def __init__(self, turns: Sequence[PreparedTurn], hearing: Hearing) -> None:
        self._turns, self._hearing = turns, hearing
        self.confusions = [
            () if turn.heard is None or turn.heard is turn.said else hearing.compared(turn.acts).confusions
            for turn in turns
        ]

    def bearing_on(self, position: int, services: tuple[str, ...], slots: frozenset[str]) -> tuple[Confusion, ...]:
        """The confusions of a turn that bear on the slots of the services.

        Such a confusion is about one of the slots, or it hides or feigns the outcome: something was told, refused or
        booked. Who hears a refusal, but not all of the criteria that it names, has heard the refusal.
        """
        if not self.confusions[position]:
            return ()
        return self._hearing.bearing_on(self._turns[position].acts, services, slots)

    def occurrences(self) -> list[Occurrence]:
        """All confusions of the dialogue; turns whose acts or whose understanding were not recorded do not count."""
        return [
            (turn.position, confusion, sentence)
            for turn, confused in zip(self._turns, self.confusions, strict=True)
            if confused and turn.said is not SILENCE
            for confusion, sentence in self._hearing.sentences(turn.text, turn.acts)
        ]


class Hearing:
    """Compares what was said with what was heard; turns that say and hear the same are compared once."""

    _KEPT = 1 << 14

    def __init__(self, lexicon: ActLexicon) -> None:
        self._lexicon = lexicon
        self.compared = lru_cache(self._KEPT)(self._compare)
        self.bearing_on = lru_cache(self._KEPT)(self._bearing)
        self.sentences = lru_cache(self._KEPT)(self._sentences)

    def _compare(self, turn: TurnActs) -> UtteranceHearing:
        said, heard = turn.said, turn.heard or SILENCE
        errors: list[Confusion] = []
        acts: list[tuple[Said | None, Said | None]] = []
        for fault, index, other in _faults([act.folded for act in said.acts], [act.folded for act in heard.acts]):
            pair = None if index is None else said.acts[index], None if other is None else heard.acts[other]
            texts = [NOTHING if each is None else describe(each.act, fault == "value") for each in pair]
            errors.append(Confusion(turn.speaker, fault, *texts))
            acts.append(pair)
        return UtteranceHearing(tuple(errors), tuple(acts))

    def _sentences(self, text: str, turn: TurnActs) -> tuple[tuple[Confusion, str], ...]:
        """The confusions of a turn, each with the sentence that was misheard, its values replaced."""
        words, heard = template(text, turn.said.acts), self.compared(turn)
        sentences = [sentence_of(words, act) for act, _ in heard.acts]
        return tuple(zip(heard.confusions, sentences, strict=True))

    def _bearing(self, turn: TurnActs, services: tuple[str, ...], slots: frozenset[str]) -> tuple[Confusion, ...]:
        sides = (turn.heard or SILENCE, turn.said)
        in_heard, in_said = ({self._outcome(act) for act in side.acts} for side in sides)

        def bears(act: Said | None, other: set[tuple[str, Outcome]]) -> bool:
            if act is None or act.act.domain not in services:
                return False
            service, outcome = self._outcome(act)
            about = outcome != "refused" and act.slot in slots
            return about or (outcome != "asked" and (service, outcome) not in other)

        heard_acts = self.compared(turn)
        return tuple(
            confusion
            for confusion, (own, other) in zip(heard_acts.confusions, heard_acts.acts, strict=True)
            if bears(own, in_heard) or bears(other, in_said)
        )

    def _outcome(self, spoken: Said) -> tuple[str, Outcome]:
        """What an act comes to, and in which service."""
        families = self._lexicon.families(spoken.act.name)
        return spoken.act.domain, next((kind for kind, members in _OUTCOMES if families & members), "told")


SENTENCE_ENDS = re.compile(r"(?<=[.?!]) +")
_ENDS = (". ", "? ", "! ")


def template(text: str, acts: Sequence[Said]) -> str:
    """The words of a turn in lower case, with the values of its acts replaced by their slots: ``it is [postcode] .``"""
    words = text.lower()
    values = {value.lower(): act.slot for act in acts if act.slot for value in act.act.values}
    for value in sorted(values, key=len, reverse=True) if len(values) > 1 else values:
        if len(value) > 1 or value.isdigit():
            words = words.replace(value, f"[{values[value]}]")
    return words


def sentence_of(words: str, spoken: Said | None) -> str:
    """Of a template the sentence that has the value of an act; all of it where none has it, or nothing was said."""
    offset = -1 if spoken is None or not spoken.slot else words.find(f"[{spoken.slot}]")
    if offset < 0:
        return words
    begin = max([words.rfind(end, 0, offset) for end in _ENDS]) + 1
    ends = [end for end in [words.find(end, offset) for end in _ENDS] if end >= 0]
    return words[begin : min(ends) + 1 if ends else None].strip()


class Mishearing(NamedTuple):
    """An act that was said and what was heard for it: None where that is nothing, or where nothing was said."""

    fault: Fault
    said: Act | None
    heard: Act | None


def misheard(acts: Sequence[Act], understood: Sequence[Act]) -> Iterator[Mishearing]:
    """Where what was heard differs from what was said."""
    for fault, index, other in _faults(list(map(folded, acts)), list(map(folded, understood))):
        yield Mishearing(fault, None if index is None else acts[index], None if other is None else understood[other])


#: What two acts have in common that differ by each fault: of name, slot and values the first two, the slot, the name.
_RULES: tuple[tuple[Fault, Callable[[Folded], object]], ...] = (
    ("value", itemgetter(0, 1)),
    ("act", itemgetter(1)),
    ("slot", itemgetter(0)),
)


def _faults(said: Sequence[Folded], heard: Sequence[Folded]) -> Iterator[tuple[Fault, int | None, int | None]]:
    """Each fault with the places of the act that was said and of the one that was heard for it."""
    unheard, unsaid = _left_over(said, heard)
    for fault, key in _RULES:
        for index in list(unheard) if unsaid else ():
            match = next((other for other in unsaid if key(heard[other]) == key(said[index])), None)
            if match is not None:
                unheard.remove(index)
                unsaid.remove(match)
                yield fault, index, match
    for index in unheard:
        yield "missed", index, None
    for index in unsaid:
        yield "invented", None, index


def _left_over(said: Sequence[Folded], heard: Sequence[Folded]) -> tuple[list[int], list[int]]:
    """The places of the acts on each side without those that occur on the other side too, the first first."""
    places: dict[Folded, list[int]] = {}
    for place in range(len(heard) - 1, -1, -1):
        places.setdefault(heard[place], []).append(place)
    unheard = []
    for place, act in enumerate(said):
        if same := places.get(act):
            same.pop()
        else:
            unheard.append(place)
    return unheard, sorted(chain.from_iterable(places.values()))


def describe(act: Act, with_value: bool = False) -> str:
    """An act as people write it: ``restaurant-inform(food)``, ``restaurant-inform(food=thai)``."""
    slot = act.slot.lower()
    inside = f"{slot}={', '.join(act.values).lower()}" if with_value and act.values else slot
    return f"{act.name.lower()}({inside})"


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
    tasks: dict[str, Task], spoken: Sequence[PreparedTurn], mentioned: dict[str, dict[str, list[int]]]
) -> Iterator[Pattern]:
    """The patterns of all parts of the goal that want more than one thing; ``said``: the user's normalised informs."""
    for domain, task in tasks.items():
        informed = mentioned.get(domain, {})
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
    expressed = [set(each) for each in turns if each]
    if not expressed:
        return "miss_all"
    completeness = "no_miss" if len(expressed) == len(turns) else "miss"
    return f"{completeness}_{'one' if set.intersection(*expressed) else 'mult'}"


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
