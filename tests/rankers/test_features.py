"""Bags of words and match types against loops over words."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from dialgauge.dialogue import Fact
from dialgauge.rankers import Point, TypedEntities, WordIndex, history_bags, matches, tokens, utterance_bags
from support.tiny_world import point

WORDS = st.sampled_from(["a", "B", "c", "option:", "i'm", "_x_", "unknown"])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)


@st.composite
def points(draw: st.DrawFn) -> Point:
    history = draw(st.lists(st.tuples(st.sampled_from(["user", "bot", "fact"]), TEXTS), max_size=4))
    return point(*history, utterance=draw(TEXTS))


def test_tokens_stay_whole() -> None:
    assert tokens("I'm on <SILENCE> Option: resto_A_1") == ["i'm", "on", "<silence>", "option:", "resto_a_1"]


@given(st.lists(points(), min_size=1, max_size=5))
def test_bags_count_words(found: list[Point]) -> None:
    vocabulary = WordIndex(["a", "b", "c", "option:", "i'm", "_x_"])
    whole = history_bags(vocabulary, found).dense()
    last = utterance_bags(vocabulary, found).dense()
    for row, one in enumerate(found):
        said = [*(line.text for line in one.history), one.utterance]
        words = [word for text in said for word in tokens(text)]
        assert whole[row].tolist() == [words.count(word) for word in vocabulary.index]
        assert last[row].tolist() == [tokens(one.utterance).count(word) for word in vocabulary.index]


FACTS = [
    Fact("inn", "R_cuisine", "Thai"),
    Fact("inn", "R_phone", "inn_phone"),
    Fact("pub", "R_cuisine", "greek"),
    Fact("pub", "R_rating", "8"),
    # A word of two types.
    Fact("pub", "R_location", "greek"),
]


@given(
    st.lists(
        st.lists(st.sampled_from(["thai", "greek", "inn_phone", "8", "hello"]), max_size=4).map(" ".join),
        min_size=1,
        max_size=4,
    ),
    st.lists(
        st.lists(st.sampled_from(["Thai", "greek", "inn_phone", "hello"]), max_size=4).map(" ".join),
        min_size=1,
        max_size=4,
    ),
)
def test_matches_against_a_double_loop(said: list[str], candidates: list[str]) -> None:
    entities = TypedEntities.of_facts(FACTS)
    asked = [point(("fact", text), utterance="x") for text in said]
    found = list(matches(entities.present(asked), entities.mentions(candidates)))
    assert entities.kinds == ["R_cuisine", "R_phone", "R_rating", "R_location"]
    for kind, values in enumerate(entities.words.values()):
        for row, text in enumerate(said):
            for column, candidate in enumerate(candidates):
                shared = set(values) & set(tokens(text)) & set(tokens(candidate))
                assert found[kind][row, column] == bool(shared)


def test_empty_input_is_an_empty_bag() -> None:
    empty = history_bags(WordIndex(["a"]), [point(utterance="")])
    assert empty.shape == (1, 1)
    assert np.count_nonzero(empty.dense()) == 0
