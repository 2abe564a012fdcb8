"""``turnwise babi train``: fit a model, with checkpoints, and keep it in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turnwise.cli.babi_options import (
    DataOption,
    DeviceOption,
    JsonOption,
    ModelOption,
    PresetOption,
    SetOption,
    StoreOption,
    fresh_ranker,
    settings,
    tell,
)
from turnwise.cli.common import out, write_json


def register(app: typer.Typer) -> None:
    """Add the command to ``turnwise babi``."""
    app.command("train")(train)


def train(
    data: DataOption,
    folder: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the model and its checkpoint go.")],
    model: ModelOption = "memn2n",
    task: Annotated[int, typer.Option(min=1, max=6, help="Which task.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the model.")] = 0,
    given: SetOption = None,
    preset: PresetOption = None,
    device: DeviceOption = None,
    store: StoreOption = None,
    json: JsonOption = None,
) -> None:
    """Fit a model on a task's training and development dialogs and keep it in a folder.

    A training that was interrupted goes on after its last finished epoch when the same command runs again.
    """
    from turnwise.responses.cells import data_digest, options_text
    from turnwise.responses.model_folder import save_ranker
    from turnwise.responses.task import load_task
    from turnwise.responses.training_run import keep_training, log_table
    from turnwise.runs import Store

    loaded = load_task(data, task, ("trn", "dev"))
    ranker = fresh_ranker(model, seed, settings(given, preset, device))
    ranker.checkpoint = folder / "checkpoint.npz"
    ranker.fit(loaded, tell)
    save_ranker(ranker, folder, task)
    run = keep_training(ranker, loaded, Store(store))
    out.print(log_table(ranker, task).render("terminal"))
    tell(f"model kept in {folder}, log in run {run}")
    if json is not None:
        known = {"model": model, "task": task, "seed": seed, "options": options_text(ranker.options)}
        write_json(json, {**known, "data": data_digest(loaded), "run": run, "epochs": ranker.log})
