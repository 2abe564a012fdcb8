"""Unknown words read as the nearest known ones, by the network over typed entities."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from msgspec.structs import replace

from dialgauge.errors import DialgaugeError
from dialgauge.rankers import Line, points_of, ranker_class
from dialgauge.rankers.neural import Spelling, Typed
from support.tiny_world import point, tiny_task

KNOWN = ["cuisine", "french", "rome", "table", "reservation", "resto_rome_cheap", "<silence>"]


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("with frnech cuisine", "with french cuisine"),
        ("two tables", "two table"),
        ("Cusine", "cuisine"),
        ("FRENCH cuisine", "FRENCH cuisine"),
        ("rom", "rom"),
        ("resto_rome_cheep", "resto_rome_cheep"),
        ("tabl3", "tabl3"),
        ("greek", "greek"),
        ("", ""),
    ],
)
def test_a_word_is_read_as_the_nearest_known_one(said: str, read: str) -> None:
    assert Spelling(KNOWN, likeness=0.75).corrected(said) == read


def test_nothing_is_near_enough_at_likeness_1() -> None:
    assert Spelling(KNOWN, likeness=1.0).corrected("frnech tables") == "frnech tables"


@cache
def fitted(spelling: str) -> Typed:
    model = ranker_class("typed")(0)
    model.options = {"spelling": spelling, "device": "cpu", "epochs": "12"}
    model.fit(tiny_task(1))
    assert isinstance(model, Typed)
    return model


def test_words_that_are_known_are_scored_as_ever() -> None:
    points = points_of(tiny_task(1).split("tst-OOV"))
    np.testing.assert_array_equal(fitted("0.75").scores(points), fitted("1").scores(points))


def test_misspelt_words_and_entities_count_as_what_is_meant() -> None:
    asked = [one for one in points_of(tiny_task(1).split("tst")) if one.reply.startswith("api_call")]
    wrong = [("french", "frnech"), ("expensive", "expensve"), ("people", "peple"), ("cuisine", "cuisin")]

    def misspelt(text: str) -> str:
        for right, other in wrong:
            text = text.replace(right, other)
        return text

    def noisy(line: Line) -> Line:
        return line._replace(text=misspelt(line.text)) if line.kind == "user" else line

    points = [replace(one, history=tuple(map(noisy, one.history)), utterance=misspelt(one.utterance)) for one in asked]
    assert points != asked
    np.testing.assert_array_equal(fitted("0.75").scores(points), fitted("0.75").scores(asked))
    assert (fitted("1").scores(points) != fitted("1").scores(asked)).any()


def test_a_model_knows_whether_it_understands() -> None:
    model = fitted("0.75")
    assert all(map(model.understands, ("hello", "helllo", "in paris", "Paris")))
    assert not any(map(model.understands, ("hey!", "xyzzy plugh", "")))
    assert not fitted("1").understands("helllo")
    assert model.attention(point(("user", "helllo"), ("bot", "i'm on it"))).hops


@pytest.mark.parametrize("value", ["0", "1.5", "nan"])
def test_a_likeness_lies_between_0_and_1(value: str) -> None:
    model = ranker_class("typed")(0)
    model.options = {"spelling": value}
    with pytest.raises(DialgaugeError, match="spelling must be above 0 and at most 1"):
        model.fit(tiny_task(1))
