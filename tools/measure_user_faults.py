"""Measures the checks of user faults on the labelled conversations and writes the record that the command prints.

python tools/measure_user_faults.py DATA [--part development] [--date 2026-11-16] [--write]

DATA holds the folder ``tau``. Without ``--write`` the record is only printed. ``--part development`` looks at nothing
but the half on which the checks were written.
"""

from __future__ import annotations

import argparse
import datetime
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from dialgauge.formats import read
from dialgauge.users.faults import (
    KINDS,
    CheckedConversation,
    CheckMeasurement,
    LabelledConversation,
    check_user,
    cohen_kappa,
    load_labels,
)
from dialgauge.users.faults.labelled import (
    FIRST,
    FRESH,
    PARTS,
    RECORD,
    SECOND,
    ConversationKey,
    LabellerAgreement,
    check_records,
)

#: How conversations were drawn, and where the halves part: numbers below are for development.
SEED, DRAWN, DEVELOPMENT = 16, 120, 60
#: How the fresh part was drawn, from what was left.
FRESH_SEED, FRESH_DRAWN = 17, 30
_LABELS = Path(__file__).parent.parent / "src/dialgauge/users/faults/labels"


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


def labels_of(part: str) -> list[LabelledConversation]:
    """The labels of a part, by the labeller that counts as the truth."""
    if part == "fresh":
        return load_labels(FRESH)
    return [load_label for load_label in load_labels() if (load_label.number < DEVELOPMENT) == (part == "development")]


def measure(
    checked: Mapping[ConversationKey, CheckedConversation], *, on: str, parts: Sequence[str] = PARTS
) -> CheckMeasurement:
    """The record of checks on the labelled conversations; ``on`` is the date."""
    first, second = load_labels(FIRST), load_labels(SECOND)
    labels = {part: labels_of(part) for part in parts}
    return CheckMeasurement(
        measured=on,
        seed=SEED,
        fresh_seed=FRESH_SEED,
        conversations={part: len(labels[part]) for part in parts} | {"twice": len(second)},
        checks={part: check_records(checked, labels[part]) for part in parts},
        overall=check_records(checked, [label for part in parts for label in labels[part]]),
        against_second=check_records(checked, second) if {*parts} == {*PARTS} else {},
        agreement=labeller_agreement(first, second),
    )


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
    return LabellerAgreement(
        kappa=cohen_kappa(pairs),
        conversations=len(pairs),
        agreed=sum(label == other for label, other in pairs),
        first=sum(marked(label) for label, _ in pairs),
        second=sum(marked(other) for _, other in pairs),
    )


def main() -> None:
    """Measure, print, and where asked to, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    every = all_conversations(options.data)
    if draw(every) + draw_fresh(every) != [one.key for one in load_labels() + load_labels(FRESH)]:
        raise SystemExit("the labelled conversations are not those that the seeds draw")
    parts = options.part or PARTS
    wanted = {one.key for part in parts for one in labels_of(part)}
    record = measure(checked_conversations(options.data, wanted), on=options.date, parts=parts)
    content = msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"
    sys.stdout.write(content.decode())
    if options.write:
        (_LABELS / RECORD).write_bytes(content)


if __name__ == "__main__":
    main()
