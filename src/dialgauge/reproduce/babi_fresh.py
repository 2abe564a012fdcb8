"""The learned models of the bAbI paper, trained anew: their accuracies, and where memory networks look."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dialgauge.reproduce.babi_cells import KeptCell
from dialgauge.reproduce.babi_looks import MODEL, SEED, Look, look, printed
from dialgauge.reproduce.record import Fresh
from dialgauge.responses.cells import Key, data_digest
from dialgauge.responses.checkpoints import checkpointed
from dialgauge.responses.plan import jobs_of, run_jobs
from dialgauge.responses.ranker import Ranker, ranker_class
from dialgauge.responses.task import TASKS, Task
from dialgauge.runs import Store

SPLITS = ("tst", "tst-OOV")


def trained_cells(folder: Path, models: Sequence[str], fresh: Fresh) -> list[KeptCell]:
    """Every model on every task with every seed. Finished cells are found in the run store, as by ``babi table``."""
    jobs = jobs_of(folder, models, TASKS, SPLITS, fresh.seeds, fresh.store)
    found = []
    for done, (job, cells) in enumerate(zip(jobs, run_jobs(jobs, workers=fresh.workers, tell=fresh.tell), strict=True)):
        fresh.tell(f"{done + 1} of {len(jobs)}: {job.model}, task {job.task}, seed {job.seed}")
        found += cells
    return [
        KeptCell(cell.model, cell.task, cell.split, cell.seed, cell.per_response, cell.per_dialog) for cell in found
    ]


def trained_looks(tasks: Sequence[Task], fresh: Fresh) -> list[Look]:
    """Where a memory network looks at every place of the paper's Tables 3 to 7."""
    found = []
    for task in tasks:
        places = [place for place in printed().places() if place.task == task.number]
        if places:
            ranker = ranker_class(MODEL)(SEED)
            fresh.tell(f"attention: {MODEL}, task {task.number}, seed {SEED}")
            with checkpointed(ranker, Key.of(ranker, task, "", data_digest(task)), Store(fresh.store), fresh.tell):
                ranker.fit(task)
                found += looks_of(ranker, task)
    return found


def looks_of(ranker: Ranker, task: Task) -> list[Look]:
    """Where a fitted memory network looks at the places of its task."""
    return [look(ranker, task, place) for place in printed().places() if place.task == task.number]
