"""Theirs beside ours: what a paper printed, what we compute, the difference, and a verdict.

A paper's module fills a :class:`Reproduction`; everything about printing it is here and in ``tables``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict, replace

from dialgauge._version import __version__
from dialgauge.rendering import Column, Table, markdown

Verdict: TypeAlias = Literal["exact", "holds", "within spread", "computed", "differs", "cannot be computed"]

EXACT: Verdict = "exact"
HOLDS: Verdict = "holds"
WITHIN: Verdict = "within spread"
COMPUTED: Verdict = "computed"
DIFFERS: Verdict = "differs"
IMPOSSIBLE: Verdict = "cannot be computed"
VERDICTS: tuple[Verdict, ...] = (EXACT, HOLDS, WITHIN, COMPUTED, DIFFERS, IMPOSSIBLE)

#: Said where a number differs and nothing is known of why.
UNEXPLAINED = "unexplained"

#: What stands as theirs beside a sentence; a narrow screen leaves it out where nothing else is in the column.
_CLAIMED = "claimed"
_HALF = 0.5
#: A reason that more lines than this share stands once, below their table.
_REPEATED = 2

_NUMBER = re.compile(r"(?P<digits>[+-]?\d+(?:,\d{3})*(?:\.\d+)?)(?P<percent>\s*%)?")


class PrintedNumber(Struct, frozen=True):
    """A number as printed: its value as a fraction, half a unit of its last digit, and how it is written."""

    text: str
    value: float
    half_unit: float
    digits: int
    percent: bool

    @property
    def is_fraction(self) -> bool:
        """Whether it is written as ``0.4948``: a share, unless whoever quotes it says otherwise."""
        return not self.percent and self.digits > 1 and 0 <= self.value <= 1

    def in_percent(self) -> PrintedNumber:
        """The same number as a percentage; what is no fraction stays as it is.

        >>> PrintedNumber.parse("0.8759").in_percent().text
        '87.59%'
        """
        if not self.is_fraction:
            return self
        digits = self.digits - 2
        return PrintedNumber(f"{100 * self.value:.{digits}f}%", self.value, self.half_unit, digits, percent=True)

    @classmethod
    def parse(cls, text: str, digits: int | None = None) -> PrintedNumber:
        """From ``48.86%``, ``0.8759`` or ``7,368``; ``digits`` after the point where more count than are written.

        >>> PrintedNumber.parse("48.86%")
        PrintedNumber(text='48.86%', value=0.4886, half_unit=5e-05, digits=2, percent=True)
        """
        match = _NUMBER.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is no printed number")
        exact = Decimal(match["digits"].replace(",", ""))
        exponent = min(int(exact.as_tuple().exponent), -(digits or 0))
        scale = Decimal(100) if match["percent"] else Decimal(1)
        half = Decimal(1).scaleb(exponent) / scale / 2
        return cls(text, float(exact / scale), float(half), -exponent, bool(match["percent"]))

    def show(self, value: float, *, signed: bool = False) -> str:
        """A number of ours in the same unit, with one digit more; a signed one is a difference, of shares in points."""
        scaled, unit = (100 * value, " pt" if signed else "%") if self.percent else (value, "")
        if not self.digits and not self.percent and float(scaled).is_integer():
            return f"{scaled:+.0f}" if signed else f"{scaled:.0f}"
        shown = f"{scaled:{'+' if signed else ''}.{self.digits + 1}f}"
        return f"{shown.replace('-', '+') if signed and not float(shown) else shown}{unit}"

    def agrees(self, value: float) -> bool:
        """Whether a number, rounded to as many digits, is the printed one; halves may round either way."""
        return abs(value - self.value) <= self.half_unit * (1 + 1e-9) + 1e-12


def is_number(text: str) -> bool:
    """Whether a printed text is one number."""
    return _NUMBER.fullmatch(text.strip()) is not None


class ReportedValue(Struct, frozen=True):
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
    #: False for what could not come out otherwise, such as a setting that was taken over.
    counted: bool = True
    #: False for a number between 0 and 1 that is no share, such as a correlation.
    share: bool = True


class Fresh(Struct, frozen=True):
    """How models are trained anew: with which seeds, in how many processes, and where their results are kept."""

    seeds: int = 3
    workers: int = 1
    #: The run store's folder; None is the usual one.
    store: Path | None = None
    #: By which preset of settings they learn.
    preset: str = "default"
    #: Called with a line about the work.
    tell: Callable[[str], None] = lambda _: None


class Reproduction(Struct):
    """All lines of one paper, what is missing to do more, and the figures that can be drawn."""

    paper: str
    title: str
    citation: str
    missing: list[str] = []
    #: The datasets that are missing, wholly or in part, as ``dialgauge data get`` names them.
    absent: list[str] = []
    items: list[ReportedValue] = []
    #: Part of the paper to tables of a shape of their own, which follow the part's lines.
    tables: dict[str, list[Table]] = {}
    #: Part of the paper to sentences about its lines.
    notes: dict[str, list[str]] = {}
    #: Name of the file to the function that makes the chart.
    figures: dict[str, Callable[[], Any]] = {}

    def lacks(self, dataset: str, what: str) -> None:
        """Files of a dataset that are not there, and would be computed from."""
        self.missing.append(f"{what} (dialgauge data get {dataset})")
        if dataset not in self.absent:
            self.absent.append(dataset)

    def printed(
        self,
        part: str,
        what: str,
        theirs: str,
        ours: float | None,
        *,
        note: str = "",
        why: str = UNEXPLAINED,
        share: bool = True,
        absent: str = "",
    ) -> None:
        """A number both have: exact when ours rounds to theirs; else ``why`` follows the note.

        0 beside 0 is not counted: whatever never succeeds agrees with everything that never does. Where there is none
        of ours, ``absent`` says why.
        """
        if ours is None:
            self.impossible(part, what, theirs, absent)
            return
        number = PrintedNumber.parse(theirs)
        self._add(
            ReportedValue(
                part,
                what,
                theirs,
                ours,
                EXACT if number.agrees(ours) else DIFFERS,
                ours - number.value,
                note=note,
                counted=_tells(number, ours),
                share=share,
            ),
            why,
        )

    def _add(self, item: ReportedValue, why: str) -> None:
        """A line; one that differs says why."""
        differs = item.verdict == DIFFERS
        self.items.append(replace(item, note="; ".join(filter(None, [item.note, why])) if differs else item.note))

    def sampled(
        self,
        part: str,
        what: str,
        theirs: str,
        ours: float,
        interval: tuple[float, float],
        *,
        note: str = "",
        why: str = UNEXPLAINED,
    ) -> None:
        """A number we have on other dialogues than they, or of several trainings: within spread when theirs lies in
        our interval. An interval without width is no spread: ours is judged as a number alone."""
        number, (low, high) = PrintedNumber.parse(theirs), interval
        if low == high:
            self.printed(part, what, theirs, ours, note=note, why=why)
            return
        inside = low - number.half_unit <= number.value <= high + number.half_unit
        verdict = WITHIN if inside else DIFFERS
        counted = _tells(number, ours)
        self._add(ReportedValue(part, what, theirs, ours, verdict, ours - number.value, low, high, note, counted), why)

    def text(self, part: str, what: str, theirs: str, ours: str, *, note: str = "", counted: bool = True) -> None:
        """Something that is no single number, such as a row of marks: exact when the texts are equal."""
        verdict = EXACT if theirs == ours else DIFFERS
        self._add(ReportedValue(part, what, theirs, ours, verdict, note=note, counted=counted), UNEXPLAINED)

    def claim(self, part: str, what: str, *, holds: bool, ours: str, note: str = "", why: str = UNEXPLAINED) -> None:
        """A statement of the paper in words, and the numbers by which it holds or does not; then ``why``."""
        self._add(ReportedValue(part, what, _CLAIMED, ours, HOLDS if holds else DIFFERS, note=note), why)

    def share(
        self,
        part: str,
        what: str,
        some: int,
        of: int,
        unit: str = "",
        *,
        more_than: float | None = None,
        note: str = "",
        why: str = UNEXPLAINED,
    ) -> None:
        """A statement that is true of so many cases: of all of them, or of more than a share, which the note names."""
        holds = some == of if more_than is None else some > more_than * of
        bound = "" if more_than is None else "more than half" if more_than == _HALF else f"more than {more_than:.0%}"
        noted = "; ".join(filter(None, [note, bound]))
        self.claim(part, what, holds=holds, ours=f"{some:,} of {of:,} {unit}".rstrip(), note=noted, why=why)

    def pictured(self, part: str, what: str, ours: str, *, note: str = "") -> None:
        """What the paper shows as a picture without numbers: ours stands alone."""
        self.items.append(ReportedValue(part, what, "a picture", ours, COMPUTED, note=note))

    def own(self, part: str, what: str, ours: float | str, *, theirs: str = "not in the paper", note: str = "") -> None:
        """What only we have: a system that the paper does not know, or a number that cannot stand beside theirs."""
        self.items.append(ReportedValue(part, what, theirs, ours, COMPUTED, note=note))

    def impossible(self, part: str, what: str, theirs: str, why: str, *, share: bool = True) -> None:
        self.items.append(ReportedValue(part, what, theirs, None, IMPOSSIBLE, note=why, share=share))

    def tally(self) -> dict[str, int]:
        """How many of the lines that count got which verdict."""
        return {verdict: sum(item.verdict == verdict for item in self.items if item.counted) for verdict in VERDICTS}

    def unjudged(self, claims: Iterable[Mapping[str, str]]) -> None:
        """Statements of the paper that no data here can judge: part, what and why, as our files have them."""
        for claim in claims:
            self.impossible(claim["part"], claim["what"], claim.get("theirs", _CLAIMED), claim["why"])

    @property
    def uncounted(self) -> int:
        """How many lines could not come out otherwise."""
        return sum(not item.counted for item in self.items)

    @property
    def is_empty(self) -> bool:
        """Whether there is no line with anything of ours."""
        return all(item.verdict == IMPOSSIBLE for item in self.items)


def _tells(theirs: PrintedNumber, ours: float) -> bool:
    return bool(theirs.value or ours)


# A reproduction as tables, Markdown and JSON. What is missing is said first.


def missing_table(reproduction: Reproduction) -> Table:
    """What would be needed to compute more."""
    return Table(f"{reproduction.title}: what is missing", ["missing"], [[line] for line in reproduction.missing])


def item_tables(reproduction: Reproduction) -> list[Table]:
    """The tables of every part of the paper, in its order."""
    return [table for tables in tables_by_part(reproduction).values() for table in tables]


def tables_by_part(reproduction: Reproduction) -> dict[str, list[Table]]:
    """Part of the paper to its lines as a table, with a summary below the last, and its tables of another shape.

    Tables come first, then figures, sections and appendices, each by its number.
    """
    parts: dict[str, list[ReportedValue]] = {}
    for item in sorted(reproduction.items, key=lambda item: _rank(item.part)):
        parts.setdefault(item.part, []).append(item)
    lines = {part: _table(part, items, reproduction.notes.get(part, ())) for part, items in parts.items()}
    if lines:
        list(lines.values())[-1].notes.append(summary(reproduction))
    return {part: [table, *reproduction.tables.get(part, ())] for part, table in lines.items()}


_PARTS = ("Table", "Figure", "Section", "Appendix")


def _rank(part: str) -> tuple[int, str, list[int], bool]:
    """Where a part stands: its kind, its number, and below it ``Table A3`` or ``Figure 4b`` by letter and number.

    >>> sorted(["Appendix A", "Section 3.1, map", "Section 3.1", "Table A3, X", "Table 10", "Table 2"], key=_rank)
    ['Table 2', 'Table 10', 'Table A3, X', 'Section 3.1', 'Section 3.1, map', 'Appendix A']
    """
    match = re.match(r"(?P<kind>[A-Z][a-z]+) (?P<letter>[A-Z]?)(?P<numbers>[\d.]*)", part)
    if match is None or match["kind"] not in _PARTS:
        return len(_PARTS), "", [], True
    numbers = [int(number) for number in match["numbers"].split(".") if number]
    return _PARTS.index(match["kind"]), match["letter"], numbers, match.end() < len(part)


def _table(part: str, items: list[ReportedValue], notes: Sequence[str]) -> Table:
    """The columns that no line fills are left out, so that the notes have room; a shared reason stands below."""
    reasons = Counter(item.note for item in items if item.verdict == IMPOSSIBLE)
    below = [reason for reason, lines in reasons.items() if lines > _REPEATED]
    beside = ["" if item.verdict == IMPOSSIBLE and item.note in below else item.note for item in items]
    lacking = [f"Cannot be computed ({reasons[reason]} lines): {reason}." for reason in below]
    numbers, noted = any(item.difference is not None for item in items), any(beside)
    claims = all(item.theirs == _CLAIMED for item in items)
    columns = [
        Column("what"),
        Column("theirs", align="right", drop=1 if claims else 0),
        Column("ours", align="right"),
        *([Column("difference", align="right")] if numbers else []),
        Column("verdict"),
        *([Column("note")] if noted else []),
    ]
    table = Table(part, columns, notes=[*notes, *lacking])
    for item, note in zip(items, beside, strict=True):
        theirs, ours, difference = _shown(item)
        table.add(
            item.what,
            theirs,
            ours,
            *([difference] if numbers else []),
            item.verdict,
            *([note or None] if noted else []),
        )
    return table


def _shown(item: ReportedValue) -> tuple[str, str | None, str | None]:
    """Theirs, ours and the difference: shares in percent, whatever they are printed as, others as printed."""
    printed = PrintedNumber.parse(item.theirs) if _NUMBER.fullmatch(item.theirs.strip()) else None
    if printed is not None and item.share:
        printed = printed.in_percent()
    theirs = item.theirs if printed is None else printed.text
    if printed is None or not isinstance(item.ours, float | int):
        return theirs, None if item.ours is None else str(item.ours), None
    ours = printed.show(item.ours)
    if item.low is not None and item.high is not None:
        ours += f" [{printed.show(item.low)}, {printed.show(item.high)}]"
    return theirs, ours, None if item.difference is None else printed.show(item.difference, signed=True)


def summary(reproduction: Reproduction) -> str:
    """How it went, in one sentence."""
    counts = [f"{count} {verdict}" for verdict, count in reproduction.tally().items() if count]
    left_out = (
        f" {reproduction.uncounted} more are shown but not counted, as they agree whatever is computed: both sides are "
        "0, or the number is a setting copied from the paper."
    )
    counted = len(reproduction.items) - reproduction.uncounted
    more = left_out if reproduction.uncounted else ""
    return f"{counted} lines: {', '.join(counts)}.{more} dialgauge {__version__}."


def as_markdown(reproduction: Reproduction) -> str:
    """A page: the paper, what is missing, every table."""
    lines = [f"# {markdown(reproduction.title)}", "", markdown(reproduction.citation), ""]
    if reproduction.missing:
        lines += ["## What is missing", "", *(f"- {markdown(line)}" for line in reproduction.missing), ""]
    return "\n".join(lines) + "\n" + "\n".join(table.render("markdown") for table in item_tables(reproduction))


def as_json(reproduction: Reproduction) -> dict[str, Any]:
    """Everything, for programs."""
    return {
        "paper": reproduction.paper,
        "title": reproduction.title,
        "citation": reproduction.citation,
        "missing": reproduction.missing,
        "tally": reproduction.tally(),
        "uncounted": reproduction.uncounted,
        "items": [asdict(item) for item in reproduction.items],
        "notes": reproduction.notes,
        "tables": {
            part: [{"title": table.title, "rows": table.records(), "notes": table.notes} for table in tables]
            for part, tables in reproduction.tables.items()
        },
        "figures": sorted(reproduction.figures),
        "version": __version__,
    }
