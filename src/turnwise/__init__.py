"""turnwise measures task-oriented dialogue: trackers, bots, simulated users, and whole systems in conversation.

The names below are the public API. They are imported when first used, so that ``import turnwise`` costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own would cost a third of the time of `turnwise --help`
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "TurnwiseError": "turnwise.errors",
    "Act": "turnwise.dialogue",
    "Dialogue": "turnwise.dialogue",
    "Fact": "turnwise.dialogue",
    "Goal": "turnwise.dialogue",
    "Ontology": "turnwise.dialogue",
    "Task": "turnwise.dialogue",
    "Turn": "turnwise.dialogue",
    "Run": "turnwise.runs",
    "Store": "turnwise.runs",
    "load_world": "turnwise.babi.world_file",
    "Comparison": "turnwise.comparison",
    "check": "turnwise.data.check",
    "compare": "turnwise.comparison",
    "compare_runs": "turnwise.comparison",
    "convert": "turnwise.data.convert",
    "read": "turnwise.formats",
    "score": "turnwise.tracking",
    "Accumulator": "turnwise.tracking",
    "compute": "turnwise.tracking",
    "simulate": "turnwise.babi.simulator",
    "score_users": "turnwise.users.api",
    "write": "turnwise.formats",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'turnwise' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
