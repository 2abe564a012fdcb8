from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialgauge.agents import CallableBot, KeyboardUser, Scenario, converse
from dialgauge.dialogue import Dialogue, Fact
from dialgauge.rankers import Point
from dialgauge.worlds.restaurant import FactDatabase

DATABASE = FactDatabase([Fact(f"inn{number}", "R_cuisine", "thai") for number in range(10)])


def talk(typed: list[str], *replies: str) -> tuple[Dialogue, list[str]]:
    lines: Iterator[str] = iter(typed)
    said, shown = iter(replies), list[str]()

    def ask() -> str:
        line = next(lines, None)
        if line is None:
            raise EOFError
        return line

    def answer(point: Point) -> str:
        return next(said)

    scenario = Scenario(dialogue_id="chat", database=DATABASE, environment=DATABASE)
    return converse(KeyboardUser(ask, shown.append), CallableBot(answer), scenario), shown


def test_a_person_talks_until_he_leaves() -> None:
    dialogue, shown = talk([" hi ", "", "exit"], "hello", "still there?")
    assert [turn.text for turn in dialogue.turns] == ["hi", "hello", "<SILENCE>", "still there?"]
    assert shown == ["bot> hello", "bot> still there?"]
    assert dialogue.outcome is not None and dialogue.outcome.reason == "exit"


@pytest.mark.parametrize(
    ("typed", "heard"),
    [
        ("Hey!", "hey"),
        ("  I’d like a table, in ROME.  ", "i'd like a table in rome"),
        ("at resto_rome_cheap_indian_7stars?", "at resto_rome_cheap_indian_7stars"),
        ("?!", "?!"),
        ("", "<SILENCE>"),
        ("<silence>", "<SILENCE>"),
        ("<SILENCE>", "<SILENCE>"),
    ],
)
def test_what_is_typed_reaches_the_bot_as_it_is_said(typed: str, heard: str) -> None:
    dialogue, _ = talk([typed, "exit"], "hello")
    assert dialogue.turns[0].text == heard
