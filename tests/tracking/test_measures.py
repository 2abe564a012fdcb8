"""Measures as names: printing, parsing, parameters, and what each needs."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dialgauge.measures import Card, Measure, cards, parse_measure as parse_any
from tracking.corpora import prepared


def parse_measure(text: str) -> Measure[Any]:
    return parse_any(text, "tracking")


@pytest.mark.parametrize("card", cards("tracking").values(), ids=lambda card: card.name)
def test_every_card_is_complete(card: Card[Any]) -> None:
    assert card.title and card.summary and card.formula and card.source
    assert card.lower < card.upper
    assert card.family == "tracking"
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
