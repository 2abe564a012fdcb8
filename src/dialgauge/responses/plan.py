"""The work behind a table: one job per model, task and seed, in this process or in several.

A job reads its task, fits its model if a cell is missing, and keeps every cell it finishes; an interrupted table goes
on where it stopped because finished cells, and checkpoints of unfinished trainings, are found in the run store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dialgauge.engine import map_ordered
from dialgauge.responses.cells import Cell, cells, kept_cells
from dialgauge.responses.ranker import Tell, options_by_model, ranker_class, silent
from dialgauge.responses.task import load_task
from dialgauge.runs import Store


class Job(NamedTuple):
    """One model on one task with one seed."""

    data: Path
    model: str
    task: int
    seed: int
    options: dict[str, str]
    splits: tuple[str, ...]
    store: Path | None
    fresh: bool


def jobs_of(
    data: Path,
    models: Sequence[str],
    tasks: Sequence[int],
    splits: Sequence[str],
    seeds: int,
    store: Path | None,
    *,
    options: Mapping[str, str] | None = None,
    fresh: bool = False,
) -> list[Job]:
    """All jobs of a table; models that draw no random numbers run once, and each model gets the options it takes."""
    taken = options_by_model(models, options or {})
    return [
        Job(data, model, task, seed, taken[model], tuple(splits), store, fresh)
        for task in tasks
        for model in models
        for seed in range(seeds if ranker_class(model).seeded else 1)
    ]


class _Outcome(NamedTuple):
    """The cells of a job, and what is to be told about it."""

    cells: list[Cell]
    notes: list[str]


def run_jobs(jobs: Sequence[Job], *, workers: int = 1, tell: Tell = silent) -> Iterator[list[Cell]]:
    """The cells of each job, in the jobs' order."""
    for outcome in map_ordered(_run, jobs, workers=workers):
        for note in outcome.notes:
            tell(note)
        yield outcome.cells


def _run(job: Job) -> _Outcome:
    task = load_task(job.data, job.task)
    store = Store(job.store)
    kept = None if job.fresh else kept_cells(store)
    ranker = ranker_class(job.model)(job.seed)
    ranker.options = dict(job.options)
    notes: list[str] = []
    return _Outcome(list(cells(ranker, task, job.splits, store, kept, notes.append)), notes)
