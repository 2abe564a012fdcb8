"""How often intervals and tests from few tasks hold, by simulation: what this version does beside what 0.1 did.

python benchmarks/few_units.py [repetitions] [pass|scores|differences|floor|ratios|amounts ...]

Prints Markdown, as docs/explanation/intervals.md has it: the lowest coverage over the cells (easy, mixed and hard
tasks, numbers of trials, k), the median width, and how often tests reject. Some ten CPU minutes with 1,000 repetitions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from math import comb, exp, lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialgauge.measures import Resampling, Summed, rerun_reach, summed_intervals
from dialgauge.stats import (
    amount_difference_p,
    decide_amounts,
    limit_shares,
    one_more_unit,
    paired_randomisation,
    ratio_intervals,
    share_difference_interval,
    share_mean_interval,
    unit_differences,
)

Floats = NDArray[np.float64]

SIZES, TRIALS = (10, 20, 50), (2, 4, 8)
#: How the chance of passing varies over tasks: Beta's two parameters.
TASKS = {"easy": (8.0, 2.0), "mixed": (0.5, 0.5), "hard": (0.3, 1.5)}
DRAWS = 400
#: Scores of trials by the share of the range that their task reaches in the mean: how they are drawn, the range, and
#: whether it is told as the scale.
SCORES: dict[str, tuple[Callable[[np.random.Generator, Floats], NDArray[Any]], tuple[float, float], bool]] = {
    "0 or 1": (lambda random, share: random.binomial(1, share), (0, 1), True),
    "from 0 to 1": (lambda random, share: random.beta(4 * share + 1e-9, 4 - 4 * share + 1e-9), (0, 1), True),
    "-1, 0 or 1": (lambda random, share: random.binomial(2, share) - 1, (-1, 1), True),
    "0 to 10": (lambda random, share: random.binomial(10, share), (0, 10), True),
    "1 to 5": (lambda random, share: random.binomial(4, share) + 1, (1, 5), True),
    "1 or 10": (lambda random, share: 9 * random.binomial(1, share) + 1, (1, 10), True),
    "0 to 100": (lambda random, share: random.binomial(100, share), (0, 100), True),
    "1 to 5, no scale told": (lambda random, share: random.binomial(4, share) + 1, (1, 5), False),
    "Poisson, no scale told": (lambda random, share: random.poisson(10 * share), (0, 10), False),
}


def main() -> None:
    """Print the tables asked for."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    tables: dict[str, Callable[[int], None]] = {
        "pass": pass_table, "scores": score_table, "differences": difference_table, "floor": floor_table,
        "ratios": ratio_table, "amounts": amount_table,
    }  # fmt: skip
    for name in sys.argv[2:] or tables:
        tables[name](repetitions)
        print(flush=True)


def row(*cells: object) -> None:
    """A line of a table."""
    print("|", " | ".join(f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in cells), "|", flush=True)


def heading(*cells: str) -> None:
    """The first two lines of a table."""
    row(*cells)
    row(*["---"] * len(cells))


def pass_values(successes: NDArray[np.int64], trials: int, k: int) -> Floats:
    """Each task's pass^k."""
    table = np.array([comb(passed, k) / comb(trials, k) for passed in range(trials + 1)])
    return np.asarray(table[successes])


def true_pass(a: float, b: float, k: float) -> float:
    """The mean of p to the power of k where p is Beta's."""
    return exp(lgamma(a + k) + lgamma(a + b) - lgamma(a) - lgamma(a + b + k))


def designs() -> Iterator[tuple[str, int, int]]:
    """Every kind of tasks with every number of trials and k: all of up to 4, and then the last."""
    for kind in TASKS:
        for trials in TRIALS:
            for k in sorted({*range(1, min(trials, 4) + 1), trials}):
                yield kind, trials, k


@cache
def one_more(values: tuple[float, ...], outward: float) -> tuple[float, float]:
    """With the extra task so often at the bound that an end faces; equal samples are frequent."""
    one_more_unit._OUTWARD = outward
    return share_mean_interval(values, np.ones(len(values)))


def with_one_more(values: Floats, outward: float = 0.75) -> Floats:
    """The intervals of samples with one more task."""
    return np.array([one_more(tuple(sorted(each)), outward) for each in values.tolist()])


