"""Messages as chat services, model vendors and tracers write them, made into the one kind that becomes turns.

Read are OpenAI's chat messages and *responses* items, the content blocks of Anthropic, Bedrock and Gemini, the messages
of LangChain and inspect, and OpenTelemetry's parts. Text, tool calls and tool results are kept; pictures, sounds, files
and reasoning are counted in the notes and left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Turn
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats.notes import Notes
from dialgauge.formats.tau_messages import TauMessage, ToolResult, WrittenToolCall, as_text, turns_of

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

ROLES: dict[str, Role] = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "agent", "model"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
#: Items of OpenAI's *responses* that are no messages.
_ITEM_CALLS = frozenset({"function_call", "custom_tool_call", "mcp_call"})
_ITEM_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
#: Kinds of content blocks, and the members that say the same without a kind.
_TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
_CALLS = frozenset({"tool_use", "tool_call", "server_tool_use"})
_RESULTS = frozenset({"tool_result", "tool_call_response"})
_THOUGHTS = frozenset({"thinking", "reasoning", "redacted_thinking"})
_INNER_CALLS = ("functionCall", "function_call", "toolUse")
_INNER_RESULTS = ("functionResponse", "function_response", "toolResult")
_ARGUMENTS = ("arguments", "args", "input")
_IDS = ("id", "tool_call_id", "tool_use_id", "call_id", "toolUseId")
_ANSWER_IDS = ("tool_use_id", "tool_call_id", "call_id", "toolUseId", "id")
_ANSWERS = ("content", "response", "result", "output")
#: One of these is in every message.
_SAID = frozenset({"content", "parts", "tool_calls", "function_call", "error"})
#: A conversation of more messages was not meant.
MOST_MESSAGES = 100_000


class LogMessages(Struct, frozen=True):
    """The messages of one conversation, and the place of each in its file."""

    messages: tuple[TauMessage, ...]
    places: tuple[int, ...]

    def turns(self) -> tuple[Turn, ...]:
        """What both sides said and did."""
        return tuple(turns_of(self.messages, self.places))

    @property
    def prompt(self) -> str:
        """What the agent was told before anybody spoke."""
        return "\n".join(message.content or "" for message in self.messages if message.role == "system")


def is_message(value: Any) -> bool:
    """True for an object with a known role, or an item of *responses*."""
    return isinstance(value, dict) and (_role(value) is not None or bool(_item_kind(value)))


def read_messages(given: Sequence[Any], notes: Notes) -> LogMessages:
    """The messages of a conversation. One of an unknown role, or that is no object, is an error with its place."""
    if len(given) > MOST_MESSAGES:
        raise DialgaugeError(f"it has {len(given):,} messages; more than {MOST_MESSAGES:,} were not meant")
    made: list[TauMessage] = []
    places: list[int] = []
    for index, raw in enumerate(given):
        if not isinstance(raw, dict):
            raise DialgaugeError(f"message {index} is no object with a role and a content", turn=index)
        for message in _item(raw, notes) if _item_kind(raw) else _message(raw, index, notes):
            if made and _goes_on(made[-1], message):
                made[-1] = TauMessage("assistant", None, (*(made[-1].tool_calls or ()), *(message.tool_calls or ())))
            else:
                made.append(message)
                places.append(index)
    return LogMessages(tuple(made), tuple(places))


def _goes_on(last: TauMessage, message: TauMessage) -> bool:
    """Two calls without words in a row were made together: *responses* writes each as an item of its own."""
    return all(each.role == "assistant" and each.tool_calls and not each.content for each in (last, message))


def _role(raw: Mapping[str, Any]) -> Role | None:
    """Who speaks, by ``role`` or, as LangChain writes it, ``type``."""
    written = raw.get("role", raw.get("type"))
    return ROLES.get(written.strip().lower()) if isinstance(written, str) else None


def _item_kind(raw: Mapping[str, Any]) -> str:
    kind = raw.get("type")
    if not isinstance(kind, str) or "role" in raw:
        return ""
    if kind in _ITEM_CALLS and "name" in raw:
        return "call"
    if kind in _ITEM_RESULTS:
        return "result"
    return "thought" if kind == "reasoning" else ""


def _item(raw: Mapping[str, Any], notes: Notes) -> Iterator[TauMessage]:
    call_id = _first_text(raw, "call_id", "id")
    match _item_kind(raw):
        case "thought":
            notes.add("reasoning left out")
        case "result":
            yield TauMessage("tool", _result_text(raw.get("output"), notes), None, call_id, None, _failure(raw))
        case _:
            yield TauMessage("assistant", None, (_call({**raw, "id": call_id}),))
            if raw.get("output") is not None:
                yield TauMessage("tool", _result_text(raw["output"], notes), None, call_id, None, _failure(raw))


def _message(raw: Mapping[str, Any], number: int, notes: Notes) -> Iterator[TauMessage]:
    role = _role(raw)
    if role is None:
        written = raw.get("role", raw.get("type"))
        why = f"the role '{written[:60]}' is unknown.{nearest(written, ROLES)}" if isinstance(written, str) else (
            f"it has no role, which is user, assistant, system or tool (it has {', '.join(list(raw)[:8])})"
        )  # fmt: skip
        raise DialgaugeError(f"message {number}: {why}", turn=number)
    if raw.keys().isdisjoint(_SAID):
        raise DialgaugeError(f"message {number} has neither content nor tool_calls (it has {', '.join(list(raw)[:8])})")
    content = next((raw[key] for key in ("content", "parts") if raw.get(key) is not None), None)
    parts = _Parts([], [], [])
    for piece in content if isinstance(content, list) else [] if content is None else [content]:
        parts.add(piece, notes)
    known = {call.id for call in parts.calls} - {None}
    beside = raw.get("tool_calls") or raw.get("function_call")
    for call in beside if isinstance(beside, list) else [beside] if beside else []:
        if isinstance(call, dict) and (not known or _first_text(call, *_IDS) not in known):
            parts.calls.append(_call(call))
    if role == "tool" and not parts.results:
        error = raw.get("error")
        words = error.get("message") if isinstance(error, dict) else error
        text = "\n".join(parts.texts) or (words if isinstance(words, str) else "")
        call_id = _first_text(raw, "tool_call_id", "call_id", "id")
        parts.results.append(ToolResult(call_id, text, _failure(raw)))
    if role == "assistant" and parts.calls and parts.results:
        yield TauMessage(role, None, tuple(parts.calls))
        parts.calls.clear()
    for result in parts.results:
        yield TauMessage("tool", result.content, None, result.id, None, result.error)
    if role != "tool" and (parts.texts or parts.calls or not parts.results):
        yield TauMessage(role, "\n".join(parts.texts) or None, tuple(parts.calls) or None)


class _Parts(Struct):
    """What a message consists of."""

    texts: list[str]
    calls: list[WrittenToolCall]
    results: list[ToolResult]

    def add(self, piece: Any, notes: Notes) -> None:
        """Sort one piece of a content."""
        if not isinstance(piece, dict):
            if piece not in (None, ""):
                self.texts.append(as_text(piece))
            return
        kind = piece.get("type")
        inner_calls = [piece[key] for key in _INNER_CALLS if isinstance(piece.get(key), dict)]
        inner_results = [piece[key] for key in _INNER_RESULTS if isinstance(piece.get(key), dict)]
        text = piece.get("text", piece.get("content"))
        if kind in _THOUGHTS:
            notes.add("reasoning left out")
        elif kind in _CALLS or inner_calls:
            self.calls += map(_call, inner_calls or [piece])
        elif kind in _RESULTS or inner_results:
            self.results += (_result(each, notes) for each in inner_results or [piece])
        elif isinstance(text, str) and (kind is None or kind in _TEXTS):
            self.texts.append(text)
        else:
            notes.add(f"content of the kind {str(kind)[:40]} left out")


def _call(raw: Mapping[str, Any]) -> WrittenToolCall:
    function = raw.get("function")
    inside = function if isinstance(function, dict) else raw
    name = function if isinstance(function, str) else _first_text(inside, "name")
    given = next((inside[key] for key in _ARGUMENTS if inside.get(key) is not None), None)
    arguments = given if given is None or isinstance(given, str | dict) else as_text(given)
    return WrittenToolCall(_first_text(raw, *_IDS), name, arguments)


def _result(raw: Mapping[str, Any], notes: Notes) -> ToolResult:
    given = next((raw[key] for key in _ANSWERS if raw.get(key) is not None), None)
    return ToolResult(_first_text(raw, *_ANSWER_IDS), _result_text(given, notes), _failure(raw))


def _result_text(content: Any, notes: Notes) -> str:
    """What a tool gave, as text: blocks of text joined, everything else as JSON."""
    if isinstance(content, list) and content and all(isinstance(block, dict) and "text" in block for block in content):
        parts = _Parts([], [], [])
        for block in content:
            parts.add(block, notes)
        return "\n".join(parts.texts)
    return "" if content is None else as_text(content)


def _failure(raw: Mapping[str, Any]) -> bool | None:
    """Whether a tool says that it failed; None where it does not say."""
    for key in ("is_error", "error"):
        if key in raw:
            return bool(raw[key])
    return {"error": True, "success": False}.get(str(raw.get("status", "")))


def _first_text(raw: Mapping[str, Any], *keys: str) -> str | None:
    """The first of some members that is a text or a whole number."""
    for key in keys:
        if isinstance(given := raw.get(key), str | int) and not isinstance(given, bool):
            return str(given)
    return None
