"""Lab runs compared: only conversations about the same goals are paired."""

from __future__ import annotations

import pytest

from dialgauge.comparison import compare_runs
from dialgauge.errors import DialgaugeError
from dialgauge.lab import AgentSpec, LabConfig, open_domain, run_lab
from dialgauge.runs import Run


def held(town: int, *, trials: int = 1, user: str = "agenda") -> Run:
    sitting = LabConfig(user=AgentSpec(user), system=AgentSpec("rule-system"), trials=trials)
    return run_lab(open_domain(count=12, seed=town), sitting, resamples=0)


@pytest.mark.parametrize("trials", [1, 2])
def test_goals_of_another_town_under_the_same_ids_are_refused(trials: int) -> None:
    with pytest.raises(DialgaugeError, match=r"12 of the 12 (dialogues|goals) .* different goals or instructions"):
        compare_runs([held(1, trials=trials), held(2, trials=trials)], resamples=10)


def test_other_users_and_numbers_of_trials_on_the_same_goals_are_compared() -> None:
    assert len(compare_runs([held(1), held(1, user="agenda-baseline")], resamples=10).dialogues) == 12
    assert len(compare_runs([held(1, trials=2), held(1, trials=3)], resamples=10).dialogues) == 12
