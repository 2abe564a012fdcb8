from __future__ import annotations

import pytest

from dialgauge.dialogue import Dialogue, Fact, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import NO_RESULT, SILENCE
from dialgauge.rankers import Episode, Line, episodes


def dialogue(*turns: Turn) -> Dialogue:
    return Dialogue(id="one", turns=turns)


def episode(dialogue: Dialogue) -> Episode:
    (only,) = episodes([dialogue])
    return only


def user(text: str, results: tuple[Fact, ...] | None = None) -> Turn:
    return Turn(speaker="user", text=text, results=results)


def bot(text: str) -> Turn:
    return Turn(speaker="system", text=text)


def test_the_history_of_a_reply_is_all_that_was_said_and_shown_before() -> None:
    found = episode(
        dialogue(user("hi"), bot("hello"), user("", (Fact("inn", "R_phone", "inn_phone"),)), bot(" the inn "))
    )
    first, second = found.points()
    assert first.history == ()
    assert (first.utterance, first.reply) == ("hi", "hello")
    assert second.history == (Line("user", "hi"), Line("bot", "hello"), Line("fact", "inn R_phone inn_phone"))
    assert (second.utterance, second.reply, second.turn) == (SILENCE, "the inn", 1)


def test_an_empty_result_is_a_line_of_its_own() -> None:
    found = episode(dialogue(user("hi"), bot("api_call a b c"), user("", ()), bot("none")))
    assert found.points()[1].history[-1] == Line("fact", NO_RESULT)


def test_a_bot_that_speaks_unasked_answers_silence() -> None:
    found = episode(dialogue(bot("welcome"), bot("anyone there?")))
    assert [(point.utterance, point.reply) for point in found.points()] == [
        (SILENCE, "welcome"),
        (SILENCE, "anyone there?"),
    ]


def test_a_last_user_turn_without_reply_is_no_place_to_answer() -> None:
    found = episode(dialogue(user("hi"), bot("hello"), user("bye")))
    assert len(found.points()) == 1
    assert found.lines[-1] == Line("bot", "hello")


def test_two_user_turns_in_a_row_are_refused() -> None:
    with pytest.raises(DialgaugeError, match="dialogue one, turn 1: two user turns"):
        episode(dialogue(user("hi"), user("are you there"), bot("yes")))
