"""Profiles under which gold scored against itself is not 100 say so beside every score."""

from __future__ import annotations

from pathlib import Path

import dialgauge
from dialgauge.dialogue import Dialogue
from tracking.corpora import pair_of_dialogues


def corpus() -> tuple[list[Dialogue], list[Dialogue]]:
    """Four turns: under ``trade`` two gold labels are corrected, under ``mwzeval`` one gold slot is dropped."""
    states = [
        ({"hotel-area": "north"}, {"hotel-area": "north"}),
        ({"hotel-area": "north", "hotel-stars": "4 stars"}, {"hotel-area": "north", "hotel-stars": "4"}),
        ({"hotel-area": "dontcare", "hotel-stars": "4 stars"}, {}),
        ({"hotel-area": "north"}, {}),
    ]
    gold, theirs = pair_of_dialogues(states)
    return [gold], [theirs]


def test_it_is_said_of_the_turns_that_were_scored() -> None:
    gold, theirs = corpus()
    first = [Dialogue(id=theirs[0].id, turns=theirs[0].turns[:1])]
    found = dialgauge.score(gold, {"first": first, "all": theirs}, profile="trade", measures="JGA", intervals=False)
    assert [run.details["gold_against_itself"] for run in found.runs] == [{}, {"JGA": 0.5}]


def test_the_numbers_of_multiwoz(shared_data: Path) -> None:
    """The issue's 86.5 and 86.8, here from gold as a system of its own."""
    gold = dialgauge.read(shared_data / "multiwoz21/test.json.gz").dialogues
    theirs = dialgauge.read(shared_data / "dst_predictions/augpt.json.gz").dialogues
    profiles = ["trade", "mwzeval"]
    itself = dialgauge.score(gold, {"gold": gold}, profile=profiles, measures="JGA", intervals=False)
    found = dialgauge.score(gold, {"augpt": theirs}, profile=profiles, measures="JGA", intervals=False)
    assert [run.details["gold_against_itself"]["JGA"] for run in found.runs] == [one["JGA"] for one in itself.runs]
    assert [round(100 * one["JGA"], 1) for one in itself.runs] == [86.5, 86.8]
