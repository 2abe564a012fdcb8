"""Manifests of older versions, as plain JSON, turned into those of the next one.

Version 1 let every family write its scores and coverage in a shape of its own. What such a manifest does not say
stays ``null``; what is no score stands in ``details``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Raw = dict[str, Any]

_NOTE = "stored by an older version: its scores can be compared; score again to explain or show them turn by turn"

#: Names that one kind of run gave to measures which its table ``dialogue_scores`` calls otherwise.
_RENAMED = {"per_response": "per-response", "per_dialog": "per-dialog"}
_INTERVAL = ("value", "low", "high")
#: Tables that meant something else: turns were counted in other ways, or one name stood for two things. They stay in
#: the run's folder and are no longer offered.
_OTHER_MEANING = ("attention", "conversations", "explanations", "replies", "turn_scores")


def _from_1(old: Raw) -> Raw:
    scores, extras = _scores(old.get("scores"))
    coverage, counted = _coverage(old.get("coverage"))
    tables = old.get("tables")
    return {
        **old,
        "tables": _same_meaning(tables) if isinstance(tables, Mapping) else tables,
        "notes": [_NOTE],
        "signature": _signature(old.get("signature", "")),
        "scores": scores,
        "coverage": coverage,
        "details": {**extras, **({"coverage": counted} if counted else {})},
    }


def _same_meaning(tables: Mapping[str, Any]) -> Raw:
    return {name: info for name, info in tables.items() if name not in _OTHER_MEANING}


def _scores(old: object) -> tuple[Raw, Raw]:
    """Scores, which were numbers or objects with a value, and what else stood among them."""
    scores: Raw = {}
    extras: Raw = {}
    for name, entry in old.items() if isinstance(old, Mapping) else ():
        if isinstance(entry, Mapping) and "value" in entry:
            kept = {key: entry.get(key) for key in _INTERVAL}
            scores[name] = {**kept, "signature": entry.get("signature") or ""}
        elif entry is None or isinstance(entry, float):
            scores[_RENAMED.get(str(name)) or str(name)] = {"value": entry}
        else:
            extras[name] = entry
    return scores, extras


def _coverage(old: object) -> tuple[Raw, Raw]:
    """Counts with their units as far as the shape tells which they are, and the old record whole."""
    if not isinstance(old, Mapping):
        return {}, {}
    if "gold_turns" in old:  # trackers
        units = {
            unit: {"expected": old.get(f"gold_{unit}"), "read": old.get(f"predicted_{unit}"), "scored": old.get(unit)}
            for unit in ("dialogues", "turns")
        }
        return {"units": units, "policy": old.get("policy") or ""}, dict(old)
    if "dialogues" in old:  # simulated users
        count = {"expected": old["dialogues"], "scored": old.get("scored"), "failed": old.get("failed")}
        return {"units": {"dialogues": count, "turns": {"scored": old.get("turns")}}}, dict(old)
    if "expected" in old:  # rankers
        return {"units": {"replies": {key: old.get(key) for key in ("expected", "read", "scored", "failed")}}}, {}
    return {}, dict(old)


def _signature(old: object) -> object:
    """Some signatures called the version by the name of the program."""
    if not isinstance(old, str):
        return old
    head, _, last = old.rpartition("|")
    key, colon, version = last.partition(":")
    return f"{head}|version:{version}" if head and colon and key == "dialgauge" else old


#: Version to the function that turns such a manifest, as plain JSON, into one of the next version.
UPGRADES: dict[int, Callable[[Raw], Raw]] = {1: _from_1}
