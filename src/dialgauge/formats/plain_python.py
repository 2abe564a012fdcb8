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
        return {_plain_key(key): plain_python(held) for key, held in value.items()}
    if kind in (list, tuple):
        return kind(map(plain_python, value))
    if kind in (set, frozenset):
        return sorted(map(plain_python, value), key=str)
    if isinstance(value, datetime.time):
        return value.strftime("%H:%M")
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_python(getattr(value, field.name)) for field in fields(value)}
    if kind.__module__ == "numpy":
        held = value.tolist()
        return held if type(held) is kind else plain_python(held)
    if kind.__name__ in ("NAType", "NaTType"):
        return None
    from dialgauge.formats.tables import frame_table, is_frame

    return [pruned(row) for row in frame_table(value).rows] if is_frame(value) else value


def _plain_key(key: Any) -> Any:
    """A key of a dictionary: a number of NumPy becomes one of Python."""
    return key.item() if type(key).__module__ == "numpy" else key


def is_absent(value: Any) -> bool:
    """Is there nothing? Frames of pandas say so with values that do not equal themselves."""
    return value is None or (isinstance(value, float) and value != value)


def pruned(value: Any) -> Any:
    """The value without what is absent in it."""
    if isinstance(value, Mapping):
        return {str(key): pruned(inner) for key, inner in value.items() if not is_absent(inner)}
    return [pruned(inner) for inner in value] if isinstance(value, list | tuple) else value
