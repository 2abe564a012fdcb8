"""Messages of agents that reason and act (ReAct): a thought, an action with its arguments, and what was observed.

Each stands under a key of its own, ``{"thought": ..., "action": "find", "args": {...}}``, or in the text, after
``Action:`` and ``Action Input:``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialgauge.formats.notes import Notes
from dialgauge.formats.tau_messages import as_text

ACTION, OBSERVATION = "action", "observation"
#: Under which keys the arguments of an action stand.
_ARGUMENTS = ("args", "arguments", "action_input", "action_args", "tool_input", "tool_args", "tool_arguments",
              "tool_params", "tool_parameters", "kwargs", "parameters", "params", "input")  # fmt: skip
#: Where a message names the tool that it calls, also without any arguments.
_TOOLS = ("tool_name", "toolName", "function_name")
_NAMES = ("name", "tool", "tool_name", "function")
#: Actions that are none of a tool: their argument is what the agent says; and what stands for none at all.
_ANSWERS = frozenset({"finish", "final_answer", "respond", "answer"})
_NONE = frozenset({"", "none", "null"})
#: Actions of OpenHands by which somebody speaks, and those that are neither words nor calls.
_SPEAKS = frozenset({"message", "finish", "system"})
_NO_CALLS = frozenset({"think", "null", "change_agent_state", "recall", "condensation", "condensation_request"})
_LABELS = {"thought": "thought", "action": ACTION, "action input": "action_input", "observation": OBSERVATION}
_OBSERVED = "Observation:"
_NO_ARGUMENTS = "the action of a message that has no arguments beside it not read: it may be a call of a tool"
_BESIDE_WORDS = "the observation beside a user's words not read: it may be the result of a tool"


def is_step(value: Mapping[str, Any]) -> bool:
    """Is it what an agent thought or saw, and did, without saying whose message it is?"""
    return ACTION in value and not {"thought", OBSERVATION}.isdisjoint(value) and bool(_given(value))


def step_keys(role_key: str) -> tuple[str, ...]:
    """Where a message, which says under that key who speaks, says what was done or seen."""
    return (ACTION, OBSERVATION, *(_TOOLS if role_key == "role" else ()))  # what else has a type may describe a tool


def of_openhands(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """An event of OpenHands, an action or what was observed after it, as a message; None where it is none."""
    action, given, seen = event.get(ACTION), event.get("args"), event.get(OBSERVATION)
    if isinstance(seen, str) and "extras" in event:
        return {"role": "tool", "tool_call_id": as_text(event.get("cause")), "content": event.get("content")}
    if not isinstance(action, str) or not isinstance(given, dict) or not isinstance(event.get("source"), str):
        return None
    if action in _NO_CALLS:
        return {"event": action}
    if action in _SPEAKS:
        texts = (given.get("content"), given.get("final_thought"), event.get("message"))
        role = action if action == "system" else event["source"]
        return {"role": role, "content": next(filter(None, texts), None)}
    arguments = given.get("arguments", {key: value for key, value in given.items() if key != "thought"})
    call = {"id": as_text(event.get("id")), "name": given.get("name") or action, "arguments": arguments}
    return {"role": event["source"], "content": None, "tool_calls": [call], "thought": given.get("thought")}


def usual_message(message: Mapping[str, Any], role: str, content: Any, notes: Notes) -> tuple[bool, Mapping[str, Any]]:
    """Is it the result of a tool; and the message, with its action and what was observed where others have these."""
    if role == "assistant" and isinstance(content, str) and "Action:" in content:
        message = {**message, **_written(content)}
    if role in ("assistant", "tool") and message.get("thought"):
        notes.add("reasoning left out")
    seen = message.get(OBSERVATION)
    if isinstance(seen, dict) and isinstance(seen.get("results"), list):  # of Harbor's steps
        seen = None
    if role in ("user", "tool") and seen is not None:
        if not content:
            return True, {**message, "content": seen}
        notes.add(_BESIDE_WORDS, role == "user")
    if role != "assistant":
        return role == "tool", message
    if seen is not None:
        message = {**message, OBSERVATION: {"results": [{"content": seen}]}}
    tool = next((message[key] for key in _TOOLS if isinstance(message.get(key), str)), None)
    action = message.get(ACTION) if _is_meant(message.get(ACTION)) else tool
    if message.get("tool_calls") or not _is_meant(action):
        return False, message
    inside = action if isinstance(action, dict) else message
    name = next((inside[key] for key in _NAMES if isinstance(inside.get(key), str)), "")
    name = action if isinstance(action, str) else name
    given = _given(inside)
    if not name or not (given or tool):
        notes.add(_NO_ARGUMENTS)
        return False, message
    arguments = inside.get(given)
    if name.strip().lower().replace(" ", "_") in _ANSWERS:
        texts = list(arguments.values()) if isinstance(arguments, dict) else [arguments]
        return False, {**message, "content": content or (texts[0] if len(texts) == 1 else arguments)}
    call = {"id": message.get("tool_call_id"), "name": name, "arguments": arguments}
    return False, {**message, "tool_calls": [call]}


def observed(text: str) -> str | None:
    """What a text that begins so says that was observed; None for others."""
    return text.removeprefix(_OBSERVED).strip() if text.startswith(_OBSERVED) else None


def _is_meant(action: Any) -> bool:
    return bool(action) and not (isinstance(action, str) and action.strip().lower() in _NONE)


def _given(value: Mapping[str, Any]) -> str:
    """The key with the arguments of an action; empty without one."""
    return next((key for key in _ARGUMENTS if key in value), "")


def _written(text: str) -> dict[str, Any]:
    """The parts of a text that writes a step; nothing unless it has an action and its input."""
    parts: dict[str, list[str]] = {}
    key = "content"
    for line in text.splitlines():
        label, colon, rest = line.partition(":")
        new = _LABELS.get(label.strip().lower()) if colon else None
        key = new or key
        parts.setdefault(key, []).append(rest if new else line)
    step = {name: "\n".join(lines).strip() for name, lines in parts.items()}
    return {"content": None, **step} if {ACTION, "action_input"} <= step.keys() else {}
