"""Where the predicted states of a file stand: by dialogue and turn, or in records, under whatever names.

By dialogue (``{dialogue: [state, ...]}``, ``{dialogue: {turn: state}}``, ``{dialogue_turn: state}``) or as records
(JSON, JSON Lines, CSV, TSV, rows of a frame), one a dialogue, a turn or a slot, or with a column a slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from dialgauge.formats.base import rows_by_columns
from dialgauge.formats.predictions.columns import WRAPPERS, Columns, is_record, plain_name, refuse_two_states
from dialgauge.formats.predictions.dialogue_turns import (
    NotUnderstood,
    StateEntries,
    StateEntry,
    dialogue_turn,
    share_dialogues,
    turn_entries,
    turn_number,
    turns_in,
)
from dialgauge.formats.predictions.records import entries_of_rows

_LOOK_AT = 200


def state_entries(written: Any) -> StateEntries:
    """The states of everything that was written, taken out of what is around them."""
    if isinstance(written, Mapping):
        wrapped = [content for key, content in written.items() if plain_name(key) in WRAPPERS and _is_full(content)]
        for inner in wrapped if len(wrapped) == 1 else ():
            with suppress(NotUnderstood):
                return state_entries(inner)
        try:
            return _of_mapping(written)
        except NotUnderstood:
            [*inside] = written.values()
            if len(inside) == 1 and isinstance(inside[0], Mapping | list):
                with suppress(NotUnderstood):
                    return state_entries(inside[0])
            raise
    if isinstance(written, list | tuple):
        return _of_list(written)
    raise NotUnderstood("dialogues, turns and states")


def _is_full(content: object) -> bool:
    return isinstance(content, Mapping | list | tuple) and bool(content)


def _of_list(written: Sequence[Any]) -> StateEntries:
    items = [item for item in written if item not in (None, [], {})]
    if items and all(isinstance(item, Mapping) for item in items):
        named = _of_named_objects(items)
        return named or entries_of_rows(items)
    if items and all(isinstance(item, list | tuple) for item in items):
        return entries_of_rows(_positional(items))
    raise NotUnderstood("an id for each dialogue, and a state for each turn")


def _of_named_objects(items: Sequence[Mapping[Any, Any]]) -> StateEntries | None:
    """``[{"MUL0001": [state, ...]}, ...]``: objects of one member each, which is named by its dialogue."""
    if any(len(item) != 1 or is_record(item) for item in items):
        return None
    merged: dict[Any, Any] = {}
    for item in items:
        [(key, content)] = item.items()
        if key in merged or not _is_full(content):
            return None
        merged[key] = content
    return _of_mapping(merged)


def _positional(items: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Rows without names: dialogue, turn, and the state or a slot and its value."""
    if all(isinstance(cell, Mapping) for item in items for cell in item):
        return [row for item in items for row in item]
    names = {3: ("dialogue", "turn", "state"), 4: ("dialogue", "turn", "slot", "value")}.get(len(items[0]))
    header = [str(cell) for cell in items[0]]
    if all(len(item) == len(header) for item in items) and is_record(dict.fromkeys(header)):
        return [dict(zip(header, item, strict=True)) for item in items[1:]]
    if names is None or any(len(item) != len(names) or turn_number(item[1]) is None for item in items):
        raise NotUnderstood("names of the columns: dialogue_id, turn and state, or dialogue_id, turn, slot and value")
    return [dict(zip(names, item, strict=True)) for item in items]


def _of_mapping(written: Mapping[Any, Any]) -> StateEntries:
    items = [(key, content) for key, content in written.items() if content is not None]
    if not items:
        raise NotUnderstood("dialogues, turns and states")
    if rows := _of_columns(written):
        return entries_of_rows(rows)
    if is_record(written) and not isinstance(written.get(Columns.of([written]).dialogue, {}), Mapping | list):
        return entries_of_rows([written])
    contents = [content for _, content in items]
    if all(isinstance(content, Mapping) for content in contents):
        columns = Columns.of(contents)
        if columns.dialogue and (columns.turns or columns.has_states):
            return entries_of_rows(contents)
    pairs = {key: pair for key, _ in items if (pair := dialogue_turn(key)) is not None}
    named_by_turn = len(pairs) == len(items) and share_dialogues(pairs.values())
    looked_at = contents[:_LOOK_AT]
    if named_by_turn and all(map(_may_be_state, looked_at)) and not all(map(_are_turns, looked_at)):
        return StateEntries([_entry(*pairs[key], content) for key, content in items])
    entries: list[StateEntry] = []
    names: dict[str, None] = {}
    for key, content in items:
        turns = turns_in(content)
        if turns is None:
            raise NotUnderstood("a state for each turn: here is one thing per dialogue", _names_in(content))
        entries += turn_entries(str(key), turns, names)
    named = [Columns.of([{name: ""}]) for name in names]
    says, changes = any(state.says_predicted for state in named), any(state.changes for state in named)
    return StateEntries(entries, tuple(names), says_predicted=says, changes=changes)


def _entry(dialogue: str, turn: int | None, content: Any) -> StateEntry:
    if isinstance(content, Mapping) and is_record(content):
        columns = Columns.of([content])
        refuse_two_states([content], columns)
        return StateEntry(dialogue, turn, columns.state_of(content), columns.gold_of(content))
    return StateEntry(dialogue, turn, content)


def _names_in(content: Any) -> Iterable[object]:
    return list(content)[:20] if isinstance(content, Mapping) else ()


def _of_columns(written: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """The rows of a table that was written by columns, as pandas does; none where it is no table."""
    rows = rows_by_columns(written)
    if not rows or "columns" in written:
        return rows
    for names in ([*map(str, written)], [str(name).removesuffix("s") for name in written]):  # or in the plural
        columns = Columns.of([dict.fromkeys(names, "")])
        if columns.dialogue and (columns.turn or columns.has_states) and len({*names}) == len(names):
            return [dict(zip(names, row.values(), strict=True)) for row in rows]
    return []


def _may_be_state(content: object) -> bool:
    return isinstance(content, Mapping | list | tuple | str)


def _are_turns(content: Any) -> bool:
    """Are these surely turns, and not a state?"""
    if isinstance(content, str) or turns_in(content) is None:
        return False
    if isinstance(content, Mapping):
        return bool(content)
    return any(isinstance(item, Mapping) and "slot" not in item for item in content)
