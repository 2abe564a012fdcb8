"""Is the right link blamed? Faults of known kinds are put into conversations of the town, or of other domains, and the
cause found for each failure is held against the truth.

    python benchmarks/blame_confusion.py [GOALS] [SEED] [LEVEL ...] [FOLDER ...]
    python benchmarks/blame_confusion.py 200 2 act ./benchmarks/domains/bike-shop ./benchmarks/domains/language-school

Prints the confusion matrices of ``docs/lab-results.md``: for agents that exchange acts (``act``) and for the same ones
that talk through text, NLG and NLU (``text``), without a channel and with ``mild`` on top. The seed is that of the
town, its goals and the conversations; 0 is the one that the rules were written with, so another is reported.
"""

from __future__ import annotations

import sys
from itertools import product

from dialgauge.agents import Level
from dialgauge.lab import CAUSE_WORDS, open_domain
from dialgauge.lab.blame.broken_links import CAUSES
from dialgauge.lab.blame.validation import TRUE_CAUSES, BlameConfusion, blame_confusion
from dialgauge.report import Column, Table
from dialgauge.worlds.domain import is_folder

GOALS, SEED = 1000, 2
LEVELS: list[Level] = ["act", "text"]


def main() -> None:
    """Print the matrices."""
    given = [int(text) for text in sys.argv[1:3]]
    goals, seed = given + [GOALS, SEED][len(given) :]
    folders = [word for word in sys.argv[1:] if is_folder(word)]
    for domain in folders or ["town"]:
        print_matrices(domain, goals, seed)


def print_matrices(domain: str, goals: int, seed: int) -> None:
    """The matrices of one domain: the town, or a folder."""
    town = open_domain(domain, count=goals, seed=seed)
    chosen: list[Level] = [level for level in LEVELS if level in sys.argv[3:]] or LEVELS
    for level, channel in product(chosen, ("clean", "mild")):
        rows = [blame_confusion(town, fault, channel=channel, seed=seed, level=level) for fault in TRUE_CAUSES]
        title = f"{town.name}, {goals} goals, seed {seed}, level {level}, channel {channel}: failures with one fault"
        tables = [matrix(rows, title), details(rows), *([doubles(rows)] if any(row.two_faults for row in rows) else [])]
        print(*(table.render("markdown") for table in tables), sep="\n", flush=True)


def matrix(rows: list[BlameConfusion], title: str) -> Table:
    """Truth by row, attributed by column."""
    used = [cause for cause in CAUSES if any(row.causes[cause] for row in rows)]
    table = Table(title, ["injected", "true cause", *(CAUSE_WORDS[cause] for cause in used), Column("right", digits=3)])
    for row in rows:
        table.add(row.fault, CAUSE_WORDS[TRUE_CAUSES[row.fault]], *(row.causes[cause] for cause in used), row.share)
    total = sum(row.causes.total() for row in rows)
    right = sum(row.causes[TRUE_CAUSES[row.fault]] for row in rows)
    table.notes.append(f"{right} of {total} right: {right / total:.3f}.")
    return table


def details(rows: list[BlameConfusion]) -> Table:
    """What each fault did, and how often that was found."""
    table = Table("What the faults did", ["injected", "held", "happened", "failed", "right of those with one fault"])
    for row in rows:
        kinds = sorted({what for what, _ in row.right})
        found = (f"{what} {row.right[what, True]}/{row.right[what, True] + row.right[what, False]}" for what in kinds)
        table.add(row.fault, row.held, row.happened, row.failed, ", ".join(found))
    return table


def doubles(rows: list[BlameConfusion]) -> Table:
    """Failures with two faults in the domain: which of them was named."""
    table = Table("Failures with two faults", ["injected", "injected named", "channel's named", "neither"])
    for row in rows:
        table.add(row.fault, *(row.two_faults[which] for which in ("injected", "channel", "neither")))
    return table


if __name__ == "__main__":
    main()
