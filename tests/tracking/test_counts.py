"""Counting slot by slot against counting all slots at once, and the keys of dialogues against their definition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue, Turn, dialogue_key
from dialgauge.tracking import PreparedInputs, SlotTally, TurnCounts, dialogue_keys, key_hashes, turn_counts
from dialgauge.values import profile_named
from support.soak import examples

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]

KINDS = [np.int8, np.uint16, np.int32, np.int64]


def require_equal(found: TurnCounts, expected: TurnCounts) -> None:
    for name in TurnCounts.__struct_fields__:
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def tallied(gold: Sequence[Codes], predicted: Sequence[Codes], first: Flags) -> TurnCounts:
    tally = SlotTally(first, len(gold))
    for left, right in zip(gold, predicted, strict=True):
        tally.add(left, right)
    return tally.counts()


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_slot_by_slot_is_all_at_once(data: st.DataObject) -> None:
    turns, slots = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 5))
    codes = st.lists(st.lists(st.integers(0, 2), min_size=turns, max_size=turns), min_size=slots, max_size=slots)
    gold, predicted = np.array(data.draw(codes)), np.array(data.draw(codes))
    first = np.array([True, *data.draw(st.lists(st.booleans(), min_size=turns - 1, max_size=turns - 1))])
    kinds = [data.draw(st.sampled_from(KINDS)) for _ in range(2 * slots)]
    require_equal(
        tallied(
            [row.astype(kind) for row, kind in zip(gold, kinds[:slots], strict=True)],
            [row.astype(kind) for row, kind in zip(predicted, kinds[slots:], strict=True)],
            first,
        ),
        turn_counts(gold.astype(np.int32), predicted.astype(np.int32), first),
    )


def test_more_slots_than_a_byte_can_count() -> None:
    gold, predicted = np.ones((300, 4), np.int32), np.full((300, 4), 2, np.int32)
    first = np.array([True, False, True, False])
    found = tallied(list(gold), list(predicted), first)
    require_equal(found, turn_counts(gold, predicted, first))
    assert found.wrong.tolist() == [300] * 4


TEXTS = st.text(alphabet="abAB0 .jsonJSON\téß漢", min_size=1, max_size=90)


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_keys_are_those_of_single_ids(ids: list[str]) -> None:
    assert dialogue_keys(polars.Series(ids, dtype=polars.String)).to_list() == [dialogue_key(one) for one in ids]


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_a_key_has_the_same_hash_in_every_file(texts: list[str]) -> None:
    together = np.frombuffer(key_hashes(polars.Series(texts, dtype=polars.String)), np.uint64)
    alone = [np.frombuffer(key_hashes(polars.Series([one], dtype=polars.String)), np.uint64)[0] for one in texts]
    assert together.tolist() == [int(one) for one in alone]


@pytest.mark.parametrize("form", ["{}", "MUL{:04}", "dialogue-{}", "{:020}x"])
def test_different_keys_have_different_hashes(form: str) -> None:
    keys = polars.Series([form.format(number) for number in range(200_000)])
    assert len(np.unique(np.frombuffer(key_hashes(keys), np.uint64))) == len(keys)


def test_domains_that_share_their_slots_stay_apart() -> None:
    """Readers share the slots of equal texts, whatever domain they are of."""
    slots: dict[str, tuple[str, ...]] = {"area": ("north",)}
    gold = Turn(speaker="user", state={"hotel": slots, "restaurant": slots})
    predicted = Turn(speaker="user", predicted={"hotel": slots})
    dialogues, systems = ([Dialogue(id=name, turns=(turn, turn)) for name in ("a", "b")] for turn in (gold, predicted))
    comparison = PreparedInputs(dialogues, {"it": systems}).comparison("it", profile_named("plain"))
    assert comparison.counts.turns.correct.tolist() == comparison.counts.turns.missed.tolist() == [1] * 4
