"""Pages of checks of simulated users: each fault at its message, and how far each check looked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from dialgauge.presentation import (
    CHECKS,
    FAULT_KIND_WORDS,
    FAULTS,
    READ_FIRST,
    Badge,
    Breakdown,
    DialogueView,
    Facet,
    RunTables,
    ToolPages,
    kind_badges,
    worth_reading,
)

if TYPE_CHECKING:
    from dialgauge.dialogue import Dialogue
    from dialgauge.rendering import Table
    from dialgauge.runs import Run


class FaultsPages(ToolPages):
    """What simulated users got wrong; the conversations may be of any kind."""

    facets: Sequence[Facet] = (
        Facet("fault", "fault of the user", FAULTS, ("kind",), words=FAULT_KIND_WORDS),
        Facet(READ_FIRST, "read first", FAULTS, (), made=worth_reading),
        Facet("unchecked", "not checked for", CHECKS, ("kind",), only=("checked", "none"), words=FAULT_KIND_WORDS),
    )

    breakdowns = (Breakdown("Faults of the user", "fault", tone="warn", note="conversations with each"),)

    def columns(self, run: Run) -> list[str]:
        """Whether a conversation is free of faults that were found."""
        return [name for name in ("NoFaultFound",) if name in run.scores]

    def dialogue(self, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
        """The messages with their faults; the verdict is the conversation's own."""
        view = super().dialogue(library, run, dialogue)
        faults = library.rows(run, FAULTS, dialogue.id)
        success = dialogue.outcome.success if dialogue.outcome else None
        verdict = [] if success is None else [Badge("passed", "good") if success else Badge("failed", "bad")]
        checks = library.rows(run, CHECKS, dialogue.id)
        left = [row["kind"] for row in checks if row["checked"] == "none"]
        unseen = [Badge(f"not checked: {', '.join(map(str, left))}".replace("_", " "), "warn")] if left else []
        none = [] if faults or (left and len(left) == len(checks)) else [Badge("no fault found")]
        return replace(view, badges=[*verdict, *kind_badges(faults), *none, *unseen])

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """How often each fault was found, of how many conversations that were looked at."""
        return self.fault_tables(library, run)


PAGES = FaultsPages()
