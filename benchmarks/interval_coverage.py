"""How often intervals hold: real trackers' scores on small samples of dialogues, the whole test set as the truth.

DIALGAUGE_DATA=../shared/data python benchmarks/interval_coverage.py [repetitions] [dialogues ...]
DIALGAUGE_DATA=../shared/data python benchmarks/interval_coverage.py amounts [repetitions]

Prints Markdown, as docs/explanation/intervals.md has it. Dialogues are drawn with replacement from MultiWOZ 2.1's test
set; the trackers are AuGPT, DoTS, MinTL and UBAR. ``JGA, 1 in 20`` keeps one in twenty of their wrong turns, ``SA, 1 in
20`` of their wrong slots: trackers near perfection.

``amounts`` is about what has no upper bound, cost and turns of agents, as the tau files have them and made up with
outliers, and about differences of a handful of tasks.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dialgauge import review, score
from dialgauge.comparison import paired_scores
from dialgauge.stats import (
    INTERVAL_METHODS,
    amount_mean_interval,
    paired_randomisation,
    ratio_intervals,
)

Floats = NDArray[np.float64]

_SLOTS = 30
TRACKERS = ("augpt", "dots", "mintl", "ubar")
MEASURES = ("JGA", "SA", "AGA", "RSA", "F1", "FGA@0.5", "FinalJGA", "DialogueExact")
RARE = ("JGA", "SA")
COLUMNS = (*MEASURES, *(f"{name}, 1 in 20" for name in RARE))


def population(data: Path) -> tuple[Floats, Floats]:
    """Numerators and denominators, (trackers, measures, dialogues); the last measure has few mistakes left."""
    files = {name: str(data / "dst_predictions" / f"{name}.json.gz") for name in TRACKERS}
    results = score(str(data / "multiwoz21" / "test.json.gz"), files, measures=list(MEASURES), intervals=False)
    scores = paired_scores({run.name: run.table("dialogue_scores") for run in results.runs}).only(MEASURES)
    places = [MEASURES.index(name) for name in RARE]
    whole = scores.den[:, places]
    # Most turns have an inventory of 30 slots; SA's numerator and denominator are shares of turns.
    parts = np.array([1.0 if name == "JGA" else _SLOTS for name in RARE])[:, None]
    mistakes = ((whole - scores.num[:, places]) * parts).round().astype(int)
    wrong = np.random.default_rng(1).binomial(mistakes, 0.05) / parts
    return np.concatenate([scores.num, whole - wrong], axis=1), np.concatenate([scores.den, whole], axis=1)


def main() -> None:
    """Print both tables."""
    if sys.argv[1:2] == ["amounts"]:
        amounts(int(sys.argv[2]) if len(sys.argv) > 2 else 500)
        return
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    sizes = [int(text) for text in sys.argv[2:]] or [20, 30, 100, 300]
    num, den = population(Path(os.environ["DIALGAUGE_DATA"]))
    print("| dialogues | interval |", " | ".join(COLUMNS), "|")
    print("| --- | --- |" + " --- |" * len(COLUMNS))
    for size in sizes:
        for method, shares in covered(num, den, size, repetitions).items():
            print(f"| {size} | {method} |", " | ".join(f"{100 * share:.1f}" for share in shares), "|", flush=True)
    print("\n| dialogues | randomisation p | its interval |\n| --- | --- | --- |")
    for size in sizes:
        print(f"| {size} |", " | ".join(f"{100 * share:.1f}" for share in found(num, den, size, repetitions)), "|")


def covered(num: Floats, den: Floats, size: int, repetitions: int) -> dict[str, Floats]:
    """By method and column, the share of 95% intervals that hold the value of the whole set."""
    random = np.random.default_rng(size)
    truth = num.sum(axis=2) / den.sum(axis=2)
    bounds = np.tile([(-np.inf if name.startswith("SA") else 0.0, 1.0) for name in COLUMNS], (len(TRACKERS), 1))
    held: dict[str, Floats] = defaultdict(lambda: np.zeros(len(COLUMNS)))
    for seed in range(repetitions):
        drawn = random.integers(0, num.shape[2], size)
        flat = (part[:, :, drawn].reshape(-1, size) for part in (num, den))
        above, below = flat
        for method in INTERVAL_METHODS:
            ends = ratio_intervals(above, below, seed=seed, bounds=bounds, method=method).reshape(*truth.shape, 2)
            inside = (ends[..., 0] <= truth + 1e-12) & (truth - 1e-12 <= ends[..., 1])
            held[method] += inside.mean(axis=0) / repetitions
    return held


def found(num: Floats, den: Floats, size: int, repetitions: int) -> Floats:
    """How often equal systems are told apart at 5%: by randomisation, and by its interval.

    Two systems each take every dialogue's JGA from either of two trackers, at random: on average they are equal.
    """
    random = np.random.default_rng(size + 1)
    counts = np.zeros(2)
    for seed in range(repetitions):
        drawn = random.integers(0, num.shape[2], size)
        swapped = random.random(size) < 0.5
        pair = random.choice(len(TRACKERS), 2, replace=False)
        above, below = (
            np.where(swapped, part[pair, 0][:, drawn], part[pair[::-1], 0][:, drawn]) for part in (num, den)
        )
        tested = paired_randomisation(above[:, None], below[:, None], resamples=1000, seed=seed)
        excluded = tested.low[0, 0] > 0 or tested.high[0, 0] < 0
        counts += [tested.p[0, 0] < 0.05, excluded]
    return counts / repetitions


def amounts(repetitions: int) -> None:
    """Print how often intervals of amounts hold and how wide they are, and intervals of differences of few tasks."""
    print("| tasks | amounts | one more: holds, width | resampled (0.1): holds, width | percentile: holds, width |")
    print("| ---: | --- | --- | --- | --- |")
    for size in (10, 20, 50):
        for name, values in amount_populations(Path(os.environ["DIALGAUGE_DATA"])).items():
            random, truth = np.random.default_rng(size), values.mean()
            ends = np.array(
                [_ends_of_a_mean(values[random.integers(0, len(values), size)], seed) for seed in range(repetitions)]
            )
            holds = 100 * ((ends[:, :, 0] <= truth) & (truth <= ends[:, :, 1])).mean(axis=0)
            widths = np.quantile(ends[:, :, 1] - ends[:, :, 0], (0.5, 0.95), axis=0) / truth
            cells = (f"{held:.0f}, {mid:.1f} to {far:.1f}" for held, mid, far in zip(holds, *widths, strict=True))
            print(f"| {size} | {name} |", " | ".join(cells), "|", flush=True)
    kinds = ("pass^1, 1 trial", "pass^1, 4 trials", "cost")
    print("\n| tasks |", " | ".join(kinds), "|\n| ---: |" + " ---: |" * len(kinds))
    for size in (4, 5, 6, 7, 8, 10, 15, 20):
        shares = (100 * _differences_hold(kind, size, repetitions) for kind in kinds)
        print(f"| {size} |", " | ".join(f"{share:.0f}" for share in shares), "|", flush=True)


def amount_populations(data: Path) -> dict[str, Floats]:
    """Amounts of tasks: real ones, skewed ones, and ones with a rare outlier."""
    files = {
        "gpt-4o": "tau_airline_gpt-4o",
        "grok-3, one at the step limit": "tau2_airline_grok-3",
        "grok-3, telecom": "tau2_telecom-workflow_grok-3",
    }
    real = {f"turns, {name}": _by_task(data / "tau" / f"{file}.json.gz") for name, file in files.items()}
    random = np.random.default_rng(0)
    usual = np.exp(random.normal(0, 0.3, 100_000))
    outliers = {
        f"ten times as much, 1 in {share}": usual * np.where(np.arange(len(usual)) % share == 0, 10, 1)
        for share in (20, 100)
    }
    return {**real, "log-normal, sd 1": np.exp(random.normal(0, 1, 100_000)), **outliers}


def _by_task(file: Path) -> Floats:
    [run] = review([file], resamples=0).runs
    turns = run.table("trials").select("task", "turns").group_by("task", maintain_order=True).mean()
    return turns["turns"].to_numpy()


def _ends_of_a_mean(values: Floats, seed: int) -> list[Floats]:
    """Intervals: with one more task, as scores have them; resampled, as they had them; and percentiles."""
    num, den, bounds = values[None], np.ones((1, len(values))), (0.0, np.inf)
    resampled = [ratio_intervals(num, den, seed=seed, bounds=bounds, method=method)[0] for method in INTERVAL_METHODS]
    return [np.array(amount_mean_interval(num[0], den[0])), *resampled]


def _differences_hold(kind: str, size: int, repetitions: int) -> float:
    """How often the interval of the difference of two agents holds the true one.

    The test turned round, also where it is not shown because the tasks are too few, and where others are shown now.
    """
    random, held, defined = np.random.default_rng(size), 0, 0
    for seed in range(repetitions):
        scores, truth = _two_agents(kind, size, random)
        tested = paired_randomisation(scores[:, None], np.ones((2, 1, size)), resamples=1000, seed=seed)
        low, high = tested.low[0, 0], tested.high[0, 0]
        defined += not np.isnan(low)
        held += bool(low <= truth <= high)
    return held / defined


def _two_agents(kind: str, size: int, random: np.random.Generator) -> tuple[Floats, float]:
    """Scores of two agents on tasks of which the second does six in ten that the first does; and the true difference.

    The second costs half as much again.
    """
    if kind == "cost":
        return np.exp(random.normal(0, 0.8, (2, size))) * [[1.0], [1.5]], -0.5 * float(np.exp(0.32))
    trials, chance = 1 if kind == "pass^1, 1 trial" else 4, random.beta(0.7, 0.9, size)
    return random.binomial(trials, [chance, 0.6 * chance]) / trials, 0.4 * 0.7 / 1.6


if __name__ == "__main__":
    main()
