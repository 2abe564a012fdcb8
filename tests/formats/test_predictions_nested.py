"""Nested gt/pr: the spec's example, files with one side, and the writer as the reader's inverse."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from dialgauge.dialogue import Dialogue, Turn
from support.examples import EXAMPLES
from support.reading import read_bytes, read_json, write_bytes
from support.soak import examples

WORDS = st.text(max_size=8)
VALUES = st.text(min_size=1, max_size=8).filter(lambda text: text.strip().lower() not in ("", "none", "not mentioned"))
STATES = st.none() | st.dictionaries(
    WORDS,
    st.dictionaries(WORDS, st.lists(VALUES, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3),
    max_size=3,
)
TURNS = st.builds(lambda gold, predicted: Turn(speaker="user", state=gold, predicted=predicted), STATES, STATES)
CORPORA = st.lists(st.lists(TURNS, max_size=4), max_size=4).map(
    lambda corpus: [Dialogue(id=f"d{i}", turns=tuple(turns)) for i, turns in enumerate(corpus)]
)


def test_the_example_of_the_spec() -> None:
    [dialogue], notes = read_bytes("nested", EXAMPLES["nested"])
    first, second = dialogue.turns
    assert dialogue.id == "MUL0001.json"
    assert first.state == {"hotel": {"area": ("north",)}}
    assert first.predicted == {"hotel": {"area": ("east",), "book day": ("monday",)}}
    assert second.predicted == {}
    assert not notes.counts


def test_a_side_that_is_left_out_is_not_recorded_rather_than_empty() -> None:
    [dialogue], _ = read_json("nested", {"a": {"0": {"pr": {}}, "1": {"gt": {}}}})
    assert [(turn.state, turn.predicted) for turn in dialogue.turns] == [(None, {}), ({}, None)]


def test_values_that_mean_absent_are_left_out_and_alternatives_kept() -> None:
    state = {
        "hotel": {"area": "none", "name": "", "stars": ["4", "four"], "type": "Not Mentioned"},
        "taxi": {"day": "none"},
    }
    [dialogue], _ = read_json("nested", {"a": {"0": {"gt": state}}})
    assert dialogue.turns[0].state == {"hotel": {"stars": ("4", "four")}}


@settings(max_examples=examples(100), deadline=None)
@given(CORPORA)
def test_reading_what_was_written_gives_the_same_states(corpus: list[Dialogue]) -> None:
    content, notes = write_bytes("nested", corpus)
    assert read_bytes("nested", content)[0] == corpus
    assert not notes.counts


def test_the_writer_reports_the_turns_it_has_no_place_for() -> None:
    turns = (Turn(speaker="user", state={}), Turn(speaker="system", text="hello"))
    content, notes = write_bytes("nested", [Dialogue(id="a", turns=turns)])
    assert content == b'{\n"a": {"0":{"gt":{}}}\n}\n'
    assert notes.counts == {"system turns dropped": 1}
