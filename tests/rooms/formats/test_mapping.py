"""Mappings: every key of the grammar reads what it says, and what does not fit is one sentence with its place."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

import dialgauge
from dialgauge import DialgaugeError, Dialogue, Turn
from dialgauge.formats import Field, Mapping, parts_of, propose_mapping

NORTH = {"hotel": {"area": ("north",)}}


def written(folder: Path, content: object, mapping: str = "", name: str = "preds.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    if mapping:
        (folder / f"{name}.map.yaml").write_text(mapping, encoding="utf-8")
    return path


def states(source: Any, **how: Any) -> dict[str, list[Any]]:
    return {d.id: [turn.predicted for turn in d.turns] for d in dialgauge.read(source, **how).dialogues}


def test_rows_bind_keys_and_fields_stand_in_the_row_around_it_and_in_the_name_of_the_file(tmp_path: Path) -> None:
    content = {"runs": {"MUL1": {"split": "test", "turns": [{"t": 3, "out": [["hotel", "area", "north"]]}]}}}
    mapping = "rows: runs.{dialogue}.turns[]\nturn: {at: t, first: 1, step: 2}\npredicted: {at: out, as: triples}"
    path = written(tmp_path, content, f"reads: states\n{mapping}")
    assert states(path) == {"MUL1": [None, NORTH]}
    above = mapping.replace("turn:", "dialogue: ^split\nturn:")
    assert states(written(tmp_path, content, f"reads: states\n{above}")) == {"test": [None, NORTH]}
    named = mapping.replace("turn:", "dialogue: {at: $file, match: '^(?P<dialogue>\\w+)'}\nturn:")
    assert states(written(tmp_path, content, f"reads: states\n{named}")) == {"preds": [None, NORTH]}
    folder = mapping.replace("turn:", "dialogue: {at: $path, match: '(?P<dialogue>[^/]+)/preds'}\nturn:")
    assert states(written(tmp_path, content, f"reads: states\n{folder}")) == {tmp_path.name: [None, NORTH]}


def test_where_chooses_rows_and_match_takes_ids_apart(tmp_path: Path) -> None:
    lines = [
        {"key": "MUL1/0", "epoch": 1, "out": {"hotel-area": "south"}},
        {"key": "MUL1/0", "epoch": 2, "out": {"hotel-area": "north"}},
    ]
    mapping = Mapping(
        reads="states",
        where={"epoch": 2},
        dialogue=Field(at="key", match=r"^(?P<dialogue>.+)/(?P<turn>\d+)$"),
        predicted=Field(at="out", written="flat"),
    )
    assert states(lines, format=mapping) == {"MUL1": [NORTH]}
    everything = msgspec.structs.replace(mapping, where={})
    with pytest.raises(DialgaugeError, match="row 2: this turn appears twice"):
        states(lines, format=everything)


def test_a_pattern_takes_no_longer_than_its_texts_are_long() -> None:
    lines = [{"id": "a" * 5000 + "!", "t": 0, "out": {}}]
    field = Field(at="id", match=r"^(?P<dialogue>(a+)+)$")
    begun = time.process_time()
    mapping = Mapping(reads="states", dialogue=field, turn="t", predicted=Field(at="out", written="flat"))
    assert list(states(lines, format=mapping)) == ["a" * 300]
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(("missing", "expected"), [("", None), ("empty", {}), ("carry", NORTH)])
def test_a_turn_without_a_row(missing: Any, expected: Any) -> None:
    rows = [{"id": "d", "turn": turn, "s": {"hotel-area": "north"}} for turn in (0, 2)]
    mapping = Mapping(
        reads="states", dialogue="id", turn="turn", predicted=Field(at="s", written="flat"), missing=missing
    )
    assert states(rows, format=mapping) == {"d": [NORTH, expected, NORTH]}


@pytest.mark.parametrize(("missing", "score"), [("empty", 1), ("carry", 1 / 2)])
def test_turns_without_a_row_at_the_end_of_a_dialogue(missing: Any, score: float) -> None:
    rows = [{"id": "d", "turn": turn, "s": {"hotel-area": "north"}} for turn in (0, 1)]
    mapping = Mapping(reads="states", dialogue="id", turn="turn", predicted=Field(at="s"), missing=missing)
    read = dialgauge.read(rows, format=mapping)
    gold = {"d": [NORTH, NORTH, {}, {}]}
    assert float(dialgauge.score(gold, {"mine": read}, measures="JGA", intervals=False)[0]["JGA"]) == score


def test_a_number_inside_of_a_text_is_refused_with_the_pattern_that_takes_it_out() -> None:
    lines = [{"key": f"MUL1-{turn}", "out": {"hotel-area": "north"}} for turn in range(2)]
    mapping = Mapping(reads="states", dialogue="key", turn="key", predicted=Field(at="out", written="flat"))
    with pytest.raises(DialgaugeError, match="match: '"):
        dialgauge.read(lines, format=mapping)


def test_changes_add_up_and_an_absent_value_empties_its_slot() -> None:
    rows = [
        {"id": "d", "s": {"hotel-area": "north", "hotel-stars": "4"}},
        {"id": "d", "s": {"hotel-stars": "none"}},
        {"id": "d", "s": {}},
    ]
    mapping = Mapping(reads="states", dialogue="id", predicted=Field(at="s", written="flat", changes=True))
    assert states(rows, format=mapping) == {"d": [{"hotel": {"area": ("north",), "stars": ("4",)}}, NORTH, NORTH]}


def test_a_row_per_slot_a_column_per_slot_and_values_that_are_absent(tmp_path: Path) -> None:
    long = "dial,t,domain,slot,mine,gold\nd,0,hotel,area,north,south\nd,0,hotel,stars,-,4\n"
    mapping = "reads: states\ndialogue: dial\nturn: t\nabsent: ['-']\n"
    path = written(tmp_path, long, f"{mapping}slot: [domain, slot]\npredicted: mine\ngold: gold", "long.csv")
    [dialogue] = dialgauge.read(path).dialogues
    assert dialogue.turns[0].predicted == NORTH
    assert dialogue.turns[0].state == {"hotel": {"area": ("south",), "stars": ("4",)}}
    wide = "d|0|north|-\n"
    mapping += "header: [dial, t, p:hotel-area, p:hotel-stars]\npredicted: {columns: '^p:(.+)$'}"
    assert states(written(tmp_path, wide, mapping, "wide.txt")) == {"d": [NORTH]}


def test_answers_of_models_are_read_and_those_without_an_object_are_invalid() -> None:
    rows = [
        {"id": "d", "t": 0, "o": 'Well, {"hotel-area": "south"}? No: {"hotel-area": "north"}.'},
        {"id": "d", "t": 1, "o": "I am sorry."},
    ]
    mapping = Mapping(reads="states", dialogue="id", turn="t", predicted=Field(at="o", written=("answer", "flat")))
    corpus = dialgauge.read(rows, format=mapping)
    assert [turn.predicted for turn in corpus[0].turns] == [NORTH, {}]
    assert corpus.notes.counts["invalid outputs, scored as empty predictions"] == 1
    nested = msgspec.structs.replace(mapping, predicted=Field(at="o", written=("answer", "nested")))
    with pytest.raises(DialgaugeError, match="no answer can be read"):
        dialgauge.read(rows, format=nested)


GOOD = "reads: states\ndialogue: id\nturn: t\npredicted: {at: out.txt, as: equations}\n"
ROWS = [{"id": "d", "t": 0, "out": {"txt": "hotel-area=north"}}, {"id": "d", "t": 1, "out": {"txt": "hotel area"}}]


@pytest.mark.parametrize(
    ("mapping", "place", "words"),
    [
        (GOOD, 4, "row 2: predicted: 'hotel area' is not domain-slot=value"),
        (GOOD.replace("out.txt", "out.text"), 4, "'out.text' is missing; there is txt. Did you mean 'out.txt'?"),
        (GOOD.replace("turn", "tern"), 3, "there is no key 'tern'. Did you mean 'turn'"),
        (GOOD.replace("equations", "equation"), 4, "no decoder 'equation'. Did you mean 'equations'"),
        (GOOD.replace("at: out.txt", "at: {CHOOSE: [out, txt]}"), 4, "choose what predicted.at is: out or txt"),
        (GOOD.replace("dialogue: id", "dialogue: {at: id, match: '('}"), 2, "cannot be used"),
        (GOOD + "rows: results[]\n", 5, "rows: 'results[]' needs an object, and there is"),
        (GOOD + "slot: area\n", 5, "'slot' is a list; put it in brackets"),
        ("reads: states\ndialogue: id\n", 1, "neither where predicted nor where gold"),
    ],
)
def test_what_does_not_fit_is_said_with_the_line_of_the_mapping(
    mapping: str, place: int, words: str, tmp_path: Path
) -> None:
    path = written(tmp_path, "".join(json.dumps(row) + "\n" for row in ROWS), mapping, "preds.jsonl")
    with pytest.raises(DialgaugeError) as raised:
        dialgauge.read(path)
    sentence = str(raised.value)
    assert words in sentence
    assert f"line {place}" in sentence
    assert "preds.jsonl.map.yaml" in sentence


def test_a_mapping_is_named_by_its_file_and_stands_in_the_record_and_the_signature(tmp_path: Path) -> None:
    rows = [{"id": "d", "t": 0, "out": {"hotel-area": "north"}}]
    path, mine = written(tmp_path, rows), tmp_path / "mine.yaml"
    mine.write_text("reads: states\ndialogue: id\nturn: t\npredicted: {at: out, as: flat}\n", encoding="utf-8")
    gold = {"d": [{"hotel-area": "north"}]}
    [run] = dialgauge.score(gold, {"x": path}, pred_format=str(mine), measures="JGA", intervals=False).runs
    assert "MAP=" in str(run.signature)
    mine.write_text(mine.read_text(encoding="utf-8") + "# another\n", encoding="utf-8")
    [other] = dialgauge.score(gold, {"x": path}, pred_format=str(mine), measures="JGA", intervals=False).runs
    assert str(run.signature) != str(other.signature)
    assert any(source.path == str(mine) and source.role == "mapping" for source in run.manifest.inputs)


def test_a_mapping_in_an_archive_is_a_document(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("a.json", json.dumps([{"id": "d", "turn": 0, "out": {"hotel-area": "north"}}]))
        archive.writestr("a.json.map.yaml", "reads: states\ndialogue: id\nturn: turn\npredicted: {at: out, as: flat}")
    with pytest.raises(DialgaugeError, match="no known layout"):
        dialgauge.read(tmp_path / "all.zip")


def test_a_function_reads_records() -> None:
    def dialogue(record: dict[str, Any]) -> Dialogue | None:
        return Dialogue(id=record["name"], turns=(Turn(speaker="user", text="hi"),)) if "name" in record else None

    assert [each.id for each in dialgauge.read([{"name": "a"}, {}, {"name": "b"}], format=dialogue)] == ["a", "b"]


def test_a_proposal_reads_its_file_and_names_what_is_left_out(tmp_path: Path) -> None:
    content = {"MUL1": {"t1": {"s": {"hotel-area": "north"}, "note": 1}, "t2": {"s": {"hotel-area": "south"}}}}
    path = written(tmp_path, content)
    proposal = propose_mapping(parts_of(str(path))[0])
    assert "CHOOSE" not in proposal
    assert "# MUL1, turn 0: hotel-area=north\n" in proposal
    assert "# not read (share of rows): note (50%)\n" in proposal
    (tmp_path / "preds.json.map.yaml").write_text(proposal, encoding="utf-8")
    south = {"hotel": {"area": ("south",)}}
    assert states(path) == {"MUL1": [NORTH, south]}


def test_two_columns_of_states_are_left_open(tmp_path: Path) -> None:
    rows = [{"id": "d", "turn": turn, "a": {"hotel-area": "x"}, "b": {"hotel-area": "y"}} for turn in range(2)]
    path = written(tmp_path, rows)
    (tmp_path / "preds.json.map.yaml").write_text(propose_mapping(parts_of(str(path))[0]), encoding="utf-8")
    with pytest.raises(DialgaugeError, match=r"choose what predicted\.at is: a or b"):
        dialgauge.read(path)


def test_a_proposal_keeps_rows_of_users_and_offers_numbers_as_turns(tmp_path: Path) -> None:
    rows = [
        {"dialogue_id": "d", "turn": 2 * turn + system, "speaker": who, "pred": {} if system else {"hotel-area": "x"}}
        for turn in range(3)
        for system, who in enumerate(("USER", "SYSTEM"))
    ]
    assert "where: {speaker: USER}\n" in propose_mapping(parts_of(str(written(tmp_path, rows)))[0])
    others = [{"talk": "abc", "said": 2 * turn + 1, "s": {"hotel-area": "x"}} for turn in range(3)]
    proposal = propose_mapping(parts_of(str(written(tmp_path, others)))[0])
    assert "dialogue:\n  CHOOSE: [talk, $file]\n" in proposal
    assert "turn:\n  at:\n    CHOOSE: [said]\n  first: 1\n  step: 2\n" in proposal
