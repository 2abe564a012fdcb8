"""Cells of the results table: one model on one task and split with one seed. A cell is a run, and found again as one.

What is left to do is derived from the runs in the store: a cell is done when a run has the same model, options, task,
split, seed, data and training data (by checksum), code and evaluation version. Nothing is stored beside the runs,
except the checkpoint of a training while it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from dialgauge import rankers
from dialgauge.agents import Agent, AgentReplier, SystemContext
from dialgauge.engine import Unit, Work, Workers, checked_place, place_of, run
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Measure, Signature
from dialgauge.responses.evaluation import KEPT, RankingResult, Replier, candidates_frame, corpus_of, evaluate
from dialgauge.responses.measures import DEFAULT, score_replies
from dialgauge.responses.memories import attention_tables
from dialgauge.responses.paper import split_is_released, training_is_released
from dialgauge.runs import Manifest, Run, Store, new_run, packed_run, unpacked_run
from dialgauge.worlds.restaurant import FactDatabase

if TYPE_CHECKING:
    import polars

KIND = "responses"
#: Details of a run: correct and total replies per class, ties at the top, replies without an answer.
BY_CLASS, TIES, UNANSWERED = "by_class", "top_ties", "unanswered"
#: Grows when cells of before may no longer be read; that their code was another, their key says.
EVALUATION_VERSION = 4
#: For a model that was fitted without a note of what on and by what.
_UNKNOWN = "unknown"
#: Anything that can be evaluated.
Bot: TypeAlias = rankers.ReplyModel | Replier
#: Ids of stored cells by their configuration.
StoredCells: TypeAlias = dict[tuple[tuple[str, Any], ...], str]


class CellKey(msgspec.Struct, frozen=True):
    """What makes a cell: everything that can change its numbers."""

    model: str
    task: int
    split: str
    seed: int
    #: A checksum of the dialogs it answers, the candidates and the facts.
    data: str
    options: str = ""
    #: A checksum of what the model was fitted on; empty for a bot that is not fitted.
    fitted: str = ""
    #: The packages whose code fitted the model, and those that ask it, where they are others.
    code: str = ""
    #: Whether all the dialogs and candidates are those that the paper's numbers are about.
    released: bool = False

    @classmethod
    def of(cls, bot: Bot, task: rankers.RankingTask, split: str) -> CellKey:
        """The key of the cell of a bot that is ready to answer."""
        if not isinstance(bot, rankers.ReplyModel):
            return cls._of(bot, task, split, fitted="", code=getattr(bot, "code", "") or rankers.code_of(bot))
        origin, here = bot.provenance or rankers.Provenance(_UNKNOWN, _UNKNOWN), rankers.code_of(bot)
        code = here if here == origin.code else f"{origin.code}>{here}"
        return cls._of(bot, task, split, fitted=origin.data, code=code)

    @classmethod
    def planned(cls, model: rankers.ReplyModel, task: rankers.RankingTask, split: str) -> CellKey:
        """The key of the cell that a model will have once it is fitted on the task."""
        origin = rankers.Provenance.of(model, task)
        return cls._of(model, task, split, fitted=origin.data, code=origin.code)

    @classmethod
    def _of(cls, bot: Bot, task: rankers.RankingTask, split: str, *, fitted: str, code: str) -> CellKey:
        fitted_here = not fitted or fitted.startswith(task.training_digest())
        return cls(
            model=bot.name,
            task=task.number,
            split=split,
            seed=bot.seed,
            data=task.digest(split),
            options=options_text(bot.options),
            fitted=fitted,
            code=code,
            released=fitted_here and split_is_released(task, split) and training_is_released(task),
        )

    @classmethod
    def of_run(cls, run: Run) -> CellKey:
        return msgspec.convert(run.manifest.config, cls)

    @property
    def name(self) -> str:
        return f"{self.model}-task{self.task}-{self.split}"

    def config(self) -> dict[str, Any]:
        return {**msgspec.structs.asdict(self), "evaluation": EVALUATION_VERSION}

    def training(self) -> dict[str, Any]:
        """What the training depends on: everything but the dialogs to be answered later."""
        return {name: value for name, value in self.config().items() if name not in ("split", "data", "released")}

    def signature(self, task: rankers.RankingTask, result: RankingResult) -> Signature:
        """Everything that could change the numbers."""
        return Signature(
            model=self.model,
            options=self.options,
            task=str(self.task),
            split=self.split,
            seed=str(self.seed),
            data=self.data,
            fitted=self.fitted or "none",
            code=self.code,
            candidates=str(len(task.candidates)),
            history="gold",
            ties="file-order",
            dialogues=str(result.dialogues),
            replies=str(len(result)),
        )


def options_text(options: Mapping[str, str]) -> str:
    """Options as one text, in the order of their names.

    >>> options_text({"hops": "2", "dim": "64", "device": "cuda"})
    'dim=64,hops=2'
    """
    return ",".join(f"{name}={options[name]}" for name in sorted(options) if name not in rankers.RUNTIME_OPTIONS)


def evaluation_run(
    key: CellKey,
    bot: Bot,
    task: rankers.RankingTask,
    measures: Sequence[Measure[Any]] | None = None,
    *,
    attention: int = 0,
) -> Run:
    """Evaluate a bot that is ready to answer on one split: a run in memory.

    ``attention`` is of how many dialogues, from the first on, the run keeps where a memory network looked.
    """
    dialogs = task.split(key.split)
    looked = attention_tables(bot, dialogs[:attention])
    result = evaluate(bot, dialogs, task.candidates, keep=KEPT)
    other = {"measures": ",".join(map(str, measures))} if measures is not None else {}
    return new_run(
        kind=KIND,
        name=key.name,
        scores=score_replies(result, measures, signature=key.signature(task, result), seed=key.seed),
        corpus=corpus_of(dialogs),
        tables={
            "replies": lambda: result.frame(task.candidates),
            **candidates_table(result, task.candidates),
            **looked,
            **epochs_table(bot),
        },
        config={**key.config(), **other},
        inputs=task.inputs,
        seeds=key.seed,
        details=reply_details(result),
    )


def agent_replier(agent: Agent, task: rankers.RankingTask, options: Mapping[str, str] | None = None) -> Replier:
    """An agent that answers a task's replies, one by one; it may consult the task's facts."""
    context = SystemContext(
        dialogue_id="", database=FactDatabase(task.facts), candidates=task.candidates, task=task.number
    )
    replier = AgentReplier(agent, context)
    replier.options = dict(options or {})
    return replier


def reply_details(result: RankingResult) -> dict[str, Any]:
    """What a run of replies says besides scores."""
    return {BY_CLASS: result.by_class(), TIES: int(result.tied.sum()), UNANSWERED: result.unanswered}


def candidates_table(result: RankingResult, texts: Sequence[str]) -> dict[str, Callable[[], polars.DataFrame]]:
    """The table ``candidates`` of a bot that ranks them."""
    return {"candidates": lambda: candidates_frame(result, texts)} if result.shortlists else {}


def epochs_table(bot: Bot, *, timed: bool = False) -> dict[str, Callable[[], polars.DataFrame]]:
    """The table ``epochs`` of a model that was trained: one row per epoch. ``timed``: with seconds, which are others
    each time, so that a run of a table, which is to be the same wherever it is made, does not have them."""
    log = getattr(bot, "log", [])

    def made() -> polars.DataFrame:
        import polars as pl

        frame = pl.DataFrame(log)
        return frame if timed else frame.drop("seconds", strict=False)

    return {"epochs": made} if log else {}


def stored_cells(store: Store) -> StoredCells:
    """The cells that stand in the store, by their configuration; the newest wins. A damaged one is left out."""
    return {_sorted(manifest.config): manifest.id for manifest in store.list() if _is_cell(manifest)}


def _is_cell(manifest: Manifest) -> bool:
    if manifest.kind != KIND or manifest.config.get("evaluation") != EVALUATION_VERSION:
        return False
    return set(DEFAULT) <= set(manifest.scores) and {BY_CLASS, TIES, UNANSWERED} <= set(manifest.details)


def job_cells(
    model: rankers.ReplyModel,
    task: rankers.RankingTask,
    splits: Sequence[str],
    store: Store,
    stored: StoredCells | None,
    tell: rankers.Tell = rankers.silent,
) -> Iterator[Run]:
    """The cells of a model on those of the splits the task has: stored ones as they are, the others computed.

    The model comes fresh and is fitted only when a cell is missing; without ``stored`` everything is done anew.
    """
    keys = [CellKey.planned(model, task, split) for split in splits if split in task.splits]
    known = stored or {}
    done = {key: known[config] for key in keys if (config := _sorted(key.config())) in known}
    if len(done) == len(keys):
        yield from map(store.open, done.values())
        return
    with checkpointed(model, keys[0], store, tell, fresh=stored is None):
        rankers.fit_model(model, task)
        for key in keys:
            yield store.open(done[key]) if key in done else store.add(evaluation_run(key, model, task))


def _sorted(config: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(config.items()))


# The work behind a table: one job per model, task and seed, in this process or in several. A job reads its task, fits
# its model if a cell is missing, and stores every cell it finishes; an interrupted table goes on where it stopped.


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
    taken = rankers.options_by_model(models, options or {})
    return [
        Job(data, model, task, seed, taken[model], tuple(splits), store, fresh)
        for task in tasks
        for model in models
        for seed in range(seeds if rankers.ranker_class(model).seeded else 1)
    ]


class _Cell(msgspec.Struct, frozen=True):
    """A cell that stands in the store, or the whole of one that was computed on another machine."""

    id: str = ""
    packed: bytes = b""


class _JobResult(msgspec.Struct, frozen=True):
    """A job's cells, and what is to be told about it."""

    cells: list[_Cell]
    notes: list[str]


