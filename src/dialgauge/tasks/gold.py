"""The gold side of a task evaluation, from a MultiWOZ file: goals, what was booked when, states, human responses."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import Raw, Struct

from dialgauge.dialogue import Goal, Task, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.formats import (
    MULTIWOZ,
    DomainMetadata,
    MultiWozDialogue,
    Notes,
    Part,
    decode,
    read_goal,
    recognise,
    resolve,
)
from dialgauge.tasks.database import DATABASE_DOMAINS, DONT_CARE
from dialgauge.tasks.delexical import ADDRESS, DOMAINS, NAME, PHONE, POST, REFERENCE, TIME, TRAINID, TYPE, surface
from dialgauge.values import normal_slot, normal_value

#: A state as the evaluation sees it: domain to slot to value, names and values made comparable.
TaskState: TypeAlias = Mapping[str, Mapping[str, str]]

#: What gold states and references are called in signatures.
GOLD_STATES, SPAN_REFERENCES = "mwz21", "mwz21-span"

_REQUESTS = {"phone": PHONE, "address": ADDRESS, "postcode": POST, "trainID": TRAINID}
_UNFILLED = DONT_CARE | {"", "none"}
_SPAN_CLASSES = {
    "Name": NAME, "Area": "AREA", "Type": TYPE, "Car": TYPE, "Food": "FOOD", "Addr": ADDRESS, "Phone": PHONE,
    "Post": POST, "Price": "PRICE", "Ticket": "PRICE", "Fee": "PRICE", "Id": TRAINID, "Ref": REFERENCE, "Leave": TIME,
    "Arrive": TIME, "Time": TIME, "Day": "DAY", "Dest": "PLACE", "Depart": "PLACE", "Choice": "COUNT",
    "Stars": "COUNT", "People": "COUNT", "Stay": "COUNT",
}  # fmt: skip
_CONTRACTIONS = {"'s", "'re", "'m", "'ve", "'ll", "'d", "n't"}


class GoldGoal(Struct, frozen=True, eq=False):
    """What the user wants of one domain: constraints, and the classes of what must be told."""

    informable: dict[str, str]
    requestable: frozenset[str]

    @classmethod
    def of(cls, task: Task) -> GoldGoal:
        """The part of a goal that the evaluation looks at. Constraints that first fail are not in it."""
        classes = {_REQUESTS[name] for name in task.requests if name in _REQUESTS}
        informable = {normal_slot(slot): value for slot, value in task.info.items()}
        return cls(informable, frozenset(classes | {REFERENCE} if task.book else classes))


class GoldTask(Struct, eq=False):
    """One dialogue: what the user wanted and said, and what the human wizard did."""

    id: str
    goal: Goal
    domains: dict[str, GoldGoal]
    user_texts: list[str]
    #: For every turn the domains that were booked by then.
    booked: list[frozenset[str]]
    states: list[TaskState]
    #: The wizard's words and which of them are values.
    answers: list[tuple[str, Raw]]
    file: str

    @property
    def turns(self) -> int:
        """The number of turns to answer."""
        return len(self.answers)

    def references(self) -> list[str]:
        """The wizard's responses with classes instead of values."""
        return [_reference(text, self._spans(raw)) for text, raw in self.answers]

    def _spans(self, raw: Raw) -> list[tuple[str, str, str, int, int]]:
        try:
            return _SPANS.decode(raw) if len(raw) else []
        except msgspec.DecodeError as error:
            message = f"the span_info of a turn cannot be read ({error})"
            raise DialgaugeError(message, file=self.file, dialogue=self.id) from error


_DOMAIN = msgspec.json.Decoder(DomainMetadata)
_SPANS = msgspec.json.Decoder(list[tuple[str, str, str, int, int]])


