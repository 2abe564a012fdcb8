"""Canonical maps: the values a dataset's goals use, each with the ways people write it (the map of GCDF1)."""

from __future__ import annotations

from typing import Any

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Notes, Peek, Resource, ResourceFormat, decode
from dialgauge.formats.source import Part

SPECIAL = "special_keys"

_MAP = msgspec.json.Decoder(dict[str, dict[str, Any]])


class CanonicalMapFile(ResourceFormat):
    """Slot to canonical value to paraphrases, some slots split by domain first."""

    name = "canonical-map"
    summary = "canonical values and their paraphrases by slot, as GCDF1 uses them"
    kind = "values"

    def recognise(self, peek: Peek) -> bool:
        if not isinstance(peek.json, dict) or peek.first is None or not isinstance(peek.first[1], dict):
            return False
        slots = peek.json.values()
        return all(isinstance(table, dict) for table in slots) and any(_is_table(table) for table in slots)

    def load(self, part: Part, notes: Notes) -> Resource:
        content = decode(_MAP, part.read(), part)
        for slot, table in content.items():
            tables = [(slot, table)] if SPECIAL in table else [(f"{slot}.{key}", sub) for key, sub in table.items()]
            for name, each in tables:
                _check(name, each, part)
        return Resource(kind="values", values=content)


def _is_table(table: dict[str, Any]) -> bool:
    """Does it look like canonical values to lists of paraphrases, perhaps under a domain?"""
    if SPECIAL in table:
        return isinstance(table[SPECIAL], dict) and "not_in_goal" in table[SPECIAL]
    return any(isinstance(sub, dict) and SPECIAL in sub for sub in table.values())


def _check(name: str, table: Any, part: Part) -> None:
    if not isinstance(table, dict) or SPECIAL not in table:
        slot, _, key = name.partition(".")
        raise DialgaugeError(
            f"the slot {slot} has no {SPECIAL}, and the domain {key} within it has none either; "
            f'add "{SPECIAL}": {{"not_in_goal": {{}}}} to the slot, or to each of its domains',
            file=part.name,
        )
    for value, paraphrases in table.items():
        if value == SPECIAL:
            _check_special(name, paraphrases, part)
        elif not _is_texts(paraphrases):
            raise DialgaugeError(f"the value {value!r} of {name} must have a list of paraphrases", file=part.name)


def _check_special(name: str, special: Any, part: Part) -> None:
    outside = special.get("not_in_goal", {}) if isinstance(special, dict) else None
    if not isinstance(outside, dict):
        raise DialgaugeError(f"{SPECIAL}.not_in_goal of {name} must be an object", file=part.name)
    for key, entry in outside.items():
        if not _is_texts(entry) and not (isinstance(entry, dict) and all(map(_is_texts, entry.values()))):
            raise DialgaugeError(
                f"{SPECIAL}.not_in_goal.{key} of {name} must be a list of paraphrases, or such lists by value",
                file=part.name,
            )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
