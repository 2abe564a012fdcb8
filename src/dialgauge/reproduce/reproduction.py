"""Theirs beside ours: what a paper printed, what we compute, and a verdict; and the page that shows it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.report import Cell, Column, Number, Page, Table
from dialgauge.text import counted

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
#: What stands as theirs beside a sentence.
CLAIMED = "claimed"
#: Lines of each table that a screen shows unasked.
_FIRST = 6
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

    def in_percent(self) -> PrintedNumber:
        """A share written as ``0.8759`` as a percentage; other numbers stay as they are.

        >>> PrintedNumber.parse("0.8759").in_percent().text
        '87.59%'
        """
        if self.percent or self.digits < 2 or not 0 <= self.value <= 1:
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
    low: float | None = None
    high: float | None = None
    #: What the line is about, or what "mostly" was taken to mean.
    note: str = ""
    #: Why ours is different, or why it cannot be computed.
    why: str = ""
    #: False for what could not come out otherwise: it holds by definition, or a setting was copied.
    counted: bool = True
    #: False for a number between 0 and 1 that is no share, such as a correlation.
    share: bool = True


class Reproduction(Struct):
    """All lines of one paper, what is missing to do more, and tables that stand with its parts."""

    paper: str
    title: str
    citation: str
    missing: list[str] = []
    #: The datasets that are missing, wholly or in part, as ``dialgauge data get`` names them.
    absent: list[str] = []
    lines: list[ReportedValue] = []
    #: Tables of another shape, by the part they belong to.
    tables: dict[str, list[Table]] = {}
    notes: dict[str, list[str]] = {}

    def tally(self) -> dict[str, int]:
        """How many of the lines that count got which verdict."""
        counts = Counter(line.verdict for line in self.lines if line.counted)
        return {verdict: counts[verdict] for verdict in VERDICTS}

    @property
    def is_empty(self) -> bool:
        """Whether no line that counts has anything of ours."""
        return all(line.verdict == IMPOSSIBLE for line in self.lines if line.counted)

    def parts(self) -> list[str]:
        """The parts of the paper that have lines or tables: tables, figures, sections, appendices, by number."""
        return sorted(dict.fromkeys([*(line.part for line in self.lines), *self.tables]), key=_rank)

    def summary(self) -> str:
        """How it went, in one sentence."""
        shown = [line for line in self.lines if line.counted]
        zeros = sum(line.verdict == EXACT and line.ours == 0 for line in shown)
        words: dict[str, str] = {EXACT: f"exact ({zeros} with value 0)"} if zeros else {}
        counts = ", ".join(f"{count} {words.get(verdict, verdict)}" for verdict, count in self.tally().items() if count)
        left = len(self.lines) - len(shown)
        more = f" Not counted: {left} with copied settings or true by definition." if left else ""
        return f"{self.title}: {counted(len(shown), 'line')}: {counts}.{more}"

    def page(self) -> Page:
        """One screen: what differs and why, and what cannot be computed."""
        groups: dict[tuple[str, str], list[ReportedValue]] = {}
        for line in sorted(self.lines, key=lambda line: _rank(line.part)):
            groups.setdefault((line.verdict, line.why), []).append(line)
        differs = Table("What differs", ["lines", "reason", "example"], first=_FIRST)
        absent = Table("What cannot be computed", ["lines", "reason"], first=_FIRST)
        for (verdict, why), lines in sorted(groups.items(), key=lambda group: -len(group[1])):
            if verdict == DIFFERS:
                differs.add(len(lines), why, f"{lines[0].part}: {lines[0].what}")
            elif verdict == IMPOSSIBLE:
                absent.add(len(lines), why)
        counts = Table(self.title, [*VERDICTS], [list(self.tally().values())])
        return Page(
            title=self.title,
            verdict=self.summary(),
            warnings=[f"missing: {line}" for line in self.missing],
            tables={"verdicts": counts, "differs": differs, "absent": absent},
            notes=[self.citation, "--all shows every line, --only 'Table 1' those of one part."],
        )

    def whole_page(self, only: Collection[str] = ()) -> Page:
        """Every line, part by part; or those of some parts, such as ``Table 1`` with ``Table 1, TRADE``."""
        parts = [part for part in self.parts() if not only or any(_within(part, name) for name in only)]
        for name in only:
            if not any(_within(part, name) for part in parts):
                raise DialgaugeError(f"{self.paper} has no part '{name}'.{nearest(name, self.parts())}")
        tables: dict[str, Table] = {}
        for part in parts:
            lines = [line for line in self.lines if line.part == part]
            shown = [_part_table(part, lines, self.notes.get(part, ()))] if lines else []
            for table in (*shown, *self.tables.get(part, ())):
                slug = _slug(table.title)
                tables[slug if slug and slug not in tables else f"{slug}-{len(tables)}".lstrip("-")] = table
        return Page(
            title=self.title,
            verdict=self.summary(),
            warnings=[f"missing: {line}" for line in self.missing],
            tables=tables,
            notes=[self.citation],
        )


_PARTS = ("Table", "Figure", "Section", "Appendix")


def _rank(part: str) -> tuple[int, str, list[int], str]:
    """Where a part stands: its kind, its number, and below it ``Table A3`` or ``Figure 4b`` by letter and number.

    >>> sorted(["Appendix A", "Section 3.1, map", "Section 3.1", "Table A3, X", "Table 10", "Table 2"], key=_rank)
    ['Table 2', 'Table 10', 'Table A3, X', 'Section 3.1', 'Section 3.1, map', 'Appendix A']
    """
    match = re.match(r"(?P<kind>[A-Z][a-z]+) (?P<letter>[A-Z]?)(?P<numbers>[\d.]*)", part)
    if match is None or match["kind"] not in _PARTS:
        return len(_PARTS), "", [], ""
    numbers = [int(number) for number in match["numbers"].split(".") if number]
    return _PARTS.index(match["kind"]), match["letter"], numbers, part[match.end() :]


def _within(part: str, name: str) -> bool:
    """``Table 1`` has ``Table 1, TRADE``, and not ``Table 10``."""
    return part == name or (part.startswith(name) and not part[len(name)].isalnum())


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _part_table(part: str, lines: list[ReportedValue], notes: Iterable[str]) -> Table:
    """The lines of a part; a reason that several lines share stands below."""
    reasons = Counter(line.why for line in lines if line.verdict == IMPOSSIBLE)
    below = [reason for reason, count in reasons.items() if count > _REPEATED]
    lacking = [f"Cannot be computed ({reasons[reason]} lines): {reason}." for reason in below]
    theirs = Column("theirs", spare=int(all(line.theirs == CLAIMED for line in lines)))
    table = Table(part, ["what", theirs, "ours", "verdict", "note"], notes=[*notes, *lacking])
    for line in lines:
        why = "" if line.verdict == IMPOSSIBLE and line.why in below else line.why
        table.add(line.what, *_cells(line), line.verdict, "; ".join(filter(None, [line.note, why])))
    return table


class _WithUnit(Number, frozen=True):
    """A number whose unit stands with it: lines of a part have different ones."""

    def text(self, value: float) -> str:
        return f"{super().text(value)}{'%' if self.percent else ''}"


def _cells(line: ReportedValue) -> tuple[Cell, Cell]:
    """Theirs and ours: shares in percent, whatever they are printed as, ours with one digit more."""
    if not is_number(line.theirs) or not isinstance(line.ours, float | int):
        return Cell(line.theirs), Cell(line.ours)
    printed = PrintedNumber.parse(line.theirs)
    printed = printed.in_percent() if line.share else printed
    ours = float(line.ours)
    whole = not printed.digits and not printed.percent and ours.is_integer()
    number = _WithUnit(digits=0 if whole else printed.digits + 1, percent=printed.percent)
    return Cell(printed.text), Cell(ours, low=line.low, high=line.high, number=number)
