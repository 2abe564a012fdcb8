"""What ``dialgauge data check`` finds, as typed records and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.report import Cell, Column, Page, Table, Tone
from dialgauge.text import counted, some_of

#: Files, slots and findings that the screen shows; ``--json`` has all of them.
_SHOWN = 60
#: Places that are named for each kind of finding.
KEPT = 5


class FileReport(Struct, frozen=True, kw_only=True):
    """The numbers of one file; states are counted over user turns."""

    file: str
    dialogues: int
    turns: int
    user_turns: int
    states: int
    predicted: int


class SlotReport(Struct, frozen=True, kw_only=True):
    """A slot: turns that fill it and different values, annotated and predicted, and fillings outside the ontology.

    ``more_values`` says that there are more values than were kept; ``outside`` is ``None`` where any value is allowed.
    """

    domain: str
    slot: str
    filled: int
    values: int
    predicted: int
    predicted_values: int
    outside: int | None
    more_values: bool


class GroupReport(Struct, frozen=True, kw_only=True):
    """Files of one format in one source, taken together."""

    source: str
    format: str
    kind: str
    summary: str
    #: What told how the files are read, and in the words of a mapping how they were.
    tier: str
    read_as: str
    files: list[FileReport]
    dialogues: int
    turns: int
    user_turns: int
    states: int
    predicted: int
    domains: dict[str, int]
    slots: list[SlotReport]
    ontology: str | None
    fields: dict[str, int]
    notes: dict[str, int]
    findings: list[Finding]
    coverage: list[GoldCoverage]

    @property
    def incomplete(self) -> bool:
        """Did something come up that makes scores incomplete?"""
        return any(finding.severity == "problem" for finding in self.findings) or not all(
            coverage.complete for coverage in self.coverage
        )


class ResourceReport(Struct, frozen=True, kw_only=True):
    """A file that goes with dialogues."""

    file: str
    format: str
    kind: str
    holds: str
    #: What is worth knowing of it.
    findings: list[Finding] = []


class Unread(Struct, frozen=True, kw_only=True):
    """A file that could not be read, or not to its end, and why."""

    file: str
    why: str


class Report(Struct, frozen=True, kw_only=True):
    """Everything in the sources: dialogues by format, resources, documents, and what could not be read."""

    sources: list[str]
    groups: list[GroupReport]
    resources: list[ResourceReport]
    documents: list[str]
    unread: list[Unread]

    @property
    def files(self) -> int:
        """Every file that was looked at, each once."""
        read = {file.file for group in self.groups for file in group.files}
        others = {resource.file for resource in self.resources} | {unread.file for unread in self.unread}
        return len(read | others | set(self.documents))

    @property
    def exit_code(self) -> int:
        """0 sound, 1 problems that make scores incomplete, 2 nothing could be read."""
        if self.unread and not (self.groups or self.resources):
            return 2
        return 1 if self.unread or any(group.incomplete for group in self.groups) else 0


#: A *problem* makes scores incomplete or ambiguous; a *remark* is worth knowing and harms nothing.
Severity: TypeAlias = Literal["problem", "remark"]
#: Everything that can be found, and what is said of it.
FOUND: dict[str, tuple[Severity, str]] = {
    "unreadable dialogue": ("problem", "dialogues that cannot be read"),
    "duplicate id": (
        "problem",
        "dialogues whose id was used before in the same file (case and .json are ignored)",
    ),
    "empty dialogue": ("problem", "dialogues without turns"),
    "no user turn": ("problem", "dialogues without a user turn"),
    "missing state": ("problem", "user turns without an annotated state"),
    "missing predicted": ("problem", "user turns without a predicted state"),
    "repeated key": ("problem", "duplicate keys in one object: readers keep the last and drop the others"),
    "different instructions": ("problem", "tasks whose trials have different instructions (filed under another task?)"),
    "contradicted reward": ("problem", "rewards that are not what the parts stored with them give"),
    "too many slots": ("problem", "states use more slot names than can be counted"),
    "speaker repeats": ("remark", "turns of the same speaker as the turn before (is one missing?)"),
    "no predicted states": ("remark", "files of predictions without any predicted state"),
    "id in several files": (
        "remark",
        "ids that occur in more than one file: these are separate sets, name one at a time",
    ),
    "slot outside ontology": ("remark", "slots missing from the ontology"),
    "value outside ontology": ("remark", "distinct values missing from the ontology"),
    "shared": ("remark", "texts under several values of a slot: the value that stands first in the file is taken"),
    "unwritten": (
        "remark",
        "values that are not among their own texts: said as they are, they match only if near to another text",
    ),
    "empty": ("remark", "values without any text: they never match"),
}


class FindingPlace(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Where something is. Turns count from 0, user and system turns together."""

    file: str = ""
    dialogue: str = ""
    turn: int | None = None
    detail: str = ""

    def __str__(self) -> str:
        where = [f"dialogue {self.dialogue}"] if self.dialogue else []
        where += [f"turn {self.turn}"] if self.turn is not None else []
        text = ", ".join(where) or self.file
        return f"{text} ({self.detail})" if text and self.detail else text or self.detail


