"""Tables with a row per slot or turn that hold more than one run, or gold beside predictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars
import pytest

import dialgauge
from dialgauge.dialogue import State
from dialgauge.errors import DialgaugeError
from dialgauge.formats import INVALID
from support.commands import dialgauge as command

NORTH: State = {"hotel": {"area": ("north",)}}


def slot_rows(**columns: list[Any]) -> list[dict[str, Any]]:
    """Ten turns with an area and stars each, once for each value of the columns."""
    [runs] = columns.items()
    return [
        {"dialogue_id": "A", "turn": turn, "slot": slot, "value": value, runs[0]: run}
        for run in runs[1]
        for turn in range(10)
        for slot, value in (("hotel-area", "north"), ("hotel-stars", "4"))
    ]


@pytest.mark.parametrize(("column", "runs"), [("seed", [0, 1]), ("model", ["t5", "gpt"]), ("run", ["1", "2"])])
def test_runs_that_agree_are_refused(column: str, runs: list[Any]) -> None:
    named = f"{runs[0]!r} and {runs[1]!r} as its {column}; keep the rows of one of them"
    with pytest.raises(DialgaugeError, match=named):
        dialgauge.read(slot_rows(**{column: runs})[:-3])
    states = [{"dialogue_id": "A", "turn": 0, "state": {"hotel-area": "north"}, column: run} for run in runs]
    with pytest.raises(DialgaugeError, match=named):
        dialgauge.read(states)
    assert len(dialgauge.read(slot_rows(**{column: runs[:1]})).dialogues[0].turns) == 10


def test_another_column_that_tells_repeated_slots_apart_is_named() -> None:
    with pytest.raises(DialgaugeError, match="hotel-area appears in this turn 2 times, with 'old' and 'new' as its of"):
        dialgauge.read(slot_rows(of=["old", "new"])[:-3])


def test_a_model_for_each_slot_is_one_run() -> None:
    rows = [{**row, "model": row["slot"]} for row in slot_rows(seed=[0])]
    assert dialgauge.read(rows).dialogues[0].turns[9].predicted == {"hotel": {"area": ("north",), "stars": ("4",)}}


def test_runs_that_were_appended_are_refused() -> None:
    appended = [{**row, "note": ""} for row in slot_rows(note=["", ""])]
    with pytest.raises(DialgaugeError, match=r"hotel-area comes twice in this turn.*and so do 9 slots; if two runs"):
        dialgauge.read([row for row in appended[:-1] if row["slot"] == "hotel-area" or row["turn"] == 3][:-2])
    assert len(dialgauge.read(appended).dialogues[0].turns) == 10  # the same table twice
    beside = sorted(appended[:-3], key=lambda row: (row["turn"], row["slot"]))
    assert len(dialgauge.read(beside).dialogues[0].turns) == 10  # a model that repeats itself


def test_rows_of_gold_beside_rows_of_predictions() -> None:
    rows = [
        {**row, "value": "east" if row["source"] == "gold" else "north"} for row in slot_rows(source=["gold", "pred"])
    ]
    area = [row for row in rows if row["slot"] == "hotel-area"]
    missing = [row for row in area if row["source"] == "gold" or row["turn"] != 9]
    dialogue = dialgauge.read(missing).dialogues[0]
    assert [turn.state for turn in dialogue.turns] == [{"hotel": {"area": ("east",)}}] * 10
    assert [turn.predicted for turn in dialogue.turns] == [NORTH] * 9 + [{}]
    states = [
        {"id": "A", "turn": turn, "type": kind, "state": {"hotel-area": kind}}
        for turn in range(2)
        for kind in ("truth", "model")
    ]
    [turn, _] = dialgauge.read(states).dialogues[0].turns
    assert (turn.state, turn.predicted) == ({"hotel": {"area": ("truth",)}}, {"hotel": {"area": ("model",)}})


def test_gold_of_the_file_that_cannot_be_read_stops_no_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"dialogue_id": "A", "turn": turn, "prediction": {"hotel-area": "north"}} for turn in range(12)]
    gold, both = tmp_path / "gold.json", tmp_path / "both.json"
    gold.write_text(json.dumps({"A": {str(turn): {"gt": {"hotel": {"area": "north"}}} for turn in range(12)}}))
    both.write_text(json.dumps([{**row, "target": "T5 failed here ..."} for row in rows]))
    outcome = command(capsys, "score", gold, both, "-m", "JGA", "--resamples", "0")
    assert outcome.code == 0
    assert (
        "gold states in the file that cannot be read, left out: 12 (first in dialogue A, turn 0: 'T5 f" in outcome.out
    )


def test_gold_and_predictions_in_one_object() -> None:
    both = {"gold": {"A1": [{}, {"hotel-area": "north"}]}, "pred": {"A1": [{}, {"hotel-area": "east"}]}}
    turn = dialgauge.read(both).dialogues[0].turns[1]
    assert (turn.state, turn.predicted) == (NORTH, {"hotel": {"area": ("east",)}})
    with pytest.raises(DialgaugeError, match="2 sets of predictions, under 'greedy' and 'beam'"):
        dialgauge.read({"greedy": both["gold"], "beam": both["pred"]})


def test_names_in_two_rows_lose_no_row(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",,gold,pred\ndialogue_id,turn,hotel-area,hotel-area\nA,0,,\nA,1,north,east\n")
    first, second = dialgauge.read(path).dialogues[0].turns
    assert (first.state, first.predicted) == ({}, {})
    assert (second.state, second.predicted) == (NORTH, {"hotel": {"area": ("east",)}})


def test_what_a_pickle_is_to_be_written_as_is_read(tmp_path: Path) -> None:
    predictions = {("A", 0): {}, ("A", 1): {"hotel-area": "north"}}
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps({str(key): value for key, value in predictions.items()}))
    assert [turn.predicted for turn in dialgauge.read(path).dialogues[0].turns] == [{}, NORTH]


def test_settings_beside_predictions_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "predictions.json").write_text(json.dumps({"A": [{"hotel-area": "north"}], "B": [{}]}))
    (tmp_path / "config.json").write_text(json.dumps({"model": "t5", "adam_beta1": 0.9, "slots": {"max": 3}}))
    (tmp_path / "train.log").write_text("epoch 1 loss 2.3\n")
    corpus = dialgauge.read(tmp_path)
    assert [dialogue.id for dialogue in corpus.dialogues] == ["A", "B"]
    assert corpus.notes.counts == {"files passed over, which hold no dialogues or predictions": 2}
    (tmp_path / "more.json").write_text(json.dumps({"hotel-area": "north"}))  # a state that says not whose
    with pytest.raises(DialgaugeError, match=r"more\.json: no known format fits it"):
        dialgauge.read(tmp_path)


def test_a_frame_with_lists_of_slots_holds_predictions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = {"slot": "hotel-area", "value": "north"}
    frame = polars.DataFrame({"dialogue_id": ["A", "A"], "turn_id": [0, 1], "state": [[], [pair]]})
    frame.write_parquet(tmp_path / "states.parquet")
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps({"A": {"0": {"gt": {}}, "1": {"gt": {"hotel": {"area": "north"}}}}}))
    for named in (
        (gold, tmp_path / "states.parquet"),
        (tmp_path / "states.parquet", f"same={tmp_path / 'lines.jsonl'}"),
    ):
        (tmp_path / "lines.jsonl").write_text("".join(json.dumps(row) + "\n" for row in frame.to_dicts()))
        assert "JGA" in command(capsys, "score", *named, "-m", "JGA", "--resamples", "0").out
    model = frame.with_columns(text=polars.lit("hello"))  # the dialogues themselves, with their states
    assert [turn.state for turn in dialgauge.read(model).dialogues[0].turns] != [None, None]


def test_messages_that_a_model_answers_with_states() -> None:
    def talk(*answers: str) -> list[dict[str, str]]:
        said = [({"role": "user", "content": "hi"}, {"role": "assistant", "content": answer}) for answer in answers]
        return [{"role": "system", "content": "track"}, *(message for pair in said for message in pair)]

    states = talk("{}", 'Sure: ```json\n{"hotel-area": "north"}\n```', '{"hotel": {"area": "north"}}')
    for written in ({"A1": {"messages": states}}, [{"dialogue_id": "A1", "messages": states}]):
        assert [turn.predicted for turn in dialgauge.read(written).dialogues[0].turns] == [{}, NORTH, NORTH]
    mixed = {"A1": {"messages": states}, "A2": {"messages": talk("{}")}, "A3": {"messages": talk("{}", "{}", "Sorry!")}}
    corpus = dialgauge.read(mixed)
    assert [turn.predicted for name in ("A2", "A3") for turn in corpus[name].turns] == [{}, {}, {}, {}]
    assert corpus.notes.counts[INVALID] == 1
    by_turn = [{"custom_id": f"A1|{turn}", "messages": states[: 2 * turn + 3]} for turn in range(3)]
    assert [turn.predicted for turn in dialgauge.read(by_turn)["A1"].turns] == [{}, NORTH, NORTH]
    for other in ("It is in the north.", '{"action": "search"}'):
        conversation = {"A1": {"messages": talk('{"hotel-area": "north"}', other)}}
        assert dialgauge.read(conversation).format == "messages"
        with pytest.raises(DialgaugeError, match="no turn has a state"):
            dialgauge.score({"A1": [NORTH, NORTH]}, conversation)


@pytest.mark.parametrize(("text", "told", "dialogue"), [
    ("\nhotel-area: north; hotel-stars: 4\n", "a state alone does not say whose it is", "dialogue-1"),
    ("== MUL0001.json\nturn 0: \nturn 1: hotel-area=north\n", "a line names a dialogue", "MUL0001.json"),
])  # fmt: skip
def test_texts_that_do_not_say_whose_states_they_hold(text: str, told: str, dialogue: str, tmp_path: Path) -> None:
    (tmp_path / "generated.txt").write_text(text)
    with pytest.raises(DialgaugeError, match=told) as caught:
        dialgauge.read(tmp_path / "generated.txt")
    assert f'{{"dialogue_id":"{dialogue}","turn":1,"state":{{"hotel-area":"north"}}}}' in caught.value.example
