"""The report of ``dialgauge data check`` as tables and sentences for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TypeAlias

from dialgauge.data.checking.report import FileReport, GoldCoverage, GroupReport, Report, ResourceReport
from dialgauge.rendering import Column, Table
from dialgauge.text import counted, some_of

#: Longer tables are cut on the screen; ``--json`` has everything.
MOST_ROWS = 60

_OUTSIDE = "outside the ontology"

Row: TypeAlias = tuple[str | int | None, ...]


def show(report: Report, foreign: int = 0) -> Iterator[Table | str]:
    """Tables and paragraphs in the order to print them; ``foreign`` conversations are not of their tasks."""
    for group in report.groups:
        yield from _group(group)
    if report.resources:
        rows = [(short(item.file), item.kind, item.format, item.holds) for item in report.resources]
        yield _cut("Besides the dialogues", ["file", "kind", "format", "holds"], rows)
        yield from (_findings(item) for item in report.resources if item.findings)
    if report.documents:
        yield f"Not data: {', '.join(short(name) for name in report.documents)}"
    if report.unread:
        yield _cut(
            "Not read, or only in part",
            ["file", "why"],
            [(item.file, item.why) for item in report.unread],
        )
    yield verdict(report, foreign)


def verdict(report: Report, foreign: int = 0) -> str:
    """One sentence: sound or not, and why."""
    problems = sum(f.severity == "problem" for group in report.groups for f in group.findings)
    uncovered = sum(not c.complete for group in report.groups for c in group.coverage)
    reasons = [
        text
        for text, count in (
            (counted(problems, "kind of problem", "kinds of problems"), problems),
            (counted(uncovered, "set does", "sets do") + " not cover the gold file", uncovered),
            (counted(len(report.unread), "file") + " could not be read", len(report.unread)),
            (counted(foreign, "conversation is", "conversations are") + " filed under another task (above)", foreign),
        )
        if count
    ]
    noted = [part.findings for part in report.groups] + [part.findings for part in report.resources]
    remarks = sum(finding.severity == "remark" for findings in noted for finding in findings)
    sound = f"sound, with {counted(remarks, 'remark')}" if remarks else "sound"
    return f"{counted(report.files, 'file')}: {'; '.join(reasons) or sound}."


def short(name: str) -> str:
    """The last two pieces of a path: enough to tell files apart on the screen."""
    pieces = PurePath(name).parts
    return name if len(pieces) <= 2 else "/".join(pieces[-2:])


def _group(group: GroupReport) -> Iterator[Table | str]:
    yield _overview(group)
    if len(group.files) > 1:
        titles = ["file", "dialogues", "turns", "user turns", "with state", "with predicted state"]
        yield _cut("Files", *_without_empty(titles, _file_rows(group.files)))
    if group.slots:
        yield _slots(group)
    if group.coverage:
        yield _coverage(group.coverage)
    if group.findings:
        yield _findings(group)


def _overview(group: GroupReport) -> Table:
    table = Table(f"{group.source}: {group.format}", ["what", "found"])
    table.add("format", f"{group.format} ({group.summary})")
    table.add("read by", group.tier)
    if group.read_as:
        table.add("read as", group.read_as)
    table.add("kind", _kind(group))
    table.add("dialogues", f"{group.dialogues:,}")
    table.add("turns", f"{group.turns:,}, {group.user_turns:,} of them by users")
    if group.domains:
        table.add("domains", _some([f"{name} ({count:,})" for name, count in group.domains.items()]))
    if group.slots:
        table.add("ontology", group.ontology or "none (name one with --ontology)")
    table.add("fields", _some([f"{name} ({count:,})" for name, count in group.fields.items()]))
    if group.notes:
        table.add("reader's notes", _some([f"{what} ({count:,})" for what, count in group.notes.items()]))
    return table


def _kind(group: GroupReport) -> str:
    states = [
        f"{words} states on {count:,} user turns"
        for words, count in (("annotated", group.states), ("predicted", group.predicted))
        if count
    ]
    both = "both " if len(states) == 2 else ""
    empty = "" if group.slots else ", all of them empty"
    return f"{group.kind}, with {both}{' and '.join(states)}{empty}" if states else f"{group.kind}, no states"


def _some(items: list[str]) -> str:
    return some_of(items, MOST_ROWS) or "none"


def _slots(group: GroupReport) -> Table:
    titles = ["domain", "slot", "turns", "values", "predicted in turns", "predicted values", _OUTSIDE]
    rows: list[Row] = [
        (s.domain, s.slot, s.filled, s.values, s.predicted, s.predicted_values, s.outside)
        for s in sorted(group.slots, key=lambda s: (s.domain, -max(s.filled, s.predicted), s.slot))
    ]
    table = _cut("Slots: turns that fill them, and distinct values", *_without_empty(titles, rows))
    if any(slot.more_values for slot in group.slots):
        table.notes.append("There are more distinct values than counted here: too many to keep.")
    return table


def _file_rows(files: Sequence[FileReport]) -> list[Row]:
    """A row for each file; the files inside one archive are one row."""
    together: dict[str, list[FileReport]] = {}
    for file in files:
        together.setdefault(file.file.split("!", 1)[0], []).append(file)
    rows: list[Row] = []
    for name, inside in together.items():
        label = short(inside[0].file) if len(inside) == 1 else f"{short(name)} ({len(inside):,} files inside)"
        counts = ([f.dialogues, f.turns, f.user_turns, f.states, f.predicted] for f in inside)
        rows.append((label, *map(sum, zip(*counts, strict=True))))
    return rows


def _without_empty(titles: Sequence[str], rows: Sequence[Row]) -> tuple[list[str], list[Row]]:
    """The table without number columns that say nothing: all zeros, except for what was really compared."""
    keep = [
        index
        for index in range(len(titles))
        if any(row[index] for row in rows)
        or (titles[index] == _OUTSIDE and any(row[index] is not None for row in rows))
    ]
    return [titles[column] for column in keep], [tuple(row[column] for column in keep) for row in rows]


def _cut(title: str, titles: Sequence[str], rows: Sequence[Row]) -> Table:
    table = Table(title, titles, rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        table.notes.append(f"… and {len(rows) - MOST_ROWS:,} more; --json FILE lists all.")
    return table


def _coverage(sets: Sequence[GoldCoverage]) -> Table:
    """A row for each set, and below what keeps it from covering the gold file."""
    titles: list[str | Column] = [
        Column("set", exact=True), "dialogues expected", Column("dialogues read", drop=1), "dialogues matched",
        "user turns expected", Column("user turns read", drop=2), "user turns matched",
    ]  # fmt: skip
    table = Table(f"Coverage of {short(sets[0].gold)}", titles)
    for gold_coverage in sets:
        name = (
            short(gold_coverage.files[0])
            if len(gold_coverage.files) == 1
            else f"{len(gold_coverage.files):,} files together"
        )
        table.add(
            name,
            *(gold_coverage.dialogues_expected, gold_coverage.dialogues_read, gold_coverage.dialogues_matched),
            *(gold_coverage.turns_expected, gold_coverage.turns_read, gold_coverage.turns_matched),
        )
        table.notes += [f"{name}: {gap}" for gap in _gaps(gold_coverage)]
    return table


def _gaps(coverage: GoldCoverage) -> Iterator[str]:
    for words, count, places in (
        ("missing", coverage.dialogues_missing, coverage.missing),
        ("not in the gold file", coverage.dialogues_extra, coverage.extra),
        ("with a different number of user turns", coverage.dialogues_differing, [str(p) for p in coverage.differing]),
    ):
        if count:
            more = ", …" if count > len(places) else ""
            yield f"{counted(count, 'dialogue')} {words}: {', '.join(places)}{more}"


def _findings(group: GroupReport | ResourceReport) -> Table:
    table = Table("Findings", ["", "count", "what", Column("for example", drop=1, exact=True)])
    examples = []
    for finding in group.findings:
        places = "; ".join(str(location) for location in finding.places)
        more = "; …" if places and finding.count > len(finding.places) else ""
        table.add(finding.severity, finding.count, finding.message, places + more)
        if places:
            examples.append(f"{finding.message}: {places}{more}")
    table.instead("for example", examples)
    return table
