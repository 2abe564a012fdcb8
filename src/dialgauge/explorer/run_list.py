"""The runs of a store in groups that can be compared, each run named by what differs in its group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.explorer.run_names import distinct_names, shared_words
from dialgauge.kinds import kind_named
from dialgauge.presentation import pages_of
from dialgauge.rendering import SCORES_IN_LIST
from dialgauge.runs import Annotations

if TYPE_CHECKING:
    from dialgauge.explorer.library import Library
    from dialgauge.measures import Coverage, Score
    from dialgauge.runs import Run


class RunRow(Struct, frozen=True):
    """A line of the list of runs; ``label`` is what differs in its group."""

    run: Run
    label: str
    scored: str
    headline: str
    score: Score | None
    others: Sequence[tuple[str, Score]]
    tags: Sequence[str]
    note: str


class RunGroup(Struct, frozen=True):
    """Runs that can be compared, what their names share, and the measure that they are listed by."""

    kind: str
    title: str
    headline: str
    rows: Sequence[RunRow] = []


SORTS: Mapping[str, Callable[[RunRow], Any]] = {
    "best first": lambda row: (row.score is None, -_goodness(row), row.run.id),
    "newest": lambda row: (-row.run.manifest.created.timestamp(), row.run.id),
    "oldest": lambda row: (row.run.manifest.created.timestamp(), row.run.id),
    "name": lambda row: (row.run.name.lower(), row.run.id),
}


def headline_of(run: Run) -> str:
    """The measure that says most about a run; empty where it has no score."""
    scored = [name for name, score in run.scores.items() if score.value is not None]
    return next((name for name in kind_named(run.kind).headline if name in scored), scored[0] if scored else "")


def run_groups(library: Library, runs: Sequence[Run], notes: Callable[[Run], Annotations]) -> list[RunGroup]:
    """The runs in groups that can be compared, the largest first."""
    groups: list[list[Run]] = []
    for run in runs:
        group = next((one for one in groups if one[0].kind == run.kind and library.comparable(one[0], run)), None)
        if group is None:
            groups.append([run])
        else:
            group.append(run)
    groups.sort(key=lambda group: (-len(group), group[0].kind))
    return [_group(group, notes) for group in groups]


def _group(runs: Sequence[Run], notes: Callable[[Run], Annotations]) -> RunGroup:
    names = [run.name for run in runs]
    labels = distinct_names(names)
    title = shared_words(names) if labels != names else ""
    rows = [_row(run, label, notes(run)) for run, label in zip(runs, labels, strict=True)]
    return RunGroup(runs[0].kind, title, next((row.headline for row in rows if row.headline), ""), rows)


def _row(run: Run, label: str, notes: Annotations) -> RunRow:
    headline = headline_of(run)
    heads = pages_of(run.kind).columns(run) if run.scores else []
    others = [(name, score) for name, score in run.scores.items() if name in heads and name != headline]
    known = [(name, score) for name, score in others if score.value is not None]
    return RunRow(
        run,
        label,
        _scored(run.coverage),
        headline,
        run.scores.get(headline),
        known[:SCORES_IN_LIST],
        notes.tags,
        notes.note,
    )


def _goodness(row: RunRow) -> float:
    value = row.score.value if row.score is not None else None
    if value is None or row.score is None:
        return 0.0
    return -value if row.score.higher_is_better is False else value


def fits(row: RunRow, asked: Mapping[str, str]) -> bool:
    """Whether a run has the words, the kind and the tag that an address asks for."""
    text = " ".join([row.run.id, row.run.name, row.run.kind, row.note, *row.tags]).lower()
    return (
        all(word in text for word in asked["q"].lower().split())
        and asked["kind"] in ("", row.run.kind)
        and (not asked["tag"] or asked["tag"] in row.tags)
    )


def _scored(coverage: Coverage) -> str:
    """How much of a run has a score, by its first unit."""
    unit = next(iter(coverage.units.items()), None)
    if unit is None:
        return ""
    name, count = unit
    whole = count.expected or count.read
    return f"{count.scored:,} {name}" if count.scored == whole else f"{count.scored:,} of {whole:,} {name}"


def annotations_of(library: Library, run: Run) -> Annotations:
    """What people wrote about a run; a damaged file of theirs does not hide the run."""
    try:
        return library.store.annotations(run.id) if library.store is not None else Annotations()
    except DialgaugeError as error:
        return Annotations(note=f"({error})")
