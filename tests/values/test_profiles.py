"""Comparison profiles: the exact definitions, their order, and what makes two of them different."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from dialgauge.errors import DialgaugeError
from dialgauge.values import (
    SENSITIVITY_PROFILES,
    Drop,
    Pair,
    Profile,
    Replace,
    Side,
    profile_listing,
    profile_named,
    profile_names,
)
from support.packages import install, on_the_path

MULTIWOZ_30, MULTIWOZ_35 = (profile_named(name).inventory or () for name in ("plain", "multiwoz22"))


def one(profile: str, pair: Pair, value: str, side: Side = "gold") -> str | None:
    """A single value under a profile; None when it is absent."""
    found = profile_named(profile).normalise(pair, (value,), side)
    return found[0] if found else None


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (("Hotel", "book people"), ("hotel", "people")),
        (("hotel", "bookpeople"), ("hotel", "people")),
        (("hotel", "book_people"), ("hotel", "people")),
        (("train", "leaveAt"), ("train", "leave")),
        (("train", "leave at"), ("train", "leave")),
        (("taxi", "arrive by"), ("taxi", "arrive")),
        (("hotel", "Price Range"), ("hotel", "pricerange")),
        (("hotel", "book"), ("hotel", "book")),
        (("police", "name"), None),
        (("attraction", "pricerange"), ("attraction", "pricerange")),
    ],
)
def test_plain_names(written: Pair, wanted: Pair | None) -> None:
    assert profile_named("plain").pair(*written) == wanted


@pytest.mark.parametrize("value", ["", "  ", "none", "None", "not mentioned", "Not  Given"])
@pytest.mark.parametrize("profile", SENSITIVITY_PROFILES)
def test_absent_values(profile: str, value: str) -> None:
    assert one(profile, ("hotel", "area"), value) is None


@pytest.mark.parametrize(
    "value", ["dontcare", "dont care", "don't care", "do n't care", "do not care", "does not care", "Do  Not Care"]
)
def test_dontcare(value: str) -> None:
    assert one("plain", ("hotel", "area"), value) == "dontcare"
    assert one("canon", ("train", "leave"), value) == "dontcare"
    assert one("plain_nodc", ("hotel", "area"), value) is None
    assert one("canon_nodc", ("hotel", "area"), value) is None


@pytest.mark.parametrize(
    ("slot", "value", "wanted"),
    [
        ("leave", "9:15", "09:15"),
        ("arrive", "18 : 00", "18:00"),
        ("time", "1800", "18:00"),
        ("time", "915", "09:15"),
        ("time", "after 9:15", "after 9:15"),
        ("time", "9:5", "9:5"),
        ("leave", "center", "center"),  # time slots stop after the rule for times
        ("leave", "12345", "12345"),
        ("day", "9:15", "9:15"),
        ("type", "guesthouses", "guest house"),
        ("type", "night club", "nightclub"),
        ("type", "mutiple sports", "multiple sports"),
        ("area", "Center", "centre"),
        ("food", "portugese", "portuguese"),
        ("parking", "free", "yes"),
        ("stars", "free", "free"),
        ("name", "b&b", "b and b"),
        ("name", "rosa 's bed & breakfast", "rosa's bed and breakfast"),
        ("destination", "king 's  college", "king's college"),
        ("type", "b&b", "b&b"),
        ("name", "swimmingpool", "swimming pool"),
    ],
)
def test_canon_values(slot: str, value: str, wanted: str) -> None:
    assert one("canon", ("hotel", slot), value) == wanted
    assert one("canon", ("hotel", slot), value, "predicted") == wanted


def test_inventories() -> None:
    assert len(MULTIWOZ_30) == len(set(MULTIWOZ_30)) == 30
    assert len(MULTIWOZ_35) == len(set(MULTIWOZ_35)) == 35
    plain = profile_named("plain")
    assert all(plain.pair(*pair) == pair for pair in MULTIWOZ_30)


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


def test_alternatives_and_the_first_value() -> None:
    canon = profile_named("canon")
    values = ("Center", "centre", "north", "none")
    assert canon.normalise(("hotel", "area"), values, "gold") == ("centre", "north")
    assert canon.normalise(("hotel", "area"), values, "predicted") == ("centre",)
    assert profile_named("mwzeval").normalise(("hotel", "area"), ("north", "south"), "gold") == ("north",)


def test_presets_do_what_their_sources_do() -> None:
    assert one("trade", ("hotel", "type"), "guesthouse") == "guest house"
    assert one("trade", ("hotel", "type"), "guesthouse", "predicted") == "guesthouse"
    assert one("trade", ("hotel", "type"), "bed and breakfast") is None
    assert one("trade", ("restaurant", "area"), "cambridge") is None
    assert one("trade", ("hotel", "area"), "we") == "west"
    assert one("trade", ("restaurant", "name"), "restaurant one seven") == "restaurant 17"
    assert one("trade", ("restaurant", "name"), "restaurant one seven", "predicted") == "restaurant one seven"
    assert one("trade", ("attraction", "name"), "Christ's College,cambridge") == "christ 's college , cambridge"
    assert one("trade", ("taxi", "leave"), "9.15") == "9.15"
    assert one("trade", ("hotel", "stay"), "two") == "2"
    assert one("trade", ("restaurant", "pricerange"), "upmarket") == "expensive"
    assert one("trippy", ("hotel", "parking"), "free") == "true"
    assert one("trippy", ("hotel", "type"), "guesthouse") == "false"
    assert one("trippy", ("train", "leave"), "3:30 pm") == "15 30"
    variants = profile_named("trippy_variants")
    assert "downtown" in variants.normalise(("hotel", "area"), ("centre",), "gold")
    assert variants.normalise(("hotel", "area"), ("centre",), "predicted") == ("centre",)
    assert one("simpletod", ("hotel", "name"), "dontcare hotel") is None
    assert one("mwzeval", ("hotel", "area"), "dontcare") is None
    assert one("mwzeval", ("hotel", "area"), "dontcare", "predicted") == "dontcare"
    assert profile_named("convlab3").normalise(("hotel", "name"), ("Rosa s|The Ritz",), "predicted") == (
        "rosas",
        "theritz",
    )
    assert profile_named("multiwoz22").pair("Hospital", "department") == ("hospital", "department")
    assert profile_named("multiwoz22").pair("hotel", "hotel-bookpeople") == ("hotel", "people")  # 2.2's own names
    assert profile_named("verbatim").pair("Hotels_4", "place_name") == ("Hotels_4", "place_name")


@pytest.mark.parametrize("name", sorted(set(profile_names()) - {"verbatim", "mwzeval"}))
def test_slots_are_of_one_kind_whether_or_not_the_domain_stands_before_them(name: str) -> None:
    """MultiWOZ 2.2 writes it there; mwzeval takes it off too, and keeps the word ``book``, as the package does."""
    profile = profile_named(name)
    for domain, slot in (("hotel", "bookday"), ("train", "arriveby"), ("restaurant", "booktime"), ("taxi", "leaveat")):
        pair = profile.pair(domain, slot)
        assert profile.pair(domain, f"{domain}-{slot}") == profile.pair(domain, f"{domain}-{slot}".title()) == pair
        assert pair == (domain, slot.removeprefix("book").removesuffix("by").removesuffix("at"))


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_explains_itself(name: str) -> None:
    profile = profile_named(name)
    text = profile.explain()
    assert profile.label in text
    assert profile.summary in text
    for rule in profile.values:
        assert rule.describe() in text


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


def test_leaving_a_rule_out() -> None:
    canon = profile_named("canon")
    times = next(rule for rule in canon.values if rule.name == "times")
    assert canon.without(times).normalise(("train", "leave"), ("9:15",), "gold") == ("9:15",)


def test_unknown_profile_names_the_nearest() -> None:
    with pytest.raises(DialgaugeError, match="Did you mean 'canon'"):
        profile_named("cannon")


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


# -- profiles of other packages --------------------------------------------------------------------------------------

PACKAGE = """
from msgspec.structs import replace
from dialgauge.values import profile_named

