from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dialgauge.comparison import PairedScores, assigned, rating_correlations, read_ratings
from dialgauge.errors import DialgaugeError


def write(folder: Path, text: str) -> Path:
    path = folder / "ratings.csv"
    path.write_text(text, encoding="utf-8")
    return path


def scores() -> PairedScores:
    num = np.array([[[1.0, 2, 3, 4], [1, 1, 1, 1]], [[4.0, 3, 2, 1], [1, 1, 1, 1]]])
    den = np.full_like(num, 4.0)
    return PairedScores(("a", "b"), ("JGA", "SA"), ("D1.json", "D2", "D3", "D4"), num, den)


def test_a_column_says_which_system(tmp_path: Path) -> None:
    text = "system,dialogue,rater,rating\na,d1,x,1\na,d2,x,2\nb,d1,x,3\nb,d3,x,1\n"
    ratings = assigned(read_ratings(write(tmp_path, text)), ("a", "b"))
    assert {name: values.dialogues for name, values in ratings.items()} == {"a": ("d1", "d2"), "b": ("d1", "d3")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dialogue,rater\nd1,x\n", "no column rating"),
        ("", "no column dialogue, rater, rating"),
        ("dialogue,rater,rating\n", "holds no ratings"),
        ("dialogue,rater,rating\nd1,x,good\n", "line 2, dialogue d1: the rating 'good' is not a number"),
        ("dialogue,rater,rating\nd1,x,nan\n", "is not a number"),
        ("dialogue,rater,rating\nd1,x\n", "line 2: it has 2 cells where the first line has 3"),
        ("dialogue,rater,rating\nd1,x,1,2\n", "line 2: it has 4 cells where the first line has 3"),
        ("dialogue,rater,rating,rating\nd1,x,1,2\n", "the column 'rating' appears twice"),
        ("dialogue,rater,rating\nd1,x,\n", "it holds no ratings"),
        ("dialogue,rater,rating\nd1,x,1\nD1.json,x,0\n", "line 3, dialogue D1.json: rater 'x' rates it twice"),
        ("dialogue,rater,rating\n,x,1\n", "needs a dialogue and a rater"),
    ],
)
def test_bad_files_are_sentences(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DialgaugeError, match=message):
        read_ratings(write(tmp_path, text))


def test_ratings_of_unknown_dialogues_and_systems(tmp_path: Path) -> None:
    ratings = read_ratings(write(tmp_path, "dialogue,rater,rating\nd9,x,1\nd1,x,0\n"))
    with pytest.raises(DialgaugeError, match=r"1 rated dialogue was not scored \(d9\)"):
        rating_correlations(ratings[""], scores(), "a")
    with pytest.raises(DialgaugeError, match="add the column 'system'"):
        assigned(ratings, ("a", "b"))
    with pytest.raises(DialgaugeError, match="rated system 'c' was not scored"):
        assigned({"c": ratings[""]}, ("a", "b"))


def test_no_rating_is_dropped_for_another(tmp_path: Path) -> None:
    some = read_ratings(write(tmp_path, "system,dialogue,rater,rating\na,d1,x,1\n,d2,x,0\n"))
    with pytest.raises(DialgaugeError, match="some ratings of 'a' name it and some do not"):
        assigned(some, ("a",))
