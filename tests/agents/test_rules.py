"""The rule bots under one name, and agents in front of recorded dialogs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.agents import AgentReplier, Reply, RuleAgent, Rules, SystemContext
from dialgauge.dialogue import Fact, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import NO_RESULT
from dialgauge.lab import move_to
from dialgauge.rankers import LOGS, Point, RankingTask, load_ranker, points_of, save_ranker
from dialgauge.responses import evaluate
from dialgauge.worlds.restaurant import FactDatabase
from support.tiny_world import TINY, point, tiny_task

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


def test_without_a_knowledge_base() -> None:
    empty = SystemContext(dialogue_id="d", database=FactDatabase([]), task=1)
    with pytest.raises(DialgaugeError, match="knowledge base, and there is none"):
        RuleAgent().start(empty)


def test_an_agent_without_overrule_cannot_follow_a_record() -> None:
    class Parrot:
        name = "parrot"

        def start(self, context: SystemContext) -> None:
            """Nothing to prepare."""

        def respond(self, turn: Turn | None) -> Reply:
            return Reply(turn=turn)

    context = SystemContext(dialogue_id="d", database=FactDatabase([]))
    with pytest.raises(DialgaugeError, match=r"the agent parrot cannot be evaluated on recorded dialogues.*overrule"):
        AgentReplier(Parrot(), context)


def test_an_agent_is_started_once_for_each_dialogue_that_comes_in_order() -> None:
    class Counting(RuleAgent):
        started = 0
        overruled = 0

        def start(self, context: SystemContext) -> None:
            super().start(context)
            self.started += 1

        def overrule(self, turn: Turn) -> None:
            super().overrule(turn)
            self.overruled += 1

    task = tiny_task(5)
    agent = Counting()
    replier = AgentReplier(
        agent, SystemContext(dialogue_id="", database=FactDatabase(task.facts), candidates=task.candidates, task=5)
    )
    points = points_of(task.split("tst")[:3])
    for one in points:
        assert replier.reply(one) == one.reply
    assert agent.started == 1 + 3
    assert agent.overruled == len(points) - 3
    assert replier.reply(point(utterance="hi")) == "hello what can i help you with today"


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_rules_solve_simulated_tasks(number: int) -> None:
    task = tiny_task(number)
    model = fitted(number)
    for split in ("tst", "tst-OOV"):
        assert evaluate(model, task.split(split)).per_dialog == 1.0


def test_moving_to_the_world_it_came_from_changes_nothing() -> None:
    here, there = fitted(1), fitted(1)
    move_to(there, TINY, 0)
    assert set(there.candidates) == set(here.candidates) and there.candidates != here.candidates
    points = points_of(tiny_task(1).split("tst"))[:40]
    assert [there.reply(one) for one in points] == [here.reply(one) for one in points]


LONGEST = 812  # memories before a reply of task 6


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(point(utterance="hi"), id="no memory"),
        pytest.param(point(utterance=""), id="nothing said"),
        pytest.param(point(("user", "zork"), ("bot", "frob"), utterance="plugh xyzzy"), id="unknown words only"),
        pytest.param(point(*[("fact", "inn R_rating 8")] * LONGEST, utterance="<SILENCE>"), id="longest memory"),
        pytest.param(point(("fact", NO_RESULT), utterance="<SILENCE>"), id="no result"),
    ],
)
def test_edge_cases_get_the_same_answer_alone_and_after_others(question: Point) -> None:
    model = fitted(1)
    alone = model.reply(question)
    for one in points_of(tiny_task(1).split("tst"))[:3]:
        model.reply(one)
    assert model.reply(question) == alone != ""


@pytest.mark.parametrize("number", [LOGS, 1, 5])
def test_rules_without_a_knowledge_base_are_refused(number: int) -> None:
    task = RankingTask(number=number, splits={}, candidates=("hello",))
    with pytest.raises(DialgaugeError, match="knowledge base, and there is none"):
        Rules().fit(task)


def test_rules_of_task_6_manage_without_a_knowledge_base() -> None:
    model = Rules()
    model.fit(RankingTask(number=6, splits={}, candidates=("hello",)))
    assert model.reply(point(utterance="hi")) == WELCOME


def test_a_model_of_rules_is_saved_and_loaded(tmp_path: Path) -> None:
    model = fitted(5)
    save_ranker(model, tmp_path, 5)
    again = load_ranker(tmp_path)
    assert isinstance(again, Rules)
    points = points_of(tiny_task(5).split("tst")[:2])
    assert [again.reply(one) for one in points] == [one.reply for one in points]
