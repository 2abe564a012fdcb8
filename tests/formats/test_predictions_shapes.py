"""Predictions in shapes of model APIs, trainers, spreadsheets and notebooks: read, or refused with what to do."""

from __future__ import annotations

import json
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas
import pytest

import dialgauge
from dialgauge.errors import DialgaugeError
from dialgauge.formats import LAST_RESORT

IDS = ("MUL0001", "PMUL0002")
STATES: list[dict[str, dict[str, str]]] = [
    {},
    {"hotel": {"area": "north"}},
    {"hotel": {"area": "north", "people": "2"}, "train": {"day": "friday"}},
]


def flat(state: dict[str, dict[str, str]]) -> dict[str, str]:
    return {f"{domain}-{slot}": value for domain, slots in state.items() for slot, value in slots.items()}


FLAT = [flat(state) for state in STATES]
ROWS = [(name, turn, state) for name in IDS for turn, state in enumerate(STATES)]
SLOTS = ("hotel-area", "hotel-people", "train-day")


def call(name: str, arguments: Any, key: str = "arguments") -> dict[str, Any]:
    return {"name": name, key: arguments}


def rows(**fields: Any) -> list[dict[str, Any]]:
    """A record a turn with its ids, and fields that functions make of its state."""
    return [
        {"dialogue_id": name, "turn": turn, **{key: make(state) for key, make in fields.items()}}
        for name, turn, state in ROWS
    ]


def table(*lines: list[str], cells: bool = True) -> str:
    held = [[name, str(turn), *(flat(state).get(slot, "") for slot in SLOTS)] for name, turn, state in ROWS]
    return "\n".join(",".join(line) for line in [*lines, *(held if cells else [])]) + "\n"


def goal(state: dict[str, dict[str, str]]) -> dict[str, Any]:
    return {
        domain: {
            "info": {slot: value for slot, value in slots.items() if slot != "people"},
            "booking": {slot: value for slot, value in slots.items() if slot == "people"},
            "fail_info": {},
        }
        for domain, slots in state.items()
    }


