"""Records that a log has twice: the same id and the same content are no further trial of a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from dialgauge.dialogue import Dialogue

_ID, _CONTENT = "record_id", "record"


class DoubledRecords(Struct, frozen=True):
    """Which conversations, by their places, are another one again, and ids under which conversations differ."""

    again: frozenset[int] = frozenset()
    differing: tuple[str, ...] = ()


def doubled_records(dialogues: Sequence[Dialogue]) -> DoubledRecords:
    """Records of the same id within a task, where ids name records: most tasks have several of them."""
    tasks: dict[str, dict[str, dict[str, list[int]]]] = {}
    for place, dialogue in enumerate(dialogues):
        details = dialogue.details
        if _ID in details:
            ids = tasks.setdefault(details.get("task", ""), {})
            ids.setdefault(details[_ID], {}).setdefault(details.get(_CONTENT, ""), []).append(place)
    if not tasks or 2 * sum(len(ids) > 1 for ids in tasks.values()) <= len(tasks):
        return DoubledRecords()
    contents = [content for ids in tasks.values() for content in ids.values()]
    again = frozenset(place for content in contents for places in content.values() for place in places[1:])
    several = Counter({name: len(content) for ids in tasks.values() for name, content in ids.items()})
    return DoubledRecords(again, tuple(name for name, count in several.items() if count > 1))
