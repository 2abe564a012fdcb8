"""Calls of functions as models write them in Python: ``set_state(hotel_name="a, b", hotel_area="north")``."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Any

_FIRST = re.compile(r"[\[\s]{0,9}[A-Za-z_][\w.]{0,80}\(")
_LONGEST = 10_000


def written_calls(text: str) -> list[dict[str, Any]]:
    """Name and arguments of each call, where a text is nothing but calls with plain values; none where it is not.

    Two values without a name are a slot and its value: ``set("hotel-area", "north")``.

    >>> written_calls('[find_hotel(name="a, b", stars=4)]')
    [{'name': 'find_hotel', 'arguments': {'name': 'a, b', 'stars': '4'}}]
    >>> written_calls("hotel(area=north)"), written_calls("hotel")
    ([], [])
    """
    if not _FIRST.match(text) or len(text) > _LONGEST:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a model wrote may look like a bad escape
        try:
            statements = ast.parse("\n".join(map(str.strip, text.strip().splitlines()))).body
            return [_call(node) for statement in statements for node in _nodes(statement)]
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return []


def _nodes(statement: ast.stmt) -> Iterator[ast.expr]:
    if not isinstance(statement, ast.Expr):
        raise TypeError
    yield from statement.value.elts if isinstance(statement.value, ast.List | ast.Tuple) else (statement.value,)


def _call(node: ast.expr) -> dict[str, Any]:
    """An error where it is no call, or what it is called with has no name and no plain value."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        raise TypeError
    values = [_value(argument) for argument in node.args]
    named = {str(each.arg): _value(each.value) for each in node.keywords if each.arg}
    if len(named) < len(node.keywords) or (values and (named or len(values) != 2)):
        raise TypeError
    name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
    return {"name": name, "arguments": {str(values[0]): values[1]} if values else named}


def _value(node: ast.expr) -> Any:
    """A text as it is, other values as they are written; None for nothing."""
    held = ast.literal_eval(node)
    return held if held is None or isinstance(held, str | list | tuple) else ast.unparse(node)
