"""Lines that are not conversations but parts of them, put together: events of OpenAI's evals, spans of Braintrust."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dialgauge.formats.logs.record_fields import is_inner_run, is_span
from dialgauge.formats.logs.record_messages import has_messages
from dialgauge.formats.notes import INNER_RUNS, Notes

_EVENT = frozenset({"event_id", "sample_id", "type", "data"})
_SIDES = ("input", "output")


def is_sample_event(value: Any) -> bool:
    """Is it something that happened to a sample?"""
    return isinstance(value, dict) and value.keys() >= _EVENT and isinstance(value["data"], dict)


def is_part(value: Any) -> bool:
    """Is it part of a conversation, by which such a file is known?"""
    return is_sample_event(value) or (is_span(value) and "span_parents" in value)


def put_together(records: Iterator[tuple[int, Any]], first: Iterable[Any], notes: Notes) -> Iterator[tuple[int, Any]]:
    """The records of a file that begins with these, where they are parts of conversations; others as they are."""
    begun = list(first)
    if any(map(is_sample_event, begun)):
        notes.add("events of OpenAI's evals put together by their samples")
        return samples_of(records)
    return _roots_of(records, notes) if any(map(is_span, begun)) else _without_inner(records, notes)


def _without_inner(records: Iterator[tuple[int, Any]], notes: Notes) -> Iterator[tuple[int, Any]]:
    for number, record in records:
        if isinstance(record, dict) and is_inner_run(record):
            notes.add(INNER_RUNS)
        else:
            yield number, record


def samples_of(events: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """A record for each sample: what was said last, and what its other events say of it; other lines are left out."""
    samples: dict[str, tuple[int, dict[str, Any]]] = {}
    for number, event in events:
        if not is_sample_event(event):
            continue
        _, sample = samples.setdefault(str(event["sample_id"]), (number, {"id": event["sample_id"]}))
        data: Mapping[str, Any] = event["data"]
        if event["type"] == "sampling":
            sample["messages"] = [*_said(data.get("prompt"), "user"), *_said(data.get("sampled"), "assistant")]
        elif event["type"] != "raw_sample":  # which is the row of the data
            sample.update({key: value for key, value in data.items() if key not in ("expected", "picked", "sampled")})
    yield from samples.values()


def _said(given: Any, role: str) -> list[Any]:
    if isinstance(given, list) and given and isinstance(given[0], dict):
        return given
    text = given[0] if isinstance(given, list) and given else given
    return [{"role": role, "content": text}] if isinstance(text, str) else []


def _roots_of(spans: Iterable[tuple[int, Any]], notes: Notes) -> Iterator[tuple[int, Any]]:
    """The spans that are no parts of others; one without messages has those of the longest call inside of it."""
    roots: list[tuple[int, Any]] = []
    calls: dict[str, dict[str, Any]] = {}
    for number, span in spans:
        if not isinstance(span, dict) or not is_inner_run(span):
            roots.append((number, span))
            continue
        notes.add(INNER_RUNS)
        sides = {side: span[side] for side in _SIDES if span.get(side) is not None}
        if has_messages(sides) and _length(sides) > _length(calls.get(span["root_span_id"], {})):
            calls[span["root_span_id"]] = sides
    for number, span in roots:
        inside = calls.get(span["span_id"], {}) if is_span(span) and not has_messages(span) else {}
        yield number, {**span, **inside} if inside else span


def _length(sides: Mapping[str, Any]) -> int:
    asked = sides.get("input", ())
    asked = asked.get("messages", ()) if isinstance(asked, dict) else asked
    return len(asked) if isinstance(asked, list) else bool(sides)
