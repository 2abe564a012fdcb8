"""How runs of the lab are paired."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dialgauge.comparison import Pairing

if TYPE_CHECKING:
    from dialgauge.runs import Run

#: A run of the lab has some eighty scores; these say whether the job was done, and whose fault it was not.
_HEADLINES = ("Success(rules=strict)", "Success(rules=compat)", "JGA", "F1", "I-GCDF1", "R-GCDF1")
#: The table of a run that says which goal a dialogue is about.
_CONVERSATIONS = "conversations"
_WHO = frozenset({"user", "system", "user_code", "system_code", "user_files", "system_files"})


class InteractionPairing(Pairing):
    """Systems in front of the same users may differ in their model."""

    own_parts = frozenset({"model", "options", "fitted", "code"})


class LabPairing(Pairing):
    """Whoever talks, and how well they hear, may differ; goals, database, level and limits may not."""

    # The states that the user's words give depend on the system it talks to.
    own_parts = _WHO | {"gold", "turns"}
    trial_unit = "goal"

    def headlines(self, measures: Sequence[str]) -> Sequence[str]:
        """The measures shown first: of the task, the tracker and the user."""
        return [name for name in _HEADLINES if name in measures] or measures

    def trials(self, run: Run) -> Mapping[str, str]:
        """The goal of each dialogue; none of a run without that table, whose dialogues are goals of their own."""
        if _CONVERSATIONS not in run.tables:
            return {}
        return dict(run.table(_CONVERSATIONS).select("dialogue", "goal").rows())


PAIRING = InteractionPairing()
LAB_PAIRING = LabPairing()
