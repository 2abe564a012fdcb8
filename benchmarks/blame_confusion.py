"""Is the right link blamed? Faults of known kinds are put into conversations of the town, or of other domains, and the
cause found for each failure is held against the truth.

    python benchmarks/blame_confusion.py [GOALS] [SEED] [LEVEL ...] [FOLDER ...]
    python benchmarks/blame_confusion.py 200 2 act ./benchmarks/domains/bike-shop ./benchmarks/domains/language-school

Prints the confusion matrices of ``docs/lab-results.md``: for agents that exchange acts (``act``) and for the same ones
that talk through text, NLG and NLU (``text``), without a channel and with ``mild`` on top. The seed is that of the
town, its goals and the conversations; 0 is the one that the rules were written with, so another is reported.

Counted are failed conversations in which the fault really happened. With a channel on top a conversation may have two
faults. Then the verdict on the domain that the fault befell counts, where that failed; if the channel damaged nothing
that was said about it, the injected fault is the only truth, and else the channel's is one too. Through text the errors
of the NLU are such damage.
"""

from __future__ import annotations

import sys
from collections import Counter
from itertools import product

from fault_injection import InjectedFault, injected_conversations
from faulty_systems import InjectedEvent, InjectedFaults
from msgspec import Struct

from dialgauge.agents import Level
from dialgauge.lab import (
    CAUSE_WORDS,
    ConversationBlame,
    LoadedDomain,
    blame_conversations,
    judged_conversations,
    open_domain,
)
from dialgauge.lab.blame import CAUSES, Cause
from dialgauge.report import Column, Number, Table, markdown_table

GOALS, SEED = 1000, 2
LEVELS: list[Level] = ["act", "text"]


TRUE_CAUSES: dict[InjectedFault, Cause] = {
    "forgetful user": "never_said",
    "deaf system": "said_not_heard",
    "ignoring policy": "heard_not_acted_on",
    "late policy": "heard_not_acted_on",
    "erring policy": "acted_on_wrong",
    "deaf user": "answered_not_heard",
    "refusing world": "refused",
    "breakdown": "infrastructure",
}


class BlameConfusion(Struct, frozen=True, kw_only=True):
    """What was blamed for the failures that one kind of fault led to."""

    fault: InjectedFault
    #: Conversations held, those in which the fault happened, and those of them that failed.
    held: int
    happened: int
    failed: int
    #: Failures with one fault by the cause that was found, and whether it is the true one by what the fault did.
    causes: Counter[str]
    right: Counter[tuple[str, bool]]
    #: Failures with two faults: the injected one was named, the channel's, or neither.
    two_faults: Counter[str]

    @property
    def share(self) -> float:
        """Of the failures with one fault, those blamed on the right cause."""
        total = self.causes.total()
        return self.causes[TRUE_CAUSES[self.fault]] / total if total else float("nan")


def main() -> None:
    """Print the matrices."""
    given = [int(text) for text in sys.argv[1:3]]
    goals, seed = given + [GOALS, SEED][len(given) :]
    folders = [word for word in sys.argv[1:] if "/" in word]
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
        print(*(markdown_table(table) for table in tables), sep="\n", flush=True)


def matrix(rows: list[BlameConfusion], title: str) -> Table:
    """Truth by row, attributed by column."""
    used = [cause for cause in CAUSES if any(row.causes[cause] for row in rows)]
    table = Table(
        title, ["injected", "true cause", *(CAUSE_WORDS[cause] for cause in used), Column("right", Number(3))]
    )
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


def blame_confusion(
    town: LoadedDomain, fault: InjectedFault, *, channel: str = "clean", seed: int = 0, level: Level = "act"
) -> BlameConfusion:
    """Hold the conversations, blame, and count."""
    held, ledger = injected_conversations(town, fault, channel=channel, seed=seed, level=level)
    judged = judged_conversations(held, town)
    blamed = blame_conversations(judged)
    failed = [blame for blame in blamed if blame.domains and blame.dialogue in ledger.events]
    causes: Counter[str] = Counter()
    right: Counter[tuple[str, bool]] = Counter()
    two_faults: Counter[str] = Counter()
    for failure in failed:
        event = ledger.events[failure.dialogue]
        domain = event.domain if event.domain in failure.domains else failure.first or ""
        cause, truth = failure.domains[domain].cause, TRUE_CAUSES[fault]
        others = _damage(ledger, failure, event, domain)
        if others:
            two_faults["injected" if cause == truth else "channel" if cause in others else "neither"] += 1
        else:
            causes[cause] += 1
            right[event.what, cause == truth] += 1
    return BlameConfusion(
        fault=fault,
        held=len(held),
        happened=len(ledger.events),
        failed=len(failed),
        causes=causes,
        right=right,
        two_faults=two_faults,
    )


def _damage(ledger: InjectedFaults, blame: ConversationBlame, event: InjectedEvent, domain: str) -> set[str]:
    """The causes that the channel gave reason for, in the domain that is looked at and the one the fault befell."""
    damaged = ledger.damaged.get(blame.dialogue, set())
    touched = {speaker for speaker, where in damaged if where in (domain, event.domain, "booking", "general")}
    return {"said_not_heard" if speaker == "user" else "answered_not_heard" for speaker in touched}


if __name__ == "__main__":
    main()
