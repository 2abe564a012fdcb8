"""State-tracking measures: declared cards and their names."""

from __future__ import annotations

from dialgauge.tracking.measures.base import Card, Measure, Parameter
from dialgauge.tracking.measures.registry import ALL, DEFAULT, cards, parse_measure, parse_measures

__all__ = ["ALL", "DEFAULT", "Card", "Measure", "Parameter", "cards", "parse_measure", "parse_measures"]
