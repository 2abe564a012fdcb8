"""The profile ``mwzeval`` is the state-tracking mode of MultiWOZ_Evaluation: its published scores, and every turn."""

from __future__ import annotations

import gzip
import json
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import dialgauge
from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.tracking import STOPS, TrackedSystem
from support.reading import read_json
from support.soak import examples
from tracking.mwzeval_oracle import Tally, Written, tracking_mode

MEASURES = "JGA,F1,Precision,Recall"
SYSTEMS = ["augpt", "dots", "mintl", "ubar"]
BOOKING = {"hotel": ("day", "people", "stay"), "restaurant": ("day", "people", "time"), "train": ("people",)}

Gold = Mapping[str, Sequence[Written]]
Predictions = Mapping[str, Sequence[Mapping[str, Any]]]


def gold_dialogues(gold: Gold) -> list[Dialogue]:
    def state(written: Written) -> State:
        return {
            domain: {slot: (value,) if isinstance(value, str) else tuple(value) for slot, value in slots.items()}
            for domain, slots in written.items()
        }

    return [
        Dialogue(id=name, turns=tuple(Turn(speaker="user", state=state(one)) for one in turns))
        for name, turns in gold.items()
    ]


def scored(gold: Sequence[Dialogue], predictions: Predictions) -> TrackedSystem:
    theirs, _ = read_json("mwzeval", predictions)
    return dialgauge.score(
        gold, {"mine": theirs}, measures=MEASURES, profile="mwzeval", intervals=False, accept=STOPS
    ).systems[0]


def require_same(gold: Gold, predictions: Predictions) -> None:
    found, wanted = scored(gold_dialogues(gold), predictions), tracking_mode(gold, predictions)
    counts = found.run.details["counts"]
    assert (
        Tally(
            counts["turns"],
            counts["exact"],
            counts["correct"],
            counts["wrong_value"] + counts["spurious"],
            counts["wrong_value"] + counts["missed"],
        )
        == wanted
    )
    for measure, value in wanted.scores.items():
        if not math.isnan(found[measure]):  # of nothing; the package says 0
            assert found[measure] == pytest.approx(value, abs=1e-12), measure


def one_turn(state: Written) -> Predictions:
    return {"mul0001": [{"response": "", "state": state}]}


@pytest.mark.parametrize(
    ("wanted", "given", "exact"),
    [
        ({"hotel": {"area": "north"}}, {"hotel": {"area": "north", "name": "none"}}, False),
        ({"hotel": {"area": "north"}}, {"hotel": {"area": "north", "name": ""}}, False),
        ({"hotel": {"area": "north"}}, {"hotel": {"area": "north", "name": None}}, False),
        ({"hotel": {"area": "north"}}, {"hotel": {"area": "north", "name": "Not Mentioned"}}, False),
        ({"hotel": {"area": "north"}}, {"hotel": {"area": "north", "name": "not given"}}, False),
        ({"hotel": {"area": "north"}}, {"hotel": {"area": "north", "name": "dontcare"}}, False),
        ({"hotel": {"area": "north", "name": "dontcare"}}, {"hotel": {"area": "north"}}, True),
        ({"hotel": {"area": ["north", "dontcare"]}}, {}, True),
        ({"hotel": {"area": ["north", "south"]}}, {"hotel": {"area": "south"}}, False),
        ({"taxi": {"leaveAt": "00:00"}}, {"taxi": {"leave": ""}}, True),
        ({"taxi": {"leaveAt": "09:05"}}, {"taxi": {"leave at": "9:05"}}, True),
        ({"taxi": {"leaveAt": "9:5"}}, {"taxi": {"leaveat": "09:05"}}, False),
        ({"taxi": {"leaveAt": "17:30"}}, {"taxi": {"leaveat": "5:30 pm"}}, True),
        ({"taxi": {"leaveAt": "12:30"}}, {"taxi": {"leaveat": "12:30 pm"}}, False),
        ({"hotel": {"area": "centre"}}, {"hotel": {"area": "Centre"}}, False),
        ({"hotel": {"area": "centre"}}, {"Hotel": {"area": "centre"}}, False),
        ({"hotel": {"name": "acorn guest house"}}, {"hotel": {"name": " Acorn House "}}, True),
        ({"restaurant": {"food": "british"}}, {"restaurant": {"food": "English"}}, True),
        ({"hotel": {"type": "guesthouse"}}, {"hotel": {"type": "guest house"}}, True),
        ({"hotel": {"type": "guesthouse"}}, {"hotel": {"type": "Guest house"}}, False),
        ({"hotel": {"stars": "1"}}, {"hotel": {"stars": "10"}}, True),
        ({"hotel": {"people": "2"}}, {"hotel": {"people": "2"}, "police": {"name": "parkside"}}, False),
        ({"hotel": {"people": "2"}}, {"hotel": {"people": "2"}, "police": {}}, True),
        ({"hotel": {"people": "2"}}, {"hotel": {"book people": "2"}}, False),
        ({"hotel": {"people": "2"}}, {"hotel": {"people": "2", "price_range": "cheap"}}, False),
        ({"hotel": {"pricerange": "cheap"}}, {"hotel": {"price range": "cheap"}}, True),
        ({"hotel": {"hotel-bookpeople": ["2"]}}, {"hotel": {"people": "2"}}, False),
        ({"hotel": {"hotel-bookpeople": ["2"]}}, {"hotel": {"book people": "2"}}, True),
        ({"hospital": {"department": "oncology"}, "hotel": {"area": "east"}}, {"hotel": {"area": "east"}}, False),
        ({"taxi": {"leaveAt": "10:00"}}, {"taxi": {"leaveat": "none", "leave at": "10:00"}}, True),
        ({"taxi": {"leaveAt": "10:00"}}, {"taxi": {"leave at": "10:00", "leaveat": "none"}}, False),
        ({"taxi": {"leaveAt": "10:00"}}, {"taxi": {"leave at": "11:00", "leaveat": "10:00"}}, True),
        ({"hotel": {"name": "yu garden"}}, {"hotel": {"name": "curry garden"}}, False),
    ],
)  # fmt: skip
def test_one_turn(wanted: Written, given: Written, exact: bool) -> None:
    gold = {"mul0001": [wanted]}
    assert scored(gold_dialogues(gold), one_turn(given))["JGA"] == exact
    if None not in (given.get("hotel") or {}).values():  # the package fails on null in a name
        require_same(gold, one_turn(given))


