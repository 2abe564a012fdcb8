"""pass^k, flip rate and noise floor, against what enumerating and simulating trials gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dialgauge.dialogue import Dialogue, Outcome
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run
from dialgauge.trials import score_attempts
from support.soak import soak


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


def test_what_cannot_be_measured_is_said(tmp_path: Path) -> None:
    from dialgauge import review
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
            review([path], measures=[name])