class GoldTasks:
    """The dialogues of a gold file, by key (case and ``.json`` do not count)."""

    def __init__(self, dialogues: Iterable[GoldTask], source: str = "") -> None:
        self.source = source
        self.dialogues: dict[str, GoldTask] = {}
        for task in dialogues:
            key = dialogue_key(task.id)
            if key in self.dialogues:
                message = "two dialogues have the same id (case and .json are ignored)"
                raise DialgaugeError(message, file=source or None)
            self.dialogues[key] = task

    @cached_property
    def references(self) -> dict[str, list[str]]:
        """The reference ``mwz21-span``: human responses by dialogue and turn, values replaced by classes."""
        return {key: each.references() for key, each in self.dialogues.items()}

    @cached_property
    def checksum(self) -> str:
        """Of everything that can change a verdict."""
        digest = hashlib.sha256()
        for key, each in sorted(self.dialogues.items()):
            goals = {domain: (goal.informable, sorted(goal.requestable)) for domain, goal in each.domains.items()}
            digest.update(msgspec.json.encode([key, goals, [sorted(booked) for booked in each.booked], each.states]))
        return digest.hexdigest()[:12]

    @cached_property
    def has_spans(self) -> bool:
        """Does the file say which words are values? Without that there are no references."""
        return any(len(raw) > len(b"[]") for each in self.dialogues.values() for _, raw in each.answers)


def read_gold(source: str | Path) -> GoldTasks:
    """The gold side of a MultiWOZ file (the ``data.json`` of 2.0 to 2.4, or a split of it)."""
    gold = GoldTasks((each for part in resolve(source) for each in _read_part(part)), str(source))
    if not gold.dialogues:
        raise DialgaugeError("it holds no dialogues", file=str(source))
    return gold


def _read_part(part: Part) -> list[GoldTask]:
    reader = _Reader(part)
    try:
        return [reader.dialogue(name, raw) for name, raw in MULTIWOZ.read(part, Notes())]
    except DialgaugeError as error:
        try:
            found = recognise(part).name
        except DialgaugeError:
            raise error from None
        if found == "multiwoz":
            raise
        if found == "mwzeval":
            message = "these are the responses of a system, and GOLD comes first: dialgauge tasks score GOLD PRED..."
        else:
            message = f"its format is '{found}', and GOLD must be a MultiWOZ file with goals (data.json, or a split)"
        raise DialgaugeError(message, file=part.name) from error


class _Reader:
    """One file. A domain's part of a state repeats from turn to turn, and is decoded once."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._domain = cache(self._decoded)

    def dialogue(self, name: str, raw: MultiWozDialogue) -> GoldTask:
        if not raw.goal:
            raise DialgaugeError("it has no goal, so success cannot be judged", file=self._part.name, dialogue=name)
        answers = raw.log[1::2]
        try:
            tasks = read_goal(raw.goal, self._part).tasks
            parts = [
                [(key, *self._domain(bytes(content))) for key, content in (entry.metadata or {}).items()]
                for entry in answers
            ]
        except DialgaugeError as error:
            raise error.at(dialogue=name) from error
        wanted = {domain: task for domain, task in tasks.items() if domain in DOMAINS}
        return GoldTask(
            id=name,
            goal=Goal(tasks=wanted),
            domains={domain: GoldGoal.of(task) for domain, task in wanted.items()},
            user_texts=[entry.text for entry in raw.log[::2]],
            booked=[
                frozenset(domain for domain, _, booked in part if booked and domain in DATABASE_DOMAINS)
                for part in parts
            ],
            states=[{domain: slots for domain, slots, _ in part if slots} for part in parts],
            answers=[(entry.text, entry.span_info) for entry in answers],
            file=self._part.name,
        )

    def _decoded(self, content: bytes) -> tuple[dict[str, str], bool]:
        """The filled slots of a domain, and whether something is booked there."""
        domain = decode(_DOMAIN, content, self._part)
        named = [*domain.semi.items(), *((f"book{slot}", value) for slot, value in domain.book.items())]
        slots: dict[str, str] = {}
        for slot, given in named:
            value = given if isinstance(given, str) else next((each for each in given if isinstance(each, str)), "")
            if slot != "bookbooked" and value not in _UNFILLED:
                plain = normal_slot(slot)
                slots[plain] = normal_value(plain, value)
        return slots, bool(domain.book.get("booked"))


def _reference(text: str, spans: list[tuple[str, str, str, int, int]]) -> str:
    words = text.lower().split()
    pieces: list[str] = []
    cursor = 0
    for _, slot, value, first, last in sorted(spans, key=lambda span: span[3]):
        if first < cursor or value == "dontcare" or slot not in _SPAN_CLASSES:
            continue
        pieces += [*words[cursor:first], _SPAN_CLASSES[slot]]
        cursor = last + 1
    pieces += words[cursor:]
    joined = ""
    for word in pieces:  # "do n't" and the like are one word
        joined += word if not joined or word in _CONTRACTIONS else f" {word}"
    return surface(joined.replace("-s", "").replace("-ly", ""))
