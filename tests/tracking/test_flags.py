"""Files that only say which slots were right: what can be computed, and what cannot."""

from __future__ import annotations

import math

import polars as pl
import pytest

from dialgauge import score
from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.tracking import DEFAULT_MEASURES, Counts, read_counts, slot_episodes

CORRECT = 1

SLOTS = [("hotel", "area"), ("hotel", "book_people"), ("train", "leaveAt")]


def flags(*rows: str) -> list[Dialogue]:
    """A dialogue from rows such as ``"101"``."""
    turns = []
    for row in rows:
        judged: dict[str, dict[str, bool]] = {}
        for (domain, slot), flag in zip(SLOTS, row, strict=True):
            judged.setdefault(domain, {})[slot] = flag == "1"
        turns.append(Turn(speaker="user", judged=judged))
    return [Dialogue(id="MUL1", turns=tuple(turns))]


def gold(*states: State) -> list[Dialogue]:
    return [Dialogue(id="mul1.json", turns=tuple(Turn(speaker="user", state=state) for state in states))]


ROWS = ("111", "011", "011", "001", "101")
STATES: list[State] = [
    {},
    {"hotel": {"area": ("north",)}},
    {"hotel": {"area": ("north",)}},
    {"hotel": {"area": ("north",), "book people": ("2",)}},
    {"hotel": {"area": ("north",)}},
]


def test_flags_alone() -> None:
    found = score(None, {"it": flags(*ROWS)})[0]
    assert found["JGA"] == pytest.approx(1 / 5)
    assert found["SA"] == pytest.approx((150 - 1 - 1 - 2 - 1) / 150)
    # Exact; new error; the same error; another error; the errors changed again although one was repaired.
    weights = [1.0, 0.0, 1 - math.exp(-0.5), 0.0, 0.0]
    assert found["FGA@0.5"] == pytest.approx(sum(weights) / 5)
    assert "rule=error-set" in str(found.scores["FGA@0.5"].signature)
    assert set(found.details["left_out"]) == {"AGA", "RSA", "F1"}
    assert set(found.scores) == set(DEFAULT_MEASURES) - set(found.details["left_out"])


def test_flags_with_gold() -> None:
    found = score(gold(*STATES), {"it": flags(*ROWS)})[0]
    # C, M, W by turn: (0,0,0), (0,1,0), (0,1,0), (0,2,0), (1,0,1)
    assert found["AGA"] == pytest.approx((0 + 0 + 0 + 1) / 4)
    assert found["RSA"] == pytest.approx((0 + 0 + 0 + 0 + 1 / 2) / 5)
    assert set(found.details["left_out"]) == {"F1"}
    assert read_counts(found).totals()["spurious"] == 1


@pytest.mark.parametrize(
    ("measure", "why"),
    [
        ("F1", "needs predicted values"),
        ("RSA", "needs gold states"),
        ("FGA@0.5(rule=code)", "use rule=error-set"),
        ("TurnMatch(rule=paper)", "use rule=error-set"),
    ],
)
def test_asking_for_the_impossible_without_gold(measure: str, why: str) -> None:
    with pytest.raises(DialgaugeError, match=why):
        score(None, {"it": flags(*ROWS)}, measures=[measure])


@pytest.mark.parametrize("measure", ["F1", "Precision", "TurnLabel", "F1(average=slot)"])
def test_asking_for_values_that_flags_do_not_have(measure: str) -> None:
    with pytest.raises(DialgaugeError, match="correctness flags"):
        score(gold(*STATES), {"it": flags(*ROWS)}, measures=[measure])


def test_what_flags_can_give() -> None:
    found = score(
        None, {"it": flags(*ROWS)}, measures=["TurnMatch", "FinalJGA", "DialogueExact", "FGA@1(rule=error-set)"]
    )[0]
    assert found["TurnMatch"] == pytest.approx(2 / 5)
    assert float(found["FinalJGA"]) == found["DialogueExact"] == 0.0


def test_views_of_flags() -> None:
    found = score(gold(*STATES), {"it": flags(*ROWS)})[0]
    parts = found.table("part_scores").filter(measure=pl.concat_str(pl.lit("JGA[turn="), "part", pl.lit("]")))
    assert parts.select("by", "turns").rows() == [("turn", 1)] * 5
    with pytest.raises(DialgaugeError, match="only flags"):
        slot_episodes(found)


def _places(counts: Counts) -> list[int]:
    """The position of each scored turn among the scored turns of its dialogue."""
    places: list[int] = []
    for first in counts.first.tolist():
        places.append(0 if first else places[-1] + 1)
    return places


def test_turns_without_flags_scored_as_empty_are_wrong() -> None:
    states: list[State] = [*STATES, {"train": {"leaveAt": ("09:15",)}}]
    found = score(gold(*states), {"it": flags(*ROWS)}, coverage="empty", intervals=False)[0]
    assert found["JGA"] == pytest.approx(1 / 6)
    assert read_counts(found).turns.missed[-1] == 1
    assert read_counts(found).turns.correct[-1] == 0


def test_what_flags_cannot_give_says_why() -> None:
    alone = score(None, {"it": flags(*ROWS)}, intervals=False)[0]
    assert "predicted values" in alone.details["left_out"]["F1"], "gold would not help"
    assert "give the gold file" in alone.details["left_out"]["RSA"]
    with pytest.raises(DialgaugeError, match="wrong values from missed"):
        score(gold(*STATES), {"it": flags(*ROWS)}, measures="AGA(form=jaccard)")
