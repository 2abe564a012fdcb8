"""The task and the trial that the names of folders, or of files, tell, where nothing inside says them.

``TASK/seed_41``, ``TASK/0``, ``t01_seed41``, ``t01__aZ30x``, and names behind the time of the run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dialgauge.formats.logs.fact_names import AGENT_NAME, TRIAL_NAME, TRIAL_WORDS
from dialgauge.formats.notes import Notes
from dialgauge.text import some_of

#: Names that are a trial whatever lies around them; names that may be one, which the other folders say.
_TRIAL = re.compile(rf"(?:{TRIAL_WORDS})[-_ #=]{{0,2}}([0-9]{{1,6}})", re.IGNORECASE)
_MAY_BE_TRIAL = re.compile(r"(?:sample[-_ #=]{0,2})?([0-9]{1,6})", re.IGNORECASE)
#: When a run began, in front of its name.
_STAMP = re.compile(r"\A[0-9]{4}-?[0-9]{2}-?[0-9]{2}[-T_ ]?[0-9]{2}[-:_]?[0-9]{2}(?:[-:_]?[0-9]{2})?Z?[-_ ]{1,2}")
_DATE = re.compile(r"\A[0-9]{4}-?[0-9]{2}-?[0-9]{2}[-_ ]")
#: Names that hold both: a word and a number behind the task, a mere number, what tells apart runs of one name.
_NUMBERED = re.compile(rf"[-_ .#]{{1,2}}(?:{TRIAL_WORDS})[-_ =]?([0-9]{{1,6}})\Z", re.IGNORECASE)
_NUMBER = re.compile(r"[-_.#]([0-9]{1,6})\Z")
_RANDOM = re.compile(r"__([A-Za-z0-9]{3,12})\Z")
_DIGIT = re.compile(r"[0-9]")
#: How AgentLab calls what an agent did; it may begin with the time.
_ON_TASK = re.compile(r"(.{1,200}?)_on_(.{1,200})")


def is_trial(name: str) -> bool:
    """Is it the name of a trial, or a mere number?"""
    return any(pattern.fullmatch(name) for pattern in (_TRIAL, _MAY_BE_TRIAL))


def trials_in_folders(paths: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Task and trial of folders by their paths; none of those whose names do not tell them."""
    places = {path: ("", *re.split(r"[/\\!]", path.rstrip("/\\!")))[-2:] for path in paths}
    said = {path: trial for path, (outer, inner) in places.items() if outer and (trial := _TRIAL.fullmatch(inner))}
    if any(TRIAL_NAME.fullmatch(places[path][1]) for path in said) or len(said) == len(paths):
        return {path: (places[path][0], int(trial[1])) for path, trial in said.items()}
    return _in_grid(places) or _in_names({path: inner for path, (_, inner) in places.items()})


def agents_of_folders(paths: Sequence[str], notes: Notes | None = None) -> dict[str, str]:
    """The agents of folders with a conversation each, where names tell several: ``AGENT/TASK``, ``AGENT_on_TASK``.

    Where the same names lie in several folders that are not called as agents, only that is told.
    """
    places = {path: ("", *re.split(r"[/\\!]", path.rstrip("/\\!")))[-2:] for path in paths}
    on_task = {path: match for path, (_, inner) in places.items() if (match := _ON_TASK.fullmatch(inner))}
    agents = {path: _DATE.sub("", _STAMP.sub("", match[1])) for path, match in on_task.items()}
    if len(agents) == len(paths) and len(set(agents.values())) > 1:
        return agents
    around: dict[str, set[str]] = {}
    for outer, inner in places.values():
        around.setdefault(outer, set()).add(_STAMP.sub("", inner))
    first, *others = around.values() or [set()]
    if not others or any(map(is_trial, (*around, *first))) or not all(first & each for each in others):
        return {}
    if all(map(AGENT_NAME.search, around)):
        return {path: outer for path, (outer, _) in places.items()}
    if notes is not None:
        told = f"the same conversations in several folders ({some_of(around, 4)}) taken for trials of one agent"
        notes.add(f"{told}; score folders of several agents one by one")
    return {}


def _in_grid(places: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, int]]:
    """Mere numbers are trials where most tasks have all of them, and they are no more than the tasks."""
    numbers = {path: trial for path, (_, inner) in places.items() if (trial := _MAY_BE_TRIAL.fullmatch(inner))}
    if len(numbers) < len(places) or all(_TRIAL.fullmatch(outer) for outer, _ in places.values()):
        return {}
    found = {path: (places[path][0], int(trial[1])) for path, trial in numbers.items()}
    trials = _trials_of_tasks(found)
    every = set[int]().union(*trials.values())
    whole = sum(each == every for each in trials.values())
    return found if 1 < len(every) <= len(trials) < 2 * whole else {}


def _in_names(names: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """Task and trial of names that hold both."""
    bare = {path: _STAMP.sub("", name) for path, name in names.items()}
    stamped = all(bare[path] not in ("", name) for path, name in names.items())
    if len(set(names.values())) < len(names):
        return {}
    if stamped and len(set(bare.values())) < len(bare):
        return _counted(bare, names)
    known = bare if stamped else names
    for pattern in (_NUMBERED, _NUMBER):
        ends = {path: end for path, name in known.items() if (end := pattern.search(name)) and end.start()}
        if len(ends) < len(known):
            continue
        found = {path: (known[path][: end.start()], int(end[1])) for path, end in ends.items()}
        trials = _trials_of_tasks(found)
        first, alone = next(iter(trials.values())), len(set(found.values())) == len(found)
        several = alone and max(map(len, trials.values())) > 1
        same = all(each == first for each in trials.values()) and all(map(_DIGIT.search, trials))
        if several and (pattern is _NUMBERED or (same and len(first) < len(trials))):
            return found
    random = {path: end for path, name in known.items() if (end := _RANDOM.search(name)) and end.start()}
    if len(random) == len(known) and all(_DIGIT.search(end[1]) for end in random.values()):
        found = _counted({path: known[path][: end.start()] for path, end in random.items()}, names)
        sizes = {len(each) for each in _trials_of_tasks(found).values()}
        return found if len(sizes) == 1 and max(sizes) > 1 and len(found) > max(sizes) else {}
    return {}


def _counted(tasks: Mapping[str, str], names: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """Trials of these tasks, in the order of their names."""
    begun: dict[str, int] = {}
    found: dict[str, tuple[str, int]] = {}
    for path in sorted(tasks, key=lambda path: names[path]):
        begun[tasks[path]] = begun.get(tasks[path], -1) + 1
        found[path] = (tasks[path], begun[tasks[path]])
    return found


def _trials_of_tasks(found: Mapping[str, tuple[str, int]]) -> dict[str, set[int]]:
    trials: dict[str, set[int]] = {}
    for task, trial in found.values():
        trials.setdefault(task, set()).add(trial)
    return trials