class _JobWork(Work[None, Job]):
    """Jobs of this machine share nothing but the store; jobs of a cluster do not see it: they are told what stands in
    it (``stored``), and send what they computed."""

    def __init__(self, stored: StoredCells | None = None) -> None:
        self._stored = stored

    def open(self) -> None:
        """Every job reads its own task, in a cluster from a folder that all machines have."""

    def do(self, state: None, unit: Unit[Job]) -> bytes:
        job = unit.payload
        notes: list[str] = []
        task, model = rankers.load_task(job.data, job.task), rankers.fresh_model(job.model, job.seed, job.options)
        if self._stored is None:
            store = Store(job.store)
            stored = None if job.fresh else stored_cells(store)
            cells = [_Cell(cell.id) for cell in job_cells(model, task, job.splits, store, stored, notes.append)]
        else:
            cells = _sent_cells(model, task, job, {} if job.fresh else self._stored, notes.append)
        return msgspec.msgpack.encode(_JobResult(cells, notes))


def _sent_cells(
    model: rankers.ReplyModel, task: rankers.RankingTask, job: Job, stored: StoredCells, tell: rankers.Tell
) -> list[_Cell]:
    planned = {split: CellKey.planned(model, task, split) for split in job.splits if split in task.splits}
    configs = {split: _sorted(key.config()) for split, key in planned.items()}
    known = {split: _Cell(stored[config]) for split, config in configs.items() if config in stored}
    missing = [split for split in planned if split not in known]
    with TemporaryDirectory(prefix="dialgauge-") as folder:
        if missing:
            cells = job_cells(model, task, missing, Store(folder), None, tell)
            known |= {split: _Cell(packed=packed_run(cell)) for split, cell in zip(missing, cells, strict=True)}
    return [known[split] for split in planned]


