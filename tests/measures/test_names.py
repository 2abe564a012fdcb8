"""Measures as names: whatever the card, settings and part, a name parses back; and cards of other packages."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.measures import (
    Card,
    Measure,
    Parameter,
    Setting,
    card_listing,
    card_named,
    cards,
    families,
    parse_measure,
    parse_measures,
)
from support.packages import install, on_the_path

EVERY = [(family, card) for family in families() for card in cards(family).values()]


def setting(parameter: Parameter) -> st.SearchStrategy[Setting]:
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    return st.integers(1, 10**9) if parameter.whole else st.floats(0, allow_nan=False)


@st.composite
def any_measure(draw: st.DrawFn) -> tuple[str, Measure[Any]]:
    family, card = draw(st.sampled_from(EVERY))
    known = [*card.parameters, *([card.cutoff] if card.cutoff else [])]
    chosen = draw(st.lists(st.sampled_from(known), unique=True)) if known else []
    parts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) if card.parts else st.nothing()
    given_ = tuple(sorted((one.name, draw(setting(one))) for one in chosen))
    return family, Measure(card, given_, draw(st.just("") | parts))


@given(any_measure())
def test_any_name_parses_back(drawn: tuple[str, Measure[Any]]) -> None:
    family, measure = drawn
    again = parse_measure(str(measure), family)
    assert (again.card.name, again.part, str(again)) == (measure.card.name, measure.part, str(measure))
    assert again.settings() == measure.settings()


@pytest.mark.parametrize(
    "text", ["JGA{}x!", "JGA @0.5{}(", "{}", "a{}[", "JGA@1{}]", "JGA{},!", "JGA(a{}", "RSA[{}", "I-GCDF1{}[hotel]!"]
)
@pytest.mark.parametrize("filler", [" ", "\t", "a", "a ", "-", "a-", "1", "(", "[", ",", "@", "a=b,"])
def test_a_name_of_any_length_is_read_in_a_moment(text: str, filler: str) -> None:
    """500 spaces once took 20 seconds."""
    start = time.process_time()
    with pytest.raises(DialgaugeError):
        parse_measures([text.format(filler * 20_000)])
    assert time.process_time() - start < 2


ENTRIES = "Mine MINE, NoCard NO_CARD, Alias MINE, JGA SHADOW, Gone GONE"
CODE = """
from dataclasses import replace
from dialgauge.measures import card_named

MINE = replace(card_named("JGA", "tracking"), name="Mine")
SHADOW = replace(MINE, name="JGA")
NO_CARD = 3
"""


def test_cards_of_other_packages(tmp_path: Path) -> None:
    """One is loaded when it is named; whatever is wrong with the others is said of them and of nothing else."""
    lines = [f"{name} = stranger:{attribute}" for name, attribute in (one.split() for one in ENTRIES.split(", "))]
    install(tmp_path, "stranger", CODE, "\n".join(["[dialgauge.measures]", *lines, ""]))
    ours = card_named("JGA", "tracking")
    with on_the_path(tmp_path):
        assert parse_measure("JGA", "tracking").card is ours
        assert "stranger" not in sys.modules
        assert str(parse_measure("mine(over=dialogues)")) == "Mine(over=dialogues)"
        for name, said in {
            "NoCard": r"'NoCard' of the package stranger .* a Card is expected",
            "Gone": r"'Gone' of the package stranger .* cannot be loaded",
            "Alias": "registered as 'Alias' calls itself 'Mine'",
        }.items():
            with pytest.raises(DialgaugeError, match=said):
                parse_measure(name)
        with pytest.raises(DialgaugeError, match="Mine is a measure of tracking, but measures of users"):
            parse_measure("Mine", "users")
        listing = {(entry.name, entry.package): entry for entry in card_listing("tracking")}
        assert isinstance(listing["Mine", "stranger"].content, Card)
        faulty = {name: str(entry.reason) for (name, _), entry in listing.items() if entry.content is None}
        assert set(faulty) == {"NoCard", "Alias", "JGA", "Gone"} and "dialgauge's own" in faulty["JGA"]
