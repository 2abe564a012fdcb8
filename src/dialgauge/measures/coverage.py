"""How much of what was to be scored was scored, each number with its unit."""

from __future__ import annotations

from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest


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
