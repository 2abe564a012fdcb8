"""The released dialog bAbI files, each read once, and what the specification counted in them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from dialgauge.dialogue import Dialogue, Fact
from dialgauge.formats import read
from dialgauge.lab import dialog_file
from dialgauge.rankers import RankingTask, load_task
from dialgauge.worlds.restaurant import Half, KnowledgeBase, Restaurant, venues_of

TASKS = (1, 2, 3, 4, 5)
SPLITS = ("trn", "dev", "tst", "tst-OOV")
ALL_FILES = [(task, split) for task in TASKS for split in SPLITS] + [(6, "trn"), (6, "dev"), (6, "tst")]


def released_file(data: Path, task: int, split: str) -> Path:
    """Where a released dialog file lies."""
    return data / "babi" / f"{dialog_file(task, split)}.gz"


@cache
def released(data: Path, task: int, split: str) -> list[Dialogue]:
    """The dialogs of a released file."""
    return list(read(released_file(data, task, split)))


@cache
def released_task(data: Path, number: int) -> RankingTask:
    """A released task with all of its splits."""
    return load_task(data / "babi", number)


def knowledge_base_of(facts: Iterable[Fact], half: Half) -> KnowledgeBase:
    """The restaurants of a half as the released file, which holds both halves, lists them."""
    of_half = {
        name: values
        for name, values in venues_of(facts).items()
        if values["R_location"] in half.locations and values["R_cuisine"] in half.cuisines
    }
    return KnowledgeBase(
        Restaurant(
            name=name,
            cuisine=values["R_cuisine"],
            location=values["R_location"],
            size=values["R_number"],
            price=values["R_price"],
            rating=int(values["R_rating"]),
        )
        for name, values in of_half.items()
    )