READ: dict[str, Any] = {
    "one call with all slots": rows(
        response=lambda state: {
            "content": None,
            "tool_calls": [{"type": "function", "function": call("update_state", json.dumps(flat(state)))}],
        }
    ),
    "a call a domain": rows(tool_calls=lambda state: [call(f"find_{name}", held) for name, held in state.items()]),
    "calls as the state": rows(state=lambda state: [call(name, held, "args") for name, held in state.items()]),
    "batch of Anthropic": [
        {"custom_id": f"{name}-{turn}",
         "result": {"type": "succeeded", "message": {"content": [call("set_state", flat(state), "input")]}}}
        for name, turn, state in ROWS],
    "batch of OpenAI": [
        {"custom_id": f"{name}-{turn}", "response": {"status_code": 200, "body": {"choices": [{"message": {
            "role": "assistant", "content": None, "tool_calls": [{"function": call("track", json.dumps(flat(state)))}],
        }}]}}} for name, turn, state in ROWS],
    "a call of Gemini": [
        {"key": f"{name}-{turn}", "response": {"candidates": [{"content": {"parts": [
            {"functionCall": call("set_state", flat(state), "args")}]}}]}} for name, turn, state in ROWS],
    "batch of responses": [
        {"id": f"batch_{name}_{turn}", "custom_id": f"{name}-{turn}", "response": {"body": {"output": [
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "text", "text": json.dumps(flat(state))}]},
        ]}}} for name, turn, state in ROWS],
    "outputs of vLLM": [
        {"request_id": f"{name}-{turn}", "outputs": [{"index": 0, "text": json.dumps(flat(state))}]}
        for name, turn, state in ROWS],
    "a goal of MultiWOZ": rows(state=goal),
    "domains beside slots": rows(predicted=lambda state: {
        "domains": list(state),
        "slots": [{"domain": name, "slot": slot, "value": value} for name, held in state.items()
                  for slot, value in held.items()]}),
    "objects of a domain": rows(state=lambda state: [{"domain": name, **held} for name, held in state.items()]),
    "services with lists": rows(state=lambda state: [
        {"service": name, "slots": [f"{slot}={value}" for slot, value in held.items()]}
        for name, held in state.items()]),
    "ids in an object": [
        {"metadata": {"dialogue_id": name, "turn_id": turn}, "output": json.dumps(flat(state))}
        for name, turn, state in ROWS],
    "lists of a trainer": {
        "predictions": [json.dumps(flat(state)) for _, _, state in ROWS],
        "label_ids": ["{}" for _ in ROWS],
        "metadata": [{"dialogue_id": name, "turn_id": turn} for name, turn, _ in ROWS]},
    "a table of wandb": {
        "columns": ["dialogue_id", "turn", "prediction", "reference"],
        "data": [[name, turn, json.dumps(flat(state)), "{}"] for name, turn, state in ROWS]},
    "turn of turns": [
        {"dialogue_id": name, "turn": f"{turn + 1}/3", "state": flat(state)} for name, turn, state in ROWS],
    "ids with paths": [
        {"file": f"data/test/{name}.json", "turn": turn, "pred": flat(state)} for name, turn, state in ROWS],
    "ids with the turn": [{"id": f"{name}.json/turn/{turn}", "state": flat(state)} for name, turn, state in ROWS],
    "target and output": rows(tgt=lambda state: "", out=lambda state: json.dumps(flat(state))),
    "new state beside updates": rows(prev_state=lambda _: {}, state_update=flat, new_state=flat),
    "columns of domains": rows(hotel=lambda state: state.get("hotel"), train_state=lambda state: state.get("train")),
    "flattened objects": table(["dialogue_id", "turn", *(f"output.state.{slot.replace('-', '.')}" for slot in SLOTS)]),
    "columns of turns": [
        {"dialogue_id": name, **{f"turn_{turn}": state for turn, state in enumerate(FLAT)}} for name in IDS],
    "rows of slots, columns of turns": table(
        ["dialogue_id", "slot", "turn 0", "turn 1", "turn 2"],
        *([name, slot, *(state.get(slot, "") for state in FLAT)] for name in IDS for slot in SLOTS), cells=False),
    "lists as texts": [{"dialogue_id": name, "states": json.dumps(FLAT)} for name in IDS],
    "lists of slots": {name: {slot: [state.get(slot, "") for state in FLAT] for slot in SLOTS} for name in IDS},
    "lists of domains": {
        name: {domain: [state.get(domain, {}) for state in STATES] for domain in ("hotel", "train")} for name in IDS},
    "keys with a bar": {f"{name}|{turn}": flat(state) for name, turn, state in ROWS},
    "informed and requested": rows(belief=lambda state: {"informed": state, "requested": {"hotel": ["phone"]}}),
    "informing acts": rows(state=lambda state: [f"inform({slot}={value})" for slot, value in flat(state).items()]),
    "by slot": {slot: {name: [state.get(slot, "") for state in FLAT] for name in IDS} for slot in SLOTS},
    "by turn": {str(turn): dict.fromkeys(IDS, state) for turn, state in enumerate(FLAT)},
    "turns of DAMD": {name: {"goal": {}, "turns": [
        {"turn_num": turn, "user": "", "constraint": {}, "pred_constraint": state} for turn, state in enumerate(FLAT)
    ]} for name in IDS},
    "a title above": table(["Predictions of X", "", "", "", ""], [], ["Dialogue", "Turn #", *SLOTS]),
    "dashes of a spreadsheet": table(["Dialogue", "Turn", *(slot.replace("-", " – ") for slot in SLOTS)]),
    "two levels of names": table(["dialogue_id", "turn", "hotel", "hotel", "train"], ["", "", "area", "people", "day"]),
    "two levels and an index": table(
        ["", "", "hotel", "hotel", "train"], ["", "", "area", "people", "day"], ["dialogue_id", "turn", "", "", ""]),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_shapes_that_are_read(name: str, tmp_path: Path) -> None:
    written = READ[name]
    path = tmp_path / "predictions.json"
    path.write_text(written if isinstance(written, str) else as_json(written))
    check(path, path)


@pytest.mark.parametrize("name", ["{}.json", "{}/ignored.json"])
def test_a_file_for_each_dialogue(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "preds"
    for each in IDS:
        path = folder / name.format(each)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(FLAT))
    if "/" in name:
        with pytest.raises(DialgaugeError, match="missing: the id of each dialogue"):
            dialgauge.read(folder)
    else:
        check(folder, folder)


def check(path: Path, source: Path) -> None:
    corpus = dialgauge.read(source)
    assert corpus.format == LAST_RESORT
    read = {
        dialogue.id.removesuffix(".json"): [
            {
                f"{domain}-{slot.removeprefix('book ')}": values[0]
                for domain, slots in (turn.predicted or {}).items()
                for slot, values in slots.items()
            }
            for turn in dialogue.user_turns()
        ]
        for dialogue in corpus.dialogues
    }
    assert read == dict.fromkeys(IDS, FLAT), path


def as_json(written: Any) -> str:
    return "\n".join(map(json.dumps, written)) if isinstance(written, list) else json.dumps(written)


