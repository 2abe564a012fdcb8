"""The report of ``dialgauge data check`` as typed records: the same for the screen and for ``--json``."""

from __future__ import annotations

import hashlib
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.formats import stream


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
    #: What would have been read, in lines of its own.
    example: str = ""


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

DEFAULT_KEPT = 5


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

    def add(self, location: FindingPlace | None, kept: int, count: int = 1) -> None:
        """Count it; its place is kept while there is room."""
        self.count += count
        if location is not None and len(self.places) < kept:
            self.places.append(location)

    def __str__(self) -> str:
        return f"{self.message}: {self.count:,}"


class Findings:
    """All kinds that came up, in the order they first did, counted; bounded in memory whatever the file holds."""

    def __init__(self, kept: int = DEFAULT_KEPT) -> None:
        self._kept = kept
        self._kinds: dict[str, Finding] = {}

    def add(self, kind: str, location: FindingPlace | None = None, *, count: int = 1) -> None:
        self._of(kind).add(location, self._kept, count)

    def merge(self, other: Finding) -> None:
        """Add what was counted apart."""
        finding = self._of(other.kind)
        finding.count += other.count
        finding.places += other.places[: self._kept - len(finding.places)]

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


def id_hash(identifier: str) -> int:
    """Eight bytes that stand for a dialogue's id, so that millions of them stay small."""
    digest = hashlib.blake2b(dialogue_key(identifier).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


class Gold:
    """The ids and numbers of user turns of a gold file."""

    def __init__(self, source: str, *, format: str | None, limit: int) -> None:
        self.name = source
        self.turns: dict[int, tuple[str, int]] = {}
        for part, _, dialogue in stream(source, format=format, limit=limit):
            key = id_hash(dialogue.id)
            if key in self.turns:
                message = "this id was used before in the gold file; it must be one set with unique ids"
                raise DialgaugeError(message, file=part.name, dialogue=dialogue.id)
            self.turns[key] = dialogue.id, sum(1 for _ in dialogue.user_turns())

    def coverage(self, files: list[str], read: dict[int, int], strangers: list[str], kept: int) -> GoldCoverage:
        """Compare what was read (user turns by hashed id) with the gold; ``strangers`` are the first ids it lacks."""
        both = [key for key in self.turns if key in read]
        missing = [name for key, (name, _) in self.turns.items() if key not in read]
        differing = [key for key in both if self.turns[key][1] != read[key]]
        return GoldCoverage(
            gold=self.name,
            files=files,
            dialogues_expected=len(self.turns),
            dialogues_read=len(read),
            dialogues_matched=len(both),
            turns_expected=sum(turns for _, turns in self.turns.values()),
            turns_read=sum(read.values()),
            turns_matched=sum(min(self.turns[key][1], read[key]) for key in both),
            dialogues_missing=len(missing),
            missing=missing[:kept],
            dialogues_extra=len(read) - len(both),
            extra=strangers[:kept],
            dialogues_differing=len(differing),
            differing=[self._difference(key, read[key]) for key in differing[:kept]],
        )

    def _difference(self, key: int, read: int) -> FindingPlace:
        name, expected = self.turns[key]
        return FindingPlace(dialogue=name, detail=f"{expected} user turns expected, {read} read")
