"""Signatures parse back, and whatever could change a score changes them."""

from __future__ import annotations

from typing import Any

import pytest

from dialgauge import score
from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.measures import Signature


def dialogues(*states: tuple[State, State]) -> tuple[list[Dialogue], list[Dialogue]]:
    gold = [Dialogue(id=f"d{n}", turns=(Turn(speaker="user", state=one),)) for n, (one, _) in enumerate(states)]
    theirs = [Dialogue(id=f"d{n}", turns=(Turn(speaker="user", predicted=two),)) for n, (_, two) in enumerate(states)]
    return gold, theirs


NORTH: State = {"hotel": {"area": ("north",)}}
DATA = dialogues((NORTH, NORTH), (NORTH, {}), ({}, {}))


def signature(measure: str = "JGA", **changes: Any) -> Signature:
    arguments: dict[str, Any] = {"gold": DATA[0], "pred": DATA[1], "measures": [measure], "intervals": False, **changes}
    result = score(arguments.pop("gold"), {"it": arguments.pop("pred")}, **arguments)[0]
    return Signature.parse(next(iter(result.scores.values())).signature)


@pytest.mark.parametrize(
    "changes",
    [
        {"measure": "JGA(over=dialogues)"},
        {"measure": "RSA(empty=one)"},
        {"measure": "FGA@0.5(rule=paper)"},
        {"measure": "FGA@0.25"},
        {"profile": "plain"},
        {"profile": "canon_nodc"},
        {"coverage": "empty"},
        {"exclude": ["d2"]},
        {"gold": dialogues((NORTH, {}), (NORTH, {}), (NORTH, {}))[0]},
        {"gold": dialogues((NORTH, {}), ({}, {}), (NORTH, {}))[0]},
        {"gold": dialogues(({"hotel": {"area": ("south",)}}, {}), (NORTH, {}), ({}, {}))[0]},
        {"gold": dialogues(({"hotel": {"type": ("north",)}}, {}), (NORTH, {}), ({}, {}))[0]},
        {"gold": dialogues(({"hotel": {"area": ("north", "south")}}, {}), (NORTH, {}), ({}, {}))[0]},
        {"pred": DATA[1][:2]},
    ],
)
def test_every_setting_shows(changes: dict[str, Any]) -> None:
    changed = signature(**changes)
    assert changed != signature()
    assert changed.differences(signature())


def test_the_inventory_shows() -> None:
    from dialgauge.dialogue import Ontology, SlotSpec

    small = Ontology(domains={"hotel": {"area": SlotSpec()}})
    large = Ontology(domains={"hotel": {"area": SlotSpec(), "type": SlotSpec()}})
    made = [signature("SA", profile="verbatim", ontology=one) for one in (small, large)]
    assert [one["slots"] for one in made] == ["1", "2"]


def test_the_predictions_do_not_show() -> None:
    """Two systems with the same settings on the same turns have the same signature: their scores compare."""
    assert signature(pred=dialogues((NORTH, {}), (NORTH, NORTH), ({}, NORTH))[1]) == signature()
    assert not signature().differences(signature())


def test_equal_gold_in_other_spelling_compares() -> None:
    loud = dialogues(({"HOTEL": {"Area": ("NORTH",)}}, {}), (NORTH, {}), ({}, {}))[0]
    assert signature(gold=loud) == signature()
