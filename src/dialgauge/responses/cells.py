"""Cells of the results table: one model on one task and split with one seed, each kept as a run and found again.

What is left to do is derived from the runs in the store: a cell is done when a run has the same model, options, task,
split, seed, data (by checksum) and evaluation version. Nothing is stored beside the runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from dialgauge._version import __version__
from dialgauge.engine import map_ordered
from dialgauge.rankers import OUTWARD, Ranker, RankingTask, Tell, load_task, options_by_model, ranker_class, silent
from dialgauge.responses.evaluation import MRR, PER_DIALOG, PER_RESPONSE, RankingResult, evaluate
from dialgauge.runs import Store

if TYPE_CHECKING:
    import polars


KIND = "responses"
#: Cells by their configuration.
Kept: TypeAlias = dict[tuple[tuple[str, Any], ...], "ResultCell"]
#: Grows when evaluation or a built-in ranker changes what a cell would hold.
EVALUATION_VERSION = 3


class CellKey(msgspec.Struct, frozen=True):
    """What makes a cell: model and its options, task, split, seed, and the checksum of the task's files."""

    model: str
    task: int
    split: str
    seed: int
    data: str
    options: str = ""

    @classmethod
    def of(cls, ranker: Ranker, task: RankingTask, split: str, data: str) -> CellKey:
        """The key of a ranker's cell on a split; ``data`` is the task's checksum."""
        return cls(ranker.name, task.number, split, ranker.seed, data, options_text(ranker.options))

    def config(self) -> dict[str, Any]:
        """The key as the run's configuration."""
        return {**msgspec.structs.asdict(self), "evaluation": EVALUATION_VERSION}

    def training(self) -> dict[str, Any]:
        """What the training depends on: everything but the split."""
        return {name: value for name, value in self.config().items() if name != "split"}


class ResultCell(msgspec.Struct, frozen=True, kw_only=True):
    """One cell, values as fractions."""

    task: int
    split: str
    model: str
    seed: int
    options: str = ""
    per_response: float
    per_dialog: float
    per_response_interval: tuple[float, float]
    per_dialog_interval: tuple[float, float]
    hits_at_10: float
    mrr: float
    dialogs: int
    responses: int
    top_ties: int
    unanswered: int
    #: Per reply class: correct, and how many there are.
    by_class: dict[str, tuple[int, int]]
    signature: str
    run: str = ""


def options_text(options: Mapping[str, str]) -> str:
    """Options as one text, in the order of their names.

    >>> options_text({"hops": "2", "dim": "64", "device": "cuda"})
    'dim=64,hops=2'
    """
    return ",".join(f"{name}={options[name]}" for name in sorted(options) if name not in OUTWARD)


def data_digest(task: RankingTask) -> str:
    """A checksum over the bytes of the task's files."""
    digest = hashlib.sha256()
    for path in task.files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def signature(key: CellKey, task: RankingTask, result: RankingResult) -> str:
    """Everything that could change the numbers, in one line."""
    parts = {
        "model": key.model,
        **({"options": key.options} if key.options else {}),
        "task": key.task,
        "split": key.split,
        "seed": key.seed,
        "data": key.data,
        "candidates": len(task.candidates),
        "history": "gold",
        "ties": "file-order",
        "dialogs": len(set(result.dialogues)),
        "responses": len(result.dialogues),
        "dialgauge": __version__,
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items())


def kept_cells(store: Store) -> Kept:
    """The cells that stand in the store, by their configuration; the newest wins. A damaged one counts as not kept."""
    found = {}
    for manifest in store.list():
        ours = manifest.kind == KIND and manifest.config.get("evaluation") == EVALUATION_VERSION
        if ours and "cell" in manifest.scores:
            with suppress(msgspec.ValidationError):
                cell = msgspec.convert(manifest.scores["cell"], ResultCell, strict=False)
                found[_sorted(manifest.config)] = msgspec.structs.replace(cell, run=manifest.id)
    return found


