"""Comparison profiles: the exact definitions, their order, and what makes two of them different."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from dialgauge.errors import DialgaugeError
from dialgauge.values import (
    Drop,
    Pair,
    Profile,
    Replace,
    profile_named,
    profile_names,
)

MULTIWOZ_30, MULTIWOZ_35 = (profile_named(name).inventory or () for name in ("plain", "multiwoz22"))


@given(
    st.sampled_from(profile_names()),
    st.sampled_from(MULTIWOZ_30),
    st.text(alphabet="abc 019:&'|-TrueGuesthousenotdm ", max_size=12),
)
def test_normalising_twice_changes_nothing(profile: str, pair: Pair, value: str) -> None:
    """Except where a preset repeats a public step that is itself not idempotent."""
    if profile in ("trade", "trippy", "trippy_variants", "convlab3", "mwzeval", "verbatim"):
        profile = "canon"
    chosen = profile_named(profile)
    once = chosen.normalise(pair, (value,), "predicted")
    assert chosen.normalise(pair, once, "predicted") == once


@pytest.mark.parametrize("name", sorted(set(profile_names()) - {"verbatim", "mwzeval"}))
def test_slots_are_of_one_kind_whether_or_not_the_domain_stands_before_them(name: str) -> None:
    """MultiWOZ 2.2 writes it there; mwzeval takes it off too, and keeps the word ``book``, as the package does."""
    profile = profile_named(name)
    for domain, slot in (("hotel", "bookday"), ("train", "arriveby"), ("restaurant", "booktime"), ("taxi", "leaveat")):
        pair = profile.pair(domain, slot)
        assert profile.pair(domain, f"{domain}-{slot}") == profile.pair(domain, f"{domain}-{slot}".title()) == pair
        assert pair == (domain, slot.removeprefix("book").removesuffix("by").removesuffix("at"))


def test_labels_tell_profiles_apart() -> None:
    labels = [profile_named(name).label for name in profile_names()]
    assert len({label.rpartition("-")[2] for label in labels}) == len(labels)
    canon = profile_named("canon")
    assert replace(canon, summary="other words").digest == canon.digest
    for changed in (
        replace(canon, gold_values="first"),
        replace(canon, match="fuzzywuzzy-95"),
        replace(canon, inventory=canon.inventory and canon.inventory[:-1]),
        replace(canon, values=(*canon.values, Replace(name="x", table={"a": "b"}))),
        replace(canon, values=canon.values[::-1]),
        canon.without(canon.values[3]),
    ):
        assert changed.digest != canon.digest


def test_names_must_fit_into_signatures() -> None:
    with pytest.raises(DialgaugeError, match="not a valid profile name"):
        Profile(name="a|b", version=1, summary="", values=(Drop(name="x", values=("y",)),))
    with pytest.raises(DialgaugeError, match="no matcher named"):
        Profile(name="a", version=1, summary="", match="eqal")


#: Scores were published under these labels. A rule that changes needs a new version, and then a new line here.
LABELS = {
    "canon": "canon@1-75ba0b9a",
    "canon_nodc": "canon_nodc@1-a58af85c",
    "plain": "plain@1-90f038e7",
    "plain_nodc": "plain_nodc@1-07e23709",
    "verbatim": "verbatim@1-552b2635",
}


@pytest.mark.parametrize("name", LABELS)
def test_house_profiles_do_not_change_without_a_new_version(name: str) -> None:
    assert profile_named(name).label == LABELS[name]


def test_no_two_places_of_the_database_become_one_under_llm(shared_data: Path) -> None:
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
