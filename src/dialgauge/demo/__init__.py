"""``dialgauge demo``: the guided tour on a world simulated on the spot; nothing is downloaded."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.demo.steps import Demo, answer, simulate_world, track_states

__all__ = [
    "Demo",
    "answer",
    "simulate_world",
    "track_states",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
