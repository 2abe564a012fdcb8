from __future__ import annotations

import math

import numpy as np
import polars
import pytest

from dialgauge.comparison.scores import Row, Scores, scores_from_frames, scores_from_rows
from dialgauge.errors import DialgaugeError


def two() -> Scores:
    rows: dict[str, list[Row]] = {
        "a": [("D1.json", "JGA", 1, 2), ("D1.json", "SA", 1.5, 2), ("D2", "JGA", 3, 3), ("D3", "JGA", 0, 1)],
        "b": [("d2", "JGA", 1, 3), ("d1", "JGA", 2, 2), ("d1", "F1", 1, 1)],
    }
    return scores_from_rows(rows, signatures={"a": "s"})


def test_shared_dialogues_and_measures_meet_under_one_key() -> None:
    scores = two()
    assert scores.dialogues == ("D1.json", "D2")
    assert scores.measures == ("JGA",)
    np.testing.assert_array_equal(scores.num, [[[1, 3]], [[2, 1]]])
    np.testing.assert_array_equal(scores.den, [[[2, 3]], [[2, 3]]])
    assert scores.values.tolist() == [[0.8], [0.6]]
    assert scores.signatures == ("s", "")


def test_what_is_left_out_is_said() -> None:
    assert two().notes == (
        "only some systems have these measures of a, so they are left out: SA",
        "1 of 3 dialogues of a left out: not every system has scores there",
        "only some systems have these measures of b, so they are left out: F1",
    )


def test_a_dialogue_without_a_score_is_nothing_over_nothing() -> None:
    rows: dict[str, list[Row]] = {
        "a": [("1", "JGA", 1, 1), ("1", "AGA", 1, 1), ("2", "JGA", 1, 1)],
        "b": [("1", "JGA", 1, 1), ("2", "JGA", 1, 1), ("2", "AGA", 0, 2)],
    }
    scores = scores_from_rows(rows)
    assert scores.only(["AGA"]).num.tolist() == [[[1, 0]], [[0, 0]]]
    assert math.isnan(scores.by_dialogue[0, 1, 1])
    assert scores.values.tolist() == [[1, 1], [1, 0]]


def test_partial_rows_add_up() -> None:
    rows: dict[str, list[Row]] = {"a": [("1", "JGA", 1, 2), ("1", "JGA", 1, 3)], "b": [("1", "JGA", 0, 5)]}
    assert scores_from_rows(rows).values.tolist() == [[0.4], [0.0]]


def test_frames() -> None:
    frame = polars.DataFrame({"dialogue": ["1"], "measure": ["JGA"], "num": [1.0], "den": [2.0], "other": ["x"]})
    assert scores_from_frames({"a": frame, "b": frame}).values.tolist() == [[0.5], [0.5]]
    with pytest.raises(DialgaugeError, match="scores of 'b' have no column den"):
        scores_from_frames({"a": frame, "b": frame.drop("den")})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"a": [("1", "JGA", 1, 1)]}, "at least two systems"),
        ({"a": [("1", "JGA", 1, 1)], "b": [("2", "JGA", 1, 1)]}, "share no dialogue: 'a' has ids like '1'"),
        ({"a": [("1", "JGA", 1, 1)], "b": [("1", "SA", 1, 1)]}, "share no measure: 'a' has JGA; 'b' has SA"),
        ({"a": [("1", "JGA", None, 1)], "b": [("1", "JGA", 1, 1)]}, "dialogue 1: the score of JGA is not a number"),
        ({"a": [("1", "JGA", 1, 1)], "b": []}, "share no dialogue"),
    ],
)
def test_errors_are_sentences(rows: dict[str, list[Row]], message: str) -> None:
    with pytest.raises(DialgaugeError, match=message):
        scores_from_rows(rows)


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(DialgaugeError, match=r"no measure 'JGAA'\. Did you mean 'JGA'"):
        two().only(["JGAA"])
    with pytest.raises(DialgaugeError, match="no system 'c'"):
        two().place_of_system("c")
