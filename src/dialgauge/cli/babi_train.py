"""``dialgauge babi train``: fit a model, with checkpoints, and store it in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dialgauge import rankers, responses, runs
from dialgauge.cli.babi_options import Replies, TaskOption, TrainingSettings, fresh_ranker, tell
from dialgauge.cli.choices import MODELS
from dialgauge.cli.common import AlwaysStored, TableOutput
from dialgauge.cli.options import Option, OutputFolder, command


@command()
def train(
    folder: Annotated[Path, OutputFolder("--out", help="Folder for the model and its checkpoint.")],
    model: Annotated[str, Option(known=MODELS, help="Model name, such as tfidf or memn2n.")] = "memn2n",
    task: TaskOption = None,
    seed: Annotated[
        int, Option(min=0, help="Random seed for the model and, with --logs, for the train/test split.")
    ] = 0,
    force: Annotated[bool, Option(help="Replace the finished model in the folder.")] = False,
    *,
    replies: Replies,
    training: TrainingSettings,
    output: TableOutput,
    stored: AlwaysStored,
) -> None:
    """Train a model on a task's training and development dialogs (or on chat logs) and save it in a folder.

    Rerun an interrupted command to resume after the last finished epoch. A folder with another model or checkpoint is
    refused; --force replaces a model. The training log is always stored as a run.
    """
    loaded = replies.task(task, seed, splits=("trn", "dev"))
    ranker = fresh_ranker(model, seed, training.options())
    ranker.checkpoint = rankers.claim_folder(folder, ranker, loaded, force=force)
    store = runs.Store(stored.store)
    store.check_writable()
    rankers.fit_model(ranker, loaded, tell)
    rankers.save_ranker(ranker, folder, loaded.number)
    tell(f"model saved in {folder}")
    run = store.add(responses.training_run(ranker, loaded))
    output.show([responses.log_table(run)])
    tell(f"log stored as run {run.id}")
    epochs = run.table("epochs").to_dicts() if "epochs" in run.tables else []
    output.document("babi-train", {"systems": [{**responses.run_record(run), "epochs": epochs}]})
