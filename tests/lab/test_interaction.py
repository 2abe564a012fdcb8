"""Bots that talk: rankers in front of the simulated user, and the database that answers their calls."""

from __future__ import annotations

import pytest

from dialgauge.agents.ranker_bot import NO_ANSWER, RankerBot
from dialgauge.agents.replying import CallableBot
from dialgauge.agents.rules import Rules
from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.lab.interaction import meet, meetings_table, move_to
from dialgauge.rankers.episode import Point
from dialgauge.rankers.nearest import NearestNeighbour
from dialgauge.worlds.restaurant.database import FactDatabase
from dialgauge.worlds.restaurant.world import Parameters
from support.tiny_world import TINY, tiny_task


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("half", ["A", "B"])
def test_rules_carry_every_conversation(number: int, half: str) -> None:
    bot = Rules()
    bot.fit(tiny_task(number))
    move_to(bot, TINY, seed=9)
    found = meet(bot, TINY, number, half, 20, Parameters(seed=9))
    assert found.completed == 1.0
    assert found.forced.per_dialog == 1.0
    assert found.failures == []


def test_a_bot_that_fails_says_why() -> None:
    ranker = NearestNeighbour()
    ranker.fit(tiny_task(1))
    move_to(ranker, TINY, 3)
    found = meet(ranker, TINY, 1, "A", 20, Parameters(seed=3))
    assert 0 <= found.completed < 1
    assert sum(count for _, count in found.failures) == round(20 * (1 - found.completed))
    assert 0 < found.forced.per_response < 1
    (row,) = meetings_table([found], "one").records()
    assert row["completed"] == found.completed
    assert row["most frequent failure"].startswith(found.failures[0][0])
    scores = found.dialogue_scores()
    assert scores.filter(scores["measure"] == "completed")["num"].sum() == 20 * found.completed
    assert found.frame()["dialogue"].n_unique() == 20


def test_a_half_that_is_not_there() -> None:
    bot = Rules()
    bot.fit(tiny_task(1))
    with pytest.raises(DialgaugeError, match="no half 'C'"):
        meet(bot, TINY, 1, "C", 1, Parameters())


def test_a_talking_ranker_keeps_its_own_words_and_the_facts() -> None:
    seen: list[Point] = []

    def answer(point: Point) -> str:
        seen.append(point)
        return "i'm on it" if len(seen) == 1 else "never a candidate"

    ranker = CallableBot(answer)
    ranker.fit(tiny_task(1))
    bot = RankerBot(ranker)
    assert bot.respond("hi") == "i'm on it"
    assert bot.respond("", [Fact("inn", "R_phone", "inn_phone")]) == NO_ANSWER
    assert bot.respond("x", []) == NO_ANSWER
    assert [line.text for line in seen[2].history] == [
        "hi",
        "i'm on it",
        "inn R_phone inn_phone",
        "<SILENCE>",
        NO_ANSWER,
        "api_call no result",
    ]
    bot.reset()
    bot.respond("hi")
    assert seen[-1].history == ()


FACTS = [
    Fact("inn", "R_cuisine", "thai"),
    Fact("inn", "R_location", "rome"),
    Fact("inn", "R_price", "cheap"),
    Fact("inn", "R_number", "two"),
    Fact("pub", "R_cuisine", "thai"),
    Fact("pub", "R_location", "paris"),
    Fact("pub", "R_price", "cheap"),
    Fact("pub", "R_number", "two"),
]


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ("api_call thai rome two cheap", {"inn"}),
        ("api_call greek rome two cheap", set()),
        ("api_call thai R_location cheap", {"inn", "pub"}),
        ("api_call R_cuisine paris R_price", {"pub"}),
    ],
)
def test_the_database_answers_calls(reply: str, names: set[str]) -> None:
    found = FactDatabase(FACTS).answer(reply)
    assert found is not None
    assert {fact.entity for fact in found} == names


@pytest.mark.parametrize("reply", ["", "hello", "api_call thai", "here is it api_call", "api_call a b c d e"])
def test_what_is_no_call(reply: str) -> None:
    assert FactDatabase(FACTS).answer(reply) is None
