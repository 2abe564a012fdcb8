"""What each part of the ranker ``typed`` buys, and how much it learns from how many dialogs.

Judged on the development split and on an out-of-vocabulary development set that is simulated here (half B of the
restaurant world, a seed of its own), never on the test sets. ``python benchmarks/ablate_typed.py [--seed N]``; it needs
the dialog bAbI files in $DIALGAUGE_DATA/babi and takes about a quarter of an hour on one core.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dialgauge.lab import simulate
from dialgauge.rankers import Episode, Point, RankingTask, episodes, load_task
from dialgauge.rankers.neural.encoding import Ints, words_of
from dialgauge.rankers.neural.typed import Typed
from dialgauge.rendering import Column, Table
from dialgauge.responses import evaluate
from dialgauge.worlds.restaurant import Parameters, load_world

OOV_SEED = 1105
OOV_DIALOGS = 300
SIZES = (50, 100, 250, 500, 1000)


class WordsInLines(Typed):
    """Entities stay words in the dialog."""

    def split_line(self, text: str) -> list[str]:
        return words_of(text)


class WordsInCandidates(Typed):
    """Entities stay words in the candidates."""

    def split_candidate(self, text: str) -> list[str]:
        return words_of(text)


class FewerMarks(Typed):
    """Some marks are never given."""

    left_out: tuple[str, ...] = ()

    def contexts(self, points: Sequence[Point]) -> list[Ints] | None:
        names = self.entities.marks
        dropped = [place for place, name in enumerate(names) if name.split(" ")[0] in self.left_out]
        found = super().contexts(points) or []
        return [rows[~np.isin(rows[:, 1], dropped)] for rows in found]


class NoLatest(FewerMarks):
    """Nothing says what was mentioned last, or belongs to the name that was."""

    left_out = ("latest", "of")


class NoOffers(FewerMarks):
    """Nothing says which names are listed, were proposed, or are best."""

    left_out = ("listed", "offered", "open", "most", "least")


class NoBest(FewerMarks):
    """Nothing says which open name has the largest or smallest number."""

    left_out = ("most", "least")


VARIANTS = {
    "typed": Typed,
    "entities stay words in the dialog": WordsInLines,
    "entities stay words in the candidates": WordsInCandidates,
    "without latest, of named": NoLatest,
    "without listed, offered, open, most, least": NoOffers,
    "without most, least": NoBest,
}


def main() -> None:
    """Train every variant on tasks 1, 2, 3 and 5, then ``typed`` on fewer dialogs, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tasks", default="1,2,3,5")
    options = parser.parse_args()
    folder = Path(os.environ.get("DIALGAUGE_DATA") or ".") / "babi"
    if not folder.is_dir():
        sys.exit("ablate_typed: the dialog bAbI files are not here; set DIALGAUGE_DATA to the folder that holds babi/")
    numbers = [int(item) for item in options.tasks.split(",")]
    tasks = {number: load_task(folder, number, ("trn", "dev")) for number in numbers}
    unseen = {number: unseen_dialogs(number) for number in numbers}
    columns = [Column(f"T{number} {name}", digits=1, percent=True) for number in numbers for name in ("dev", "OOV")]
    parts = Table("What each part buys: per-response accuracy in percent", ["variant", *columns])
    for name, kind in VARIANTS.items():
        parts.add(
            name, *(value for number in numbers for value in reached(kind, tasks[number], unseen[number], options.seed))
        )
        print(parts.render("markdown"), flush=True)
    curve = Table("How many training dialogs it takes: per-response accuracy in percent", ["dialogs", *columns])
    for size in SIZES:
        cut = {number: first(task, size) for number, task in tasks.items()}
        curve.add(
            size, *(value for number in numbers for value in reached(Typed, cut[number], unseen[number], options.seed))
        )
        print(curve.render("markdown"), flush=True)


def reached(kind: type[Typed], task: RankingTask, unseen: Sequence[Episode], seed: int) -> tuple[float, float]:
    """Per-response accuracy on dev and on the simulated dialogs with unseen names."""
    ranker = kind(seed)
    ranker.options = {"device": "cpu"}
    ranker.fit(task)
    return evaluate(ranker, task.split("dev")).per_response, evaluate(ranker, unseen).per_response


def unseen_dialogs(task: int) -> tuple[Episode, ...]:
    """Dialogs of half B of a world drawn for this purpose."""
    return episodes(simulate(load_world("restaurant"), task, "tst-OOV", OOV_DIALOGS, Parameters(seed=OOV_SEED)))


def first(task: RankingTask, size: int) -> RankingTask:
    """The task with its first training dialogs only."""
    return replace(task, splits={**task.splits, "trn": task.split("trn")[:size]})


if __name__ == "__main__":
    main()