def cells(
    ranker: Ranker, task: RankingTask, splits: Sequence[str], store: Store, kept: Kept | None, tell: Tell = silent
) -> Iterator[ResultCell]:
    """The cells of a ranker on those of the splits the task has: kept ones as they are, the others computed.

    The ranker comes fresh and is fitted only when a cell is missing; without ``kept`` everything is done anew.
    """
    data = data_digest(task)
    keys = [CellKey.of(ranker, task, split, data) for split in splits if split in task.splits]
    done = {key: cell for key in keys if (cell := (kept or {}).get(_sorted(key.config()))) is not None}
    if len(done) == len(keys):
        yield from done.values()
        return
    with checkpointed(ranker, keys[0], store, tell, fresh=kept is None):
        ranker.fit(task)
        for key in keys:
            yield done.get(key) or compute(key, ranker, task, store)


def compute(key: CellKey, ranker: Ranker, task: RankingTask, store: Store) -> ResultCell:
    """Evaluate a fitted ranker on one split and keep the outcome as a run."""
    result = evaluate(ranker, task.split(key.split))
    cell = cell_of(key, task, result)
    name = f"{key.model}-task{key.task}-{key.split}"
    with store.create(
        kind=KIND, name=name, config=key.config(), inputs=task.files, seed=key.seed, signature=cell.signature
    ) as run:
        run.table("dialogue_scores", result.dialogue_scores())
        run.table("replies", result.replies(task.candidates))
        if ranker.log:
            run.table("epochs", epochs_frame(ranker))
        run.scores = {
            PER_RESPONSE: cell.per_response,
            PER_DIALOG: cell.per_dialog,
            "cell": msgspec.to_builtins(cell),
        }
        run.coverage = {"expected": cell.responses, "read": cell.responses, "scored": cell.responses, "failed": 0}
    return msgspec.structs.replace(cell, run=run.id)


def cell_of(key: CellKey, task: RankingTask, result: RankingResult) -> ResultCell:
    """The numbers of a cell."""
    intervals = result.intervals(seed=key.seed)
    return ResultCell(
        task=key.task,
        split=key.split,
        model=key.model,
        seed=key.seed,
        options=key.options,
        per_response=result.per_response,
        per_dialog=result.per_dialog,
        per_response_interval=intervals[PER_RESPONSE],
        per_dialog_interval=intervals[PER_DIALOG],
        hits_at_10=result.value("hits@10"),
        mrr=result.value(MRR),
        dialogs=len(set(result.dialogues)),
        responses=len(result.dialogues),
        top_ties=int(result.tied.sum()),
        unanswered=result.unanswered,
        by_class=result.by_class(),
        signature=signature(key, task, result),
    )


def epochs_frame(ranker: Ranker) -> polars.DataFrame:
    """The training log as a table of a run: one row per epoch."""
    import polars as pl

    return pl.DataFrame(ranker.log)


def _sorted(config: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(config.items()))


# The work behind a table: one job per model, task and seed, in this process or in several.
#
# A job reads its task, fits its model if a cell is missing, and keeps every cell it finishes; an interrupted table goes
# on where it stopped because finished cells, and checkpoints of unfinished trainings, are found in the run store.


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

    cells: list[ResultCell]
    notes: list[str]


def run_jobs(jobs: Sequence[Job], *, workers: int = 1, tell: Tell = silent) -> Iterator[list[ResultCell]]:
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


# Checkpoints of the trainings behind a table: in the run store until the last cell of the model is kept.
#
# A training belongs to one model with its options, task, seed and data, whatever splits are asked for. Two processes
# never write the same checkpoint: the one that comes second trains without.

KIND_CHECKPOINTS = "training"
CHECKPOINT = "checkpoint.npz"


@contextmanager
def checkpointed(ranker: Ranker, key: CellKey, store: Store, tell: Tell, *, fresh: bool = False) -> Iterator[None]:
    """Fit the ranker of a key inside the block: what an earlier process left half-done is taken up, unless ``fresh``.

    The checkpoint goes when the block ends, so let it end when everything computed with the model is kept.
    """
    name = f"{key.model}-task{key.task}-seed{key.seed}"
    with store.workbench(kind=KIND_CHECKPOINTS, name=name, config=key.training(), fresh=fresh) as folder:
        if folder is None:
            tell(f"{name}: another process trains it at this moment; this one works without a checkpoint")
        else:
            ranker.checkpoint = folder / CHECKPOINT
            if ranker.checkpoint.exists():
                tell(f"{name}: goes on from the checkpoint of an interrupted training")
        try:
            yield
        finally:
            ranker.checkpoint = None
