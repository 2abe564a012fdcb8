"""What verdicts of blame were worth on labelled failures of tasks that no rule was written on."""

from __future__ import annotations

from importlib import resources

import msgspec
from msgspec import Struct


class BlameEstimate(Struct, frozen=True):
    """A value with its 95% interval."""

    value: float
    low: float
    high: float


class BlameRecord(Struct, frozen=True, kw_only=True):
    """The stored record, written by ``benchmarks/blame_logs.py --write``."""

    measured: str
    #: Labelled failures, the firm verdicts among them, and the share of these that is right.
    failures: int
    verdicts: int
    right: BlameEstimate
    #: The share of failures that labellers blame on the agent: right by always saying so.
    always_agent: BlameEstimate
    #: Cohen's kappa of what the signs lean to, and of the verdicts, in which what is not firm is unclear.
    kappa: BlameEstimate
    verdict_kappa: BlameEstimate


def load_blame_record() -> BlameRecord:
    """What was measured last."""
    content = resources.files(__package__).joinpath("measured.json").read_bytes()
    return msgspec.json.decode(content, type=BlameRecord)
