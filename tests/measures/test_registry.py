"""Measures as names: printing, parsing, lists, and where cards come from."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.measures import (
    Card,
    Measure,
    Parameter,
    Setting,
    card_listing,
    cards,
    parse_measure,
    parse_measures,
)
from measures.toy import CARDS, FGA, GCDF1, HITS, JGA, PASS, PRECISION

EVERY = (*CARDS, HITS, PASS, GCDF1, PRECISION)


def setting(parameter: Parameter) -> st.SearchStrategy[Setting]:
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    return st.integers(1, 10**9) if parameter.whole else st.floats(0, allow_nan=False)


@st.composite
def any_measure(draw: st.DrawFn) -> Measure[Any]:
    card = draw(st.sampled_from(EVERY))
    known = [*card.parameters, *([card.cutoff] if card.cutoff else [])]
    chosen = draw(st.lists(st.sampled_from(known), unique=True)) if known else []
    given_ = {one.name: draw(setting(one)) for one in chosen}
    parts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) if card.parts else st.nothing()
    part = draw(st.just("") | parts)
    return Measure(card, tuple(sorted(given_.items())), part)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(measure=any_measure())
def test_any_name_parses_back(measure: Measure[Any]) -> None:
    for name in (str(measure), measure.full()):
        again = parse_measure(name)
        assert again.card is measure.card
        assert again.settings() == measure.settings()
        assert (str(again), again.full()) == (str(measure), measure.full())
    assert [str(one) for one in parse_measures([f"{measure}, JGA"])] == list(dict.fromkeys([str(measure), "JGA"]))


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


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package that brings measures, some of them faulty."""
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[dialgauge.measures]\nMine = stranger_module:MINE\nNoCard = stranger_module:NO_CARD\n"
        "Alias = stranger_module:MINE\nJGA = stranger_module:SHADOW\nGone = stranger_module:GONE\n"
    )
    (tmp_path / "stranger_module.py").write_text(
        "from dataclasses import replace\nfrom measures.toy import JGA\n"
        "MINE = replace(JGA, name='Mine', higher_is_better=False)\nSHADOW = replace(JGA, title='other')\nNO_CARD = 3\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "stranger_module", raising=False)
    return tmp_path


@pytest.mark.usefixtures("plugin")
def test_a_plugin_is_loaded_when_it_is_named() -> None:
    assert parse_measure("JGA").card is JGA
    assert parse_measure("FGA").card is FGA
    assert "stranger_module" not in sys.modules
    assert str(parse_measure("mine(over=dialogues)")) == "Mine(over=dialogues)"
    with pytest.raises(DialgaugeError, match="Mine is a measure of tracking, but measures of users"):
        parse_measure("Mine", "users")


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("NoCard", r"'NoCard' of the package stranger .* a Card is expected"),
        ("Gone", r"'Gone' of the package stranger .* cannot be loaded"),
        ("Alias", "registered as 'Alias' calls itself 'Mine'"),
    ],
)
def test_a_faulty_plugin_is_an_error_that_names_it(name: str, said: str) -> None:
    with pytest.raises(DialgaugeError, match=said):
        parse_measure(name)


@pytest.mark.usefixtures("plugin")
def test_a_listing_holds_usable_plugins_and_the_reasons_of_the_others() -> None:
    listing = {(entry.name, entry.package): entry for entry in card_listing("tracking")}
    assert listing["JGA", "dialgauge"].content is JGA
    assert isinstance(listing["Mine", "stranger"].content, Card)
    faulty = {name: entry.reason for (name, _), entry in listing.items() if entry.content is None}
    assert set(faulty) == {"NoCard", "Alias", "JGA", "Gone"}
    assert all(faulty.values())
    assert "dialgauge's own" in str(faulty["JGA"])
    assert set(cards("tracking")) == {"F1", "FGA", "JGA", "Length", "Mine"}
    assert "Mine" not in cards("users")
