"""Counting dialogues as they stream past: per file and per group, in memory that does not grow with their length."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from dialgauge.data.check.coverage import Gold, id_hash
from dialgauge.data.check.findings import Finding, Findings, Place
from dialgauge.data.check.values import MOST_SLOTS, SlotInventory
from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.formats.base import ALL_FIELDS

_DIALOGUE_FIELDS = tuple(sorted(ALL_FIELDS & set(Dialogue.__struct_fields__)))
_TURN_FIELDS = tuple(sorted(ALL_FIELDS & set(Turn.__struct_fields__)))

#: The states of a user turn, and the words for a user turn that lacks one while its neighbours have it.
STATES = {"state": "user turns without an annotated state", "predicted": "user turns without a predicted state"}


@dataclass
class FileTally:
    """One file: its numbers, and per dialogue a hashed id with the number of user turns."""

    name: str
    dialogues: int = 0
    turns: int = 0
    user_turns: int = 0
    with_state: Counter[str] = field(default_factory=Counter)
    ids: dict[int, int] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)
    lacking: dict[str, Finding] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for state, words in STATES.items():
            self.lacking[state] = Finding(kind=f"missing {state}", severity="problem", message=words)


class GroupTally:
    """All files of one format in one source."""

    def __init__(self, *, gold: Gold | None, kept: int) -> None:
        self.files: list[FileTally] = []
        self.findings = Findings(kept)
        self.fields: Counter[str] = Counter()
        self.domains: Counter[str] = Counter()
        self.inventories = {name: SlotInventory() for name in STATES}
        self._gold, self._kept = gold, kept

    def begin(self, name: str) -> None:
        """The dialogues that follow are of this file."""
        self.files.append(FileTally(name))

    def add(self, dialogue: Dialogue) -> None:
        """Count one dialogue of the current file."""
        file = self.files[-1]
        file.dialogues += 1
        file.turns += len(dialogue.turns)
        for name in _DIALOGUE_FIELDS:
            self.fields[name] += bool(getattr(dialogue, name))
        users = sum(turn.speaker == "user" for turn in dialogue.turns)
        file.user_turns += users
        self._identify(file, dialogue, users)
        self._look_at_order(file, dialogue, users)
        domains = set(dialogue.domains)
        for number, turn in enumerate(dialogue.turns):
            self._look_at(file, dialogue, number, turn, domains)
        for domain in sorted(domains):
            if domain in self.domains or len(self.domains) < MOST_SLOTS:
                self.domains[domain] += 1

    def _identify(self, file: FileTally, dialogue: Dialogue, users: int) -> None:
        key = id_hash(dialogue.id)
        if key in file.ids:
            self.findings.add(
                "duplicate id",
                "problem",
                "dialogues whose id was used before in the same file (case and .json do not count)",
                Place(file=file.name, dialogue=dialogue.id),
            )
            return
        file.ids[key] = users
        if self._gold is not None and key not in self._gold.turns and len(file.strangers) < self._kept:
            file.strangers.append(dialogue.id)

    def _look_at_order(self, file: FileTally, dialogue: Dialogue, users: int) -> None:
        """Empty dialogues, and the same side speaking twice in a row where both sides are recorded."""
        place = Place(file=file.name, dialogue=dialogue.id)
        if not dialogue.turns:
            self.findings.add("empty dialogue", "problem", "dialogues without turns", place)
        elif not users:
            self.findings.add("no user turn", "problem", "dialogues without a user turn", place)
        elif users < len(dialogue.turns):
            for number in range(1, len(dialogue.turns)):
                speaker = dialogue.turns[number].speaker
                if speaker == dialogue.turns[number - 1].speaker:
                    self.findings.add(
                        "speaker repeats",
                        "remark",
                        "turns of the same speaker as the turn before (is one missing?)",
                        Place(file=file.name, dialogue=dialogue.id, turn=number, detail=f"{speaker} after {speaker}"),
                    )

    def _look_at(self, file: FileTally, dialogue: Dialogue, number: int, turn: Turn, domains: set[str]) -> None:
        for name in _TURN_FIELDS:
            value = getattr(turn, name)
            if value is not None and value != "":
                self.fields[name] += 1
        if turn.speaker != "user":
            return
        for name, lacking in file.lacking.items():
            state: State | None = getattr(turn, name)
            if state is None:
                lacking.count += 1
                if len(lacking.places) < self._kept:
                    lacking.places.append(Place(file=file.name, dialogue=dialogue.id, turn=number))
            else:
                file.with_state[name] += 1
                self.inventories[name].add(state, dialogue.id, number)
                domains.update(state)
