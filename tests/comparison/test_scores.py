from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import polars
import pytest

from dialgauge.comparison import PairedScores, on_the_same_turns, paired_scores
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Score

Row: TypeAlias = tuple[str, str, float | None, float | None]
SCHEMA = {"dialogue": polars.String, "measure": polars.String, "num": polars.Float64, "den": polars.Float64}


def paired(rows: Mapping[str, Sequence[Row]], signatures: Mapping[str, str] | None = None) -> PairedScores:
    frames = {name: polars.DataFrame(table, SCHEMA, orient="row") for name, table in rows.items()}
    scores = {name: {"JGA": Score(value=0.5, signature=text)} for name, text in (signatures or {}).items()}
    return paired_scores(frames, scores)


def test_a_dialogue_without_a_score_is_nothing_over_nothing() -> None:
    rows: dict[str, list[Row]] = {
        "a": [("1", "JGA", 1, 1), ("1", "AGA", 1, 1), ("2", "JGA", 1, 1)],
        "b": [("1", "JGA", 1, 1), ("2", "JGA", 1, 1), ("2", "AGA", 0, 2)],
    }
    scores = paired(rows)
    assert scores.only(["AGA"]).num.tolist() == [[[1, 0]], [[0, 0]]]
    assert math.isnan(scores.by_dialogue[0, 1, 1])
    assert scores.values.tolist() == [[1, 1], [1, 0]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"a": [("1", "JGA", 1, 1)], "b": [("2", "JGA", 1, 1)]}, "share no dialogue: 'a' has ids like '1'"),
        ({"a": [("1", "JGA", 1, 1)], "b": [("1", "SA", 1, 1)]}, "share no measure: 'a' has JGA; 'b' has SA"),
        ({"a": [("1", "JGA", None, 1)], "b": [("1", "JGA", 1, 1)]}, "dialogue 1: the score of JGA is not a number"),
        ({"a": [("1", "JGA", 1, 1)], "b": []}, "share no dialogue: nothing of 'b' was scored"),
    ],
)
def test_errors_are_sentences(rows: dict[str, list[Row]], message: str) -> None:
    with pytest.raises(DialgaugeError, match=message):
        paired(rows)


def turns(*pairs: tuple[str, int]) -> polars.DataFrame:
    return polars.DataFrame(pairs, {"dialogue": polars.String, "turn": polars.Int64}, orient="row")


def test_dialogues_scored_on_different_turns_are_left_out() -> None:
    rows: list[Row] = [("D1", "JGA", 1, 2), ("D2", "JGA", 1, 2)]
    scores = paired({"a": rows, "b": rows})
    every = turns(("D1", 0), ("D1", 2), ("D2", 0), ("D2", 2))
    assert on_the_same_turns(scores, {"a": every, "b": every}) is scores
    renamed = turns(("d2.json", 0), ("d2.json", 2), ("d1", 0), ("d1", 2))
    assert on_the_same_turns(scores, {"a": every, "b": renamed}) is scores
    fewer = on_the_same_turns(scores, {"a": every, "b": turns(("D1", 0), ("D1", 2), ("D2", 0))})
    assert fewer.dialogues == ("D1",)
    assert fewer.unlike_turns == 1
    with pytest.raises(DialgaugeError, match="in every dialogue the systems were scored on different turns"):
        on_the_same_turns(scores, {"a": every, "b": turns(("D1", 0), ("D2", 0))})
