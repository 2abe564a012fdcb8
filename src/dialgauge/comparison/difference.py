"""The difference of two systems on one measure, with its interval and its tests."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class Difference:
    """First minus second system on one measure. Undefined numbers are NaN.

    ``p`` is the p-value that decides: that of the randomisation, or of an amount the larger one of two tests.
    ``adjusted``, ``low`` and ``high`` hold for all pairs of systems together (step-down max-T); the interval excludes 0
    exactly where the difference is ``significant``. ``wins`` and ``losses`` are dialogues on which the first system is
    better and worse than the second, or higher and lower if the measure has no better direction.
    """

    first: str
    second: str
    measure: str
    difference: float
    low: float
    high: float
    error: float
    p: float
    p_randomisation: float
    adjusted: float
    wins: int
    ties: int
    losses: int
    significant: bool
    #: True if only the randomisation test is significant, and the test with one more unit is not.
    randomisation_alone: bool = False
    higher_is_better: bool | None = True

    def as_dict(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)} | {"better": self.better}

    @property
    def higher(self) -> str:
        """The system whose score is higher, significantly or not; of equal ones the second."""
        return self.first if self.difference > 0 else self.second

    @property
    def better(self) -> str | None:
        """The system whose score is better, significantly or not; of equal ones the second. None: nothing says it."""
        if self.higher_is_better is None:
            return None
        return self.first if (self.difference > 0) == self.higher_is_better and self.difference else self.second

    def turned(self) -> Difference:
        """The same difference seen from the other side: second minus first."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=0.0 - self.difference,
            low=0.0 - self.high,
            high=0.0 - self.low,
            wins=self.losses,
            losses=self.wins,
        )
