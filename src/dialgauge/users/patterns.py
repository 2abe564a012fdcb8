"""How a user brings its goal across: all at once or bit by bit, completely or not (Figures 4 and 6a of the paper).

For each part of a goal with several constraints (or requests): ``miss_all`` when none was said; otherwise ``miss`` or
``no_miss`` (is any left unsaid?) and ``one`` or ``mult`` (do those said share a turn?).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Task
from dialgauge.users.acts import EQUALS, REQUEST, SpokenTurn

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
    tasks: dict[str, Task], spoken: Sequence[SpokenTurn], mentioned: dict[str, dict[str, list[int]]]
) -> Iterator[Pattern]:
    """The patterns of all parts of the goal that want more than one thing; ``said``: the user's normalised informs."""
    for domain, task in tasks.items():
        informed = mentioned.get(domain, {})
        for part, kind in PARTS.items():
            stated: dict[str, str] = getattr(task, part)
            if len(stated) < 2:
                continue
            constraints = dict.fromkeys([f"{slot}{EQUALS}{value}".lower() for slot, value in stated.items()])
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


def _requested(spoken: Sequence[SpokenTurn], domain: str) -> dict[str, list[int]]:
    """The slots of the user's request acts in a domain, with their turns."""
    requested: dict[str, list[int]] = {}
    for turn in spoken[::2]:
        for act in turn.acts(REQUEST, [domain]):
            if act.slot:
                requested.setdefault(act.slot, []).append(turn.position)
    return requested
