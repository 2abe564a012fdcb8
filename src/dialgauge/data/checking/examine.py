"""``dialgauge data check``: what the files of a source are, what they hold and what is wrong with them.

Dialogues stream: none is kept. A file that cannot be read is listed with its reason and does not hide the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from dialgauge import formats
from dialgauge.data.checking.repeated_keys import repeated_keys
from dialgauge.data.checking.report import (
    DEFAULT_KEPT,
    FileReport,
    Finding,
    FindingPlace,
    Findings,
    Gold,
    GoldCoverage,
    GroupReport,
    Report,
    ResourceReport,
    SlotReport,
    Unread,
)
from dialgauge.data.checking.tally import FileTally, GroupTally, NamedOntology, SlotInventory, best_ontology, compare
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted
from dialgauge.values import SPECIAL, map_problems


def check(
    sources: Sequence[str | Path],
    *,
    format: str | None = None,
    gold: str | Path | None = None,
    ontology: str | Path | None = None,
    limit: int = formats.DEFAULT_LIMIT,
    kept: int = DEFAULT_KEPT,
    advance: Callable[[int], None] = lambda dialogues: None,
) -> Report:
    """Look at everything in the sources. ``kept`` places are named for each kind of finding."""
    named = formats.format_named(format) if format else None
    given = [NamedOntology(os.fspath(ontology), formats.read_ontology(ontology, limit=limit))] if ontology else None
    expected = Gold(os.fspath(gold), format=None, limit=limit) if gold else None
    examination = _Examination(named, expected, kept, advance)
    names = [os.fspath(source) for source in sources]
    for name in names:
        examination.look_at(name, examination.parts(name, limit))
    return examination.report(names, given)


class _Examination:
    """What has come together so far."""

    def __init__(
        self, named: formats.AnyFormat | None, gold: Gold | None, kept: int, advance: Callable[[int], None]
    ) -> None:
        self.named, self.gold, self.kept, self.advance = named, gold, kept, advance
        self.groups: dict[tuple[str, str], Group] = {}
        self.ontologies: list[NamedOntology] = []
        self.resources: list[ResourceReport] = []
        self.documents: list[str] = []
        self.unread: list[Unread] = []

    def parts(self, source: str, limit: int) -> Iterator[formats.Part]:
        """The parts of a source; files that cannot be opened are noted."""
        try:
            names = formats.expand(source)
        except DialgaugeError as error:
            self._not_read(source, error)
            return
        for name in names:
            try:
                parts = formats.parts_of(name, limit=limit)
            except DialgaugeError as error:
                self._not_read(name, error)
                continue
            yield from parts

    def look_at(self, source: str, parts: Iterable[formats.Part]) -> None:
        """Read all parts, whatever they are; together where a dialogue may go on in the next one."""
        for together, group in groupby(self._chosen(parts), key=lambda pair: _goes_on(pair[1])):
            held = list(group) if together else []
            for part, chosen in held[:1] or group:
                try:
                    if isinstance(chosen, formats.DialogueFormat):
                        self._read(source, [own for own, _ in held] or [part], chosen)
                    else:
                        self._load(part, chosen)
                except DialgaugeError as error:
                    self._not_read(error.file or part.name if together else part.name, error)

    def _chosen(self, parts: Iterable[formats.Part]) -> Iterator[tuple[formats.Part, formats.AnyFormat]]:
        for part in parts:
            try:
                chosen = self.named if self.named and not formats.is_document(part.stem) else formats.recognise(part)
            except DialgaugeError as error:
                self._not_read(part.name, error)
            else:
                yield part, chosen

    def _not_read(self, name: str, error: DialgaugeError) -> None:
        error.file = error.file if error.file != name else None
        self.unread.append(Unread(file=name, why=error.sentence(), example=error.example))

    def _read(self, source: str, parts: list[formats.Part], chosen: formats.DialogueFormat) -> None:
        group = self.groups.get((source, chosen.name))
        if group is None:
            group = Group(source, chosen, GroupTally(gold=self.gold, kept=self.kept), bool(self.named))
        current = parts[0]
        notes = Tolerant(current.name, self.kept)
        group.tally.begin(current.name)
        try:
            for part, dialogue in chosen.read_parts(parts, notes):
                if part is not current:
                    current = part
                    group.tally.begin(part.name)
                self.groups[source, chosen.name] = group
                group.tally.add(dialogue)
                self.advance(1)
        finally:
            something = group.end(notes)
        if not something:
            raise notes.reason()
        for file, repeated in ((each.name, repeated_key) for each in parts for repeated_key in repeated_keys(each)):
            detail = f"'{repeated.key}' in {repeated.path or 'the dialogue itself'}"
            location = FindingPlace(file=file, dialogue=repeated.dialogue, turn=repeated.turn, detail=detail)
            group.tally.findings.add("repeated key", location)

    def _load(self, part: formats.Part, chosen: formats.ResourceFormat) -> None:
        resource = chosen.load(part, formats.Notes())
        if resource.kind == "document":
            self.documents.append(part.name)
            return
        self.resources.append(
            ResourceReport(
                file=part.name,
                format=chosen.name,
                kind=resource.kind,
                holds=_holds(resource),
                findings=_map_findings(resource, self.kept),
            )
        )
        if resource.ontology is not None:
            self.ontologies.append(NamedOntology(part.name, resource.ontology))

    def report(self, sources: list[str], given: list[NamedOntology] | None) -> Report:
        offered = self.ontologies if given is None else given
        return Report(
            sources=sources,
            groups=[group.report(offered, self.gold, self.kept) for group in self.groups.values()],
            resources=self.resources,
            documents=self.documents,
            unread=self.unread,
        )


def _goes_on(chosen: formats.AnyFormat) -> bool:
    return isinstance(chosen, formats.DialogueFormat) and chosen.goes_on


def _map_findings(resource: formats.Resource, kept: int) -> list[Finding]:
    """What is odd in a canonical map."""
    findings = Findings(kept)
    for problem in map_problems(resource.values) if resource.kind == "values" else ():
        under = f" under {', '.join(problem.values)}" if problem.values else ""
        location = FindingPlace(detail=f"{problem.slot}: '{problem.text}'{under}")
        findings.add(problem.kind, location)
    return findings.all()


def _holds(resource: formats.Resource) -> str:
    """The content of a resource in a few words."""
    if resource.ontology is not None:
        slots = list(resource.ontology.slots())
        return f"{counted(len(resource.ontology.domains), 'domain')}, {counted(len(slots), 'slot')}"
    if resource.facts:
        entities = {fact.entity for fact in resource.facts}
        return f"{counted(len(resource.facts), 'fact')}, entities: {len(entities):,}"
    if resource.values:
        tables = [
            table for slot in resource.values.values() for table in ([slot] if SPECIAL in slot else slot.values())
        ]
        lists = [texts for table in tables for value, texts in table.items() if value != SPECIAL]
        forms = counted(sum(map(len, lists)), "way")
        return f"{counted(len(resource.values), 'slot')}, {counted(len(lists), 'value')}, {forms} of writing them"
    return counted(len(resource.texts), "line")


class Tolerant(formats.Notes):
    """Notes of a reading that goes on after a dialogue that cannot be read, and keeps only the first few reasons."""

    def __init__(self, file: str, kept: int) -> None:
        super().__init__(tolerant=True)
        self.lost = Finding.none_yet("unreadable dialogue")
        self._file, self._kept = file, kept
        self._first: DialgaugeError | None = None

    def refuse(self, error: DialgaugeError) -> None:
        self._first = self._first or error
        detail = error.message if error.line is None else f"line {error.line}: {error.message}"
        location = FindingPlace(file=self._file, dialogue=error.dialogue or "", turn=error.turn, detail=detail)
        self.lost.add(location, self._kept)

    def reason(self) -> DialgaugeError:
        """Why the file gave nothing."""
        return self._first or DialgaugeError("it holds no dialogues", file=self._file)


class Group:
    """Files of one format in one source: from the counts to the report on them."""

    def __init__(self, source: str, chosen: formats.DialogueFormat, tally: GroupTally, named: bool) -> None:
        self.source, self.chosen, self.tally, self.named = source, chosen, tally, named
        self.notes: dict[str, int] = {}
        #: How a mapping, or the documented names, read the last file.
        self.read_as = ""

    def end(self, notes: Tolerant) -> bool:
        """The current file is through: take the reader's notes, or forget a file that gave no dialogue at all."""
        if not self.tally.files[-1].dialogues:
            self.tally.files.pop()
            return False
        for what, count in notes.counts.items():
            self.notes[what] = self.notes.get(what, 0) + count
        if notes.reading is not None:
            self.read_as = notes.reading.line()
        if notes.lost.count:
            self.tally.findings.merge(notes.lost)
        return True

    def report(self, offered: list[NamedOntology], gold: Gold | None, kept: int) -> GroupReport:
        tally = self.tally
        files = tally.files
        coverage = self._coverage(gold, kept)
        outside, ontology = self._against(offered)
        return GroupReport(
            source=self.source,
            format=self.chosen.name,
            kind=self.chosen.kind,
            summary=self.chosen.summary,
            tier=self._tier(),
            read_as=self.read_as,
            files=[_file_report(file) for file in files],
            dialogues=sum(file.dialogues for file in files),
            turns=sum(file.turns for file in files),
            user_turns=sum(file.user_turns for file in files),
            states=sum(file.with_state["state"] for file in files),
            predicted=sum(file.with_state["predicted"] for file in files),
            domains=dict(sorted(tally.domains.items())),
            slots=_slot_reports(tally.inventories["state"], tally.inventories["predicted"], outside),
            ontology=ontology,
            fields={name: count for name, count in sorted(tally.fields.items()) if count},
            notes=dict(sorted(self.notes.items())),
            findings=self._findings(),
            coverage=coverage,
        )

    def _tier(self) -> str:
        """What told how the files are read."""
        if self.chosen.name in ("mapping", "mapped-log"):
            return "a mapping, named with --format" if self.named else "the mapping beside it"
        named = "named with --format" if self.named else "told by its content"
        return "documented names" if self.read_as else f"a named format, {named}"

    def _against(self, offered: list[NamedOntology]) -> tuple[dict[tuple[str, str], int], str | None]:
        """Values outside the best fitting ontology, of the annotated states or, where there are none, the predicted."""
        inventories = self.tally.inventories
        inventory = inventories["state"] if inventories["state"].slots else inventories["predicted"]
        chosen = best_ontology(inventory, offered)
        if chosen is None:
            return {}, None
        return compare(inventory, chosen, self.tally.findings), chosen.file

    def _findings(self) -> list[Finding]:
        findings = self.tally.findings
        for file in self.tally.files:
            for state, lacking in file.lacking.items():
                if file.with_state[state] and lacking.count:
                    findings.merge(lacking)
            if (
                self.chosen.kind == "predictions"
                and "predicted" in self.chosen.fields
                and not file.with_state["predicted"]
            ):
                findings.add("no predicted states", FindingPlace(file=file.name))
        if shared := self._shared_ids():
            findings.add("id in several files", count=shared)
        if any(inventory.overflow for inventory in self.tally.inventories.values()):
            findings.add("too many slots")
        return findings.all()

    def _shared_ids(self) -> int:
        """Ids that occur in more than one file."""
        seen: set[int] = set()
        shared: set[int] = set()
        for file in self.tally.files if len(self.tally.files) > 1 else ():
            shared.update(key for key in file.ids if key in seen)
            seen.update(file.ids)
        return len(shared)

    def _coverage(self, gold: Gold | None, kept: int) -> list[GoldCoverage]:
        """Against the gold file: all files together, or one by one when their ids overlap (several systems)."""
        files = self.tally.files
        if gold is None:
            return []
        sets = [[file] for file in files] if self._shared_ids() else [files]
        return [_cover(gold, together, kept) for together in sets]