def student(values: Floats) -> Floats:
    """Mean and Student's reach."""
    from scipy.stats import t

    size = values.shape[1]
    mean, reach = values.mean(axis=1), t.ppf(0.975, size - 1) * values.std(axis=1, ddof=1) / np.sqrt(size)
    return np.stack([mean - reach, mean + reach], axis=1)


def pass_table(repetitions: int) -> None:
    """Coverage of pass^k."""
    methods: dict[str, Callable[[Floats], Floats]] = {
        "one more task (now)": with_one_more,
        "one more, always outward (Gaffke)": partial(with_one_more, outward=1.0),
        "one more, either side": partial(with_one_more, outward=0.5),
        "studentised (0.1)": lambda values: ratio_intervals(
            values, np.ones_like(values), resamples=DRAWS, bounds=(0.0, 1.0)
        ),
        "percentile": lambda values: ratio_intervals(
            values, np.ones_like(values), resamples=DRAWS, method="percentile"
        ),
        "Student's t": student,
    }
    heading(
        "tasks", "interval of pass^k", *(f"lowest, {kind}" for kind in TASKS), "mean", "median width", "order broken"
    )
    for size in SIZES:
        held: dict[str, dict[str, list[float]]] = {name: {kind: [] for kind in TASKS} for name in methods}
        widths: dict[str, list[float]] = {name: [] for name in methods}
        last: dict[str, Floats] = {}
        broken: dict[str, Floats] = {name: np.zeros(0) for name in methods}
        for kind, trials, k in designs():
            random = np.random.default_rng([size, trials, *map(ord, kind)])
            chances = random.beta(*TASKS[kind], (repetitions, size))
            values = pass_values(random.binomial(trials, chances), trials, k)
            truth = true_pass(*TASKS[kind], k)
            for name, method in methods.items():
                ends = method(values)
                # All trials must pass: tasks are 0 or 1, and how often the interval holds is known without drawing.
                share = exact_coverage(method, size, truth) if k == trials else float(holds(ends, truth).mean())
                held[name][kind].append(100 * share)
                widths[name].append(float(np.median(ends[:, 1] - ends[:, 0])))
                if 1 < k <= 4:
                    rises = ((ends - last[name]) > 1e-9).any(axis=1)
                    broken[name] = np.append(broken[name], rises)
                last[name] = ends
        for name in methods:
            lowest = [min(held[name][kind]) for kind in TASKS]
            mean = float(np.mean([share for shares in held[name].values() for share in shares]))
            order = f"{100 * broken[name].mean():.0f}%"
            row(size, name, *lowest, mean, f"{np.median(widths[name]):.3f}", order)


def score_table(repetitions: int) -> None:
    """Coverage of means of scores over tasks with 1 and 3 trials, within their scale where it is told."""
    heading("tasks", "scores", "now: lowest, median width", "before: lowest, median width", "before: leaves the range")
    for size in SIZES:
        for name, (drawn, (low, high), told) in SCORES.items():
            bounds = (low, high) if told else (-np.inf, np.inf)
            held: dict[str, list[float]] = {"now": [], "before": []}
            widths: dict[str, list[float]] = {"now": [], "before": []}
            left: list[float] = []
            for kind, (a, b) in TASKS.items():
                for trials in (1, 3):
                    random = np.random.default_rng([size, trials, *map(ord, kind + name)])
                    shares = random.beta(a, b, (repetitions, size, 1)).repeat(trials, axis=2)
                    scores = drawn(random, shares).astype(np.float64)
                    values, ones = scores.mean(axis=2), np.ones((repetitions, size))
                    rows = [Summed(np.stack([each, ones[0]]), bounds, one_more=True) for each in values]
                    now = np.array([made.ends for made in summed_intervals(rows, Resampling(DRAWS))])
                    before = ratio_intervals(values, ones, resamples=DRAWS)
                    truth = low + (high - low) * a / (a + b)
                    for when, ends in (("now", now), ("before", before)):
                        known = ends[~np.isnan(ends[:, 0])]  # no interval claims nothing
                        held[when].append(100 * float(holds(known, truth).mean()))
                        widths[when].append(float(np.median(known[:, 1] - known[:, 0])) / (high - low))
                    left.append(100 * float(((before[:, 0] < low) | (before[:, 1] > high)).mean()))
            cells = (f"{min(held[when]):.1f}, {np.mean(widths[when]):.3f}" for when in held)
            row(size, name, *cells, f"{np.mean(left):.0f}%")


