"""What the listener reads of plain words, and what it leaves alone."""

from __future__ import annotations

import pytest

from dialgauge.agents import AnswerReader, UserListener, Vocabulary, Wording
from dialgauge.dialogue import Turn
from dialgauge.lab import open_domain
from dialgauge.worlds.domain import act

TOWN = open_domain(count=1).search
WORDS = Vocabulary(TOWN.domain, TOWN.domain.ontology)


@pytest.mark.parametrize(
    ("slot", "true", "reply", "status"),
    [
        ("parking", "yes", "It doesn't have parking.", "unsure"),
        ("parking", "yes", "Parking: no.", "other"),
        ("parking", "no", "No, it has none.", "right"),
        ("stars", "4", "It has 4 stars.", "right"),
        ("stars", "4", "STARS .... 3", "other"),
        ("phone", "01632960457", "The phone? That's 01632 960457!", "right"),
        ("phone", "01632960457", "The phone is 01632960458.", "other"),
        ("phone", "01632960457", "Okay.", "none"),
        ("area", "unknown", "Area: —", "right"),
    ],
)
def test_an_answer_is_right_plainly_another_one_unsure_or_none(slot: str, true: str, reply: str, status: str) -> None:
    reader = AnswerReader(WORDS["hotel"], reply)
    assert reader.status(WORDS["hotel"].slots[slot], true, [slot], (), {})[0] == status


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("I need a guesthouse in the north.", [("type", "guesthouse"), ("area", "north")]),
        ("Area: any.", [("area", "dontcare")]),
        ("Please tell me: phone, address.", [("phone", "?"), ("address", "?")]),
    ],
)
def test_a_user_is_understood_by_values_and_labels(text: str, acts: list[tuple[str, str]]) -> None:
    heard = UserListener(WORDS).hear(Turn(speaker="user", text=text), (), "hotel")
    assert {(each.slot, each.values[0]) for each in heard if each.slot} == set(acts)


def test_a_value_that_would_end_early_is_quoted_and_read_whole() -> None:
    said = act("Taxi-Inform", "departure", "12 Mill Road, Flat 2")
    text = Wording(WORDS).user([said])
    assert '"12 Mill Road, Flat 2"' in text
    assert said in UserListener(WORDS).hear(Turn(speaker="user", text=text), (), "")
