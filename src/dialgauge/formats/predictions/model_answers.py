"""Answers of models' APIs (OpenAI, Anthropic, Gemini, vLLM): the texts and the calls of tools in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dialgauge.formats.json_text import literal
from dialgauge.formats.predictions.loose import MOST_TEXT
from dialgauge.formats.predictions.state_texts import is_domain, names_domain

#: Names that only answers have, and those on the way to the text.
_ANSWERS = frozenset(("choices", "body", "candidates", "finish_reason", "stop_reason", "message", "index", "token_ids"))
_ON_THE_WAY = ("body", "choices", "candidates", "message", "output", "content", "parts", "text")
#: Names of calls, and of what tools are called with.
_CALLS = ("tool_calls", "tool_call", "function_calls", "function_call", "functionCall", "calls")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "kwargs")
#: What the name of a tool has beside a domain.
_TOOL = re.compile(
    r"(?:\b|_)(?:find|search|book|get|set|update|query|inform|track|look_?up|list|make|reserve|request|save|submit|store|"
    r"record|predict|emit|return|extract|fill|the|a|current|belief|dialogue|dialog|state|states|slots?|slot_values|"
    r"booking)(?=_|\b)",
    re.IGNORECASE,
)
#: A service of SGD.
_SERVICE = re.compile(r"[A-Za-z]+_[0-9]+")


def is_answer(written: Mapping[Any, Any]) -> bool:
    """Is it what an API answers, and no state?"""
    return (
        not (written.keys().isdisjoint(_ANSWERS) and written.keys().isdisjoint(_CALLS))
        or {"role", "content"} <= written.keys()
    )


def domain_of_tool(name: str) -> str:
    """The domain that the name of a tool has; empty where it has none.

    >>> domain_of_tool("find_hotel"), domain_of_tool("update_belief_state"), domain_of_tool("cancel_reservation")
    ('hotel', '', '')
    >>> domain_of_tool("Hotels_4")
    'Hotels_4'
    """
    domain = _TOOL.sub("", name).strip("_")
    return "" if "_" in domain and not _SERVICE.fullmatch(domain) else domain


def answers_with_state(answer: Any) -> bool:
    """Is it surely a state that a model answers with, and no act of an agent?"""
    if calls := [*calls_in(answer)]:
        return all(is_domain(domain_of_tool(name)) or all(map(names_domain, map(str, given))) for name, given in calls)
    return any(text.lstrip().startswith(("{", "```")) for text in texts_in(answer))


def texts_in(answer: Any) -> Iterator[str]:
    """The texts in an answer."""
    if isinstance(answer, Mapping):
        inside = [answer[key] for key in _ON_THE_WAY if key in answer]
        yield from texts_in(inside[0]) if inside else ()
    elif isinstance(answer, list):
        for part in answer:
            yield from texts_in(part)
    elif isinstance(answer, str):
        yield answer


def calls_in(answer: Any) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """Name and arguments of the calls in an answer."""
    if isinstance(answer, list):
        for part in answer:
            yield from calls_in(part)
    elif call := call_of(answer):
        yield call
    elif isinstance(answer, Mapping):
        for key in (*_ON_THE_WAY, *_CALLS):
            yield from calls_in(answer.get(key))


def call_of(item: Any) -> tuple[str, Mapping[Any, Any]] | None:
    """The call of a tool: ``{"name": "find_hotel", "arguments": {"area": "north"}}``; None where it is none."""
    inner = item.get("function", item) if isinstance(item, Mapping) else None
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(name, str):
        return None
    given = next((inner[key] for key in _ARGUMENTS if key in inner), None)
    given = literal(given, MOST_TEXT) if isinstance(given, str) else given
    return (name, given) if isinstance(given, Mapping) else None
