"""Where the predicted states of a file stand: by dialogue and turn, or in records, under whatever names.

By dialogue (``{dialogue: [state, ...]}``, ``{dialogue: {turn: state}}``, ``{dialogue_turn: state}``) or as records
(JSON, JSON Lines, CSV, TSV, rows of a frame), one a dialogue, a turn or a slot, or with a column a slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from dialgauge.errors import DialgaugeError
from dialgauge.formats.json_text import rows_by_columns
from dialgauge.formats.predictions.columns import (
    WRAPPERS,
    Columns,
    is_filled,
    is_record,
    plain_name,
    refuse_two_states,
)
from dialgauge.formats.predictions.common import OF_FILES
from dialgauge.formats.predictions.dialogue_turns import (
    FILE_ID,
    NotUnderstood,
    StateEntries,
    StateEntry,
    dialogue_turn,
    predicted_and_gold,
    share_dialogues,
    turn_entries,
    turn_number,
    turns_in,
    with_gold,
    without_folders,
)
from dialgauge.formats.predictions.records import entries_of_rows, with_inner_ids
from dialgauge.formats.predictions.state_texts import names_domain

_LOOK_AT = 200


def state_entries(written: Any) -> StateEntries:
    """The states of everything that was written, taken out of what is around them."""
    if isinstance(written, Mapping):
        if isinstance(written.get("columns"), list) and (rows := _of_columns(written)):
            return entries_of_rows(rows)
        if (pair := predicted_and_gold(written)) and all(map(_is_full, written.values())):
            with suppress(NotUnderstood):
                return with_gold(*(state_entries(written[side]) for side in pair))
        if (inner := unwrapped(written)) is not None:
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


def unwrapped(written: Mapping[Any, Any]) -> Any:
    """What stands under the one name around all predictions, such as ``test``; None where there is not just one."""
    wrapped = [content for key, content in written.items() if plain_name(key) in WRAPPERS and _is_full(content)]
    return wrapped[0] if len(wrapped) == 1 else None


def _is_full(content: object) -> bool:
    return isinstance(content, Mapping | list | tuple) and bool(content)


def _of_list(written: Sequence[Any]) -> StateEntries:
    items = [item for item in written if item not in (None, [], {})]
    if items and all(isinstance(item, Mapping) for item in items):
        named = _of_named_objects(items)
        return named or entries_of_rows(items)
    if items and all(isinstance(item, list | tuple) for item in items):
        if by_id := _by_first(items):
            return _of_mapping(by_id)
        return entries_of_rows(_positional(items))
    if items and all(isinstance(item, str) and (FILE_ID.fullmatch(item) or dialogue_turn(item)) for item in items):
        raise NotUnderstood("the states: these are ids alone; write each state beside its id, in one file")
    raise NotUnderstood("an id for each dialogue, and a state for each turn")


def _by_first(items: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """``[["MUL0001", [state, ...]], ...]``: pairs of an id and what it has; empty where they are others."""
    if not all(len(item) == 2 and isinstance(item[0], str) and _is_id(item[0]) for item in items):
        return {}
    named = {item[0]: item[1] for item in items}
    return named if len(named) == len(items) else {}


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
    written = _without_folders(written)
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
    if turned := _by_slot(items) or _by_turn(items):
        return turned
    _refuse_several(items)
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
            if _is_state(written) and not any(map(_is_id, written)):
                raise NotUnderstood(
                    f"whose state it is: put the states of all turns into one file, in Python: {OF_FILES}"
                )
            raise NotUnderstood("a state for each turn: here is one thing per dialogue", _names_in(content))
        entries += turn_entries(str(key), turns, names)
    named = [Columns.of([{name: ""}]) for name in names]
    says, changes = (
        any(state.says_predicted for state in named),
        any(state.changes for state in named) or any(map(is_filled, names)),
    )
    return StateEntries(entries, tuple(names), says_predicted=says, changes=changes)


def _without_folders(written: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The same by the names of files instead of their paths, where no two are of one name."""
    names = [without_folders(key) if isinstance(key, str) else key for key in written]
    return dict(zip(names, written.values(), strict=True)) if len({*names}) == len(names) else written


def _by_slot(items: Sequence[tuple[Any, Any]]) -> StateEntries | None:
    """``{"hotel-area": {"MUL0001": ["", "north"]}}``: by slot first, then by dialogue and turn."""
    if not all(
        isinstance(name, str)
        and names_domain(name)
        and not any(map(str.isdigit, name))
        and isinstance(dialogues, Mapping)
        and not is_record(dialogues)
        and all(isinstance(values, list) and not any(map(_is_full, values)) for values in dialogues.values())
        for name, dialogues in items
    ):
        return None
    states: dict[tuple[str, int], dict[str, Any]] = {}
    for name, dialogues in items:
        for dialogue, values in dialogues.items():
            for turn, value in enumerate(values):
                states.setdefault((str(dialogue), turn), {})[name] = value
    return StateEntries([StateEntry(*key, state) for key, state in states.items()])


def _by_turn(items: Sequence[tuple[Any, Any]]) -> StateEntries | None:
    """``{"0": {"MUL0001": {"hotel-area": "north"}}}``: by turn first, then by dialogue."""
    if any(turn_number(turn) is None or not isinstance(dialogues, Mapping) for turn, dialogues in items):
        return None
    states = [(str(name), turn_number(turn), state) for turn, dialogues in items for name, state in dialogues.items()]
    filled = [state for _, _, state in states if state]
    if not filled or not all(_is_id(name) for name, _, _ in states) or not all(map(_is_state, filled)):
        return None
    return StateEntries([StateEntry(*each) for each in states])


def _is_id(name: object) -> bool:
    """May it be a dialogue's id, and is no turn's number?"""
    return turn_number(name) is None and any(map(str.isdigit, str(name)))


def _is_state(content: Any) -> bool:
    """Is it an object of slots that name their domains?"""
    return isinstance(content, Mapping) and all(
        isinstance(value, Mapping) or names_domain(str(name)) for name, value in content.items()
    )


def _refuse_several(items: Sequence[tuple[Any, Any]]) -> None:
    """An error where there are several sets of predictions, by split, epoch or way of decoding."""

    def is_set(content: Any) -> bool:
        return (
            isinstance(content, Mapping)
            and not is_record(content)
            and all(map(_is_id, content))
            and all(map(_are_turns, list(content.values())[:_LOOK_AT]))
        )

    if len(items) > 1 and all(is_set(content) and content for _, content in items):
        names = " and ".join(repr(str(key)[:40]) for key, _ in items[:3])
        raise DialgaugeError(
            f"it holds {len(items)} sets of predictions, under {names}{' and others' if len(items) > 3 else ''}; keep "
            "one of them, in a file of its own"
        )


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
    return rows if with_inner_ids(rows, [*map(str, written)]) else []


def _may_be_state(content: object) -> bool:
    return isinstance(content, Mapping | list | tuple | str)


def _are_turns(content: Any) -> bool:
    """Are these surely turns, and not a state?"""
    if isinstance(content, str) or turns_in(content) is None:
        return False
    if isinstance(content, Mapping):
        return bool(content)
    return any(isinstance(item, Mapping) and "slot" not in item for item in content)
