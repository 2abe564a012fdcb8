"""Gold scored against itself: below 100 under profiles whose rules change one side only, and said beside their scores.

TRADE corrects labels in gold alone, MultiWOZ_Evaluation drops ``dontcare`` from gold alone. A tracker that repeats the
gold file word by word is then marked wrong, so that such scores have a ceiling of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs

from dialgauge.measures import Measure
from dialgauge.text import Note
from dialgauge.tracking.states import StateComparison
from dialgauge.values import Profile

if TYPE_CHECKING:
    from dialgauge.tracking.prepared_inputs import PreparedInputs

#: Measure to value, of gold against itself; empty where gold is all right.
Ceiling = Mapping[str, float | None]


class Ceilings:
    """The ceilings of the systems of one study; systems that are scored on the same gold turns share one."""

    def __init__(self, study: PreparedInputs) -> None:
        self._study = study
        self._known: dict[tuple[str, int, bytes], StateComparison] = {}

    def of(self, name: str, profile: Profile, measures: Sequence[Measure[Any]]) -> dict[str, float]:
        """What gold scores against itself on a system's turns, if it is not all right."""
        system = self._study.systems[name]
        if profile.treats_sides_alike or system.gold is None or system.predicted.kind == "judged":
            return {}
        rows = system.aligned.gold_row
        key = (profile.label, id(system.gold), rows.tobytes())
        if key not in self._known:
            aligned = structs.replace(system.aligned, predicted_row=rows)
            self._known[key] = self._study.compared(system.gold, system.gold, aligned, profile)
        itself = self._known[key]
        if itself.counts.exact.all():
            return {}
        counts = itself.counts_with_slots() if any(measure.grouped for measure in measures) else itself.counts
        return {str(measure): measure.value(counts) for measure in measures}


def ceiling_sentence(profile: str, ceiling: Ceiling, shares: Mapping[str, bool]) -> Note:
    """What to say beside scores that cannot reach 100."""
    values = ", ".join(
        f"{name} {value:.2%}".removesuffix("%") if shares.get(name, True) else f"{name} {value:.4g}"
        for name, value in ceiling.items()
        if value is not None
    )
    told = f"Under {profile} gold scored against itself gets {values}, not 100: some of its rules change only one side."
    return Note("ceiling", told)
