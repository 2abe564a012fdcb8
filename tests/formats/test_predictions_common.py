"""What holds for every prediction format: recognition, faults with their place, and damage that never crashes."""

from __future__ import annotations

import gzip
import json
import random
from typing import Any

import pytest

from dialgauge.dialogue import Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import BUILT_IN, LAST_RESORT, Peek, format_named, read, recognise
from support.examples import EXAMPLES
from support.reading import part_of, read_bytes, read_json

HOLE = Turn(speaker="user")
MOST_TURNS = 10_000

PREDICTIONS = [
    "flags",
    "hi-dst",
    "human-eval",
    "llm-output",
    "mwzeval",
    "nested",
    "simpletod",
    "som-dst",
    "t5-dst",
    "trade",
    "trippy",
]
JSON_FORMATS = [name for name in PREDICTIONS if name not in ("human-eval", "llm-output")]

#: Formats whose turns are numbered, with what a valid turn looks like and how turns make a file.
NUMBERED: dict[str, Any] = {
    "nested": {"gt": {}, "pr": {"hotel": {"area": "east"}}},
    "trade": {"turn_belief": [], "pred_bs_ptr": ["hotel-area-east"]},
    "t5-dst": {"turn_belief": [], "pred_belief": ["hotel-area-east"]},
    "hi-dst": {"gt": {}, "pr_turn": {"hotel-area": "east"}},
    "flags": [1] * 30,
    "som-dst": [["hotel-area-east"], []],
    "trippy": {
        "class_prediction_hotel-area": 2,
        "slot_prediction_hotel-area": "east",
        "slot_groundtruth_hotel-area": "x",
    },
}


def numbered_file(format: str, keys: list[str]) -> Any:
    turn = NUMBERED[format]
    if format == "som-dst":
        return {f"MUL1_{key}": turn for key in keys}
    if format == "trippy":
        return [{"guid": ["test", "MUL1", key], **turn} for key in keys]
    turns = dict.fromkeys(keys, turn)
    return {"MUL1": {"domain": "hotel", "turns": turns} if format == "t5-dst" else turns}


@pytest.mark.parametrize("name", PREDICTIONS)
def test_each_example_is_recognised_by_its_format_alone(name: str) -> None:
    peek = Peek(part_of(EXAMPLES[name]))
    assert [one for one in BUILT_IN if one != LAST_RESORT and format_named(one).recognise(peek)] == [name]


@pytest.mark.parametrize("name", JSON_FORMATS)
def test_a_long_file_is_recognised_by_its_beginning(name: str) -> None:
    value = json.loads(EXAMPLES[name])
    if isinstance(value, dict):
        key, first = next(iter(value.items()))
        stem, _, turn = key.rpartition("_") if name == "som-dst" else (key, "", "")
        value = {f"{stem}{i}_{turn}" if turn else f"{stem}{i}": first for i in range(6000)}
    else:
        value = value * 6000
    content = json.dumps(value).encode()
    assert len(content) > 1 << 18
    assert recognise(part_of(content)).name == name


@pytest.mark.parametrize("name", PREDICTIONS)
def test_predictions_are_marked_as_such_and_read_from_a_gzipped_file(name: str, tmp_path: Any) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(EXAMPLES[name]))
    corpus = read(path)
    assert (corpus.format, corpus.kind, len(corpus.dialogues)) == (name, "predictions", 1)


@pytest.mark.parametrize("name", NUMBERED)
def test_turns_come_in_numeric_order(name: str) -> None:
    keys = [str(number) for number in range(12)]
    shuffled = random.Random(0).sample(keys, len(keys))
    assert read_json(name, numbered_file(name, shuffled))[0] == read_json(name, numbered_file(name, keys))[0]


@pytest.mark.parametrize("name", NUMBERED)
def test_a_missing_turn_is_a_counted_hole_and_the_rest_keeps_its_place(name: str) -> None:
    [dialogue], notes = read_json(name, numbered_file(name, ["0", "3"]))
    assert [turn == HOLE for turn in dialogue.turns] == [False, True, True, False]
    assert notes.counts["missing turns, left as holes"] == 2


