"""What scoring gives back: values, intervals, tables, notebooks, pieces, streams, stored runs."""

from __future__ import annotations

from typing import Any

import pytest

import dialgauge
from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Resampling
from dialgauge.tracking import (
    Accumulator,
    LooseState,
    compute,
)
from tracking.corpora import pair_of_dialogues

RIGHT = [({"hotel-area": "north"}, {"hotel-area": "north"}), ({"hotel-area": "north"}, {"hotel-area": "south"})]
WRONG: list[tuple[dict[str, str], dict[str, str]]] = [({"train-day": "monday"}, {})]


def data(copies: int = 4) -> tuple[list[Dialogue], list[Dialogue]]:
    pairs = [pair_of_dialogues(RIGHT if n % 3 else WRONG, f"D{n}") for n in range(copies)]
    return [one for one, _ in pairs], [two for _, two in pairs]


def test_accumulator_rules() -> None:
    gold, theirs = data()
    accumulator = Accumulator(measures="JGA")
    with pytest.raises(DialgaugeError, match="nothing has been added"):
        accumulator.compute()
    accumulator.update(gold, theirs)
    score = accumulator.scores(Resampling(200))["JGA"]
    assert score.low is not None and score.high is not None
    assert score.low <= accumulator.compute()["JGA"] <= score.high
    with pytest.raises(DialgaugeError, match="same measures, profile"):
        accumulator.merge(Accumulator(measures="SA"))
    accumulator.reset()
    with pytest.raises(DialgaugeError, match="nothing has been added"):
        accumulator.compute()


def test_the_manner_of_hugging_face() -> None:
    references: list[list[LooseState]] = [[{"hotel": {"area": "north"}}, {"hotel": {"area": ["north", "north side"]}}]]
    predictions: list[list[LooseState]] = [[{"hotel-area": "north"}, {"hotel": {"area": "north side"}}]]
    assert compute(predictions=predictions, references=references, measures=["JGA", "F1"]) == {"JGA": 1.0, "F1": 1.0}
    assert set(dialgauge.compute(predictions=predictions, references=references)) >= {"JGA", "FGA@0.5"}
    with pytest.raises(DialgaugeError, match="predictions for 1 dialogue, but references for 0"):
        compute(predictions=predictions, references=[])
    with pytest.raises(DialgaugeError, match="dialogue 0: there are predictions for 1 turn, but the reference has"):
        compute(predictions=[predictions[0][:1]], references=references)
    with pytest.raises(DialgaugeError, match="dialogue 0, turn 0: 'area' is neither"):
        compute(predictions=[[{"area": "x"}]], references=[[{}]])


def test_ten_thousand_slot_names_do_not_exhaust_memory() -> None:
    """A file with values in place of slot names is scored in pieces, not as one huge table."""
    pairs = [
        pair_of_dialogues([({"hotel-area": "north"}, {f"hotel-s{n}-{k}": "x" for k in range(100)})] * 2, f"D{n}")
        for n in range(100)
    ]
    found = dialgauge.score([a for a, _ in pairs], {"it": [b for _, b in pairs]}, intervals=False)[0]
    assert found["JGA"] == 0.0
    assert found.details["counts"]["off_ontology"] == 20_000
    assert found["F1"] == 0.0


@pytest.mark.parametrize("bad", [{"hotel-area": None}, {"hotel": {"area": 5}}, {"hotel-area": ["north", 1]}, "hotel"])
def test_states_that_are_none_are_errors(bad: Any) -> None:
    with pytest.raises(DialgaugeError, match=r"strings|mapping"):
        compute(predictions=[[bad]], references=[[{"hotel-area": "north"}]])


def test_accumulators_count_what_is_missing() -> None:
    gold, theirs = data(4)
    left_out, as_empty = (Accumulator(measures="JGA", coverage=policy) for policy in ("intersection", "empty"))
    for one in (left_out, as_empty):
        one.update(gold[:2], theirs[:2])
        one.update(gold[2:], theirs[3:])
        turns = one.scores().coverage["turns"]
        assert (turns.expected, turns.scored) == (6, 4 if one is left_out else 6)
    whole = dialgauge.score(gold, {"it": theirs[:2] + theirs[3:]}, measures="JGA", coverage="empty", intervals=False)[0]
    assert as_empty.compute()["JGA"] == whole["JGA"] < left_out.compute()["JGA"]
    with pytest.raises(DialgaugeError, match="same measures, profile and coverage"):
        left_out.merge(as_empty)
