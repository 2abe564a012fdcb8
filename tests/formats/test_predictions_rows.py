"""Tables with a row per slot or turn that hold more than one run, or gold beside predictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dialgauge
from dialgauge.dialogue import State
from dialgauge.errors import DialgaugeError
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
    both.write_text(json.dumps([{**row, "target": row["prediction"] if row["turn"] else "T5 failed"} for row in rows]))
    assert "1 of 12 outputs were not understood" in command(capsys, "score", "self", both, "-m", "JGA").err


def test_targets_that_number_their_slots_are_gold() -> None:
    prompt = "7=hotel-area 8=hotel-stars [user] hi"
    rows = [
        {"dialogue_id": "A", "turn": 0, "input": prompt, "target": "[states] 7=north", "prediction": "[states] 8=4"}
    ]
    [turn] = dialgauge.read(rows).dialogues[0].turns
    assert (turn.state, turn.predicted) == (NORTH, {"hotel": {"stars": ("4",)}})
    for state in ("[states] 9=1", "[states] 8=4 9=1"):  # a number that nothing names
        assert dialgauge.read([{**rows[0], "target": state}]).dialogues[0].turns[0].predicted == turn.predicted
