"""Cells of the results table: one bot on one task and split with one seed. A cell is a run, and found again as one.

A cell is done when the store has a run of the same model, options, task, split, seed, data and training data (by
checksum), code and evaluation version. Nothing is stored beside the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from dialgauge import rankers
from dialgauge.agents import Agent, AgentReplier, SystemContext
from dialgauge.engine import Unit, Work, Workers, run
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Measure, Signature
from dialgauge.responses.evaluation import KEPT, RankingResult, Replier, candidates_frame, corpus_of, evaluate
from dialgauge.responses.measures import DEFAULT, score_replies
from dialgauge.responses.paper import split_is_released, training_is_released
from dialgauge.runs import Run, Store, new_run, packed_run, unpacked_run
from dialgauge.worlds.restaurant import FactDatabase

if TYPE_CHECKING:
    import polars

KIND, TRAINING_KIND = "responses", "training"
#: Details of a run: correct and total replies per class, ties at the top, replies without an answer.
BY_CLASS, TIES, UNANSWERED = "by_class", "top_ties", "unanswered"
#: Grows when cells of before may no longer be read; that their code was another, their key says.
EVALUATION_VERSION = 5
#: Anything that can be evaluated.
Bot: TypeAlias = rankers.ReplyModel | Replier


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
        """The key of a bot; a model that is not fitted yet will be fitted on this task."""
        fitted, code = "", getattr(bot, "code", "") or rankers.code_of(bot)
        if isinstance(bot, rankers.ReplyModel):
            origin = bot.provenance or rankers.Provenance.of(bot, task)
            fitted, code = origin.data, code if code == origin.code else f"{origin.code}>{code}"
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

    def config(self) -> dict[str, Any]:
        return {**msgspec.structs.asdict(self), "evaluation": EVALUATION_VERSION}

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
    bot: Bot,
    task: rankers.RankingTask,
    split: str,
    measures: Sequence[Measure[Any]] | None = None,
    *,
    attention: int = 0,
    trained: bool = False,
) -> Run:
    """Evaluate a bot that is ready to answer on one split: a run in memory.

    ``attention`` is of how many dialogues, from the first on, the run keeps where a memory network looked. ``trained``
    makes the run of a training: the epochs and settings of the model, and no candidates.
    """
    import polars as pl

    key, dialogs = CellKey.of(bot, task, split), task.split(split)
    result = evaluate(bot, dialogs, task.candidates, keep=0 if trained else KEPT)
    tables: dict[str, Callable[[], polars.DataFrame]] = {"replies": lambda: result.frame(task.candidates)}
    config = key.config()
    log = getattr(bot, "log", ())
    if result.shortlists:
        tables["candidates"] = lambda: candidates_frame(result, task.candidates)
    if attention:
        tables["attention"] = lambda: _attention_frame(bot, dialogs[:attention])
    if measures is not None:
        config["measures"] = ",".join(map(str, measures))
    if trained and isinstance(bot, rankers.ReplyModel):
        config["settings"] = bot.settings().get("config", {})
        # The same training is the same run, so its seconds are left out.
        tables |= {"epochs": lambda: pl.DataFrame(log).drop("seconds", strict=False)} if log else {}
    return new_run(
        kind=TRAINING_KIND if trained else KIND,
        name=f"{key.model}-task{key.task}{'' if trained else f'-{split}'}",
        scores=score_replies(result, measures, signature=key.signature(task, result), seed=key.seed),
        corpus=corpus_of(dialogs),
        tables=tables,
        config=config,
        inputs=task.inputs,
        seeds=key.seed,
        details={
            BY_CLASS: result.by_class(),
            TIES: int(result.tied.sum()),
            UNANSWERED: result.unanswered,
            "epochs": len(log),
        },
    )


def _attention_frame(bot: Bot, dialogs: Sequence[rankers.Episode]) -> polars.DataFrame:
    """The table ``attention``: one row per reply, memory and hop."""
    import polars as pl

    model = rankers.attentive(bot)
    rows = [
        (point.dialogue, turn, index, line.kind, line.text, number, hop[index])
        for dialog in dialogs
        for turn, point in zip(dialog.reply_turns, dialog.points(), strict=True)
        for seen in (model.attention(point.question),)
        for number, hop in enumerate(seen.hops, start=1)
        for index, line in enumerate(seen.memories)
    ]
    columns = {
        "dialogue": pl.String, "turn": pl.Int64, "memory": pl.Int64, "speaker": pl.String,
        "text": pl.String, "hop": pl.Int64, "weight": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=columns, orient="row")


def agent_replier(agent: Agent, task: rankers.RankingTask, options: Mapping[str, str] | None = None) -> Replier:
    """An agent that answers a task's replies, one by one; it may consult the task's facts."""
    context = SystemContext(
        dialogue_id="", database=FactDatabase(task.facts), candidates=task.candidates, task=task.number
    )
    replier = AgentReplier(agent, context)
    replier.options = dict(options or {})
    return replier


# The work behind a table: one job per model, task and seed, here, in several processes or on a cluster. A job reads its
# task, fits its model and sends its cells, which are stored at once: an interrupted table goes on where it stopped.


class Job(NamedTuple):
    """One model on one task with one seed, and the splits that are still to be done."""

    data: Path
    model: str
    task: int
    seed: int
    options: Mapping[str, str]
    splits: tuple[str, ...]


class _JobWork(Work[None, Job]):
    def open(self) -> None:
        """Every job reads its own task."""

    def do(self, state: None, unit: Unit[Job]) -> bytes:
        job = unit.payload
        task, model = rankers.load_task(job.data, job.task), rankers.fresh_model(job.model, job.seed, job.options)
        rankers.fit_model(model, task)
        return msgspec.msgpack.encode([packed_run(evaluation_run(model, task, split)) for split in job.splits])


def table_cells(
    data: Path,
    models: Sequence[str],
    tasks: Sequence[int],
    splits: Sequence[str],
    seeds: int,
    store: Store,
    *,
    options: Mapping[str, str] | None = None,
    fresh: bool = False,
    workers: Workers = 1,
    advance: Callable[[int], None] = lambda done: None,
) -> Iterator[Run]:
    """All cells of a table: those that stand in the store, unless ``fresh``, and the others, computed and stored.

    Models that draw no random numbers run once, and each model gets the options it takes.
    """
    taken = rankers.options_by_model(models, options or {})
    known = {} if fresh else _stored_cells(store)
    planned: list[tuple[Job, dict[str, str]]] = []
    for number in tasks:
        task = rankers.load_task(data, number)
        for model in models:
            for seed in range(seeds if rankers.ranker_class(model).seeded else 1):
                unfitted = rankers.fresh_model(model, seed, taken[model])
                keys = {split: CellKey.of(unfitted, task, split) for split in splits if split in task.splits}
                done = {split: known[each] for split, key in keys.items() if (each := _sorted(key.config())) in known}
                missing = tuple(split for split in keys if split not in done)
                planned.append((Job(data, model, number, seed, taken[model], missing), done))
    units = [Unit(str(place), job) for place, (job, _) in enumerate(planned) if job.splits]
    results = run(_JobWork(), units, workers=workers)
    for job, done in planned:
        if job.splits:
            result = next(results)
            if result.content is None:
                raise DialgaugeError(result.failure or "a job of the table failed")
            runs = map(unpacked_run, msgspec.msgpack.decode(result.content, type=list[bytes]))
            done |= {split: store.add(each).id for split, each in zip(job.splits, runs, strict=True)}
        yield from (store.open(done[split]) for split in splits if split in done)
        advance(1)


def _stored_cells(store: Store) -> dict[tuple[tuple[str, Any], ...], str]:
    """The ids of cells that stand in the store, by their configuration; the newest wins."""
    return {
        _sorted(each.config): each.id
        for each in store.list()
        if each.kind == KIND
        and each.config.get("evaluation") == EVALUATION_VERSION
        and set(DEFAULT) <= set(each.scores)
    }


def _sorted(config: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(config.items()))
