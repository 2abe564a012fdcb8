"""The rule bots under one name, and agents in front of recorded dialogs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.agents import RuleAgent, Rules, SystemContext
from dialgauge.dialogue import Fact, Turn
from dialgauge.rankers import load_ranker, points_of, save_ranker
from dialgauge.responses import evaluate
from dialgauge.worlds.restaurant import FactDatabase
from support.tiny_world import tiny_task

WELCOME = (
    "Hello , welcome to the Cambridge restaurant system . You can ask for restaurants by area , price range or food "
    "type . How may I help you ?"
)
ASK_AREA = "What part of town do you have in mind?"
CALLS = ("api_call british north cheap", "api_call R_cuisine R_location R_price")
FACTS = (Fact("cote", "R_cuisine", "british"),)


def fitted(number: int) -> Rules:
    model = Rules()
    model.fit(tiny_task(number))
    return model


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_recorded_dialogs_are_followed_in_any_order_of_the_points(number: int) -> None:
    points = points_of(tiny_task(number).split("tst")[:4])
    model = fitted(number)
    assert [model.reply(one) for one in points] == [one.reply for one in points]
    assert [model.reply(one) for one in reversed(points)] == [one.reply for one in reversed(points)]
    assert [model.reply(one) for one in points[::3]] == [one.reply for one in points[::3]]
    assert [model.reply(points[2])] * 2 == [model.reply(points[2]), points[2].reply]


def test_the_task_of_real_calls_has_a_bot_of_its_own() -> None:
    agent = RuleAgent()
    agent.start(SystemContext(dialogue_id="d", database=FactDatabase(FACTS), candidates=CALLS, task=6))
    replies = [agent.respond(Turn(speaker="user", text=text)).turn for text in ("<SILENCE>", "cheap", "british food")]
    assert [turn and turn.text for turn in replies] == [WELCOME, ASK_AREA, "api_call british R_location cheap"]
    agent.overrule(Turn(speaker="system", text=ASK_AREA))
    last = agent.respond(Turn(speaker="user", text="north")).turn
    assert last is not None and last.text == "api_call british north cheap"


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_rules_solve_simulated_tasks(number: int) -> None:
    task = tiny_task(number)
    model = fitted(number)
    for split in ("tst", "tst-OOV"):
        assert evaluate(model, task.split(split)).per_dialog == 1.0


def test_a_model_of_rules_is_saved_and_loaded(tmp_path: Path) -> None:
    model = fitted(5)
    save_ranker(model, tmp_path, 5)
    again = load_ranker(tmp_path)
    assert isinstance(again, Rules)
    points = points_of(tiny_task(5).split("tst")[:2])
    assert [again.reply(one) for one in points] == [one.reply for one in points]
