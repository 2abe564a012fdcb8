"""Slots that turns empty, named apart from what they fill: ``{"update": {...}, "delete": [...]}``.

They become values of their own among the changes, before those that are filled: a slot may be emptied and filled anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dialgauge.errors import DialgaugeError
from dialgauge.formats.predictions.columns import Columns, is_emptied, is_filled
from dialgauge.formats.predictions.state_texts import is_domain, names_domain

_BETWEEN = re.compile(r"[,;|\n]")


def with_deletions(rows: Sequence[Mapping[Any, Any]], columns: Columns) -> Sequence[Mapping[Any, Any]]:
    """The rows with what they empty among their changes; an error where it cannot be told what that is."""
    named = [name for name in columns.names if is_emptied(name) and name not in (columns.dialogue, columns.state)]
    named = [name for name in named if any(_is_filled(row.get(name)) for row in rows)]
    if not columns.changes:
        if named and columns.state:
            _refuse_unclear(named[0], columns.state)
        return rows
    if not columns.state or columns.slot:
        return rows if not named else _refuse(named[0], columns.value or columns.state)
    return [{**row, columns.state: _changes(row, named, columns)} for row in rows]


def _is_filled(held: object) -> bool:
    return held not in (None, "", False, 0) and held != [] and held != {} and held == held


def _refuse_unclear(name: str, state: str) -> None:
    raise DialgaugeError(
        f"'{name[:40]}' stands beside '{state[:40]}': if that holds what each turn changes, call it 'changes', and "
        f"what '{name[:40]}' names is emptied; if it holds whole states, leave '{name[:40]}' out"
    )


def _refuse(name: str, state: str) -> Any:
    raise DialgaugeError(
        f"what '{name[:40]}' empties is said in '{state[:40]}', where changes are added up: write [DELETE] there as "
        "the value of a slot"
    )


def _changes(row: Mapping[Any, Any], named: Sequence[str], columns: Columns) -> Any:
    changed = row.get(columns.state)
    emptied = [slot for name in named for slot in _slots(row.get(name)) or _refuse(name, columns.state)]
    if isinstance(changed, Mapping) and changed and all(is_emptied(key) or is_filled(key) for key in changed):
        for name in filter(is_emptied, changed):
            emptied += _slots(changed[name]) or _refuse(f"{columns.state}.{name}", columns.state)
        parts = [held for key, held in changed.items() if not is_emptied(key) and _is_filled(held)]
        changed = parts[0] if len(parts) == 1 else [item for part in parts for item in _items(part)]
    slots = [slot for slot in emptied if slot]
    if not slots:
        return changed
    if isinstance(changed, str) and changed.strip():
        return _refuse(named[0], columns.state)
    return [*({"slot": slot, "value": "[DELETE]"} for slot in slots), *(_items(changed) if changed else ())]


def _items(changed: Any) -> Sequence[Any]:
    return changed if isinstance(changed, list | tuple) else [changed]


def _slots(written: Any) -> list[str]:
    """The slots that are named, and an empty name; nothing where one is none."""
    try:
        return ["", *_names(written)]
    except ValueError:
        return []


def _names(written: Any) -> Iterator[str]:
    if not _is_filled(written):
        return
    if isinstance(written, str):
        for name in _BETWEEN.split(written.strip(" []()")):
            yield _checked(name.strip(" '\""))
    elif isinstance(written, Mapping) and isinstance(written.get("slot"), str):
        domain = written.get("domain")
        yield _checked(f"{domain}-{written['slot']}" if isinstance(domain, str) and domain else written["slot"])
    elif isinstance(written, Mapping):
        for name, held in written.items():
            if is_domain(name) and isinstance(held, Mapping | list | tuple):
                yield from (_checked(f"{name}-{slot}") for slot in held if isinstance(slot, str))
            else:
                yield _checked(name)
    elif isinstance(written, list | tuple):
        for item in written:
            pair = isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str)
            yield from _names("-".join(item) if pair and is_domain(item[0]) else item[0] if pair else item)
    else:
        raise ValueError


def _checked(name: object) -> str:
    if not isinstance(name, str) or not names_domain(name) or "=" in name:
        raise ValueError
    return name