DOMAINS = ["hotel", "Hotel", "restaurant", "taxi", "train", "police", "bus"]
SLOTS = [
    "area", "name", "Name", "food", "type", "parking", "people", "book people", "bookpeople", "book_people", "day",
    "leaveAt", "leave at", "leave", "arriveby", "arrive by", "arrive", "time", "price range", "pricerange", "odd",
]  # fmt: skip
VALUES = [
    "none", "None", "", " ", "not mentioned", "not given", "dontcare", "don't care", "do n't care", "north", "North",
    "centre", "center", "2", "10", "1", "monday", "free", "yes", "9:5", "9:05", "09:05", "905", "0905", "after 9:05",
    "9 am", "5 pm", "5:30 p.m.", "17:30", "12:30 pm", "noon", "by 18 : 00", "18:00.", "guest house", "guesthouse",
    "swimming pool", "swimmingpool", "english", "British", "sea food", "acorn house", "acorn guest house",
    "Rosa 's", "rosas bed and breakfast", "a & b", "a&b", "a and b", "yu garden", "curry garden", "garden",
    "london", "london kings cross", "tandoori Palace", "café", "cafe",
]  # fmt: skip

texts = st.sampled_from(VALUES) | st.text("0123456789:. apmbyfter&'", max_size=9).filter(lambda text: "p" not in text)
predicted_states = st.dictionaries(
    st.sampled_from(DOMAINS), st.dictionaries(st.sampled_from(SLOTS), texts, max_size=4), max_size=3
)
gold_texts = texts.filter(lambda text: text.strip().lower() not in ("", "none", "not mentioned"))
gold_states = st.dictionaries(
    st.sampled_from(DOMAINS),
    st.dictionaries(st.sampled_from(SLOTS), gold_texts | st.lists(gold_texts, min_size=1, max_size=3), max_size=4),
    max_size=3,
)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Gold, Predictions]:
    gold: dict[str, list[Written]] = {"mul0000": [{"hotel": {"area": "north"}}]}
    predictions: dict[str, list[Mapping[str, Any]]] = {"mul0000": [{"response": "", "state": {}}]}
    for number in range(1, draw(st.integers(1, 3)) + 1):
        wanted = draw(st.lists(gold_states, min_size=1, max_size=3))
        gold[f"mul{number}"] = list(wanted)
        repeated = [_first_values(state) if draw(st.booleans()) else {} for state in wanted]
        given = [{**same, **draw(predicted_states)} for same in repeated]
        predictions[f"mul{number}"] = [
            {"response": "", "state": state} for state in given[: draw(st.integers(1, len(given)))]
        ]
    return gold, predictions


def _first_values(state: Written) -> dict[str, dict[str, str]]:
    return {
        domain: {slot: value if isinstance(value, str) else value[0] for slot, value in slots.items()}
        for domain, slots in state.items()
    }