class Finding(Struct, kw_only=True):
    """One kind of problem or remark: a sentence, how often, and the first places."""

    kind: str
    severity: Severity
    message: str
    count: int = 0
    places: list[FindingPlace] = []

    @classmethod
    def none_yet(cls, kind: str) -> Finding:
        severity, message = FOUND[kind]
        return cls(kind=kind, severity=severity, message=message)

    def add(self, location: FindingPlace | None, count: int = 1) -> None:
        """Count it; its place is kept while there is room."""
        self.count += count
        if location is not None and len(self.places) < KEPT:
            self.places.append(location)

    def __str__(self) -> str:
        return f"{self.message}: {self.count:,}"


class Findings:
    """All kinds that came up, in the order they first did, counted; bounded in memory whatever the file holds."""

    def __init__(self) -> None:
        self._kinds: dict[str, Finding] = {}

    def add(self, kind: str, location: FindingPlace | None = None, *, count: int = 1) -> None:
        self._of(kind).add(location, count)

    def merge(self, other: Finding) -> None:
        """Add what was counted apart."""
        finding = self._of(other.kind)
        finding.count += other.count
        finding.places += other.places[: KEPT - len(finding.places)]

    def _of(self, kind: str) -> Finding:
        return self._kinds.setdefault(kind, Finding.none_yet(kind))

    def all(self) -> list[Finding]:
        """Problems first."""
        return sorted(self._kinds.values(), key=lambda finding: finding.severity != "problem")


class GoldCoverage(Struct, kw_only=True):
    """How much of a gold file a set of dialogues covers. Turns are user turns: the ones that carry states."""

    gold: str
    files: list[str]
    dialogues_expected: int = 0
    dialogues_read: int = 0
    dialogues_matched: int = 0
    turns_expected: int = 0
    turns_read: int = 0
    turns_matched: int = 0
    dialogues_missing: int = 0
    missing: list[str] = []
    dialogues_extra: int = 0
    extra: list[str] = []
    dialogues_differing: int = 0
    differing: list[FindingPlace] = []

    @property
    def complete(self) -> bool:
        """Everything expected is there."""
        return not (self.dialogues_missing or self.dialogues_differing)


# -- the page --------------------------------------------------------------------------------------------------------


def check_page(report: Report, answers: Sequence[str] = ()) -> Page:
    """The report as a page; ``answers`` are sentences about logs that say more than their files do."""
    tables: dict[str, Table] = {}
    for number, group in enumerate(report.groups, start=1):
        suffix = f" {number}" if len(report.groups) > 1 else ""
        tables |= {f"{name}{suffix}": table for name, table in _group_tables(group)}
    if report.resources:
        besides = tables["besides"] = Table("Besides the dialogues", ["file", "kind", "format", "holds"], first=_SHOWN)
        for item in report.resources:
            besides.add(short(item.file), item.kind, item.format, item.holds)
        for item in report.resources:
            if item.findings:
                tables[f"findings of {item.file}"] = _findings(item.findings)
    if report.unread:
        unread = tables["unread"] = Table("Not read, or only in part", ["file", "why"], first=_SHOWN)
        for each in report.unread:
            unread.add(each.file, each.why)
    documents = [f"Not data: {', '.join(short(name) for name in report.documents)}"] if report.documents else []
    return Page(title="Data", verdict=verdict(report), warnings=answers, tables=tables, notes=documents)


