"""A training as a run with its log, judged on the development split alone."""

from __future__ import annotations

from dialgauge.rankers import RankingTask, ReplyModel, place_of
from dialgauge.rendering import Column, Table
from dialgauge.responses.cells import CellKey, epochs_table, reply_details
from dialgauge.responses.evaluation import corpus_of, evaluate
from dialgauge.responses.measures import score_replies
from dialgauge.runs import Run, new_run

KIND = "training"
_SPLIT = "dev"


def training_run(model: ReplyModel, task: RankingTask) -> Run:
    """A fitted model, evaluated on the development split it chose its settings by: a run in memory."""
    dialogs = task.split(_SPLIT)
    result = evaluate(model, dialogs, task.candidates)
    key = CellKey.of(model, task, _SPLIT)
    return new_run(
        kind=KIND,
        name=f"{model.name}-task{task.number}",
        scores=score_replies(result, signature=key.signature(task, result), seed=key.seed),
        corpus=corpus_of(dialogs),
        tables={"replies": lambda: result.frame(task.candidates), **epochs_table(model, timed=True)},
        config={**key.config(), "settings": model.settings().get("config", {})},
        inputs=task.inputs,
        seeds=model.seed,
        details={**reply_details(result), "epochs": len(model.log)},
    )


def log_table(run: Run) -> Table:
    """The epochs of a training."""
    key = CellKey.of_run(run)
    trained = "epochs" in run.tables
    table = Table(
        f"Training of {key.model} on {place_of(key.task)}, seed {key.seed}",
        [
            "epoch",
            Column("loss", digits=4),
            Column("dev per-response", digits=2, percent=True),
            Column("seconds", digits=1),
        ],
        notes=[
            "The weights of the epoch that is best on dev were kept."
            if trained
            else f"The model {key.model} is fitted without epochs."
        ],
    )
    for epoch in run.table("epochs").iter_rows(named=True) if trained else ():
        table.add(epoch["epoch"], epoch["loss"], epoch["dev"], epoch["seconds"])
    return table
