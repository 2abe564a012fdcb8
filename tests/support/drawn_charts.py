"""What a chart draws, read from its Vega-Lite specification."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def _nodes(chart: Any) -> Iterator[dict[str, Any]]:
    """Every object of the specification, whichever layer it is in."""
    waiting = [chart.to_dict()]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, dict):
            yield node
            waiting = [*node.values(), *waiting]
        elif isinstance(node, list):
            waiting = [*node, *waiting]


def datasets(chart: Any) -> list[dict[str, Any]]:
    """All rows that are drawn."""
    return [
        row for node in _nodes(chart) if isinstance(node.get("data"), dict) for row in node["data"].get("values", [])
    ]


def scales(chart: Any, channel: str) -> list[dict[str, Any]]:
    """The scales of a channel."""
    encoded = [node["encoding"].get(channel, {}) for node in _nodes(chart) if isinstance(node.get("encoding"), dict)]
    return [
        one["scale"]
        for each in encoded
        for one in (each, each.get("condition", {}))
        if isinstance(one, dict) and isinstance(one.get("scale"), dict)
    ]


def marks(chart: Any) -> list[tuple[str, dict[str, Any]]]:
    """The mark and the encoding of every layer."""
    layers = [node for node in _nodes(chart) if isinstance(node.get("mark"), dict)]
    return [(node["mark"]["type"], node.get("encoding", {})) for node in layers]


def heading(chart: Any) -> str:
    """The title and the lines below it."""
    told: dict[str, Any] = chart.to_dict()["title"]
    below = told.get("subtitle", [])
    return " | ".join([told["text"], *([below] if isinstance(below, str) else below)])
