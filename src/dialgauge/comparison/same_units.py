"""Whether what runs have under one id is the same thing: tasks and goals are numbered anew in every set of them.

Task 7 of one benchmark is not task 7 of another, nor always that of its next version. What the user was told decides:
the same words, whatever the white space, or the same slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary

import msgspec

from dialgauge.dialogue import Goal, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.runs import Run

#: Up to one in so many may be another task, as where a benchmark mended some; such are left out. Above, it is another
#: set of tasks, and the rest would be a chance selection of it.
_FEW = 10
#: How many are named.
_NAMED = 10

#: What a unit is: its domains where they are named, and its goal in one form.
_Content: TypeAlias = tuple[tuple[str, ...], str]


def unlike_units(
    runs: Sequence[Run], units: Mapping[str, Mapping[str, str]], noun: str, *, by_domain: bool
) -> tuple[str, ...]:
    """The units that all runs have by id and that are not the same in all; more than a few are an error.

    ``units`` has for each run's id the unit of each dialogue; with ``by_domain`` runs of different domains are refused.
    """
    if by_domain:
        _refuse_domains(runs)
    contents = [_contents(run, units.get(run.id, {})) for run in runs]
    shared = [key for key in contents[0] if all(key in other for other in contents[1:])]
    unlike = [contents[0][key][0] for key in shared if _differ([content[key][1] for content in contents], by_domain)]
    if len(unlike) > max(1, len(shared) // _FEW) or (unlike and len(unlike) == len(shared)):
        distinct = len({run.name for run in runs}) == len(runs)
        names = " and ".join(run.name if distinct else run.id for run in runs)
        raise DialgaugeError(
            f"{names} cannot be compared: {len(unlike):,} of the {counted(len(shared), noun)} that they share by id "
            f"{'has' if len(unlike) == 1 else 'have'} different goals or instructions ({listed_units(unlike)}); "
            f"compare runs on the same {noun}s"
        )
    return tuple(unlike)


def listed_units(names: Sequence[str]) -> str:
    """The first of some ids, and how many more there are."""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _refuse_domains(runs: Sequence[Run]) -> None:
    named = {run.name: sorted({domain for domains, _ in _goals(run).values() for domain in domains}) for run in runs}
    known = {name: domains for name, domains in named.items() if domains}
    sets = [set(domains) for domains in known.values()]
    if any(not first & second for place, first in enumerate(sets) for second in sets[place + 1 :]):
        each = "; ".join(f"{name} {', '.join(domains)}" for name, domains in known.items())
        raise DialgaugeError(
            f"results in different domains cannot be compared, as their tasks are not the same ({each}); compare "
            "results in one domain"
        )


def _differ(contents: Sequence[_Content], by_domain: bool) -> bool:
    """Is anything known to be different? What a run does not say is not."""
    domains = {content[0] for content in contents if content[0]} if by_domain else set()
    goals = {content[1] for content in contents if content[1]}
    return len(domains) > 1 or len(goals) > 1


def _contents(run: Run, units: Mapping[str, str]) -> dict[str, tuple[str, _Content]]:
    """The units of a run by their key: how the run spells it, and what it is."""
    found: dict[str, tuple[str, _Content]] = {}
    for dialogue, content in _goals(run).items():
        name = units.get(dialogue, dialogue)
        found.setdefault(dialogue_key(name), (name, content))
    return found


_known: WeakKeyDictionary[Run, dict[str, _Content]] = WeakKeyDictionary()


def _goals(run: Run) -> dict[str, _Content]:
    """What each dialogue of a run is about, read once."""
    if run not in _known:
        try:
            rows = run.table("dialogues").select("dialogue", "domains", "goal").rows()
        except DialgaugeError:  # its scores can be compared though its dialogues are gone
            rows = []
        _known[run] = {name: (tuple(sorted(domains or ())), _one_form(goal)) for name, domains, goal in rows}
    return _known[run]


def _one_form(written: str | None) -> str:
    """A goal such that equal ones are equal texts; empty where there is none."""
    if written is None:
        return ""
    try:
        goal = msgspec.json.decode(written, type=Goal)
    except msgspec.DecodeError:  # of a run that another version wrote
        return written
    if goal.tasks:
        return msgspec.json.encode(goal.tasks, order="sorted").decode()
    return "\n".join(" ".join(text.split()) for text in goal.message)
