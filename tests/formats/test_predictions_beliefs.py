"""Formats whose states are lists of texts (SOM-DST, TRADE, T5-DST, SimpleTOD) and those built up turn by turn."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from dialgauge.dialogue import State
from dialgauge.errors import DialgaugeError
from dialgauge.formats import Notes
from dialgauge.formats.predictions import Beliefs, hyphenated, hyphenated_slot
from support.examples import EXAMPLES, as_json
from support.reading import part_of, read_bytes, read_json

TWO_VALUES = "slots with two values in one state, the later kept"
TWICE = ["hotel-area-east", "hotel-area-west"]


def states(format: str, value: Any) -> list[tuple[State | None, State | None]]:
    """Gold and prediction of each turn of the only dialogue."""
    [dialogue], _ = read_json(format, value)
    return [(turn.state, turn.predicted) for turn in dialogue.turns]


@given(
    domain=st.text(min_size=1).filter(lambda text: "-" not in text),
    slot=st.text(min_size=1).filter(lambda text: "-" not in text),
    value=st.text(),
)
def test_only_the_first_two_hyphens_separate(domain: str, slot: str, value: str) -> None:
    assert hyphenated(f"{domain}-{slot}-{value}") == (domain, slot, value)
    assert hyphenated_slot(f"{domain}-{slot}") == (domain, slot)


@pytest.mark.parametrize("text", ["", "hotel", "hotel-area", "-area-north", "hotel--north"])
def test_texts_that_are_no_triple(text: str) -> None:
    with pytest.raises(DialgaugeError, match="domain-slot-value"):
        hyphenated(text)


def test_of_two_values_for_a_slot_the_later_stands_and_is_noted() -> None:
    notes = Notes()
    texts = ["hotel-area-east", "hotel-area-east", "hotel-area-west", "hotel-stars-none"]
    beliefs = Beliefs(hyphenated, part_of(b"[]"), notes)
    for times in (1, 2):  # a state that repeats is built once and noted every time
        assert beliefs.read(msgspec.Raw(as_json(texts))) == {"hotel": {"area": ("west",)}}
        assert notes.counts == {TWO_VALUES: times}
    assert notes.places == {TWO_VALUES: ["dialogue , turn 0"] * 2}
    beliefs.read(msgspec.Raw(as_json(texts)), gold=True)  # which the scores of predictions do not depend on
    assert notes.counts == {TWO_VALUES: 2, f"gold: {TWO_VALUES}": 1}


@pytest.mark.parametrize(("name", "written"), [
    ("trade", {"A": {"0": {"turn_belief": [], "pred_bs_ptr": []}, "1": {"turn_belief": [], "pred_bs_ptr": TWICE}}}),
    ("t5-dst", {"A": {"turns": {"0": {"pred_belief": []}, "1": {"pred_belief": TWICE}}}}),
    ("som-dst", {"A_0": [[], []], "A_1": [TWICE, []]}),
    ("simpletod", {"A": {"generated_turn_belief": [[], [text.replace("-", " ") for text in TWICE]]}}),
    ("predictions", {"A": ["", "hotel-area=east; hotel-area=west"]}),
    ("predictions", {"A": ["{}", '{"hotel-area": "east", "hotel-area": "west"}']}),
    ("predictions", {"A": [[], [["hotel-area", "east"], ["hotel-area", "west"]]]}),
])  # fmt: skip
def test_two_values_are_told_with_their_place(name: str, written: Any) -> None:
    [dialogue], notes = read_json(name, written)
    assert dialogue.turns[1].predicted == {"hotel": {"area": ("west",)}}
    assert (notes.counts[TWO_VALUES], notes.places[TWO_VALUES]) == (1, ["dialogue A, turn 1"])


def test_som_dst_lists_the_prediction_first() -> None:
    [dialogue], _ = read_bytes("som-dst", EXAMPLES["som-dst"])
    assert dialogue.id == "MUL0001.json"
    assert dialogue.turns[1].predicted == {"hotel": {"area": ("east",), "book people": ("2",)}}
    assert dialogue.turns[1].state == {"hotel": {"area": ("north",), "name": ("a-b",)}}


def test_som_dst_keys_may_be_interleaved_and_ids_contain_underscores() -> None:
    value = {"a_1_0": [["x-y-1"], []], "b_0": [[], []], "a_1_1": [["x-y-2"], []]}
    dialogues, _ = read_json("som-dst", value)
    assert [(dialogue.id, len(dialogue.turns)) for dialogue in dialogues] == [("a_1", 2), ("b", 1)]


def test_som_dst_key_without_a_turn() -> None:
    with pytest.raises(DialgaugeError, match="the key 'b' is not a dialogue id, an underscore and a turn"):
        read_json("som-dst", {"a_0": [[], []], "b": [[], []]})


def test_trade_gold_is_turn_belief_and_may_be_missing() -> None:
    value = {
        "a": {"0": {"turn_belief": ["hotel-area-north"], "pred_bs_ptr": ["hotel-area-none"]}, "1": {"pred_bs_ptr": []}}
    }
    assert states("trade", value) == [({"hotel": {"area": ("north",)}}, {}), (None, {})]


@pytest.mark.parametrize(
    ("domain", "domains"), [("hotel", ("hotel",)), (["hotel", "taxi"], ("hotel", "taxi")), ("", ())]
)
def test_t5_dst_keeps_the_domain_of_the_dialogue(domain: Any, domains: tuple[str, ...]) -> None:
    turns = {"0": {"turn_belief": ["hotel-book stay-2"], "pred_belief": ["hotel-book stay-3"]}}
    [dialogue], _ = read_json("t5-dst", {"a": {"domain": domain, "turns": turns}})
    assert dialogue.domains == domains
    assert dialogue.turns[0].state == {"hotel": {"book stay": ("2",)}}
    assert dialogue.turns[0].predicted == {"hotel": {"book stay": ("3",)}}


def test_simpletod_booking_slots_have_two_words() -> None:
    [dialogue], notes = read_bytes("simpletod", EXAMPLES["simpletod"])
    assert dialogue.turns[1].state == {"hotel": {"area": ("north",), "book stay": ("2",)}}
    assert dialogue.turns[1].predicted == {"hotel": {"area": ("east",), "book stay": ("2",)}}
    assert notes.counts == {"field model_context dropped": 1}


def test_simpletod_values_may_have_several_words() -> None:
    value = {"a": {"generated_turn_belief": [["train departure london kings cross"]], "target_turn_belief": [[]]}}
    assert states("simpletod", value) == [({}, {"train": {"departure": ("london kings cross",)}})]


@pytest.mark.parametrize(
    ("text", "predicted"),
    [
        ("hotel", {"hotel": {"": ("hotel",)}}),
        ("hotel area", {"hotel": {"area": ("hotel area",)}}),
        ("hotel book stay", {"hotel": {"book stay": ("hotel book stay",)}}),
    ],
)
def test_a_generated_belief_that_is_no_triple_counts_against_the_system(text: str, predicted: State) -> None:
    [dialogue], notes = read_json("simpletod", {"a": {"generated_turn_belief": [[text, " "]]}})
    assert dialogue.turns[0].predicted == predicted
    assert notes.counts == {"generated beliefs without slot or value, kept as wrong": 1}


def test_simpletod_lists_of_different_length_are_never_cut_to_the_shorter() -> None:
    generated, target = [["hotel area east"]], [["hotel area east"], ["hotel area west"]]
    [shorter], notes = read_json("simpletod", {"a": {"generated_turn_belief": generated, "target_turn_belief": target}})
    assert [turn.predicted for turn in shorter.turns] == [{"hotel": {"area": ("east",)}}, None]
    assert notes.counts == {"turns without a generated belief, left as holes": 1}
    [longer], notes = read_json("simpletod", {"a": {"generated_turn_belief": target, "target_turn_belief": generated}})
    assert [turn.state for turn in longer.turns] == [{"hotel": {"area": ("east",)}}, None]
    assert notes.counts == {"turns without a target belief": 1}


def test_hi_dst_predictions_add_up_by_overwriting() -> None:
    value = {
        "a": {
            "0": {"gt": {"hotel-area": "north"}, "pr_turn": {"hotel-area": "east", "hotel-stars": "4"}},
            "1": {"gt": {"hotel-area": "north"}, "pr_turn": {"hotel-area": "north"}},
            "2": {"gt": {}, "pr_turn": {"hotel-stars": "none"}},
        }
    }
    assert states("hi-dst", value) == [
        ({"hotel": {"area": ("north",)}}, {"hotel": {"area": ("east",), "stars": ("4",)}}),
        ({"hotel": {"area": ("north",)}}, {"hotel": {"area": ("north",), "stars": ("4",)}}),
        ({}, {"hotel": {"area": ("north",)}}),
    ]


def test_hi_dst_notes_the_field_it_has_no_place_for() -> None:
    _, notes = read_bytes("hi-dst", EXAMPLES["hi-dst"])
    assert notes.counts == {"field slots dropped": 2}


def trippy_turn(turn: int | str, **slots: tuple[int, str, str]) -> dict[str, Any]:
    record: dict[str, Any] = {"guid": ["test", "MUL1", turn]}
    for name, (number, predicted, gold) in slots.items():
        slot = name.replace("_", "-", 1)
        record |= {f"class_prediction_{slot}": number, f"slot_prediction_{slot}": predicted}
        record[f"slot_groundtruth_{slot}"] = gold
    return record


def test_trippy_rebuilds_the_state_from_the_classes() -> None:
    value = [
        trippy_turn(
            "0", hotel_area=(2, "east", "north"), hotel_parking=(3, "", "true"), taxi_departure=(0, "none", "none")
        ),
        trippy_turn(
            1, hotel_area=(0, "none", "north"), hotel_parking=(4, "", "true"), taxi_departure=(6, "§§ a b", "a b")
        ),
        trippy_turn("2", hotel_area=(1, "", "none"), hotel_parking=(0, "", "true"), taxi_departure=(5, "§§c", "c")),
        trippy_turn("3", hotel_area=(6, "§§none", "none"), hotel_parking=(0, "", "true"), taxi_departure=(0, "c", "c")),
    ]
    predicted = [prediction for _, prediction in states("trippy", value)]
    assert predicted == [
        {"hotel": {"area": ("east",), "parking": ("true",)}},
        {"hotel": {"area": ("east",), "parking": ("false",)}, "taxi": {"departure": ("a b",)}},
        {"hotel": {"area": ("dontcare",), "parking": ("false",)}, "taxi": {"departure": ("c",)}},
        {"hotel": {"area": ("dontcare",), "parking": ("false",)}, "taxi": {"departure": ("c",)}},
    ]


def test_trippy_gold_is_taken_as_it_stands() -> None:
    value = [trippy_turn("0", hotel_book_people=(0, "none", "2")), trippy_turn("1", hotel_book_people=(0, "", "none"))]
    assert [gold for gold, _ in states("trippy", value)] == [{"hotel": {"book_people": ("2",)}}, {}]


def test_trippy_ids_with_hyphens_come_in_pieces() -> None:
    [dialogue], _ = read_json("trippy", [{"guid": ["test", "sim", "R", "7", "0"], "class_prediction_hotel-area": 0}])
    assert (dialogue.id, dialogue.turns[0].predicted, dialogue.turns[0].state) == ("sim-R-7", {}, None)


def test_trippy_ids_may_be_one_text() -> None:
    value = [{"guid": f"test-SNG0832.json-{turn}", "class_prediction_hotel-area": turn} for turn in range(2)]
    [dialogue], _ = read_json("trippy", value)
    assert (dialogue.id, len(dialogue.turns)) == ("SNG0832.json", 2)


def test_trippy_tells_slots_that_go_back_to_none() -> None:
    """TripPy's metric carries them over, and so does the reader; a slot is counted when it goes, not in each turn."""
    value = [
        trippy_turn("0", hotel_area=(2, "east", "north"), hotel_stars=(2, "4", "4")),
        trippy_turn("1", hotel_area=(0, "none", "north"), hotel_stars=(0, "4", "4")),
        trippy_turn("2", hotel_area=(0, "none", "north"), hotel_stars=(0, "4", "4")),
        trippy_turn("3", hotel_area=(2, "west", "north"), hotel_stars=(0, "none", "4")),
        trippy_turn("4", hotel_area=(0, "none", "north"), hotel_stars=(0, "none", "4")),
    ]
    [dialogue], notes = read_json("trippy", value)
    assert dialogue.turns[-1].predicted == {"hotel": {"area": ("west",), "stars": ("4",)}}
    told = "slots that go back to none, which keep their value as in TripPy's own metric"
    assert (notes.counts[told], notes.places[told][0]) == (3, "dialogue MUL1, turn 1")


@pytest.mark.parametrize("guid", [None, "MUL1-0", [], ["test", "a"], [None, None, None]])
def test_trippy_objects_without_a_place(guid: Any) -> None:
    with pytest.raises(DialgaugeError, match="object 1 of the list"):
        read_json("trippy", [{"guid": guid, "class_prediction_hotel-area": 0}])


def test_trippy_counts_what_it_drops() -> None:
    _, notes = read_bytes("trippy", EXAMPLES["trippy"])
    assert notes.counts == {"fields of labels, positions and referrals dropped": 1}


def test_flags_name_the_thirty_slots_in_order() -> None:
    order = []
    for position in range(30):
        flags = [1] * 30
        flags[position] = 0
        [dialogue], _ = read_json("flags", {"a": {"0": flags}})
        judged = dialogue.turns[0].judged
        assert judged is not None
        [wrong] = [(domain, slot) for domain, slots in judged.items() for slot, right in slots.items() if not right]
        order.append(wrong)
    assert len(set(order)) == 30
    assert (
        order[0] == ("taxi", "leaveAt") and order[7] == ("restaurant", "food") and order[-1] == ("train", "departure")
    )