@pytest.mark.parametrize("name", NUMBERED)
@pytest.mark.parametrize(("keys", "words"), [(["0", "00"], "twice"), ([str(MOST_TURNS)], "beyond")])
def test_turn_numbers_that_cannot_be(name: str, keys: list[str], words: str) -> None:
    with pytest.raises(DialgaugeError, match=words) as caught:
        read_json(name, numbered_file(name, keys))
    assert (caught.value.file, caught.value.dialogue) == ("file.json", "MUL1")


@pytest.mark.parametrize("name", ["nested", "trade", "hi-dst", "flags"])
def test_a_key_that_is_no_turn_number(name: str) -> None:
    with pytest.raises(DialgaugeError, match="'last' is not a turn number"):
        read_json(name, numbered_file(name, ["0", "last"]))


@pytest.mark.parametrize("name", ["nested", "trade", "hi-dst", "mwzeval"])
def test_a_dialogue_written_twice_is_an_error(name: str, tmp_path: Any) -> None:
    once = json.dumps(json.loads(EXAMPLES[name]))
    path = tmp_path / "twice.json"
    path.write_text(once[:-1] + "," + once[1:])
    with pytest.raises(DialgaugeError, match="unique"):
        read(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nested", {"MUL1": {"0": {"gt": {}}, "1": {"gt": {"hotel": {"stars": 4}}}}}),
        ("trade", {"MUL1": {"0": {"pred_bs_ptr": []}, "1": {"pred_bs_ptr": [4]}}}),
        ("trade", {"MUL1": {"0": {"pred_bs_ptr": []}, "1": {"pred_bs_ptr": ["hotel"]}}}),
        ("t5-dst", {"MUL1": {"turns": {"0": {"pred_belief": []}, "1": {"pred_belief": "hotel-area-east"}}}}),
        ("hi-dst", {"MUL1": {"0": {"pr_turn": {}}, "1": {"pr_turn": {"area": "east"}}}}),
        ("flags", {"MUL1": {"0": [1] * 30, "1": [1] * 29}}),
        ("flags", {"MUL1": {"0": [1] * 30, "1": [2] * 30}}),
        ("som-dst", {"MUL1_0": [[], []], "MUL1_1": [[]]}),
        ("som-dst", {"MUL1_0": [[], []], "MUL1_1": [["hotel area north"], []]}),
        ("mwzeval", {"MUL1": [{"response": ""}, {"response": 4}]}),
        ("simpletod", {"MUL1": {"generated_turn_belief": [[], []], "target_turn_belief": [[], ["hotel area"]]}}),
        ("trippy", [{"guid": ["test", "MUL1", "1"], "class_prediction_hotel-area": 7}]),
        ("trippy", [{"guid": ["test", "MUL1", "1"], "class_prediction_hotel-area": 2}]),
        ("trippy", [{"guid": ["test", "MUL1", "1"], "slot_groundtruth_hotel-area": 4}]),
    ],
)
def test_a_fault_in_a_turn_names_file_dialogue_and_turn(name: str, value: Any) -> None:
    with pytest.raises(DialgaugeError) as caught:
        read_json(name, value)
    assert str(caught.value).startswith("file.json, dialogue MUL1, turn 1: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", JSON_FORMATS)
@pytest.mark.parametrize(
    "content",
    [b"[]x", b"{", b'{"a": ', b"[" * 100_000, b'{"a":' * 100_000, b'{"a": "\xff"}', b"3", b'{"a": 3}', b"[3]", b"null"],
    ids=["junk", "open", "cut", "deep-list", "deep-object", "not-utf8", "number", "wrong", "wrong-list", "null"],
)
def test_what_is_no_file_of_the_format_is_one_sentence(name: str, content: bytes) -> None:
    with pytest.raises(DialgaugeError) as caught:
        read_bytes(name, content)
    assert caught.value.file == "file.json"


@pytest.mark.parametrize("name", PREDICTIONS)
def test_values_keep_astral_and_right_to_left_characters(name: str) -> None:
    if name == "flags":
        return
    for value in ("מלון 𝔸-café", "فندق"):
        content = EXAMPLES[name].replace(b"east", value.encode()).replace(b"'north'", f"'{value}'".encode())
        [dialogue], _ = read_bytes(name, content)
        states = [state for turn in dialogue.turns for state in (turn.state, turn.predicted) if state]
        if name != "t5-dst":
            assert any(state["hotel"].get("area") == (value,) for state in states)
