"""Trackers compared: from dialogues, from runs in memory, and from stored runs, with the same result."""

from __future__ import annotations

import pytest

from dialgauge import compare
from dialgauge.comparison import Comparison, comparison_page
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.report import run_page
from dialgauge.tracking import Swap, swaps
from support.trackers import gold_dialogues, tracker

MEASURES = ["JGA", "SA", "RSA", "FGA@0.5"]


@pytest.fixture(scope="module")
def compared() -> Comparison:
    gold = gold_dialogues()
    systems = {"good": tracker(gold, 0.05, 1), "bad": tracker(gold, 0.4, 2), "alike": tracker(gold, 0.07, 3)}
    return compare(gold, systems, measures=MEASURES, resamples=400)


def test_the_sweep_gives_the_scorers_fga(compared: Comparison) -> None:
    together = comparison_page(compared, ["sweep"]).tables["sweep"].records()
    for name, run in compared.runs.items():
        flexible = {row["λ"]: row[name] for row in run_page(run, ["sweep"]).tables["sweep"].records()}
        assert [flexible[0.0], flexible[0.5]] == pytest.approx([run["JGA"], run["FGA@0.5"]])
        assert flexible == {row["λ"]: pytest.approx(row[name]) for row in together}


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


def test_crossings_are_interpolated() -> None:
    curves = {"a": [0.5, 0.6, 0.7], "b": [0.4, 0.6, 0.9], "c": [0.0, 0.1, 0.8]}
    first, second = swaps(curves, (0.0, 1.0, 2.0))
    assert (first.before, first.after) == ("a", "b")
    # The gap goes from 0.1 over 0 to -0.2: a tie is passed over, not counted, and the line between its neighbours used.
    assert first.at == pytest.approx(2 / 3)
    assert second == Swap(pytest.approx(1 + 0.5 / 0.6), "a", "c")  # type: ignore[arg-type]


def test_touching_and_equal_lines_are_no_crossing() -> None:
    assert swaps({"a": [0.5, 0.6, 0.8], "b": [0.4, 0.6, 0.7], "c": [0.4, 0.6, 0.7]}, (0.0, 1.0, 2.0)) == []
