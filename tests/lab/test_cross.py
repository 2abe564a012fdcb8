"""Cross-evaluation of lab runs."""

from __future__ import annotations

import pytest

import dialgauge
from dialgauge.lab import AgentSpec, cross_evaluation, open_domain
from dialgauge.runs import Run

USERS, SYSTEMS = ("agenda", "agenda-baseline"), ("rule-system", "rule-baseline")
SUCCESS = "Success(rules=strict)"


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    town = open_domain(count=6)
    specs = [AgentSpec(system, {"channel": "drop=0.3"}) for system in SYSTEMS]
    return [dialgauge.converse(system, user, goals=town, resamples=0).runs[0] for user in USERS for system in specs]


def test_the_matrix_has_the_scores_of_the_runs(runs: list[Run]) -> None:
    values = [run.scores[SUCCESS].value or 0.0 for run in runs]
    assert len(set(values)) > 1, "the pairs differ"
    numbers = [list(row.values())[1:] for row in cross_evaluation(runs).records()]
    assert numbers[0] == [values[0], values[1], pytest.approx((values[0] + values[1]) / 2)]
    assert numbers[1] == [values[2], values[3], pytest.approx((values[2] + values[3]) / 2)]
    assert numbers[2] == [
        pytest.approx((values[0] + values[2]) / 2), pytest.approx((values[1] + values[3]) / 2), None,
    ]  # fmt: skip