SHOUT = replace(profile_named("plain"), name="shout", summary="plain, for a tracker that shouts")
TEXT = "plain"
"""


def test_profiles_of_other_packages(tmp_path: Path) -> None:
    declared = {"shout": "SHOUT", "text": "TEXT", "gone": "GONE", "canon": "SHOUT"}
    lines = "\n".join(f"{name} = shouting:{attribute}" for name, attribute in declared.items())
    install(tmp_path, "shouting", PACKAGE, f"[dialgauge.profiles]\n{lines}\n")
    with on_the_path(tmp_path):
        assert profile_named("shout").summary == "plain, for a tracker that shouts"
        assert profile_named("canon").name == "canon"
        assert {"shout", "text", "gone"} <= set(profile_names())
        for name, reason in (("text", "a Profile is expected, but it is of the type str"), ("gone", "AttributeError")):
            with pytest.raises(DialgaugeError, match=f"the profile '{name}' of the package shouting .*{reason}"):
                profile_named(name)
        faulty = {plugin.name: plugin.reason for plugin in profile_listing() if plugin.content is None}
        assert sorted(faulty) == ["canon", "gone", "text"]
        assert "dialgauge's own" in (faulty["canon"] or "")
    with pytest.raises(DialgaugeError, match="there is no profile named 'shout'"):
        profile_named("shout")
