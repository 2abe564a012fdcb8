"""Where a domain and its goals come from: a folder, an installed domain, the files of MultiWOZ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import get_args

from msgspec import Struct

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError, choice, nearest
from dialgauge.formats import read
from dialgauge.report import Page, Table
from dialgauge.text import counted
from dialgauge.worlds.domain import (
    DomainGoal,
    DomainSearch,
    Failures,
    database_beside,
    draw_goals,
    load_domain,
    multiwoz_goal,
    read_database,
    read_goals,
    shares_table,
    town_of,
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
    #: Whether the goals were drawn from the domain's rows.
    drawn: bool = False


def open_domain(
    domain: str = SYNTHETIC,
    goals: str = SYNTHETIC,
    *,
    database: str | Path | None = None,
    count: int | None = None,
    seed: int = 0,
    failures: str = "live",
) -> LoadedDomain:
    """A domain by name or folder with its goals: those of its file, drawn ones, or those of another file.

    For the town the other file may be MultiWOZ's, whose database is the folder ``db`` beside it unless one is named.
    """
    mode: Failures = choice(failures, get_args(Failures), "--failures")
    named = Path(goals) if goals != SYNTHETIC else None
    if domain == SYNTHETIC and named is not None and named.suffix != ".jsonl":
        return _multiwoz(named, database, count, mode)
    if (database is not None and domain != SYNTHETIC) or failures != "live":
        raise DialgaugeError("--database and --failures only apply to the town with goals of MultiWOZ")
    make = partial(_domain_search, domain, database)
    search = make()
    drawn = named is None and search.domain.goals_file is None
    if drawn:
        known = draw_goals(search.domain, search, _USUAL if count is None else count, seed)
    else:
        known = read_goals(search.domain, search, named)[:count]
    files = [("domain", Path(name)) for name in search.domain.files]
    return LoadedDomain(
        name=search.domain.name,
        search=search,
        goals=tuple(known),
        again=_Again(make, search),
        files=tuple(files + ([("goals", named)] if named is not None else [])),
        drawn=drawn,
    )


def _multiwoz(goals: Path, database: str | Path | None, count: int | None, failures: Failures) -> LoadedDomain:
    """The town with MultiWOZ's database, and the goals of a file of its dialogues."""
    dialogues = [dialogue for dialogue in read(goals).dialogues if dialogue.goal is not None]
    if not dialogues:
        raise DialgaugeError("no dialogue here has a goal; each conversation needs one", file=str(goals))
    tables = read_database(database) if database else database_beside(goals)
    search = DomainSearch(town_of(tables))
    ready, refused = [], []
    for dialogue in dialogues[:count]:
        name = dialogue.id.removesuffix(".json")
        try:
            if dialogue.goal is not None:
                ready.append(multiwoz_goal(name, dialogue.goal, search, failures))
        except DialgaugeError as error:
            refused.append((name, error.message))
    if not ready:
        name, why = refused[0]
        raise DialgaugeError(f"none of the goals can be pursued: {why}", file=str(goals), dialogue=name)
    return LoadedDomain(
        name=goals.name,
        search=search,
        goals=tuple(ready),
        again=_Again(partial(_domain_search, SYNTHETIC, Path(tables.files[0]).parent), search),
        failures=failures,
        files=(("goals", goals),),
        refused=tuple(refused),
    )


class _Again:
    """Gives a search that is at hand; sent to another process it is made there."""

    def __init__(self, make: Callable[[], DomainSearch], search: DomainSearch | None = None) -> None:
        self._make, self._search = make, search

    def __call__(self) -> DomainSearch:
        return self._make() if self._search is None else self._search

    def __reduce__(self) -> tuple[type[_Again], tuple[Callable[[], DomainSearch]]]:
        return _Again, (self._make,)


@lru_cache(8)
def _domain_search(domain: str, database: str | Path | None = None) -> DomainSearch:
    return DomainSearch(load_domain(domain) if database is None else town_of(read_database(database)))


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
    if loaded.drawn:
        tables["drawn"] = shares_table(loaded.search.domain, loaded.goals, drawn=True)
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
