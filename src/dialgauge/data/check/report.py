"""What ``dialgauge data check`` found, as typed records: the same for the screen and for ``--json``."""

from __future__ import annotations

from msgspec import Struct

from dialgauge.data.check.coverage import Coverage
from dialgauge.data.check.findings import Finding


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
    recognised: str
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
    coverage: list[Coverage]

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


class Unread(Struct, frozen=True, kw_only=True):
    """A file that could not be read, or not to its end, and why."""

    file: str
    why: str


class Report(Struct, frozen=True, kw_only=True):
    """All of it."""

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
