"""The template rankers of task 6 on systems they have not learned from: what adapting to the candidate file buys.

    DIALGAUGE_DATA=../shared/data python benchmarks/bench_transductive.py [--draws N]

The settings are explained in ``task6_settings.py``; test dialogs are never read.
"""

from __future__ import annotations

import argparse

import numpy as np
from task6_settings import Setting, World, release

from dialgauge.rankers import RankingTask
from dialgauge.rankers.templates.logistic import Floats
from dialgauge.rankers.templates.ranker import Templates, TemplatesTransductive

RANKERS = (Templates, TemplatesTransductive)


def _cell(mean: Floats, spread: Floats) -> str:
    if not spread.any():
        return f"{mean[0]:.1f} ({mean[1]:.1f})"
    return f"{mean[0]:.1f} ± {spread[0]:.1f} ({mean[1]:.1f} ± {spread[1]:.1f})"


def rows(task: RankingTask, draws: int) -> None:
    """Print a row per setting: mean and (over draws) spread."""
    world = World(task)
    by_name: dict[str, list[Setting]] = {setting.name: [setting] for setting in world.fixed()}
    for draw in range(draws):
        for setting in world.drawn(draw):
            by_name.setdefault(setting.name, []).append(setting)
    print("| setting | draws | " + " | ".join(f"`{kind.name}`" for kind in RANKERS) + " |")
    print("| --- | --- |" + " --- |" * len(RANKERS))
    for name, settings in by_name.items():
        cells = []
        for kind in RANKERS:
            found = np.array([setting.reached(task, kind(0)) for setting in settings])
            cells.append(_cell(found.mean(axis=0), found.std(axis=0)))
        print(f"| {name} | {len(settings)} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3, help="draws per setting")
    draws, task = parser.parse_args().draws, release()
    if task is not None:
        rows(task, draws)


if __name__ == "__main__":
    main()
