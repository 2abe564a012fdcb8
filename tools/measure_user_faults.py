"""Measures the checks of user faults on the labelled conversations and writes the record that the command prints.

python tools/measure_user_faults.py DATA [--half development] [--date 2026-11-16] [--write]

DATA holds the folder ``tau``. Without ``--write`` the record is only printed. ``--half development`` looks at nothing
but the half on which the checks were written.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from pathlib import Path

import msgspec

from dialgauge.formats import read
from dialgauge.users.faults import check_user
from dialgauge.users.faults.fault_records import CheckedConversation
from dialgauge.users.faults.labelled import (
    DEVELOPMENT,
    HALVES,
    RECORD,
    ConversationKey,
    draw,
    load_labels,
    measure,
)

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
    parser.add_argument("--half", choices=HALVES, action="append")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    labels = load_labels()
    if draw(all_conversations(options.data)) != [one.key for one in labels]:
        raise SystemExit("the labelled conversations are not those that the seed draws")
    halves = options.half or HALVES
    wanted = {one.key for one in labels if ("development" if one.number < DEVELOPMENT else "held_out") in halves}
    record = measure(checked_conversations(options.data, wanted), on=options.date, halves=halves)
    content = msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"
    sys.stdout.write(content.decode())
    if options.write:
        (_LABELS / RECORD).write_bytes(content)


if __name__ == "__main__":
    main()
