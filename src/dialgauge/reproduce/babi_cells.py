"""Accuracies of the learned models, kept with the package."""

from __future__ import annotations

from importlib.resources import files

import msgspec


class KeptCell(msgspec.Struct, frozen=True):
    """One model on one task and split with one seed, as fractions."""

    model: str
    task: int
    split: str
    seed: int
    per_response: float
    per_dialog: float


class Kept(msgspec.Struct, frozen=True):
    """Results of earlier trainings, and how they were made."""

    command: str
    hardware: str
    commit: str
    cells: list[KeptCell]


def kept_results() -> Kept | None:
    """The results kept with the package, or None where there are none."""
    path = files("dialgauge.reproduce").joinpath("kept", "babi.json")
    return msgspec.json.decode(path.read_bytes(), type=Kept) if path.is_file() else None
