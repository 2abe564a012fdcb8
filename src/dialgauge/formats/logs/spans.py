"""Conversations out of traces: what a model was sent and what it answered, call by call, put together in order.

A tracer records each call of a model with its whole history, or with what was new in it. Messages that were sent before
are not said again; results of tools that no message holds come from the tools' own records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, SideUsage
from dialgauge.errors import DialgaugeError
from dialgauge.formats.jsonfile import are_lines, decode, lines_of
from dialgauge.formats.logs.logged import NAMES, VERDICTS, Numbering, facts_of, logged_dialogue
from dialgauge.formats.logs.messages import (
    MOST_MESSAGES,
    LogMessages,
    Message,
    WrittenCall,
    as_text,
    is_message,
    read_messages,
)
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part

T = TypeVar("T")

_ANY = msgspec.json.Decoder(Any)
#: Counted in the notes of a reading.
NO_CONTENT = "conversation without content: its messages were not recorded"
_CONTRADICTED = (
    "conversations with several evaluations of one name that differ, of which the last counts; give the spans of each "
    "conversation a gen_ai.conversation.id"
)


class ToolRecord(Struct, frozen=True):
    """A tool's own record of a call."""

    id: str | None
    name: str
    arguments: str | dict[str, Any] | None = None
    result: str | None = None
    failed: bool | None = None

    @classmethod
    def of(cls, id: Any, name: Any, arguments: Any, result: Any, *, failed: bool) -> ToolRecord:
        """A record whose values may be of any kind."""
        return cls(
            None if id is None else str(id),
            str(name or "tool"),
            arguments if arguments is None or isinstance(arguments, str | dict) else as_text(arguments),
            None if result is None else as_text(result),
            failed or None,
        )


class Span(Struct):
    """One step of a conversation: the call of a model or of a tool, or what stands around these."""

    of_model: bool = False
    #: Messages, or None where the tracer did not record them.
    sent: Any = None
    answered: Any = None
    tool: ToolRecord | None = None
    #: What the step says under the documented names, and what others say of it.
    told: dict[str, Any] = {}
    scores: dict[str, float | str] = {}
    model: str = ""
    used: SideUsage | None = None


def records_of(part: Part, decoder: msgspec.json.Decoder[T]) -> Iterator[T]:
    """The values of JSON lines, or the one value of a JSON file."""
    content = part.buffer()
    if are_lines(content):
        yield from (decode(decoder, line, part, line=number) for number, line in lines_of(content))
    else:
        yield decode(decoder, content, part)


def span_dialogue(
    benchmark: str, name: str, spans: Sequence[Span], numbering: Numbering, part: Part, notes: Notes, **known: Any
) -> Dialogue:
    """The conversation of some spans, in their order; ``known`` are facts about it.

    Agents that record what they were asked and answered, and not their models' calls, are read in place of these.
    """
    talking = [span for span in spans if span.sent is not None or span.answered is not None]
    calls = [span for span in talking if span.of_model] or talking
    if not calls:
        notes.add(NO_CONTENT)
    messages = _put_together(calls, [span.tool for span in spans if span.tool is not None], notes)
    scores: dict[str, float | str] = {}
    for span in spans:
        if any(scores.get(key, score) != score for key, score in span.scores.items()):
            notes.add(_CONTRADICTED)
        scores |= span.scores
    verdicts = {key: score for key, score in scores.items() if key in VERDICTS or key == notes.verdict}
    told = {key: value for span in spans for key, value in span.told.items() if key in NAMES}
    declared = facts_of({**verdicts, **told}, notes)
    facts = replace(
        declared,
        id=name,
        scores={key: score for key, score in scores.items() if key not in VERDICTS},
        model=",".join(dict.fromkeys(span.model for span in spans if span.model)),
        usage={**declared.usage, **_usage(spans)},
        **known,
    )
    return logged_dialogue(benchmark, messages, facts, numbering.take(facts, name, part.name))


def _usage(spans: Sequence[Span]) -> dict[str, SideUsage]:
    """Tokens and costs of the agent; nothing where no span says any."""
    using = [span for span in spans if span.used is not None]

    def total(name: str) -> Any:
        given = [value for span in using if (value := getattr(span.used, name)) is not None]
        return sum(given) if given else None

    sums = {name: total(name) for name in ("tokens", "tokens_in", "tokens_out", "cost")}
    calls = sum(span.of_model for span in using) or len(using)
    return {"agent": SideUsage(calls=calls, **sums)} if any(value is not None for value in sums.values()) else {}


def _put_together(calls: Sequence[Span], tools: Sequence[ToolRecord], notes: Notes) -> LogMessages:
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
    known = {tool.id: tool for tool in tools if tool.id is not None}
    for message in messages:
        yield message
        for call in message.tool_calls or ():
            tool = known.get(call.id) if call.id is not None else None
            if tool is not None and tool.id not in answered and tool.result is not None:
                yield Message("tool", tool.result, None, tool.id, None, tool.failed)
    if any(message.tool_calls for message in messages):
        return
    for tool in tools:
        yield Message("assistant", None, (WrittenCall(tool.id, tool.name, tool.arguments),))
        if tool.result is not None:
            yield Message("tool", tool.result, None, tool.id, None, tool.failed)
