"""``dialgauge data check``: what the files of a source are, what they hold and what is wrong with them.

Dialogues stream: none is kept. A file that cannot be read is listed with its reason and does not hide the others.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from dialgauge import formats
from dialgauge.data.check_report import (
    KEPT,
    FileReport,
    Finding,
    FindingPlace,
    Findings,
    GoldCoverage,
    GroupReport,
    Report,
    ResourceReport,
    SlotReport,
    Unread,
)
from dialgauge.data.slots import MOST_SLOTS, NamedOntology, SlotInventory, best_ontology, compare
from dialgauge.dialogue import Dialogue, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted
from dialgauge.values import SPECIAL, map_problems

#: The states of a user turn.
_STATES = ("state", "predicted")
_DIALOGUE_FIELDS = tuple(sorted(formats.ALL_FIELDS & set(Dialogue.__struct_fields__)))
_TURN_FIELDS = tuple(sorted(formats.ALL_FIELDS & set(Turn.__struct_fields__)))
#: ``turns[3]``, or ``3`` where turns are named by their numbers.
_TURN = re.compile(r"(?:\w+\[)?(\d+)\b")
_IDS = ("dialogue_id", "id", "dialogue", "guid")


def check(
    sources: Sequence[str | Path],
    *,
    format: str | None = None,
    gold: str | Path | None = None,
    ontology: str | Path | None = None,
    limit: int = formats.DEFAULT_LIMIT,
    advance: Callable[[int], None] = lambda dialogues: None,
) -> Report:
    """Look at everything in the sources."""
    named = formats.format_named(format) if format else None
    given = [NamedOntology(os.fspath(ontology), formats.read_ontology(ontology, limit=limit))] if ontology else None
    expected = Gold(os.fspath(gold), limit=limit) if gold else None
    examination = _Examination(named, expected, advance)
    names = [os.fspath(source) for source in sources]
    for name in names:
        examination.look_at(name, examination.parts(name, limit))
    return examination.report(names, given)


def id_hash(identifier: str) -> int:
    """Eight bytes that stand for a dialogue's id, so that millions of them stay small."""
    digest = hashlib.blake2b(dialogue_key(identifier).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


class Gold:
    """The ids and numbers of user turns of a gold file."""

    def __init__(self, source: str, *, limit: int) -> None:
        self.name = source
        self.turns: dict[int, tuple[str, int]] = {}
        for part, _, dialogue in formats.stream(source, limit=limit):
            key = id_hash(dialogue.id)
            if key in self.turns:
                message = "this id was used before in the gold file; it must be one set with unique ids"
                raise DialgaugeError(message, file=part.name, dialogue=dialogue.id)
            self.turns[key] = dialogue.id, sum(1 for _ in dialogue.user_turns())

    def coverage(self, files: Sequence[_File]) -> GoldCoverage:
        """How much of the gold the dialogues of some files cover."""
        read = {key: turns for file in files for key, turns in file.ids.items()}
        both = [key for key in self.turns if key in read]
        missing = [name for key, (name, _) in self.turns.items() if key not in read]
        differing = [key for key in both if self.turns[key][1] != read[key]]
        return GoldCoverage(
            gold=self.name,
            files=[file.name for file in files],
            dialogues_expected=len(self.turns),
            dialogues_read=len(read),
            dialogues_matched=len(both),
            turns_expected=sum(turns for _, turns in self.turns.values()),
            turns_read=sum(read.values()),
            turns_matched=sum(min(self.turns[key][1], read[key]) for key in both),
            dialogues_missing=len(missing),
            missing=missing[:KEPT],
            dialogues_extra=len(read) - len(both),
            extra=[name for file in files for name in file.unknown_ids][:KEPT],
            dialogues_differing=len(differing),
            differing=[self._difference(key, read[key]) for key in differing[:KEPT]],
        )

    def _difference(self, key: int, read: int) -> FindingPlace:
        name, expected = self.turns[key]
        return FindingPlace(dialogue=name, detail=f"{expected} user turns expected, {read} read")


class _Examination:
    """What has come together so far."""

    def __init__(self, named: formats.AnyFormat | None, gold: Gold | None, advance: Callable[[int], None]) -> None:
        self.named, self.gold, self.advance = named, gold, advance
        self.groups: dict[tuple[str, str], _Group] = {}
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
        self.unread.append(Unread(file=name, why=error.sentence()))

    def _read(self, source: str, parts: list[formats.Part], chosen: formats.DialogueFormat) -> None:
        group = self.groups.get((source, chosen.name)) or _Group(source, chosen, self.gold, bool(self.named))
        current = parts[0]
        notes = _Tolerant(current.name)
        group.begin(current.name)
        try:
            for part, dialogue in chosen.read_parts(parts, notes):
                if part is not current:
                    current = part
                    group.begin(part.name)
                self.groups[source, chosen.name] = group
                group.add(dialogue)
                self.advance(1)
        finally:
            something = group.end(notes)
        if not something:
            raise notes.reason()
        for part in parts:
            for location in _repeated_keys(part):
                group.findings.add("repeated key", location)

    def _load(self, part: formats.Part, chosen: formats.ResourceFormat) -> None:
        resource = chosen.load(part, formats.Notes())
        if resource.kind == "document":
            self.documents.append(part.name)
            return
        findings = Findings()
        for problem in map_problems(resource.values) if resource.kind == "values" else ():
            under = f" under {', '.join(problem.values)}" if problem.values else ""
            findings.add(problem.kind, FindingPlace(detail=f"{problem.slot}: '{problem.text}'{under}"))
        self.resources.append(
            ResourceReport(
                file=part.name,
                format=chosen.name,
                kind=resource.kind,
                holds=_holds(resource),
                findings=findings.all(),
            )
        )
        if resource.ontology is not None:
            self.ontologies.append(NamedOntology(part.name, resource.ontology))

    def report(self, sources: list[str], given: list[NamedOntology] | None) -> Report:
        offered = self.ontologies if given is None else given
        return Report(
            sources=sources,
            groups=[group.report(offered) for group in self.groups.values()],
            resources=self.resources,
            documents=self.documents,
            unread=self.unread,
        )


def _goes_on(chosen: formats.AnyFormat) -> bool:
    return isinstance(chosen, formats.DialogueFormat) and chosen.goes_on


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


class _Tolerant(formats.Notes):
    """Notes of a reading that goes on after a dialogue that cannot be read, and keeps only the first few reasons."""

    def __init__(self, file: str) -> None:
        super().__init__(tolerant=True)
        self.lost = Finding.none_yet("unreadable dialogue")
        self._file = file
        self._first: DialgaugeError | None = None

    def refuse(self, error: DialgaugeError) -> None:
        self._first = self._first or error
        detail = error.message if error.line is None else f"line {error.line}: {error.message}"
        self.lost.add(FindingPlace(file=self._file, dialogue=error.dialogue or "", turn=error.turn, detail=detail))

    def reason(self) -> DialgaugeError:
        """Why the file gave nothing."""
        return self._first or DialgaugeError("it holds no dialogues", file=self._file)


# -- counting --------------------------------------------------------------------------------------------------------


class _File(Struct):
    """One file: its numbers, and per dialogue a hashed id with the number of user turns."""

    name: str
    dialogues: int = 0
    turns: int = 0
    user_turns: int = 0
    with_state: Counter[str] = field(default_factory=Counter)
    ids: dict[int, int] = {}
    unknown_ids: list[str] = []
    #: What trials of each task tell the user, hashed; None once they differ.
    instructions: dict[int, int | None] = {}
    #: User turns that lack a state, which is found only where their neighbours have it.
    lacking: dict[str, Finding] = field(
        default_factory=lambda: {state: Finding.none_yet(f"missing {state}") for state in _STATES}
    )


class _Group:
    """Files of one format in one source, in memory that does not grow with their number."""

    def __init__(self, source: str, chosen: formats.DialogueFormat, gold: Gold | None, named: bool) -> None:
        self.source, self.chosen, self.gold, self.named = source, chosen, gold, named
        self.files: list[_File] = []
        self.findings = Findings()
        self.fields: Counter[str] = Counter()
        self.domains: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.inventories = {name: SlotInventory() for name in _STATES}
        #: How a mapping, or the documented names, read the last file.
        self.read_as = ""

    def begin(self, name: str) -> None:
        """The dialogues that follow are of this file."""
        self.files.append(_File(name))

    def add(self, dialogue: Dialogue) -> None:
        """Count one dialogue of the current file."""
        file = self.files[-1]
        users = sum(turn.speaker == "user" for turn in dialogue.turns)
        file.dialogues += 1
        file.turns += len(dialogue.turns)
        file.user_turns += users
        for name in _DIALOGUE_FIELDS:
            self.fields[name] += bool(getattr(dialogue, name))
        self._identify(file, dialogue, users)
        self._look_at_outcome(file, dialogue)
        self._look_at_order(file, dialogue, users)
        domains = set(dialogue.domains)
        for number, turn in enumerate(dialogue.turns):
            self._look_at_turn(file, dialogue, number, turn, domains)
        for domain in sorted(domains):
            if domain in self.domains or len(self.domains) < MOST_SLOTS:
                self.domains[domain] += 1

    def _identify(self, file: _File, dialogue: Dialogue, users: int) -> None:
        key = id_hash(dialogue.id)
        if key in file.ids:
            self.findings.add("duplicate id", FindingPlace(file=file.name, dialogue=dialogue.id))
            return
        file.ids[key] = users
        if self.gold is not None and key not in self.gold.turns and len(file.unknown_ids) < KEPT:
            file.unknown_ids.append(dialogue.id)

    def _look_at_outcome(self, file: _File, dialogue: Dialogue) -> None:
        """Trials of one task that tell their users different things, and rewards that contradict their parts."""
        task = dialogue.ended.task
        if task and dialogue.instruction:
            key, instruction = hash(task), hash(tuple(" ".join(text.split()) for text in dialogue.instruction))
            if file.instructions.setdefault(key, instruction) not in (instruction, None):
                file.instructions[key] = None
                location = FindingPlace(file=file.name, dialogue=dialogue.id, detail=f"task {task}")
                self.findings.add("different instructions", location)
        if formats.contradicts_parts(dialogue.ended):
            self.findings.add("contradicted reward", FindingPlace(file=file.name, dialogue=dialogue.id))

    def _look_at_order(self, file: _File, dialogue: Dialogue, users: int) -> None:
        """Empty dialogues, and the same side speaking twice in a row where both sides are recorded."""
        location = FindingPlace(file=file.name, dialogue=dialogue.id)
        if not dialogue.turns:
            if dialogue.outcome is None:  # results alone have no turns
                self.findings.add("empty dialogue", location)
        elif not users:
            self.findings.add("no user turn", location)
        elif users < len(dialogue.turns):
            for number in range(1, len(dialogue.turns)):
                speaker = dialogue.turns[number].speaker
                if speaker == dialogue.turns[number - 1].speaker:
                    detail = f"{speaker} after {speaker}"
                    location = FindingPlace(file=file.name, dialogue=dialogue.id, turn=number, detail=detail)
                    self.findings.add("speaker repeats", location)

    def _look_at_turn(self, file: _File, dialogue: Dialogue, number: int, turn: Turn, domains: set[str]) -> None:
        for name in _TURN_FIELDS:
            self.fields[name] += getattr(turn, name) not in (None, "")
        if turn.speaker != "user":
            return
        for name, lacking in file.lacking.items():
            state = getattr(turn, name)
            if state is None:
                lacking.add(FindingPlace(file=file.name, dialogue=dialogue.id, turn=number))
            else:
                file.with_state[name] += 1
                self.inventories[name].add(state, dialogue.id, number)
                domains.update(state)

    def end(self, notes: _Tolerant) -> bool:
        """The current file is through: take the reader's notes, or forget a file that gave no dialogue at all."""
        if not self.files[-1].dialogues:
            self.files.pop()
            return False
        self.notes.update(notes.counts)
        if notes.reading is not None:
            self.read_as = notes.reading.line()
        if notes.lost.count:
            self.findings.merge(notes.lost)
        return True

    def report(self, offered: list[NamedOntology]) -> GroupReport:
        files = self.files
        gold, predicted = (self.inventories[name] for name in _STATES)
        ontology = best_ontology(annotated := gold if gold.slots else predicted, offered)
        outside = compare(annotated, ontology, self.findings) if ontology is not None else {}
        return GroupReport(
            source=self.source,
            format=self.chosen.name,
            kind=self.chosen.kind,
            summary=self.chosen.summary,
            tier=self._tier(),
            read_as=self.read_as,
            files=[
                FileReport(
                    file=file.name,
                    dialogues=file.dialogues,
                    turns=file.turns,
                    user_turns=file.user_turns,
                    states=file.with_state["state"],
                    predicted=file.with_state["predicted"],
                )
                for file in files
            ],
            dialogues=sum(file.dialogues for file in files),
            turns=sum(file.turns for file in files),
            user_turns=sum(file.user_turns for file in files),
            states=sum(file.with_state["state"] for file in files),
            predicted=sum(file.with_state["predicted"] for file in files),
            domains=dict(sorted(self.domains.items())),
            slots=_slot_reports(gold, predicted, outside),
            ontology=ontology.file if ontology is not None else None,
            fields={name: count for name, count in sorted(self.fields.items()) if count},
            notes=dict(sorted(self.notes.items())),
            findings=self._findings(),
            coverage=self._coverage(),
        )

    def _tier(self) -> str:
        """What told how the files are read."""
        if self.chosen.name in ("mapping", "mapped-log"):
            return "a mapping, named with --format" if self.named else "the mapping beside it"
        named = "named with --format" if self.named else "told by its content"
        return "documented names" if self.read_as else f"a named format, {named}"

    def _findings(self) -> list[Finding]:
        for file in self.files:
            for state, lacking in file.lacking.items():
                if file.with_state[state] and lacking.count:
                    self.findings.merge(lacking)
            predicts = self.chosen.kind == "predictions" and "predicted" in self.chosen.fields
            if predicts and not file.with_state["predicted"]:
                self.findings.add("no predicted states", FindingPlace(file=file.name))
        if shared := self._shared_ids():
            self.findings.add("id in several files", count=shared)
        if any(inventory.overflow for inventory in self.inventories.values()):
            self.findings.add("too many slots")
        return self.findings.all()

    def _shared_ids(self) -> int:
        """How many ids occur in more than one file."""
        counts = Counter(key for file in self.files for key in file.ids)
        return sum(count > 1 for count in counts.values())

    def _coverage(self) -> list[GoldCoverage]:
        """Against the gold file: all files together, or one by one when their ids overlap (several systems)."""
        if self.gold is None:
            return []
        sets = [[file] for file in self.files] if self._shared_ids() else [self.files]
        return [self.gold.coverage(together) for together in sets]


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


# -- keys that stand twice -------------------------------------------------------------------------------------------


class _Object(dict[str, Any]):
    """An object that remembers which of its keys came more than once."""

    repeated: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    made = _Object(pairs)
    if len(made) < len(pairs):
        names = [key for key, _ in pairs]
        made.repeated = tuple(key for key in made if names.count(key) > 1)
    return made


def _repeated_keys(part: formats.Part) -> Iterator[FindingPlace]:
    """Keys that stand twice in one JSON object of a dialogue, of which every parser keeps one without a word."""
    for number, (name, raw) in enumerate(_raw_dialogues(part), start=1):
        try:
            content = json.loads(raw, object_pairs_hook=_object)
        except (ValueError, RecursionError):
            continue  # no JSON, which is the reader's to say
        for path, key in _walk(content, ""):
            own = next((content[each] for each in _IDS if each in content), "") if isinstance(content, dict) else ""
            own = own if isinstance(own, str) else " ".join(map(str, own)) if isinstance(own, list) else ""
            turn = _TURN.match(path)
            yield FindingPlace(
                file=part.name,
                dialogue=name or own or f"number {number}",
                turn=int(turn[1]) if turn else None,
                detail=f"'{key}' in {path or 'the dialogue itself'}",
            )


def _walk(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Way and name of each key that stands twice."""
    if isinstance(value, _Object):
        yield from ((path, key) for key in value.repeated)
        for key, inner in value.items():
            yield from _walk(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _walk(inner, f"{path}[{position}]")


def _raw_dialogues(part: formats.Part) -> Iterator[tuple[str | None, bytes]]:
    """The dialogues of a JSON file or of JSON lines, undecoded, with their keys where they have any; none of others."""
    content = part.buffer()
    if formats.begins(content) not in (b"{", b"["):
        return
    if formats.are_lines(content):
        yield from ((None, bytes(line)) for _, line in formats.lines_of(content))
    elif formats.begins(content) == b"[":
        yield from ((None, bytes(raw)) for raw in formats.elements_of(content, part))
    else:
        pieces = [(key, bytes(raw)) for key, raw in formats.members_of(content, part)]
        keyed = all(raw[:1] in (b"{", b"[") for _, raw in pieces)
        yield from pieces if keyed else ((None, bytes(content)),)
