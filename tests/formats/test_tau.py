"""Results of tau-bench and tau2-bench: what each part becomes, the way back to messages, and files that are wrong."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

import dialgauge
from dialgauge.dialogue import Call, Dialogue, SideUsage, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import recognise
from support.examples import EXAMPLES
from support.reading import part_of, read_json

TAU: list[dict[str, Any]] = json.loads(EXAMPLES["tau"])
TAU2: dict[str, Any] = json.loads(EXAMPLES["tau2"])


def tau(*messages: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A result of tau-bench with these messages."""
    return {**copy.deepcopy(TAU[0]), **({"traj": list(messages)} if messages else {}), **changes}


def tau2(**changes: Any) -> dict[str, Any]:
    """A file of tau2-bench whose one simulation is changed."""
    made = copy.deepcopy(TAU2)
    made["simulations"][0].update(changes)
    return made


def said(role: str, content: str | None, *calls: str) -> dict[str, Any]:
    made = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in calls]
    return {"role": role, "content": content, **({"tool_calls": made} if calls else {})}


def result(call: str, content: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "name": call, "content": content}


def only(format: str, value: Any) -> Dialogue:
    [dialogue], _ = read_json(format, value)
    return dialogue


def test_a_conversation_of_tau_bench() -> None:
    dialogue = only("tau", TAU)
    assert dialogue.id == "3#0"
    assert dialogue.goal is not None and dialogue.goal.message == ("You are mia. You want to fly.",)
    assert dialogue.turns == (
        Turn(speaker="user", text="A flight, please.", source=1),
        Turn(
            speaker="system",
            text="There is none.",
            calls=(Call(name="find", arguments={"to": "SEA", "n": 1}, result="[]", message=2),),
            source=4,
        ),
        Turn(speaker="user", text="###STOP###", source=5),
    )
    outcome = dialogue.outcome
    assert outcome is not None
    assert (outcome.success, outcome.reason, outcome.ended_by) == (True, "user_stop", "user")
    assert (outcome.task, outcome.trial, outcome.end) == ("3", 0, "finished")
    assert outcome.parts == {"r_actions": 1.0}
    assert outcome.usage == {"user": SideUsage(cost=0.01)}


def test_a_conversation_of_tau2_bench_whose_user_has_tools() -> None:
    dialogue = only("tau2", TAU2)
    assert dialogue.id == "slow[data]#0"
    assert dialogue.domains == ("telecom",)
    assert dialogue.goal is not None
    assert dialogue.goal.message == (
        "reason for call: Your phone is slow.", "known info: You are John.", "task instructions: Be brief.",
    )  # fmt: skip
    # What stands beside a call went to the tool: a turn of its own, and the call belongs to the next.
    assert [(turn.speaker, turn.text, turn.source) for turn in dialogue.turns] == [
        ("system", "Hi!", 0), ("user", "Let me see.", 1), ("user", "It is slow. ###STOP###", 3),
    ]  # fmt: skip
    assert dialogue.turns[2].calls == (Call(name="speed", result="slow", message=1),)
    assert dialogue.outcome is not None
    outcome = dialogue.outcome
    assert outcome.planned == (1, 2)
    assert outcome.usage == {"agent": SideUsage(cost=0.25), "user": SideUsage(cost=0.5)}
    assert outcome.parts["ENV_ASSERTION"] == 0.0


def test_calls_in_a_row_and_several_at_once_find_their_results() -> None:
    dialogue = only(
        "tau",
        [
            tau(
                said("user", "hello"),
                said("assistant", None, "a", "b"),
                result("b", "Error: no b"),
                result("a", "yes a"),
                said("assistant", None, "c"),
                said("assistant", "done"),
            )
        ],
    )
    [_, answer] = dialogue.turns
    assert [(call.name, call.outcome, call.result) for call in answer.calls or ()] == [
        ("a", "done", "yes a"), ("b", "failed", "Error: no b"), ("c", "no result", None),
    ]  # fmt: skip


