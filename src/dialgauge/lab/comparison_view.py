"""What the lab adds to a comparison of its runs."""

from __future__ import annotations

from collections.abc import Sequence

from dialgauge.comparison import ComparisonView

#: A run of the lab has some eighty scores; these say whether the job was done, and whose fault it was not.
_HEADLINES = ("Success(rules=strict)", "Success(rules=compat)", "JGA", "F1", "I-GCDF1", "R-GCDF1")
_WHO = frozenset({"user", "system", "user_code", "system_code", "user_files", "system_files"})


class InteractionView(ComparisonView):
    """Two systems in front of the same users diverge at the first turn with another text, which is the default."""

    own_parts = frozenset({"model", "options", "fitted", "code"})


class LabView(ComparisonView):
    """Whoever talks, and how well they hear, may differ; goals, database, level and limits may not."""

    # The states that the user's words give depend on the system it talks to.
    own_parts = _WHO | {"gold", "turns"}

    def headlines(self, measures: Sequence[str]) -> Sequence[str]:
        """Task, tracker and user."""
        return [name for name in _HEADLINES if name in measures] or measures


VIEW = InteractionView()
LAB_VIEW = LabView()
