"""What is in F1(average=slot): predicted slots that gold never has count 0 each, and the output says so."""

from __future__ import annotations

import dialgauge
from dialgauge.dialogue import Dialogue, State, Turn

MEASURES = ["F1(average=slot)", "F1(average=gold-slot)"]


def corpora(extra: int) -> tuple[list[Dialogue], dict[str, list[Dialogue]]]:
    """Ten dialogues about two slots, one of them always right; ``extra`` slots of no ontology are predicted once."""
    gold: list[Dialogue] = []
    predicted: list[Dialogue] = []
    for number in range(10):
        state: State = {"hotel": {"area": ("north",), "stars": ("4",)}}
        guess: State = {"hotel": {"area": ("north",), "stars": ("4" if number % 2 else "3",)}}
        if number < extra:
            guess["hotel"][f"colour{number}"] = ("red",)
        gold.append(Dialogue(id=f"d{number}", turns=(Turn(speaker="user", state=state),)))
        predicted.append(Dialogue(id=f"d{number}", turns=(Turn(speaker="user", predicted=guess),)))
    return gold, {"it": predicted}


def test_what_is_in_the_mean_is_said_and_it_has_no_interval() -> None:
    results = dialgauge.score(*corpora(extra=2), measures=MEASURES)
    scores = results[0].scores
    assert (scores["F1(average=slot)"].low, scores["F1(average=slot)"].high) == (None, None)
    low, high = scores["F1(average=gold-slot)"].low, scores["F1(average=gold-slot)"].high
    assert low is not None and high is not None and low < 0.75 < high
    (note,) = [note for note in results.notes if "F1(average=slot)" in note]
    assert "counts 2 predicted slots that gold never has, each as 0" in note
    assert "it is 75.00 instead of 37.50. No interval" in note
