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
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Dialogue, SideUsage
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Peek
from dialgauge.formats.logs.logged import Numbering, decoded, number_in
from dialgauge.formats.logs.spans import Span, ToolRecord, records_of, span_dialogue
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part

_CONVERSATION, _RESPONSE, _OPERATION = "gen_ai.conversation.id", "gen_ai.response.id", "gen_ai.operation.name"
_SENT, _ANSWERED = "gen_ai.input.messages", "gen_ai.output.messages"
_PROMPT = "gen_ai.system_instructions"
_MODEL_OPERATIONS = frozenset({"chat", "generate_content", "text_completion"})
_OPERATIONS = _MODEL_OPERATIONS | {"execute_tool", "invoke_agent"}
_TOKENS_IN, _TOKENS_OUT = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
_EVALUATION, _DETAILS = "gen_ai.evaluation.result", "gen_ai.client.inference.operation.details"
_NAME, _VALUE, _LABEL = "gen_ai.evaluation.name", "gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label"
_OF_SEVERAL = f"spans without {_CONVERSATION} in a trace of several conversations left out"
_LOST = (
    f"evaluations left out, as their conversation is not known: give these spans the {_CONVERSATION} of what they "
    "judge, or its span as their parent"
)
#: Digits of nanoseconds, and objects inside of each other.
_LONGEST_TIME, _DEEPEST = 25, 60
_BLANK = re.compile(r"\s*")
#: Within so many bytes a printed span names its context.
_CONSOLE_HEAD = 1000

#: Trace and span; the conversation and the answer that an evaluation names.
Place: TypeAlias = tuple[str, str]
Judged: TypeAlias = tuple[str, str]


class _Attribute(Struct, gc=False):
    key: str
    value: Any = None


class _Event(Struct, gc=False):
    name: str = ""
    attributes: list[_Attribute] = []


class _Link(Struct, gc=False, rename="camel"):
    trace_id: str = ""


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


_BATCH = msgspec.json.Decoder(_Batch)


class _Kept(Struct):
    """A span of generative AI: what is used of it."""

    place: Place
    start: int = 0
    end: int = 0
    root: bool = False
    known: dict[str, Any] = {}
    scores: dict[str, float | str] = {}
    #: Scores of a conversation or an answer that they name.
    judged: dict[Judged, dict[str, float | str]] = {}
    error: str = ""

    @property
    def conversation(self) -> str:
        return str(self.known.get(_CONVERSATION) or "")

    @property
    def operation(self) -> str:
        return str(self.known.get(_OPERATION))

    @property
    def only_judges(self) -> bool:
        talks = _SENT in self.known or _ANSWERED in self.known or self.operation in _OPERATIONS
        return not talks and bool(self.scores or self.judged)


class OtelSpans(DialogueFormat):
    """Spans, in batches."""

    name = "otel"
    summary = "OpenTelemetry GenAI spans: OTLP JSON, or what the console exporter prints"
    fields = frozenset({"text", "calls", "source", "goal", "domains", "outcome"})

    def recognise(self, peek: Peek) -> bool:
        given = peek.json if isinstance(peek.json, dict) else peek.first_line
        return (given is not None and "resourceSpans" in given) or _is_console(peek.head)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        kept: list[_Kept] = []
        parents: dict[Place, str] = {}
        roots: dict[str, dict[str, Any]] = {}
        linking: set[str] = set()
        for span in _spans(part):
            place = (span.trace_id, span.span_id)
            if span.span_id and place in parents:
                raise DialgaugeError("this span appears twice", file=part.name, dialogue=span.span_id)
            parents[place] = span.parent_span_id or ""
            if any(link.trace_id != span.trace_id for link in span.links):
                linking.add(span.trace_id)
            if (own := _kept(span)) is not None:
                kept.append(own)
            elif not span.parent_span_id:  # of whoever runs the agent: it may say task, trial and success
                roots[span.trace_id] = _attributes(span.attributes)
        if not kept:
            raise DialgaugeError("none of its spans is of generative AI (gen_ai.* attributes)", file=part.name)
        numbering = Numbering(notes)
        for name, spans in _conversations(kept, parents, linking, notes).items():
            spans.sort(key=lambda span: span.start)
            traces = dict.fromkeys(span.place[0] for span in spans)
            beside = [Span(told=_told(roots[trace])) for trace in traces if trace in roots]
            known = {
                "seconds": _seconds(spans),
                "error": next((span.error for span in reversed(spans) if span.root), ""),
            }
            try:
                made = [*beside, *_steps(spans)]
                yield span_dialogue("otel", name, made, numbering, part, notes, **known)
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=name))


