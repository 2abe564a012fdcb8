"""Counting dialogues and their slots as they stream past, in memory that does not grow with their number."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

from msgspec import Struct, field

from dialgauge.data.checking.report import Finding, FindingPlace, Findings, Gold, id_hash
from dialgauge.dialogue import DONTCARE, Dialogue, Ontology, SlotSpec, State, Turn
from dialgauge.formats import ALL_FIELDS, contradicts_parts
from dialgauge.text import times

_DIALOGUE_FIELDS = tuple(sorted(ALL_FIELDS & set(Dialogue.__struct_fields__)))
_TURN_FIELDS = tuple(sorted(ALL_FIELDS & set(Turn.__struct_fields__)))

#: The states of a user turn.
STATES = ("state", "predicted")


class FileTally(Struct):
    """One file: its numbers, and per dialogue a hashed id with the number of user turns."""

    name: str
    dialogues: int = 0
    turns: int = 0
    user_turns: int = 0
    with_state: Counter[str] = field(default_factory=Counter)
    ids: dict[int, int] = {}
    strangers: list[str] = []
    #: What trials of each task tell the user, hashed; None once they differ.
    instructions: dict[int, int | None] = {}
    #: User turns that lack a state, which is found only where their neighbours have it.
    lacking: dict[str, Finding] = field(
        default_factory=lambda: {state: Finding.none_yet(f"missing {state}") for state in STATES}
    )


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
        self._look_at_instruction(file, dialogue)
        self._look_at_reward(file, dialogue)
        domains = set(dialogue.domains)
        for number, turn in enumerate(dialogue.turns):
            self._look_at(file, dialogue, number, turn, domains)
        for domain in sorted(domains):
            if domain in self.domains or len(self.domains) < MOST_SLOTS:
                self.domains[domain] += 1

    def _identify(self, file: FileTally, dialogue: Dialogue, users: int) -> None:
        key = id_hash(dialogue.id)
        if key in file.ids:
            self.findings.add("duplicate id", FindingPlace(file=file.name, dialogue=dialogue.id))
            return
        file.ids[key] = users
        if self._gold is not None and key not in self._gold.turns and len(file.strangers) < self._kept:
            file.strangers.append(dialogue.id)

    def _look_at_instruction(self, file: FileTally, dialogue: Dialogue) -> None:
        """Trials of one task that tell their users different things."""
        task = dialogue.ended.task
        if not task or not dialogue.instruction:
            return
        key, instruction = hash(task), hash(tuple(" ".join(text.split()) for text in dialogue.instruction))
        if file.instructions.setdefault(key, instruction) not in (instruction, None):
            file.instructions[key] = None
            location = FindingPlace(file=file.name, dialogue=dialogue.id, detail=f"task {task}")
            self.findings.add("different instructions", location)

    def _look_at_reward(self, file: FileTally, dialogue: Dialogue) -> None:
        """A reward that contradicts its own parts, in results of a benchmark."""
        if contradicts_parts(dialogue.ended):
            self.findings.add("contradicted reward", FindingPlace(file=file.name, dialogue=dialogue.id))

    def _look_at_order(self, file: FileTally, dialogue: Dialogue, users: int) -> None:
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
                lacking.add(FindingPlace(file=file.name, dialogue=dialogue.id, turn=number), self._kept)
            else:
                file.with_state[name] += 1
                self.inventories[name].add(state, dialogue.id, number)
                domains.update(state)


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


#: Beyond these, counting goes on but nothing new is kept; the report says so.
MOST_SLOTS = 5_000
MOST_VALUES = 100_000
_LONGEST = 120

_NAME_NOISE = re.compile(r"[\s_-]+")


class Seen(Struct):
    """A value of a slot: how often, and where first."""

    count: int
    dialogue: str
    turn: int


class SlotCount(Struct):
    """A slot: in how many turns it is filled, and its preferred values."""

    filled: int = 0
    values: dict[str, Seen] = {}
    #: Fillings whose value was not kept because too many were.
    unkept: int = 0


class SlotInventory:
    """The slots of all states of one kind (annotated or predicted): how often filled, with what, in bounded memory."""

    def __init__(self) -> None:
        self.slots: dict[tuple[str, str], SlotCount] = {}
        self.overflow = False
        self._room = MOST_VALUES

    def add(self, state: State, dialogue: str, turn: int) -> None:
        """Count one state. Of alternative values, the preferred one counts."""
        for domain, slots in state.items():
            for slot, values in slots.items():
                counted = self.slots.get((domain, slot))
                if counted is None:
                    if len(self.slots) >= MOST_SLOTS:
                        self.overflow = True
                        continue
                    counted = self.slots[_bounded(domain), _bounded(slot)] = SlotCount()
                counted.filled += 1
                if values:
                    self._count_value(counted, values[0], dialogue, turn)

    def _count_value(self, counted: SlotCount, value: str, dialogue: str, turn: int) -> None:
        seen = counted.values.get(value)
        if seen is not None:
            seen.count += 1
        elif self._room:
            kept = _bounded(value)
            if kept in counted.values:
                counted.values[kept].count += 1
            else:
                counted.values[kept] = Seen(1, _bounded(dialogue), turn)
                self._room -= 1
        else:
            counted.unkept += 1


def _bounded(text: str) -> str:
    """The text, or for an overlong one its beginning and a digest, so that equal texts stay equal."""
    if len(text) <= _LONGEST:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{text[:40]}…{digest}"


class NamedOntology(Struct, frozen=True):
    """An ontology and the file it came from, with names and values in the form they are compared in."""

    file: str
    ontology: Ontology

    def lookup(self) -> dict[tuple[str, str], frozenset[str] | None]:
        """Each slot's allowed values; ``None`` where any value is allowed.

        Schemas mark closed slots as categorical and list examples for the others. Ontologies without that mark mean
        every list to be complete.
        """
        schema = any(spec.categorical for slots in self.ontology.domains.values() for spec in slots.values())
        return {
            _slot_key(domain, slot): _allowed(spec, schema)
            for domain, slots in self.ontology.domains.items()
            for slot, spec in slots.items()
        }


def _allowed(spec: SlotSpec, schema: bool) -> frozenset[str] | None:
    if not spec.values or (schema and not spec.categorical):
        return None
    return frozenset(_value_key(value) for value in spec.values)


def _slot_key(domain: str, slot: str) -> tuple[str, str]:
    return _NAME_NOISE.sub("", domain.lower()), _NAME_NOISE.sub("", slot.lower())


def _value_key(value: str) -> str:
    return " ".join(value.lower().split())


def best_ontology(inventory: SlotInventory, offered: list[NamedOntology]) -> NamedOntology | None:
    """The ontology that knows most of the fillings; the first of equals, ``None`` if none knows any."""
    best, most = None, 0
    for candidate in offered:
        known = candidate.lookup()
        covered = sum(counted.filled for slot, counted in inventory.slots.items() if _slot_key(*slot) in known)
        if covered > most:
            best, most = candidate, covered
    return best


def compare(inventory: SlotInventory, against: NamedOntology, findings: Findings) -> dict[tuple[str, str], int]:
    """How many fillings of each slot the ontology does not allow; slots and values it lacks become remarks."""
    known = against.lookup()
    outside: dict[tuple[str, str], int] = {}
    for (domain, slot), counted in sorted(inventory.slots.items()):
        key = _slot_key(domain, slot)
        if key not in known:
            location = FindingPlace(detail=f"{domain}-{slot}, filled {times(counted.filled)}")
            findings.add("slot outside ontology", location)
            continue
        allowed = known[key]
        if allowed is not None:
            outside[domain, slot] = _outside(f"{domain}-{slot}", counted, allowed, findings)
    return outside


def _outside(name: str, counted: SlotCount, allowed: frozenset[str], findings: Findings) -> int:
    total = 0
    for value, seen in counted.values.items():
        if _value_key(value) in allowed or value == DONTCARE:
            continue
        total += seen.count
        detail = f"{name} = {value!r}, {times(seen.count)}"
        findings.add("value outside ontology", FindingPlace(dialogue=seen.dialogue, turn=seen.turn, detail=detail))
    return total
