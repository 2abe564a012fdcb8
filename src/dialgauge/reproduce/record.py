"""Theirs beside ours: what a paper printed, what we compute, the difference, and a verdict.

A paper's module fills a :class:`Reproduction`; everything about printing it is here and in ``tables``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeAlias

from dialgauge.report.table import Table

Verdict: TypeAlias = Literal["exact", "holds", "within spread", "computed", "differs", "cannot be computed"]

EXACT: Verdict = "exact"
HOLDS: Verdict = "holds"
WITHIN: Verdict = "within spread"
COMPUTED: Verdict = "computed"
DIFFERS: Verdict = "differs"
IMPOSSIBLE: Verdict = "cannot be computed"
VERDICTS: tuple[Verdict, ...] = (EXACT, HOLDS, WITHIN, COMPUTED, DIFFERS, IMPOSSIBLE)

_NUMBER = re.compile(r"(?P<digits>[+-]?\d+(?:,\d{3})*(?:\.\d+)?)(?P<percent>\s*%)?")


@dataclass(frozen=True)
class Printed:
    """A number as printed: its value as a fraction, half a unit of its last digit, and how it is written."""

    text: str
    value: float
    half_unit: float
    digits: int
    percent: bool

    @classmethod
    def parse(cls, text: str) -> Printed:
        """From ``48.86%``, ``0.8759`` or ``7,368``.

        >>> Printed.parse("48.86%")
        Printed(text='48.86%', value=0.4886, half_unit=5e-05, digits=2, percent=True)
        """
        match = _NUMBER.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is no printed number")
        exact = Decimal(match["digits"].replace(",", ""))
        exponent = int(exact.as_tuple().exponent)
        scale = Decimal(100) if match["percent"] else Decimal(1)
        half = Decimal(1).scaleb(exponent) / scale / 2
        return cls(text, float(exact / scale), float(half), -exponent, bool(match["percent"]))

    def show(self, value: float, *, signed: bool = False) -> str:
        """A number of ours in the same unit, with one digit more."""
        scaled, unit = (100 * value, "%") if self.percent else (value, "")
        if not self.digits and not self.percent and float(scaled).is_integer():
            return f"{scaled:+.0f}" if signed else f"{scaled:.0f}"
        shown = f"{scaled:{'+' if signed else ''}.{self.digits + 1}f}"
        return f"{shown.replace('-', '+') if signed and not float(shown) else shown}{unit}"

    def agrees(self, value: float) -> bool:
        """Whether a number, rounded to as many digits, is the printed one; halves may round either way."""
        return abs(value - self.value) <= self.half_unit * (1 + 1e-9) + 1e-12


@dataclass(frozen=True)
class Item:
    """One line: where in the paper, what, theirs as printed, ours, and how they compare."""

    part: str
    what: str
    theirs: str
    ours: float | str | None
    verdict: Verdict
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Fresh:
    """How models are trained anew: with which seeds, in how many processes, and where their results are kept."""

    seeds: int = 3
    workers: int = 1
    #: The run store's folder; None is the usual one.
    store: Path | None = None
    #: Called with a line about the work.
    tell: Callable[[str], None] = lambda _: None


@dataclass
class Reproduction:
    """All lines of one paper, what is missing to do more, and the figures that can be drawn."""

    paper: str
    title: str
    citation: str
    missing: list[str] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    #: Part of the paper to tables of a shape of their own, which follow the part's lines.
    tables: dict[str, list[Table]] = field(default_factory=dict)
    #: Part of the paper to sentences about its lines.
    notes: dict[str, list[str]] = field(default_factory=dict)
    #: Name of the file to the function that makes the chart.
    figures: dict[str, Callable[[], Any]] = field(default_factory=dict)

    def printed(self, part: str, what: str, theirs: str, ours: float, *, note: str = "", why: str = "") -> None:
        """A number both have: exact when ours rounds to theirs; else ``why`` is the note, if there is no other."""
        number = Printed.parse(theirs)
        exact = number.agrees(ours)
        said = note if exact else note or why
        verdict = EXACT if exact else DIFFERS
        self.items.append(Item(part, what, theirs, ours, verdict, ours - number.value, note=said))

    def sampled(
        self, part: str, what: str, theirs: str, ours: float, interval: tuple[float, float], *, note: str = ""
    ) -> None:
        """A number we have on other dialogues than they: within spread when theirs lies in our interval."""
        number, (low, high) = Printed.parse(theirs), interval
        inside = low - number.half_unit <= number.value <= high + number.half_unit
        verdict = WITHIN if inside else DIFFERS
        self.items.append(Item(part, what, theirs, ours, verdict, ours - number.value, low, high, note))

    def text(self, part: str, what: str, theirs: str, ours: str, *, note: str = "") -> None:
        """Something that is no single number, such as a row of marks: exact when the texts are equal."""
        self.items.append(Item(part, what, theirs, ours, EXACT if theirs == ours else DIFFERS, note=note))

    def claim(self, part: str, what: str, *, holds: bool, ours: str, note: str = "") -> None:
        """A statement of the paper in words, and the numbers by which it holds or does not."""
        self.items.append(Item(part, what, "claimed", ours, HOLDS if holds else DIFFERS, note=note))

    def pictured(self, part: str, what: str, ours: str, *, note: str = "") -> None:
        """What the paper shows as a picture without numbers: ours stands alone."""
        self.items.append(Item(part, what, "a picture", ours, COMPUTED, note=note))

    def impossible(self, part: str, what: str, theirs: str, why: str) -> None:
        """What cannot be computed, and why."""
        self.items.append(Item(part, what, theirs, None, IMPOSSIBLE, note=why))

    def tally(self) -> dict[str, int]:
        """How many lines got which verdict."""
        return {verdict: sum(item.verdict == verdict for item in self.items) for verdict in VERDICTS}
