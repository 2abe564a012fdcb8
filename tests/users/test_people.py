"""The people of MultiWOZ 2.1 measured like simulated users: a ceiling for those."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.users.evaluation import Settings, UserEvaluation, evaluate
from dialgauge.users.summary import summarise
from support.verdicts import assert_verdicts_add_up


@pytest.fixture(scope="module")
def people(shared_data: Path, settings: Settings) -> UserEvaluation:
    recommended = Settings(canonical_map=settings.canonical_map, overrides=("mode=recommended",))
    return evaluate(shared_data / "multiwoz21" / "test.json.gz", recommended)


def figure(evaluation: UserEvaluation, measure: str, aspect: str = "f1") -> float:
    rows = {(row.measure, row.domain): row for row in summarise(evaluation, resamples=0)}
    value: float = getattr(rows[measure, "combined"], aspect).value  # type: ignore[index]
    return value


def test_people_express_their_goals_far_better_than_the_simulated_user(
    people: UserEvaluation, convlab: UserEvaluation
) -> None:
    assert (people.profile, people.failures, len(people.scores)) == ("multiwoz21-people", [], 1000)
    for measure, least in (("I-GCDF1", 0.93), ("R-GCDF1", 0.95)):
        assert figure(people, measure) > least > figure(convlab, measure)
    for score in people.scores:
        assert_verdicts_add_up(score)


def test_stale_failures_cost_people_recall_they_did_not_lose(
    people: UserEvaluation, shared_data: Path, settings: Settings
) -> None:
    """Nobody was told the stale values, so pruning them raises recall and leaves precision where it was."""
    live = Settings(
        canonical_map=settings.canonical_map,
        overrides=("mode=recommended",),
        database=shared_data / "multiwoz21" / "db",
    )
    pruned = evaluate(shared_data / "multiwoz21" / "test.json.gz", live)
    assert figure(pruned, "I-GCDF1", "recall") > figure(people, "I-GCDF1", "recall") + 0.02
    assert figure(pruned, "I-GCDF1", "precision") == pytest.approx(figure(people, "I-GCDF1", "precision"), abs=1e-3)
