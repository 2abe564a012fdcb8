"""dialgauge measures task-oriented dialogue: trackers, bots, simulated users, and whole systems in conversation.

The names below are the public API. They are imported when first used, so that ``import dialgauge`` costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own would cost a third of the time of `dialgauge --help`
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "DialgaugeError": "dialgauge.errors",
    "Act": "dialgauge.dialogue",
    "Dialogue": "dialgauge.dialogue",
    "Fact": "dialgauge.dialogue",
    "Goal": "dialgauge.dialogue",
    "Ontology": "dialgauge.dialogue",
    "Task": "dialgauge.dialogue",
    "Turn": "dialgauge.dialogue",
    "Run": "dialgauge.runs",
    "Store": "dialgauge.runs",
    "load_world": "dialgauge.babi.world_file",
    "Comparison": "dialgauge.comparison",
    "check": "dialgauge.data.check",
    "compare": "dialgauge.comparison",
    "compare_runs": "dialgauge.comparison",
    "convert": "dialgauge.data.convert",
    "read": "dialgauge.formats",
    "score": "dialgauge.tracking",
    "Accumulator": "dialgauge.tracking",
    "compute": "dialgauge.tracking",
    "simulate": "dialgauge.babi.simulator",
    "score_users": "dialgauge.users.api",
    "write": "dialgauge.formats",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'dialgauge' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