def holds(ends: Floats, truth: float | Floats) -> NDArray[np.bool_]:
    """Which intervals hold the truth."""
    return np.asarray((ends[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= ends[:, 1]))


def exact_coverage(method: Callable[[Floats], Floats], size: int, chance: float) -> float:
    """How often the interval of a share of tasks holds."""
    passed = np.tri(size + 1, size, -1)
    weights = [comb(size, number) * chance**number * (1 - chance) ** (size - number) for number in range(size + 1)]
    return float(holds(method(passed), chance) @ np.array(weights))


def difference_table(repetitions: int) -> None:
    """Coverage of paired differences of pass^k, and how often equal agents are told apart."""
    heading("tasks", "interval of a difference in pass^k", "lowest", "mean", "median width")
    repetitions = max(100, repetitions // 4)
    for size in SIZES:
        held: dict[str, list[float]] = {}
        widths: dict[str, list[float]] = {}
        for kind in TASKS:
            for relation in ("same", "better", "unrelated"):
                for k in (1, 4):
                    cell = [_difference(kind, relation, k, size, seed) for seed in range(repetitions)]
                    for name in cell[0][0]:
                        ends = np.array([each[name] for each, _ in cell])
                        truth = np.array([true for _, true in cell])
                        held.setdefault(name, []).append(100 * float(holds(ends, truth).mean()))
                        widths.setdefault(name, []).append(float(np.nanmedian(ends[:, 1] - ends[:, 0])))
        for name, shares in held.items():
            row(size, name, min(shares), float(np.mean(shares)), f"{np.median(widths[name]):.3f}")


def _difference(kind: str, relation: str, k: int, size: int, seed: int) -> tuple[dict[str, tuple[float, float]], float]:
    """The intervals of one sample of two agents with 4 trials, and the true difference."""
    random = np.random.default_rng([size, k, seed, *map(ord, kind + relation)])
    a, b = TASKS[kind]
    first = random.beta(a, b, size)
    second = random.beta(a, b, size) if relation == "unrelated" else np.sqrt(first) if relation == "better" else first
    values = np.stack([pass_values(random.binomial(4, chance), 4, k) for chance in (first, second)])
    truth = true_pass(a, b, k) - true_pass(a, b, k / 2) if relation == "better" else 0.0
    ones = np.ones_like(values)
    tested = paired_randomisation(values[:, None], ones[:, None], resamples=500, seed=seed)
    before = float(np.nan_to_num(tested.low[0, 0])), float(np.nan_to_num(tested.high[0, 0]))
    differences = unit_differences(values, ones, tested.pairs)
    alone = share_difference_interval(differences[0])
    limit_shares(tested, 0, differences, 0.95)
    shown = float(tested.low[0, 0]), float(tested.high[0, 0])
    return {
        "one more task, agreeing with the verdict (now)": shown,
        "one more task alone": alone,
        "test turned round (0.1)": before,
    }, truth


def floor_table(repetitions: int) -> None:
    """How often two runs differ by no more than the noise floor of the first."""
    heading("tasks x trials", "now, lowest", "0.1, lowest", "now / true", "0.1 is 0")
    for size, trials in ((5, 2), (5, 4), (10, 2), (10, 4), (20, 2), (50, 2), (50, 8)):
        now, before, ratios, nothing = [], [], [], []
        for kind in TASKS:
            random = np.random.default_rng([size, trials, *map(ord, kind)])
            chances = random.beta(*TASKS[kind], (10 * repetitions, size))
            first, second = (random.binomial(trials, chances) for _ in range(2))
            variance = (first * (trials - first) / (trials**2 * (trials - 1))).sum(axis=1)
            apart = np.abs(first.mean(axis=1) - second.mean(axis=1)) / trials
            sums = np.stack([variance, np.full_like(variance, size * trials), np.full_like(variance, size)], axis=-1)
            new, old = np.minimum(np.sqrt(2) * rerun_reach(sums), 1.0), 1.96 * np.sqrt(2 * variance) / size
            true = 1.96 * np.sqrt(2 * (chances * (1 - chances)).sum(axis=1) / trials) / size
            now.append(100 * float((apart <= new + 1e-9).mean()))
            before.append(100 * float((apart <= old + 1e-9).mean()))
            ratios.append(float(np.median(new / true)))
            nothing.append(100 * float((old == 0).mean()))
        row(f"{size} x {trials}", min(now), min(before), f"{np.median(ratios):.2f}", f"{max(nothing):.0f}%")


def ratio_table(repetitions: int) -> None:
    """Coverage of a ratio over dialogues of unequal lengths, as JGA is."""
    heading(
        "dialogues", "lengths", "now: holds, median width", "0.1: holds, median width", "one more for all: holds, width"
    )
    repetitions = max(200, repetitions // 2)
    lengths: dict[str, Callable[[np.random.Generator, int], Floats]] = {
        "equal": lambda random, size: np.full(size, 7.0),
        "1 + Poisson(6)": lambda random, size: 1.0 + random.poisson(6, size).astype(np.float64),
        "heavy-tailed": lambda random, size: 0.0 + np.ceil(3 * random.lognormal(0, 1.2, size)),
    }
    for size in (10, 15, 20, 30):
        for name, drawn in lengths.items():
            held: list[list[float]] = [[], [], []]
            widths: list[list[float]] = [[], [], []]
            for share in (0.1, 0.5, 0.9):
                random = np.random.default_rng([size, int(10 * share)])
                den = np.stack([drawn(random, size) for _ in range(repetitions)])
                num = random.binomial(den.astype(np.int64), random.beta(2 * share, 2 - 2 * share, den.shape)) * 1.0
                rows = [Summed(np.stack([above, below]), (0.0, 1.0)) for above, below in zip(num, den, strict=True)]
                made = summed_intervals(rows, Resampling(DRAWS))
                all_ends = (
                    np.array([one.ends for one in made]),
                    ratio_intervals(num, den, resamples=DRAWS, bounds=(0.0, 1.0)),
                    np.array([share_mean_interval(*pair) for pair in zip(num, den, strict=True)]),
                )
                for place, ends in enumerate(all_ends):
                    held[place].append(100 * float(holds(ends, share).mean()))
                    widths[place].append(float(np.median(ends[:, 1] - ends[:, 0])))
            cells = (f"{min(h):.1f}, {np.mean(w):.3f}" for h, w in zip(held, widths, strict=True))
            row(size, name, *cells)


def amount_table(repetitions: int) -> None:
    """How often amounts with equal means are called different at 5%, and how often a true difference is found."""
    sizes = (10, 20, 50, 100)
    heading("differences of", "test", *(f"{size} units" for size in sizes))
    nulls: dict[str, Callable[[np.random.Generator, int], Floats]] = {
        "log-normal, sd 1.25 and 0.5": lambda random, size: _skewed(random, size, 1.25),
        "log-normal, sd 1.5 and 0.5": lambda random, size: _skewed(random, size, 1.5),
        "log-normal, sd 1 and 1": lambda random, size: np.exp(random.normal(0, 1, (2, size))),
        "normal": lambda random, size: random.normal(10, 1, (2, size)),
        "normal, one higher: found": lambda random, size: random.normal(
            [[10 + 0.6 * np.sqrt(2 * 20 / size)], [10]], 1, (2, size)
        ),
    }
    for name, draw in nulls.items():
        shares = np.array([_rejected(draw, size, repetitions) for size in sizes])
        for place, test in enumerate(("randomisation and one more unit (now)", "randomisation alone (0.1)")):
            row(name, test, *shares[:, place].tolist())


def _skewed(random: np.random.Generator, size: int, sd: float) -> Floats:
    """Two amounts with the same mean, one of them with a heavy tail."""
    return np.stack([np.exp(random.normal(-(each**2) / 2, each, size)) for each in (sd, 0.5)])


def _rejected(draw: Callable[[np.random.Generator, int], Floats], size: int, repetitions: int) -> tuple[float, float]:
    random = np.random.default_rng(size)
    counts = np.zeros(2)
    for seed in range(repetitions):
        amounts = draw(random, size)
        ones = np.ones_like(amounts)
        tested = paired_randomisation(amounts[:, None], ones[:, None], resamples=1000, seed=seed)
        alone = tested.p[0, 0] < 0.05
        found = alone and amount_difference_p(amounts[0] - amounts[1]) < 0.05
        counts += [found, alone]
    # What compare does, once: the same verdict.
    decide_amounts(tested, 0, unit_differences(amounts, ones, tested.pairs), 0.95)
    assert (tested.adjusted[0, 0] < 0.05) == found
    return tuple((100 * counts / repetitions).tolist())


if __name__ == "__main__":
    main()
