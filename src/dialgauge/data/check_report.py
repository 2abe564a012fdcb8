"""What ``dialgauge data check`` found, as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from dialgauge.data.checking import Finding, GroupReport, Report
from dialgauge.report import Cell, Page, Table, Tone
from dialgauge.text import counted, some_of

#: Files, slots and findings that the screen shows; ``--json`` has all of them.
_SHOWN = 60


def check_page(report: Report) -> Page:
    """The report as a page."""
    tables: dict[str, Table] = {}
    for number, group in enumerate(report.groups, start=1):
        suffix = f" {number}" if len(report.groups) > 1 else ""
        tables |= {f"{name}{suffix}": table for name, table in _group_tables(group).items()}
    if report.resources:
        besides = tables["besides"] = Table("Other files", ["file", "kind", "format", "holds"], first=_SHOWN)
        for item in report.resources:
            besides.add(_short(item.file), item.kind, item.format, item.holds)
            if item.findings:
                tables[f"findings of {item.file}"] = _findings(item.findings)
    if report.unread:
        unread = tables["unread"] = Table("Not read, or only in part", ["file", "why"], first=_SHOWN)
        for each in report.unread:
            unread.add(each.file, each.why)
    documents = [f"Not data: {', '.join(map(_short, report.documents))}"] if report.documents else []
    return Page(title="Data", verdict=_verdict(report), tables=tables, notes=documents)


def _verdict(report: Report) -> str:
    """One sentence: sound or not, and why."""
    found = [one for group in report.groups for one in group.findings]
    found += [one for resource in report.resources for one in resource.findings]
    problems = sum(one.severity == "problem" for one in found)
    reasons = [f"{counted(problems, 'kind of problem', 'kinds of problems')}"] if problems else []
    reasons += [f"{counted(len(report.unread), 'file')} could not be read"] if report.unread else []
    sound = f"no problems, {counted(len(found), 'remark')}" if found else "no problems"
    return f"{counted(report.files, 'file')}: {'; '.join(reasons) or sound}."


def _short(name: str) -> str:
    """The last two pieces of a path: enough to tell files apart on the screen."""
    pieces = PurePath(name).parts
    return name if len(pieces) <= 2 else "/".join(pieces[-2:])


def _group_tables(group: GroupReport) -> dict[str, Table]:
    tables = {"overview": _overview(group)}
    if len(group.files) > 1:
        titles = ["file", "dialogues", "turns", "user turns", "with state", "with predicted state"]
        files = tables["files"] = Table("Files", titles, first=_SHOWN)
        for file in group.files:
            counts = (file.dialogues, file.turns, file.user_turns, file.states, file.predicted)
            files.add(_short(file.file), *counts)
    if group.slots:
        columns = ["domain", "slot", "turns", "values", "predicted in turns", "predicted values"]
        slots = tables["slots"] = Table("Slots: turns that fill them, and distinct values", columns, first=_SHOWN)
        for slot in sorted(group.slots, key=lambda s: (s.domain, -max(s.filled, s.predicted), s.slot)):
            filled = (slot.filled, slot.values, slot.predicted, slot.predicted_values)
            slots.add(slot.domain, slot.slot, *(count or "" for count in filled))
    if group.findings:
        tables["findings"] = _findings(group.findings)
    return tables


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
        table.add("domains", _some([f"{name} ({count:,})" for name, count in sorted(group.domains.items())]))
    table.add("fields", _some([f"{name} ({count:,})" for name, count in group.fields.items()]))
    if group.notes:
        table.add("reader's notes", _some([f"{what} ({count:,})" for what, count in sorted(group.notes.items())]))
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
    return some_of(items, _SHOWN) or "none"


def _findings(findings: Sequence[Finding]) -> Table:
    table = Table("Findings", ["finding", "count", "what", "example"])
    for finding in findings:
        places = "; ".join(str(location) for location in finding.places)
        more = "; …" if places and finding.count > len(finding.places) else ""
        tone: Tone = "bad" if finding.severity == "problem" else "plain"
        table.add(Cell(finding.severity, tone=tone), finding.count, finding.message, places + more)
    return table
