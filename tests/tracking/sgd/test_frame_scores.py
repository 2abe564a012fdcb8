"""One frame: worked cases, and an oracle straight from the definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.dialogue import SlotSpec, Values
from dialgauge.tracking.sgd import Frame, frame_scores, levenshtein
from support.soak import examples

SLOTS = {
    "city": SlotSpec(),
    "date": SlotSpec(),
    "stars": SlotSpec(categorical=True),
    "pets": SlotSpec(categorical=True),
}
VALUES = st.lists(st.sampled_from(["a", "b", "a b", "a b c"]), min_size=1, max_size=2).map(tuple)
STATES = st.dictionaries(st.sampled_from([*SLOTS, "unknown"]), VALUES)


def frame(values: dict[str, Values], intent: str | None = None, requested: Values | None = None) -> Frame:
    return Frame(values, intent, requested, None)


def goal_oracle(gold: dict[str, Values], predicted: dict[str, Values], slots: list[str]) -> tuple[float, float]:
    scores: dict[str, float] = {}
    for slot in slots:
        if slot in gold and slot in predicted:
            guess = predicted[slot][0]
            closeness = [levenshtein(value, guess) for value in gold[slot]]
            scores[slot] = float(gold[slot][0] == guess) if SLOTS[slot].categorical else max(closeness)
        else:
            scores[slot] = float(slot not in gold and slot not in predicted)
    joint = float(np.prod(list(scores.values()))) if slots else math.nan
    filled = [score for slot, score in scores.items() if slot in gold]
    return joint, float(np.mean(filled)) if filled else math.nan


@settings(max_examples=examples(150), deadline=None)
@given(STATES, STATES)
def test_goal_accuracies_against_the_definitions(gold: dict[str, Values], predicted: dict[str, Values]) -> None:
    scores = frame_scores(frame(gold), frame(predicted), SLOTS, matching="levenshtein")
    for suffix, slots in (("", list(SLOTS)), ("-cat", ["stars", "pets"]), ("-noncat", ["city", "date"])):
        joint, average = goal_oracle(gold, predicted, slots)
        assert scores[f"SGD-JGA{suffix}"] == pytest.approx(joint, nan_ok=True)
        assert scores[f"SGD-AGA{suffix}"] == pytest.approx(average, nan_ok=True)


def test_the_joint_score_is_a_product_of_partial_scores() -> None:
    gold, predicted = (
        frame({"city": ("San Jose",), "date": ("10:30",)}),
        frame({"city": ("San Jose x",), "date": ("10:30 x",)}),
    )
    scores = frame_scores(gold, predicted, SLOTS, matching="levenshtein")
    assert scores["SGD-JGA"] == pytest.approx(0.89 * 0.83)
    assert scores["SGD-AGA"] == pytest.approx((0.89 + 0.83) / 2)
    assert scores["SGD-JGA-cat"] == 1.0
    assert math.isnan(scores["SGD-AGA-cat"])
    assert frame_scores(gold, predicted, SLOTS, matching="exact")["SGD-JGA"] == 0.0


def test_a_service_without_categorical_slots_has_no_categorical_score() -> None:
    scores = frame_scores(frame({}), frame({}), {"city": SlotSpec()}, matching="levenshtein")
    assert math.isnan(scores["SGD-JGA-cat"]) and scores["SGD-JGA-noncat"] == 1.0


@pytest.mark.parametrize(
    ("reference", "predicted", "precision", "recall", "f1"),
    [
        ((), (), 1.0, 1.0, 1.0),
        (("city",), (), 1.0, 0.0, 0.0),
        ((), ("city",), 0.0, 1.0, 0.0),
        (("city",), ("date",), 0.0, 0.0, 0.0),
        (("city", "date"), ("city",), 1.0, 0.5, 2 / 3),
        (("city",), ("city", "date", "pets"), 1 / 3, 1.0, 0.5),
    ],
)
def test_requested_slots(reference: Values, predicted: Values, precision: float, recall: float, f1: float) -> None:
    scores = frame_scores(frame({}, None, reference), frame({}, None, predicted), SLOTS, matching="levenshtein")
    found = [scores[f"SGD-requested-{part}"] for part in ("P", "R", "F1")]
    assert found == pytest.approx([precision, recall, f1])


def test_the_intent_is_right_or_wrong_or_not_recorded() -> None:
    assert frame_scores(frame({}, "Find"), frame({}, "Find"), SLOTS, matching="levenshtein")["SGD-intent"] == 1.0
    assert frame_scores(frame({}, "Find"), frame({}, "NONE"), SLOTS, matching="levenshtein")["SGD-intent"] == 0.0
    assert "SGD-intent" not in frame_scores(frame({}, "Find"), frame({}, None), SLOTS, matching="levenshtein")


def test_tagging_counts_mentions_of_open_slots_as_a_multiset() -> None:
    gold = Frame({}, None, None, (("city", "Rome"), ("city", "Rome"), ("stars", "4")))
    predicted = Frame({}, None, None, (("city", "Rome"), ("date", "Rome")))
    scores = frame_scores(gold, predicted, SLOTS, matching="levenshtein")
    assert [scores[f"SGD-tagging-{part}"] for part in ("P", "R", "F1")] == pytest.approx([0.5, 0.5, 0.5])
