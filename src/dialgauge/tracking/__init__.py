"""State tracking: every measure of predicted against gold states, under named comparison profiles."""

from __future__ import annotations

from dialgauge.tracking.accumulate import Accumulator, compute
from dialgauge.tracking.api import score
from dialgauge.tracking.measures import Measure, parse_measure
from dialgauge.tracking.results import Results, Score, SystemScores
from dialgauge.tracking.signature import Signature

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