# -- files -----------------------------------------------------------------------------------------------------------


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
            printed, at = decoder.raw_decode(text, at)
            span = msgspec.convert(_as_otlp(printed), _Span)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            line = text.count("\n", 0, at) + 1
            raise DialgaugeError(
                f"it is no span of the console exporter ({error})", file=part.name, line=line
            ) from error
        yield span


def _as_otlp(printed: Any) -> dict[str, Any]:
    """A span as the console exporter prints it in the names of OTLP."""

    def listed(given: Mapping[str, Any] | None) -> list[dict[str, Any]]:
        return [{"key": key, "value": value} for key, value in (given or {}).items()]

    status = printed.get("status") or {}
    return {
        "traceId": printed["context"]["trace_id"],
        "spanId": printed["context"]["span_id"],
        "parentSpanId": printed.get("parent_id"),
        "startTimeUnixNano": _nanoseconds(printed.get("start_time")),
        "endTimeUnixNano": _nanoseconds(printed.get("end_time")),
        "attributes": listed(printed.get("attributes")),
        "events": [
            {"name": event.get("name", ""), "attributes": listed(event.get("attributes"))}
            for event in printed.get("events") or ()
        ],
        "links": [{"traceId": link["context"]["trace_id"]} for link in printed.get("links") or ()],
        "status": {"code": f"STATUS_CODE_{status.get('status_code')}", "message": status.get("description") or ""},
    }


def _nanoseconds(written: Any) -> int:
    try:
        return int(datetime.fromisoformat(written or "").timestamp() * 1e9)
    except (ValueError, OverflowError):
        return 0


def _kept(span: _Span) -> _Kept | None:
    """A span of generative AI; None for another."""
    known = _attributes(span.attributes)
    scores, judged = _score(known), dict[Judged, dict[str, float | str]]()
    for event in span.events:
        given = _attributes(event.attributes)
        if event.name == _DETAILS:
            known = {**given, **known}
        elif event.name == _EVALUATION:
            named = (str(given.get(_CONVERSATION) or ""), str(given.get(_RESPONSE) or ""))
            (judged.setdefault(named, {}) if any(named) else scores).update(_score(given))
    if not scores and not judged and not any(key.startswith("gen_ai.") for key in known):
        return None
    failed = str(span.status.code) in ("2", "STATUS_CODE_ERROR")
    error = str(known.get("error.type") or span.status.message or "error") if failed else ""
    start, end = _time(span.start_time_unix_nano), _time(span.end_time_unix_nano)
    place = (span.trace_id, span.span_id)
    return _Kept(place, start, end, not span.parent_span_id, known, scores, judged, error)


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


# -- conversations ---------------------------------------------------------------------------------------------------


def _conversations(
    kept: Sequence[_Kept], parents: Mapping[Place, str], linking: Container[str], notes: Notes
) -> dict[str, list[_Kept]]:
    """Spans by their conversation.

    A trace that names no conversation is one, unless nobody talks in it, or it judges and points to another.
    """
    conversation_at = _Conversations(kept, parents)
    conversations: dict[str, list[_Kept]] = {}
    lost = 0
    pointing: set[str] = set()
    for span in kept:
        trace, name = span.place[0], conversation_at(span.place)
        if name:
            conversations.setdefault(name, []).append(span)
        else:
            notes.add(_OF_SEVERAL)
            lost += len(span.scores)
        for (conversation, answer), scores in span.judged.items():
            target = conversation or conversation_at.of_answer(answer)
            if target:
                conversations.setdefault(target, []).append(_Kept(("", ""), span.start, scores=scores))
            if target != trace:
                pointing.add(trace)
            lost += 0 if target else len(scores)
    for trace in conversation_at.unnamed_traces & conversations.keys():
        spans = conversations[trace]
        judges = trace in pointing or (trace in linking and any(span.scores for span in spans))
        if judges or all(span.only_judges for span in spans):
            lost += sum(len(span.scores) for span in conversations.pop(trace))
    notes.add(_LOST, lost)
    return conversations


