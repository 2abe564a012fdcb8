from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialgauge.agents import CallableBot, KeyboardUser, Scenario, converse
from dialgauge.dialogue import Dialogue, Fact
from dialgauge.rankers import Point
from dialgauge.worlds.restaurant import FactDatabase

CALL = "api_call thai R_location R_price"
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


def test_raw_input_is_left_as_it_is() -> None:
    scenario = Scenario(dialogue_id="chat", database=DATABASE)
    typed = iter(["Hey, You!", "exit"])
    person = KeyboardUser(lambda: next(typed), lambda _: None, raw=True)
    assert converse(person, CallableBot(lambda _: "hello"), scenario).turns[0].text == "Hey, You!"


def test_the_end_of_input_and_restart() -> None:
    ended, shown = talk([])
    again, _ = talk(["hi", "restart"], "hello")
    assert ended.outcome is not None and (ended.outcome.reason, shown) == ("exit", [""])
    assert again.outcome is not None and again.outcome.reason == "restart"


def test_nobody_is_asked_while_the_database_answers() -> None:
    dialogue, shown = talk(["thai", "exit"], CALL, "api_call greek R_location R_price", "inn0")
    assert shown[1].startswith("     (10 found: inn0, inn1") and shown[1].endswith("inn7 …)")
    assert shown[3] == "     (nothing found)"
    assert [turn.text for turn in dialogue.turns[::2]] == ["thai", "<SILENCE>", "<SILENCE>"]


def test_a_bot_that_only_calls_does_not_lock_the_person_out() -> None:
    dialogue, shown = talk(["thai", "exit"], *[CALL] * 9)
    assert sum("found:" in line for line in shown) == 5
    assert len(dialogue.turns) == 12
