"""Going through sources file by file and telling what they are, what they hold and what is wrong with them.

Dialogues stream: none is kept. A file that cannot be read is listed with its reason and does not hide the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from dialgauge.data.check.coverage import Gold
from dialgauge.data.check.findings import DEFAULT_KEPT
from dialgauge.data.check.group import Group, Tolerant
from dialgauge.data.check.report import Report, ResourceReport, Unread
from dialgauge.data.check.tally import GroupTally
from dialgauge.data.check.values import NamedOntology
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read_ontology
from dialgauge.formats.base import AnyFormat, DialogueFormat, Notes, Resource, ResourceFormat
from dialgauge.formats.document import is_document
from dialgauge.formats.registry import format_named, recognise
from dialgauge.formats.source import DEFAULT_LIMIT, Part, expand, parts_of
from dialgauge.wording import counted


def check(
    sources: Sequence[str | Path],
    *,
    format: str | None = None,
    gold: str | Path | None = None,
    ontology: str | Path | None = None,
    limit: int = DEFAULT_LIMIT,
    kept: int = DEFAULT_KEPT,
    advance: Callable[[int], None] = lambda dialogues: None,
) -> Report:
    """Look at everything in the sources. ``kept`` places are named for each kind of finding."""
    named = format_named(format) if format else None
    given = [NamedOntology(os.fspath(ontology), read_ontology(ontology, limit=limit))] if ontology else None
    expected = Gold(os.fspath(gold), format=None, limit=limit) if gold else None
    examination = _Examination(named, expected, kept, advance)
    names = [os.fspath(source) for source in sources]
    for name in names:
        for part in examination.parts(name, limit):
            examination.look_at(name, part)
    return examination.report(names, given)


class _Examination:
    """What has come together so far."""

    def __init__(self, named: AnyFormat | None, gold: Gold | None, kept: int, advance: Callable[[int], None]) -> None:
        self.named, self.gold, self.kept, self.advance = named, gold, kept, advance
        self.groups: dict[tuple[str, str], Group] = {}
        self.ontologies: list[NamedOntology] = []
        self.resources: list[ResourceReport] = []
        self.documents: list[str] = []
        self.unread: list[Unread] = []

    def parts(self, source: str, limit: int) -> Iterator[Part]:
        """The parts of a source; files that cannot be opened are noted."""
        try:
            names = expand(source)
        except DialgaugeError as error:
            self._not_read(source, error)
            return
        for name in names:
            try:
                parts = parts_of(name, limit=limit)
            except DialgaugeError as error:
                self._not_read(name, error)
                continue
            yield from parts

    def look_at(self, source: str, part: Part) -> None:
        """Read one part, whatever it is."""
        try:
            chosen = self.named if self.named and not is_document(part.stem) else recognise(part)
            if isinstance(chosen, DialogueFormat):
                self._read(source, part, chosen)
            else:
                self._load(part, chosen)
        except DialgaugeError as error:
            self._not_read(part.name, error)

    def _not_read(self, name: str, error: DialgaugeError) -> None:
        error.file = error.file if error.file != name else None
        self.unread.append(Unread(file=name, why=str(error)))

    def _read(self, source: str, part: Part, chosen: DialogueFormat) -> None:
        group = self.groups.get((source, chosen.name))
        if group is None:
            group = Group(source, chosen, GroupTally(gold=self.gold, kept=self.kept), bool(self.named))
        notes = Tolerant(part.name, self.kept)
        group.tally.begin(part.name)
        try:
            for dialogue in chosen.read(part, notes):
                self.groups[source, chosen.name] = group
                group.tally.add(dialogue)
                self.advance(1)
        finally:
            something = group.end(notes)
        if not something:
            raise notes.reason()

    def _load(self, part: Part, chosen: ResourceFormat) -> None:
        resource = chosen.load(part, Notes())
        if resource.kind == "document":
            self.documents.append(part.name)
            return
        self.resources.append(
            ResourceReport(file=part.name, format=chosen.name, kind=resource.kind, holds=_holds(resource))
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


def _holds(resource: Resource) -> str:
    """The content of a resource in a few words."""
    if resource.ontology is not None:
        slots = list(resource.ontology.slots())
        return f"{counted(len(resource.ontology.domains), 'domain')}, {counted(len(slots), 'slot')}"
    if resource.facts:
        entities = {fact.entity for fact in resource.facts}
        return f"{counted(len(resource.facts), 'fact')}, entities: {len(entities):,}"
    if resource.values:
        return f"values of {counted(len(resource.values), 'slot')}"
    if resource.kind == "acts":
        return f"acts of {counted(len(resource.texts), 'dialogue')}, not put on turns"
    return counted(len(resource.texts), "line")
