"""The folder of a training: whose model or checkpoint lies in it. One of another training is never written over.

A training is named by its model, task and seed. The same names with other data or settings are the same experiment in
another state, and its owner may repeat it in place.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import msgspec
import numpy as np

from dialgauge.errors import DialgaugeError
from dialgauge.files import check_writable
from dialgauge.responses.checkpoints import CHECKPOINT
from dialgauge.responses.model_folder import training_in
from dialgauge.responses.ranker import Ranker, TrainingName
from dialgauge.responses.task import Task


class _Progress(msgspec.Struct):
    """Of what a checkpoint says, the name of its training; those of versions before it was written have none."""

    training: TrainingName | None = None


def claim_folder(folder: Path, ranker: Ranker, task: Task) -> Path:
    """The place for the checkpoint of a training in a folder; an error when another's work lies there.

    So is a folder in which nothing can be written: better now than after hours of training.
    """
    wanted, checkpoint = TrainingName.of(ranker, task), folder / CHECKPOINT
    for what, found in (("model", training_in(folder)), ("checkpoint", _training_of(checkpoint))):
        if found not in (None, wanted):
            raise DialgaugeError(
                f"the {what} of another training lies there ({found}, not {wanted}); "
                "choose another folder, or delete this one",
                file=str(folder),
            )
    check_writable(folder)
    return checkpoint


def _training_of(checkpoint: Path) -> TrainingName | None:
    if not checkpoint.exists():
        return None
    try:
        with np.load(checkpoint, allow_pickle=False) as held:
            return msgspec.json.decode(held["progress"].tobytes(), type=_Progress).training
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, msgspec.DecodeError) as error:
        raise DialgaugeError(
            f"the checkpoint cannot be read ({error}); delete it to train anew", file=str(checkpoint)
        ) from error
