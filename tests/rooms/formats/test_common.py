"""Common files: documented names, exactly one reading, and values that stay what the file says."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import dialgauge
from dialgauge import DialgaugeError
from dialgauge.formats import Field, Mapping

FLAT = {"hotel-area": "north", "hotel-stars": "4"}
STATE = {"hotel": {"area": ("north",), "stars": ("4",)}}
WRITTEN: dict[str, Any] = {
    "nested": {"hotel": {"area": "north", "stars": "4"}},
    "flat": FLAT,
    "strings": ["hotel-area-north", "hotel-stars-4"],
    "pairs": [["hotel-area", "north"], ["hotel-stars", "4"]],
    "triples": [["hotel", "area", "north"], ["hotel", "stars", "4"]],
    "objects": [{"slot": "hotel-area", "value": "north"}, {"slot": "hotel-stars", "value": "4"}],
    "multiwoz": {"hotel": {"semi": {"area": "north", "stars": "4"}, "book": {"booked": [], "day": ""}}},
    "equations": "hotel-area=north; hotel-stars: 4",
    "spans": "[hotel] area north stars 4",
}


def predicted(source: Any, **how: Any) -> list[Any]:
    return [turn.predicted for dialogue in dialgauge.read(source, **how) for turn in dialogue.turns]


@pytest.mark.parametrize("decoder", WRITTEN)
def test_exactly_one_decoder_reads_each_way_of_writing(decoder: str) -> None:
    rows = [{"dialogue_id": "d", "turn": turn, "pred": state} for turn, state in enumerate([[], WRITTEN[decoder]])]
    corpus = dialgauge.read(rows)
    assert [turn.predicted for turn in corpus[0].turns] == [{}, STATE]
    assert corpus.notes.reading is not None
    assert corpus.notes.reading.line() == f"rows [], dialogue=dialogue_id, turn=turn, predicted=pred as {decoder}"
    opened = [{**row, "pred": json.dumps(row["pred"])} for row in rows]
    if not isinstance(WRITTEN[decoder], str):
        assert predicted(opened) == [{}, STATE]


@pytest.mark.parametrize(
    "source",
    [
        {"d": [{}, FLAT]},
        {"d": {"0": {}, "1": FLAT}},
        {"d": {"1": {}, "2": FLAT}},
        {"d": [{"belief": {}}, {"belief": FLAT}]},
        [{"id": "d", "turns": [{"pred": {}}, {"pred": FLAT}]}],
        [{"dial_id": "d", "turn_idx": turn, "state": state} for turn, state in ((1, FLAT), (0, {}))],
        [{"dialogue": "d", "turn_id": turn, "prediction": state} for turn, state in (("1", {}), ("3", FLAT))],
    ],
)
def test_layouts_that_need_no_mapping(source: Any, tmp_path: Path) -> None:
    assert predicted(source) == [{}, STATE]
    (tmp_path / "preds.json").write_text(json.dumps(source), encoding="utf-8")
    assert predicted(tmp_path / "preds.json") == [{}, STATE]


def rows_of(*states: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"dialogue_id": "d", "turn": turn, "state": state, **more} for turn, state in enumerate(states)]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (rows_of({}, FLAT, prediction=FLAT), "more than one reading is possible: which is predicted"),
        (rows_of({}, FLAT, id="x"), "the dialogue may be dialogue_id or id"),
        (rows_of({}, FLAT, output=FLAT), "the states may be state or output"),
        (rows_of(FLAT, speaker="system"), "'speaker' says system"),
        (rows_of(FLAT, {"hotel": {"area": "x"}}), "is no"),
        ([{"dialogue_id": "d", "turn": 3, "state": FLAT}], "'d' begins at 3"),
        ([{"dialogue_id": "d", "turn": 0, "belief_state": FLAT}], "no field of the rows is a state"),
        ([{"dialogue_id": "d", "turn": "0a", "state": FLAT}], "is no number of a turn"),
    ],
)
def test_what_can_be_read_in_several_ways_or_in_none_is_refused(
    rows: list[dict[str, Any]], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "preds.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(DialgaugeError) as raised:
        dialgauge.read(path)
    assert words in str(raised.value)


def test_plain_states_are_those_of_the_side_that_they_are_given_as(tmp_path: Path) -> None:
    for name, area in (("gold", "north"), ("mine", "south")):
        content = {"d": [{"hotel-area": "north"}, {"hotel-area": area}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    [run] = dialgauge.score(tmp_path / "gold.json", [tmp_path / "mine.json"], measures="JGA", intervals=False).runs
    assert run.scores["JGA"].value == 0.5


VALUES = ["-", "nan", "4.0", "01:00:00", " outer ", "'quoted'", "c:d", "a, b"]


@pytest.mark.parametrize("value", VALUES)
def test_values_are_what_the_file_says(value: str, tmp_path: Path) -> None:
    expected = [{"restaurant": {"name": (value,)}}]
    cells = io.StringIO()
    table = csv.writer(cells)
    table.writerows([["dialogue_id", "turn", "state"], ["d", 0, json.dumps({"restaurant-name": value})]])
    path = tmp_path / "cells.csv"
    path.write_text(cells.getvalue(), encoding="utf-8")
    assert predicted(path) == expected
    assert predicted(rows_of([f"restaurant-name-{value}"])) == expected
    assert predicted(rows_of([["restaurant", "name", value]])) == expected
    wide = tmp_path / "wide.csv"
    cells.seek(0)
    cells.truncate()
    table.writerows([["id", "t", "restaurant-name"], ["d", 0, value]])
    wide.write_text(cells.getvalue(), encoding="utf-8")
    mapping = Mapping(reads="states", dialogue="id", turn="t", predicted=Field(columns="^(restaurant-.+)$"))
    assert predicted(wide, format=mapping) == expected


def test_verbatim_scores_what_the_file_says(tmp_path: Path) -> None:
    gold = {"d": [{"hotel-stars": "4"}]}
    for value, score in (("4", 1.0), ("4.0", 0.0), (" 4", 0.0)):
        [run] = dialgauge.score(
            gold, {"x": rows_of({"hotel-stars": value})}, profile="verbatim", measures="JGA", intervals=False
        ).runs
        assert run.scores["JGA"].value == score


def test_a_key_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "preds.jsonl"
    state = '{"hotel-area": "a", "hotel-area": "b"}'
    for given in (state, json.dumps(state)):
        path.write_text(f'{{"dialogue_id": "d", "turn": 0, "state": {given}}}\n', encoding="utf-8")
        with pytest.raises(DialgaugeError, match="twice"):
            dialgauge.read(path)
