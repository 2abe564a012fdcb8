"""Folders of one conversation each, where a file of its own says how it went: ``result.json`` beside its messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from dialgauge.formats.logs.fact_names import says_outcome
from dialgauge.formats.source import Part

#: What is longer holds more than an outcome.
_LONGEST = 1 << 20
_OBJECT: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])


def outcome_beside(part: Part, folders: Mapping[str, int]) -> dict[str, Any] | None:
    """What a file says of the only other one of its folder: an object that names a task, a verdict or a score."""
    if folders.get(part.folder) != 2:
        return None
    try:
        record = _OBJECT.decode(part.head(_LONGEST))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return record if says_outcome(record) else None
