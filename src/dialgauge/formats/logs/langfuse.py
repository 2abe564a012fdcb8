"""Langfuse exports, as their documentation describes them: traces with observations and scores, or rows.

A conversation is a session, or a trace that belongs to none. Its messages are what its generations were sent and
answered, in order of time; where a trace has none, its own input and output. Made after the documented fields, as no
Langfuse server runs here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue, SideUsage
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Peek
from dialgauge.formats.logs.logged import Numbering, number_in, score_in
from dialgauge.formats.logs.spans import Span, ToolRecord, records_of, span_dialogue
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part

_ANY = msgspec.json.Decoder(Any)
_KINDS = frozenset(
    {"GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "GUARDRAIL", "EMBEDDING"}
)
_COSTS = ("calculatedTotalCost", "totalCost", "total_cost", "cost")


class LangfuseExport(DialogueFormat):
    """Traces or observations."""

    name = "langfuse"
    summary = "Langfuse exports: traces with observations and scores, or rows of observations"
    fields = frozenset({"text", "calls", "source", "goal", "domains", "outcome"})

    def recognise(self, peek: Peek) -> bool:
        given = peek.json if peek.json is not None else peek.first_line
        if isinstance(given, dict) and isinstance(given.get("data"), list):
            given = given["data"]
        first = given[0] if isinstance(given, list) and given else given
        return isinstance(first, dict) and bool(_kind(first))

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        sessions: dict[str, list[Mapping[str, Any]]] = {}
        owners: dict[str, str] = {}
        seen: set[str] = set()
        for value in records_of(part, _ANY):
            for record in _records(value):
                if (name := str(record.get("id", ""))) in seen:
                    raise DialgaugeError("this id appears twice", file=part.name, dialogue=name)
                seen.update([name] if name else [])
                for step in _flattened(record):
                    trace = str(_first(step, "traceId", "trace_id") or step.get("id"))
                    session = str(_first(step, "sessionId", "session_id") or owners.get(trace) or trace)
                    owners[trace] = session
                    sessions.setdefault(session, []).append(step)
        if not sessions:
            raise DialgaugeError("it has no traces and no observations", file=part.name)
        numbering = Numbering(notes)
        for name, steps in sessions.items():
            try:
                yield span_dialogue("langfuse", name, _spans(steps), numbering, part, notes)
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=name))


def _records(value: Any) -> Iterator[Mapping[str, Any]]:
    """Traces and observations, out of lists and the pages of the API."""
    if isinstance(value, dict) and isinstance(value.get("data"), list) and not _kind(value):
        value = value["data"]
    for record in value if isinstance(value, list) else [value]:
        if isinstance(record, dict) and _kind(record):
            yield record


def _kind(record: Mapping[str, Any]) -> str:
    if isinstance(record.get("observations"), list) and "id" in record:
        return "trace"
    of_trace = "traceId" in record or "trace_id" in record
    return "observation" if of_trace and str(record.get("type", "")).upper() in _KINDS else ""


def _flattened(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The traces and observations of a record, a trace before its observations."""
    kind = _kind(record)
    if kind == "trace":
        yield record
        for step in record["observations"]:
            if isinstance(step, dict):
                yield {**step, "traceId": record["id"], "sessionId": _first(record, "sessionId", "session_id")}
    elif kind == "observation":
        yield record


def _spans(steps: list[Mapping[str, Any]]) -> list[Span]:
    """Steps in the order of their times; where the models' calls say no costs, those of the traces count."""
    generations = [step for step in steps if _type(step) == "GENERATION"]
    priced = any(number_in(_first(step, *_COSTS)) is not None for step in generations)
    times = ("startTime", "start_time", "timestamp")
    return [_span(step, priced=priced) for step in sorted(steps, key=lambda step: str(_first(step, *times) or ""))]


def _type(step: Mapping[str, Any]) -> str:
    """The kind of an observation; TRACE for a trace."""
    return "TRACE" if isinstance(step.get("observations"), list) else str(step.get("type")).upper()


def _span(step: Mapping[str, Any], *, priced: bool) -> Span:
    kind = _type(step)
    metadata = step["metadata"] if isinstance(step.get("metadata"), dict) else {}
    item = _first({**metadata, **step}, "datasetItemId", "dataset_item_id")
    span = Span(
        of_model=kind == "GENERATION",
        told={**({"task_id": item} if item else {}), **metadata},
        scores=_scores(step.get("scores")),
    )
    if kind in ("GENERATION", "TRACE"):
        span.sent, span.answered = step.get("input"), step.get("output")
    if kind == "TOOL":
        failed = step.get("level") == "ERROR"
        span.tool = ToolRecord.of(None, step.get("name"), step.get("input"), step.get("output"), failed=failed)
    if kind == "GENERATION":
        span.model = str(step.get("model") or "")
    cost = number_in(_first(step, *_COSTS)) if kind == ("GENERATION" if priced else "TRACE") else None
    tokens = _tokens(step) if kind == "GENERATION" else None
    if kind == "GENERATION" or cost is not None:
        span.used = SideUsage(tokens=tokens, cost=cost if cost is None or cost >= 0 else None)
    return span


def _scores(given: Any) -> dict[str, float | str]:
    """Scores by name: numbers, and of type CATEGORICAL labels."""
    scores: dict[str, float | str] = {}
    for score in given if isinstance(given, list) else ():
        if isinstance(score, dict) and isinstance(score.get("name"), str):
            label = _first(score, "stringValue", "string_value")
            kind = _first(score, "dataType", "data_type")
            value = label if kind == "CATEGORICAL" and label is not None else score.get("value", label)
            if (known := score_in(value)) is not None:
                scores[score["name"]] = known
    return scores


def _tokens(step: Mapping[str, Any]) -> float | None:
    usage = _first(step, "usageDetails", "usage_details", "usage")
    known = usage if isinstance(usage, dict) else {}
    total = number_in(_first(known, "total", "totalTokens", "total_tokens"))
    parts = [number for key in ("input", "output") if (number := number_in(known.get(key))) is not None]
    return total if total is not None else sum(parts) if parts else None


def _first(record: Mapping[str, Any], *keys: str) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)
