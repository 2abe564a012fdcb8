"""Where work runs: in this process or in a pool of processes, with the same results in the same order."""

from __future__ import annotations

from dialgauge.engine.pool import cores, map_ordered

__all__ = ["cores", "map_ordered"]
