"""What the tasks add to a comparison: the first response that differs, and the domains with other verdicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from dialgauge.comparison import ComparisonView, ItemDifference, TurnDivergence, dialogue_rows
from dialgauge.runs import Run
from dialgauge.tasks.explain import VERDICTS
from dialgauge.tasks.measures import COMPANIONS
from dialgauge.tasks.reasons import REASONS, reason_texts

NOTHING = "-"


class TasksView(ComparisonView):
    """Systems diverge at the first other response; shown are the verdicts that differ."""

    cautions: ClassVar[Mapping[str, str]] = {
        "states": "With gold states only the policy is scored: do not rank it with end-to-end systems"
    }

    def uncounted(self, run: Run, measure: str) -> Collection[str]:
        """Under mwzeval a missing dialogue is not counted, and dropping hard ones would pay; grounded has it failed."""
        if "(rules=grounded)" in measure or measure in COMPANIONS or run.coverage["dialogues"].complete:
            return ()
        missing: list[str] = run.details.get("missing_dialogues", [])
        return missing

    def divergence(self, first: Run, second: Run, dialogue: str) -> TurnDivergence | None:
        """Where the responses differ first, or with the same words (and other states) the end of the dialogue; shown
        are the domains on which the verdicts differ, where any do."""
        diverged = super().divergence(first, second, dialogue)
        if any(not {VERDICTS, REASONS} <= run.tables.keys() for run in (first, second)):
            return diverged
        mine, theirs = (_verdicts(run, dialogue) for run in (first, second))
        items = tuple(
            ItemDifference(domain, None, mine.get(domain, NOTHING), theirs.get(domain, NOTHING))
            for domain in {**mine, **theirs}
            if mine.get(domain) != theirs.get(domain)
        )
        if diverged is not None:
            return TurnDivergence(diverged.turn, diverged.turns, items or diverged.items)
        last = max(0, dialogue_rows(first, "turns", dialogue).height - 1)
        return TurnDivergence(last, 0, items) if items else None


def _verdicts(run: Run, dialogue: str) -> dict[str, str]:
    whys = reason_texts(dialogue_rows(run, REASONS, dialogue).iter_rows(named=True))
    rows = dialogue_rows(run, VERDICTS, dialogue).select("dialogue", "domain", "rules").rows()
    return {f"{rules} {domain}": whys.get((name, domain, rules), "done") for name, domain, rules in rows}


VIEW = TasksView()
