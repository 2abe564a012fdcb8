"""What a paper says, as data: numbers, tables and sentences, each judged by SQL over evidence.

- part: Section 2.1
  says: a dialogue whose first turn is mispredicted very likely has a JGA of 0
  source: dialogues where not first_exact
  every: system
  share: exact_turns = 0
  more_than: 0.667
  means: "very likely: more than two thirds"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.report import Cell, Chart, Column, Number, Table
from dialgauge.reproduce.evidence import ClaimTables, NotComputable
from dialgauge.reproduce.reproduction import (
    CLAIMED,
    COMPUTED,
    DIFFERS,
    EXACT,
    HOLDS,
    IMPOSSIBLE,
    UNEXPLAINED,
    WITHIN,
    PrintedNumber,
    ReportedValue,
    Verdict,
    is_number,
)
from dialgauge.yaml_file import YamlDocument, read_yaml, shipped_yaml

TableName: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]*$")]
Side: TypeAlias = Literal["gold", "pred"]
#: What stands as theirs beside what only we have.
_OWN = "not in the paper"


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One sentence or number.

    ``source``   FROM clause: evidence tables, with joins and WHERE, so that it says which rows the claim is about
    ``printed``  the number or text as printed: exact if ``ours`` rounds to it, or is the same text
    ``share``    a condition on rows: holds if it is true of all, or of ``more_than`` such a share
    ``holds``    a condition over the whole source
    ``ours``     what is shown: an expression, or several by name. Alone, without judging: it is computed
    ``each``     a column: one line for each of its values
    ``every``    a column: one line; holds if it holds for each of its values
    ``means``    what "mostly" was taken to mean
    ``differs``  why ours is different, where that is known
    ``because``  why nothing here can judge it; where there is a source, why it has no case
    """

    part: str
    says: str
    source: str = ""
    printed: str = ""
    share: str = ""
    more_than: float | None = None
    of: str = ""
    holds: str = ""
    ours: str | dict[str, str] = ""
    each: str = ""
    every: str = ""
    means: str = ""
    differs: str = UNEXPLAINED
    because: str = ""
    #: A number between 0 and 1 that is no share, such as a correlation.
    plain: bool = False
    #: False for what could not come out otherwise: it holds by definition, or a setting was copied.
    counted: bool = True
    #: False for what the paper does not say.
    said: bool = True
    #: Judged a second time by what the paper prints.
    in_print: bool = False

    def __post_init__(self) -> None:
        judged = [name for name in ("printed", "share", "holds") if getattr(self, name)]
        if self.source and not judged and not self.ours:
            raise ValueError(f"'{self.says}' says nothing to judge: give printed, share, holds or ours")
        if self.source and len(judged) > 1:
            raise ValueError(f"'{self.says}' is judged in two ways: {' and '.join(judged)}")
        if self.source and self.printed and (not self.ours or not isinstance(self.ours, str) or self.every):
            raise ValueError(f"'{self.says}' compares what is printed with one expression: 'ours', without 'every'")
        if not self.source and not self.because:
            raise ValueError(f"'{self.says}' has no source; say in 'because' why nothing here can judge it")

    def query(self) -> str:
        """One SELECT, with a row for each group."""
        shown = {f"ours {name}": text for name, text in self._shown().items()}
        judged = {"holds": self.holds, "true of": self.share and f"count_if({self.share})"}
        columns = {**judged, **shown, "rows": "count(*)"}
        key = self.each or self.every
        listed = [f'({text}) as "{name}"' for name, text in columns.items() if text]
        grouped = f' group by ({key}) order by "key"' if key else ""
        return f"select {', '.join([*([f'({key}) as key'] if key else []), *listed])} from {self.source}{grouped}"  # noqa: S608

    def _shown(self) -> dict[str, str]:
        if isinstance(self.ours, str):
            return {"": self.ours} if self.ours else {}
        return self.ours


