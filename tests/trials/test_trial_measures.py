"""pass^k, flip rate and noise floor, against what enumerating and simulating trials gives."""

from __future__ import annotations

import math
import random
from itertools import combinations, pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.dialogue import Dialogue, Outcome
from dialgauge.errors import DialgaugeError
from dialgauge.measures import flip_chance, parse_measure, pass_chance
from dialgauge.runs import Run
from dialgauge.trials import score_attempts
from support.soak import examples, soak

VERDICTS = st.lists(st.booleans(), min_size=1, max_size=6)


def run_of(*tasks: list[bool], resamples: int = 0) -> Run:
    """A run whose tasks have these verdicts."""
    return score_attempts(
        [
            Dialogue(
                id=f"{task}#{trial}",
                turns=(),
                outcome=Outcome(
                    success=done,
                    reason="user_stop",
                    task=str(task),
                    trial=trial,
                    reward=float(done),
                ),
            )
            for task, verdicts in enumerate(tasks)
            for trial, done in enumerate(verdicts)
        ],
        "run",
        resamples=resamples,
    )


def value(run: Run, name: str) -> float:
    found = run.scores[name].value
    assert found is not None
    return found


@given(verdicts=VERDICTS, k=st.integers(1, 6))
def test_pass_k_is_the_share_of_sets_of_k_trials_that_all_succeed(verdicts: list[bool], k: int) -> None:
    sets = list(combinations(verdicts, k))
    if sets:
        assert pass_chance(sum(verdicts), len(verdicts), k) == pytest.approx(sum(map(all, sets)) / len(sets))


@given(verdicts=st.lists(st.booleans(), min_size=2, max_size=6))
def test_a_flip_is_two_trials_that_differ(verdicts: list[bool]) -> None:
    pairs = list(permutations(verdicts, 2))
    assert flip_chance(sum(verdicts), len(verdicts)) == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))


@given(tasks=st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=8))
def test_the_laws_of_pass_k(tasks: list[list[bool]]) -> None:
    run = run_of(*tasks)
    values = [value(run, f"pass^{k}") for k in range(1, 5)]
    assert all(0 <= one <= 1 for one in values)
    assert all(more <= fewer + 1e-12 for fewer, more in pairwise(values))
    assert values[0] == pytest.approx(np.mean(tasks))
    assert values[0] == pytest.approx(value(run, "Reward"))
    assert values[3] == pytest.approx(np.mean([all(verdicts) for verdicts in tasks]))
    # pass^2 and the flip rate share what two trials can do: p^2 and 2p(1-p).
    assert value(run, "Flips") == pytest.approx(2 * (values[0] - values[1]))


@given(tasks=st.lists(VERDICTS, min_size=1, max_size=6))
def test_the_order_of_tasks_and_trials_does_not_matter(tasks: list[list[bool]]) -> None:
    shuffled = [verdicts[::-1] for verdicts in tasks[::-1]]
    one, other = run_of(*tasks), run_of(*shuffled)
    assert one.scores.keys() == other.scores.keys()
    for name in one.scores:
        assert value(one, name) == pytest.approx(value(other, name)), name


def test_the_noise_floor_is_what_two_runs_of_one_agent_show() -> None:
    """Agents with known chances of success: the floor covers 95% of the differences of two such runs."""
    generator = np.random.default_rng(5)
    chances, trials = generator.uniform(size=60), 4
    drawn = generator.random((4000, 60, trials)) < chances[:, None]
    rates = drawn.mean(axis=(1, 2))
    differences = np.abs(rates[:2000] - rates[2000:])
    floors = [value(run_of(*each.tolist()), "TrialNoise") for each in drawn[:40]]
    assert np.mean(differences < np.mean(floors)) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(
    ("tasks", "trials", "least"), [soak(5, 2, 0.94), soak(5, 4, 0.94), soak(10, 2, 0.93), soak(20, 2, 0.93)]
)
def test_the_noise_floor_of_small_designs_holds(tasks: int, trials: int, least: float) -> None:
    """This run and the next one of the same agent; the plug-in formula held in 72 to 89% of these designs."""
    generator = np.random.default_rng(11)
    chances = generator.uniform(size=(500, tasks, 1))
    drawn = generator.random((2, 500, tasks, trials)) < chances
    within = [
        abs(float(one.mean() - other.mean())) <= value(run_of(*one.tolist()), "TrialNoise") + 1e-12
        for one, other in zip(*drawn, strict=True)
    ]
    assert np.mean(within) >= least


def test_the_noise_floor_is_never_nothing_and_has_no_interval() -> None:
    noise = run_of([True, True], resamples=100).scores["TrialNoise"]
    assert (noise.value, noise.low, noise.high) == (1.0, None, None)  # one task: any two runs may differ by all
    assert value(run_of(*[[True] * 4] * 10), "TrialNoise") == pytest.approx(0.0693, abs=5e-5)
    assert "TrialNoise" not in run_of([True], [False]).scores


TEN = [[True] * passed + [False] * (4 - passed) for passed in (0, 1, 1, 2, 2, 2, 3, 3, 4, 4)]


