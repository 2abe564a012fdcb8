"""TF-IDF and nearest neighbour on small things, against loops straight from their formulas."""

from __future__ import annotations

import numpy as np
import pytest

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.lab import move_to
from dialgauge.rankers import (
    Episode,
    Line,
    NearestNeighbour,
    Point,
    Ranker,
    RankingTask,
    TfIdf,
    TfIdfChosen,
    TfIdfTypes,
    TfIdfTypesChosen,
    points_of,
)
from support.tiny_world import TINY, point, tiny_task


def task_of(pairs: list[tuple[str, str]], candidates: tuple[str, ...], facts: tuple[Fact, ...] = ()) -> RankingTask:
    dialogs = tuple(
        Episode(f"d{number}", (Line("user", said), Line("bot", reply)), (0,))
        for number, (said, reply) in enumerate(pairs)
    )
    return RankingTask(
        number=1, splits={"trn": dialogs, "dev": dialogs, "tst": dialogs}, candidates=candidates, facts=facts
    )


@pytest.mark.parametrize("kind", [TfIdfChosen, TfIdfTypesChosen])
def test_the_input_is_chosen_on_dev(kind: type[TfIdf]) -> None:
    candidates = ("alpha", "beta", "gamma")
    history = (Line("user", "beta beta"), Line("bot", "beta"), Line("user", "alpha"), Line("bot", "alpha"))
    dialog = Episode("one", history, (2,))
    ranker = kind()
    told: list[str] = []
    ranker.fit(RankingTask(1, {"trn": (dialog,), "dev": (dialog,)}, candidates), told.append)
    assert ranker.input == "utterance"
    assert any("input history" in line for line in told)


def test_nearest_neighbour_ties() -> None:
    """Equal overlap goes to the group seen first; in a group the most frequent reply wins, then the first seen."""
    pairs = [("a b", "one"), ("b a", "two"), ("a b", "two"), ("a c", "three"), ("d", "four"), ("d", "five")]
    ranker = NearestNeighbour()
    ranker.fit(task_of(pairs, ("one", "two", "three", "four", "five")))

    def said(utterance: str) -> str:
        return ranker.candidates[int(ranker.scores([point(utterance=utterance)])[0].argmax())]

    assert said("a") == "two"
    assert said("A c") == "three"
    assert said("d") == "four"
    assert said("nothing of it") == "two"


@pytest.mark.parametrize("kind", [TfIdf, TfIdfTypes])
def test_moving_to_the_world_it_came_from_changes_the_order_only(kind: type[Ranker]) -> None:
    task = tiny_task(1)
    here, there = kind(), kind()
    for ranker in (here, there):
        ranker.fit(task)
    move_to(there, TINY, 0)
    assert set(there.candidates) == set(here.candidates)
    asked = points_of(task.split("tst"))[:40]
    back = [there.candidates.index(text) for text in here.candidates]
    np.testing.assert_allclose(there.scores(asked)[:, back], here.scores(asked))


def test_nearest_neighbour_cannot_move_where_its_replies_are_unknown() -> None:
    ranker = NearestNeighbour()
    ranker.fit(task_of([("a", "one"), ("b", "two")], ("one", "two")))
    ranker.move(["zero", "two", "one"], [])
    assert ranker.candidates[int(ranker.scores([point(utterance="b")])[0].argmax())] == "two"
    with pytest.raises(DialgaugeError, match="learned the reply 'one'"):
        ranker.move(["zero"], [])


def test_tfidf_takes_its_input_and_pairs_of_words_as_settings() -> None:
    candidates = ("a table for two", "two for a table", "thanks")
    task = task_of([("a table for two", "a table for two")], candidates)
    paired = TfIdf()
    paired.options = {"input": "utterance", "bigrams": "true"}
    paired.fit(task)
    asked = Point("d", 0, (), "two for a table")
    assert paired.scores([asked])[0].argmax() == 1, "the same words, but other pairs"
    plain = TfIdf()
    plain.options = {"input": "dev"}
    plain.fit(task)
    assert plain.scores([asked])[0, 0] == plain.scores([asked])[0, 1], "without pairs order does not count"
    moved = TfIdf()
    moved.candidates = candidates
    moved.restore(paired.settings(), {})
    assert (moved.scores([asked]) == paired.scores([asked])).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [({"input": "utterence"}, "Did you mean 'utterance'"), ({"bigrams": "yes"}, "bigrams must be true or false")],
)
def test_tfidf_refuses_other_values(options: dict[str, str], said: str) -> None:
    model = TfIdf()
    model.options = options
    with pytest.raises(DialgaugeError, match=said):
        model.fit(tiny_task(1))