def test_every_message_leads_to_its_turn() -> None:
    messages = [
        said("user", "hello"), said("assistant", None, "a"), result("a"), said("assistant", "wait", "b"), result("b"),
        said("assistant", "done"), said("user", ""), said("assistant", None, "c"), result("c"),
    ]  # fmt: skip
    dialogue = only("tau", [tau(*messages)])
    assert [turn.text for turn in dialogue.turns] == ["hello", "wait", "done", "", ""]
    assert [dialogue.turn_of_message(place) for place in range(9)] == [0, 1, 1, 1, 2, 2, 3, 4, 4]
    assert Dialogue(id="d", turns=(Turn(speaker="user"),)).turn_of_message(0) is None


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        ({"source": "user", "reward_info": {"info": {}}}, "user_stop"),
        ({"source": "transfer_to_human_agents", "reward_info": {"info": {}}}, "agent_stop"),
        ({"source": "find", "reward_info": None}, "max_steps"),
        ({"error": "RateLimitError", "traceback": "..."}, "error"),
    ],
)
def test_how_a_conversation_of_tau_bench_ended_is_concluded(info: dict[str, Any], reason: str) -> None:
    outcome = only("tau", [tau(info=info)]).outcome
    assert outcome is not None and outcome.reason == reason


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ([tau(said("user", "a"), {"role": "wizard", "content": "b"})], "dialogue 3#0, turn 1: .*'wizard'"),
        ([tau({"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]})], "turn 0: a tool call has no name"),
        ([TAU[0], {"task_id": 4}], "dialogue number 2: .*missing required field `reward`"),
    ],
)
def test_what_is_wrong_with_tau_is_said_with_its_place(value: Any, what: str) -> None:
    with pytest.raises(DialgaugeError, match=what):
        read_json("tau", value)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (tau2(messages=None), "dialogue slow\\[data\\]#0: it has no messages"),
        (tau2(task_id="other"), "the file has no task 'other'"),
        ({**TAU2, "tasks": [*TAU2["tasks"], {"id": "slow[data]"}]}, "two different tasks have the id 'slow"),
        ({"info": TAU2["info"], "tasks": []}, "it has neither 'simulations' nor"),
    ],
)
def test_what_is_wrong_with_tau2_is_said_with_its_place(value: Any, what: str) -> None:
    with pytest.raises(DialgaugeError, match=what):
        read_json("tau2", value)


def test_a_trial_that_occurs_twice_is_numbered_on_for_the_check_of_its_task(tmp_path: Path) -> None:
    (tmp_path / "twice.json").write_text(json.dumps([tau(), tau()]))
    corpus = dialgauge.read(tmp_path / "twice.json")
    assert [dialogue.id for dialogue in corpus] == ["3#0", "3#0 (2)"]
    assert corpus.notes.counts == {"a task and trial given again, numbered on": 1}


class TestRealData:
    COUNTS: ClassVar = {
        "tau_airline_gpt-4o": ("tau", 200, 1490, 1164),
        "tau2_airline_grok-3": ("tau2", 20, 230, 113),
        "tau2_telecom-workflow_grok-3": ("tau2", 20, 304, 242),
        "tau2_airline_grok-3-mini_cut_off": ("tau2", 14, 32, 14),
    }

    @pytest.mark.parametrize("name", COUNTS)
    def test_nothing_is_lost(self, name: str, shared_data: Path) -> None:
        kind, conversations, user_turns, calls = self.COUNTS[name]
        path = shared_data / "tau" / f"{name}.json.gz"
        corpus = dialgauge.read(path)
        assert (corpus.format, len(corpus)) == (kind, conversations)
        raw = json.loads(gzip.decompress(path.read_bytes()))
        originals = [one.get("traj") or one["messages"] for one in (raw if kind == "tau" else raw["simulations"])]
        turns = [turn for dialogue in corpus for turn in dialogue.turns]
        assert sum(len(turn.calls or ()) for turn in turns) == calls
        assert sum(len(m.get("tool_calls") or ()) for messages in originals for m in messages) == calls
        assert not any(call.outcome == "no result" for turn in turns for call in turn.calls or ())
        assert sum(turn.speaker == "user" and bool(turn.text) for turn in turns) == user_turns
        for dialogue, messages in zip(corpus, originals, strict=True):
            for turn in dialogue.turns:
                assert turn.source is not None
                assert turn.text in (messages[turn.source]["content"] or "", "")
            words = [m["content"] for m in messages if m["role"] in ("user", "assistant") and m["content"]]
            assert [turn.text for turn in dialogue.turns if turn.text] == words

    def test_recognised_by_content(self, shared_data: Path) -> None:
        for name, (kind, *_) in self.COUNTS.items():
            content = (shared_data / "tau" / f"{name}.json.gz").read_bytes()
            assert recognise(part_of(gzip.decompress(content), "x")).name == kind
