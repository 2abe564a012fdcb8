"""Conversations in a tool domain: scripted agents, language models at an endpoint, an agent of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dialgauge.agents import Limits, Reply, SystemContext, converse
from dialgauge.dialogue import Turn
from dialgauge.lab import AgentSpec, LabConfig, run_tool_domain
from dialgauge.runs import Store
from dialgauge.worlds.tools import ToolDesk, ToolDomain, load_tool_domain
from support.commands import dialgauge
from support.model_server import Answer, ModelServer, model_server, said, tool_call


@pytest.fixture(scope="module")
def depot() -> ToolDomain:
    return load_tool_domain("depot")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as one:
        yield one


def talkers(system: str, user: str = "reader", **more: Any) -> LabConfig:
    return LabConfig(user=AgentSpec(user), system=AgentSpec(system), level="text", **more)


def verdicts(depot: ToolDomain, system: str, user: str = "reader", **more: Any) -> dict[str, bool | None]:
    results = run_tool_domain(lambda: depot, talkers(system, user), resamples=0, **more)
    return {one.id.partition("#")[0]: one.outcome.success for one in results[0].dialogues() if one.outcome}


def test_gold_passes_and_nothing_only_where_nothing_may_change(depot: ToolDomain) -> None:
    gold, nothing = verdicts(depot, "gold"), verdicts(depot, "nothing")
    assert [task for task, passed in gold.items() if not passed] == ["one-vase"], "which has no expected calls"
    assert [task for task, passed in nothing.items() if passed] == [
        "full-window", "second-change", "unpaid-duty", "other-town",
    ]  # fmt: skip


def test_gold_passes_every_task_of_the_airline(shared_data: Path) -> None:
    airline = load_tool_domain("airline", root=shared_data)
    assert all(verdicts(airline, "gold").values())
    assert sum(bool(passed) for passed in verdicts(airline, "nothing").values()) == 19


def reply(question: dict[str, Any]) -> Answer:
    """A user who collects P-1009 with the code on its card, and a desk that does as it is told."""
    messages = question["messages"]
    own = [one for one in messages if one["role"] == "assistant"]
    last = messages[-1]
    if messages[0]["content"].startswith("You are a customer"):
        if not own:
            return tool_call("read_calling_card", {"parcel_id": "P-1009"})
        if last["role"] == "tool":
            return said(f"I want to collect P-1009. My card says: {last['content']}")
        return said("Thank you, goodbye.\n[DONE]")
    if last["role"] == "tool":
        return said("You can collect it until Saturday.")
    if "T1V4" in last["content"]:
        return tool_call("hold_for_collection", {"parcel_id": "P-1009", "card_code": "T1V4"})
    return said("You are welcome.")


def test_language_models_on_both_sides_hold_tools(
    server: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.reply = reply
    folder = load_tool_domain("depot").folder
    mine = tmp_path / "mine"
    (mine / "data").mkdir(parents=True)
    for name in (
        "domain.yaml",
        "tools.py",
        "policy.md",
        "data/parcels.json",
        "data/customers.json",
        "data/windows.json",
    ):
        (mine / name).write_bytes((folder / name).read_bytes())
    task = next(line for line in (folder / "tasks.jsonl").read_text().splitlines() if '"collect"' in line)
    (mine / "tasks.jsonl").write_text(task + "\n")
    outcome = dialgauge(
        capsys, "lab", "run", "--domain", f"{tmp_path}/mine", "--system", "llm-system", "--user", "llm-user",
        "--endpoint", server.url, "--model", "m", "--cassette", tmp_path / "tape.jsonl", "--resamples", 0,
        "--trials", 2, "--store", tmp_path / "runs",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    [run] = Store(tmp_path / "runs").survey().runs
    assert run.scores["pass^2"].value == 1.0
    [first, _] = run.dialogues()
    calls = [(call.name, call.domain, call.outcome) for turn in first.turns for call in turn.calls or ()]
    assert calls == [("read_calling_card", "user", "done"), ("hold_for_collection", "", "done")]
    system = next(one for one in server.received if one["messages"][0]["content"].startswith("You work at"))
    assert "Policy of the help desk" in system["messages"][0]["content"]
    offered = {tool["function"]["name"] for tool in system["tools"]}
    assert "hold_for_collection" in offered
    assert "read_calling_card" not in offered
    assert "card_code" in json.dumps(system["tools"])
    user = next(one for one in server.received if one["messages"][0]["content"].startswith("You are a customer"))
    assert [tool["function"]["name"] for tool in user["tools"]] == ["read_calling_card"]
    assert "hugo.blanc@example.org" in user["messages"][0]["content"]


class Transferring:
    """An agent of one's own: it hands everybody over at once."""

    name = "transferring"

    def start(self, context: SystemContext) -> None:
        assert isinstance(context.office, ToolDesk)
        assert {"name", "description", "parameters"} == context.office.tools()[0].keys()
        assert "policy" in context.office.policy.lower()
        self.office = context.office

    def respond(self, turn: Turn | None) -> Reply:
        told = self.office.call("transfer_to_person", {"summary": turn.text if turn else ""}).text
        return Reply(turn=Turn(speaker="system", text=told), done=self.office.ended)


def test_an_agent_of_ones_own_gets_tools_policy_and_call(depot: ToolDomain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialgauge.lab.sessions.make_agent", lambda name, settings: Transferring())
    passed = verdicts(depot, "mine")
    assert [task for task, done in passed.items() if done] == [
        "full-window", "second-change", "unpaid-duty", "other-town",
    ]  # fmt: skip


def test_several_workers_and_a_second_start_give_the_same(
    depot: ToolDomain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after three conversations, the same call holds the rest only."""
    config, load = talkers("gold", trials=2), partial(load_tool_domain, "depot")
    alone = run_tool_domain(load, config, resamples=0)
    many = run_tool_domain(load, config, resamples=0, workers=2)
    assert list(many[0].dialogues()) == list(alone[0].dialogues())
    store, held = Store(tmp_path), list[str]()

    def plug_pulled(conversations: int) -> None:
        held.append("first")
        if len(held) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_tool_domain(load, config, resamples=0, store=store, on_unit=plug_pulled)

    def counted(*arguments: Any) -> Any:
        held.append("second")
        return converse(*arguments)

    monkeypatch.setattr("dialgauge.lab.sessions.converse", counted)
    again = run_tool_domain(load, config, resamples=0, store=store)
    assert list(again[0].dialogues()) == list(alone[0].dialogues())
    assert held.count("second") == 2 * len(depot.tasks) - 3


def test_a_tool_that_never_returns_meets_the_time_limit(tmp_path: Path) -> None:
    (tmp_path / "domain.yaml").write_text("domain: loop\ntitle: a loop\ntools: tools.py\ntasks: tasks.jsonl\n")
    (tmp_path / "tools.py").write_text("def spin(data: dict) -> None:\n    while True:\n        pass\n")
    (tmp_path / "tasks.jsonl").write_text('{"id": "t", "expected": []}\n')
    (tmp_path / "agent.py").write_text(
        "class Spinner:\n"
        "    name = 'spinner'\n"
        "    def start(self, context):\n        self.office = context.office\n"
        "    def respond(self, turn):\n        self.office.call('spin', {})\n"
    )
    config = talkers(f"{tmp_path / 'agent.py'}:Spinner", limits=Limits(seconds=0.3))
    results = run_tool_domain(partial(load_tool_domain, tmp_path), config, resamples=0)
    [held] = results[0].dialogues()
    assert held.outcome is not None and held.outcome.reason == "timeout"
