"""Langfuse exports, as their documentation describes them: traces with observations and scores, sessions, or rows.

A conversation is a session, or a trace that belongs to none. Its messages are what its generations were sent and
answered, in order of time; where a trace has none, its own input and output. Made after the documented fields, as no
Langfuse server runs here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    facts_of,
    joined_names,
    logged_dialogue,
    number_in,
    score_in,
)
from dialgauge.formats.logs.messages import as_text
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part

_ANY = msgspec.json.Decoder(Any)
_KINDS = frozenset(
    {"GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "GUARDRAIL", "EMBEDDING"}
)


class _Session(Struct):
    """What was collected of one conversation."""

    traces: list[Mapping[str, Any]]
    observations: list[Mapping[str, Any]]
    scores: dict[str, float | str]


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
        sessions: dict[str, _Session] = {}
        owners: dict[str, str] = {}
        seen: set[str] = set()
        for value in records_of(part, _ANY):
            for record in _records(value):
                if (name := str(record.get("id", ""))) in seen:
                    raise DialgaugeError("this id appears twice", file=part.name, dialogue=name)
                seen.update([name] if name else [])
                _collect(record, sessions, owners)
        if not sessions:
            raise DialgaugeError("it has no traces and no observations", file=part.name)
        numbering = Numbering(notes)
        for name, session in sessions.items():
            try:
                yield _dialogue(name, session, numbering, part, notes)
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=name))


def _records(value: Any) -> Iterator[Mapping[str, Any]]:
    """Traces, sessions and observations, out of lists and the pages of the API."""
    if isinstance(value, dict) and isinstance(value.get("data"), list) and not _kind(value):
        value = value["data"]
    for record in value if isinstance(value, list) else [value]:
        if isinstance(record, dict) and _kind(record):
            yield record


def _kind(record: Mapping[str, Any]) -> str:
    if isinstance(record.get("trace"), dict) and isinstance(record.get("observations"), list):
        return "download"
    if isinstance(record.get("traces"), list) and "id" in record:
        return "session"
    if isinstance(record.get("observations"), list) and "id" in record:
        return "trace"
    of_trace = "traceId" in record or "trace_id" in record
    return "observation" if of_trace and str(record.get("type", "")).upper() in _KINDS else ""


def _collect(record: Mapping[str, Any], sessions: dict[str, _Session], owners: dict[str, str]) -> None:
    kind = _kind(record)
    if kind == "session":
        for trace in record["traces"]:
            if isinstance(trace, dict):
                _collect_trace({"sessionId": record["id"], **trace}, sessions, owners)
    elif kind == "download":
        inner = {key: record[key] for key in ("observations", "scores") if key in record}
        _collect_trace({**record["trace"], **inner}, sessions, owners)
    elif kind == "trace":
        _collect_trace(record, sessions, owners)
    elif kind == "observation":
        trace = str(_first(record, "traceId", "trace_id"))
        name = str(_first(record, "sessionId", "session_id") or owners.get(trace) or trace)
        owners[trace] = name
        sessions.setdefault(name, _Session([], [], {})).observations.append(record)


def _collect_trace(trace: Mapping[str, Any], sessions: dict[str, _Session], owners: dict[str, str]) -> None:
    name = str(_first(trace, "sessionId", "session_id") or trace.get("id"))
    owners[str(trace.get("id"))] = name
    session = sessions.setdefault(name, _Session([], [], {}))
    session.traces.append(trace)
    session.observations += [
        observation for observation in trace.get("observations") or () if isinstance(observation, dict)
    ]
    session.scores.update(_scores(trace.get("scores")))


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


def _dialogue(name: str, session: _Session, numbering: Numbering, part: Part, notes: Notes) -> Dialogue:
    rows = sorted(
        session.observations, key=lambda observation: str(_first(observation, "startTime", "start_time") or "")
    )
    generations = [row for row in rows if str(row.get("type")).upper() == "GENERATION"]
    traces = sorted(session.traces, key=lambda trace: str(trace.get("timestamp") or ""))
    asked = [
        generation
        for generation in generations
        if generation.get("input") is not None or generation.get("output") is not None
    ] or traces
    calls = [ModelCall(generation.get("input"), generation.get("output")) for generation in asked]
    tools = [_tool(row) for row in rows if str(row.get("type")).upper() == "TOOL"]
    messages = put_together(calls, tools, notes)
    if not messages.messages:
        notes.add("conversation without content: neither its generations nor its traces have input and output")
    metadata = [record["metadata"] for record in (*rows, *traces) if isinstance(record.get("metadata"), dict)]
    told = {key: value for record in metadata for key, value in record.items() if key in NAMES}
    if item := next(
        filter(None, (_first(each, "datasetItemId", "dataset_item_id") for each in (*traces, *metadata))), None
    ):
        told.setdefault("task_id", item)
    verdicts = {name: score for name, score in session.scores.items() if name in VERDICTS or name == notes.verdict}
    facts = structs.replace(
        facts_of({**verdicts, **told}, notes),
        id=name,
        scores={key: score for key, score in session.scores.items() if key not in VERDICTS},
        model=joined_names(generation.get("model") for generation in generations),
        usage=_usage(generations, traces),
    )
    return logged_dialogue("langfuse", messages, facts, numbering.take(facts, name, part.name))


def _usage(generations: list[Mapping[str, Any]], traces: list[Mapping[str, Any]]) -> dict[str, SideUsage]:
    """Tokens and costs of the model's calls; where these say no costs, those of the traces."""
    tokens = sum(_tokens(generation) for generation in generations)
    names = ("calculatedTotalCost", "totalCost", "total_cost", "cost")
    costs = [cost for each in generations if (cost := number_in(_first(each, *names))) is not None] or [
        cost for trace in traces if (cost := number_in(_first(trace, "totalCost"))) is not None
    ]
    cost = sum(costs) if costs and min(costs) >= 0 else None
    return {"agent": SideUsage(tokens=tokens or None, cost=cost, calls=len(generations))} if tokens or costs else {}


def _tokens(row: Mapping[str, Any]) -> float:
    usage = _first(row, "usageDetails", "usage_details", "usage")
    known = usage if isinstance(usage, dict) else {}
    total = number_in(_first(known, "total", "totalTokens", "total_tokens"))
    if total is not None:
        return total
    return sum(number_in(known.get(key)) or 0.0 for key in ("input", "output"))


def _tool(row: Mapping[str, Any]) -> ToolRecord:
    given, result = row.get("input"), row.get("output")
    return ToolRecord(
        None,
        str(row.get("name") or "tool"),
        given if given is None or isinstance(given, str | dict) else as_text(given),
        None if result is None else as_text(result),
        True if row.get("level") == "ERROR" else None,
    )


def _first(record: Mapping[str, Any], *keys: str) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)
