"""The same conversation in the shapes in which people keep it: each is read to the same turns, calls and facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialgauge.dialogue import Dialogue, Goal
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read

CALL = {"name": "lookup", "arguments": {"name": "Ann"}}
OPENAI: list[dict[str, Any]] = [
    {"role": "system", "content": "You work in a hotel."},
    {"role": "user", "content": "Is Ann here?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": '{"name": "Ann"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "room 7"},
    {"role": "assistant", "content": "Yes, in room 7."},
    {"role": "user", "content": "Thank you."},
]
LEGACY = [
    OPENAI[1],
    {"role": "assistant", "content": None, "function_call": {"name": "lookup", "arguments": '{"name": "Ann"}'}},
    {"role": "function", "name": "lookup", "content": "room 7"},
    *OPENAI[4:],
]
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "Is Ann here?"}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "lookup", "input": {"name": "Ann"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "room 7"}]},
    {"role": "assistant", "content": [{"type": "thinking"}, {"type": "text", "text": "Yes, in room 7."}]},
    {"role": "user", "content": "Thank you."},
]  # fmt: skip
GEMINI = [
    {"role": "user", "parts": [{"text": "Is Ann here?"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "lookup", "args": {"name": "Ann"}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "lookup", "response": "room 7"}}]},
    {"role": "model", "parts": [{"text": "Yes, in room 7."}]},
    {"role": "user", "parts": [{"text": "Thank you."}]},
]
RESPONSES = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Is Ann here?"}]},
    {"type": "reasoning", "id": "r1", "summary": []},
    {"type": "function_call", "call_id": "c1", "name": "lookup", "arguments": '{"name": "Ann"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "room 7"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes, in room 7."}]},
    {"role": "user", "content": "Thank you."},
]
LANGCHAIN: list[dict[str, Any]] = [
    {"type": "human", "content": "Is Ann here?"},
    {"type": "ai", "content": "", "tool_calls": [{"id": "c1", "name": "lookup", "args": {"name": "Ann"}}]},
    {"type": "tool", "tool_call_id": "c1", "content": "room 7"},
    {"type": "ai", "content": "Yes, in room 7."},
    {"type": "human", "content": "Thank you."},
]
LANGCHAIN_DATA = [{"type": one["type"], "data": one} for one in LANGCHAIN]
LANGCHAIN_CLASSES = {"human": "HumanMessage", "ai": "AIMessageChunk", "tool": "ToolMessage"}
LANGCHAIN_DUMPS = [
    {"lc": 1, "type": "constructor", "id": ["langchain", LANGCHAIN_CLASSES[one["type"]]], "kwargs": one}
    for one in LANGCHAIN
]
SHAREGPT = [
    {"from": "human", "value": "Is Ann here?"},
    {"from": "gpt", "value": "", "tool_calls": [CALL]},
    {"from": "observation", "value": "room 7"},
    {"from": "gpt", "value": "Yes, in room 7."},
    {"from": "human", "value": "Thank you."},
]
INSPECT = [
    OPENAI[1],
    {"role": "assistant", "tool_calls": [{"id": "c1", "function": "lookup", "arguments": {"name": "Ann"}}]},
    {"role": "tool", "tool_call_id": "c1", "function": "lookup", "content": "room 7"},
    *OPENAI[4:],
]  # fmt: skip

BEDROCK = [
    {"role": "user", "content": [{"text": "Is Ann here?"}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "lookup", "input": {"name": "Ann"}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "room 7"}]}}]},
    {"role": "assistant", "content": [{"text": "Yes, in room 7."}]},
    {"role": "user", "content": [{"text": "Thank you."}]},
]
PYDANTIC = [
    {"kind": "request", "parts": [{"part_kind": "system-prompt", "content": "You work in a hotel."},
                                  {"part_kind": "user-prompt", "content": "Is Ann here?"}]},
    {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "lookup", "args": '{"name": "Ann"}',
                                    "tool_call_id": "c1"}]},
    {"kind": "request", "parts": [{"part_kind": "tool-return", "tool_call_id": "c1", "content": "room 7"}]},
    {"kind": "response", "parts": [{"part_kind": "text", "content": "Yes, in room 7."}]},
    {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Thank you."}]},
]  # fmt: skip
AUTOGEN = [
    {"source": "user", "type": "TextMessage", "content": "Is Ann here?"},
    {"source": "desk", "type": "ToolCallRequestEvent", "content": [{"id": "c1", "name": "lookup",
                                                                    "arguments": '{"name": "Ann"}'}]},
    {"source": "desk", "type": "ToolCallExecutionEvent", "content": [{"call_id": "c1", "content": "room 7"}]},
    {"source": "desk", "type": "ThoughtEvent", "content": "They are in."},
    {"source": "desk", "type": "TextMessage", "content": "Yes, in room 7."},
    {"source": "user_proxy", "type": "TextMessage", "content": "Thank you."},
]  # fmt: skip
TOOL = {"toolCallId": "c1", "input": {"name": "Ann"}, "output": "room 7"}
OLDER_TOOL = {"toolCallId": "c1", "toolName": "lookup", "args": {"name": "Ann"}, "result": "room 7"}
UI_MESSAGES = [
    {"role": "user", "parts": [{"type": "text", "text": "Is Ann here?"}]},
    {"role": "assistant", "parts": [{"type": "step-start"}, {"type": "tool-lookup", **TOOL},
                                    {"type": "text", "text": "Yes, in room 7."}]},
    {"role": "user", "content": "Thank you.", "parts": [{"type": "text", "text": "Thank you."}]},
]  # fmt: skip
OLDER_UI_MESSAGES = [
    UI_MESSAGES[0],
    {"role": "assistant", "content": "Yes, in room 7.", "parts": [
        {"type": "tool-invocation", "toolInvocation": OLDER_TOOL}, {"type": "text", "text": "Yes, in room 7."}]},
    UI_MESSAGES[2],
]  # fmt: skip
REACT: list[dict[str, Any]] = [
    OPENAI[1],
    {"role": "assistant", "thought": "Who?", "action": "lookup", "args": {"name": "Ann"}},
    {"role": "observation", "observation": "room 7"},
    {"role": "assistant", "thought": "So.", "action": "finish", "args": {"answer": "Yes, in room 7."}},
    OPENAI[-1],
]
REACT_BY_USER = [*REACT[:2], {"role": "user", "observation": "room 7"}, OPENAI[4], OPENAI[-1]]
REACT_IN_ONE = [
    OPENAI[1],
    {"role": "assistant", "action": {"name": "lookup", "kwargs": {"name": "Ann"}}, "observation": "room 7"},
    {"role": "assistant", "content": "Yes, in room 7.", "action": None, "observation": None},
    OPENAI[-1],
]
REACT_TEXT = [
    OPENAI[1],
    {"role": "assistant", "content": 'Thought: Who?\nAction: lookup\nAction Input: {"name": "Ann"}'},
    {"role": "user", "content": "Observation: room 7"},
    *OPENAI[4:],
]
PART = {"type": "conversation_part", "part_type": "comment"}
INTERCOM = [
    {**PART, "part_type": "assignment", "body": None, "author": {"type": "bot"}},
    {**PART, "body": "<p>Yes, in <b>room</b> 7.</p>", "author": {"type": "admin"}},
    {**PART, "part_type": "note", "body": "<p>Not a friend.</p>", "author": {"type": "admin"}},
    {**PART, "body": "<p>Thank you.</p>", "author": {"type": "user"}},
]
VOICE = [  # of Vapi
    {"role": "user", "message": "Is Ann here?"},
    {"role": "tool_calls", "toolCalls": [{"id": "c1", "function": OPENAI[2]["tool_calls"][0]["function"]}]},
    {"role": "tool_call_result", "name": "lookup", "result": "room 7", "toolCallId": "c1"},
    {"role": "bot", "message": "Yes, in room 7."},
    {"role": "user", "message": "Thank you."},
]
LATER_RESULTS = [  # of ElevenLabs
    {"role": "user", "message": "Is Ann here?"},
    {"role": "agent", "message": None, "tool_calls": [
        {"request_id": "c1", "tool_name": "lookup", "params_as_json": '{"name": "Ann"}'}]},
    {"role": "agent", "message": "Yes, in room 7.", "tool_calls": [],
     "tool_results": [{"request_id": "c1", "tool_name": "lookup", "result_value": "room 7"}]},
    {"role": "user", "message": "Thank you."},
]  # fmt: skip
ADK = [
    {"author": "user" if one["role"] == "user" and "text" in one["parts"][0] else "desk", "content": one, "actions": {}}
    for one in GEMINI
]
OPENHANDS = [
    {"id": 0, "source": "agent", "action": "system", "args": {"content": "You work in a hotel."}},
    {"id": 1, "source": "user", "action": "message", "args": {"content": "Is Ann here?"}, "message": "Is Ann here?"},
    {"id": 2, "source": "agent", "action": "call_tool_mcp", "message": "I call it",
     "args": {"name": "lookup", "arguments": {"name": "Ann"}, "thought": ""}},
    {"id": 3, "source": "environment", "observation": "mcp", "cause": 2, "content": "room 7", "extras": {}},
    {"id": 4, "source": "agent", "action": "think", "args": {"thought": "So."}},
    {"id": 5, "source": "agent", "action": "message", "args": {"content": "Yes, in room 7."}},
    {"id": 6, "source": "user", "action": "message", "args": {"content": "Thank you."}},
]  # fmt: skip
#: Calls beside the words that were said after them, with what came of them.
CALLED_BEFORE: dict[str, list[Any]] = {
    "toolsCalled": [{"name": "lookup", "inputParameters": {"name": "Ann"}, "output": "room 7"}],
    "tools_called": [{"name": "lookup", "input_parameters": {"name": "Ann"}, "output": "room 7"}],
    "toolInvocations": [{"state": "result", **OLDER_TOOL}],
    "tool_uses": [{"name": "lookup", "input": {"name": "Ann"}, "result": "room 7"}],
    "function_calls": [{"function": CALL, "response": "room 7"}],
    "tools": [{"tool": "lookup", "args": {"name": "Ann"}, "result": "room 7"}],
    "actions": [{**CALL, "result": "room 7"}],
    "steps": [{"type": "thought", "text": "?"}, {"tool": "lookup", "input": {"name": "Ann"}, "output": "room 7"}],
    "intermediate_steps": [[{"tool": "lookup", "tool_input": {"name": "Ann"}, "log": ""}, "room 7"]],
}
SESSION = [
    {"type": role, "sessionId": "s", "message": {"role": role, "content": message["content"]}}
    for message, role in zip(ANTHROPIC, ["user", "assistant", "user", "assistant", "user"], strict=True)
]


def lines(*values: Any) -> bytes:
    return b"\n".join(json.dumps(value).encode() for value in values) + b"\n"


def rows(messages: list[dict[str, Any]], **beside: Any) -> list[dict[str, Any]]:
    return [{**message, **beside} for message in messages]


#: A name to the content of a file, and what is known of the conversation beside its messages: success, task, trial.
SHAPES: dict[str, tuple[bytes, tuple[bool | None, str, int]]] = {
    "one object": (json.dumps({"messages": OPENAI, "success": True}, indent=1).encode(), (True, "log", 0)),
    "one object a line": (lines({"messages": OPENAI, "id": "a", "passed": True}), (True, "a", 0)),
    "a list of objects": (json.dumps([{"task_id": 3, "trial": 1, "messages": OPENAI}]).encode(), (None, "3", 1)),
    "a bare list of messages": (json.dumps(OPENAI, indent=2).encode(), (None, "log", 0)),
    "a list of lists": (json.dumps([OPENAI]).encode(), (None, "log", 0)),
    "an object of lists by id": (json.dumps({"a": OPENAI}).encode(), (None, "a", 0)),
    "an object of objects by id": (json.dumps({"a": {"messages": OPENAI, "success": False}}).encode(), (False, "a", 0)),
    "wrapped, the model outside": (
        json.dumps({"model": "m", "conversations": [{"messages": OPENAI, "id": "a"}]}).encode(),
        (None, "a", 0),
    ),
    "wrapped in data": (json.dumps({"data": [{"history": OPENAI, "Task ID": "a"}]}, indent=1).encode(), (None, "a", 0)),
    "messages one a line": (lines(*rows(OPENAI, conversation_id="a", success=True)), (True, "a", 0)),
    "messages one a line, no id": (lines(*OPENAI), (None, "log", 0)),
    "messages in a list, each with its id": (json.dumps(rows(OPENAI, session_id="a")).encode(), (None, "a", 0)),
    "legacy function calls": (lines({"messages": LEGACY, "resolved": "yes"}), (True, "log", 0)),
    "a sign for success": (lines({"messages": LEGACY, "success": "✅"}), (True, "log", 0)),
    "a sign for failure": (lines({"messages": LEGACY, "success": "❌"}), (False, "log", 0)),
    "a grader's letter": (lines({"messages": LEGACY, "passed": "I"}), (False, "log", 0)),
    "a share of a hundred": (lines({"messages": LEGACY, "success": "100%"}), (True, "log", 0)),
    "Anthropic's blocks": (lines({"messages": ANTHROPIC, "result": "fail"}), (False, "log", 0)),
    "Gemini's parts": (lines({"history": GEMINI}), (None, "log", 0)),
    "events of OpenHands": (
        lines({"instance_id": "i", "history": OPENHANDS, "test_result": {"resolved": True}}),
        (True, "i", 0),
    ),
    "events of Google's agents": (lines({"events": ADK, "id": "s"}), (None, "s", 0)),
    **{
        f"calls under {key}": (
            lines({"messages": [OPENAI[1], {**OPENAI[4], key: calls}, OPENAI[5]], "id": "s"}),
            (None, "s", 0),
        )
        for key, calls in CALLED_BEFORE.items()
    },
    "OpenAI's responses": (
        json.dumps({"id": "resp_1", "input": RESPONSES[:1], "output": RESPONSES[1:], "model": "m"}).encode(),
        (None, "resp_1", 0),
    ),
    "items of responses": (lines({"items": RESPONSES, "is_correct": 1}), (True, "log", 0)),
    "LangChain's types": (lines({"messages": LANGCHAIN, "info": {"epoch": 2, "task": "t"}}), (None, "t", 2)),
    "ShareGPT": (json.dumps([{"id": "a", "conversations": SHAREGPT}]).encode(), (None, "a", 0)),
    "ShareGPT a line": (lines({"conversations": SHAREGPT, "metadata": {"success": "true"}}), (True, "log", 0)),
    "inspect's messages": (lines({"messages": INSPECT, "outcome": {"success": False}}), (False, "log", 0)),
    "a trajectory": (lines({"trajectory": OPENAI, "questionId": "q1", "attempt": 4}), (None, "q1", 4)),
    "a prompt and its completion": (
        lines({"prompt": OPENAI[:-1], "completion": [OPENAI[-1]], "scenario_id": "s"}),
        (None, "s", 0),
    ),
    "a request and its response": (
        json.dumps(
            {"request": {"messages": OPENAI[:-1]}, "response": {"choices": [{"message": OPENAI[-1]}]}}, indent=1
        ).encode(),
        (None, "log", 0),
    ),
    "Gemini's request and response": (
        lines({"task": "t", "request": {"contents": GEMINI[:-1]},
               "response": {"candidates": [{"content": GEMINI[-1]}]}}),
        (None, "t", 0),
    ),
    "windows": (b"\xef\xbb\xbf" + lines({"messages": OPENAI}).replace(b"\n", b"\r\n"), (None, "log", 0)),
    "LangChain's dictionaries": (lines({"messages": LANGCHAIN_DATA}), (None, "log", 0)),
    "LangChain's dumps": (lines({"messages": LANGCHAIN_DUMPS, "task": "t"}), (None, "t", 0)),
    "Gemini's contents": (lines({"contents": GEMINI, "success": "not passed"}), (False, "log", 0)),
    "messages as a text": (lines({"messages": json.dumps(OPENAI), "success": "1"}), (True, "log", 0)),
    "trials by their task": (json.dumps({"t": [{"trial": 2, "messages": OPENAI}]}).encode(), (None, "t", 2)),
    "trials inside of tasks": (
        json.dumps({"model": "m", "results": [{"task_id": "t", "trials": [{"messages": OPENAI}]}]}).encode(),
        (None, "t", 0),
    ),
    "turns with roles": (lines({"turns": OPENAI, "uuid": "u"}), (None, "u", 0)),
    "Bedrock's blocks": (lines({"messages": BEDROCK, "taskId": "t", "trialIndex": 1}), (None, "t", 1)),
    "Pydantic AI": (json.dumps(PYDANTIC).encode(), (None, "log", 0)),
    "Pydantic AI under a name of its own": (lines({"all_messages": PYDANTIC, "case_id": "t"}), (None, "t", 0)),
    "AutoGen": (lines({"task_id": "t", "chat_history": AUTOGEN, "is_correct": False}), (False, "t", 0)),
    "AutoGen's result": (lines({"task": {"id": "t"}, "result": {"messages": AUTOGEN}, "passed": 1}), (True, "t", 0)),
    "the AI SDK": (lines({"chatId": "c", "messages": UI_MESSAGES}), (None, "c", 0)),
    "the AI SDK before version 5": (lines({"chatId": "c", "messages": OLDER_UI_MESSAGES}), (None, "c", 0)),
    "a state of LangGraph": (
        lines([{"values": {"messages": LANGCHAIN}, "next": [], "metadata": {"task": "t", "success": True}}]),
        (True, "t", 0),
    ),
    "a checkpoint of LangGraph": (
        lines({"config": {"configurable": {"thread_id": "h"}},
               "checkpoint": {"channel_values": {"messages": LANGCHAIN}}}),
        (None, "h", 0),
    ),
    "a run of LangSmith": (
        lines({"run_type": "chain", "reference_example_id": "t", "inputs": {"messages": LANGCHAIN_DUMPS[:1]},
               "outputs": {"messages": LANGCHAIN_DUMPS}}),
        (None, "t", 0),
    ),
    "a sample of Ragas": (lines({"user_input": LANGCHAIN, "reference": "x", "task_id": "t"}), (None, "t", 0)),
    "a session of Claude Code": (lines({"type": "summary", "summary": "Ann"}, *SESSION), (None, "s", 0)),
    "messages as Python writes them": (lines({"messages": str(OPENAI), "success": True}), (True, "log", 0)),
    "a table by columns": (
        json.dumps({"task_id": ["t"], "trial": [3], "messages": [OPENAI], "success": [True]}).encode(),
        (True, "t", 3),
    ),
    "tasks with their trials": (json.dumps({"t": {"trials": [{"messages": OPENAI}]}}).encode(), (None, "t", 0)),
    "tasks with trials by name": (json.dumps({"t": {"trial_2": {"messages": OPENAI}}}).encode(), (None, "t", 2)),
    "names in capitals": (
        lines({"TaskId": "t", "Messages": [{"Role": one["role"], "Content": one["content"],
               "ToolCalls": one.get("tool_calls"), "ToolCallId": one.get("tool_call_id")} for one in OPENAI]}),
        (None, "t", 0),
    ),
    "rows by task and trial": (lines(*rows(OPENAI, task_id="t", trial=2, success=True)), (True, "t", 2)),
    "calls of a voice agent": (lines({"messages": VOICE, "id": "v"}), (None, "v", 0)),
    "results beside the next words": (lines({"transcript": LATER_RESULTS, "success": True}), (True, "log", 0)),
    "thoughts, actions and observations": (lines({"messages": REACT, "success": True}), (True, "log", 0)),
    "observations in the user's messages": (lines({"messages": REACT_BY_USER}), (None, "log", 0)),
    "observations beside actions": (lines({"messages": REACT_IN_ONE}), (None, "log", 0)),
    "actions in texts": (lines({"messages": REACT_TEXT}), (None, "log", 0)),
    "a request and its response in JSON texts": (
        lines({"task": "t", "request": json.dumps({"messages": OPENAI[:-1]}),
               "response": json.dumps({"choices": [{"message": OPENAI[-1]}]})}),
        (None, "t", 0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_the_same_conversation(shape: str, tmp_path: Path) -> None:
    content, (success, task, trial) = SHAPES[shape]
    (tmp_path / "log.json").write_bytes(content)
    corpus = read(tmp_path / "log.json")
    assert corpus.format == "messages"
    [dialogue] = corpus
    assert said(dialogue) == [("user", "Is Ann here?"), ("system", "Yes, in room 7."), ("user", "Thank you.")]
    [call] = [call for turn in dialogue.turns for call in turn.calls or ()]
    assert (call.name, call.arguments, call.result) == ("lookup", {"name": "Ann"}, {"content": "room 7"})
    assert dialogue.outcome is not None and dialogue.outcome.success is success
    details = dialogue.outcome.details
    assert (details["task"], details["trial"]) == (task, str(trial))


def test_steps_without_roles_are_the_agents(tmp_path: Path) -> None:
    step = {"thought": "Who?", "action": "lookup", "action_input": {"name": "Ann"}, "observation": "room 7"}
    (tmp_path / "log.jsonl").write_bytes(lines({"task_id": "t", "success": True, "steps": [step]}))
    [turn] = read(tmp_path / "log.jsonl")[0].turns
    [call] = turn.calls or ()
    assert (turn.speaker, call.name, call.result) == ("system", "lookup", {"content": "room 7"})


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            {"role": "assistant", "content": "Hello.", "action": "greet"},
            "the action of a message that has no arguments",
        ),
        ({"role": "user", "content": "Hello.", "observation": "x"}, "the observation beside a user's words not read"),
    ],
)
def test_an_action_or_observation_that_may_be_something_else_is_told(
    message: dict[str, str], told: str, tmp_path: Path
) -> None:
    (tmp_path / "log.jsonl").write_bytes(lines({"messages": [OPENAI[1], message]}))
    corpus = read(tmp_path / "log.jsonl")
    assert corpus[0].turns[1].text == "Hello." and not corpus[0].turns[1].calls
    assert [what for what in corpus.notes.counts if what.startswith(told)]


def test_a_conversation_of_intercom_begins_with_its_source_and_has_no_notes_of_the_staff(tmp_path: Path) -> None:
    source = {"type": "conversation", "body": "<p>Is Ann here?</p>", "author": {"type": "user"}}
    parts = {"type": "conversation_part.list", "conversation_parts": INTERCOM}
    record = {"type": "conversation", "id": "i", "source": source, "conversation_parts": parts}
    (tmp_path / "log.jsonl").write_bytes(lines(record, {**record, "id": "j"}))
    corpus = read(tmp_path / "log.jsonl")
    assert said(corpus["i"]) == [("user", "Is Ann here?"), ("system", "Yes, in room 7."), ("user", "Thank you.")]
    assert corpus.notes.counts["parts of the kind note left out"] == 2


@pytest.mark.parametrize("newest_first", [True, False])
def test_messages_of_a_thread_are_in_the_order_of_their_times(newest_first: bool, tmp_path: Path) -> None:
    """OpenAI's assistants list the last message first, and put texts into objects."""
    thread = [
        {"role": role, "created_at": time, "content": [{"type": "text", "text": {"value": text, "annotations": []}}]}
        for time, (role, text) in enumerate([("user", "Is Ann here?"), ("assistant", "Yes."), ("user", "Thank you.")])
    ]
    (tmp_path / "log.jsonl").write_bytes(lines({"data": thread[::-1] if newest_first else thread}))
    corpus = read(tmp_path / "log.jsonl")
    assert said(corpus[0]) == [("user", "Is Ann here?"), ("system", "Yes."), ("user", "Thank you.")]
    told = "messages written from the last to the first put in the order of their times"
    assert corpus.notes.counts[told] == newest_first


