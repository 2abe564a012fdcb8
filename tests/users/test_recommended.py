"""Recommended mode: the faults of the reference repaired, and nothing else changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from dialgauge.dialogue import Dialogue, Task
from dialgauge.errors import DialgaugeError
from dialgauge.users import GcdfConfig, ScoredConversations, Scorer, UserOptions, score_conversations
from dialgauge.values import CanonicalMap
from support.soak import some
from support.talks import from_record, talk
from support.verdicts import assert_verdicts_add_up

RECOMMENDED = GcdfConfig(mode="recommended")


def scored(dialogue: Dialogue, values: dict[str, Any] | None = None) -> Any:
    canonical_map = CanonicalMap(values) if values else None
    result = Scorer(RECOMMENDED, canonical_map=canonical_map).score(dialogue)
    assert_verdicts_add_up(result)
    return result


def refused(dialogue: Dialogue, values: dict[str, Any] | None = None) -> str:
    with pytest.raises(DialgaugeError) as caught:
        Scorer(GcdfConfig(), canonical_map=CanonicalMap(values) if values else None).score(dialogue)
    return str(caught.value)


def table(**values: list[str]) -> dict[str, Any]:
    return {"special_keys": {"not_in_goal": {}}, **values}


HOTEL = {"hotel": Task(info={"area": "north"}, requests=("phone",))}


def test_a_constraint_without_a_value_is_passed_over() -> None:
    dialogue = talk(HOTEL, ("hotel inform area", "hotel inform area=north"), ())
    assert "without a value" in refused(dialogue)
    result = scored(dialogue)
    assert result.scores["I-GCDF1"]["hotel"].f1 == 1.0
    assert "turn 0" in result.warnings[0]


def test_separators_inside_values_are_ordinary_characters() -> None:
    for value in ("a===b", "a###b"):
        goal = {"hotel": Task(info={"name": value})}
        assert scored(talk(goal, (f"hotel inform name={value}",), ())).scores["I-GCDF1"]["hotel"].f1 == 1.0


def test_a_slot_the_map_splits_by_other_domains_is_left_alone() -> None:
    values = {"departure": {"taxi": table(ely=["ely"])}}
    dialogue = talk({"hotel": Task(info={"departure": "ely"})}, ("hotel inform departure=ely",), ())
    assert "splits the slot" in refused(dialogue, values)
    assert scored(dialogue, values).scores["I-GCDF1"]["hotel"].f1 == 1.0


def test_a_goal_value_the_map_lacks_stands_for_itself() -> None:
    values = {"area": table(north=["north"])}
    dialogue = talk({"hotel": Task(info={"area": "moonbase"})}, ("hotel inform area=moonbases",), ())
    assert "moonbase" in refused(dialogue, values)
    assert scored(dialogue, values).scores["I-GCDF1"]["hotel"].f1 == 1.0


def test_a_slot_takes_only_its_own_values() -> None:
    values = {"day": table(friday=["friday", "this friday"]), "name": table(x=["x"])}
    dialogue = talk(
        {"hotel": Task(info={"day": "friday"})}, ("hotel inform day=friday", "hotel inform holiday=this friday"), ()
    )
    assert "also matches" in refused(dialogue, values)
    assert scored(dialogue, values).scores["I-GCDF1"]["hotel"].recall == 1.0


def test_two_spellings_in_one_turn_are_one_constraint() -> None:
    values = {"area": table(north=["north", "the north"])}
    dialogue = talk(HOTEL, ("hotel inform area=the north", "hotel inform area=north"), ())
    reference = Scorer(canonical_map=CanonicalMap(values)).score(dialogue)
    assert reference.scores["I-GCDF1"]["hotel"].precision == 0.5
    assert scored(dialogue, values).scores["I-GCDF1"]["hotel"].precision == 1.0


def test_requests_outside_the_goal_count_and_are_recorded() -> None:
    dialogue = talk(HOTEL, ("hotel inform area=north", "hotel request phone", "taxi request phone"), ())
    assert "outside the goal" in refused(dialogue)
    result = scored(dialogue)
    assert result.scores["R-GCDF1"]["taxi"].precision == 0.0
    assert "requested_domains_outside_goals" in {each.label for each in result.behaviours}


def test_an_unanswered_last_turn_is_no_failed_search() -> None:
    dialogue = talk({"hotel": Task(info={"area": "north", "stars": "4"})}, ("hotel inform area=north",))
    assert "nobody answers" in refused(dialogue)
    assert scored(dialogue).scores["I-GCDF1"]["hotel"].recall == 0.5


def test_an_unknown_domain_is_scored_with_a_warning() -> None:
    goal = {"bus": Task(info={"zone": "1"})}
    dialogue = talk(goal, ("bus inform zone=1",), (), ("bus inform zone=1",), ())
    assert "does not know the domain 'bus'" in refused(dialogue)
    result = scored(dialogue)
    assert result.scores["I-GCDF1"]["bus"].recall == 1.0
    assert any("bus" in warning for warning in result.warnings)


@pytest.mark.parametrize("act", ["booking nooffer area=north", "train nobook day=x"])
def test_acts_in_the_wrong_service_do_not_count(act: str) -> None:
    dialogue = talk(HOTEL, ("hotel inform area=north",), (act,), ("hotel inform area=north",), ())
    assert "stands in" in refused(dialogue)
    assert scored(dialogue).warnings


def test_an_answer_without_a_value_is_an_answer() -> None:
    dialogue = talk(HOTEL, ("hotel request phone",), ("hotel inform phone",), ("hotel request phone",), ())
    assert "without a value" in refused(dialogue)
    labels = {each.label for each in scored(dialogue).behaviours}
    assert "multiple_slot_requests/repeated_despite_receiving_answer" in labels


def test_lower_case_nooffer_is_understood() -> None:
    goal = {"hotel": Task(info={"area": "north", "stars": "4"})}
    said = talk(goal, ("hotel inform area=north",), ("hotel x area=north",))
    act = msgspec.structs.replace(said.turns[1].acts[0], name="hotel-nooffer")  # type: ignore[index]
    dialogue = msgspec.structs.replace(said, turns=(said.turns[0], msgspec.structs.replace(said.turns[1], acts=(act,))))
    assert Scorer().score(dialogue).scores["I-GCDF1"]["hotel"].recall == 0.5
    assert scored(dialogue).scores["I-GCDF1"]["hotel"].recall == 1.0


def test_an_empty_conversation_is_refused_not_zero() -> None:
    dialogue = talk(HOTEL)
    assert Scorer().score(dialogue).scores["I-GCDF1"]["hotel"].f1 == 0.0
    with pytest.raises(DialgaugeError, match="empty"):
        scored(dialogue)


def test_the_goal_s_own_value_wins_over_the_file_s_first() -> None:
    values = {"leaveat": {"taxi": table(**{"06:00": ["06:00", "6:00"], "18:00": ["18:00", "6:00"]})}}
    dialogue = talk({"taxi": Task(info={"leaveAt": "18:00"})}, ("taxi inform leaveAt=6:00",), ())
    reference = Scorer(canonical_map=CanonicalMap(values)).score(dialogue)
    assert reference.scores["I-GCDF1"]["taxi"].f1 == 0.0
    assert scored(dialogue, values).scores["I-GCDF1"]["taxi"].f1 == 1.0


def test_times_are_not_matched_by_their_digits() -> None:
    values = {"leaveat": {"taxi": table(**{"09:15": ["09:15"], "15:09": ["15:09"]})}}
    for said, wanted, f1 in (("15 : 09", "09:15", 0.0), ("3:09 pm", "15:09", 1.0), ("25:70", "09:15", 0.0)):
        dialogue = talk({"taxi": Task(info={"leaveAt": wanted})}, (f"taxi inform leaveAt={said}",), ())
        assert scored(dialogue, values).scores["I-GCDF1"]["taxi"].f1 == f1, said


def _with(options: UserOptions, *overrides: str) -> UserOptions:
    return UserOptions(canonical_map=options.canonical_map, overrides=overrides)


def test_on_the_real_conversations_both_modes_agree(
    convlab: ScoredConversations, shared_data: Path, options: UserOptions
) -> None:
    """Nothing of what recommended mode repairs occurs there, so every score must be the same."""
    source = shared_data / "gcdf1" / "conversations" / "dialogues_00*.json.gz"
    recommended = score_conversations(source, _with(options, "mode=recommended"))
    assert recommended.failures == []
    for ours, theirs in zip(recommended.results, convlab.results, strict=False):
        assert ours.scores == theirs.scores


def test_every_synthetic_case_is_scored(synthetic: Any) -> None:
    for case in some(synthetic["cases"], 3):
        if case["name"] == "empty dialogue" or "turn_id" in case["name"]:
            continue
        assert scored(from_record(case["dialogue"]), synthetic["canonical_map"]).scores, case["name"]
