"""Reading gold, predictions and references: what is accepted, and one sentence with the place for what is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dialgauge
from dialgauge.errors import DialgaugeError
from dialgauge.tasks import TaskEvaluation, TaskOptions, predictions_from, read_gold, read_predictions, read_references
from support.town import gold_file, responses, town, write_town


def write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def refused(call: Any, *says: str) -> str:
    with pytest.raises(DialgaugeError) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    for part in says:
        assert part in text, text
    return text


# Predictions.


def test_ids_in_any_case_with_or_without_json(tmp_path: Path) -> None:
    plain = read_predictions(write(tmp_path / "a.json", responses()))
    loud = read_predictions(
        write(tmp_path / "b.json", {f"{key.upper()}.json": one for key, one in responses().items()})
    )
    assert list(plain.dialogues) == list(loud.dialogues) == ["mul0001", "sng0002"]
    assert (plain.name, plain.turns, plain.has_states, plain.default_mode) == ("a", 4, True, "file")


def test_two_ids_that_coincide_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"SNG0002.json": [{"response": ""}], "sng0002": [{"response": ""}]})
    refused(lambda: read_predictions(path), str(path), "sng0002", "two dialogues have this id")
    again = write(tmp_path / "b.json", '{"sng0002": [{"response": ""}], "sng0002": [{"response": "x"}]}')
    refused(lambda: read_predictions(again), "two dialogues have this id")


@pytest.mark.parametrize(
    ("turn", "says"),
    [
        ({"state": {}}, ["response"]),
        ({"response": 3}, ["response"]),
        ({"response": "", "state": {"hotel": {"area": ["north", "east"]}}}, ["hotel-area", 'got ["north","east"]']),
        ({"response": "", "state": {"hotel": {"area": None}}}, ["hotel-area", "null"]),
        ({"response": "", "state": {"hotel": "north"}}, ["hotel", "slot to text"]),
        ({"response": "", "state": None}, ["state", "null"]),
        ({"response": "", "active_domains": "hotel"}, ["active_domains"]),
        ({"response": "", "active_domains": [1]}, ["active_domains"]),
    ],
)
def test_a_turn_of_the_wrong_shape_is_named(tmp_path: Path, turn: dict[str, Any], says: list[str]) -> None:
    path = write(tmp_path / "a.json", {"sng0002": [{"response": "hello"}, turn]})
    refused(lambda: read_predictions(path), str(path), "sng0002", "turn 1", *says)


def test_files_that_are_no_predictions(tmp_path: Path) -> None:
    refused(lambda: read_predictions(write(tmp_path / "a.json", {})), "no responses")
    refused(lambda: read_predictions(write(tmp_path / "b.json", {"x": []})), "no responses")
    refused(lambda: read_predictions(write(tmp_path / "c.json", '{"x": [')), "JSON")
    refused(lambda: read_predictions(write(tmp_path / "d.json", "")), "empty")
    refused(lambda: read_predictions(tmp_path / "none.json"), "none.json")
    trade = {"MUL0001.json": {"0": {"turn_belief": ["hotel-area-north"], "pred_bs_ptr": ["hotel-area-east"]}}}
    refused(lambda: read_predictions(write(tmp_path / "e.json", trade)), "'trade'", "no responses", "mwzeval")


def test_an_unknown_dialogue_is_refused(tmp_path: Path) -> None:
    evaluation = TaskEvaluation(read_gold(write_town(tmp_path)), town())
    system = predictions_from("mine", {"sng0003": [{"response": ""}]})
    refused(lambda: evaluation.score(system), "sng0003", "no such dialogue", "Did you mean 'sng0002'?")
    far = predictions_from("mine", {"training-dialogue-12": [{"response": ""}]})
    assert "Did you mean" not in refused(lambda: evaluation.score(far), "same dataset and split")


@pytest.mark.parametrize(
    ("key", "says", "mode", "states"),
    [
        ("state", "gold states are used for ALL turns", "file", "gold"),
        ("active_domains", "domains are estimated from states", "state", "file"),
    ],
)
def test_a_key_missing_in_one_turn_switches_the_file_and_says_so(
    tmp_path: Path, key: str, says: str, mode: str, states: str
) -> None:
    gold = read_gold(write_town(tmp_path))
    dialogues = responses()
    del dialogues["mul0001"][1][key]
    scores = TaskEvaluation(gold, town()).score(predictions_from("mine", dialogues))
    assert f"WARNING: 1 of 4 turns lacks the key '{key}'" in scores.notes[0]
    assert says in scores.notes[0]
    assert (scores.details["domains"], scores.details["states"]) == (mode, states)
    strict = TaskEvaluation(gold, town(), options=TaskOptions(strict=True))
    refused(lambda: strict.score(predictions_from("mine", dialogues)), "mul0001", "turn 1", key, "--strict")
    strict.score(predictions_from("mine", responses()))


def test_a_file_without_states_is_scored_with_gold_states(tmp_path: Path) -> None:
    gold = read_gold(write_town(tmp_path))
    policy = {key: [{"response": turn["response"]} for turn in turns] for key, turns in responses().items()}
    scores = TaskEvaluation(gold, town(), options=TaskOptions(strict=True)).score(predictions_from("mine", policy))
    assert [*map(float, (scores["Success"], scores["Success(rules=grounded)"]))] == [1.0, 1.0]
    assert any("score of the policy" in note for note in scores.notes)
    assert "states:gold=mwz21" in scores.scores["Success"].signature


def test_lists_that_are_not_there_cannot_be_used(tmp_path: Path) -> None:
    gold = read_gold(write_town(tmp_path))
    dialogues = responses()
    del dialogues["mul0001"][0]["active_domains"]
    evaluation = TaskEvaluation(gold, town(), options=TaskOptions(mode="file"))
    refused(lambda: evaluation.score(predictions_from("mine", dialogues)), "active_domains", "--domains state")


def test_odd_names_are_noted(tmp_path: Path) -> None:
    dialogues = responses()
    dialogues["sng0002"][0] = {
        "response": "[restaurnat_name] [cost]",
        "state": {"Restaurant": {}},
        "active_domains": [],
    }
    notes = predictions_from("mine", dialogues).notes()
    assert notes == [
        "placeholders of unknown class, ignored: [restaurnat_name] 1, [cost] 1",
        "states or active_domains name domains that MultiWOZ does not have, ignored: 'Restaurant' 1",
    ]


def test_python_objects_are_read_as_files_are(tmp_path: Path) -> None:
    from_file = read_predictions(write(tmp_path / "mine.json", responses()))
    from_python = predictions_from("mine", responses())
    shown = [
        [(turn.response, turn.state, turn.active) for turns in each.dialogues.values() for turn in turns]
        for each in (from_file, from_python)
    ]
    assert shown[0] == shown[1]
    refused(lambda: predictions_from("mine", {"x": [{"response": object()}]}), "mine")


# Gold.


def test_gold_states_bookings_and_references(tmp_path: Path) -> None:
    gold = read_gold(write_town(tmp_path))
    first, second = gold.dialogues.values()
    assert first.booked == [frozenset(), {"hotel"}, {"hotel"}]
    assert first.states[2]["train"] == {"destination": "ely", "day": "monday", "leave": "09:00"}
    assert second.states == [{"restaurant": {"name": "nandos"}}]
    assert gold.references["mul0001"] == [
        "the NAME is in the AREA.", "it's booked, reference REFERENCE, phone PHONE.", "TRAINID leaves at TIME.",
    ]  # fmt: skip
    assert first.domains["hotel"].requestable == {"PHONE", "REFERENCE"}
    assert "taxi" not in first.domains


def test_a_booking_that_only_says_whether_it_fails_is_a_booking(tmp_path: Path) -> None:
    content = gold_file()
    content["SNG0002.json"]["goal"]["restaurant"]["book"] = {"invalid": False}
    gold = read_gold(write(tmp_path / "gold.json", content))
    assert gold.dialogues["sng0002"].domains["restaurant"].requestable == {"ADDRESS", "REFERENCE"}
    assert gold.dialogues["sng0002"].goal.tasks["restaurant"].book == {}


def test_taxis_are_never_booked(tmp_path: Path) -> None:
    content = gold_file()
    content["SNG0002.json"]["log"][1]["metadata"]["taxi"] = {"semi": {}, "book": {"booked": [{"type": "audi"}]}}
    assert read_gold(write(tmp_path / "gold.json", content)).dialogues["sng0002"].booked == [frozenset()]


def test_gold_files_that_are_none(tmp_path: Path) -> None:
    def change(how: Any) -> Path:
        content = gold_file()
        how(content)
        return write(tmp_path / "gold.json", content)

    path = change(lambda content: content["SNG0002.json"].pop("goal"))
    refused(lambda: read_gold(path), str(path), "SNG0002.json", "no goal")
    path = change(lambda content: content["SNG0002.json"]["goal"]["restaurant"].update(info={"name": 3}))
    refused(lambda: read_gold(path), "SNG0002.json", "shape")
    path = change(lambda content: content["SNG0002.json"]["log"][1]["metadata"].update(hotel=3))
    refused(lambda: read_gold(path), "SNG0002.json", "shape")
    path = change(lambda content: content.update({"sng0002": content["SNG0002.json"]}))
    refused(lambda: read_gold(path), "same id")
    refused(lambda: read_gold(write(tmp_path / "gold.json", "{}")), "no dialogues")
    path = change(lambda content: content["SNG0002.json"]["log"][1].update(span_info=[["a"]]))
    refused(lambda: read_gold(path).references, "SNG0002.json", "span_info")


def test_swapped_files_are_told(tmp_path: Path) -> None:
    gold, pred = write_town(tmp_path), write(tmp_path / "pred.json", responses())
    refused(lambda: read_gold(pred), str(pred), "GOLD comes first: dialgauge tasks score GOLD PRED")
    refused(lambda: read_predictions(gold), str(gold), "comes first: dialgauge tasks score GOLD PRED")


def test_gold_in_another_format(tmp_path: Path) -> None:
    dialgauge.write(dialgauge.read(write_town(tmp_path)).dialogues, tmp_path / "gold.jsonl", format="native")
    refused(lambda: read_gold(tmp_path / "gold.jsonl"), "'native'", "MultiWOZ file")


def test_gold_without_spans_has_no_references_and_no_human(tmp_path: Path) -> None:
    content = gold_file()
    for dialogue in content.values():
        for entry in dialogue["log"]:
            entry.pop("span_info", None)
    gold = read_gold(write(tmp_path / "gold.json", content))
    scores = TaskEvaluation(gold, town()).score(predictions_from("mine", responses()))
    assert scores["Success"] == 1.0
    assert "BLEU" not in scores.scores
    assert scores.details["human"] == {}
    assert any("BLEU is left out: the gold file has no span_info" in note for note in scores.notes)
    asked = TaskEvaluation(gold, town(), options=TaskOptions(measures=("BLEU",)))
    refused(lambda: asked.score(predictions_from("mine", responses())), "BLEU", "--references")


# References of one's own.


def test_references_raw_and_clean(tmp_path: Path) -> None:
    gold = read_gold(write_town(tmp_path))
    raw = {key.upper(): [turn["response"] for turn in turns] for key, turns in responses().items()}
    clean = {key: ["NAME", "REFERENCE", "TRAINID"] if "mul" in key else ["ADDRESS"] for key in responses()}
    same = TaskEvaluation(gold, town(), write(tmp_path / "mine.json", raw), "raw")
    assert same.score(predictions_from("mine", responses()))["BLEU"] == pytest.approx(100.0)
    other = TaskEvaluation(gold, town(), write(tmp_path / "other.json", clean), "clean")
    scores = other.score(predictions_from("mine", responses()))
    assert 0 < scores["BLEU"] < 20
    assert "references:other-clean-" in scores.scores["BLEU"].signature
    assert "references" not in scores.scores["Inform"].signature
    assert "BLEU" in scores.details["human"]


def test_references_that_cannot_be_used(tmp_path: Path) -> None:
    gold = read_gold(write_town(tmp_path))
    path = write(tmp_path / "mine.json", {"mul0001": ["a"] * 3})
    refused(lambda: read_references(path, None), str(path), "raw", "clean")
    refused(lambda: TaskEvaluation(gold, town(), path, "cleaned"), "--references-are", "raw, clean")  # type: ignore[arg-type]
    refused(lambda: TaskEvaluation(gold, town(), None, "raw"), "--references FILE")
    system = predictions_from("mine", responses())
    refused(lambda: TaskEvaluation(gold, town(), path, "raw").score(system), "sng0002", "lack the dialogue")
    write(path, {"mul0001": ["a"], "sng0002": ["a"]})
    refused(lambda: TaskEvaluation(gold, town(), path, "raw").score(system), "mul0001", "3 responses and 1 reference")
    write(path, {"mul0001": "a"})
    refused(lambda: read_references(path, "raw"), "mul0001", "shape")
    write(path, {"mul0001": ["a"], "MUL0001.json": ["a"]})
    refused(lambda: read_references(path, "raw"), "two dialogues have this id")


def test_options_are_checked() -> None:
    refused(lambda: TaskOptions(mode="files"), "--domains must be one of file, state, placeholders (got 'files')")  # type: ignore[arg-type]
    refused(lambda: TaskOptions(missing="drop"), "--unanswered", "skip, fail")  # type: ignore[arg-type]


def test_systems_from_python(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.json", gold_file())
    system = predictions_from("mine", responses())
    (scores,) = dialgauge.score_tasks(gold, system, database=town(), measures="Inform", resamples=0).runs
    assert list(scores.scores) == ["Inform"]