def test_messages_that_the_user_never_saw_are_left_out(tmp_path: Path) -> None:
    comments = [
        {"author": {"role": "end-user"}, "body": "Is Ann here?", "public": True},
        {"author": {"role": "agent"}, "body": "Not a friend.", "public": False},
        {"author": {"role": "agent"}, "body": "Yes.", "public": True},
    ]
    (tmp_path / "log.json").write_bytes(lines({"tickets": [{"id": 1, "comments": comments}]}))
    corpus = read(tmp_path / "log.json")
    assert said(corpus[0]) == [("user", "Is Ann here?"), ("system", "Yes.")]
    assert corpus.notes.counts["messages that are not public left out"] == 1


def said(dialogue: Dialogue) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in dialogue.turns]


def test_there_are_twenty_shapes_and_more() -> None:
    assert len(SHAPES) >= 20


TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


def details_of(tmp_path: Path, **beside: Any) -> dict[str, str]:
    (tmp_path / "log.jsonl").write_bytes(lines({"messages": TALK, **beside}))
    [dialogue] = read(tmp_path / "log.jsonl")
    assert dialogue.outcome is not None
    return dialogue.outcome.details


@pytest.mark.parametrize(
    ("beside", "known"),
    [
        ({"reward": 0.5}, {"score[reward]": "0.5"}),
        ({"scores": {"helpful": 4, "tone": "polite"}}, {"score[helpful]": "4", "score[tone]": "polite"}),
        ({"scores": [{"name": "helpful", "value": True}]}, {"score[helpful]": "true"}),
        ({"metrics": {"f1": 0.25, "cost": 2}}, {"score[f1]": "0.25"}),
        ({"evaluation": {"quality": {"score": 3, "reason": "..."}}}, {"score[quality]": "3"}),
        ({"qualityScore": "7"}, {"score[qualityScore]": "7"}),
        ({"success": 0.7}, {"score[success]": "0.7"}),
        ({"score": "14.1%", "grade": "C"}, {"score[score]": "0.141", "score[grade]": "C"}),
        ({"success": "1e2%"}, {"score[success]": "1e2%"}),
        ({"usage": {"prompt_tokens": 10, "completion_tokens": 5}}, {"tokens": "15"}),
        ({"usage": {"total_tokens": 12, "prompt_tokens": 10}}, {"tokens": "12"}),
        ({"total_cost": 0.25, "model": "m"}, {"cost": "0.25", "agent": "m"}),
        ({"agent_cost": 1, "user_cost": 2, "user_model": "u"}, {"agent_cost": "1", "user_cost": "2", "user": "u"}),
        ({"stats": {"duration": 1.5}}, {"duration": "1.5"}),
        ({"cost": {"input": 0.1, "output": 0.2, "total": 0.3}}, {"cost": "0.3"}),
        (
            {"messages": [{**one, "usage": {"prompt_tokens": 4, "completion_tokens": 1}} for one in TALK]},
            {"tokens": "10"},
        ),
    ],
)
def test_facts_are_read_under_their_usual_names(beside: dict[str, Any], known: dict[str, str], tmp_path: Path) -> None:
    details = details_of(tmp_path, **beside)
    assert {key: details.get(key) for key in known} == known