REFUSED: dict[str, tuple[Any, str]] = {
    "epochs": (
        {f"epoch_{n}": dict.fromkeys(IDS, FLAT) for n in (1, 2)},
        "it holds 2 sets of predictions, under 'epoch_1' and 'epoch_2'; keep one of them",
    ),
    "two versions of rows": (
        [{"dialogue_id": "A1", "turn": 0, "type": kind, "state": FLAT[1]} for kind in ("raw", "fixed")],
        "this turn appears 2 times, with 'raw' and 'fixed' as its type; keep the rows of one of them",
    ),
    "merged tables": (
        table(["dialogue_id", "turn", "hotel-area_x", "hotel-area_y", "train-day"]),
        "'hotel-area_x' and 'hotel-area_y' are of two tables that pandas merged",
    ),
    "a column twice": (table(["dialogue_id", "turn", "hotel-area", "hotel-area.1", "t"]), "'hotel-area.1' is a second"),
    "unknown names": (
        rows(raw_state=flat, corrected_state=flat),
        "if it is 'raw_state' or 'corrected_state', call that 'prediction'",
    ),
    "seeds": (
        [{**row, "pred_3": {}} for row in rows(pred_1=flat, pred_2=flat)],
        "the columns 'pred_1', 'pred_2', 'pred_3' all hold predictions",
    ),
    "deletions beside changes that name no slot": (
        [{**row, "unset": ["the area"]} for row in rows(changes=flat)],
        "what 'unset' empties is said in 'changes', where changes are added up: write [DELETE]",
    ),
    "deletions beside states": (
        [{**row, "deleted_slots": ["hotel-area"]} for row in rows(prediction=flat)],
        "'deleted_slots' stands beside 'prediction': if that holds what each turn changes, call it 'changes'",
    ),
    "turns that failed first": (
        [
            row
            for good in rows(output=flat)
            for row in ({**good, "output": "", "error": "429"}, {**good, "error": None})
        ],
        "this turn appears 2 times, 1 of them with 'error'; where a turn is there again, keep the row without 'error'",
    ),
    "a key twice in a record": (
        '{"dialogue_id": "MUL0001", "turn": 0, "state": {}, "state": {"hotel-area": "north"}}\n' * 2,
        "a record has 'state' twice; keep one of them",
    ),
    "one state": (FLAT[2], "whose state it is: put the states of all turns into one file"),
    "lines of turns": ("Turn 1: hotel-area=north\nTurn 2: hotel-area=north\n", "does not say of which dialogue it is"),
    "a program": ("const predictions = {};", "write that value alone, with json.dump"),
    "a number below 0": (
        [{"dialogue_id": "A", "turn": -1, "state": FLAT[1]}],
        "the turn -1 is no number of a turn; number the turns 0, 1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_shapes_that_are_refused(name: str, tmp_path: Path) -> None:
    written, told = REFUSED[name]
    path = tmp_path / "mine"
    path.write_text(written if isinstance(written, str) else as_json(written))
    with pytest.raises(DialgaugeError) as caught:
        dialgauge.read(path)
    assert told in str(caught.value)


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    class Harm:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path(tmp_path / "harm").touch, ())

    for protocol in (2, 4, 5):
        (tmp_path / "mine.pkl").write_bytes(pickle.dumps(Harm(), protocol=protocol))
        with pytest.raises(DialgaugeError, match=r"Python pickle, which is never loaded .* json\.dump"):
            dialgauge.read(tmp_path / "mine.pkl")
    assert not (tmp_path / "harm").exists()


def test_the_example_has_the_name_of_the_file_and_its_first_state(tmp_path: Path) -> None:
    (tmp_path / "MUL0004.txt").write_text("Turn 1: hotel-area=north\nTurn 2: hotel-area=north\n")
    with pytest.raises(DialgaugeError) as caught:
        dialgauge.read(tmp_path)
    assert '{"dialogue_id":"MUL0004","turn":1,"state":{"hotel-area":"north"}}' in caught.value.example.splitlines()


def test_shapes_of_python_and_pandas() -> None:
    wide = pandas.DataFrame([{"dialogue_id": name, "turn": turn, **flat(state)} for name, turn, state in ROWS])
    levels = wide.set_index(["dialogue_id", "turn"])
    levels.columns = pandas.MultiIndex.from_tuples([tuple(str(column).split("-")) for column in levels.columns])
    pivot = pandas.DataFrame([{"dialogue_id": name, **dict(enumerate(FLAT))} for name in IDS])
    shapes: dict[str, Any] = {
        "melt": wide.melt(id_vars=["dialogue_id", "turn"]),
        "levels": levels,
        "pivot": pivot,
        "pairs as keys": {(name, turn): flat(state) for name, turn, state in ROWS},
        "pairs as slots": {name: [{tuple(slot.split("-")): value for slot, value in one.items()} for one in FLAT]
                           for name in IDS},
        "sets": {name: [{f"{slot}={value}" for slot, value in one.items()} for one in FLAT] for name in IDS},
    }  # fmt: skip
    gold: dict[str, Any] = dict.fromkeys(IDS, FLAT)
    results = dialgauge.score(gold, shapes, measures="JGA", intervals=False)
    assert {name: float(results[name]["JGA"]) for name in shapes} == dict.fromkeys(shapes, 1.0)


@pytest.mark.parametrize(
    "written",
    [
        {"": {"hotel-area": ["", "north"]}},
        [{"dialogue_id": "A", "turn": 0, "slot": "hotel-area", "value": {"a": 1}, "pred": {"a": 1}}],
        [{"dialogue_id": "A", "turn": 0, "tool_calls": [None, {"name": 5}, {"name": "f", "arguments": "{"}]}],
        {("A", 0): {"hotel-area": "north"}, None: {}},
    ],
)
def test_odd_values_end_in_a_sentence_or_a_reading(written: Any) -> None:
    with suppress(DialgaugeError):
        dialgauge.score({"A": [{"hotel-area": "north"}]}, {"odd": written}, intervals=False)
