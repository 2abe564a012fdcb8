"""State tracking: every measure of predicted against gold states, under named comparison profiles."""

from __future__ import annotations

from turnwise.tracking.accumulate import Accumulator, compute
from turnwise.tracking.api import score
from turnwise.tracking.measures import Measure, parse_measure
from turnwise.tracking.results import Results, Score, SystemScores
from turnwise.tracking.signature import Signature

__all__ = [
    "Accumulator",
    "Measure",
    "Results",
    "Score",
    "Signature",
    "SystemScores",
    "compute",
    "parse_measure",
    "score",
]
