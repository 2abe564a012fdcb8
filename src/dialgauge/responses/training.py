"""A training as a run of the store, and its log as a table."""

from __future__ import annotations

from dialgauge._version import __version__
from dialgauge.rankers import Ranker, RankingTask, place_of
from dialgauge.report import Column, Table
from dialgauge.responses.cells import data_digest, epochs_frame, options_text
from dialgauge.runs import Store

KIND = "training"


def keep_training(ranker: Ranker, task: RankingTask, store: Store) -> str:
    """Store the log of a fitted ranker; the id of the run."""
    config = {
        "model": ranker.name,
        "task": task.number,
        "seed": ranker.seed,
        "options": options_text(ranker.options),
        "data": data_digest(task),
        "settings": ranker.settings().get("config", {}),
    }
    named = "|".join(f"{name}:{config[name]}" for name in ("model", "options", "task", "seed", "data"))
    with store.create(
        kind=KIND,
        name=f"{ranker.name}-task{task.number}",
        config=config,
        inputs=task.files,
        seed=ranker.seed,
        signature=f"{named}|dialgauge:{__version__}",
    ) as run:
        if ranker.log:
            run.table("epochs", epochs_frame(ranker))
            run.scores = {"dev": max(epoch["dev"] for epoch in ranker.log), "epochs": len(ranker.log)}
    return run.id


def log_table(ranker: Ranker, task: int) -> Table:
    """The epochs of a training, the best on dev in bold: its weights were kept."""
    table = Table(
        f"Training of {ranker.name} on {place_of(task)}, seed {ranker.seed}",
        [
            "epoch",
            Column("loss", digits=4),
            Column("dev per-response", digits=2, percent=True, best="max"),
            Column("seconds", digits=1),
        ],
        notes=[] if ranker.log else [f"The model {ranker.name} is fitted without epochs."],
    )
    for epoch in ranker.log:
        table.add(epoch["epoch"], epoch["loss"], epoch["dev"], epoch["seconds"])
    return table
