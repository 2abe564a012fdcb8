"""Every table, worked example and figure of the papers, theirs beside ours."""

from __future__ import annotations

from turnwise.reproduce.record import Item, Printed, Reproduction
from turnwise.reproduce.registry import PAPERS, reproduce

__all__ = ["PAPERS", "Item", "Printed", "Reproduction", "reproduce"]
