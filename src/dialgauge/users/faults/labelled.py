"""Conversations that people labelled, and the precision and recall of checks on them.

The unit is a kind of fault in a conversation: a check is right where the labeller marked the same kind in the same
conversation, and ``same_message`` counts where the message is the same too. The first labeller is the truth; the second
labelled a part of the conversations again. ``tools/measure_user_faults.py`` writes the record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TypeAlias

import msgspec
from msgspec import Struct

from dialgauge import stats
from dialgauge.users.faults.records import KINDS, CheckedConversation, FaultKind

#: What tells conversations apart: file, task, trial.
ConversationKey: TypeAlias = tuple[str, str, int]

FIRST, SECOND, FRESH, RECORD = "first.jsonl", "second.jsonl", "fresh.jsonl", "record.json"


class FaultLabel(Struct, frozen=True, omit_defaults=True):
    """A fault that a labeller marked; ``minor``: a part was left out and came when asked again."""

    kind: FaultKind
    message: int
    note: str
    minor: bool = False


class LabelledConversation(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A labeller's verdict on one conversation; ``number`` is its place in the draw."""

    number: int
    file: str
    task: str
    trial: int
    faults: tuple[FaultLabel, ...]
    blame: str | None
    blame_message: int | None = None
    blame_note: str | None = None
    task_wrong: bool = False
    lucky: bool = False

    @property
    def key(self) -> ConversationKey:
        """The conversation."""
        return self.file, self.task, self.trial

    def has(self, kind: FaultKind) -> bool:
        """Did the labeller mark a fault of this kind?"""
        return any(fault.kind == kind for fault in self.faults)


class Share(Struct, frozen=True):
    """A share with its 95% interval; without cases there is none."""

    value: float | None
    low: float
    high: float
    n: int


class CheckRecord(Struct, frozen=True):
    """How one check did on labelled conversations."""

    right: int
    wrong: int
    missed: int
    same_message: int
    not_checked: int
    precision: Share
    recall: Share


class CheckMeasurement(Struct, frozen=True, kw_only=True):
    """The stored record: when and on what the checks were measured, and what came out."""

    measured: str
    #: Labelled conversations of each log.
    conversations: dict[str, int]
    logs: dict[str, dict[FaultKind, CheckRecord]]
    overall: dict[FaultKind, CheckRecord]


def load_labels(name: str = FIRST) -> list[LabelledConversation]:
    """The labels that are kept with the checks, of the first or the second labeller, or of the fresh part."""
    lines = resources.files(__package__).joinpath("labels", name).read_bytes().splitlines()
    return [msgspec.json.decode(line, type=LabelledConversation) for line in lines if line.strip()]


def load_record() -> CheckMeasurement:
    """The last measurement of the checks."""
    content = resources.files(__package__).joinpath("labels", RECORD).read_bytes()
    return msgspec.json.decode(content, type=CheckMeasurement)


def check_records(
    checked: Mapping[ConversationKey, CheckedConversation], labels: Sequence[LabelledConversation]
) -> dict[FaultKind, CheckRecord]:
    """Every check against labels."""
    records: dict[FaultKind, CheckRecord] = {}
    for kind in KINDS:
        counts = Counter(right=0, wrong=0, missed=0, same_message=0, not_checked=0)
        for label in labels:
            findings = checked[label.key].of_kind(kind)
            marked = {fault.message for fault in label.faults if fault.kind == kind}
            counts["not_checked"] += not findings.checked
            counts["right"] += bool(findings.faults and marked)
            counts["wrong"] += bool(findings.faults and not marked)
            counts["missed"] += bool(marked and not findings.faults)
            counts["same_message"] += bool(marked & {fault.message for fault in findings.faults})
        precision = share(counts["right"], counts["right"] + counts["wrong"])
        recall = share(counts["right"], counts["right"] + counts["missed"])
        records[kind] = CheckRecord(**counts, precision=precision, recall=recall)
    return records


def share(count: int, n: int) -> Share:
    """A share with its interval.

    >>> share(9, 10)
    Share(value=0.9, low=0.5726, high=0.9966, n=10)
    """
    low, high = stats.share_interval(count, n)
    return Share(round(count / n, 4) if n else None, round(low, 4), round(high, 4), n)
