"""Alignment and coverage: nothing is zipped by position, nothing is lost without being counted."""

from __future__ import annotations

import pytest

import dialgauge
from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.measures import parse_measure
from dialgauge.tracking import PreparedInputs
from dialgauge.values import profile_named
from tracking.corpora import prepared

NORTH: State = {"hotel": {"area": ("north",)}}
SOUTH: State = {"hotel": {"area": ("south",)}}


def gold(name: str, *states: State | None) -> Dialogue:
    return Dialogue(id=name, turns=tuple(Turn(speaker="user", state=state) for state in states))


def predicted(name: str, *states: State | None) -> Dialogue:
    return Dialogue(id=name, turns=tuple(Turn(speaker="user", predicted=state) for state in states))


def jga(study: PreparedInputs) -> float:
    return parse_measure("JGA").value(study.comparison("it", profile_named("plain")).counts)


def test_unequal_numbers_of_turns() -> None:
    data = [gold("a", NORTH, NORTH, SOUTH)], {"it": [predicted("a", NORTH, NORTH)]}
    study = prepared(*data)
    coverage = study.systems["it"].aligned.coverage
    assert (coverage.turns, coverage.missing_turns, coverage.turn_count_mismatch) == (2, 1, {"a": (3, 2)})
    assert jga(study) == 1.0
    assert jga(prepared(*data, coverage="empty")) == pytest.approx(2 / 3)


def test_a_missing_turn_in_the_middle_keeps_the_numbers() -> None:
    """Turn 1 has no prediction: turn 2 is compared with turn 2, and is two turns away from the error of turn 0."""
    study = prepared([gold("a", NORTH, NORTH, NORTH)], {"it": [predicted("a", SOUTH, None, SOUTH)]})
    counts = study.comparison("it", profile_named("plain")).counts
    assert counts.turn.tolist() == [0, 2]
    weights, _ = parse_measure("FGA@1(rule=code)").units(counts)
    assert weights.tolist() == pytest.approx([0.0, 0.8646647167633873])


def test_missing_dialogues_under_both_policies() -> None:
    data = [gold("a", NORTH), gold("b", NORTH, {})], {"it": [predicted("a", NORTH)]}
    left_out, as_empty = prepared(*data), prepared(*data, coverage="empty")
    assert jga(left_out) == 1.0
    assert jga(as_empty) == pytest.approx(2 / 3)
    for study in (left_out, as_empty):
        coverage = study.systems["it"].aligned.coverage
        assert (coverage.missing_dialogues, coverage.missing_turns) == (["b"], 2)
    assert "scored as empty" in as_empty.systems["it"].aligned.coverage.sentence()


def test_nothing_shared_is_an_error() -> None:
    for policy in ("intersection", "empty"):
        with pytest.raises(DialgaugeError, match="share no dialogue: gold has ids like 'a', the predictions like 'b'"):
            prepared([gold("a", NORTH)], {"it": [predicted("b", NORTH)]}, coverage=policy)
    with pytest.raises(DialgaugeError, match="no turn that has a state on both sides"):
        prepared([gold("a", NORTH, None)], {"it": [predicted("a", None, SOUTH)]})


def test_predictions_are_files_or_systems_by_name() -> None:
    states = {"a": [{"hotel-area": "north"}]}
    for given in (states, [gold("a", NORTH)], [gold("a", NORTH), "b.json"], 5, []):
        with pytest.raises(
            DialgaugeError, match=r"systems by name: score\(gold, \{'mine': predictions\}\)|name at least"
        ):
            dialgauge.score([gold("a", NORTH)], given)  # type: ignore[arg-type]
    frame = pytest.importorskip("pandas").Series(states)
    with pytest.raises(DialgaugeError, match=r"give what its \.to_dict\(\) makes"):
        dialgauge.score([gold("a", NORTH)], {"mine": frame})
    assert dialgauge.score([gold("a", NORTH)], {"mine": frame.to_dict()})["mine"]["JGA"] == 1


def test_two_dialogues_of_one_id_are_an_error() -> None:
    with pytest.raises(DialgaugeError, match=r"dialogue A\.json: two dialogues have this id"):
        prepared([gold("a", NORTH), gold("A.json", NORTH)], {"it": [predicted("a", NORTH)]})
    with pytest.raises(DialgaugeError, match="dialogue A: two dialogues have this id"):
        prepared([gold("a", NORTH)], {"it": [predicted("a", NORTH), predicted("A", SOUTH)]})


def test_inputs_without_states_are_errors() -> None:
    words = Dialogue(id="a", turns=(Turn(speaker="user", text="hello"),))
    with pytest.raises(DialgaugeError, match="no turn has a gold state"):
        prepared([words], {"it": [predicted("a", NORTH)]})
    with pytest.raises(DialgaugeError, match="nothing to score as tracking"):
        prepared([gold("a", NORTH)], {"it": [words]})
    with pytest.raises(DialgaugeError, match="no gold states of its own"):
        prepared(None, {"it": [predicted("a", NORTH)]})
    with pytest.raises(DialgaugeError, match="name at least one prediction file"):
        prepared([gold("a", NORTH)], {})


def test_duplicate_slots_hyphens_unicode_and_unknown_domains() -> None:
    """Two spellings of one slot: the later wins. Values keep hyphens and letters of any script."""
    wanted: State = {
        "train": {"leaveat": ("9:00",)},
        "restaurant": {"name": ("caffè-uno – 北京",)},
        "police": {"name": ("x",)},
    }
    given: State = {
        "train": {"leave": ("8:00",), "leave at": ("09:00",)},
        "Restaurant": {"name": ("CAFFÈ-uno – 北京",)},
    }
    study = prepared([gold("a", wanted)], {"it": [predicted("a", given)]})
    comparison = study.comparison("it", profile_named("canon"))
    assert parse_measure("JGA").value(comparison.counts) == 1.0
    assert comparison.basis.slots_out_of_scope == ["police-name"]


def test_the_wrong_profile_is_an_error_not_a_perfect_score() -> None:
    from dialgauge import score

    state: State = {"Hotels_4": {"location": ("London",)}}
    with pytest.raises(DialgaugeError, match=r"none of the gold slots is in the scope.*Hotels_4-location.*verbatim"):
        score([gold("a", state)], {"it": [predicted("a", state)]})
    with pytest.raises(DialgaugeError, match="none of the predicted slots is in the scope"):
        score([gold("a", NORTH)], {"it": [predicted("a", state)]})
    assert score([gold("a", state)], {"it": [predicted("a", state)]}, profile="verbatim")[0]["JGA"] == 1.0


def test_excluding_everything_is_an_error_that_says_so() -> None:
    with pytest.raises(DialgaugeError, match="is excluded"):
        prepared([gold("a", NORTH)], {"it": [predicted("a", NORTH)]}, exclude=["A.json"])


def test_gold_against_itself_is_scored_on_the_turns_that_were_scored() -> None:
    """``trade`` corrects gold in the second turn alone."""
    states: list[State] = [NORTH, {"hotel": {"area": ("north",), "stars": ("4 stars",)}}]
    systems = {"first": [predicted("a", *states[:1])], "all": [predicted("a", *states)]}
    found = dialgauge.score([gold("a", *states)], systems, profile="trade", measures="JGA", intervals=False)
    assert [run.details["gold_against_itself"] for run in found.runs] == [{}, {"JGA": 0.5}]
