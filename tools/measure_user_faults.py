"""Measures the checks of user faults on the labelled conversations and writes the record that the command prints.

python tools/measure_user_faults.py DATA [--part development] [--date 2026-11-16] [--write]

DATA holds the folder ``tau``. Without ``--write`` the record is only printed. ``--part development`` looks at nothing
but the half on which the checks were written.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from pathlib import Path

import msgspec

from dialgauge.formats import read
from dialgauge.users.faults import CheckedConversation, check_user, load_labels, measure
from dialgauge.users.faults.labelled import FRESH, PARTS, RECORD, ConversationKey, draw, draw_fresh, labels_of

_LABELS = Path(__file__).parent.parent / "src/dialgauge/users/faults/labels"


def checked_conversations(data: Path, wanted: set[ConversationKey]) -> dict[ConversationKey, CheckedConversation]:
    """The wanted conversations of the tau files, checked."""
    found: dict[ConversationKey, CheckedConversation] = {}
    for file in sorted((data / "tau").glob("*.json.gz")):
        for dialogue in read(file).dialogues:
            details = dialogue.outcome.details if dialogue.outcome else {}
            key = (file.name, details["task"], int(details["trial"]))
            if key in wanted:
                found[key] = check_user(dialogue)
    return found


def all_conversations(data: Path) -> list[ConversationKey]:
    """Every conversation that could have been drawn."""
    return [
        (file.name, dialogue.outcome.details["task"], int(dialogue.outcome.details["trial"]))
        for file in sorted((data / "tau").glob("*.json.gz"))
        for dialogue in read(file).dialogues
        if dialogue.outcome
    ]


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
