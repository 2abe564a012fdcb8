"""Scoring in pieces: an accumulator for training loops and shards, and the calling convention of Hugging Face."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Resampling, Scores, SystemEvidence, score_systems
from dialgauge.text import counted
from dialgauge.tracking.align import TurnCoverage
from dialgauge.tracking.counts import Counts, merge
from dialgauge.tracking.inputs import LooseState, states_dialogue
from dialgauge.tracking.measures import MeasureChoice, chosen_measures
from dialgauge.tracking.prepared_inputs import PreparedInputs, coverage_policy
from dialgauge.tracking.states import tracking_signature
from dialgauge.values import DEFAULT_PROFILE, Profile, profile_named


class Accumulator:
    """Counts of dialogues as they come: ``update`` with a batch, ``merge`` with another's, ``compute`` at any time.

    Every dialogue is given whole and once; which batch or shard it came in does not matter. The slot inventory is the
    profile's; for profiles without one it must be named, so that it does not depend on what has been seen so far.
    ``coverage`` is as in :func:`dialgauge.score`; turns that are on one side only are counted in ``missing_turns`` and
    ``extra_turns``.

    >>> import dialgauge
    >>> state = {"hotel": {"area": ("north",)}}
    >>> gold = dialgauge.Dialogue(id="d1", turns=(dialgauge.Turn(speaker="user", state=state),))
    >>> mine = dialgauge.Dialogue(id="d1", turns=(dialgauge.Turn(speaker="user", predicted=state),))
    >>> counts = dialgauge.Accumulator(measures="JGA")
    >>> counts.update([gold], [mine])
    >>> counts.compute()["JGA"]
    1.0
    """

    def __init__(
        self,
        *,
        measures: MeasureChoice = None,
        profile: str | Profile = DEFAULT_PROFILE,
        inventory: int | None = None,
        coverage: str = "intersection",
    ) -> None:
        self.profile = profile_named(profile) if isinstance(profile, str) else profile
        self.measures = chosen_measures(measures)
        self.coverage = coverage_policy(coverage)
        self._inventory = inventory
        if self.profile.inventory is None and inventory is None and any(m.card.name == "SA" for m in self.measures):
            raise DialgaugeError(
                f"the profile {self.profile.name} has no slot inventory: give inventory=NUMBER, or leave SA out"
            )
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._parts: list[Counts] = []
        self._covered: list[TurnCoverage] = []
        self._ids: list[str] = []
        self._gold_sum = 0
        self._roles = ""

    @property
    def missing_turns(self) -> int:
        """Gold turns without prediction."""
        return sum(coverage.missing_turns for coverage in self._covered)

    @property
    def extra_turns(self) -> int:
        """Predicted turns without gold."""
        return sum(coverage.extra_turns for coverage in self._covered)

    def update(self, gold: Sequence[Dialogue], predicted: Sequence[Dialogue]) -> None:
        """Add a batch of dialogues."""
        comparison = PreparedInputs(gold, {"batch": predicted}, coverage=self.coverage).comparison(
            "batch", self.profile
        )
        counts = comparison.counts
        for measure in self.measures:
            if why := measure.obstacle(counts):
                raise DialgaugeError(f"{measure} cannot be computed: {why}")
        if self._parts and self._parts[0].flags_only != counts.flags_only:
            raise DialgaugeError(
                "some batches have predicted states and some only correctness flags: score them separately"
            )
        self._parts.append(counts if self._inventory is None else replace(counts, inventory=self._inventory))
        self._covered.append(comparison.aligned.coverage)
        self._ids += comparison.aligned.ids
        self._gold_sum += comparison.gold_sum
        self._roles = comparison.signature["roles"]

    def merge(self, other: Accumulator) -> None:
        """Add what another accumulator has seen."""
        if self._settings() != other._settings():
            raise DialgaugeError(
                "only accumulators with the same measures, profile, inventory and coverage can be merged"
            )
        if self._parts and other._parts and self._parts[0].flags_only != other._parts[0].flags_only:
            raise DialgaugeError(
                "one accumulator has seen predicted states and the other only flags: score them separately"
            )
        self._parts += other._parts
        self._covered += other._covered
        self._ids += other._ids
        self._gold_sum += other._gold_sum
        self._roles = self._roles or other._roles

    def compute(self) -> dict[str, float]:
        """The value of every measure over everything seen; NaN where undefined."""
        counts = self._counts()
        return {str(measure): measure.value(counts) for measure in self.measures}

    def scores(self, how: Resampling | None = None) -> Scores:
        """The scores that :func:`dialgauge.score` gives for everything seen; with intervals where it is said how."""
        counts = self._counts()
        inventory = self._inventory or (counts.inventory if self.profile.inventory is not None else "")
        coverage = TurnCoverage.joined(self._covered)
        system = SystemEvidence(
            evidence=counts,
            measures=self.measures,
            dialogues=tuple(self._ids),
            signature=tracking_signature(coverage, self.profile, str(inventory), self._gold_sum, self._roles),
            coverage=coverage.counts(),
        )
        return score_systems([system], how)[0]

    @property
    def counts(self) -> Counts:
        """The counts of everything seen, such as any measure takes them."""
        return self._counts()

    def _settings(self) -> tuple[object, ...]:
        return [str(measure) for measure in self.measures], self.profile.label, self._inventory, self.coverage

    def _counts(self) -> Counts:
        if not self._parts:
            raise DialgaugeError("nothing has been added yet: call update first")
        self._parts = [merge(self._parts)]
        return self._parts[0]


def compute(
    *,
    predictions: Sequence[Sequence[LooseState]],
    references: Sequence[Sequence[LooseState]],
    measures: MeasureChoice = None,
    profile: str | Profile = DEFAULT_PROFILE,
    inventory: int | None = None,
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
    accumulator = Accumulator(measures=measures, profile=profile, inventory=inventory)
    accumulator.update(
        [states_dialogue(str(number), states, gold=True) for number, states in enumerate(references)],
        [states_dialogue(str(number), states, gold=False) for number, states in enumerate(predictions)],
    )
    return accumulator.compute()