def verdict(report: Report) -> str:
    """One sentence: sound or not, and why."""
    problems = sum(f.severity == "problem" for group in report.groups for f in group.findings)
    uncovered = sum(not c.complete for group in report.groups for c in group.coverage)
    reasons = [f"{counted(problems, 'kind of problem', 'kinds of problems')}"] if problems else []
    reasons += [f"{counted(uncovered, 'set does', 'sets do')} not cover the gold file"] if uncovered else []
    reasons += [f"{counted(len(report.unread), 'file')} could not be read"] if report.unread else []
    noted = [part.findings for part in report.groups] + [part.findings for part in report.resources]
    remarks = sum(finding.severity == "remark" for findings in noted for finding in findings)
    sound = f"sound, with {counted(remarks, 'remark')}" if remarks else "sound"
    return f"{counted(report.files, 'file')}: {'; '.join(reasons) or sound}."


def short(name: str) -> str:
    """The last two pieces of a path: enough to tell files apart on the screen."""
    pieces = PurePath(name).parts
    return name if len(pieces) <= 2 else "/".join(pieces[-2:])


def _group_tables(group: GroupReport) -> Iterator[tuple[str, Table]]:
    yield "overview", _overview(group)
    if len(group.files) > 1:
        titles = ["file", "dialogues", "turns", "user turns", "with state", "with predicted state"]
        files = Table("Files", titles, first=_SHOWN)
        for file in group.files:
            counts = (file.dialogues, file.turns, file.user_turns, file.states, file.predicted)
            files.add(short(file.file), *counts)
        yield "files", files
    if group.slots:
        yield "slots", _slots(group)
    if group.coverage:
        yield "coverage", _coverage(group.coverage)
    if group.findings:
        yield "findings", _findings(group.findings)


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
    return some_of(items, _SHOWN) or "none"


def _slots(group: GroupReport) -> Table:
    columns = ["domain", "slot", "turns", "values", "predicted in turns", "predicted values", "outside the ontology"]
    table = Table("Slots: turns that fill them, and distinct values", columns, first=_SHOWN)
    for slot in sorted(group.slots, key=lambda s: (s.domain, -max(s.filled, s.predicted), s.slot)):
        told = [count or "" for count in (slot.filled, slot.values, slot.predicted, slot.predicted_values)]
        table.add(slot.domain, slot.slot, *told, "" if slot.outside is None else slot.outside)
    if any(slot.more_values for slot in group.slots):
        table.notes.append("There are more distinct values than counted here: too many to keep.")
    return table


def _coverage(sets: Sequence[GoldCoverage]) -> Table:
    """A row for each set, and below what keeps it from covering the gold file."""
    columns: list[str | Column] = [
        "set", "dialogues expected", Column("dialogues read", spare=1), "dialogues matched", "user turns expected",
        Column("user turns read", spare=2), "user turns matched",
    ]  # fmt: skip
    table = Table(f"Coverage of {short(sets[0].gold)}", columns)
    for each in sets:
        name = short(each.files[0]) if len(each.files) == 1 else f"{len(each.files):,} files together"
        dialogues = (each.dialogues_expected, each.dialogues_read, each.dialogues_matched)
        table.add(name, *dialogues, each.turns_expected, each.turns_read, each.turns_matched)
        table.notes += [f"{name}: {gap}" for gap in _gaps(each)]
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


def _findings(findings: Sequence[Finding]) -> Table:
    table = Table("Findings", ["finding", "count", "what", "for example"])
    for finding in findings:
        places = "; ".join(str(location) for location in finding.places)
        more = "; …" if places and finding.count > len(finding.places) else ""
        tone: Tone = "bad" if finding.severity == "problem" else "plain"
        table.add(Cell(finding.severity, tone=tone), finding.count, finding.message, places + more)
    return table
