"""What the structure of a file allows: paths of rows, names of fields, and which of these are called alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from dialgauge.formats.row_paths import Row, quoted

_DEEPEST = 4
#: Members of an object that wraps what is meant, such as results and settings.
_WRAPPED = 2


def possible_paths(value: Any, depth: int = 0) -> Iterator[str]:
    """Paths of rows that the structure allows, likeliest first."""
    value = _value(value)
    if isinstance(value, list) and value:
        first = _value(value[0])
        if isinstance(first, list) and depth < 2:
            yield from (f"[]{path}" for path in possible_paths(first, depth + 1))
        yield "[]"
        if isinstance(first, dict):
            for key, inner in first.items():
                if isinstance(inner, list):
                    yield f"[].{quoted(key)}[]"
                    yield f"[].{quoted(key)}[{{turn}}]"
            if len(first) == 1:
                yield "[].{dialogue}[{turn}]"
    elif isinstance(value, dict) and value and depth < _DEEPEST:
        members = [_value(each) for each in islice(value.values(), 20)]
        if all(isinstance(each, list) for each in members):
            yield "{dialogue}[{turn}]"
            yield "{dialogue}[]"
        elif all(isinstance(each, dict) for each in members):
            yield "{dialogue}.{turn}"
            shared = [key for key in members[0] if all(isinstance(each.get(key), list | dict) for each in members)]
            for key in shared:
                listed = isinstance(members[0][key], list)
                yield f"{{dialogue}}.{quoted(key)}{'[{turn}]' if listed else '.{turn}'}"
                if listed:
                    yield f"{{dialogue}}.{quoted(key)}[]"
        yield "{dialogue}"
        alike = len({type(each) for each in members}) == 1
        for key, inner in value.items() if len(value) <= _WRAPPED or not alike else ():
            if isinstance(held := _value(inner), list | dict) and held:
                for path in possible_paths(held, depth + 1):
                    yield f"{quoted(key)}{'' if path.startswith('[') else '.'}{path}"


def _value(value: Any) -> Any:
    return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value


def field_names(sample: Sequence[Row], depth: int = 5) -> list[str]:
    """Paths of the fields of rows, and of the objects around them."""
    found: dict[str, None] = {}
    for row in sample[:40]:
        found.update(dict.fromkeys(_fields(row.value, "", depth)))
    if sample and depth:
        for up, around in enumerate(reversed(sample[0].above), 1):
            found.update(dict.fromkeys(f"{'^' * up}{quoted(name)}" for name in around))
    return list(found)


def _fields(value: Any, prefix: str, depth: int) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(key, str) and key.strip():
                yield f"{prefix}{quoted(key)}"
                if depth:
                    yield from _fields(inner, f"{prefix}{quoted(key)}.", depth - 1)
    elif isinstance(value, list) and value and depth and (len(value) == 1 or not prefix):
        for number, inner in enumerate(value[:8]):
            yield f"{prefix.rstrip('.')}[{number}]"
            yield from _fields(inner, f"{prefix.rstrip('.')}[{number}].", depth - 1)


def plain_name(name: str) -> str:
    """The last name of a path in small letters and digits."""
    return re.sub(r"[^a-z0-9]", "", name.lower().rpartition(".")[2])


def ranked(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """The names that are known, in the order in which these are."""
    fitting = [name for name in names if plain_name(name) in known]
    return sorted(fitting, key=lambda name: (known.index(plain_name(name)), name.count("."), name.count("^")))
