"""``dialgauge data check``: what the files of a source are, what they hold and what is wrong with them.

Dialogues stream: none is kept. A file that cannot be read is listed with its reason and does not hide the others. How
predictions meet a gold file or an ontology is said by ``dialgauge score``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct, field

from dialgauge import formats
from dialgauge.dialogue import Dialogue, State, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted
from dialgauge.values import SPECIAL, map_problems

#: Places that are named for each kind of finding.
KEPT = 5
_DIALOGUE_FIELDS = tuple(sorted(formats.ALL_FIELDS & set(Dialogue.__struct_fields__)))
_TURN_FIELDS = tuple(sorted(formats.ALL_FIELDS & set(Turn.__struct_fields__)))

#: A *problem* makes scores incomplete or ambiguous; a *remark* is worth knowing and harms nothing.
Severity: TypeAlias = Literal["problem", "remark"]
#: Everything that can be found, and what is said of it.
FOUND: dict[str, tuple[Severity, str]] = {
    "unreadable dialogue": ("problem", "dialogues that cannot be read"),
    "duplicate id": ("problem", "dialogues whose id was used before in the same file (case and .json are ignored)"),
    "empty dialogue": ("problem", "dialogues without turns"),
    "no user turn": ("problem", "dialogues without a user turn"),
    "missing state": ("problem", "user turns without an annotated state"),
    "missing predicted": ("problem", "user turns without a predicted state"),
    "repeated key": ("problem", "duplicate keys in one object: readers keep the last and drop the others"),
    "different instructions": ("problem", "tasks whose trials have different instructions (filed under another task?)"),
    "contradicted reward": ("problem", "rewards that are not what the parts stored with them give"),
    "speaker repeats": ("remark", "turns of the same speaker as the turn before (is one missing?)"),
    "no verdict": ("remark", "files in which no conversation has a verdict, so that nothing can be scored as passed"),
    "no predicted states": ("remark", "files of predictions without any predicted state"),
    "id in several files": ("remark", "ids in more than one file: these are separate sets, name one at a time"),
    "shared": ("remark", "texts under several values of a slot: the value that stands first in the file is taken"),
    "unwritten": ("remark", "values that are not among their own texts: they match only if near to another text"),
    "empty": ("remark", "values without any text: they never match"),
}


class FindingPlace(Struct, frozen=True, kw_only=True):
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


class Finding(Struct):
    """One kind of problem or remark: how often, and the first places."""

    kind: str
    count: int = 0
    places: list[FindingPlace] = []

    @property
    def severity(self) -> Severity:
        return FOUND[self.kind][0]

    @property
    def message(self) -> str:
        return FOUND[self.kind][1]

    def add(self, place: FindingPlace) -> None:
        """Count it; its place is kept while there is room."""
        self.count += 1
        if len(self.places) < KEPT:
            self.places.append(place)


class Findings(Struct):
    """All kinds that came up, in the order they first did."""

    kinds: dict[str, Finding] = {}

    def add(self, kind: str, place: FindingPlace) -> None:
        self.kinds.setdefault(kind, Finding(kind)).add(place)

    def all(self) -> list[Finding]:
        """Problems first."""
        return sorted(self.kinds.values(), key=lambda finding: finding.severity != "problem")


class SlotReport(Struct):
    """A slot: the turns that fill it and its different values, annotated and predicted."""

    domain: str
    slot: str
    filled: int = 0
    values: int = 0
    predicted: int = 0
    predicted_values: int = 0


class FileReport(Struct):
    """The numbers of one file; states are counted over user turns."""

    file: str
    dialogues: int = 0
    turns: int = 0
    user_turns: int = 0
    states: int = 0
    predicted: int = 0


class GroupReport(Struct, kw_only=True):
    """Files of one format in one source, taken together."""

    source: str
    format: str
    kind: str
    summary: str
    #: What told how the files are read, and in the words of a mapping how they were.
    tier: str = ""
    read_as: str = ""
    files: list[FileReport] = []
    domains: Counter[str] = field(default_factory=Counter)
    slots: list[SlotReport] = []
    fields: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = []

    @property
    def dialogues(self) -> int:
        return sum(file.dialogues for file in self.files)

    @property
    def turns(self) -> int:
        return sum(file.turns for file in self.files)

    @property
    def user_turns(self) -> int:
        return sum(file.user_turns for file in self.files)

    @property
    def states(self) -> int:
        return sum(file.states for file in self.files)

    @property
    def predicted(self) -> int:
        return sum(file.predicted for file in self.files)


class ResourceReport(Struct, frozen=True, kw_only=True):
    """A file that goes with dialogues."""

    file: str
    format: str
    kind: str
    holds: str
    findings: list[Finding] = []


class Unread(Struct, frozen=True, kw_only=True):
    """A file that could not be read, or not to its end, and why."""

    file: str
    why: str


class Report(Struct, kw_only=True):
    """Everything in the sources: dialogues by format, resources, documents, and what could not be read."""

    sources: list[str]
    groups: list[GroupReport] = []
    resources: list[ResourceReport] = []
    documents: list[str] = []
    unread: list[Unread] = []

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
        problems = [one for group in self.groups for one in group.findings if one.severity == "problem"]
        return int(bool(self.unread or problems))


def check(
    sources: Sequence[str | Path],
    *,
    format: str | None = None,
    limit: int = formats.DEFAULT_LIMIT,
    advance: Callable[[int], None] = lambda dialogues: None,
) -> Report:
    """What the files of the sources are, what they hold, and what is wrong with them.

    >>> import dialgauge
    >>> dialogues = dialgauge.simulate(dialgauge.load_world(), task=1, count=2)
    >>> notes = dialgauge.write(dialogues, "checked.jsonl", format="native")
    >>> report = dialgauge.check(["checked.jsonl"])
    >>> report.exit_code, report.files, [group.format for group in report.groups]
    (0, 1, ['native'])
    """
    named = formats.format_named(format) if format else None
    report = Report(sources=[os.fspath(source) for source in sources])
    for source in report.sources:
        groups: dict[str, _Group] = {}
        chosen_parts = _chosen(_parts(source, limit, report), named, report)
        for together, pairs in groupby(chosen_parts, key=lambda pair: getattr(pair[1], "spans_files", False)):
            for batch in [list(pairs)] if together else ([pair] for pair in pairs):
                part, chosen = batch[0]
                try:
                    if isinstance(chosen, formats.DialogueFormat):
                        group = groups.get(chosen.name) or _Group(source, chosen, named=bool(named))
                        try:
                            group.read([own for own, _ in batch], advance)
                        finally:
                            if group.report.files:
                                groups[chosen.name] = group
                    else:
                        _load(part, chosen, report)
                except DialgaugeError as error:
                    _not_read(error.file or part.name if together else part.name, error, report)
        report.groups += [group.done() for group in groups.values()]
    return report


def _parts(source: str, limit: int, report: Report) -> Iterator[formats.Part]:
    """The parts of a source; files that cannot be opened are noted."""
    try:
        names = formats.expand(source)
    except DialgaugeError as error:
        _not_read(source, error, report)
        return
    for name in names:
        try:
            yield from formats.parts_of(name, limit=limit)
        except DialgaugeError as error:
            _not_read(name, error, report)


def _chosen(
    parts: Iterable[formats.Part], named: formats.AnyFormat | None, report: Report
) -> Iterator[tuple[formats.Part, formats.AnyFormat]]:
    for part in parts:
        try:
            yield part, named if named and not formats.is_document(part.stem) else formats.recognise(part)
        except DialgaugeError as error:
            _not_read(part.name, error, report)


def _not_read(name: str, error: DialgaugeError, report: Report) -> None:
    error.file = error.file if error.file != name else None
    report.unread.append(Unread(file=name, why=error.sentence()))


def _load(part: formats.Part, chosen: formats.ResourceFormat, report: Report) -> None:
    resource = chosen.load(part, formats.Notes())
    if resource.kind == "document":
        report.documents.append(part.name)
        return
    findings = Findings()
    for problem in map_problems(resource.values) if resource.kind == "values" else ():
        under = f" under {', '.join(problem.values)}" if problem.values else ""
        findings.add(problem.kind, FindingPlace(detail=f"{problem.slot}: '{problem.text}'{under}"))
    report.resources.append(
        ResourceReport(
            file=part.name,
            format=chosen.name,
            kind=resource.kind,
            holds=_holds(resource),
            findings=findings.all(),
        )
    )


def _holds(resource: formats.Resource) -> str:
    """The content of a resource in a few words."""
    if resource.ontology is not None:
        slots = list(resource.ontology.slots())
        return f"{counted(len(resource.ontology.domains), 'domain')}, {counted(len(slots), 'slot')}"
    if resource.facts:
        return f"{counted(len(resource.facts), 'fact')}, entities: {len({fact.entity for fact in resource.facts}):,}"
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
        self.lost = Finding("unreadable dialogue")
        self.first: DialgaugeError | None = None
        self._file = file

    def refuse(self, error: DialgaugeError) -> None:
        self.first = self.first or error
        detail = error.message if error.line is None else f"line {error.line}: {error.message}"
        self.lost.add(FindingPlace(file=self._file, dialogue=error.dialogue or "", turn=error.turn, detail=detail))


class _Group:
    """Counts the files of one format in one source."""

    def __init__(self, source: str, chosen: formats.DialogueFormat, *, named: bool) -> None:
        self._chosen, self._named = chosen, named
        self.report = GroupReport(source=source, format=chosen.name, kind=chosen.kind, summary=chosen.summary)
        self._findings = Findings()
        self._slots: dict[str, dict[tuple[str, str], Counter[str]]] = {"state": {}, "predicted": {}}
        #: Ids, each with the last file that has it, and those that several have.
        self._ids: dict[str, str] = {}
        self._shared: set[str] = set()
        #: Whether any conversation of a log has a verdict, a reward or scores.
        self._judged: dict[str, bool] = {}
        #: What trials of each task of a file tell the user; None once they differ.
        self._instructions: dict[tuple[str, str], str | None] = {}

    def read(self, parts: Sequence[formats.Part], advance: Callable[[int], None]) -> None:
        """Count the dialogues of files that are read together."""
        notes = _Tolerant(parts[0].name)
        missing: dict[str, dict[str, Finding]] = {}
        files = {part.name: FileReport(part.name) for part in parts}
        try:
            for part, dialogue in self._chosen.read_parts(parts, notes):
                self._add(files[part.name], dialogue, missing.setdefault(part.name, {}))
                advance(1)
        finally:
            self._end(list(files.values()), missing, notes)
        if not any(file.dialogues for file in files.values()):
            raise notes.first or DialgaugeError("it holds no dialogues", file=parts[0].name)
        for part in parts:
            for place in _repeated_keys(part):
                self._findings.add("repeated key", place)

    def _end(self, files: list[FileReport], missing: dict[str, dict[str, Finding]], notes: _Tolerant) -> None:
        read = [file for file in files if file.dialogues]
        if not read:
            return
        self.report.files += read
        self.report.notes.update(notes.counts)
        if notes.reading is not None:
            self.report.read_as = notes.reading.line()
        if notes.lost.count:
            self._merge(notes.lost)
        predicts = self._chosen.kind == "predictions" and "predicted" in self._chosen.fields
        for file in read:
            # A state is missing only where its neighbours have it.
            for name, count in (("state", file.states), ("predicted", file.predicted)):
                if count and name in missing[file.file]:
                    self._merge(missing[file.file][name])
            if not self._judged.get(file.file, True):
                self._findings.add("no verdict", FindingPlace(file=file.file))
            if predicts and not file.predicted:
                self._findings.add("no predicted states", FindingPlace(file=file.file))

    def _merge(self, other: Finding) -> None:
        finding = self._findings.kinds.setdefault(other.kind, Finding(other.kind))
        finding.count += other.count
        finding.places += other.places[: KEPT - len(finding.places)]

    def _add(self, file: FileReport, dialogue: Dialogue, missing: dict[str, Finding]) -> None:
        """Count one dialogue, and look for what is wrong with it."""
        file.dialogues += 1
        file.turns += len(dialogue.turns)
        file.user_turns += sum(turn.speaker == "user" for turn in dialogue.turns)
        for name in _DIALOGUE_FIELDS:
            self.report.fields[name] += bool(getattr(dialogue, name))
        for kind, detail, number in self._wrong(file.file, dialogue):
            place = FindingPlace(file=file.file, dialogue=dialogue.id, turn=number, detail=detail)
            self._findings.add(kind, place)
        domains = set(dialogue.domains)
        for number, turn in enumerate(dialogue.turns):
            for name in _TURN_FIELDS:
                self.report.fields[name] += getattr(turn, name) not in (None, "")
            for name, state in (("state", turn.state), ("predicted", turn.predicted)) if turn.speaker == "user" else ():
                if state is None:
                    place = FindingPlace(file=file.file, dialogue=dialogue.id, turn=number)
                    missing.setdefault(name, Finding(f"missing {name}")).add(place)
                    continue
                domains.update(state)
                self._count(name, state)
                file.states += name == "state"
                file.predicted += name == "predicted"
        self.report.domains.update(domains)

    def _count(self, name: str, state: State) -> None:
        """Count the slots of a state; of alternative values, the preferred one."""
        for domain, slots in state.items():
            for slot, values in slots.items():
                self._slots[name].setdefault((domain, slot), Counter())[values[0] if values else ""] += 1

    def _wrong(self, file: str, dialogue: Dialogue) -> Iterator[tuple[str, str, int | None]]:
        """Kind, detail and turn of what is wrong with a dialogue."""
        key, outcome = dialogue_key(dialogue.id), dialogue.ended
        if dialogue.outcome is not None:
            judged = outcome.success is not None or outcome.reward is not None or bool(outcome.scores)
            self._judged[file] = judged or self._judged.get(file, False)
        before = self._ids.get(key)
        self._ids[key] = file
        if before == file:
            yield "duplicate id", "", None
        elif before is not None:
            self._shared.add(key)
        if outcome.task and dialogue.instruction:
            told = " ".join(" ".join(dialogue.instruction).split())
            if self._instructions.setdefault((file, outcome.task), told) not in (told, None):
                self._instructions[file, outcome.task] = None
                yield "different instructions", f"task {outcome.task}", None
        if formats.contradicts_parts(outcome):
            yield "contradicted reward", "", None
        speakers = [turn.speaker for turn in dialogue.turns]
        if not speakers and dialogue.outcome is None:  # results alone have no turns
            yield "empty dialogue", "", None
        elif speakers and "user" not in speakers:
            yield "no user turn", "", None
        elif len(set(speakers)) == 2:
            for number, (before, speaker) in enumerate(pairwise(speakers), start=1):
                if speaker == before:
                    yield "speaker repeats", f"{speaker} after {speaker}", number

    def done(self) -> GroupReport:
        """The report of all files."""
        report = self.report
        for key in sorted({*self._slots["state"], *self._slots["predicted"]}):
            gold, predicted = (self._slots[name].get(key, Counter()) for name in ("state", "predicted"))
            report.slots.append(SlotReport(*key, gold.total(), len(gold), predicted.total(), len(predicted)))
        if self._shared:
            place = FindingPlace(detail=", ".join(sorted(self._shared)[:KEPT]))
            self._findings.kinds["id in several files"] = Finding("id in several files", len(self._shared), [place])
        report.findings = self._findings.all()
        report.fields = Counter({name: count for name, count in sorted(report.fields.items()) if count})
        report.tier = self._tier()
        return report

    def _tier(self) -> str:
        """What told how the files are read."""
        if self._chosen.name in ("mapping", "mapped-log"):
            return "a mapping, named with --format" if self._named else "the mapping beside it"
        named = "named with --format" if self._named else "recognised by its content"
        return "documented names" if self.report.read_as else f"a named format, {named}"


def _repeated_keys(part: formats.Part) -> Iterator[FindingPlace]:
    """Keys that stand twice in one JSON object of a dialogue, of which every parser keeps one without a word."""
    for number, (name, raw) in enumerate(_raw_dialogues(part), start=1):
        try:
            content = msgspec.json.decode(raw)
            formats.require_single_keys(raw, content)
        except formats.Misfit as error:
            own = content if isinstance(content, dict) else {}
            named = name or formats.dialogue_named(own) or str(own.get("guid") or f"number {number}")
            yield FindingPlace(file=part.name, dialogue=named, detail=str(error))
        except (ValueError, RecursionError):
            continue  # no JSON, which is the reader's to say


def _raw_dialogues(part: formats.Part) -> Iterator[tuple[str, bytes]]:
    """The dialogues of a JSON file or of JSON lines, undecoded, with their keys where they have any; none of others."""
    if formats.begins(part.head()) not in (b"{", b"["):
        return
    content = part.buffer()
    if formats.are_lines(content):
        yield from (("", bytes(line)) for _, line in formats.lines_of(content))
    elif formats.begins(content) == b"[":
        yield from (("", bytes(raw)) for raw in formats.elements_of(content, part))
    else:
        pieces = [(key, bytes(raw)) for key, raw in formats.members_of(content, part)]
        keyed = all(raw[:1] in (b"{", b"[") for _, raw in pieces)
        yield from pieces if keyed else [("", bytes(content))]
