"""What a message consists of: words, tool calls and their results, in the content blocks of many vendors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from dialgauge.formats.json_text import literal
from dialgauge.formats.logs.fact_names import plain_key
from dialgauge.formats.logs.fact_values import is_unjudged
from dialgauge.formats.notes import Notes
from dialgauge.formats.tau_messages import ToolResult, WrittenToolCall, as_text

CALL_KEYS = ("tool_calls", "function_call", "toolCalls")
#: Other names, without case and punctuation, for the calls that were made before a message was said; and names for
#: other things, too, where a call is known by its arguments or its result.
CALLED_BEFORE = frozenset({"toolcall", "toolscalled", "toolinvocations", "tooluses", "toolused", "toolsused",
                           "functioncalls"})  # fmt: skip
MAY_BE_CALLED = frozenset({"tools", "actions", "steps", "intermediatesteps"})
_NAMES = ("name", "tool_name", "toolName", "tool", "function_name")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "params_as_json", "inputParameters", "input_parameters",
              "tool_input")  # fmt: skip
_IDS = ("id", "tool_call_id", "call_id", "toolCallId", "toolUseId", "request_id")
_GIVEN = ("result", "output", "response", "observation", "errorText")
#: What a tool may be called.
_NAME = re.compile(r"[A-Za-z_][\w.:/-]{0,99}")
#: What describes a tool that may be called.
_SCHEMA = frozenset({"description", "input_schema", "inputSchema"})
#: Kinds of content blocks.
_KIND_KEYS = ("type", "part_kind", "block_type")
_TEXTS = frozenset({"text", "input_text", "output_text", "refusal", "string", "user-prompt"})
_CALLS = frozenset({"tool_use", "tool_call", "server_tool_use", "toolCall", "tool-call"})
_RESULTS = frozenset(
    {"tool_result", "tool_call_response", "tool_response", "tool-result", "tool-return", "retry-prompt"}
)
_THOUGHTS = frozenset({"thinking", "reasoning", "redacted_thinking", "thought"})
_INNER_CALLS = ("functionCall", "function_call", "toolUse")
_INNER_RESULTS = ("functionResponse", "function_response", "toolResult")


class MessageParts(Struct):
    """What a message consists of."""

    texts: list[str]
    calls: list[WrittenToolCall]
    results: list[ToolResult]
    prompts: list[str]
    #: Were the calls made before the words were said?
    before: bool = False


def message_parts(content: Any, notes: Notes) -> MessageParts:
    """Words, calls and results of a content, and what a system was told in it."""
    parts = MessageParts([], [], [], [])
    for piece in content if isinstance(content, list) else [] if content is None else [content]:
        _add_piece(piece, parts, notes)
    return parts


def _add_piece(piece: Any, parts: MessageParts, notes: Notes) -> None:
    if not isinstance(piece, dict):
        if piece not in (None, ""):
            parts.texts.append(as_text(piece))
        return
    kind = next((piece[key] for key in _KIND_KEYS if isinstance(piece.get(key), str)), None)
    inner_calls = [piece[key] for key in _INNER_CALLS if isinstance(piece.get(key), dict)]
    inner_results = [piece[key] for key in _INNER_RESULTS if isinstance(piece.get(key), dict)]
    if kind in _THOUGHTS:
        notes.add("reasoning left out")
    elif kind in _CALLS or inner_calls or (kind is None and {"name", "arguments"} <= piece.keys()):
        parts.calls += map(_call, inner_calls or [piece])
    elif kind in _RESULTS or inner_results or (kind is None and {"call_id", "content"} <= piece.keys()):
        parts.results += (tool_result(result, notes) for result in inner_results or [piece])
    elif kind is not None and (tool := _ui_tool(kind, piece)):
        parts.calls.append(_call(tool))
        if not {"output", "result", "errorText"}.isdisjoint(tool):
            parts.results.append(tool_result(tool, notes))
    elif isinstance(text := _words(piece), str) and (kind is None or kind in _TEXTS):
        parts.texts.append(text)
    elif kind == "system-prompt":
        parts.prompts.append(as_text(piece.get("content")))
    elif kind is None:
        parts.texts.append(as_text(piece))
    elif kind != "step-start":
        notes.add(f"content of the kind {kind[:40]} left out")


def _words(piece: Mapping[str, Any]) -> Any:
    """The text of a piece, which OpenAI's assistants put into an object with what it cites."""
    text = piece.get("text", piece.get("content"))
    return text.get("value") if isinstance(text, dict) else text


def is_ui_tool(piece: Mapping[str, Any]) -> bool:
    """Is it a call that the AI SDK shows together with what came of it?"""
    return isinstance(kind := piece.get("type"), str) and _ui_tool(kind, piece) is not None


