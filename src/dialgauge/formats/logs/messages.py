"""Messages of agents' logs, in the one form that becomes turns, and the dialects that are read into it.

Every message with a text, and every message without tool calls, is a turn; ``Turn.source`` is its place in the file.
Tool calls belong to the next turn of the side that made them; where it says nothing more, to a turn without words. A
text beside tool calls is a turn of its own: it went to the tools, and the other side never saw it. So a turn that
another of the same speaker follows was not heard.

Dialects: OpenAI's chat messages and *responses* items, the content blocks of Anthropic, Bedrock and Gemini, the
messages of LangChain and inspect, OpenTelemetry's parts. Text, tool calls and tool results are kept; pictures, sounds,
files and reasoning are counted in the notes and left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Call, End, Speaker, Turn
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats.notes import Notes

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

ENDED_BY = {"user_stop": "user", "agent_stop": "system"}
#: The words for ends that are known.
ENDS: dict[str, End] = {
    "": "unknown",
    **dict.fromkeys(("user_stop", "agent_stop"), "finished"),
    **dict.fromkeys(("max_steps", "too_many_errors", "agent_error", "max_tokens"), "limit"),
    **dict.fromkeys(("message_limit", "token_limit", "time_limit", "working_limit", "cost_limit"), "limit"),
    **dict.fromkeys(("turn_limit", "custom_limit", "operator_limit", "context_limit"), "limit"),
    **dict.fromkeys(("error", "infrastructure_error", "unexpected_error", "user_error"), "infrastructure"),
    **dict.fromkeys(("timeout", "context_window_exceeded"), "infrastructure"),
}
#: How simulated users say that they were not told what they are asked.
OUT_OF_SCOPE = re.compile(r"###\s?OUT-OF-SCOPE\s?###")
#: A conversation of more messages was not meant.
MOST_MESSAGES = 100_000
_SPEAKERS: dict[str, Speaker] = {"user": "user", "assistant": "system"}
_OBJECT = msgspec.json.Decoder(dict[str, Any])


class _Function(Struct, frozen=True, gc=False):
    name: str
    arguments: str | dict[str, Any] | None = None


class WrittenCall(Struct, frozen=True, gc=False):
    """A call as tau2-bench writes it, or under ``function`` as tau-bench does."""

    id: str | None = None
    name: str | None = None
    arguments: str | dict[str, Any] | None = None
    function: _Function | None = None


class ToolResult(Struct, frozen=True, gc=False):
    """What a tool gave, and the call that it answers."""

    id: str | None = None
    content: str | None = None
    error: bool | None = None


class Message(Struct, frozen=True, gc=False):
    """One message, as tau-bench and tau2-bench write it."""

    role: Role
    content: str | None = None
    tool_calls: tuple[WrittenCall, ...] | None = None
    #: Of a tool: which call it answers, by tau2-bench and by tau-bench, and whether it is an error.
    id: str | None = None
    tool_call_id: str | None = None
    error: bool | None = None
    #: Several answers in one message.
    tool_messages: tuple[ToolResult, ...] | None = None
    timestamp: str | int | float | None = None


def end_of(reason: str, *, judging: bool = False) -> End:
    """What a word for the end of a conversation means; ``judging``: a benchmark that judges all, and not this one."""
    return ENDS.get(reason, "infrastructure" if judging else "unknown")


def as_text(value: Any) -> str:
    """A value of JSON as a text: texts as they are, everything else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def checksum(content: str | bytes) -> str:
    """A short checksum of a text."""
    written = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(written).hexdigest()[:12]


def prompt_of(messages: Iterable[Message]) -> str:
    """What the agent was told before anybody spoke."""
    return "\n".join(message.content or "" for message in messages if message.role == "system")


# -- turns -----------------------------------------------------------------------------------------------------------


class _Pending(Struct, frozen=True):
    """Calls that wait for the turn they precede."""

    speaker: Speaker
    place: int
    calls: tuple[Call, ...]

    def wordless(self) -> Turn:
        return Turn(speaker=self.speaker, calls=self.calls, source=self.place)


def turns_of(messages: Sequence[Message], places: Sequence[int] | None = None) -> Iterator[Turn]:
    """The turns of a conversation. Results are found by the ids of their calls, or by their order where these lack.

    ``places`` are the messages' places in the file, where they were taken apart or put together on the way here.
    """
    results = _results_of_calls(messages)
    waiting: _Pending | None = None
    for number, message in enumerate(messages):
        source = number if places is None else places[number]
        speaker = _SPEAKERS.get(message.role)
        if speaker is None:
            continue
        if waiting is not None and waiting.speaker != speaker:
            yield waiting.wordless()
            waiting = None
        if message.content or not message.tool_calls:
            calls = waiting.calls if waiting is not None else None
            yield Turn(speaker=speaker, text=message.content or "", calls=calls, source=source)
            waiting = None
        if message.tool_calls:
            made = tuple(
                _made(call, results.get((number, rank)), source) for rank, call in enumerate(message.tool_calls)
            )
            first = source if waiting is None else waiting.place
            waiting = _Pending(speaker, first, (waiting.calls if waiting is not None else ()) + made)
    if waiting is not None:
        yield waiting.wordless()


def _results_of_calls(messages: Sequence[Message]) -> dict[tuple[int, int], ToolResult]:
    """The result of each call, by the place of its message and its number in it."""
    by_call: dict[tuple[int, int], ToolResult] = {}
    open_calls: list[tuple[int, int, str | None]] = []
    late: dict[str, tuple[int, int]] = {}  # calls that other calls followed before their results came
    for index, message in enumerate(messages):
        if message.role in _SPEAKERS and message.tool_calls:
            late.update({name: (asked, rank) for asked, rank, name in open_calls if name is not None})
            open_calls = [(index, number, call.id) for number, call in enumerate(message.tool_calls)]
        for result in _tool_results(message):
            by_id = [call for call in open_calls if result.id is not None and call[2] == result.id]
            in_order = [call for call in open_calls if result.id is None or call[2] is None]
            if match := next(iter(by_id or in_order), None):
                open_calls.remove(match)
                by_call[match[:2]] = result
            elif result.id in late:
                by_call[late.pop(result.id)] = result
    return by_call


