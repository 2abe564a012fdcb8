"""The published table of the benchmark: sixteen systems, and with which active domains each row was made."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.tasks.predictions import DomainMode

_FILE = Path(__file__).with_name("published.json")
_KINDS = ("end-to-end", "policy")


class PublishedRow(Struct, frozen=True):
    """One system: what was printed, and the mode of active domains where it could be told."""

    system: str
    kind: str
    figures: dict[str, float]
    mode: DomainMode | None = None


@cache
def _content() -> dict[str, Any]:
    return msgspec.json.decode(_FILE.read_bytes(), type=dict[str, Any])


@cache
def published_rows() -> dict[str, PublishedRow]:
    """The rows by system."""
    rows = {}
    for kind in _KINDS:
        for system, figures in _content()[kind].items():
            numbers = {name: value for name, value in figures.items() if name != "mode"}
            rows[system] = PublishedRow(system, kind, numbers, figures.get("mode"))
    return rows


def published_human() -> dict[str, float]:
    """What was printed of the human responses of the corpus."""
    return dict(_content()["human"])
