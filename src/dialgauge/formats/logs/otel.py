"""OpenTelemetry spans of generative AI: OTLP as JSON, one batch or several lines, or what the console exporter prints.

A conversation is what spans share under ``gen_ai.conversation.id``, else their trace. The conventions put no such id on
spans of tools and evaluations: these are of the conversation of the spans around them. Messages come from
``gen_ai.input.messages`` and ``gen_ai.output.messages``, on spans or in their events; tools from ``execute_tool``
spans; scores from events ``gen_ai.evaluation.result``. Instrumentations record no content unless told to: then there
are tool calls and tokens without words, and the notes say so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct, structs

from dialgauge.dialogue import Dialogue, SideUsage
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.logs.exchanges import ModelCall, ToolRecord, put_together, records_of
from dialgauge.formats.logs.logged import (
    NAMES,
    VERDICTS,
    Numbering,
    decoded,
    facts_of,
    joined_names,
    logged_dialogue,
    number_in,
)
from dialgauge.formats.logs.messages import as_text
from dialgauge.formats.logs.span_conversations import (
    ANSWERED,
    CONVERSATION,
    MODEL_OPERATIONS,
    OPERATION,
    RESPONSE,
    SENT,
    KeptSpan,
    SpanTree,
    conversations_of,
)
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part

_PROMPT = "gen_ai.system_instructions"
_TOKENS_IN, _TOKENS_OUT = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
_EVALUATION, _DETAILS = "gen_ai.evaluation.result", "gen_ai.client.inference.operation.details"
_CONTRADICTED = (
    "conversations with several evaluations of one name that differ, of which the last counts; give the spans of each "
    "conversation a gen_ai.conversation.id"
)
#: Digits of nanoseconds.
_LONGEST_TIME = 25
_NAME, _VALUE, _LABEL = "gen_ai.evaluation.name", "gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label"
_FAILED = 2
_DEEPEST = 60
#: Counted in the notes of a reading.
NO_CONTENT = "conversation without content: its messages were not recorded"


class _Attribute(Struct, gc=False):
    key: str
    value: Any = None


class _Event(Struct, gc=False):
    name: str = ""
    attributes: list[_Attribute] = []


class _Link(Struct, gc=False, rename="camel"):
    trace_id: str = ""
    span_id: str = ""


class _Status(Struct, gc=False):
    code: int | str = 0
    message: str = ""


class _Span(Struct, gc=False, rename="camel"):
    trace_id: str = ""
    span_id: str = ""
    parent_span_id: str | None = None
    start_time_unix_nano: str | int = 0
    end_time_unix_nano: str | int = 0
    attributes: list[_Attribute] = []
    events: list[_Event] = []
    links: list[_Link] = []
    status: _Status = msgspec.field(default_factory=_Status)


class _Scope(Struct, gc=False):
    spans: list[_Span] = []


class _Resource(Struct, gc=False, rename="camel"):
    scope_spans: list[_Scope] = []


class _Batch(Struct, gc=False, rename="camel"):
    resource_spans: list[_Resource] = []


class _Context(Struct, gc=False):
    trace_id: str = ""
    span_id: str = ""


class _PrintedEvent(Struct, gc=False):
    name: str = ""
    attributes: dict[str, Any] = {}


class _PrintedLink(Struct, gc=False):
    context: _Context = msgspec.field(default_factory=_Context)


class _PrintedStatus(Struct, gc=False):
    status_code: str = ""
    description: str | None = None


class _Printed(Struct, gc=False):
    """A span as the console exporter prints it."""

    context: _Context
    parent_id: str | None = None
    start_time: str | None = None
    end_time: str | None = None
    status: _PrintedStatus = msgspec.field(default_factory=_PrintedStatus)
    attributes: dict[str, Any] = {}
    events: list[_PrintedEvent] = []
    links: list[_PrintedLink] = []


_BATCH = msgspec.json.Decoder(_Batch)
_BLANK = re.compile(r"\s*")
#: Within so many bytes a printed span names its context.
_CONSOLE_HEAD = 1000


class OtelSpans(DialogueFormat):
    """Spans, in batches."""

    name = "otel"
    summary = "OpenTelemetry GenAI spans: OTLP JSON, or what the console exporter prints"
    fields = frozenset({"text", "calls", "source", "goal", "domains", "outcome"})

    def recognise(self, peek: Peek) -> bool:
        given = peek.json if isinstance(peek.json, dict) else peek.first_line
        return (given is not None and "resourceSpans" in given) or _is_console(peek.head)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        kept_spans: list[KeptSpan] = []
        roots: dict[str, dict[str, Any]] = {}
        tree = SpanTree()
        for span in _spans(part):
            own = (span.trace_id, span.span_id)
            if span.span_id and own in tree.parents:
                raise DialgaugeError("this span appears twice", file=part.name, dialogue=span.span_id)
            tree.parents[own] = span.parent_span_id or ""
            if span.links:
                tree.links[own] = [(link.trace_id, link.span_id) for link in span.links]
            if kept := _kept(span):
                kept_spans += kept
            elif not span.parent_span_id:  # of whoever runs the agent: it may say task, trial and success
                roots[span.trace_id] = _attributes(span.attributes)
        if not kept_spans:
            raise DialgaugeError("none of its spans is of generative AI (gen_ai.* attributes)", file=part.name)
        numbering = Numbering(notes)
        for name, spans in conversations_of(kept_spans, tree, notes).items():
            spans.sort(key=lambda span: span.start)
            beside = [roots[trace] for trace in dict.fromkeys(span.trace for span in spans) if trace in roots]
            try:
                yield _dialogue(name, spans, beside, numbering, part, notes)
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=name))


def _spans(part: Part) -> Iterator[_Span]:
    if _is_console(part.head()):
        yield from _console_spans(part)
        return
    for batch in records_of(part, _BATCH):
        yield from (span for resource in batch.resource_spans for scope in resource.scope_spans for span in scope.spans)


def _is_console(head: bytes) -> bool:
    """Whether a file begins like what the console exporter prints: a span, and the next after it."""
    begins = head[:_CONSOLE_HEAD]
    return head.lstrip()[:1] == b"{" and all(key in begins for key in (b'"context"', b'"trace_id"', b'"span_id"'))


def _console_spans(part: Part) -> Iterator[_Span]:
    """The spans that the console exporter prints, one JSON object after the other, over several lines each."""
    text, at = part.text(), 0
    decoder = json.JSONDecoder()
    while (at := _BLANK.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        try:
            content, at = decoder.raw_decode(text, at)
            printed = msgspec.convert(content, _Printed)
        except (ValueError, RecursionError) as error:  # also msgspec's ValidationError
            line = text.count("\n", 0, at) + 1
            raise DialgaugeError(
                f"it is no span of the console exporter ({error})", file=part.name, line=line
            ) from error
        yield _Span(
            trace_id=printed.context.trace_id,
            span_id=printed.context.span_id,
            parent_span_id=printed.parent_id,
            start_time_unix_nano=_nanoseconds(printed.start_time),
            end_time_unix_nano=_nanoseconds(printed.end_time),
            attributes=_listed(printed.attributes),
            events=[_Event(event.name, _listed(event.attributes)) for event in printed.events],
            links=[_Link(link.context.trace_id, link.context.span_id) for link in printed.links],
            status=_Status(_FAILED if printed.status.status_code == "ERROR" else 0, printed.status.description or ""),
        )


def _listed(given: dict[str, Any]) -> list[_Attribute]:
    return [_Attribute(key, value) for key, value in given.items()]


def _nanoseconds(written: str | None) -> int:
    try:
        return int(datetime.fromisoformat(written or "").timestamp() * 1e9)
    except (ValueError, OverflowError):
        return 0


def _kept(span: _Span) -> list[KeptSpan]:
    """A span of generative AI, and apart from it its evaluations that say themselves what they judge; else nothing."""
    known = _attributes(span.attributes)
    scores: dict[tuple[str, str], dict[str, float | str]] = {("", ""): _score(known)}
    for event in span.events:
        given = _attributes(event.attributes)
        if event.name == _DETAILS:
            known = {**given, **known}
        elif event.name == _EVALUATION:
            judged = (str(given.get(CONVERSATION) or ""), str(given.get(RESPONSE) or ""))
            scores.setdefault(judged, {}).update(_score(given))
    if not any(scores.values()) and not any(key.startswith("gen_ai.") for key in known):
        return []
    failed = str(span.status.code) in (str(_FAILED), "STATUS_CODE_ERROR")
    error = str(known.get("error.type") or span.status.message or "error") if failed else ""
    start, end = _time(span.start_time_unix_nano), _time(span.end_time_unix_nano)
    own_scores, root = scores.pop(("", "")), not span.parent_span_id
    own = KeptSpan(span.trace_id, span.span_id, start, root, known, own_scores, error, end=end)
    return [
        own,
        *(
            KeptSpan(span.trace_id, span.span_id, start, False, {CONVERSATION: name}, texts, "", response)
            for (name, response), texts in scores.items()
        ),
    ]


def _time(written: str | int) -> int:
    text = str(written)
    return int(text) if text.isdecimal() and len(text) < _LONGEST_TIME else 0


def _score(known: Mapping[str, Any]) -> dict[str, float | str]:
    name, value = known.get(_NAME), number_in(known.get(_VALUE))
    label = known.get(_LABEL)
    if not isinstance(name, str) or (value is None and not isinstance(label, str)):
        return {}
    return {name: str(label) if value is None else value}


def _attributes(given: list[_Attribute]) -> dict[str, Any]:
    return {attribute.key: _value(attribute.value) for attribute in given}


def _value(given: Any, depth: int = 0) -> Any:
    """A value as OTLP writes it: an object whose one key says its type."""
    if not isinstance(given, dict) or depth > _DEEPEST:
        return given
    if "intValue" in given:
        number = number_in(given["intValue"])
        return None if number is None else int(number)
    for key in ("stringValue", "doubleValue", "boolValue"):
        if key in given:
            return given[key]
    held = given.get("arrayValue", given.get("kvlistValue"))
    values = held.get("values") if isinstance(held, dict) else None
    if not isinstance(values, list):
        return [] if "arrayValue" in given else {}
    if "arrayValue" in given:
        return [_value(value, depth + 1) for value in values]
    return {str(value.get("key")): _value(value.get("value"), depth + 1) for value in values if isinstance(value, dict)}


def _dialogue(
    name: str,
    spans: list[KeptSpan],
    beside: Sequence[Mapping[str, Any]],
    numbering: Numbering,
    part: Part,
    notes: Notes,
) -> Dialogue:
    """The dialogue of some spans; ``beside`` are the attributes of the root spans around them."""
    of_models = [span for span in spans if _is_of_model(span.known)]
    calls = [_model_call(span.known) for span in of_models if {SENT, ANSWERED} & span.known.keys()]
    if not calls:  # agents that record what they were asked and answered, and not their models' calls
        calls = [_model_call(span.known) for span in spans if {SENT, ANSWERED} & span.known.keys()]
    if not calls:
        notes.add(NO_CONTENT)
    tools = [_tool(span) for span in spans if span.known.get(OPERATION) == "execute_tool"]
    messages = put_together(calls, tools, notes)
    roots = [*beside, *(span.known for span in spans if span.root)]
    own = {key: value for known in roots for key, value in known.items() if not key.startswith("gen_ai.")}
    named = {key.rpartition(".")[2]: value for key, value in own.items() if key.rpartition(".")[2] in NAMES}
    judged: dict[str, set[float | str]] = {}
    for span in spans:
        for key, score in span.scores.items():
            judged.setdefault(key, set()).add(score)
    notes.add(_CONTRADICTED, any(len(several) > 1 for several in judged.values()))
    scores = {key: score for span in spans for key, score in span.scores.items()}
    verdicts = {name: score for name, score in scores.items() if name in VERDICTS or name == notes.verdict}
    declared = facts_of({**verdicts, **named}, notes)
    models = joined_names(
        span.known.get("gen_ai.response.model") or span.known.get("gen_ai.request.model") for span in spans
    )
    used = next(filter(None, map(_usage, (of_models, [span for span in spans if span.root], _agents(spans)))), None)
    facts = structs.replace(
        declared,
        id=name,
        scores={key: score for key, score in scores.items() if key not in VERDICTS},
        model=models,
        usage={**declared.usage, **({"agent": used} if used else {})},
        seconds=_seconds(spans),
        error=next((span.error for span in reversed(spans) if span.root), ""),
    )
    return logged_dialogue("otel", messages, facts, numbering.take(facts, name, part.name))


def _seconds(spans: Sequence[KeptSpan]) -> float | None:
    """From the first start to the last end."""
    starts, ends = [span.start for span in spans if span.start], [span.end for span in spans if span.end]
    return (max(ends) - min(starts)) / 1e9 if starts and ends and max(ends) >= min(starts) else None


def _usage(spans: Sequence[KeptSpan]) -> SideUsage | None:
    sides = [sum(number_in(span.known.get(key)) or 0.0 for span in spans) for key in (_TOKENS_IN, _TOKENS_OUT)]
    if not any(sides):
        return None
    return SideUsage(tokens=sum(sides), tokens_in=sides[0], tokens_out=sides[1], calls=len(spans))


def _agents(spans: Sequence[KeptSpan]) -> list[KeptSpan]:
    """The only span of an agent; of several, one may be inside of another."""
    agents = [span for span in spans if span.known.get(OPERATION) == "invoke_agent"]
    return agents if len(agents) == 1 else []


def _is_of_model(known: Mapping[str, Any]) -> bool:
    """Is it the call of a model, and not that of an agent around it, which says the same again?"""
    return str(known.get(OPERATION)) in MODEL_OPERATIONS


def _model_call(known: Mapping[str, Any]) -> ModelCall:
    prompt, sent = known.get(_PROMPT), known.get(SENT)
    if isinstance(prompt, str):
        prompt = decoded(prompt)
    if isinstance(sent, str):
        sent = decoded(sent)
    if isinstance(prompt, list) and isinstance(sent, list):
        sent = [{"role": "system", "parts": prompt}, *sent]
    return ModelCall(sent, known.get(ANSWERED))


def _tool(span: KeptSpan) -> ToolRecord:
    known = span.known
    name, result = known.get("gen_ai.tool.name"), known.get("gen_ai.tool.call.result")
    given = known.get("gen_ai.tool.call.arguments")
    identifier = known.get("gen_ai.tool.call.id")
    if isinstance(result, str):
        result = decoded(result)
    return ToolRecord(
        str(identifier) if identifier is not None else None,
        str(name or "tool"),
        given if given is None or isinstance(given, str | dict) else as_text(given),
        None if result is None else as_text(result),
        bool(span.error) or None,
    )
