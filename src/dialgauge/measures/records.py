"""What a run keeps of a measurement, as plain records: scores, and how much of what was to be scored was scored."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, SupportsFloat

from msgspec import Struct, structs

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.measures.signature import Signature

if TYPE_CHECKING:
    from dialgauge.measures.base import Measure


#: Units: a SHARE is shown in percent; a RATIO may leave [0, 1], as SA does where a tracker predicts more spurious slots
#: than the inventory has.
SHARE, RATIO = "share", "ratio"


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
    single = (count.scored if count.expected is None else count.expected) == 1
    text = f"{count.scored or 0:,}{of} {unit.removesuffix('s') if single else unit} scored"
    return f"{text}, {count.failed:,} failed" if count.failed else text


class Score(Struct, frozen=True, kw_only=True):
    """The value of a measure, its interval where one was made, and all that is needed to read them.

    None is an undefined value, an interval that was not made, a side without a bound; unit and direction are None
    where nobody says them. A score is also a number, NaN where the value is undefined:

    >>> score = Score(value=0.5, low=0.41, high=0.59, signature="measure:JGA|dialogues:120|version:0.3.0")
    >>> float(score), f"{score:.3f}", 100 * score, score > 0.4, round(score, 1), score.n
    (0.5, '0.500', 50.0, True, 0.5, 120)

    For JSON and whatever else takes plain numbers only, give ``float(score)``.
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
        known = _defined(value)
        return cls(
            value=known,
            low=_defined(low),
            high=_defined(high),
            unit=RATIO if card.unit == SHARE and known is not None and not 0 <= known <= 1 else card.unit,
            higher_is_better=card.higher_is_better,
            lower=_defined(card.lower),
            upper=_defined(card.upper),
            signature=settled.long(),
        )

    @property
    def n(self) -> int | None:
        """How many dialogues it was computed from; None where its signature does not say it."""
        try:
            known = Signature.parse(self.signature)["dialogues"]
        except (DialgaugeError, KeyError):  # of a run that another version wrote
            return None
        return int(known) if known.isdecimal() else None

    def as_dict(self) -> dict[str, Any]:
        """For JSON: undefined is null."""
        return structs.asdict(self)

    def __float__(self) -> float:
        return math.nan if self.value is None else float(self.value)

    def __format__(self, form: str) -> str:
        return format(float(self), form) if form else str(self)

    def __str__(self) -> str:
        interval = "" if self.low is None or self.high is None else f" [{self.low:.4g}, {self.high:.4g}]"
        return f"{float(self):.4g}{interval}"

    def __repr__(self) -> str:
        return f"<Score {self}{'' if self.n is None else f', n={self.n:,}'}>"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Score):
            return structs.astuple(self) == structs.astuple(other)
        return float(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.value)

    def __lt__(self, other: SupportsFloat) -> bool:
        return float(self) < float(other)

    def __le__(self, other: SupportsFloat) -> bool:
        return float(self) <= float(other)

    def __gt__(self, other: SupportsFloat) -> bool:
        return float(self) > float(other)

    def __ge__(self, other: SupportsFloat) -> bool:
        return float(self) >= float(other)

    def __abs__(self) -> float:
        return abs(float(self))

    def __add__(self, other: SupportsFloat) -> float:
        return float(self) + float(other)

    def __sub__(self, other: SupportsFloat) -> float:
        return float(self) - float(other)

    def __rsub__(self, other: SupportsFloat) -> float:
        return float(other) - float(self)

    def __mul__(self, other: SupportsFloat) -> float:
        return float(self) * float(other)

    def __truediv__(self, other: SupportsFloat) -> float:
        return float(self) / float(other)

    def __rtruediv__(self, other: SupportsFloat) -> float:
        return float(other) / float(self)

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)

    __radd__, __rmul__ = __add__, __mul__


Real.register(Score)


def _defined(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
