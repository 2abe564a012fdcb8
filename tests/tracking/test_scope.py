"""Prediction files of one domain against gold of all domains."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge import read, score
from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.measures import Signature
from dialgauge.tracking import declared_scope

HOTEL: State = {"hotel": {"area": ("north",)}}
BOTH: State = {**HOTEL, "taxi": {"leaveAt": ("09:15",)}}


def predicted(name: str, domain: str, state: State, own: State | None = None) -> Dialogue:
    turns = (Turn(speaker="user", state=own, predicted=state),)
    return Dialogue(id=name, turns=turns, domains=(domain,) if domain else ())


def gold(name: str, state: State) -> Dialogue:
    return Dialogue(id=name, turns=(Turn(speaker="user", state=state),))


def test_a_file_of_one_domain_is_scored_on_that_domain(tmp_path: Path) -> None:
    turns = {
        "0": {"turn_belief": ["hotel-area-north"], "pred_belief": ["hotel-area-north"]},
        "1": {"turn_belief": ["hotel-area-north"], "pred_belief": []},
    }
    path = tmp_path / "t5.json"
    path.write_text(json.dumps({"MUL1.json": {"domain": "hotel", "turns": turns}}))
    whole = [Dialogue(id="mul1", turns=tuple(Turn(speaker="user", state=BOTH) for _ in range(2)))]
    beside, inside = score(whole, path, intervals=False)[0], score(None, path, intervals=False)[0]
    assert beside["JGA"] == 0.5
    assert {name: one.value for name, one in beside.scores.items()} == {
        name: one.value for name, one in inside.scores.items()
    }
    assert Signature.parse(beside.signature)["gold"] == Signature.parse(inside.signature)["gold"]
    assert any("gold restricted to the domains predicted: hotel" in note for note in beside.notes)
    assert read(path).format == "t5-dst"


@pytest.mark.parametrize(
    "dialogues",
    [
        [predicted("a", "hotel", BOTH)],
        [predicted("a", "hotel", HOTEL, own=BOTH)],
        [predicted("a", "", HOTEL)],
        [predicted("a", "hotel", HOTEL), predicted("b", "", HOTEL)],
        [],
    ],
    ids=["prediction beyond", "own gold beyond", "not declared", "not all declare", "empty"],
)
def test_other_files_are_scored_on_everything(dialogues: list[Dialogue]) -> None:
    assert declared_scope(dialogues) == {}


def test_predictions_beyond_the_gold_of_the_domain_still_count() -> None:
    more: State = {"hotel": {"area": ("north",), "stars": ("4",)}}
    found = score([gold("a", BOTH)], {"it": [predicted("a", "hotel", more)]}, intervals=False)[0]
    assert (float(found["JGA"]), float(found["RSA"])) == (0.0, 0.5)
