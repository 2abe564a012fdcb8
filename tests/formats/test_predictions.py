"""Formats of predictions: recognition, faults with their place, damage that never crashes, and the public files."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read, recognise
from dialgauge.text import note_kind
from support.examples import EXAMPLES
from support.reading import part_of, read_bytes, read_json, write_bytes
from support.soak import examples

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


# -- nested ----------------------------------------------------------------------------------------------------------

WORDS = st.text(max_size=8)
VALUES = st.text(min_size=1, max_size=8).filter(lambda text: text.strip().lower() not in ("", "none", "not mentioned"))
SLOTS = st.dictionaries(WORDS, st.lists(VALUES, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3)
STATES = st.none() | st.dictionaries(WORDS, SLOTS, max_size=3)
TURNS = st.builds(lambda gold, predicted: Turn(speaker="user", state=gold, predicted=predicted), STATES, STATES)
CORPORA = st.lists(st.lists(TURNS, max_size=4), max_size=4).map(
    lambda corpus: [Dialogue(id=f"d{i}", turns=tuple(turns)) for i, turns in enumerate(corpus)]
)


def test_a_side_that_is_left_out_is_not_recorded_rather_than_empty() -> None:
    [dialogue], _ = read_json("nested", {"a": {"0": {"pr": {}}, "1": {"gt": {}}}})
    assert [(turn.state, turn.predicted) for turn in dialogue.turns] == [(None, {}), ({}, None)]


def test_values_that_mean_absent_are_left_out_and_alternatives_kept() -> None:
    hotel = {"area": "none", "name": "", "stars": ["4", "four"], "type": "Not Mentioned"}
    [dialogue], _ = read_json("nested", {"a": {"0": {"gt": {"hotel": hotel, "taxi": {"day": "none"}}}}})
    assert dialogue.turns[0].state == {"hotel": {"stars": ("4", "four")}}


@settings(max_examples=examples(100), deadline=None)
@given(CORPORA)
def test_reading_what_was_written_gives_the_same_states(corpus: list[Dialogue]) -> None:
    content, notes = write_bytes("nested", corpus)
    assert read_bytes("nested", content)[0] == corpus
    assert not notes.counts


# -- what language models write --------------------------------------------------------------------------------------

AREA: State = {"hotel": {"area": ("north",)}}
INVALID = "invalid outputs, scored as empty predictions"
ODD = "values that are none, or have no slot, kept as wrong values"


@pytest.mark.parametrize(
    ("output", "state", "noted"),
    [
        ({"hotel-area": "north", "hotel": {"stars": None}}, AREA, {}),
        ({"belief_state": {"hotel": {"area": "north", "name": "none"}}}, AREA, {}),
        ('Sure! {"hotel": {"area": "north"}}', AREA, {}),
        ({"hotel": {"stars": 4, "parking": True}}, {"hotel": {"stars": ("4",), "parking": ("true",)}}, {}),
        ({"hotel": {"area": {"value": "north"}}}, {"hotel": {"area": ("{'value': 'north'}",)}}, {ODD: 1}),
        ({"hotel": "north"}, {"hotel": {"(no slot)": ("north",)}}, {ODD: 1}),
        ("I am sorry.", {}, {INVALID: 1}),
        (["hotel"], {}, {INVALID: 1}),
    ],
)
def test_what_a_model_wrote_is_a_state_or_an_invalid_output(output: Any, state: State, noted: dict[str, int]) -> None:
    line = json.dumps({"dialogue": "d", "turn": 0, "output": output}).encode()
    entry = {"d": [{"response": "", "state": output}]}
    for [dialogue], notes in (read_bytes("llm-output", line), read_json("mwzeval", entry)):
        assert dialogue.turns[0].predicted == state
        assert dict(notes.counts) == noted


# -- human evaluation ------------------------------------------------------------------------------------------------

EXAMPLE = EXAMPLES["human-eval"]


def test_the_system_speaks_before_the_user() -> None:
    [dialogue], notes = read_bytes("human-eval", EXAMPLE)
    both: State = {"hotel": {"area": ("north",), "pricerange": ("cheap",)}}
    assert dialogue.id == "MUL0001.json"
    assert dialogue.turns == (
        Turn(speaker="user", text="A hotel in the north, please.", state={"hotel": {"area": ("north",)}}, predicted={}),
        Turn(speaker="system", text="There are two.\nWhich one?"),
        Turn(speaker="user", text="The cheaper one.", state=both, predicted=both),
    )
    assert not notes.counts


def test_a_verdict_that_contradicts_the_states_is_noted() -> None:
    _, notes = read_bytes("human-eval", EXAMPLE.replace(b"Matched : False", b"Matched : True"))
    assert [note_kind(note) for note in notes.counts] == ["contradicted_match"], "what reproduce counts"


@pytest.mark.parametrize("literal", [b"{'hotel': 'north'}", b"{'hotel': open('/etc/passwd')}", b"{" * 5000, b""])
def test_states_that_are_no_plain_literals_are_refused(literal: bytes) -> None:
    with pytest.raises(DialgaugeError, match="the state after PR is") as caught:
        read_bytes("human-eval", EXAMPLE.replace(b"{{}}", literal), "file.txt")
    assert str(caught.value).startswith("file.txt, dialogue MUL0001.json, turn 0: ")


@pytest.mark.parametrize("last", [b"Matched : False\nstray\n", b"Matched : False\nTurn: 7\n"])
def test_a_stray_line_is_refused_with_its_place(last: bytes) -> None:
    with pytest.raises(DialgaugeError, match=r"line 11: here, '(stray|Turn: 7)', is no turn"):
        read_bytes("human-eval", EXAMPLE.replace(b"Matched : False\n", last))


def test_the_hundred_public_dialogues(shared_data: Path, expected: Path) -> None:
    corpus = read(shared_data / "dst_predictions" / "somdst_human100.tar.gz")
    wanted = json.loads((expected / "dst_somdst_human100.json").read_text())["per_dialogue"]
    found = {
        dialogue.id: {
            "turns": sum(1 for _ in dialogue.user_turns()),
            "exact": sum(turn.state == turn.predicted for turn in dialogue.user_turns()),
            "gold_empty": sum(turn.state == {} for turn in dialogue.user_turns()),
        }
        for dialogue in corpus.dialogues
    }
    assert found == {name: {key: row[key] for key in ("turns", "exact", "gold_empty")} for name, row in wanted.items()}
    assert sum(row["turns"] for row in found.values()) == 751
    assert not corpus.notes.counts


# -- mwzeval ---------------------------------------------------------------------------------------------------------


def test_each_entry_is_a_user_turn_and_the_answer_to_it() -> None:
    [dialogue], _ = read_bytes("mwzeval", EXAMPLES["mwzeval"])
    assert dialogue.turns == (
        Turn(speaker="user", predicted={"hotel": {"area": ("east",)}}, active=("hotel",)),
        Turn(speaker="system", text="which area ?"),
    )
