"""What the lab adds to a comparison of its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dialgauge.comparison import ComparisonView, TurnDivergence
from dialgauge.lab.sittings import AgentSpec
from dialgauge.measures import Signature

if TYPE_CHECKING:
    from dialgauge.runs import Run

#: A run of the lab has some eighty scores; these say whether the job was done, and whose fault it was not.
_HEADLINES = ("Success(rules=strict)", "Success(rules=compat)", "JGA", "F1", "I-GCDF1", "R-GCDF1")
#: The table of a run that says which goal a dialogue is about.
_CONVERSATIONS = "conversations"
_WHO = frozenset({"user", "system", "user_code", "system_code", "user_files", "system_files"})


class InteractionView(ComparisonView):
    """Two systems in front of the same users diverge at the first turn with another text, which is the default."""

    own_parts = frozenset({"model", "options", "fitted", "code"})


class LabView(ComparisonView):
    """Whoever talks, and how well they hear, may differ; goals, database, level and limits may not."""

    # The states that the user's words give depend on the system it talks to.
    own_parts = _WHO | {"gold", "turns"}
    # A system is measured before one user, and hears through one channel: before others it is another task.
    ranked_apart = frozenset({"user", "user_code", "user_files"})

    def ranked_parts(self, signature: Signature) -> dict[str, str]:
        """Also the channel through which the system hears, which is written beside its name."""
        channel = AgentSpec.parse(signature.get("system", "")).options.get("channel")
        return super().ranked_parts(signature) | ({} if channel is None else {"channel": channel})

    def headlines(self, measures: Sequence[str]) -> Sequence[str]:
        """Task, tracker and user."""
        return [name for name in _HEADLINES if name in measures] or measures

    def for_runs(self, runs: Sequence[Run]) -> ComparisonView:
        """Trials of one goal are not independent: where a run has some, goals are paired, each with all its trials.

        Goals of another town bear the same ids, and are never paired.
        """
        view = GOAL_VIEW if any(_has_trials(run) for run in runs) else self
        return view.of_same_units(runs)


class LabGoalsView(LabView):
    """Lab runs of several trials: a goal is the unit, as in the runs' own intervals."""

    unit = "goal"

    def for_runs(self, runs: Sequence[Run]) -> ComparisonView:
        """Itself: it was chosen for its runs."""
        return self

    def units(self, run: Run) -> Mapping[str, str]:
        """The goal of each trial."""
        return _goals(run)

    def divergence(self, first: Run, second: Run, dialogue: str) -> TurnDivergence | None:
        """Trials of one goal are different conversations: there is no turn to show."""
        return None


def _goals(run: Run) -> dict[str, str]:
    """The goal of each dialogue; nothing of a run without that table, whose dialogues are goals of their own."""
    if _CONVERSATIONS not in run.tables:
        return {}
    return dict(run.table(_CONVERSATIONS).select("dialogue", "goal").rows())


def _has_trials(run: Run) -> bool:
    goals = _goals(run)
    return len(set(goals.values())) < len(goals)


VIEW = InteractionView()
LAB_VIEW = LabView()
GOAL_VIEW = LabGoalsView()
