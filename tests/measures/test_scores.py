"""Scores of several measures, and what a measure of another package may do wrong."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars
import pytest

import dialgauge
from dialgauge.errors import DialgaugeError
from dialgauge.measures import NO_INTERVAL, Card, Interval, Measure, Resampling, Score, Scores
from dialgauge.tracking import read_counts


def of(name: str, ids: list[str], num: list[float]) -> Scores:
    score = Score(value=sum(num), unit="slots", higher_is_better=False)
    return Scores(dialogues=ids, sums={name: (np.array(num), np.ones(len(num)))}, scores={name: score})


def test_scores_of_two_kinds_are_joined_over_the_dialogues_of_either() -> None:
    joined = of("A", ["x", "y"], [1.0, 2.0]).joined(of("B", ["z", "y"], [3.0, 4.0]))
    assert joined.frame().rows() == [("x", "A", 1, 1), ("y", "A", 2, 1), ("y", "B", 4, 1), ("z", "B", 3, 1)]
    assert list(joined.scores) == ["A", "B"]
    assert dict(joined.frame().schema) == {
        "dialogue": polars.String, "measure": polars.String, "num": polars.Float64, "den": polars.Float64,
    }  # fmt: skip
    assert Scores(dialogues=[], sums={}, scores={}).frame().schema == joined.frame().schema


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (lambda evidence, settings: 1 / 0, "the measure Foreign failed .ZeroDivisionError: division by zero."),
        (lambda evidence, settings: (np.ones(1), np.ones(2)), "the measure Foreign failed|gave an array of the shape"),
    ],
)
def test_what_goes_wrong_in_another_packages_measure_is_a_sentence(rows: Any, sentence: str) -> None:
    gold = {"d": [{"hotel-area": "north"}] * 3}
    counts = read_counts(dialgauge.score(gold, {"mine": gold}, measures="JGA", intervals=False)[0])
    card: Card[Any] = Card(name="Foreign", family="tracking", title="", summary="", formula="", source="", units=rows)
    with pytest.raises(DialgaugeError, match=sentence):
        Measure(card).value(counts)


def test_where_no_interval_is_resampled_the_shared_signature_says_nothing_of_resamples() -> None:
    scores = Scores(
        dialogues=["a"],
        sums={},
        scores={name: Score(value=0.5, signature=f"measure:{name}|version:1") for name in "xy"},
    )
    how = Resampling(100)
    both = scores.with_intervals([Interval(0.1, 0.9, "0.95-one-more-unit"), Interval(0.2, 0.8, str(how))], how)
    assert both.signature["interval"] == str(how) and "interval" not in both["y"].signature
    assert "interval:0.95-one-more-unit" in both["x"].signature
    own = scores.with_intervals([Interval(0.1, 0.9, "0.95-one-more-unit"), NO_INTERVAL], how)
    assert "interval" not in own.signature


def test_an_error_in_a_measure_of_ours_is_no_error_of_the_user() -> None:
    """Measures of other packages are told by their function's module; of a partial, by the function in it."""

    def broken(evidence: Any, settings: Any, more: int = 0) -> Any:
        raise ZeroDivisionError

    card = Card(
        name="Broken", family="tracking", title="", summary="", formula="", source="", units=partial(broken, more=1)
    )
    evidence = SimpleNamespace(dialogue=np.zeros(1, int), dialogues=1, scored=np.ones(1, bool))
    broken.__module__ = "dialgauge.tracking.measures"
    with pytest.raises(ZeroDivisionError):
        Measure(card).sums(evidence)
    broken.__module__ = "more_measures"
    with pytest.raises(DialgaugeError, match="the measure Broken failed"):
        Measure(card).sums(evidence)