def test_what_a_log_does_not_say_stays_unknown_and_what_is_not_read_is_counted(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(lines({"messages": TALK, "mood": "fine", "timestamp": 3, "cost": -1}))
    corpus = read(tmp_path / "log.jsonl")
    outcome = corpus[0].outcome
    assert outcome is not None and outcome.success is None and not outcome.reason
    assert set(outcome.details) == {"benchmark", "task", "trial"}
    assert corpus.notes.counts == {"field mood not read": 1, "field cost not read": 1}


SPEAKERS = [{"speaker": "USER", "utterance": "hi"}, {"speaker": "SYSTEM", "utterance": "hello"}]


@pytest.mark.parametrize(
    "beside",
    [
        {"turns": SPEAKERS},
        {"id": "a", "turns": [{"speaker": "user", "text": "hi"}, {"speaker": "agent", "text": "hello"}]},
        {"dialogue": SPEAKERS, "goal": "Say hi."},
        {"turns": SPEAKERS, "dialogue_id": "a", "goal": "Say hi."},
        {"history": [{"user": "hi"}, {"agent": "hello"}]},
        {"turns": [{"turn": 0, "user": "hi", "system": "hello"}]},
        {"turns": [{"turn": 0, "user_message": "hi", "agent_response": "hello"}]},
        {"dialog": [["user", "hi"], ["assistant", "hello"]]},
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_words_of_dialogue_data_are_read_beside_an_outcome(beside: dict[str, Any], whole: bool, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    record = {"task_id": "t", **beside, "success": True}
    path.write_bytes(json.dumps([record]).encode() if whole else lines(record))
    corpus = read(path)
    assert corpus.format == "messages"
    assert [said(dialogue) for dialogue in corpus] == [[("user", "hi"), ("system", "hello")]]
    assert corpus[0].outcome is not None and corpus[0].outcome.success is True
    path.write_bytes(json.dumps([beside]).encode())
    with pytest.raises(DialgaugeError, match=r"no known layout fits|does not have the expected shape"):
        read(path)


def test_our_own_dialogues_with_a_stray_field_are_refused_as_such(tmp_path: Path) -> None:
    turn = {"speaker": "user", "text": "hi", "state": {}}
    (tmp_path / "x.jsonl").write_bytes(lines({"id": "a", "turns": [turn], "success": True}))
    with pytest.raises(DialgaugeError, match="unknown field `success`"):
        read(tmp_path / "x.jsonl")


def test_a_table_has_a_message_in_each_row(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        'conversation_id;task_id;role;content;success\na;t;user;hi;\na;t;agent;"so;\nlong";yes\nb;t;user;hi;no\n'
    )
    corpus = read(path)
    assert corpus.format == "messages"
    assert [said(dialogue) for dialogue in corpus] == [[("user", "hi"), ("system", "so;\nlong")], [("user", "hi")]]
    assert [dialogue.outcome and dialogue.outcome.success for dialogue in corpus] == [True, False]
    path.write_text("conversation_id,role,content\na,user\n")
    with pytest.raises(DialgaugeError, match="line 2: the row has another number of cells than the header"):
        read(path)


@pytest.mark.parametrize(
    "content",
    [
        b"dialogue,turn,speaker,text,state\na,0,user,hi,hotel-area=north\na,1,user,ok,hotel-area=north\n",
        lines(
            *(
                {"dialogue_id": "a", "turn": n, "messages": json.dumps(TALK), "state": {"hotel-area": "x"}}
                for n in (0, 1)
            )
        ),
    ],
)
def test_predictions_with_the_words_that_led_to_them_stay_predictions(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "pred").write_bytes(content)
    assert read(tmp_path / "pred").format == "predictions"


def test_trials_of_a_task_are_counted_over_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(lines(*({"task_id": "t", "messages": TALK} for _ in range(2))))
    assert [dialogue.id for dialogue in read(tmp_path)] == ["t#0", "t#1", "t#2", "t#3"]


@pytest.mark.parametrize("form", ["{}/log.json", "t/trial_{}/log.json", "trial_{}/t.json"])
def test_one_name_in_several_folders_is_an_error(form: str, tmp_path: Path) -> None:
    for path in (tmp_path / form.format(number) for number in range(2)):
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(TALK))
    with pytest.raises(DialgaugeError, match="already used"):
        read(tmp_path)


def test_a_file_of_verdicts_beside_conversations_without_any_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "talks.jsonl").write_bytes(lines({"task_id": "t", "messages": TALK}))
    (tmp_path / "verdicts.csv").write_text("task,success\nt,yes\n")
    with pytest.raises(DialgaugeError, match=r"verdicts\.csv: it has verdicts and no messages, and conversations of"):
        read(tmp_path)
    (tmp_path / "talks.jsonl").write_bytes(lines({"task_id": "t", "messages": TALK, "success": False}))
    assert [dialogue.outcome and dialogue.outcome.success for dialogue in read(tmp_path)] == [False, True]


def test_objects_in_metadata_that_are_not_read_are_named(tmp_path: Path) -> None:
    metadata = {"eval": {"result": {"success": True}}, "run": {"trial": 0}, "mood": "fine"}
    (tmp_path / "log.jsonl").write_bytes(lines({"messages": TALK, "metadata": metadata}))
    assert [*read(tmp_path / "log.jsonl").notes.unread.values()] == ["metadata.eval", "metadata.run"]


def test_files_without_ids_bear_their_names(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.json").write_bytes(json.dumps({"messages": TALK}).encode())
    (tmp_path / "third.jsonl").write_bytes(lines({"messages": TALK}, {"messages": TALK}))
    assert [dialogue.id for dialogue in read(tmp_path)] == ["first", "second", "third-0001", "third-0002"]


@pytest.mark.parametrize(
    ("knows", "goal"),
    [
        ({"order": "#7"}, Goal(message=("Ask for Ann.",), knows={"order": "#7"})),
        (["#7", 8], Goal(message=("Ask for Ann.",), knows={"value 1": "#7", "value 2": "8"})),
        ("order: #7", Goal(message=("Ask for Ann.",), knows={"order": "#7"})),
        ("Your order is #7.", Goal(message=("Ask for Ann.", "Your order is #7."))),
        ({"past": "one\ntwo", "order": "#7"}, Goal(message=("Ask for Ann.", "past: one\ntwo"), knows={"order": "#7"})),
    ],
)
def test_an_instruction_and_what_the_user_knows_are_its_goal(knows: object, goal: Goal, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(lines({"messages": TALK, "instruction": "Ask for Ann.", "knows": knows}))
    [dialogue] = read(tmp_path / "log.jsonl")
    assert dialogue.goal == goal


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (lines({"messages": [{"role": "usr", "content": "hi"}, *TALK]}), "message 0: the role 'usr' is unknown"),
        (
            lines({"messages": [*TALK, {"role": "usr", "content": "hi"}]}),
            "the role 'usr' is unknown. Did you mean 'user'",
        ),
        (lines({"messages": [*TALK, "hi"]}), "message 2 is no object"),
        (lines({"messages": TALK}, {"text": "x"}), "line 2: it is no conversation .it has the keys text"),
        (lines({"messages": TALK}, {"messages": TALK})[:-9], "line 2: it is not valid JSON"),
        (lines(*({"id": "a", "messages": TALK} for _ in range(2))), "dialogue a: this id was already used"),
        (lines({"messages": TALK * 60_000}), "it has 120,000 messages; more than 100,000 were not meant"),
        (lines({"messages": [{"role": "user", "content": "x"}], "a": 1})[:-2] + b',"b":' + b"[" * 5000, "JSON"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(content: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(content)
    with pytest.raises(DialgaugeError, match=what):
        read(tmp_path / "log.jsonl")


def test_a_line_without_end_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialgauge.formats.logs.file_conversations._LONGEST_LINE", 1000)
    (tmp_path / "log.jsonl").write_bytes(lines({"messages": TALK}, {"messages": TALK * 100}))
    with pytest.raises(DialgaugeError, match="line 2: the line has more than 1,000 bytes"):
        read(tmp_path / "log.jsonl")


@pytest.mark.parametrize("make", [lambda talk: lines({"messages": talk}), lambda talk: json.dumps([talk]).encode()])
def test_calls_made_together_get_their_own_results(make: Callable[[Any], bytes], tmp_path: Path) -> None:
    talk = [
        {"role": "user", "content": "both"},
        *({"type": "function_call", "call_id": name, "name": name, "arguments": "{}"} for name in "ab"),
        {"type": "function_call_output", "call_id": "b", "output": "B"},
        {"type": "function_call_output", "call_id": "a", "output": "A"},
        {"role": "assistant", "content": "done"},
    ]
    (tmp_path / "log").write_bytes(make(talk))
    [dialogue] = read(tmp_path / "log")
    calls = dialogue.turns[1].calls or ()
    assert [(call.name, call.result["content"]) for call in calls] == [("a", "A"), ("b", "B")]
    assert [turn.source for turn in dialogue.turns] == [0, 5]
