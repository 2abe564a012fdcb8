"""States as language models write them: everything that can be meant is taken, the rest is counted with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import dialgauge
from dialgauge.dialogue import State
from dialgauge.errors import DialgaugeError
from dialgauge.formats.predictions import answer_in, loose_state
from support.commands import dialgauge as run
from support.reading import read_bytes, read_json
from support.soak import examples

INVALID = "invalid outputs, scored as empty predictions"
NO_SLOT = "values without a slot, kept as wrong values"
NO_VALUE = "objects and lists in place of a value, kept as wrong values"
NULL = "null values read as absent"
NUMBER = "numbers read as texts"
TRUTH = "booleans read as the texts true and false"

ODD = {"hotel": {"area": None, "stars": 4, "parking": True, "name": "N/A", "people": 2.0, "type": ["hotel", 3]}}
TAKEN: State = {
    "hotel": {
        "stars": ("4",), "parking": ("true",), "name": ("N/A",), "people": ("2",), "type": ("hotel", "3"),
    }
}  # fmt: skip


def written(name: str, state: Any) -> Any:
    """A file of that format whose second turn predicts the state."""
    return {
        "nested": {"MUL1": {"0": {"pr": {}}, "1": {"pr": state}}},
        "mwzeval": {"MUL1": [{"response": "", "state": {}}, {"response": "", "state": state}]},
        "convlab3-predictions": [
            {"dialogue_id": "MUL1", "utt_idx": 0, "predictions": {"state": {}}},
            {"dialogue_id": "MUL1", "utt_idx": 2, "predictions": {"state": state}},
        ],
    }[name]


FORMATS = ("nested", "mwzeval", "convlab3-predictions")


def second(name: str, state: Any) -> tuple[State | None, dict[str, int], dict[str, list[str]]]:
    dialogues, notes = read_json(name, written(name, state))
    return list(dialogues[0].user_turns())[1].predicted, dict(notes.counts), notes.places


@pytest.mark.parametrize("name", FORMATS)
def test_null_numbers_and_truth_values_are_taken_and_counted(name: str) -> None:
    """Each of them ended the reading of the whole file."""
    predicted, counts, places = second(name, ODD)
    assert predicted == TAKEN
    assert counts == {NULL: 1, NUMBER: 3, TRUTH: 1}
    turn = 2 if name.startswith("convlab3") else 1
    assert places == {what: [f"dialogue MUL1, turn {turn}"] for what in counts}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("state", "predicted", "counted"),
    [
        ("I am sorry, I cannot do that.", {}, {INVALID: 1}),
        ([], {}, {INVALID: 1}),
        (3, {}, {INVALID: 1}),
        ('```json\n{"hotel": {"area": "north"}}\n```', {"hotel": {"area": ("north",)}}, {}),
        ("{'hotel': {'area': 'north', 'name': None}}", {"hotel": {"area": ("north",)}}, {NULL: 1}),
        ({"hotel-area": "north", "hotel": {"name": 7}}, {"hotel": {"area": ("north",), "name": ("7",)}}, {NUMBER: 1}),
        ({"state": {"hotel": {"area": "north"}}, "x": 1}, None, None),
        ({"belief_state": {"hotel": {"stars": 4}}}, {"hotel": {"stars": ("4",)}}, {NUMBER: 1}),
        ({"hotel": {"ref": 12345678901234567891}}, {"hotel": {"ref": ("12345678901234567891",)}}, {NUMBER: 1}),
        ({"hotel": {"ref": 10**400}}, {"hotel": {"ref": ("1" + "0" * 400,)}}, {NUMBER: 1}),
        ({"hotel": "north"}, {"hotel": {"(no slot)": ("north",)}}, {NO_SLOT: 1}),
        ({"hotel": None}, {}, {NULL: 1}),
        ({"hotel": {"area": {"value": "north"}}}, {"hotel": {"area": ("'value': 'north'",)}}, {NO_VALUE: 1}),
        ({"hotel": {"area": []}}, {}, {}),
    ],
)
def test_other_things_that_stand_for_a_state(name: str, state: Any, predicted: Any, counted: Any) -> None:
    found, counts, _ = second(name, state)
    if predicted is not None:
        assert (found, counts) == (predicted, counted)
    assert isinstance(found, dict)


def test_changes_of_hi_dst() -> None:
    turns = {"0": {"pr_turn": {"hotel-stars": 4, "hotel-area": "north"}}, "1": {"pr_turn": {"hotel-area": None}}}
    [dialogue], notes = read_json("hi-dst", {"MUL1": {**turns, "2": {"pr_turn": "no"}}})
    assert [turn.predicted for turn in dialogue.turns] == [
        {"hotel": {"stars": ("4",), "area": ("north",)}}, {"hotel": {"stars": ("4",)}}, {"hotel": {"stars": ("4",)}},
    ]  # fmt: skip
    assert notes.places == {
        NUMBER: ["dialogue MUL1, turn 0"], NULL: ["dialogue MUL1, turn 1"], INVALID: ["dialogue MUL1, turn 2"],
    }  # fmt: skip


@pytest.mark.parametrize("name", ["nested", "hi-dst"])
def test_gold_is_still_taken_as_it_must_be(name: str) -> None:
    gold = {"hotel": {"stars": 4}} if name == "nested" else {"hotel-stars": 4}
    side = "pr" if name == "nested" else "pr_turn"
    with pytest.raises(DialgaugeError, match="MUL1, turn 0: the JSON does not have the expected shape"):
        read_json(name, {"MUL1": {"0": {"gt": gold, side: {}}}})


def lines(*answers: tuple[int, Any]) -> bytes:
    return b"\n".join(json.dumps({"dialogue": "MUL1", "turn": n, "output": out}).encode() for n, out in answers)


def test_answers_line_by_line() -> None:
    content = lines((0, '{"hotel-area": "north"}'), (2, None), (1, "Thinking {maybe}... {'hotel': {'stars': 4}}"))
    [dialogue], notes = read_bytes("llm-output", content)
    assert [turn.predicted for turn in dialogue.turns] == [
        {"hotel": {"area": ("north",)}}, {"hotel": {"stars": ("4",)}}, {},
    ]  # fmt: skip
    assert notes.places == {NUMBER: ["dialogue MUL1, turn 1"], INVALID: ["dialogue MUL1, turn 2"]}
    with pytest.raises(DialgaugeError, match=r"MUL1, turn 0: this turn appears twice"):
        read_bytes("llm-output", lines((0, {}), (0, {})))
    with pytest.raises(DialgaugeError, match=r"line 2: .*Expected `int`"):
        read_bytes("llm-output", lines((0, {})) + b'\n{"dialogue": "a", "turn": "x", "output": 1}')


def test_the_last_object_of_an_answer_counts() -> None:
    assert answer_in('First {"a": 1}, no: {"b": {"c": 2}}.')[0] == {"b": {"c": 2}}
    assert answer_in("{'a': 'it\\'s'}")[0] == {"a": "it's"}
    for text in ("", "{", "}{", "{" * 1000, "{[" * 500, "a {b} c", '{"a": 1' + "0" * 5000 + "}"):
        assert answer_in(text)[0] in (None, {})


@settings(max_examples=examples(300), deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=12,
    )
)
def test_whatever_a_model_puts_out_becomes_a_state(value: Any) -> None:
    from collections import Counter

    seen: Counter[str] = Counter()
    state = loose_state(value, seen)
    for slots in state.values():
        assert all(values and all(isinstance(one, str) for one in values) for values in slots.values())
    assert isinstance(value, dict | str) or seen[INVALID] == 1


def test_invalid_outputs_are_scored_and_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    gold = {"MUL1": {str(n): {"gt": {"hotel": {"stars": "4", "area": "centre"}}} for n in range(4)}}
    (tmp_path / "gold.json").write_text(json.dumps(gold))
    answers = [{"hotel": {"stars": 4, "area": "centre"}}, '{"hotel": {"stars": "4 stars", "area": "city center"}}',
               "Sorry!", {"hotel": {"stars": "4", "area": "centre", "name": "N/A"}}]  # fmt: skip
    (tmp_path / "mine.jsonl").write_bytes(lines(*enumerate(answers)))
    arguments = ("score", tmp_path / "gold.json", tmp_path / "mine.jsonl", "-m", "JGA", "--no-intervals")
    strict = run(capsys, *arguments, "--json", tmp_path / "a.json", "--run", "--store", tmp_path / "runs")
    found = json.loads((tmp_path / "a.json").read_text())["systems"][0]
    assert (strict.code, found["turns"], found["scores"]["JGA"]["value"]) == (0, 4, 0.25)
    assert {one["what"]: (one["count"], one["places"]) for one in found["remarks"]} == {
        NUMBER: (1, ["dialogue MUL1, turn 0"]), INVALID: (1, ["dialogue MUL1, turn 2"]),
    }  # fmt: skip
    assert "mine: numbers read as texts: 1 (first in dialogue MUL1, turn 0); invalid outputs" in strict.out
    [manifest] = dialgauge.Store(tmp_path / "runs").list()
    assert run(capsys, "score", "--from", manifest.id, "--store", tmp_path / "runs").out == strict.out
    lenient = run(capsys, *arguments, "-p", "llm", "--sensitivity")
    assert "75.00" in lenient.out and "words for absent" in lenient.out and "parts of town" in lenient.out
