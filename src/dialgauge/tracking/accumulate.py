"""Scoring in pieces: an accumulator for training loops, and the calling convention of Hugging Face."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError, choice
from dialgauge.measures import Measure, Resampling, Scores
from dialgauge.text import counted
from dialgauge.tracking.align import POLICIES
from dialgauge.tracking.inputs import LooseState, SystemInput, states_dialogue
from dialgauge.tracking.measures import MeasureChoice, chosen_measures
from dialgauge.tracking.prepared_inputs import PreparedInputs
from dialgauge.tracking.scoring import state_scores
from dialgauge.values import DEFAULT_PROFILE, Profile, profile_named


class Accumulator:
    """Dialogues as they come: ``update`` with a batch, ``merge`` with another's, ``compute`` at any time.

    Every dialogue is given whole and once; which batch or process it came in does not matter. ``coverage`` is as in
    :func:`dialgauge.score`.

    >>> import dialgauge
    >>> state = {"hotel": {"area": ("north",)}}
    >>> gold = dialgauge.Dialogue(id="d1", turns=(dialgauge.Turn(speaker="user", state=state),))
    >>> mine = dialgauge.Dialogue(id="d1", turns=(dialgauge.Turn(speaker="user", predicted=state),))
    >>> dialogues = dialgauge.Accumulator(measures="JGA")
    >>> dialogues.update([gold], [mine])
    >>> dialogues.compute()["JGA"]
    1.0
    """

    def __init__(
        self,
        *,
        measures: MeasureChoice = None,
        profile: str | Profile = DEFAULT_PROFILE,
        coverage: str = "intersection",
    ) -> None:
        self.profile = profile_named(profile) if isinstance(profile, str) else profile
        self.measures: list[Measure[Any]] = chosen_measures(measures)
        self.policy = choice(coverage, POLICIES, "coverage")
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._gold: list[Dialogue] = []
        self._predicted: list[Dialogue] = []

    def update(self, gold: Sequence[Dialogue], predicted: Sequence[Dialogue]) -> None:
        """Add a batch of dialogues."""
        self._gold += gold
        self._predicted += predicted

    def merge(self, other: Accumulator) -> None:
        """Add what another accumulator has seen."""
        if self._settings() != other._settings():
            raise DialgaugeError("only accumulators with the same measures, profile and coverage can be merged")
        self.update(other._gold, other._predicted)

    def compute(self) -> dict[str, float]:
        """The value of every measure over everything seen; NaN where undefined."""
        scores = self.scores()
        return {str(measure): float(scores[str(measure)]) for measure in self.measures}

    def scores(self, how: Resampling | None = None) -> Scores:
        """The scores that :func:`dialgauge.score` gives for everything seen; with intervals where it is said how."""
        if not self._gold and not self._predicted:
            raise DialgaugeError("nothing has been added yet: call update first")
        systems = [SystemInput("accumulated", self._predicted)]
        inputs = PreparedInputs(SystemInput("gold", self._gold), systems, coverage=self.policy)
        return state_scores(inputs, self.measures, self.profile, resampling=how)[0]

    def _settings(self) -> tuple[object, ...]:
        return [str(measure) for measure in self.measures], self.profile.label, self.policy


def compute(
    *,
    predictions: Sequence[Sequence[LooseState]],
    references: Sequence[Sequence[LooseState]],
    measures: MeasureChoice = None,
    profile: str | Profile = DEFAULT_PROFILE,
) -> dict[str, float]:
    """Scores in the manner of Hugging Face ``evaluate``: one list of states per dialogue on each side.

    >>> compute(predictions=[[{"hotel-area": "north"}]], references=[[{"hotel-area": "north"}]], measures="JGA")
    {'JGA': 1.0}
    """
    if len(predictions) != len(references):
        raise DialgaugeError(
            f"there are predictions for {counted(len(predictions), 'dialogue')}, but references for {len(references):,}"
        )
    for number, (given, wanted) in enumerate(zip(predictions, references, strict=True)):
        if len(given) != len(wanted):
            raise DialgaugeError(
                f"there are predictions for {counted(len(given), 'turn')}, but the reference has {len(wanted):,}",
                dialogue=str(number),
            )
    accumulator = Accumulator(measures=measures, profile=profile)
    accumulator.update(
        [states_dialogue(str(number), states, gold=True) for number, states in enumerate(references)],
        [states_dialogue(str(number), states, gold=False) for number, states in enumerate(predictions)],
    )
    return accumulator.compute()