@settings(max_examples=examples(400), deadline=None)
@given(conversations())
def test_any_states(both: tuple[Gold, Predictions]) -> None:
    require_same(*both)


@pytest.fixture(scope="module")
def expected_modes(expected: Path) -> Any:
    systems = json.loads((expected / "dst_mwzeval_shared.json").read_bytes())["systems"]
    return {name: system["mwzeval_dst_mode"] for name, system in systems.items()}


@pytest.fixture(scope="module")
def multiwoz(shared_data: Path) -> list[Dialogue]:
    return list(dialgauge.read(shared_data / "multiwoz21" / "test.json.gz"))


def with_book(dialogue: Dialogue) -> Dialogue:
    """Booking slots named as in MultiWOZ 2.2, the package's own gold."""

    def renamed(state: State) -> State:
        return {
            domain: {f"book{slot}" if slot in BOOKING.get(domain, ()) else slot: value for slot, value in slots.items()}
            for domain, slots in state.items()
        }

    turns = [Turn(speaker="user", state=renamed(turn.state or {})) for turn in dialogue.user_turns()]
    return Dialogue(id=dialogue.id, turns=tuple(turns))


@pytest.mark.parametrize("names", ["gold_slot_names_unified", "gold_slot_names_with_book_prefix"])
def test_the_scores_of_the_package(
    shared_data: Path, multiwoz: list[Dialogue], expected_modes: Any, names: str
) -> None:
    gold = multiwoz if names == "gold_slot_names_unified" else [with_book(one) for one in multiwoz]
    files = {name: str(shared_data / "dst_predictions" / f"{name}.json.gz") for name in SYSTEMS}
    results = dialgauge.score(gold, files, measures=MEASURES, profile="mwzeval", intervals=False)
    keys = {"JGA": ("joint_accuracy", 100), "F1": ("slot_f1", 100)}
    keys |= {"Precision": ("slot_precision", 1), "Recall": ("slot_recall", 1)}
    for name in SYSTEMS:
        for measure, (key, unit) in keys.items():  # the package adds 1e-10 to denominators
            wanted = expected_modes[name][names][key]
            assert unit * results[name][measure] == pytest.approx(wanted, abs=1e-8), (name, measure)


def disturbed(turns: list[dict[str, Any]], draw: random.Random) -> list[dict[str, Any]]:
    """A dialogue's predictions with things that other systems write; sometimes its last turns are missing."""
    for turn in turns:
        for slots in turn["state"].values():
            for slot in list(slots):
                change = draw.random()
                if change < 0.02:
                    slots[slot] = draw.choice(["none", "", "not mentioned", "dontcare", "None"])
                elif change < 0.04:
                    slots[slot] = slots[slot].upper()
                elif change < 0.05:
                    slots[f"{slot}_"] = slots.pop(slot)
                elif change < 0.06:
                    slots[slot] = f" {slots[slot]}s"
        if draw.random() < 0.03:
            turn["state"].setdefault(draw.choice(["police", "hospital", "bus", "hotel"]), {})["name"] = "none"
    return turns[: len(turns) - (draw.random() < 0.05)]


@pytest.mark.parametrize("name", SYSTEMS)
def test_disturbed_predictions_of_real_systems(shared_data: Path, multiwoz: list[Dialogue], name: str) -> None:
    draw = random.Random(name)
    with gzip.open(shared_data / "dst_predictions" / f"{name}.json.gz") as stream:
        whole = json.load(stream)
    some = {dialogue: disturbed(whole[dialogue], draw) for dialogue in draw.sample(sorted(whole), examples(200))}
    gold = {one.id.lower().removesuffix(".json"): [turn.state or {} for turn in one.user_turns()] for one in multiwoz}
    require_same(gold, some)


def test_blank_values_are_told_of() -> None:
    gold = gold_dialogues({"mul0001": [{"hotel": {"area": "north"}}]})
    theirs, _ = read_json("mwzeval", one_turn({"hotel": {"area": "north", "name": "none"}}))
    results = dialgauge.score(gold, {"mine": theirs}, measures="JGA", profile=["canon", "mwzeval", "verbatim"],
                              intervals=False)  # fmt: skip
    assert [float(one["JGA"]) for one in results.runs] == [1.0, 0.0, 1.0]


def test_another_dataset_is_refused() -> None:
    gold = gold_dialogues({"1_00000": [{"Hotels_4": {"location": "London"}}]})
    with pytest.raises(dialgauge.DialgaugeError, match="none of the gold slots is in the scope of the profile mwzeval"):
        scored(gold, {"1_00000": [{"response": "", "state": {"Hotels_4": {"location": "London"}}}]})
