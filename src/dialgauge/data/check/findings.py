"""What is wrong, counted, with the first few places. Bounded in memory whatever the file holds."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct, structs

#: A *problem* makes scores incomplete or ambiguous; a *remark* is worth knowing and harms nothing.
Severity: TypeAlias = Literal["problem", "remark"]

DEFAULT_KEPT = 5


class Place(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Where something was found. Turns count from 0, user and system turns together."""

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
    places: list[Place] = []

    def __str__(self) -> str:
        return f"{self.message}: {self.count:,}"


class Findings:
    """All kinds that came up, in the order they first did."""

    def __init__(self, kept: int = DEFAULT_KEPT) -> None:
        self._kept = kept
        self._found: dict[str, Finding] = {}

    def add(self, kind: str, severity: Severity, message: str, place: Place | None = None, *, count: int = 1) -> None:
        """Count a finding; its place is kept while there is room."""
        finding = self._found.get(kind)
        if finding is None:
            finding = self._found[kind] = Finding(kind=kind, severity=severity, message=message)
        finding.count += count
        if place is not None and len(finding.places) < self._kept:
            finding.places.append(place)

    def merge(self, other: Finding) -> None:
        """Add what was counted apart."""
        finding = self._found.setdefault(other.kind, structs.replace(other, count=0, places=[]))
        finding.count += other.count
        finding.places += other.places[: self._kept - len(finding.places)]

    def all(self) -> list[Finding]:
        """Problems first."""
        return sorted(self._found.values(), key=lambda finding: finding.severity != "problem")