def _tool_results(message: Message) -> Iterable[ToolResult]:
    if message.role != "tool":
        return ()
    if message.tool_messages is not None:
        return message.tool_messages
    return (ToolResult(message.id or message.tool_call_id, message.content, message.error),)


def _made(call: WrittenCall, result: ToolResult | None, message: int) -> Call:
    """A call with its result; tau-bench's tools begin their errors with that word."""
    name = call.function.name if call.function else call.name
    if name is None:
        raise DialgaugeError("a tool call has no name", turn=message)
    given = call.function.arguments if call.function else call.arguments
    text = None if result is None else result.content or ""
    failed = result is not None and ((text or "").startswith("Error") if result.error is None else result.error)
    return Call(name=name, arguments=_arguments(given), result=text, failed=failed, message=message)


def _arguments(given: str | dict[str, Any] | None) -> Any:
    """Arguments as JSON; what a model wrote that is no JSON object stays a text."""
    if not isinstance(given, str):
        return given or {}
    try:
        return _OBJECT.decode(given)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return given or {}


def expected_calls(actions: Any) -> tuple[Call, ...] | None:
    """Expected calls as tau-bench (``kwargs``) or tau2-bench write them; None where one has no name."""
    if not isinstance(actions, list):
        return None
    calls = []
    for action in actions:
        if not isinstance(action, dict) or not isinstance(action.get("name"), str):
            return None
        arguments = action.get("arguments", action.get("kwargs"))
        domain = "user" if action.get("requestor") == "user" else ""
        calls.append(Call(name=action["name"], arguments={} if arguments is None else arguments, domain=domain))
    return tuple(calls)


# -- dialects --------------------------------------------------------------------------------------------------------


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


class LogMessages(Struct, frozen=True):
    """The messages of one conversation, and the place of each in its file where it is not their order."""

    messages: tuple[Message, ...] = ()
    places: tuple[int, ...] = ()

    def turns(self) -> tuple[Turn, ...]:
        """What both sides said and did."""
        return tuple(turns_of(self.messages, self.places or None))


def is_message(value: Any) -> bool:
    """True for an object with a known role, or an item of *responses*."""
    return isinstance(value, dict) and (_role(value) is not None or bool(_item_kind(value)))


def read_messages(given: Sequence[Any], notes: Notes) -> LogMessages:
    """The messages of a conversation. One of an unknown role, or that is no object, is an error with its place."""
    if len(given) > MOST_MESSAGES:
        raise DialgaugeError(f"it has {len(given):,} messages; more than {MOST_MESSAGES:,} were not meant")
    made: list[Message] = []
    places: list[int] = []
    for index, raw in enumerate(given):
        if not isinstance(raw, dict):
            raise DialgaugeError(f"message {index} is no object with a role and a content", turn=index)
        for message in _item(raw, notes) if _item_kind(raw) else _message(raw, index, notes):
            if made and _goes_on(made[-1], message):
                made[-1] = Message("assistant", None, (*(made[-1].tool_calls or ()), *(message.tool_calls or ())))
            else:
                made.append(message)
                places.append(index)
    return LogMessages(tuple(made), tuple(places))


def _goes_on(last: Message, message: Message) -> bool:
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


def _item(raw: Mapping[str, Any], notes: Notes) -> Iterator[Message]:
    call_id = _first_text(raw, "call_id", "id")
    kind = _item_kind(raw)
    if kind == "thought":
        notes.add("reasoning left out")
    if kind == "call":
        yield Message("assistant", None, (_call({**raw, "id": call_id}),))
    if kind == "result" or (kind == "call" and raw.get("output") is not None):
        yield Message("tool", _result_text(raw.get("output"), notes), None, call_id, None, _failure(raw))


def _message(raw: Mapping[str, Any], number: int, notes: Notes) -> Iterator[Message]:
    role = _role(raw)
    seen = f"(it has {', '.join(list(raw)[:8])})"
    if role is None:
        written = raw.get("role", raw.get("type"))
        why = f"it has no role, which is user, assistant, system or tool {seen}"
        if isinstance(written, str):
            why = f"the role '{written[:60]}' is unknown.{nearest(written, ROLES)}"
        raise DialgaugeError(f"message {number}: {why}", turn=number)
    if raw.keys().isdisjoint(_SAID):
        raise DialgaugeError(f"message {number} has neither content nor tool_calls {seen}")
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
        yield Message(role, None, tuple(parts.calls))
        parts.calls.clear()
    for result in parts.results:
        yield Message("tool", result.content, None, result.id, None, result.error)
    if role != "tool" and (parts.texts or parts.calls or not parts.results):
        yield Message(role, "\n".join(parts.texts) or None, tuple(parts.calls) or None)


class _Parts(Struct):
    """What a message consists of."""

    texts: list[str]
    calls: list[WrittenCall]
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


def _call(raw: Mapping[str, Any]) -> WrittenCall:
    function = raw.get("function")
    inside = function if isinstance(function, dict) else raw
    name = function if isinstance(function, str) else _first_text(inside, "name")
    given = next((inside[key] for key in _ARGUMENTS if inside.get(key) is not None), None)
    arguments = given if given is None or isinstance(given, str | dict) else as_text(given)
    return WrittenCall(_first_text(raw, *_IDS), name, arguments)


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
