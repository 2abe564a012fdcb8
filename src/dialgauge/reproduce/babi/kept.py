"""Accuracies of the learned models: kept with the package, or trained anew.

Two trainings stand side by side. ``default`` is ours, ``paper`` is the paper's (its loss, optimiser, negatives, time
features, no entity dropout). A file of kept results says which command made it, on what machine and in what time.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files
from operator import attrgetter
from pathlib import Path

import msgspec

from dialgauge import responses
from dialgauge.files import atomic
from dialgauge.rankers import TASKS, RankingTask, ReplyModel, fit_model, ranker_class
from dialgauge.reproduce.babi.attention import MODEL, SEED, AttentionSample, attention_at, printed
from dialgauge.reproduce.reproduction import Fresh

OURS, PAPER = "default", "paper"
#: Training to the file of its kept results, and to what it is called.
TRAININGS = {OURS: "babi.json", PAPER: "babi_paper.json"}
TRAINING_NAMES = {
    OURS: "our training (--preset default: the paper's sizes; Adam, cross entropy, entity dropout)",
    PAPER: "the paper's training (--preset paper: its losses, rates and negatives, SGD one reply at a time)",
}

SPLITS = ("tst", "tst-OOV")


class KeptCell(msgspec.Struct, frozen=True, omit_defaults=True):
    """One model on one task and split with one seed, as fractions."""

    model: str
    task: int
    split: str
    seed: int
    per_response: float
    per_dialog: float
    #: Settings other than those of the training, such as ``hops=1``.
    options: str = ""
    #: Epochs and seconds of the training; 0 where they were not noted.
    epochs: int = 0
    seconds: float = 0.0
    #: Whether the training was stopped before it had come to its end.
    cut: bool = False


class Kept(msgspec.Struct, frozen=True):
    """Results of earlier trainings, and how they were made."""

    command: str
    hardware: str
    commit: str
    cells: list[KeptCell]

    def of(self, model: str, task: int, split: str, options: str = "") -> list[KeptCell]:
        """The cells of a model on a split, one for each seed."""
        wanted = (model, task, split, options)
        return [cell for cell in self.cells if (cell.model, cell.task, cell.split, cell.options) == wanted]


def kept_results(training: str = OURS) -> Kept | None:
    """The results of a training kept with the package, or None where there are none."""
    path = files("dialgauge.reproduce").joinpath("kept", TRAININGS[training])
    return msgspec.json.decode(path.read_bytes(), type=Kept) if path.is_file() else None


def write_kept(path: Path, kept: Kept) -> None:
    """Write such a file, one cell to a line, atomically."""
    head = {"command": kept.command, "hardware": kept.hardware, "commit": kept.commit}
    lines = [
        f" {msgspec.json.encode(name).decode()}: {msgspec.json.encode(text).decode()}," for name, text in head.items()
    ]
    order = attrgetter("model", "task", "options", "split", "seed")
    cells = ",\n".join(f"  {msgspec.json.encode(cell).decode()}" for cell in sorted(kept.cells, key=order))
    with atomic(path) as scratch:
        scratch.write_text("\n".join(["{", *lines, ' "cells": [', cells, " ]", "}"]) + "\n", encoding="utf-8")


def machine() -> str:
    """What models are trained on here."""
    return f"{platform.machine()} CPU, Python {platform.python_version()}, torch {version('torch')}"


def trained_cells(folder: Path, models: Sequence[str], fresh: Fresh) -> list[KeptCell]:
    """Every model on every task with every seed. Finished cells are found in the run store, as by ``babi table``."""
    options = {} if fresh.preset == OURS else {"preset": fresh.preset}
    runs = responses.evaluate_models(
        folder,
        models,
        tasks=TASKS,
        splits=SPLITS,
        seeds=fresh.seeds,
        options=options,
        workers=fresh.workers,
        store=fresh.store,
    ).runs
    kept = []
    for run in runs:
        key, epochs = responses.CellKey.of_run(run), run.details["epochs"]
        response, dialog = (run.scores[name].value or 0.0 for name in (responses.PER_RESPONSE, responses.PER_DIALOG))
        kept.append(KeptCell(key.model, key.task, key.split, key.seed, response, dialog, epochs=epochs))
    return kept


def trained_attention(tasks: Sequence[RankingTask], fresh: Fresh) -> list[AttentionSample]:
    """Where a memory network looks at every place of the paper's Tables 3 to 7."""
    samples = []
    for task in tasks:
        places = [place for place in printed().places() if place.task == task.number]
        if places:
            ranker = ranker_class(MODEL)(SEED)
            fresh.tell(f"attention: {MODEL}, task {task.number}, seed {SEED}")
            fit_model(ranker, task)
            samples += attention_of(ranker, task)
    return samples


def attention_of(ranker: ReplyModel, task: RankingTask) -> list[AttentionSample]:
    """Where a fitted memory network looks at the places of its task."""
    return [attention_at(ranker, task, place) for place in printed().places() if place.task == task.number]