def test_intervals_of_ten_tasks() -> None:
    """Upper ends rose with k before: 70 for pass^2, 86 for pass^3."""
    scores = run_of(*TEN, resamples=400).scores
    ends = [(scores[f"pass^{k}"].value, scores[f"pass^{k}"].low, scores[f"pass^{k}"].high) for k in range(1, 5)]
    assert np.array(ends) == pytest.approx(
        np.array([(0.55, 0.3203, 0.7603), (0.35, 0.1487, 0.6357), (0.25, 0.0687, 0.5714), (0.2, 0.0290, 0.5404)]),
        abs=6e-5,
    )
    assert scores["TrialNoise"].value == pytest.approx(0.2079, abs=5e-5)
    assert "interval:0.95-one-more-unit" in scores["pass^3"].signature
    assert (scores["Reward"].low, scores["Reward"].high) == (scores["pass^1"].low, scores["pass^1"].high)


@given(
    tasks=st.integers(1, 8).flatmap(
        lambda trials: st.lists(st.lists(st.booleans(), min_size=trials, max_size=trials), min_size=1, max_size=12)
    ),
    shuffled=st.randoms(use_true_random=False),
)
@settings(max_examples=examples(40), deadline=None)
def test_intervals_of_pass_k_keep_its_order_and_bounds(tasks: list[list[bool]], shuffled: random.Random) -> None:
    scores = run_of(*tasks, resamples=50).scores
    other = list(tasks)
    shuffled.shuffle(other)
    again = run_of(*other, resamples=50).scores
    rows = []
    for k in range(1, len(tasks[0]) + 1):
        score = scores[f"pass^{k}"]
        assert score.value is not None and score.low is not None and score.high is not None
        assert 0 <= score.low <= score.value <= score.high <= 1
        assert (score.low, score.high) == (again[f"pass^{k}"].low, again[f"pass^{k}"].high)
        rows.append((score.low, score.high))
    for (low, high), (next_low, next_high) in pairwise(rows):
        assert next_low <= low + 1e-9 and next_high <= high + 1e-9


def test_pass_1_on_these_very_tasks_has_a_narrower_interval() -> None:
    same = run_of(*TEN).details["pass_1_on_these_tasks"]
    assert (same["value"], same["low"], same["high"]) == pytest.approx((0.55, 0.4030, 0.6970), abs=5e-5)
    airline = [
        [True] * passed + [False] * (4 - passed) for passed in [0] * 14 + [1] * 12 + [2] * 10 + [3] * 4 + [4] * 10
    ]
    run = run_of(*airline)
    same = run.details["pass_1_on_these_tasks"]
    assert (same["low"], same["high"]) == pytest.approx((0.3660, 0.4740), abs=5e-5)
    assert run.scores["TrialNoise"].value == pytest.approx(0.0763, abs=5e-5)
    assert run_of([True, False], [True]).details["pass_1_on_these_tasks"] == {}


def test_intervals_resample_tasks_and_not_conversations() -> None:
    """Trials that always agree say nothing more than one: the interval of pass^1 stays as wide."""
    once = run_of(*[[place % 2 == 0] for place in range(20)], resamples=400).scores["pass^1"]
    often = run_of(*[[place % 2 == 0] * 10 for place in range(20)], resamples=400).scores["pass^1"]
    assert (once.low, once.high) == (often.low, often.high)


def test_tasks_with_fewer_trials_than_k_are_not_in_pass_k() -> None:
    run = run_of([True, True, False], [True])
    assert value(run, "pass^1") == pytest.approx((2 / 3 + 1) / 2)
    assert value(run, "pass^2") == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    "text", ["pass^4", "Flips", "TrialNoise", "pass^2(rules=strict)", "Reward[DB]", "Cost(of=user)"]
)
def test_names_parse_and_print_as_themselves(text: str) -> None:
    assert str(parse_measure(text)) == text


def test_what_cannot_be_measured_is_said(tmp_path: Path) -> None:
    from dialgauge.trials import score_results
    from support.agent_results import tau_file

    path = tau_file(tmp_path / "r.json", {"a": "+-", "b": "--"})
    for name, why in {
        "pass^3": "no task was tried 3 times",
        "pass^1(rules=strict)": "the log is judged by its rewards",
        "Reward[DB]": "no conversation has a reward 'DB'",
        "Cost(of=agent)": "no conversation has a cost of the agent",
        "Turns[x]": "Turns has no parts",
        "Success": "Success is not a measure of agents' logs",
    }.items():
        with pytest.raises(DialgaugeError, match=why):
            score_results([path], measures=[name])


def test_noise_by_hand() -> None:
    # Two tasks of two trials, one flips: the variance of its mean is 0.5 / 2, and 1 / 2² comes to the sum of both; that
    # of the mean over tasks is a quarter of that, twice for a difference.
    floor = value(run_of([True, False], [True, True]), "TrialNoise")
    assert floor == pytest.approx(1.959964 * math.sqrt(2 * (0.25 + 0.25) / 4), rel=1e-6)
    # Tasks with 2 and 4 trials: the mean number of trials is 3.
    floor = value(run_of([True, False], [True, True, True, False]), "TrialNoise")
    assert floor == pytest.approx(1.959964 * math.sqrt(2 * (0.25 + 0.25 / 4 + 1 / 9) / 4), rel=1e-6)
