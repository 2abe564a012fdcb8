from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from dialgauge.dialogue import Act, Dialogue, Goal, Span, Task, Turn
from dialgauge.errors import DialgaugeError
from support.examples import EXAMPLES
from support.reading import read_bytes, read_json

DATA: list[dict[str, Any]] = json.loads(EXAMPLES["convlab3"])


def example() -> list[dict[str, Any]]:
    return copy.deepcopy(DATA)


def test_everything_claimed_is_read() -> None:
    (dialogue,), notes = read_json("convlab3", example())
    assert dialogue == Dialogue(
        id="multiwoz21-test-0",
        domains=("hotel",),
        goal=Goal(
            tasks={"hotel": Task(info={"area": "east", "book people": "2"}, requests=("phone",))},
            message=("You look for a place to stay.",),
        ),
        turns=(
            Turn(
                speaker="user",
                text="the ace hotel in the east",
                acts=(
                    Act("inform", "hotel", "area", ("east",)),
                    Act("inform", "hotel", "name", ("ace",)),
                    Act("greet", "general"),
                ),
                spans=(Span("hotel", "name", 4, 7),),
                state={"hotel": {"area": ("east",), "name": ("ace", "the ace")}},
            ),
        ),
    )
    assert not notes.counts


def test_turns_must_be_in_order() -> None:
    content = example()
    content[0]["turns"][0]["utt_idx"] = 1
    with pytest.raises(DialgaugeError, match="dialogue multiwoz21-test-0, turn 0: utt_idx is 1 where 0 should follow"):
        read_json("convlab3", content)


def test_only_a_bar_separates_alternatives() -> None:
    content = example()
    content[0]["turns"][0]["state"] = {"hotel": {"name": "a<b>c|d"}}
    assert read_json("convlab3", content)[0][0].turns[0].state == {"hotel": {"name": ("a<b>c", "d")}}


def row(utt_idx: int, dialogue: str = "d", **more: Any) -> dict[str, Any]:
    state = {"hotel": {"area": "east", "price range": ""}}
    return {"dialogue_id": dialogue, "utt_idx": utt_idx, "state": state, "predictions": {"state": {}}, **more}


def test_predictions_hold_gold_and_predicted_states() -> None:
    (dialogue,), _ = read_bytes("convlab3-predictions", EXAMPLES["convlab3-predictions"])
    (turn,) = dialogue.turns
    assert (turn.state, turn.predicted) == ({"hotel": {"area": ("north",)}}, {"hotel": {"area": ("east",)}})


def test_rows_of_a_dialogue_stand_together_and_holes_keep_the_place() -> None:
    rows = [row(0), row(2), row(6), row(1, "e"), row(3, "e"), row(4, "f")]
    dialogues, notes = read_json("convlab3-predictions", rows)
    recorded = {one.id: [turn.predicted is not None for turn in one.turns] for one in dialogues}
    assert recorded == {"d": [True, True, False, True], "e": [True, True], "f": [False, False, True]}
    assert notes.counts["missing turns, left as holes"] == 3
