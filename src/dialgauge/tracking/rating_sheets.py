"""Preparing a human evaluation: sheets of sampled dialogues for people to read, and a table for their ratings.

A sheet has the layout of the FGA paper's own evaluation (format ``human-eval``), so what was rated can be scored again
from the sheets alone; the table is what ``score --ratings`` reads back. Ratings that stay empty count as not given.
"""

from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dialgauge.errors import DialgaugeError
from dialgauge.files import write_all
from dialgauge.tracking.worst import LINE, predicted_states, user_turns

if TYPE_CHECKING:
    from dialgauge.tracking.results import TrackedSystem

QUESTION = "Would you be satisfied with a system that understood you like this?"
SCALE = "0 = no, 1 = yes"
RATINGS = "ratings.csv"
_UNSAFE = re.compile(r"[^\w.-]")


def write_sheets(
    systems: Sequence[TrackedSystem],
    folder: str | Path,
    *,
    dialogues: int,
    raters: int = 3,
    seed: int = 0,
    question: str = QUESTION,
    scale: str = SCALE,
) -> list[Path]:
    """Draw dialogues by a seed, write a sheet for each and system, and ``ratings.csv`` to be filled in."""
    if raters < 1 or dialogues < 1:
        raise DialgaugeError("rating sheets need at least one dialogue and one rater")
    target = Path(folder)
    known = sorted(systems[0].run.table("dialogues")["dialogue"].to_list())
    drawn = sorted(random.Random(seed).sample(known, min(dialogues, len(known))))  # noqa: S311  no secret
    files: dict[Path, bytes] = {}
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(("dialogue", "system", "rater", "rating", "question", "scale", "sheet"))
    for system in systems:
        below = _UNSAFE.sub("_", system.name) if len(systems) > 1 else ""
        for dialogue in drawn:
            sheet = Path(below, f"{_UNSAFE.sub('_', dialogue)}.txt")
            files[target / sheet] = _sheet(system, dialogue).encode("utf-8", "backslashreplace")
            for rater in range(1, raters + 1):
                rows.writerow((dialogue, system.name, f"rater{rater}", "", question, scale, sheet))
    write_all({**files, target / RATINGS: table.getvalue().encode("utf-8", "backslashreplace")})
    return [*files, target / RATINGS]


def _sheet(system: TrackedSystem, dialogue: str) -> str:
    """One dialogue with what was said and, below each turn, what is right and what the system understood."""
    counts = system.counts
    said = user_turns(system.run, dialogue)
    lines = [f"Dialogue ID : {dialogue}", LINE]
    for row, (state, text) in predicted_states(system.run, dialogue).items():
        turn = int(counts.turn[row])
        reply, user = said[turn]
        lines += [f"Turn: {turn}", f"Sys : {reply}", f"Usr : {user.text or text}", ""]
        lines += [f"GT  : {_plain(user.state)}", f"PR  : {_plain(state)}", ""]
        lines += [f"Matched : {bool(counts.exact[row])}", "", LINE]
    return "\n".join(lines) + "\n"


def _plain(state: object) -> str:
    """A state as a Python literal with single values as texts, as those files have it."""
    if not isinstance(state, dict):
        return "{}"
    plain = {
        domain: {slot: _value(values) for slot, values in slots.items()}
        for domain, slots in state.items()
        if isinstance(slots, dict) and slots
    }
    return repr(plain)


def _value(values: object) -> object:
    if isinstance(values, str):
        return values
    several = [str(value) for value in values] if isinstance(values, Sequence) else [str(values)]
    return several[0] if len(several) == 1 else several
