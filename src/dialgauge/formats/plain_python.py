"""Objects of Python as JSON would have them: what NumPy, frames, datetime, dataclasses put in place of plain ones."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

_PLAIN = frozenset((str, int, float, bool, type(None)))


def plain_python(value: Any) -> Any:
    """The same in dictionaries, lists, texts and numbers.

    >>> plain_python({"at": datetime.time(17, 30), "of": (1, {"north"})})
    {'at': '17:30', 'of': (1, ['north'])}
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {plain_key(key): plain_python(held) for key, held in value.items()}
    if kind in (list, tuple):
        return kind(map(plain_python, value))
    if kind in (set, frozenset):
        return sorted(map(plain_python, value), key=str)
    if isinstance(value, datetime.time):
        return value.strftime("%H:%M")
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_python(getattr(value, field.name)) for field in fields(value)}
    if kind.__module__ == "numpy":
        return value.tolist()
    from dialgauge.formats.frames import is_frame, rows_of

    return rows_of(value) if is_frame(value) else value


def plain_key(key: Any) -> Any:
    """A key of a dictionary: a number of NumPy becomes one of Python."""
    return key.item() if type(key).__module__ == "numpy" else key
