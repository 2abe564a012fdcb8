"""pass^k, flip rate and noise floor, against what enumerating and simulating trials gives."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialgauge.dialogue import Dialogue, Outcome
from dialgauge.errors import DialgaugeError
from dialgauge.measures import parse_measure
from dialgauge.runs import Run
from dialgauge.tasks import score_attempts
from dialgauge.tasks.trials.trial_measures import flip_chance, pass_chance

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
                    details={"task": str(task), "trial": str(trial), "reward": str(float(done))},
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


def test_without_a_flip_the_noise_floor_has_no_interval() -> None:
    noise = run_of([True, True], [False, False], resamples=100).scores["TrialNoise"]
    assert (noise.value, noise.low, noise.high) == (0.0, None, None)
    noise = run_of([True, False], [False, False], [True, True], resamples=100).scores["TrialNoise"]
    assert noise.value is not None and noise.low is not None and noise.value > 0


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
    from dialgauge.tasks import score_results
    from support.agent_results import tau_file

    path = tau_file(tmp_path / "r.json", {"a": "+-", "b": "--"})
    for name, why in {
        "pass^3": "no task was tried 3 times",
        "pass^1(rules=strict)": "the file is judged by its rewards",
        "Reward[DB]": "no reward has the part 'DB'",
        "Cost(of=agent)": "does not say what the agent cost",
        "Turns[x]": "it has no parts",
        "Success": "Success is not a measure of agent results",
    }.items():
        with pytest.raises(DialgaugeError, match=why):
            score_results([path], measures=[name])


def test_noise_by_hand() -> None:
    # Two tasks of two trials, one flips: the variance of its mean is 0.5 / 2, that of the mean over tasks a quarter
    # of that, twice for a difference.
    floor = value(run_of([True, False], [True, True]), "TrialNoise")
    assert floor == pytest.approx(1.959964 * math.sqrt(2 * 0.25 / 4), rel=1e-6)
