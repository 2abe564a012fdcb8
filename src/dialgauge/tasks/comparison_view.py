"""What the tasks add to a comparison: the first response that differs, and the domains with other verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialgauge.comparison import ComparisonView, ItemDifference, TurnDivergence, dialogue_rows
from dialgauge.tasks.tables import VERDICTS

if TYPE_CHECKING:
    from dialgauge.runs import Run


class TasksView(ComparisonView):
    """Systems diverge at the first other response; shown are the verdicts that differ."""

    own_parts = frozenset({"domains", "states"})

    def divergence(self, first: Run, second: Run, dialogue: str) -> TurnDivergence | None:
        """Where the responses differ first; shown are the domains on which the verdicts differ, if any do."""
        said = super().divergence(first, second, dialogue)
        if said is None or any(VERDICTS not in run.tables for run in (first, second)):
            return said
        mine, theirs = (_verdicts(run, dialogue) for run in (first, second))
        items = tuple(
            ItemDifference(domain, None, mine.get(domain, "-"), theirs.get(domain, "-"))
            for domain in {**mine, **theirs}
            if mine.get(domain) != theirs.get(domain)
        )
        return TurnDivergence(said.turn, said.turns, items or said.items)


def _verdicts(run: Run, dialogue: str) -> dict[str, str]:
    rows = dialogue_rows(run, VERDICTS, dialogue).iter_rows(named=True)
    return {f"{row['rules']} {row['domain']}": row["reason"] or "done" for row in rows}


VIEW = TasksView()
