"""The measures of agents in conversation, as cards. The evidence is :class:`Outcomes`: a unit is a conversation.

Those of blame stand beside what they measure, in ``blame/scores.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue
from dialgauge.lab.blame.scores import BLAME_CARDS
from dialgauge.measures import (
    Card,
    Count,
    Coverage,
    Measure,
    Resampling,
    Scores,
    Settings,
    Signature,
    SystemEvidence,
    UnitNumbers,
    Units,
    score_systems,
)


class Outcomes(Units):
    """How conversations ended."""

    def __init__(self, conversations: Sequence[Dialogue]) -> None:
        self.ids = tuple(conversation.id for conversation in conversations)
        self.dialogues = len(self.ids)
        self.dialogue = np.arange(self.dialogues)
        self._outcomes = [conversation.outcome for conversation in conversations]

    @cached_property
    def completed(self) -> NDArray[np.float64]:
        """Which were carried to the end."""
        return np.array(
            [outcome is not None and outcome.success is True for outcome in self._outcomes], dtype=np.float64
        )

    @cached_property
    def judged(self) -> NDArray[np.float64]:
        """Which can be judged: not those that a user ended without a verdict. A system that hangs up did not finish."""
        judged = (
            outcome is not None and (outcome.success is not None or outcome.ended_by != "user")
            for outcome in self._outcomes
        )
        return np.array(list(judged), dtype=np.float64)


def _completed(outcomes: Outcomes, settings: Settings) -> UnitNumbers:
    return outcomes.completed, outcomes.judged


COMPLETED = Card(
    name="completed",
    family="lab",
    title="completed conversations",
    summary="Share of the conversations that the system completed, going on from its own replies.",
    formula="completed conversations / conversations",
    source="dialgauge; the simulated user of the restaurant world ends a conversation at the first mistake",
    units=_completed,
)
CARDS: tuple[Card[Any], ...] = (COMPLETED, *BLAME_CARDS)


def score_conversations(
    conversations: Sequence[Dialogue], *, signature: Signature | None = None, seed: int = 0, resamples: int = 1000
) -> Scores:
    """The scores of conversations; intervals come from resampling them."""
    outcomes = Outcomes(conversations)
    judged = int(outcomes.judged.sum())
    count = Count(
        expected=outcomes.dialogues, read=outcomes.dialogues, scored=judged, failed=outcomes.dialogues - judged
    )
    system = SystemEvidence(
        evidence=outcomes,
        measures=[Measure(COMPLETED)],
        dialogues=outcomes.ids,
        signature=signature or Signature(),
        coverage=Coverage({"dialogues": count}),
    )
    return score_systems([system], Resampling(resamples, seed))[0]
