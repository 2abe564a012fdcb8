"""Events of OpenAI's evals: lines that each tell of one thing that happened to a sample, as records of the samples.

Of the calls that Weave records, those in which an example was done and scored are such records themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dialgauge.formats.base import Notes
from dialgauge.formats.logs.record_fields import is_weave_example

_EVENT = frozenset({"event_id", "sample_id", "type", "data"})
#: What all of such a file begins with.
SPEC = b'"spec"'


def is_sample_event(value: Any) -> bool:
    """Is it something that happened to a sample?"""
    return isinstance(value, dict) and value.keys() >= _EVENT and isinstance(value["data"], dict)


def samples_of(events: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """A record for each sample: what was said last, and what its other events say of it; other lines are left out."""
    samples: dict[str, tuple[int, dict[str, Any]]] = {}
    for number, event in events:
        if not is_sample_event(event):
            continue
        _, sample = samples.setdefault(str(event["sample_id"]), (number, {"sample_id": event["sample_id"]}))
        data: Mapping[str, Any] = event["data"]
        if event["type"] == "sampling":
            sample["messages"] = [*_said(data.get("prompt"), "user"), *_said(data.get("sampled"), "assistant")]
        else:
            sample.update({key: value for key, value in data.items() if key not in ("expected", "picked", "sampled")})
    yield from samples.values()


def weave_examples(calls: Iterable[tuple[int, Any]], notes: Notes) -> Iterator[tuple[int, Any]]:
    """The calls that are examples, without those around and inside of them."""
    for number, call in calls:
        if is_weave_example(call):
            yield number, call
        else:
            notes.add("calls of Weave around and inside of those that were scored left out")


def _said(given: Any, role: str) -> list[Any]:
    if isinstance(given, list) and given and isinstance(given[0], dict):
        return given
    text = given[0] if isinstance(given, list) and given else given
    return [{"role": role, "content": text}] if isinstance(text, str) else []