def _ui_tool(kind: str, piece: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A call that the AI SDK shows together with what came of it: ``tool-NAME``, in older versions inside of it."""
    tool = piece.get("toolInvocation", piece)
    if not isinstance(tool, dict) or "toolCallId" not in tool:
        return None
    return tool if "toolName" in tool else {**tool, "toolName": kind.removeprefix("tool-")}


def tool_result(raw: Mapping[str, Any], notes: Notes) -> ToolResult:
    """What came of a call."""
    name = first_text(
        raw, "tool_use_id", "tool_call_id", "source_call_id", "call_id", "toolUseId", "toolCallId", "request_id", "id"
    )
    keys = ("content", "response", "result", "result_value", "output", "observation", "errorText")
    return ToolResult(
        name, result_text(next((raw[key] for key in keys if raw.get(key) is not None), None), notes), says_failure(raw)
    )


def result_text(content: Any, notes: Notes) -> str:
    """What a tool gave, as text: blocks joined, everything else as JSON."""
    if isinstance(content, list) and content and all(isinstance(block, dict) and "type" in block for block in content):
        return "\n".join(message_parts(content, notes).texts)
    if (
        isinstance(content, list)
        and content
        and all(isinstance(block, dict) and {"text"} == block.keys() for block in content)
    ):
        return "\n".join(as_text(block["text"]) for block in content)
    return "" if content is None else as_text(content)


def says_failure(raw: Mapping[str, Any]) -> bool | None:
    """Whether a tool says that it failed; None where it does not say."""
    for key in ("is_error", "isError", "error", "errorText"):
        if key in raw:
            return bool(raw[key])
    return {"error": True, "failed": True, "incomplete": True, "success": False, "completed": False}.get(
        str(raw.get("status", ""))
    )


def error_words(error: Any) -> str:
    """The words of an error."""
    if isinstance(error, dict):
        return str(error.get("message") or as_text(error))
    return error if isinstance(error, str) else ""


def calls_in(content: Any) -> list[WrittenToolCall]:
    """The calls that are all of a message, as objects or as JSON; none where it is no call."""
    given = literal(content) if isinstance(content, str) else content
    calls = given if isinstance(given, list) else [given]
    if not all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in calls):
        return []
    return [
        _call(call)
        if "arguments" in call
        else _call(
            {
                "name": call["name"],
                "arguments": {key: value for key, value in call.items() if key not in ("name", "id")},
            }
        )
        for call in calls
    ]


def add_calls(raw: Mapping[str, Any], parts: MessageParts, notes: Notes) -> None:
    """Add the calls that stand beside the content of a message, each once, with what came of them."""
    known = {call.id for call in parts.calls} - {None}
    for key in CALL_KEYS:
        for call in calls_under(raw.get(key)):
            if not known or first_text(call, *_IDS) not in known:
                _add_call(call, parts, notes)
    if not parts.calls:
        for key, given in raw.items():
            for number, call in enumerate(calls_before(key, given)):
                parts.before = True
                _add_call(call if first_text(call, *_IDS) else {**call, "id": f"{key}-{number}"}, parts, notes)


def calls_under(given: Any) -> Iterator[Mapping[str, Any]]:
    """The calls of a member that holds nothing else, by their objects or by their names alone."""
    for entry in call_entries(given):
        if isinstance(entry, dict):
            yield entry
        elif isinstance(entry, str) and _NAME.fullmatch(entry):
            yield {"name": entry}


def call_entries(given: Any) -> list[Any]:
    """What may be calls, one after another, also in a text, as tables have it: JSON, Python's, or names with commas."""
    if isinstance(given, str):
        parts = [part.strip() for part in given.split(",")]
        opened = literal(given.strip())
        given = parts if all(map(_NAME.fullmatch, parts)) else given if opened is None else opened
    return [entry for entry in (given if isinstance(given, list) else [given]) if entry and not is_unjudged(entry)]


def calls_before(key: str, given: Any) -> Iterator[Mapping[str, Any]]:
    """The calls that a member of a message holds under one of the less usual names; none where it holds others."""
    plain = plain_key(key)
    if plain not in CALLED_BEFORE | MAY_BE_CALLED:
        return
    for entry in call_entries(given):
        call = {"name": entry} if isinstance(entry, str) else entry
        if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], dict):  # LangChain's action and result
            call = {**entry[0], "result": entry[1]}
        if isinstance(call, dict) and _is_call(call, sure=plain in CALLED_BEFORE):
            yield call


def _is_call(entry: Mapping[str, Any], *, sure: bool) -> bool:
    function = entry.get("function")
    inside = function if isinstance(function, dict) else entry
    named = isinstance(function, str) or first_text(inside, *_NAMES) is not None
    told = not inside.keys().isdisjoint((*_ARGUMENTS, *_GIVEN)) and inside.keys().isdisjoint(_SCHEMA)
    return named and (sure or told)


def _add_call(raw: Mapping[str, Any], parts: MessageParts, notes: Notes) -> None:
    parts.calls.append(_call(raw))
    if any(raw.get(key) is not None for key in _GIVEN):
        parts.results.append(tool_result(raw, notes))


def _call(raw: Mapping[str, Any]) -> WrittenToolCall:
    function = raw.get("function")
    inside = function if isinstance(function, dict) else raw
    name = function if isinstance(function, str) else first_text(inside, *_NAMES)
    given = next((inside[key] for key in _ARGUMENTS if inside.get(key) is not None), None)
    return WrittenToolCall(first_text(raw, *_IDS), name, call_arguments(given))


def call_arguments(given: Any) -> str | dict[str, Any] | None:
    """The arguments of a call, as an object or a text."""
    return given if given is None or isinstance(given, str | dict) else as_text(given)


def first_text(raw: Mapping[str, Any], *keys: str) -> str | None:
    """The first of some members that is a text or a whole number."""
    for key in keys:
        if isinstance(given := raw.get(key), str | int) and not isinstance(given, bool):
            return str(given)
    return None
