"""Statistics over arrays: intervals, paired tests, correlations, agreement. Knows nothing of dialogues or files."""

from __future__ import annotations

from turnwise.stats.intervals import ratio_intervals

__all__ = ["ratio_intervals"]
