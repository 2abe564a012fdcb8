"""A restaurant world small enough to train on in a second, as tasks in memory and as files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from msgspec.structs import replace

from dialgauge.lab import simulate, world_facts, write_release
from dialgauge.rankers import SPLITS, AnsweredPoint, Line, RankingTask, episodes
from dialgauge.worlds.restaurant import Half, Parameters, SimulatorWorld, load_world, world_candidates

TINY: SimulatorWorld = replace(
    load_world(),
    halves=(
        Half(name="A", locations=("paris", "rome"), cuisines=("french", "thai")),
        Half(name="B", locations=("oslo", "cairo"), cuisines=("greek", "cuban")),
    ),
    prices=("cheap", "expensive"),
    sizes=("two", "four"),
    ratings=tuple(range(1, 9)),
)


@cache
def tiny_task(number: int, dialogs: int = 30, seed: int = 0) -> RankingTask:
    """A simulated task of the tiny world with all four splits."""
    return RankingTask(
        number=number,
        splits={split: episodes(simulate(TINY, number, split, dialogs, Parameters(seed=seed))) for split in SPLITS},
        candidates=tuple(world_candidates(TINY)),
        facts=tuple(world_facts(TINY, seed)),
    )


def tiny_release(folder: Path, tasks: tuple[int, ...] = (1,), dialogs: int = 12) -> Path:
    """The files of the tiny world."""
    write_release(TINY, folder, tasks=tasks, splits=SPLITS, dialogs=dialogs, parameters=Parameters())
    return folder


def point(*history: tuple[str, str], utterance: str = "hi", reply: str = "") -> AnsweredPoint:
    """A place to answer, made by hand: ``point(("user", "hi"), ("bot", "hello"), utterance="thanks")``."""
    lines = tuple(Line(kind, text) for kind, text in history)  # type: ignore[arg-type]
    return AnsweredPoint("made-up", len(history) // 2, lines, utterance, reply)
