"""Measures the checks of user faults on the labelled conversations and writes the record that the command prints.

python tools/measure_user_faults.py DATA [--date 2026-11-16] [--write]

DATA holds the folder ``tau``. Without ``--write`` the record is only printed.
"""

from __future__ import annotations

import argparse
import datetime
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from dialgauge import stats
from dialgauge.formats import read
from dialgauge.users.faults import (
    KINDS,
    CheckedConversation,
    CheckMeasurement,
    FaultKind,
    LabelledConversation,
    check_user,
    load_labels,
)
from dialgauge.users.faults.labelled import (
    FIRST,
    FRESH,
    RECORD,
    SECOND,
    CheckRecord,
    ConversationKey,
    check_records,
)

#: How conversations were drawn.
SEED, DRAWN = 16, 120
#: How the fresh part was drawn, from what was left.
FRESH_SEED, FRESH_DRAWN = 17, 30
RECORD_FILE = Path(__file__).parent.parent / "src/dialgauge/users/faults/labels" / RECORD


class LabellerAgreement(msgspec.Struct, frozen=True):
    """Cohen's kappa of two labellers on one question, and the counts behind it.

    ``kappa`` is None where both always said the same one thing, so that agreement by chance is certain.
    """

    kappa: float | None
    conversations: int
    agreed: int
    first: int
    second: int


class Measurement(CheckMeasurement, frozen=True, kw_only=True):
    """The record with what only the documentation prints: the second labeller, and how both agree."""

    #: How many conversations were labelled twice.
    twice: int
    #: The checks against the second labeller, on the conversations that both labelled.
    against_second: dict[FaultKind, CheckRecord]
    agreement: dict[str, LabellerAgreement]


def checked_conversations(data: Path, wanted: set[ConversationKey]) -> dict[ConversationKey, CheckedConversation]:
    """The wanted conversations of the tau files, checked."""
    found: dict[ConversationKey, CheckedConversation] = {}
    for file in sorted((data / "tau").glob("*.json.gz")):
        for dialogue in read(file).dialogues:
            key = (file.name, dialogue.ended.task, dialogue.ended.trial)
            if key in wanted:
                found[key] = check_user(dialogue)
    return found


def all_conversations(data: Path) -> list[ConversationKey]:
    """Every conversation that could have been drawn."""
    return [
        (file.name, dialogue.ended.task, dialogue.ended.trial)
        for file in sorted((data / "tau").glob("*.json.gz"))
        for dialogue in read(file).dialogues
        if dialogue.outcome
    ]


def draw(conversations: Iterable[ConversationKey]) -> list[ConversationKey]:
    """The conversations that were labelled, in the order of the draw."""
    return random.Random(SEED).sample(sorted(conversations), DRAWN)  # noqa: S311


def draw_fresh(conversations: Iterable[ConversationKey]) -> list[ConversationKey]:
    """The conversations of the fresh part: none of those that were drawn before."""
    every = list(conversations)
    return random.Random(FRESH_SEED).sample(sorted({*every} - {*draw(every)}), FRESH_DRAWN)  # noqa: S311


def measure(checked: Mapping[ConversationKey, CheckedConversation], *, on: str) -> Measurement:
    """The record of checks on the labelled conversations; ``on`` is the date."""
    first, second = load_labels(FIRST), load_labels(SECOND)
    labels = [*first, *load_labels(FRESH)]
    logs = {file: [label for label in labels if label.file == file] for file in sorted({each.file for each in labels})}
    return Measurement(
        measured=on,
        conversations={_log(file): len(own) for file, own in logs.items()},
        twice=len(second),
        logs={_log(file): check_records(checked, own) for file, own in logs.items()},
        overall=check_records(checked, labels),
        against_second=check_records(checked, second),
        agreement=labeller_agreement(first, second),
    )


def _log(file: str) -> str:
    return file.removesuffix(".json.gz")


def labeller_agreement(
    first: Sequence[LabelledConversation], second: Sequence[LabelledConversation]
) -> dict[str, LabellerAgreement]:
    """Agreement on every kind, and on blame in the conversations that at least one of them blames somebody for."""
    others = {labelled.key: labelled for labelled in second}
    pairs = [(labelled, others[labelled.key]) for labelled in first if labelled.key in others]
    agreed: dict[str, LabellerAgreement] = {}
    for kind in KINDS:
        agreed[kind] = _agreement([(labelled.has(kind), other.has(kind)) for labelled, other in pairs], bool)
    failed = [
        (labelled.blame, other.blame)
        for labelled, other in pairs
        if labelled.blame is not None or other.blame is not None
    ]
    agreed["blame"] = _agreement(failed, lambda blame: blame is not None)
    return agreed


def _agreement(pairs: Sequence[tuple[object, object]], marked: Callable[[object], bool]) -> LabellerAgreement:
    kappa = stats.cohen_kappa(pairs)
    return LabellerAgreement(
        kappa=None if kappa is None else round(kappa, 4),
        conversations=len(pairs),
        agreed=sum(label == other for label, other in pairs),
        first=sum(marked(label) for label, _ in pairs),
        second=sum(marked(other) for _, other in pairs),
    )


def main() -> None:
    """Measure, print, and where asked to, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    every = all_conversations(options.data)
    if draw(every) + draw_fresh(every) != [one.key for one in load_labels() + load_labels(FRESH)]:
        raise SystemExit("the labelled conversations are not those that the seeds draw")
    wanted = {one.key for one in load_labels() + load_labels(FRESH)}
    record = measure(checked_conversations(options.data, wanted), on=options.date)
    content = msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"
    sys.stdout.write(content.decode())
    if options.write:
        RECORD_FILE.write_bytes(content)


if __name__ == "__main__":
    main()
