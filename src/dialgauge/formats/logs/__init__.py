"""Logs of agents as people have them: one module per family of files, and one way from messages to turns."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.formats.logs.facts import KNOWS

__all__ = ["KNOWS"]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