def _cover(gold: Gold, files: list[FileTally], kept: int) -> GoldCoverage:
    read: dict[int, int] = {}
    for file in files:
        read.update(file.ids)
    strangers = [name for file in files for name in file.strangers]
    return gold.coverage([file.name for file in files], read, strangers, kept)


def _file_report(file: FileTally) -> FileReport:
    return FileReport(
        file=file.name,
        dialogues=file.dialogues,
        turns=file.turns,
        user_turns=file.user_turns,
        states=file.with_state["state"],
        predicted=file.with_state["predicted"],
    )


def _slot_reports(
    gold: SlotInventory, predicted: SlotInventory, outside: dict[tuple[str, str], int]
) -> list[SlotReport]:
    reports = []
    for key in sorted({*gold.slots, *predicted.slots}):
        ours, theirs = gold.slots.get(key), predicted.slots.get(key)
        reports.append(
            SlotReport(
                domain=key[0],
                slot=key[1],
                filled=ours.filled if ours else 0,
                values=len(ours.values) if ours else 0,
                predicted=theirs.filled if theirs else 0,
                predicted_values=len(theirs.values) if theirs else 0,
                outside=outside.get(key),
                more_values=bool((ours and ours.unkept) or (theirs and theirs.unkept)),
            )
        )
    return reports
