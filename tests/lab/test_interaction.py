"""Systems in front of the simulated user: runs, and the database that answers calls."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

from dialgauge.agents import Agent, CallableBot, Reply, RuleAgent, Rules, SystemContext
from dialgauge.dialogue import Turn
from dialgauge.lab import failures, interact, interaction_page, move_to
from dialgauge.measures import cards
from dialgauge.rankers import NearestNeighbour, fit_model
from dialgauge.runs import Run, Store
from dialgauge.worlds.restaurant import Parameters
from runs.contract import assert_run_contract
from support.tiny_world import TINY, tiny_task


def values(run: Run, *measures: str) -> list[float | None]:
    return [run.scores[measure].value for measure in measures]


def nearest(seed: int = 3, dialogs: int = 20) -> Run:
    ranker = NearestNeighbour()
    ranker.fit(tiny_task(1))
    move_to(ranker, TINY, seed)
    return interact(ranker, TINY, 1, "A", dialogs, Parameters(seed=seed))


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("half", ["A", "B"])
def test_rules_carry_every_conversation(number: int, half: str) -> None:
    run = interact(RuleAgent(), TINY, number, half, 20, Parameters(seed=9))
    assert values(run, "completed") == [1.0]
    assert failures(run) == {}


def test_the_model_of_rules_gives_what_the_agent_gives() -> None:
    model, task = Rules(), tiny_task(5)
    fit_model(model, task)
    move_to(model, TINY, 9)
    runs = [interact(system, TINY, 5, "B", 10, Parameters(seed=9)) for system in (model, RuleAgent())]
    assert list(runs[0].dialogues()) == list(runs[1].dialogues())
    names = list(runs[0].scores)
    assert values(runs[0], *names) == values(runs[1], *names)
    signatures = [run.scores["completed"].signature for run in runs]
    assert signatures[0] == signatures[1].replace("fitted:none", f"fitted:{task.training_digest()}")


def test_a_run_of_conversations_keeps_the_contract(tmp_path: Path) -> None:
    run = nearest()
    assert_run_contract(run)
    stored = Store(tmp_path).add(run)
    assert_run_contract(stored)
    assert (stored.kind, stored.name, list(stored.scores)) == ("interaction", "nearest-task1-A", ["completed"])
    assert stored.table("outcomes").equals(run.table("outcomes"))
    assert [one.outcome for one in stored.dialogues()] == [one.outcome for one in run.dialogues()]
    assert stored.coverage["dialogues"].scored == 20
    assert {"completed"} <= set(cards("lab"))


def test_a_system_that_fails_says_why() -> None:
    run = nearest()
    (completed,) = values(run, "completed")
    assert completed is not None and 0 <= completed < 1
    outcomes = run.table("outcomes")
    assert outcomes["dialogue"].n_unique() == 20
    assert outcomes["success"].sum() == round(20 * completed)
    assert sum(failures(run).values()) == 20 - round(20 * completed)
    scores = run.table("dialogue_scores")
    assert scores.filter(polars.col("measure") == "completed")["num"].sum() == 20 * completed
    (row,) = interaction_page([run]).tables["conversations"].records()
    why, count = next(iter(failures(run).items()))
    assert (row["completed"], row["most frequent failure"]) == (completed, f"{why} ({count})")


class Parrot:
    """An agent that somebody else wrote: two methods and nothing more."""

    name = "parrot"

    def start(self, context: SystemContext) -> None:
        self._turns = 0

    def respond(self, turn: Turn | None) -> Reply:
        self._turns += 1
        if self._turns == 2:
            raise RuntimeError("polly wants a cracker")
        return Reply(turn=Turn(speaker="system", text=TINY.phrases.bot.greet))


def test_an_agent_that_raises_costs_its_conversations_and_not_the_run(tmp_path: Path) -> None:
    agent: Agent = Parrot()
    run = Store(tmp_path).add(interact(agent, TINY, 1, "A", 5, Parameters()))
    assert_run_contract(run)
    assert list(run.scores) == ["completed"] and values(run, "completed") == [0.0]
    assert run.notes == [
        "5 conversations ended because an agent failed: the agent parrot raised RuntimeError: polly wants a cracker"
    ]
    assert set(run.table("outcomes")["reason"]) == {"agent_error"}
    assert {len(one.turns) for one in run.dialogues()} == {3}
    assert run.notes[0] in interaction_page([run]).warnings


def test_a_function_is_a_system_too() -> None:
    run = interact(CallableBot(lambda point: TINY.phrases.bot.greet), TINY, 1, "A", 5, Parameters())
    assert values(run, "completed") == [0.0]
