"""pass^k, flips and noise of logs against enumeration, printed values, and laws. No data from elsewhere is needed.

Notices: the last digit of pass^k or of an end of its interval; two ks swapped; a task or trial missing; the floor taken
for the flip rate; the sign of a difference.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pass_k_oracle as oracle
import pytest
import surface
from hypothesis import HealthCheck, given, settings, strategies as st
from scipy.stats import beta

TALK = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "done"}]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


def write_log(path: Path, tasks: Sequence[Sequence[bool]], **more: Sequence[Any]) -> Path:
    """A log of JSON Lines with the verdicts of every trial of every task; ``more`` has a field for each task."""
    records = [
        {"task_id": f"task {task}", "trial": trial, "success": bool(passed), "messages": TALK}
        | {name: values[task] for name, values in more.items()}
        for task, verdicts in enumerate(tasks)
        for trial, passed in enumerate(verdicts)
    ]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def of_counts(*passed: int, trials: int = 4) -> list[list[bool]]:
    """Tasks that passed so many of their trials."""
    return [[True] * each + [False] * (trials - each) for each in passed]


def pass_k(run: Any) -> list[tuple[float | None, float | None, float | None]]:
    """Value and interval of pass^1, pass^2 and so on."""
    values, ends = surface.values(run), surface.intervals(run)
    names = [name for name in values if name.startswith("pass^") and "(" not in name]
    assert names == [f"pass^{k}" for k in range(1, len(names) + 1)]
    return [(values[name], *ends[name]) for name in names]


# Printed values (specs/small-sample-intervals.md, "Test values"; tau-bench's README has the airline's pass^k)

TEN = of_counts(0, 1, 1, 2, 2, 2, 3, 3, 4, 4)
AIRLINE = of_counts(*[0] * 14, *[1] * 12, *[2] * 10, *[3] * 4, *[4] * 10)
PRINTED = {
    "ten tasks": (TEN, [(0.55, 0.3203, 0.7603), (0.35, 0.1487, 0.6357), (0.25, 0.0687, 0.5714), (0.2, 0.0290, 0.5404)],
                  (0.4030, 0.6970), 0.2079),
    "ten tasks, all passed": (of_counts(*[4] * 10), [(1, 0.7117, 1)] * 4, None, 0.0693),
    "gpt-4o, airline": (AIRLINE, [(0.42, 0.3186, 0.5307), (0.2733, 0.1747, 0.3986), (0.22, 0.1229, 0.3504),
                                  (0.2, 0.1030, 0.3327)], (0.3660, 0.4740), 0.0763),
}  # fmt: skip


@pytest.mark.parametrize("case", PRINTED)
def test_printed_values(case: str, folder: Path) -> None:
    tasks, rows, rerun, floor = PRINTED[case]
    run = surface.trials(write_log(folder / "printed.jsonl", tasks), resamples=100)
    assert [tuple(round(float(each), 4) for each in row if each is not None) for row in pass_k(run)] == rows
    assert round(float(surface.values(run)["TrialNoise"] or 0), 4) == floor
    if rerun:
        assert tuple(round(float(end or 0), 4) for end in surface.rerun_interval(run)) == rerun


def test_printed_difference(folder: Path) -> None:
    first = write_log(folder / "first.jsonl", TEN)
    second = write_log(folder / "second.jsonl", of_counts(0, 2, 1, 3, 2, 4, 3, 4, 4, 4))
    value, ends, _ = surface.paired_difference("pass^1", first, second)
    assert (round(value, 4), *(round(float(end or 0), 4) for end in ends)) == (0.125, -0.1406, 0.3395)


def test_printed_amounts(folder: Path) -> None:
    costs = [0.8, 1.1, 0.5, 2, 0.9, 1.3, 0.7, 6.4, 1, 1.2]
    run = surface.trials(write_log(folder / "costs.jsonl", [[True]] * 10, cost=costs), resamples=100)
    low, high = surface.intervals(run)["Cost"]
    assert surface.values(run)["Cost"] == pytest.approx(1.59, abs=1e-12)
    assert (round(low or 0, 4), round(high or 0, 4)) == (0.8481, 5.1627)


def test_extremes_in_closed_form(folder: Path) -> None:
    """All fail, all pass, and one trial each: then shares of 0 and 1 have intervals by beta distributions."""
    for tasks in (3, 10, 50):
        for passed, ends in ((False, (0, 1 - 30 ** (-1 / tasks))), (True, (30 ** (-1 / tasks), 1))):
            run = surface.trials(write_log(folder / "extreme.jsonl", [[passed] * 2] * tasks), resamples=50)
            assert pass_k(run) == [pytest.approx((float(passed), *ends), abs=1e-5)] * 2
    run = surface.trials(write_log(folder / "once.jsonl", of_counts(*[1] * 7, *[0] * 13, trials=1)), resamples=50)
    [(value, low, high)] = pass_k(run)
    assert (value, "TrialNoise" in surface.values(run)) == (7 / 20, False)
    without, more = beta(7, 20 - 7 + 1), beta(7 + 1, 20 - 7)
    assert 0.75 * without.cdf(low) + 0.25 * more.cdf(low) == pytest.approx(0.025, abs=1e-5)
    assert 0.25 * without.cdf(high) + 0.75 * more.cdf(high) == pytest.approx(0.975, abs=1e-5)


# Against enumeration


VERDICTS = st.lists(st.booleans(), min_size=1, max_size=5)
EVEN = st.integers(1, 6).flatmap(
    lambda trials: st.lists(st.lists(st.booleans(), min_size=trials, max_size=trials), min_size=1, max_size=10)
)
relaxed = settings(suppress_health_check=list(HealthCheck))


@relaxed
@given(tasks=st.lists(VERDICTS, min_size=1, max_size=7))
def test_values_of_any_log(folder: Path, tasks: list[list[bool]]) -> None:
    most = max(map(len, tasks))
    expected = {f"pass^{k}": fmean(oracle.pass_shares(tasks, k)) for k in range(1, most + 1)}
    if most > 1:
        expected |= {"Flips": fmean(oracle.flip_shares(tasks)), "TrialNoise": oracle.noise_floor(tasks)}
    run = surface.trials(write_log(folder / "any.jsonl", tasks))
    assert {name: surface.values(run)[name] for name in expected} == pytest.approx(expected, rel=0, abs=1e-9)
    for task in tasks:
        for k in range(1, len(task) + 1):
            by_subsets, by_counts = oracle.pass_shares([task], k), oracle.pass_share_of_counts(sum(task), len(task), k)
            assert by_subsets == pytest.approx([by_counts], abs=1e-12)
    counts = surface.trial_counts(run)
    assert (counts["tasks"], counts["conversations"]) == (len(tasks), sum(map(len, tasks)))
    rows = surface.by_dialogue(run, "pass^1")
    assert {key.partition("#")[0]: num / den for key, (num, den) in rows.items() if den} == pytest.approx(
        {f"task {place}": fmean(map(float, task)) for place, task in enumerate(tasks)}, abs=1e-12
    )


def test_repetitions_judged_by_a_score(folder: Path) -> None:
    """pass^k, flips and noise of a grader are those of a log in which its verdicts are the outcomes."""
    passed, polite = [[True, True], [False, True], [False, False]], [[True, False], [True, False], [True, True]]
    names = "pass^1", "pass^2", "Flips", "TrialNoise"
    records = [
        {"task_id": f"t{place}", "trial": number, "success": both[0], "scores": {"polite": float(both[1])}}
        for place, task in enumerate(zip(passed, polite, strict=True))
        for number, both in enumerate(zip(*task, strict=True))
    ]
    run = surface.agent(records, measures=[*names, *(f"{name}[polite]" for name in names)], resamples=0)
    values = surface.values(run)
    for part, tasks in (("", passed), ("[polite]", polite)):
        expected = [
            fmean(oracle.pass_shares(tasks, 1)), fmean(oracle.pass_shares(tasks, 2)),
            fmean(oracle.flip_shares(tasks)), oracle.noise_floor(tasks),
        ]  # fmt: skip
        assert [values[f"{name}{part}"] for name in names] == pytest.approx(expected, abs=1e-12)


@relaxed
@given(tasks=EVEN, chance=st.randoms(use_true_random=False))
def test_intervals_order_and_bounds(folder: Path, tasks: list[list[bool]], chance: random.Random) -> None:
    run = surface.trials(write_log(folder / "even.jsonl", tasks), resamples=50)
    rows = pass_k(run)
    for k, (value, low, high) in enumerate(rows, start=1):
        assert value is not None and low is not None and high is not None
        assert 0 <= low <= value <= high <= 1
        assert (low, high) == pytest.approx(oracle.one_more(oracle.pass_shares(tasks, k)), abs=1e-5), k
    for fewer, more in pairwise(rows):
        assert all(after <= before + 1e-9 for before, after in zip(fewer, more, strict=True))  # type: ignore[operator]
    if len(tasks[0]) > 1:
        assert surface.rerun_interval(run) == pytest.approx(oracle.rerun_interval(tasks), abs=1e-9)
        flips = surface.values(run)["Flips"]
        assert flips == pytest.approx(2 * (rows[0][0] - rows[1][0]), abs=1e-9)  # type: ignore[operator]
        ends = oracle.one_more(oracle.flip_shares(tasks))
        assert surface.intervals(run)["Flips"] == pytest.approx(ends, abs=1e-5)
    shuffled = [chance.sample(task, len(task)) for task in chance.sample(tasks, len(tasks))]
    again = surface.trials(write_log(folder / "shuffled.jsonl", shuffled), resamples=50)
    assert pass_k(again) == [pytest.approx(row, abs=1e-12) for row in rows]


@relaxed
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=6, max_size=9))
def test_differences_of_any_two_logs(folder: Path, passed: list[tuple[int, int]]) -> None:
    """Below six tasks a comparison gives no interval. Where the test finds nothing, 0 is inside of it."""
    first, second = (of_counts(*counts, trials=3) for counts in zip(*passed, strict=True))
    paths = [write_log(folder / f"{name}.jsonl", each) for name, each in (("one", first), ("two", second))]
    moved = [(after - before) / 3 for before, after in passed]
    value, ends, found = surface.paired_difference("pass^1", *paths)
    low, high = oracle.one_more_difference(moved)
    assert value == pytest.approx(fmean(moved), abs=1e-9)
    if not found:
        assert ends == pytest.approx((min(low, 0), max(high, 0)), abs=1e-5)
    elif not low <= 0 <= high:  # else the end that faces 0 is that of the test
        assert ends == pytest.approx((low, high), abs=1e-5)
    back, (low, high), _ = surface.paired_difference("pass^1", *reversed(paths))  # type: ignore[assignment]
    assert (back, -(high or 0), -(low or 0)) == pytest.approx((-value, *ends), abs=1e-9)
