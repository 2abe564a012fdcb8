"""Measures as names: printing, parsing, parameters, and what each needs."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Card, Measure, cards, parse_measure as parse_any
from dialgauge.reproduce import shipped
from dialgauge.tracking import DEFAULT_MEASURES, chosen_measures
from tracking.corpora import prepared


def parse_measure(text: str) -> Measure[Any]:
    return parse_any(text, "tracking")


def test_names_of_the_defaults() -> None:
    assert DEFAULT_MEASURES == ("JGA", "SA", "AGA", "RSA", "F1", "FGA@0.5", "FGA@1")
    for choice in ("default", None):
        assert [str(measure) for measure in chosen_measures(choice)] == list(DEFAULT_MEASURES)


def test_cards_cite_papers_as_reproductions_do() -> None:
    assert shipped("rsa").citation.lower() in cards("tracking")["RSA"].source.lower()
    assert "Table 1 (average=turn" in cards("tracking")["F1"].source


@given(st.floats(0, 1e6), st.sampled_from(["code", "paper", "error-set"]), st.sampled_from(["turns", "dialogues"]))
def test_any_fga_parses_back(rate: float, rule: str, over: str) -> None:
    measure = parse_measure(f"FGA@{rate!r}(rule={rule},over={over})")
    again = parse_measure(str(measure))
    assert again.settings() == measure.settings()
    assert again.full() == measure.full()
    assert parse_measure(measure.full()).settings() == measure.settings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("JGAA", "no measure named 'JGAA'. Did you mean 'JGA'"),
        ("FGA@-1", "must be ≥ 0"),
        ("FGA@nan", "must be ≥ 0"),
        ("FGA@x", "must be a number"),
        ("JGA@1", "takes no '@'"),
        ("FGA@1(lambda=2)", "twice"),
        ("FGA@1(rule=paper,rule=code)", "twice"),
        ("FGA@1(rules=paper)", "no parameter 'rules'. Did you mean 'rule'"),
        ("FGA@1(rule=papers)", "rule must be one of code, paper, error-set (got 'papers'"),
        ("FGA@1(paper)", "name=value"),
        ("FGA(tf=6)", "needs both"),
        ("FGA(tf=0,p=0.5)", "t_f > 0"),
        ("FGA(tf=6,p=1)", "0 <= p < 1"),
        ("FGA@1)", "is not a measure"),
        ("", "is not a measure"),
        ("a|b", "is not a measure"),
    ],
)
def test_mistakes_are_sentences(text: str, message: str) -> None:
    with pytest.raises(DialgaugeError, match=message.replace("|", r"\|").replace("(", r"\(")):
        parse_measure(text)


@pytest.mark.parametrize("card", cards("tracking").values(), ids=lambda card: card.name)
def test_every_card_is_complete(card: Card[Any]) -> None:
    assert card.title and card.summary and card.formula and card.source
    assert card.lower < card.upper
    assert card.higher_is_better and card.unit == "share" and card.family == "tracking"
    for parameter in card.parameters:
        assert parameter.summary
        assert parameter.default in (*parameter.choices, "auto")
    assert str(Measure(card)).startswith(card.name)


def test_value_is_undefined_where_nothing_is_scored() -> None:
    from dialgauge.dialogue import Dialogue, Turn
    from dialgauge.values import profile_named

    gold = [Dialogue(id="a", turns=(Turn(speaker="user", state={}),))]
    predicted = [Dialogue(id="a", turns=(Turn(speaker="user", predicted={}),))]
    counts = prepared(gold, {"it": predicted}).comparison("it", profile_named("canon")).counts
    for name in ("AGA", "F1", "Precision", "Recall", "RSA(empty=skip)", "F1(average=slot)", "F1(average=domain)"):
        assert math.isnan(parse_measure(name).value(counts)), name
    for name in ("JGA", "SA", "FGA@0.5", "F1(average=turn)", "RSA(empty=one)", "TurnLabel", "DialogueExact"):
        assert parse_measure(name).value(counts) == 1.0, name
    assert parse_measure("RSA").value(counts) == 0.0
