"""The profile ``llm``: what language models write is what gold means, and different places stay different."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path

import pytest

from dialgauge.values import profile_named

MEANT = {
    ("hotel", "stars"): {"4": ["4 stars", "4-star", "four", "4.0", "Four star"]},
    ("hotel", "people"): {"2": ["2 people", "two", "for 2 people", "2 guests"]},
    ("hotel", "stay"): {"3": ["3 nights", "three", "3 days"]},
    ("hotel", "name"): {"the lensfield hotel": ["the Lensfield Hotel", "Lensfield Hotel", '"Lensfield Hotel".']},
    ("hotel", "area"): {
        "centre": ["city center", "the city centre", "town center", "Centre of town", "downtown"],
        "north": ["the north", "in the north", "North side", "northern part of the city"],
        "dontcare": ["any", "Anywhere", "no preference", "doesn't matter"],
    },
    ("hotel", "parking"): {"yes": ["true", "True", "free"], "no": ["false", "no"]},
    ("restaurant", "pricerange"): {"moderate": ["moderately priced", "mid-range"], "cheap": ["inexpensive", "Cheap."]},
    ("restaurant", "food"): {"italian": ["Italian food", "italian cuisine"]},
    ("train", "day"): {"monday": ["Mon", "on Monday", "next monday"], "thursday": ["thurs", "Thu."]},
    ("train", "leave"): {"15:30": ["3:30 pm", "after 15:30", "1530", "3:30 p.m."]},
    ("train", "destination"): {"cambridge": ["Cambridge train station", "cambridge station"]},
    ("attraction", "type"): {"museum": ["Museums"], "theatre": ["theater"]},
}
ABSENT = ["N/A", "null", "None", "unknown", "not specified", "-", "", "  "]


@pytest.mark.parametrize(
    ("pair", "gold", "written"),
    [(pair, gold, text) for pair, values in MEANT.items() for gold, texts in values.items() for text in texts],
)
def test_what_models_write_is_what_gold_means(pair: tuple[str, str], gold: str, written: str) -> None:
    profile = profile_named("llm")
    assert profile.normalise(pair, (written,), "predicted") == profile.normalise(pair, (gold,), "gold") != ()


@pytest.mark.parametrize("written", ABSENT)
@pytest.mark.parametrize("slot", ["name", "area", "stars", "leave"])
def test_words_for_absent(slot: str, written: str) -> None:
    assert profile_named("llm").normalise(("hotel", slot), (written,), "predicted") == ()


def test_it_holds_for_both_sides_alike() -> None:
    assert profile_named("llm").treats_sides_alike
    assert profile_named("canon").label == "canon@1-75ba0b9a"


def test_no_two_places_of_the_database_become_one(shared_data: Path) -> None:
    profile = profile_named("llm")
    canon = profile_named("canon")
    kept: dict[tuple[str, str], set[str]] = defaultdict(set)
    for kind in ("hotel", "restaurant", "attraction"):
        table = next((shared_data / "multiwoz21/db").glob(f"{kind}_db*"))
        for name in {row["name"] for row in json.loads(gzip.decompress(table.read_bytes()))}:
            before = canon.normalise((kind, "name"), (name,), "gold")
            kept[kind, profile.normalise((kind, "name"), (name,), "gold")[0]].update(before)
    assert len(kept) > 200
    assert {pair: names for pair, names in kept.items() if len(names) > 1} == {}
