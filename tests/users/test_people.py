"""The people of MultiWOZ 2.1 measured like simulated users: a ceiling for those."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.users import ScoredConversations, UserOptions, score_conversations, users_run
from support.verdicts import assert_verdicts_add_up


@pytest.fixture(scope="module")
def people(shared_data: Path, options: UserOptions) -> ScoredConversations:
    recommended = UserOptions(canonical_map=options.canonical_map, overrides=("mode=recommended",))
    return score_conversations(shared_data / "multiwoz21" / "test.json.gz", recommended)


def figure(scored: ScoredConversations, measure: str) -> float:
    value = users_run(scored, resamples=0).scores[measure].value
    assert value is not None
    return value


@pytest.mark.soak
def test_people_express_their_goals_far_better_than_the_simulated_user(
    people: ScoredConversations, convlab: ScoredConversations
) -> None:
    assert (people.settings.profile.name, people.failures, len(people.results)) == ("multiwoz21-people", [], 1000)
    for measure, least in (("I-GCDF1", 0.93), ("R-GCDF1", 0.95)):
        assert figure(people, measure) > least > figure(convlab, measure)
    for score in people.results:
        assert_verdicts_add_up(score)
