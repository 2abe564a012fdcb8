"""Files that only say which slots were right: what can be computed, and what cannot."""

from __future__ import annotations

import pytest

from dialgauge import score
from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.tracking import read_counts

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


def test_what_flags_cannot_give_says_why() -> None:
    for measure in ("Precision", "TurnLabel", "F1(average=slot)"):
        with pytest.raises(DialgaugeError, match="correctness flags"):
            score(gold(*STATES), {"it": flags(*ROWS)}, measures=measure)
    alone = score(None, {"it": flags(*ROWS)}, intervals=False)[0]
    assert "predicted values" in alone.details["left_out"]["F1"], "gold would not help"
    assert "give the gold file" in alone.details["left_out"]["RSA"]
    with pytest.raises(DialgaugeError, match="wrong values from missed"):
        score(gold(*STATES), {"it": flags(*ROWS)}, measures="AGA(form=jaccard)")


def test_turns_without_flags_scored_as_empty_are_wrong() -> None:
    states: list[State] = [*STATES, {"train": {"leaveAt": ("09:15",)}}]
    found = score(gold(*states), {"it": flags(*ROWS)}, coverage="empty", intervals=False)[0]
    assert found["JGA"] == pytest.approx(1 / 6)
    assert read_counts(found).turns.missed[-1] == 1
    assert read_counts(found).turns.correct[-1] == 0
