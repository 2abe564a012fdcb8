"""Conversations out of traces: what a model was sent and what it answered, call by call, put together in order.

A tracer records each call of a model with its whole history, or with what was new in it. Messages that were sent before
are not said again; results of tools that no message holds come from the tools' own records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.formats.jsonfile import decode
from dialgauge.formats.logs.messages import MOST_MESSAGES, LogMessages, Message, WrittenCall, is_message, read_messages
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part

T = TypeVar("T")

_ANY = msgspec.json.Decoder(Any)
_LONGEST_LINE = 256 << 20


class ToolRecord(Struct, frozen=True):
    """A tool's own record of a call."""

    id: str | None
    name: str
    arguments: str | dict[str, Any] | None = None
    result: str | None = None
    failed: bool | None = None


class ModelCall(Struct, frozen=True):
    """One call of a model: messages, or None where the tracer did not record them."""

    sent: Any = None
    answered: Any = None


def records_of(part: Part, decoder: msgspec.json.Decoder[T]) -> Iterator[T]:
    """The values of JSON lines as they come, or the one value of a JSON file."""
    lines = part.lines(_LONGEST_LINE)
    for number, line in lines:
        if not line.strip():
            continue
        try:
            yield decoder.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            if isinstance(error, msgspec.ValidationError):
                decode(decoder, line, part, line=number)
            break
        for later, other in lines:
            if other.strip():
                yield decode(decoder, other, part, line=later)
        return
    yield decode(decoder, part.read(), part)


def put_together(calls: Sequence[ModelCall], tools: Sequence[ToolRecord], notes: Notes) -> LogMessages:
    """The conversation that calls of a model were made in."""
    messages: list[Message] = []
    for call in calls:
        sent = list(read_messages(_messages(call.sent, "user"), notes).messages)
        answered = list(read_messages(_messages(call.answered, "assistant"), notes).messages)
        for message in (*_new(messages, sent), *answered):
            prompt = message.role == "system"
            if not (prompt and any(_same(message, other) for other in messages if other.role == "system")):
                messages.append(message)
        if len(messages) > MOST_MESSAGES:
            raise DialgaugeError(f"it has more than {MOST_MESSAGES:,} messages")
    messages = list(_with_tools(messages, tools))
    return LogMessages(tuple(messages), tuple(range(len(messages))))


def _messages(given: Any, role: str) -> list[Any]:
    """Messages as a tracer writes them: a list, an object with a list, one message, a text, or any of these as JSON."""
    if isinstance(given, str):
        if given.lstrip()[:1] in ("[", "{"):
            try:
                inside = _ANY.decode(given)
            except (msgspec.DecodeError, RecursionError):
                inside = None
            if inside is not None and (messages := _messages(inside, role)):
                return messages
        return [{"role": role, "content": given}] if given.strip() else []
    if isinstance(given, dict):
        for key in ("messages", "input", "choices", "output", "message"):
            if isinstance(given.get(key), list | dict):
                return _messages(given[key], role)
        if "role" not in given and isinstance(given.get("content"), str):
            return [{**given, "role": role}]
        return [given] if _is_meant(given) else []
    if isinstance(given, list):
        inner = [
            message["message"] if isinstance(message, dict) and isinstance(message.get("message"), dict) else message
            for message in given
        ]
        return inner if any(map(_is_meant, inner)) else []
    return []


def _is_meant(value: Any) -> bool:
    """Is it a message, or was it to be one? What is wrong with it is said when it is read."""
    return isinstance(value, dict) and ("role" in value or is_message(value))


def _new(known: Sequence[Message], sent: Sequence[Message]) -> Sequence[Message]:
    """What of the messages sent was not said before: none of the longest beginning that the conversation ends with."""
    before = [message for message in known if message.role != "system"]
    prompts = [message for message in sent if message.role == "system"]
    others = [message for message in sent if message.role != "system"]
    for length in range(min(len(before), len(others)), 0, -1):
        if _same(before[-1], others[length - 1]) and all(
            _same(earlier, other)
            for earlier, other in zip(before[len(before) - length :], others[:length], strict=True)
        ):
            return [*prompts, *others[length:]]
    return [*prompts, *others]


def _same(earlier: Message, other: Message) -> bool:
    names = ([(call.name, call.arguments) for call in message.tool_calls or ()] for message in (earlier, other))
    first, second = names
    return earlier.role == other.role and (earlier.content or "") == (other.content or "") and first == second


def _with_tools(messages: Sequence[Message], tools: Sequence[ToolRecord]) -> Iterator[Message]:
    """The messages, with results from the tools' records where no message has them; calls that no message made last."""
    answered = {message.id for message in messages if message.role == "tool"}
    known: Mapping[str, ToolRecord] = {tool.id: tool for tool in tools if tool.id is not None}
    made: set[str] = set()
    for message in messages:
        yield message
        for call in message.tool_calls or ():
            if call.id is None:
                continue
            made.add(call.id)
            tool = known.get(call.id)
            if tool is not None and call.id not in answered and tool.result is not None:
                yield Message("tool", tool.result, None, call.id, None, tool.failed)
    if any(message.tool_calls for message in messages):
        return
    for tool in tools:
        yield Message("assistant", None, (WrittenCall(tool.id, tool.name, tool.arguments),))
        if tool.result is not None:
            yield Message("tool", tool.result, None, tool.id, None, tool.failed)
