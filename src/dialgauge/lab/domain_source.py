"""Where a domain and its goals come from: a folder, an installed domain, the town generated or read from files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Goal, dialogue_key
from dialgauge.errors import DialgaugeError, choice, nearest
from dialgauge.formats import read, resolve
from dialgauge.report import Page, Table
from dialgauge.text import counted
from dialgauge.worlds.domain import (
    DomainGoal,
    DomainSearch,
    DrawnShares,
    draw_goals,
    load_domain,
    read_goals,
    shares_table,
)
from dialgauge.worlds.town import (
    Failures,
    TownSearch,
    generate_goals,
    generate_town,
    goal_record,
    load_town,
    town_beside,
    town_goal,
)

#: The domain, and the goals, unless others are named; and how many goals are drawn unless told.
SYNTHETIC = "town"
_USUAL = 200
#: A hint with more characters names too many goals to be one.
_LONG = 120


class LoadedDomain(Struct, frozen=True, kw_only=True):
    """A domain, its goals, and how another process gets the same domain."""

    name: str
    search: DomainSearch
    goals: tuple[DomainGoal, ...]
    #: Gives the domain's search; small enough to be sent to a worker.
    again: Callable[[], DomainSearch]
    failures: Failures = "live"
    #: Files that were read, with their roles.
    files: tuple[tuple[str, Path], ...] = ()
    #: Goals that cannot be pursued, with the reason.
    refused: tuple[tuple[str, str], ...] = ()
    #: What drawing achieved; None where goals were not drawn from the domain.
    shares: DrawnShares | None = None


def open_domain(
    domain: str = SYNTHETIC,
    goals: str = SYNTHETIC,
    *,
    database: str | Path | None = None,
    count: int | None = None,
    seed: int = 0,
    failures: str = "live",
) -> LoadedDomain:
    """A domain by name or folder with its goals: those of its file, drawn ones, or those of another file."""
    if domain == SYNTHETIC:
        return open_town(goals, database=database, count=count, seed=seed, failures=failures)
    if database is not None or failures != "live":
        raise DialgaugeError("--database and --failures only apply to the town")
    search = _domain_search(domain)
    if not search.domain.services:
        raise DialgaugeError(
            f"the domain {search.domain.name} has no services; its tools need an agent that calls them"
        )
    file = None if goals == SYNTHETIC else Path(goals)
    shares = None
    if file is not None or search.domain.goals_file is not None:
        known = read_goals(search.domain, search, file)[:count]
    else:
        drawn = draw_goals(search.domain, search, _USUAL if count is None else count, seed)
        known, shares = drawn.goals, drawn.shares
    files = [("domain", Path(name)) for name in search.domain.files]
    return LoadedDomain(
        name=search.domain.name,
        search=search,
        goals=tuple(known),
        again=_Again(partial(_domain_search, domain), search),
        files=tuple(files + ([("goals", file)] if file is not None else [])),
        shares=shares,
    )


class _Again:
    """Gives a search that is at hand; sent to another process it is made there."""

    def __init__(self, make: Callable[[], DomainSearch], search: DomainSearch | None = None) -> None:
        self._make, self._search = make, search

    def __call__(self) -> DomainSearch:
        return self._make() if self._search is None else self._search

    def __reduce__(self) -> tuple[type[_Again], tuple[Callable[[], DomainSearch]]]:
        return _Again, (self._make,)


def _domain_search(domain: str) -> DomainSearch:
    return DomainSearch(load_domain(domain))


def _town_search(folder: str | Path) -> TownSearch:
    return TownSearch(load_town(folder))


@lru_cache(4)
def _synthetic_search(seed: int) -> TownSearch:
    return TownSearch(generate_town(seed))


def open_town(
    goals: str = SYNTHETIC,
    *,
    database: str | Path | None = None,
    count: int | None = None,
    seed: int = 0,
    failures: str = "live",
) -> LoadedDomain:
    """The town that ``goals`` names: ``town`` for the synthetic one, or a file of dialogues with goals.

    The database is the folder ``db`` beside that file unless one is named; the synthetic town's is generated from the
    seed, and may be written to a folder first (``dialgauge lab goals --out``).
    """
    mode: Failures = choice(failures, get_args(Failures), "--failures")
    if goals == SYNTHETIC:
        make = partial(_town_search, database) if database else partial(_synthetic_search, seed)
        search = make()
        raw = generate_goals(search.town, _USUAL if count is None else count, seed)
        named = [(name, goal_record(goal)) for name, goal in raw.items()]
        files: list[tuple[str, Path]] = []
    else:
        named = _goals_in(goals)[:count]
        search = TownSearch(load_town(database) if database else town_beside(goals))
        make = partial(_town_search, Path(search.town.files[0]).parent)
        files = [("goals", Path(goals))]
    ready, refused = [], []
    for name, goal in named:
        try:
            ready.append(town_goal(name, goal, search, mode))
        except DialgaugeError as error:
            refused.append((name, error.message))
    if not ready:
        raise DialgaugeError(f"none of the goals can be pursued: {refused[0][1]}", file=goals, dialogue=refused[0][0])
    return LoadedDomain(
        name=SYNTHETIC if goals == SYNTHETIC else Path(goals).name,
        search=search,
        goals=tuple(ready),
        again=_Again(make, search),
        failures=mode,
        files=tuple(files),
        refused=tuple(refused),
    )


def _goals_in(file: str) -> list[tuple[str, Goal]]:
    """The goals of the dialogues in a file; one that ``lab goals --out`` wrote has goals and no dialogues."""
    try:
        dialogues = read(file).dialogues
    except DialgaugeError:
        written = _written_goals(file)
        if written is None:
            raise
        return written
    named = [(dialogue.id.removesuffix(".json"), dialogue.goal) for dialogue in dialogues if dialogue.goal is not None]
    if not named:
        raise DialgaugeError("no dialogue here has a goal; each conversation needs one", file=file)
    return named


class _GoalOnly(Struct):
    goal: dict[str, Any]
    log: list[Any]


def _written_goals(file: str) -> list[tuple[str, Goal]] | None:
    try:
        (part,) = resolve(file)
        content = msgspec.json.decode(part.read(), type=dict[str, _GoalOnly])
        if not content or any(goal_only.log for goal_only in content.values()):
            return None
        return [(name, goal_record(goal_only.goal)) for name, goal_only in content.items()]
    except (DialgaugeError, msgspec.MsgspecError, KeyError, TypeError, AttributeError, ValueError):
        return None


def goals_page(loaded: LoadedDomain) -> Page:
    """What the goals ask for, by domain, and what is wrong with some of them."""
    table = Table("Goals by domain", ["domain", "goals", "first try fails", "book", "refused first", "ask"])
    for domain in dict.fromkeys(task.domain for goal in loaded.goals for task in goal.tasks):
        tasks = [task for goal in loaded.goals for task in goal.tasks if task.domain == domain]
        counts = [
            sum(task.first is not None for task in tasks),
            sum(task.book is not None for task in tasks),
            sum(task.book_first is not None for task in tasks),
            sum(bool(task.requests) for task in tasks),
        ]
        table.add(domain, len(tasks), *counts)
    sizes = [len(goal.tasks) for goal in loaded.goals]
    shares = ", ".join(f"{sizes.count(size):,} with {counted(size, 'domain')}" for size in sorted(set(sizes)))
    tables = {"goals": table}
    if loaded.shares is not None:
        tables["drawn"] = shares_table(loaded.shares, drawn=True)
    elif rows := _findings(loaded):
        tables["findings"] = Table("Notes on some goals", ["what", "goals", "tasks", "for example"], rows)
    return Page(
        title=f"{counted(len(loaded.goals), 'goal')} of {loaded.name}",
        verdict=f"{counted(len(loaded.goals), 'goal')}: {shares}.",
        tables=tables,
    )


def _findings(loaded: LoadedDomain) -> list[tuple[str, int, int | None, str]]:
    rows: list[tuple[str, int, int | None, str]] = []
    kinds = {
        "nothing in the database satisfies them": "unsatisfiable",
        "the first try would have found something (left out)": "stale",
        "a taxi without departure or destination": "missing_ends",
        "impossible bookings": "impossible_bookings",
    }
    for what, name in kinds.items():
        having = [goal for goal in loaded.goals if getattr(goal.findings, name)]
        if having:
            tasks = sum(len(getattr(goal.findings, name)) for goal in having)
            rows.append((what, len(having), tasks, f"{having[0].id} ({', '.join(getattr(having[0].findings, name))})"))
    reasons = Counter(why for _, why in loaded.refused)
    for why, count in reasons.items():
        example = next(name for name, reason in loaded.refused if reason == why)
        rows.append((f"cannot be pursued: {why}", count, None, example))
    return rows


def goal_named(loaded: LoadedDomain, identifier: str) -> DomainGoal:
    """A goal by the id of its dialogue."""
    goal = next((each for each in loaded.goals if dialogue_key(each.id) == dialogue_key(identifier)), None)
    if goal is None:
        near = nearest(identifier, [each.id for each in loaded.goals])
        hint = near if len(near) < _LONG else f" There are {len(loaded.goals):,}, from {loaded.goals[0].id} on."
        raise DialgaugeError(f"there is no goal '{identifier}'.{hint}")
    return goal


def goal_page(loaded: LoadedDomain, identifier: str) -> Page:
    """One goal in full."""
    goal = goal_named(loaded, identifier)
    table = Table("What the user wants", ["domain", "what", "slot", "value"])
    for task in goal.tasks:
        parts = {
            "try first": task.first,
            "find": task.info,
            "book first": task.book_first,
            "book": task.book,
            "ask": dict.fromkeys(task.requests, ""),
            "take from": task.links,
        }
        for what, slots in parts.items():
            for slot, value in (slots or {}).items():
                table.add(task.domain, what, slot, value)
    return Page(title=f"Goal {goal.id}", tables={"goal": table})
