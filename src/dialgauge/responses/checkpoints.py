"""Checkpoints of the trainings behind a table: in the run store until the last cell of the model is kept.

A training belongs to one model with its options, task, seed and data, whatever splits are asked for. Two processes
never write the same checkpoint: the one that comes second trains without.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dialgauge.responses.ranker import Ranker, Tell
from dialgauge.runs import Store

if TYPE_CHECKING:
    from dialgauge.responses.cells import Key

KIND = "training"
CHECKPOINT = "checkpoint.npz"


@contextmanager
def checkpointed(ranker: Ranker, key: Key, store: Store, tell: Tell, *, fresh: bool = False) -> Iterator[None]:
    """Fit the ranker of a key inside the block: what an earlier process left half-done is taken up, unless ``fresh``.

    The checkpoint goes when the block ends, so let it end when everything computed with the model is kept.
    """
    name = f"{key.model}-task{key.task}-seed{key.seed}"
    with store.workbench(kind=KIND, name=name, config=key.training(), fresh=fresh) as folder:
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