class _Conversations:
    """The conversation of each place: that of the nearest span above which names one, or the only one of the trace."""

    def __init__(self, kept: Sequence[_Kept], parents: Mapping[Place, str]) -> None:
        self._parents = parents
        self._named = {span.place: span.conversation for span in kept if span.conversation}
        self._in_trace: dict[str, set[str]] = {}
        for (trace, _), name in self._named.items():
            self._in_trace.setdefault(trace, set()).add(name)
        answers = ((span.known.get(_RESPONSE), span.place) for span in kept if not span.only_judges)
        self._answers = {str(answer): place for answer, place in answers if answer}
        self.unnamed_traces = {span.place[0] for span in kept} - self._in_trace.keys()

    def __call__(self, place: Place) -> str:
        """The conversation; empty where the trace has several and no span above names one."""
        trace, span = place
        in_trace = self._in_trace.get(trace, {trace})
        if len(in_trace) == 1:
            return next(iter(in_trace))
        above: set[str] = set()  # parents may go in circles
        while span and span not in above and (trace, span) not in self._named:
            above.add(span)
            span = self._parents.get((trace, span), "")
        return self._named.get((trace, span), "")

    def of_answer(self, answer: str) -> str:
        """The conversation of an answer; empty where it is not known."""
        return self(self._answers[answer]) if answer in self._answers else ""


# -- steps -----------------------------------------------------------------------------------------------------------


def _steps(spans: Sequence[_Kept]) -> list[Span]:
    """The spans of a conversation with what they say; tokens stand on the models' calls, else on the root."""
    of_models = [span for span in spans if span.operation in _MODEL_OPERATIONS]
    used = of_models if any(map(_usage, of_models)) else [span for span in spans if span.root and _usage(span)]
    return [_step(span, _usage(span) or SideUsage() if span in used else None) for span in spans]


def _step(span: _Kept, used: SideUsage | None) -> Span:
    known, tool = span.known, None
    if span.operation == "execute_tool":
        result = known.get("gen_ai.tool.call.result")
        tool = ToolRecord.of(
            known.get("gen_ai.tool.call.id"),
            known.get("gen_ai.tool.name"),
            known.get("gen_ai.tool.call.arguments"),
            decoded(result) if isinstance(result, str) else result,
            failed=bool(span.error),
        )
    prompt, sent = (decoded(each) if isinstance(each := known.get(key), str) else each for key in (_PROMPT, _SENT))
    if isinstance(prompt, list) and isinstance(sent, list):
        sent = [{"role": "system", "parts": prompt}, *sent]
    return Span(
        of_model=span.operation in _MODEL_OPERATIONS,
        sent=sent,
        answered=known.get(_ANSWERED),
        tool=tool,
        told=_told(known) if span.root else {},
        scores=span.scores,
        model=str(known.get("gen_ai.response.model") or known.get("gen_ai.request.model") or ""),
        used=used,
    )


def _told(known: Mapping[str, Any]) -> dict[str, Any]:
    """What a span says under names of other conventions, such as ``app.task_id``."""
    return {key.rpartition(".")[2]: value for key, value in known.items() if not key.startswith("gen_ai.")}


def _usage(span: _Kept) -> SideUsage | None:
    sides = [number_in(span.known.get(key)) or 0.0 for key in (_TOKENS_IN, _TOKENS_OUT)]
    return SideUsage(tokens=sum(sides), tokens_in=sides[0], tokens_out=sides[1]) if any(sides) else None


def _seconds(spans: Sequence[_Kept]) -> float | None:
    """From the first start to the last end."""
    starts, ends = [span.start for span in spans if span.start], [span.end for span in spans if span.end]
    return (max(ends) - min(starts)) / 1e9 if starts and ends and max(ends) >= min(starts) else None