class Grid(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A printed table: a line for each cell.

    ``says``     what a line is called: "{row}, {col}"; ``part`` may name them, too
    ``rows``     row to its cells, as printed, under ``columns`` or by column
    ``printed``  instead: a query of row, col and printed
    ``ours``     a query of row, col and ours; maybe low and high, a note, and judged (false: it has no verdict)
    ``absent``   why a cell has none of ours
    ``differs``  why ours is different: for all, or by "row, column", row or column
    ``name``     as evidence it is a table with row, col, printed and value
    ``digits``   how many digits its numbers were rounded to, where some are printed with fewer ("100")
    """

    part: str
    says: str = "{row}, {col}"
    name: TableName | Literal[""] = ""
    columns: list[str] = []
    rows: dict[str, list[str] | dict[str, str]] = {}
    printed: str = ""
    ours: str = ""
    absent: str = "it cannot be computed here"
    differs: str | dict[str, str] = UNEXPLAINED
    note: str = ""
    digits: int | None = None
    plain: bool = False
    counted: bool = True

    def __post_init__(self) -> None:
        for row, cells in self.rows.items():
            if not isinstance(cells, dict) and len(cells) != len(self.columns):
                raise ValueError(f"{self.part}, {row}: {len(cells)} cells for {len(self.columns)} columns")

    def cells(self, evidence: ClaimTables) -> Iterator[tuple[str, str, str]]:
        """Row, column and what is printed there."""
        for row, cells in self.rows.items():
            pairs = cells.items() if isinstance(cells, dict) else zip(self.columns, cells, strict=True)
            yield from ((row, column, printed) for column, printed in pairs if printed)
        if self.printed:
            for cell in evidence.rows(self.printed):
                yield str(cell["row"]), str(cell["col"]), str(cell["printed"])


class Example(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A dialogue as printed: of each turn the gold and the predicted state, by ``domain-slot``.

    ``dialogue``  what it is called in the test set
    ``slots``     how many slots are predefined
    """

    turns: list[dict[Side, dict[str, str]]]
    dialogue: str = ""
    slots: int = 30


class Shown(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of ours that stands with a part of the paper, ``{part}`` in its query; ``chart`` draws some columns.

    The columns ``x low`` and ``x high`` are the interval of the column ``x``.
    """

    part: str
    title: str
    rows: str
    percent: list[str] = []
    digits: int = 3
    chart: Literal["bars", "intervals", "lines", "heat"] | None = None
    drawn: list[str] = []
    notes: list[str] = []


class Paper(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of claims. ``facts`` are small tables of its own, rows by name, for numbers that several claims name."""

    title: str
    citation: str = ""
    missing: list[str] = []
    facts: dict[TableName, list[dict[str, Any]]] = {}
    examples: dict[str, Example] = {}
    grids: list[Grid] = []
    claims: list[Claim] = []
    tables: list[Shown] = []
    notes: dict[str, list[str]] = {}


def load(file: str | Path) -> Paper:
    """The claims of a paper, from a file of anybody's."""
    return _paper(read_yaml(file))


def shipped(paper: str) -> Paper:
    """The claims of a paper that comes with dialgauge."""
    return _paper(shipped_yaml("dialgauge.reproduce", "papers", f"{paper}.yaml"))


def _paper(document: YamlDocument) -> Paper:
    return document.as_record(Paper, "a file of claims")


def shown_tables(paper: Paper, evidence: ClaimTables) -> dict[str, list[Table]]:
    """The tables that stand with the parts of a paper, as far as there is evidence for them."""
    tables: dict[str, list[Table]] = {}
    for shown in paper.tables:
        try:
            rows = _asked(evidence, shown.rows.replace("{part}", shown.part), shown.part, shown.title)
        except NotComputable:
            continue
        if rows:
            tables.setdefault(shown.part, []).append(_shown_table(shown, rows))
    return tables


def _shown_table(shown: Shown, rows: list[dict[str, Any]]) -> Table:
    ends = {name for name in rows[0] if name.endswith((" low", " high"))}
    names = [name for name in rows[0] if name not in ends]
    columns = [
        Column(name, Number(shown.digits if name not in shown.percent else 2, percent=name in shown.percent))
        for name in names
    ]
    chart = Chart(shown.chart, tuple(shown.drawn or names[1:])) if shown.chart else None
    table = Table(shown.title, columns, notes=shown.notes, chart=chart)
    for row in rows:
        table.add(*(Cell(row[name], low=row.get(f"{name} low"), high=row.get(f"{name} high")) for name in names))
    return table


def judge(paper: Paper, evidence: ClaimTables) -> list[ReportedValue]:
    """Every line of the paper."""
    in_print = evidence.in_print
    for evidence_tables in filter(None, (evidence, in_print)):
        _add_printed(paper, evidence_tables)
    lines = [line for grid in paper.grids for line in _grid(grid, evidence)]
    for claim in paper.claims:
        judged = list(_claim(claim, evidence))
        if claim.in_print and in_print is not None:
            judged = [_beside_print(line, claim, in_print) for line in judged]
        lines += judged
    return lines


def _add_printed(paper: Paper, evidence: ClaimTables) -> None:
    """What the file itself prints, as evidence."""
    import polars as pl

    for name, rows in paper.facts.items():
        try:
            evidence.add(name, pl.DataFrame(rows, infer_schema_length=None))
        except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
            raise DialgaugeError(f"the facts '{name}' are no table: {error}") from error
    for grid in paper.grids:
        if grid.name and grid.rows:
            cells = [(*cell, _value(cell[2])) for cell in grid.cells(evidence)]
            evidence.add(grid.name, pl.DataFrame(cells, schema=["row", "col", "printed", "value"], orient="row"))


def _value(printed: str) -> float:
    return PrintedNumber.parse(printed).value if is_number(printed) else float("nan")


def _asked(evidence: ClaimTables, query: str, part: str, what: str) -> list[dict[str, Any]]:
    try:
        return evidence.rows(query)
    except DialgaugeError as error:
        raise DialgaugeError(f"{part}, '{what}' cannot be judged: {error}") from error


def _claim(claim: Claim, evidence: ClaimTables) -> Iterator[ReportedValue]:
    """The lines of a claim: one, or one for each value of ``each``."""
    is_said = claim.said and bool(claim.holds or claim.share or claim.because)
    theirs = claim.printed or (CLAIMED if is_said else _OWN)
    lacking = ReportedValue(claim.part, claim.says, theirs, None, IMPOSSIBLE, why=claim.because, share=not claim.plain)
    if not claim.source:
        yield lacking
        return
    try:
        groups = _asked(evidence, claim.query(), claim.part, claim.says)
    except NotComputable as why:
        yield msgspec.structs.replace(lacking, why=str(why))
        return
    decided = [group for group in groups if group["rows"] and not _is_open(group)]
    if not decided and theirs == _OWN and not claim.because:
        return
    if not decided:
        yield msgspec.structs.replace(lacking, why=claim.because or "the evidence has no case of it")
    elif claim.each:
        for group in decided:
            suffix = f" ({group['key']})" if group["key"] else ""
            yield _judged(claim, f"{claim.says}{suffix}", theirs, [group])
    elif decided:
        yield _judged(claim, claim.says, theirs, decided)


def _is_open(group: Mapping[str, Any]) -> bool:
    """Whether the rows do not decide: SQL's answer is NULL."""
    return any(value is None for value in group.values())


def _judged(claim: Claim, what: str, theirs: str, groups: list[dict[str, Any]]) -> ReportedValue:
    """A line from one group of rows, or from several which must all hold."""
    if claim.printed and is_number(claim.printed):
        [group] = groups
        number = PrintedNumber.parse(claim.printed)
        ours = _number(group["ours "], what)
        line = compared(claim.part, what, number, ours, plain=claim.plain, why=claim.differs)
        return msgspec.structs.replace(line, note=claim.means, counted=claim.counted)
    texts = [_text(claim, group) for group in groups]
    shown = "; ".join(
        f"{group['key']}: {text}" if claim.every else text for group, text in zip(groups, texts, strict=True)
    )
    if claim.printed:
        verdict: Verdict = EXACT if claim.printed == shown else DIFFERS
    elif claim.holds or claim.share:
        broken = [group for group in groups if not _holds(claim, group)]
        verdict = DIFFERS if broken else HOLDS
    else:
        verdict = COMPUTED
    why = ""
    if verdict == DIFFERS:
        named = claim.every and claim.differs == UNEXPLAINED
        why = f"does not hold of {', '.join(str(group['key']) for group in broken)}" if named else claim.differs
    return ReportedValue(claim.part, what, theirs, shown, verdict, note=claim.means, why=why, counted=claim.counted)


def _holds(claim: Claim, group: Mapping[str, Any]) -> bool:
    if claim.holds:
        return bool(group["holds"])
    true, rows = group["true of"], group["rows"]
    return bool(true == rows if claim.more_than is None else true > claim.more_than * rows)


def _text(claim: Claim, group: Mapping[str, Any]) -> str:
    """What is shown of a group."""
    shown = [(name.removeprefix("ours "), value) for name, value in group.items() if name.startswith("ours ")]
    parts = [f"{name} {_shown(value, plain=claim.plain)}".lstrip() for name, value in shown]
    if claim.share:
        parts.insert(0, f"{group['true of']:,} of {group['rows']:,} {claim.of}".rstrip())
    return re.sub(r", (of [\d,.]+%?)(?=$|,)", r" \1", ", ".join(parts))


def _shown(value: Any, *, plain: bool) -> str:
    """A value of SQL: shares in percent, lists joined."""
    if isinstance(value, list):
        return ", ".join(_shown(item, plain=plain) for item in value)
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int) or (float(value).is_integer() and abs(value) > 1):
        return f"{value:,.0f}"
    return f"{float(value):.3f}".rstrip("0").rstrip(".") if plain or abs(value) > 1 else f"{float(value):.2%}"


def _beside_print(line: ReportedValue, claim: Claim, in_print: ClaimTables) -> ReportedValue:
    """The same line, with what the paper's own numbers say of it."""
    if line.verdict == IMPOSSIBLE:
        return line
    printed, *_ = _claim(claim, in_print)
    said = "in print it holds" if printed.verdict == HOLDS else f"in print it does not: {printed.ours}"
    return msgspec.structs.replace(line, note="; ".join(filter(None, [line.note, said])))


def _grid(grid: Grid, evidence: ClaimTables) -> Iterator[ReportedValue]:
    """A line for each printed cell."""
    lacking = grid.absent
    try:
        printed = list(grid.cells(evidence))
    except NotComputable as why:
        yield ReportedValue(grid.part, grid.says, "a table", None, IMPOSSIBLE, why=str(why))
        return
    ours: dict[tuple[str, str], dict[str, Any]] = {}
    try:
        rows = _asked(evidence, grid.ours, grid.part, grid.says) if grid.ours else []
        if rows and not {"row", "col", "ours"} <= rows[0].keys():
            raise DialgaugeError(f"{grid.part}, '{grid.says}': the query 'ours' gives row, col and ours")
        ours = {(str(cell["row"]), str(cell["col"])): cell for cell in rows}
    except NotComputable as why:
        lacking = str(why)
    for row, column, text in printed:
        part, what = (words.replace("{row}", row).replace("{col}", column) for words in (grid.part, grid.says))
        cell = ours.get((row, column), {})
        value = cell.get("ours")
        if value is None:
            yield ReportedValue(part, what, text, None, IMPOSSIBLE, why=lacking, share=not grid.plain)
            continue
        note, reason = cell.get("note") or grid.note, cell.get("differs") or _reason(grid, row, column)
        if not is_number(text) or cell.get("judged") is False:
            verdict: Verdict = EXACT if text == value else DIFFERS
            if cell.get("judged") is False:
                verdict = COMPUTED
            line = ReportedValue(part, what, text, value, verdict, why=reason if verdict == DIFFERS else "")
        else:
            number = PrintedNumber.parse(text, digits=grid.digits)
            ends = (cell["low"], cell["high"]) if cell.get("low") is not None else None
            line = compared(part, what, number, _number(value, what), ends, plain=grid.plain, why=reason)
        yield msgspec.structs.replace(line, note=note, counted=grid.counted)


def _number(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DialgaugeError(f"'{what}' is printed as a number, and ours is '{value}'") from None


def _reason(grid: Grid, row: str, column: str) -> str:
    if isinstance(grid.differs, str):
        return grid.differs
    keys = (f"{row}, {column}", row, column, "")
    return next((grid.differs[key] for key in keys if key in grid.differs), UNEXPLAINED)


def compared(
    part: str,
    what: str,
    number: PrintedNumber,
    ours: float,
    ends: tuple[float, float] | None = None,
    *,
    plain: bool = False,
    why: str = UNEXPLAINED,
) -> ReportedValue:
    """A printed number beside ours.

    Exact when ours rounds to it, or within spread when it lies in an interval of ours that has a width.
    """
    low, high = ends or (None, None)
    if low is not None and high is not None and low < high:
        inside = low - number.half_unit <= number.value <= high + number.half_unit
        verdict: Verdict = WITHIN if inside else DIFFERS
    else:
        low = high = None
        verdict = EXACT if number.agrees(ours) else DIFFERS
    return ReportedValue(
        part, what, number.text, ours, verdict, low, high,
        why=why if verdict == DIFFERS else "", share=not plain,
    )  # fmt: skip
