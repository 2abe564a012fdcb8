"""Scores: values, intervals from shared draws, sums, and the table of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars
import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.measures import (
    NO_INTERVAL,
    Card,
    Count,
    Coverage,
    Interval,
    Measure,
    Resampling,
    Score,
    Scores,
    Signature,
    SystemEvidence,
    parse_measures,
    score_systems,
)
from measures.toy import LENGTH, TURNS, USERS, Turns


def system(turns: Turns, *names: str) -> SystemEvidence:
    return SystemEvidence(
        evidence=turns,
        measures=parse_measures(names),
        dialogues=[f"d{number}" for number in range(turns.dialogues)],
        signature=Signature(gold="ab"),
        coverage=Coverage({"turns": Count(expected=4, read=4, scored=4, failed=0)}),
        left_out={"SA": "there is no inventory"},
    )


def test_a_score_that_is_not_there_says_why() -> None:
    (scores,) = score_systems([system(TURNS, "JGA")])
    with pytest.raises(DialgaugeError, match="no score SA: there is no inventory"):
        scores["SA"]
    with pytest.raises(DialgaugeError, match=r"no score FGA: it was not requested. Known: JGA|Did you mean"):
        scores["FGA"]


def test_the_table_of_dialogues_has_the_sums_of_what_is_scored() -> None:
    (scores,) = score_systems([system(TURNS, "JGA", "F1(average=slot)")])
    frame = scores.frame()
    assert dict(frame.schema) == {
        "dialogue": polars.String, "measure": polars.String, "num": polars.Float64, "den": polars.Float64,
    }  # fmt: skip
    assert frame.rows() == [("d0", "JGA", 2.0, 3.0), ("d1", "JGA", 0.0, 1.0)]
    users = SystemEvidence(evidence=USERS, measures=parse_measures(["I-GCDF1[hotel]"]), dialogues=["a", "b", "c"])
    assert score_systems([users])[0].frame().rows() == [("c", "I-GCDF1[hotel]", 0.25, 1.0)]
    assert Scores(dialogues=[], sums={}, scores={}).frame().schema == frame.schema


def test_scores_of_two_kinds_are_joined_over_the_dialogues_of_either() -> None:
    def one(name: str, ids: list[str], num: list[float]) -> Scores:
        score = Score.of(Measure(LENGTH), sum(num))
        return Scores(dialogues=ids, sums={name: (np.array(num), np.ones(len(num)))}, scores={name: score})

    joined = one("A", ["x", "y"], [1.0, 2.0]).joined(one("B", ["z", "y"], [3.0, 4.0]))
    assert joined.frame().rows() == [("x", "A", 1, 1), ("y", "A", 2, 1), ("y", "B", 4, 1), ("z", "B", 3, 1)]
    assert list(joined.scores) == ["A", "B"]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (lambda evidence, settings: 1 / 0, "the measure Foreign failed .ZeroDivisionError: division by zero."),
        (lambda evidence, settings: (np.ones(1), np.ones(2)), "the measure Foreign failed|gave an array of the shape"),
    ],
)
def test_what_goes_wrong_in_another_packages_measure_is_a_sentence(rows: Any, sentence: str) -> None:
    card = Card(name="Foreign", family="tracking", title="", summary="", formula="", source="", units=rows)
    with pytest.raises(DialgaugeError, match=sentence):
        Measure(card).value(TURNS)


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
