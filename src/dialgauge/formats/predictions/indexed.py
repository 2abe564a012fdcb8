"""Outputs that number their slots, as D3ST's do: ``[states] 7=4 10=sunday [intents] i0 [req_slots]``.

What a number means is said by the prompt of that very turn (``7=hotel-stars 8=hotel-area 8a) north 8b) south [user]
...``), or by an object beside the output (``{"7": "hotel-stars"}``). Without either nobody can know it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from dialgauge.errors import DialgaugeError
from dialgauge.formats.predictions.columns import Columns
from dialgauge.formats.predictions.common import example_rows
from dialgauge.formats.predictions.state_texts import names_domain

_OUTPUT = re.compile(
    r"\s{0,9}\[states?\]\s{0,9}((?:[0-9]{1,3}=[^\[]{0,2000})?)(?:\[(?:intents?|req_slots)\].{0,2000})?", re.S
)
_FILLED = re.compile(r"(?<!\S)([0-9]{1,3})=")
#: Where a prompt names a slot or one of its options, and where the conversation begins.
_NAMED = re.compile(r"(?<!\S)([0-9]{1,3}(?:=|[a-z]\)))\s?")
_TALK = re.compile(r"\[(?:user|usr|system|sys|conversation|history|dialogue)\]|\n")


def with_named_slots(rows: Sequence[Mapping[Any, Any]], columns: Columns) -> Sequence[Mapping[Any, Any]]:
    """The rows with their outputs, and targets, as objects of slots, where all number them; else as they are."""
    for column in filter(None, (columns.state, columns.gold)):
        outputs = [_OUTPUT.fullmatch(text) if isinstance(text := row.get(column), str) else None for row in rows]
        if rows and all(outputs) and any(output[1] for output in outputs if output):
            named = zip(rows, outputs, strict=True)
            with suppress(*([] if column == columns.state else [DialgaugeError])):
                rows = [{**row, column: _state(row, columns, output[1])} for row, output in named if output]
    return rows


def _state(row: Mapping[Any, Any], columns: Columns, filled: str) -> dict[str, str]:
    parts = [part.strip() for part in _FILLED.split(filled)[1:]]
    numbers = dict(zip(parts[::2], parts[1::2], strict=True))
    apart = (columns.state, columns.gold, columns.dialogue, columns.turn)
    others = [value for key, value in row.items() if key not in apart]
    indexes = [_index(value) for value in others]
    known: dict[str, str] = next((index for index in indexes if numbers.keys() <= index.keys()), {})
    unnamed = [number for number in numbers if not names_domain(known.get(number, ""))]
    if unnamed:
        number = unnamed[0]
        said = (
            f"its prompt says '{known[number][:60]}', which names no domain"
            if number in known
            else ("nothing in its record says which slot that is")
        )
        raise DialgaugeError(
            f"the output numbers its slots, as D3ST does: '{number}={numbers[number][:40]}', and {said}; keep the "
            f"prompt beside the output, as in 'inputs': '{number}=hotel-area ...', or an object 'slots': "
            f"{{'{number}': 'hotel-area'}}, or write states with the names of slots",
            dialogue=str(row.get(columns.dialogue)),
            example=example_rows(str(row.get(columns.dialogue))),
        )
    return {known[number]: value if value.isdigit() else known.get(value) or value for number, value in numbers.items()}


def _index(given: Any) -> dict[str, str]:
    """The slots and options of a prompt, or of an object, by their numbers (``7``, ``7a``)."""
    if isinstance(given, Mapping):
        return {str(number): name for number, name in given.items() if isinstance(name, str)}
    if not isinstance(given, str):
        return {}
    _, *parts = _NAMED.split(_TALK.split(given, maxsplit=1)[0])
    return {tag.rstrip("=)"): name.strip() for tag, name in zip(parts[::2], parts[1::2], strict=True)}