def run_jobs(jobs: Sequence[Job], *, workers: Workers = 1, tell: rankers.Tell = rankers.silent) -> Iterator[list[Run]]:
    """The cells of each job, in the jobs' order; a job that fails ends the table, and what was finished is stored."""
    units = (Unit(str(number), job) for number, job in enumerate(jobs))
    distant = checked_place(place_of(workers)).engine == "ray"
    work = _JobWork((stored_cells(Store(jobs[0].store)) if jobs else {}) if distant else None)
    for job, done in zip(jobs, run(work, units, workers=workers), strict=True):
        if done.content is None:
            raise DialgaugeError(done.failure or "a job of the table failed")
        result = msgspec.msgpack.decode(done.content, type=_JobResult)
        for note in result.notes:
            tell(note)
        store = Store(job.store)
        yield [store.open(cell.id) if cell.id else store.add(unpacked_run(cell.packed)) for cell in result.cells]


# A training belongs to one model with its options, task, seed and data, whatever splits are asked for. Two processes
# never write the same checkpoint: the one that comes second trains without.

CHECKPOINT_KIND = "training"


@contextmanager
def checkpointed(
    model: rankers.ReplyModel, key: CellKey, store: Store, tell: rankers.Tell, *, fresh: bool = False
) -> Iterator[None]:
    """Fit the model of a key inside the block: what an earlier process left half-done is taken up, unless ``fresh``.

    The checkpoint goes when the block ends, so let it end when everything computed with the model is stored.
    """
    name = f"{key.model}-task{key.task}-seed{key.seed}"
    with store.workbench(kind=CHECKPOINT_KIND, name=name, config=key.training(), fresh=fresh) as folder:
        if folder is None:
            tell(f"{name}: another process is training it now; this one runs without a checkpoint")
        else:
            model.checkpoint = folder / rankers.CHECKPOINT
            if model.checkpoint.exists():
                tell(f"{name}: resumes from the checkpoint of an interrupted training")
        try:
            yield
        finally:
            model.checkpoint = None
