"""Conversations that cannot be scored: each is named with dialogue and turn, and the others are still scored."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import dialgauge
from dialgauge.dialogue import Act, Dialogue, Goal, Task, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.users import Failure, GcdfConfig, Scorer, UserOptions, score_conversations
from dialgauge.values import CanonicalMap
from support.talks import talk

HOTEL = {"hotel": Task(info={"area": "north"})}
GOOD = talk(HOTEL, ("hotel inform area=north",), (), id="good")
AREAS = CanonicalMap({"area": {"north": ["north"], "special_keys": {"not_in_goal": {}}}})


def without_service() -> Dialogue:
    bad = talk(HOTEL, ("hotel inform area=north",), (), id="bad")
    acts = (Act("Hotel-Inform", "", "area", ("north",)),)
    return msgspec.structs.replace(bad, turns=(Turn(speaker="user", acts=acts), bad.turns[1]))


BAD = {
    "alternation broken": (msgspec.structs.replace(GOOD, id="bad", turns=(GOOD.turns[0], GOOD.turns[0])), 1),
    "system begins": (msgspec.structs.replace(GOOD, id="bad", turns=GOOD.turns[1:]), 0),
    "missing goal": (msgspec.structs.replace(GOOD, id="bad", goal=None), None),
    "unknown domain": (
        talk({"bus": Task(info={"zone": "1"})}, ("bus inform zone=1",), (), ("bus inform zone=1",), (), id="bad"),
        2,
    ),
    "act without service": (without_service(), 0),
    "separators inside": (talk(HOTEL, ("hotel inform area=a===b",), (), id="bad"), 0),
    "goal value not in the map": (
        talk({"hotel": Task(info={"area": "moon"})}, ("hotel inform area=nrth",), (), id="bad"),
        0,
    ),
    "two million turns": (
        Dialogue(id="bad", turns=GOOD.turns * 1_000_000, goal=Goal(tasks=HOTEL)),
        100_000,
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_dialogue_fails_alone(name: str) -> None:
    bad, turn = BAD[name]
    first, failed, last = Scorer(canonical_map=AREAS).score_all(
        [GOOD, bad, msgspec.structs.replace(GOOD, id="another")]
    )
    assert isinstance(failed, Failure), name
    assert (failed.dialogue, failed.turn) == ("bad", turn)
    assert not isinstance(first, Failure)
    assert not isinstance(last, Failure)
    assert "dialogue bad" in str(failed)


def test_the_second_of_two_dialogues_with_one_id_fails() -> None:
    first, second = Scorer().score_all([GOOD, msgspec.structs.replace(GOOD, id="GOOD.json")])
    assert not isinstance(first, Failure)
    assert isinstance(second, Failure)
    assert "unique" in second.reason


def test_a_domain_called_combined_would_hide_behind_the_combined_score() -> None:
    (failed,) = Scorer().score_all([talk({"combined": Task(info={"area": "north"})}, (), (), id="bad")])
    assert isinstance(failed, Failure)
    assert "rename it" in failed.reason


def test_ids_are_unique_over_all_files(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        dialgauge.write([GOOD], tmp_path / name, format="gcdf1")
    scored = score_conversations(tmp_path)
    assert (len(scored.results), len(scored.failures)) == (1, 1)
    assert "already used" in scored.failures[0].reason
    assert scored.failures[0].file == str(tmp_path / "b.json")


def test_one_profile_does_not_fit_the_files_of_two_datasets(shared_data: Path, tmp_path: Path) -> None:
    dialgauge.write([GOOD], tmp_path / "a.json", format="gcdf1")
    (tmp_path / "b.json.gz").write_bytes((shared_data / "multiwoz21" / "val.json.gz").read_bytes())
    with pytest.raises(DialgaugeError, match="formats gcdf1, multiwoz"):
        score_conversations(tmp_path)
    assert score_conversations(tmp_path, UserOptions(profile="multiwoz21")).results[0].id == "good"


def test_an_empty_conversation_is_scored_as_the_reference_does_and_warned_about() -> None:
    (result,) = Scorer().score_all([talk(HOTEL, id="empty")])
    assert not isinstance(result, Failure)
    assert result.warnings


def test_a_value_that_the_reference_takes_apart_is_warned_about() -> None:
    odd = talk(HOTEL, ("hotel inform area=north",), (), ("hotel inform area=a###b",), (), id="odd")
    result = Scorer().score(odd)
    assert result.warnings == ("turn 2: the value 'a###b' contains '###' and is split",)
    assert [each.item for each in result.verdicts if each.turn == 2] == ["area===a", "area===b"]
    repaired = Scorer(GcdfConfig(mode="recommended")).score(odd)
    assert repaired.warnings == ()
    assert [each.item for each in repaired.verdicts if each.turn == 2] == ["area===a###b"]


def test_a_dialogue_that_cannot_be_read_is_a_failure_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "talks.json"
    dialgauge.write([GOOD, msgspec.structs.replace(GOOD, id="bad")], path, format="gcdf1")
    path.write_bytes(path.read_bytes().replace(b'"dialogue_id":"bad"', b'"dialogue_id":"bad","services":7'))
    scored = score_conversations(path)
    assert [result.id for result in scored.results] == ["good"]
    assert [(failure.dialogue, failure.file) for failure in scored.failures] == [("bad", str(path))]


def test_a_long_dialogue_is_scored_in_linear_time_when_allowed() -> None:
    long = Dialogue(id="long", turns=GOOD.turns * 20_000, goal=Goal(tasks=HOTEL))
    result = Scorer().score(long)
    assert result.scores["I-GCDF1"]["hotel"].fp == 19_999
    assert [loop.repeats for loop in result.loops] == [20_000]


def test_native_conversations_are_scored_too(tmp_path: Path) -> None:
    dialgauge.write([GOOD], tmp_path / "talks.jsonl", format="native")
    scored = score_conversations(tmp_path / "talks.jsonl", UserOptions())
    assert scored.results[0].scores["I-GCDF1"]["hotel"].f1 == 1.0
