"""Every table, worked example and figure of the papers, theirs beside ours."""

from __future__ import annotations

from dialgauge.reproduce.record import Item, Printed, Reproduction
from dialgauge.reproduce.registry import PAPERS, reproduce

__all__ = ["PAPERS", "Item", "Printed", "Reproduction", "reproduce"]
