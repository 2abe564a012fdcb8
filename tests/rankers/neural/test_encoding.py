from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dialgauge.rankers import words_and_pairs
from dialgauge.rankers.neural import Lines, batches, encode, padded, vocabulary, words_of
from support.tiny_world import point

BOT = 1
TIMES = 1000
USER = 0


def test_a_line_is_numbered_once_and_unknown_words_are_left_out() -> None:
    lines = Lines({"hello": 0, "there": 1}, words_of)
    assert [lines.number(text) for text in ("Hello there", "x hello", "Hello there", "")] == [1, 2, 1, 0]
    assert lines.tokens == [[], [0, 1], [0]]


def test_vocabulary_is_in_order_of_appearance() -> None:
    assert vocabulary(["b a", "a c", "b a"], words_of) == ["b", "a", "c"]


def test_pairs_stay_within_one_text() -> None:
    assert words_and_pairs("a b c") == ["a", "b", "c", "a b", "b c"]
    assert words_and_pairs("a") == ["a"]


def test_speakers_times_and_padding() -> None:
    lines = Lines({}, words_of)
    asked = [point(utterance="q"), point(("user", "a"), ("bot", "b"), ("fact", "f x y"), utterance="q", reply="yes")]
    encoded = encode(asked, lines, {"yes": 4})
    ids, speakers, times = padded(encoded, np.array([0, 1]))
    assert ids.tolist() == [[0, 0, 0], [1, 2, 3]]
    assert speakers.tolist() == [[0, 0, 0], [USER, BOT, USER]]
    assert times.tolist() == [[-1, -1, -1], [2, 1, 0]]
    assert encoded.queries.tolist() == [4, 4]
    assert encoded.gold.tolist() == [-1, 4]


def test_points_without_any_memory() -> None:
    encoded = encode([point(), point()], Lines({}, words_of), {})
    assert [column.shape for column in padded(encoded, np.array([0, 1]))] == [(2, 0)] * 3


def test_time_stops_at_its_last_index() -> None:
    history = [("user", str(number)) for number in range(TIMES + 5)]
    _, _, times = padded(encode([point(*history)], Lines({}, words_of), {}), np.array([0]))
    assert times[0, -1] == 0
    assert times.max() == times[0, 0] == TIMES - 1


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 7), st.one_of(st.none(), st.integers(0, 99)))
def test_every_point_is_in_exactly_one_batch(lengths: list[int], size: int, seed: int | None) -> None:
    cut = batches(np.array(lengths, dtype=np.int64), size, seed)
    assert sorted(int(row) for rows in cut for row in rows) == list(range(len(lengths)))
    assert all(1 <= len(rows) <= size for rows in cut)


def test_batches_follow_from_the_seed() -> None:
    lengths = np.arange(50) % 7
    one, same, other = (batches(lengths, 8, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("size", [1, 3, 100])
def test_batches_hold_points_of_similar_length(size: int) -> None:
    lengths = np.array([5, 1, 4, 2, 3])
    spans = [lengths[rows].max() - lengths[rows].min() for rows in batches(lengths, size, 0)]
    assert max(spans) <= size - 1
