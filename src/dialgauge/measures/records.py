"""What a run keeps of a measurement, as plain records: scores, and how much of what was to be scored was scored."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.measures.signature import Signature

if TYPE_CHECKING:
    from dialgauge.measures.base import Measure


class Count(Struct, frozen=True, kw_only=True):
    """How many units there should be, were read, were scored, and failed; None where nobody knows."""

    expected: int | None = None
    read: int | None = None
    scored: int | None = None
    failed: int | None = None

    @property
    def complete(self) -> bool:
        """Was everything scored that there should be?"""
        return self.expected is not None and self.scored == self.expected and not self.failed


class Coverage(Struct, frozen=True):
    """Counts by unit (``dialogues``, ``turns``, ``replies``), and the policy for what one side lacks, if any."""

    units: dict[str, Count] = {}
    policy: str = ""

    def __getitem__(self, unit: str) -> Count:
        if unit not in self.units:
            raise DialgaugeError(f"nothing is known about how many {unit} were scored.{nearest(unit, self.units)}")
        return self.units[unit]

    @property
    def complete(self) -> bool:
        """Was everything scored that there should be, in every unit?"""
        return all(count.complete for count in self.units.values())

    def sentence(self) -> str:
        """One line for people.

        >>> Coverage({"turns": Count(expected=1200, scored=1000, failed=2)}).sentence()
        '1,000 of 1,200 turns scored, 2 failed'
        """
        return "; ".join(_sentence(unit, count) for unit, count in self.units.items())


def _sentence(unit: str, count: Count) -> str:
    of = f" of {count.expected:,}" if count.expected is not None else ""
    text = f"{count.scored or 0:,}{of} {unit} scored"
    return f"{text}, {count.failed:,} failed" if count.failed else text


class Score(Struct, frozen=True, kw_only=True):
    """The value of a measure, its interval where one was made, and all that is needed to read them.

    None is an undefined value, an interval that was not made, a side without a bound; unit and direction are None
    where nobody says them.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    unit: str | None = None
    higher_is_better: bool | None = None
    lower: float | None = None
    upper: float | None = None
    #: In its long form; empty where nobody says it.
    signature: str = ""

    @classmethod
    def of(
        cls,
        measure: Measure[Any],
        value: float | None,
        low: float | None = None,
        high: float | None = None,
        signature: Signature | None = None,
    ) -> Score:
        """The score of a measure; NaN and infinite bounds become None, a signature without a measure gets it."""
        card, settled = measure.card, signature or Signature()
        if "measure" not in settled:
            settled = settled.with_(measure=measure.full())
        return cls(
            value=_defined(value),
            low=_defined(low),
            high=_defined(high),
            unit=card.unit,
            higher_is_better=card.higher_is_better,
            lower=_defined(card.lower),
            upper=_defined(card.upper),
            signature=settled.long(),
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON: undefined is null."""
        return structs.asdict(self)


def _defined(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
