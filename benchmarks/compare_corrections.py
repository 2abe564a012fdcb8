"""Which correction to use over many pairs of systems: chance of a false finding, power, cost; told by simulation.

DIALGAUGE_DATA=../shared/data python benchmarks/compare_corrections.py [systems] [repetitions]

Each simulated system takes its score on a dialogue from one of four real trackers on MultiWOZ 2.1, drawn anew for every
dialogue with the weights of its group; dialogues are drawn with replacement. So systems of one group are equally good,
how far groups differ is known, and difficulty varies over dialogues as it really does.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dialgauge import score
from dialgauge.comparison import paired_scores
from dialgauge.stats import detectable, holm, paired_randomisation

Floats = NDArray[np.float64]

TRACKERS = ("augpt", "dots", "mintl", "ubar")
DIALOGUES, LEVEL, ALPHA = 1000, 0.95, 0.05


def real_scores(data: Path) -> tuple[Floats, Floats]:
    """JGA of the trackers: right turns (trackers, dialogues), and turns (dialogues)."""
    files = {name: str(data / "dst_predictions" / f"{name}.json.gz") for name in TRACKERS}
    results = score(str(data / "multiwoz21" / "test.json.gz"), files, measures=["JGA"], intervals=False)
    scores = paired_scores({run.name: run.table("dialogue_scores") for run in results.runs})
    return scores.num[:, 0], scores.den[0, 0]


def group_weights(groups: int) -> Floats:
    """From more AuGPT to more UBAR: how often a system of each group takes its score from which tracker."""
    share = np.linspace(0.25, 0.75, groups)[:, None] if groups > 1 else np.array([[0.5]])
    weights: Floats = (1 - share) * np.array([1.0, 0, 0, 0]) + share * np.array([0, 0, 0, 1.0])
    return weights


def simulated(num: Floats, den: Floats, weights: Floats, random: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Scores of systems, (systems, 1, dialogues), and the true value of each; ``weights`` are (systems, trackers)."""
    systems = len(weights)
    drawn = random.integers(0, len(den), DIALOGUES)
    chosen = (random.random((systems, DIALOGUES, 1)) > np.cumsum(weights, axis=1)[:, None, :]).sum(axis=2)
    above = num[:, drawn][chosen, np.arange(DIALOGUES)]
    below = np.broadcast_to(den[drawn], above.shape)
    return above[:, None], below[:, None].copy(), weights @ (num.sum(axis=1) / den.sum())


def main() -> None:
    """Print what each correction finds, as JSON."""
    systems = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    num, den = real_scores(Path(os.environ["DIALGAUGE_DATA"]))
    pairs = systems * (systems - 1) // 2
    grown = max(10_000, math.ceil(10 * pairs / ALPHA))
    print(json.dumps({"systems": systems, "found of '8 times in 10', %": _found(num, den, systems, repetitions)}))
    for groups in (1, max(2, systems // 2)):
        print(json.dumps(_run(num, den, systems, groups, repetitions, grown)), flush=True)


def _found(num: Floats, den: Floats, systems: int, repetitions: int) -> float:
    """How often the difference of the first two systems is found where it is as large as 'found 8 times in 10' says."""
    random = np.random.default_rng(8)
    alike = group_weights(1).repeat(systems, axis=0)
    result = paired_randomisation(*simulated(num, den, alike, random)[:2])
    target = float(detectable(result.reach, result.error).mean())
    span = float((num[0].sum() - num[-1].sum()) / den.sum())
    weights = alike.copy()
    weights[0] += target / span * np.array([1.0, 0, 0, -1.0])
    drawn = (simulated(num, den, weights, random)[:2] for _ in range(repetitions))
    return round(100 * float(np.mean([paired_randomisation(*one).adjusted[0, 0] < ALPHA for one in drawn])), 1)


def _run(num: Floats, den: Floats, systems: int, groups: int, repetitions: int, grown: int) -> dict[str, object]:
    random = np.random.default_rng(12)
    weights = group_weights(groups)[np.arange(systems) * groups // systems]
    wrong: dict[str, int] = {}
    hits: dict[str, list[float]] = {}
    seconds: dict[str, float] = {}
    covered = {"single step": 0, "step-down": 0}
    for seed in range(repetitions):
        above, below, truth = simulated(num, den, weights, random)
        start = time.process_time()
        result = paired_randomisation(above, below, seed=seed, level=LEVEL)
        seconds["step-down max-T"] = seconds.get("step-down max-T", 0) + time.process_time() - start
        first, second = np.array(result.pairs).T
        true = truth[first] - truth[second]
        start = time.process_time()
        with_more = holm(paired_randomisation(above, below, resamples=grown, seed=seed).p[:, 0]) < ALPHA
        many = f"Holm, {grown:,} resamples"
        seconds[many] = seconds.get(many, 0) + time.process_time() - start
        findings = {
            "uncorrected": result.p[:, 0] < ALPHA,
            "single-step max-T": np.abs(result.difference[:, 0]) > result.reach[:, 0],
            "step-down max-T": result.adjusted[:, 0] < ALPHA,
            "Holm, 10,000 resamples": holm(result.p[:, 0]) < ALPHA,
            many: with_more,
        }
        for name, found in findings.items():
            wrong[name] = wrong.get(name, 0) + bool((found & (np.abs(true) < 1e-12)).any())
            hits.setdefault(name, []).append(float(found[np.abs(true) > 1e-12].mean()) if groups > 1 else 0.0)
        gap = np.abs(result.difference[:, 0] - true)
        covered["single step"] += bool((gap <= result.reach[:, 0]).all())
        covered["step-down"] += bool(((result.low[:, 0] <= true) & (true <= result.high[:, 0])).all())
    return {
        "systems": systems,
        "groups": groups,
        "repetitions": repetitions,
        "any false finding, %": {name: round(100 * count / repetitions, 1) for name, count in wrong.items()},
        "true differences found, %": {name: round(100 * float(np.mean(row)), 1) for name, row in hits.items()},
        "all intervals cover, %": {name: round(100 * count / repetitions, 1) for name, count in covered.items()},
        "CPU seconds each": {name: round(total / repetitions, 2) for name, total in seconds.items()},
    }


if __name__ == "__main__":
    main()
