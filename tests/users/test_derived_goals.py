"""Goals derived from a dialogue's own states and requests, and the SGD data scored against them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import dialgauge
from dialgauge.dialogue import Act, Dialogue, Goal, Task, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.users import Query, UserRuns, find, reference_report
from dialgauge.users.goals import VenueDatabase, derived_goal, derived_map, load_database
from dialgauge.users.profile import load_profile
from dialgauge.users.results import users_run
from dialgauge.users.scorer import Scorer
from dialgauge.users.scoring import ScoredConversations, score_conversations
from support.verdicts import assert_verdicts_add_up

SERVICE = "Restaurants_1"


def user(*acts: tuple[str, str, str], state: dict[str, tuple[str, ...]], asked: tuple[str, ...] = ()) -> Turn:
    said = tuple(Act(name, SERVICE, slot, (value,) if value else ()) for name, slot, value in acts)
    return Turn(speaker="user", acts=said, state={SERVICE: state}, requested={SERVICE: asked})


def system(*acts: tuple[str, str, str]) -> Turn:
    return Turn(speaker="system", acts=tuple(Act(name, SERVICE, slot, (value,)) for name, slot, value in acts))


DINNER = Dialogue(
    id="1",
    turns=(
        user(("INFORM", "time", "half past 11"), state={"time": ("11:30", "half past 11")}),
        system(("OFFER", "restaurant_name", "Sino")),
        user(
            ("SELECT", "", ""),
            ("REQUEST", "phone", ""),
            state={"time": ("11:30",), "restaurant_name": ("Sino",)},
            asked=("phone",),
        ),
        system(("INFORM", "phone", "555")),
    ),
)


def test_a_slot_without_values_is_no_constraint() -> None:
    dialogue = Dialogue(id="1", turns=(user(("INFORM", "time", "noon"), state={"time": (), "city": ("Napa",)}),))
    assert derived_goal(dialogue).tasks[SERVICE].info == {"city": "Napa"}
    assert derived_map(dialogue).table("time", SERVICE) is not None


def test_the_goal_is_the_final_state_and_all_requests() -> None:
    task = derived_goal(DINNER).tasks[SERVICE]
    assert task.info == {"time": "11:30", "restaurant_name": "Sino"}
    assert task.requests == ("phone",)


def test_spellings_are_collected_from_all_turns() -> None:
    table = derived_map(DINNER).table("time", SERVICE)
    assert table is not None
    assert table.canonical("half past 11") == "11:30"


def test_a_user_who_accepts_an_offer_need_not_name_it() -> None:
    score = Scorer(profile=load_profile("sgd")).score(DINNER)
    assert {measure: scores[SERVICE].f1 for measure, scores in score.scores.items()} == {"I-GCDF1": 1.0, "R-GCDF1": 1.0}
    assert {each.item for each in score.verdicts if each.verdict == "pre-empted"} == {"restaurant_name===sino"}


def test_without_states_there_is_no_goal() -> None:
    with pytest.raises(DialgaugeError, match="no states"):
        derived_goal(Dialogue(id="1", turns=(Turn(speaker="user"),)))


def test_what_a_derived_goal_cannot_measure_is_left_out(tmp_path: Path) -> None:
    """It is made of what was said, so recall of it would be 1 whatever the user wanted."""
    users = dialgauge.score_users([DINNER], profile="sgd", resamples=0)[0]
    assert {name.partition("[")[0] for name in users.scores} == {"I-GCDF1 precision", "R-GCDF1 precision"}
    left_out = users.details["left_out"]
    assert left_out.keys() >= {"I-GCDF1", "I-GCDF1 recall", "R-GCDF1", "R-GCDF1 recall"}
    assert "left unsaid" in left_out["I-GCDF1 recall"]
    assert "goals:derived" in users.signature
    shown = str(UserRuns([users]))
    assert "(derived goals)" in shown
    assert "left out: I-GCDF1, I-GCDF1 recall, R-GCDF1, R-GCDF1 recall" in shown
    assert users.table("domain_scores")["recall"].to_list() == [None] * 4
    with pytest.raises(DialgaugeError, match="I-GCDF1 recall cannot be computed: the goals are derived"):
        dialgauge.score_users([DINNER], profile="sgd", measures=["I-GCDF1 recall"])[0]
    with pytest.raises(DialgaugeError, match="no I-GCDF1: the goals are derived"):
        find(users, Query(max_score=0.5))
    with pytest.raises(DialgaugeError, match="reference evaluator's file holds I-GCDF1"):
        reference_report(users)


WANTED = Goal(tasks={SERVICE: Task(info={"time": "11:30", "cuisine": "thai"}, requests=("phone", "address"))})


def test_a_recorded_goal_wins_over_one_that_could_be_derived() -> None:
    recorded = msgspec.structs.replace(DINNER, goal=WANTED)
    score = Scorer(profile=load_profile("sgd")).score(recorded)
    assert (score.goal_source, score.goal) == ("recorded", WANTED)
    found = score.scores["I-GCDF1"][SERVICE]
    assert (found.tp, found.fn) == (1, 1)  # "half past 11" is 11:30 by the states; the cuisine was never said
    assert score.scores["R-GCDF1"][SERVICE].recall == 0.5
    users = dialgauge.score_users([recorded], profile="sgd", resamples=0)[0]
    assert users["I-GCDF1 recall"] == 0.5
    assert "goals:" not in users.signature


def test_a_goal_that_is_never_expressed_scores_0() -> None:
    silent = Dialogue(id="1", turns=(user(state={}), system(("OFFER", "restaurant_name", "Sino"))), goal=WANTED)
    assert Scorer(profile=load_profile("sgd")).score(silent).scores["I-GCDF1"][SERVICE].f1 == 0.0


def test_recorded_and_derived_goals_together_give_recall_of_the_recorded_ones() -> None:
    recorded = msgspec.structs.replace(DINNER, id="2", goal=WANTED)
    users = dialgauge.score_users([DINNER, recorded], profile="sgd", resamples=0)[0]
    assert users["I-GCDF1 recall"] == 0.5
    assert users.details["scored_dialogues"]["I-GCDF1"]["combined"] == 2
    assert "goals:recorded+derived" in users.signature
    assert "F1 and recall cover only the dialogues with recorded goals" in str(UserRuns([users]))


def test_a_canonical_map_does_not_apply_to_derived_goals(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text('{"time": {"11:30": ["11:30"], "special_keys": {"not_in_goal": {}}}}')
    users = dialgauge.score_users([DINNER], profile="sgd", canonical_map=path, resamples=0)[0]
    assert "leave it out" in users.table("failures")["reason"][0]


@pytest.fixture(scope="module")
def sgd(shared_data: Path) -> ScoredConversations:
    return score_conversations(shared_data / "sgd" / "dev_dialogues_*.json.gz")


def test_real_users_of_sgd_express_their_goals(sgd: ScoredConversations) -> None:
    """People ask for everything they want to know; what they lose is values they changed on the way."""
    assert (sgd.settings.profile.name, sgd.failures, len(sgd.results)) == ("sgd", [], 512)
    value = {name: score.value or 0.0 for name, score in users_run(sgd, resamples=0).scores.items()}
    assert 0.95 < value["R-GCDF1 precision"] < 1.0
    assert 0.88 < value["I-GCDF1 precision"] < 0.92
    for score in sgd.results:
        assert_verdicts_add_up(score)


def test_wrong_values_of_sgd_are_values_that_were_replaced(sgd: ScoredConversations) -> None:
    for score in sgd.results:
        for verdict in score.verdicts:
            if verdict.verdict == "wrong-value":
                slot = verdict.item.partition("===")[0]
                assert slot in {name.lower() for name in score.goal.tasks[verdict.domain].info}


def test_which_failures_of_the_goals_are_live(shared_data: Path, convlab: ScoredConversations) -> None:
    """The counts of the test split: 84 of 133 restaurants, 69 of 106 hotels, 57 of 155 attractions."""
    database = VenueDatabase(load_database(shared_data / "multiwoz21" / "db"))
    live = dict.fromkeys(("restaurant", "hotel", "attraction"), 0)
    every = dict.fromkeys(live, 0)
    typos = load_profile("multiwoz21").goal_typos
    for score in convlab.results:
        for domain, task in score.goal.tasks.items():
            if task.fail_info:
                every[domain] += 1
                failing = {slot: typos.get(value, value) for slot, value in task.fail_info.items()}
                live[domain] += not database.finds(domain, failing)
    assert every == {"restaurant": 133, "hotel": 106, "attraction": 155}
    assert live == {"restaurant": 84, "hotel": 69, "attraction": 57}


def test_a_folder_without_databases_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(DialgaugeError, match="no database"):
        load_database(tmp_path)
