"""Trackers compared: from dialogues, from runs in memory, and from stored runs, with the same result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dialgauge
from dialgauge import compare
from dialgauge.comparison import (
    Comparison,
    divergence_sizes,
)
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.report import run_page
from dialgauge.text import note_kind
from dialgauge.tracking import LAMBDAS, read_counts, sweep_counts
from support.trackers import gold_dialogues, tracker

MEASURES = ["JGA", "SA", "RSA", "FGA@0.5"]


@pytest.fixture(scope="module")
def compared() -> Comparison:
    gold = gold_dialogues()
    systems = {"good": tracker(gold, 0.05, 1), "bad": tracker(gold, 0.4, 2), "alike": tracker(gold, 0.07, 3)}
    return compare(gold, systems, measures=MEASURES, resamples=400)


def test_it_tells_good_from_bad_and_not_from_alike(compared: Comparison) -> None:
    assert compared.difference("good", "bad", "JGA").significant
    assert not compared.difference("good", "alike", "JGA").significant
    assert compared.corpus_values[:, 0].tolist() == [run.scores["JGA"].value for run in compared.runs.values()]


def test_measures_without_a_share_in_each_dialogue_are_named_not_dropped() -> None:
    gold = gold_dialogues(10)
    systems = {"a": tracker(gold, 0.1, 1), "b": tracker(gold, 0.2, 2)}
    found = compare(gold, systems, measures=["JGA", "F1(average=slot)"], resamples=100)
    assert found.measures == ("JGA",)
    assert any("F1(average=slot) cannot be compared" in note for note in found.notes)
    with pytest.raises(DialgaugeError, match="name another measure too"):
        compare(gold, systems, measures=["F1(average=slot)"], resamples=100)


def test_how_predictions_were_read_is_said_as_beside_scores(tmp_path: Path) -> None:
    gold = {f"MUL{n}": [{"hotel-area": "north", "hotel-stars": "4"}] * 3 for n in range(8)}
    files = {}
    for name, value in (("numbers", 4), ("texts", "4")):
        state = {"hotel": {"area": ["north", "x"], "stars": value}}
        files[name] = tmp_path / f"{name}.json"
        files[name].write_text(json.dumps({key: {turn: {"pr": state} for turn in range(3)} for key in gold}))
    notes = dialgauge.score(gold, files, measures="JGA", intervals=False).notes
    told = [note for note in notes if note_kind(note) == "remarks"]
    assert [note.partition(": ")[0] for note in told] == ["numbers"]
    assert told[-1] == "numbers: numbers read as texts: 24 (first in dialogue MUL0, turn 0)"
    found = compare(gold, files, measures="JGA", resamples=100)
    assert [note for note in found.notes if note in told] == found.reading_notes == told


def test_the_sweep_gives_the_scorers_fga(compared: Comparison) -> None:
    sweep = sweep_counts({name: read_counts(run) for name, run in compared.runs.items()})
    for name, run in compared.runs.items():
        flexible = dict(zip(LAMBDAS, sweep[name], strict=True))
        assert [flexible[0.0], flexible[0.5]] == pytest.approx([run["JGA"], run["FGA@0.5"]])
        of_run = {row["λ"]: row[name] for row in run_page(run, ["sweep"]).tables["sweep"].records()}
        assert of_run == {rate: pytest.approx(value) for rate, value in flexible.items()}


def test_differences_come_largest_first_and_add_up(compared: Comparison) -> None:
    parts = divergence_sizes(compared, "good", "bad", "JGA").values()
    sizes = [abs(part) for part in parts]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(parts) == pytest.approx(compared.difference("good", "bad", "JGA").difference)


def test_unlike_scoring_is_said() -> None:
    gold = gold_dialogues(3)
    first = tracker(gold, 0.1, 1)
    short = [Dialogue(id=one.id, turns=one.turns[:-1] if place == 1 else one.turns) for place, one in enumerate(first)]
    judged = [
        Dialogue(id=one.id, turns=tuple(Turn(speaker="user", judged={"hotel": {"area": True}}) for _ in one.turns))
        for one in gold
    ]
    compared = compare(gold, {"a": first, "b": short, "c": judged}, resamples=20)
    assert "1 dialogue left out: the systems were scored on different turns" in " ".join(compared.notes)
    assert compared.dialogues == ("MUL0000.json", "MUL0002.json")
    assert compared.scores.den[:, 0].tolist()[0] == compared.scores.den[:, 0].tolist()[1]
    assert "FGA@0.5 does not mean the same for all systems" in " ".join(compared.notes)
    assert compare(gold, {"a": first, "b": first}, resamples=20).notes == ()


def test_with_coverage_empty_no_dialogue_is_left_out() -> None:
    gold = gold_dialogues(3)
    first = tracker(gold, 0.1, 1)
    short = [Dialogue(id=one.id, turns=one.turns[:-1]) for one in first]
    assert len(compare(gold, {"a": first, "b": short}, coverage="empty", resamples=20).dialogues) == 3
    with pytest.raises(DialgaugeError, match="in every dialogue the systems were scored on different turns"):
        compare(gold, {"a": first, "b": short}, resamples=20)


def test_mistakes() -> None:
    gold = gold_dialogues(3)
    with pytest.raises(DialgaugeError, match="at least two systems"):
        compare(gold, {"a": tracker(gold, 0.1, 1)})
    with pytest.raises(DialgaugeError, match="share no dialogue"):
        first = [Dialogue(id=f"A{place}", turns=one.turns) for place, one in enumerate(gold)]
        compare(gold + first, {"a": tracker(gold, 0.1, 1), "b": tracker(first, 0.1, 1)})
