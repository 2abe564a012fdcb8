"""How much of a gold file a set of dialogues covers: expected, read and matched, and what is missing or too much."""

from __future__ import annotations

import hashlib

from msgspec import Struct

from dialgauge.data.check.findings import Place
from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.formats import stream


class Coverage(Struct, kw_only=True):
    """The comparison. Turns are user turns: the ones that carry states."""

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
    differing: list[Place] = []

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

    def coverage(self, files: list[str], read: dict[int, int], strangers: list[str], kept: int) -> Coverage:
        """Compare what was read (user turns by hashed id) with the gold; ``strangers`` are the first ids it lacks."""
        both = [key for key in self.turns if key in read]
        missing = [name for key, (name, _) in self.turns.items() if key not in read]
        differing = [key for key in both if self.turns[key][1] != read[key]]
        return Coverage(
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

    def _difference(self, key: int, read: int) -> Place:
        name, expected = self.turns[key]
        return Place(dialogue=name, detail=f"{expected} user turns expected, {read} read")
