"""What a system answered: for every user turn a response with placeholders, perhaps a state, perhaps active domains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Dialogue, Turn, dialogue_key
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import Corpus, read, system_name
from dialgauge.tasks.delexical import CLASSES, DOMAINS, placeholders
from dialgauge.tasks.gold import GoldTasks, TaskState
from dialgauge.text import Note, counted, some_of
from dialgauge.values import normal_slot, normal_value

#: Where the domains that a response is about come from.
DomainMode: TypeAlias = Literal["file", "state", "placeholders"]
MODES: tuple[DomainMode, ...] = ("file", "state", "placeholders")
#: A file in the layout of MultiWOZ_Evaluation or another known format, or what it holds: by dialogue the responses to
#: its turns, or dialogues.
Responses: TypeAlias = "str | Path | Mapping[str, Sequence[Mapping[str, object]]] | Corpus | Sequence[Dialogue]"
#: How many odd names a note lists.
_SHOWN = 5


class TaskTurn(Struct, eq=False, gc=False):
    """One response; ``state`` and ``active`` are None where the file has none."""

    response: str
    state: TaskState | None = None
    active: tuple[str, ...] | None = None


class TaskPredictions:
    """The responses of a system by dialogue key, in the file's order."""

    def __init__(self, name: str, dialogues: Mapping[str, Sequence[TaskTurn]], source: str = "") -> None:
        self.name = name
        self.source = source
        self.dialogues = dialogues
        turns = [turn for each in dialogues.values() for turn in each]
        self.turns = len(turns)
        #: All or nothing: one turn without a state, and gold states are used for all.
        self.turns_without_state = sum(turn.state is None for turn in turns)
        self.turns_without_domains = sum(turn.active is None for turn in turns)

    @property
    def has_states(self) -> bool:
        """Does every turn bring a state?"""
        return self.turns_without_state == 0

    @property
    def default_mode(self) -> DomainMode:
        """The file's own lists where every turn has one, else the estimate from states."""
        return "file" if self.turns_without_domains == 0 else "state"

    def check_against(self, gold: GoldTasks) -> None:
        """An error if gold lacks one of the dialogues."""
        for key in self.dialogues:
            if key not in gold.dialogues:
                raise DialgaugeError(
                    "the gold file has no such dialogue; is it from the same dataset and split?"
                    f"{nearest(key, gold.dialogues, listed=False)}",
                    file=self.source or self.name,
                    dialogue=key,
                )

    def notes(self, gold: GoldTasks) -> list[str]:
        """What a reader of the scores must know about the responses."""
        return [*self._key_notes(), *self._name_notes(), *self._length_notes(gold)]

    def _key_notes(self) -> Iterator[Note]:
        policy = "a score of the policy, not of the whole system"
        if self.turns_without_state == self.turns:
            yield Note("gold_states", f"it has no states, so gold states are used: {policy}")
        for key, lacking, then in (
            ("state", self.turns_without_state, f"gold states are used for ALL turns of the file: this is {policy}"),
            (
                "active_domains",
                self.turns_without_domains,
                "existing lists are ignored, and domains are estimated from states",
            ),
        ):
            if 0 < lacking < self.turns:
                lack = "lacks" if lacking == 1 else "lack"
                counts = f"{lacking:,} of {counted(self.turns, 'turn')} {lack} the key '{key}'"
                yield Note("partial_key", f"{counts}, so {then}")

    def _name_notes(self) -> Iterator[Note]:
        """Names that no class or domain has; writing 'Hotel' for 'hotel' makes a state disappear."""
        classes: Counter[str] = Counter()
        domains: Counter[str] = Counter()
        for turns in self.dialogues.values():
            for turn in turns:
                classes.update(name for name in placeholders(turn.response) if name not in CLASSES)
                domains.update({*(turn.state or ()), *(turn.active or ())}.difference(DOMAINS))
        if classes:
            shown = ", ".join(f"[{name}] {count}" for name, count in classes.most_common(_SHOWN))
            yield Note("unknown_placeholders", f"placeholders of unknown class, ignored: {shown}")
        if domains:
            shown = ", ".join(f"'{name}' {count}" for name, count in domains.most_common(_SHOWN))
            message = f"states or active_domains name domains that MultiWOZ does not have, ignored: {shown}"
            yield Note("unknown_domains", message)

    def _length_notes(self, gold: GoldTasks) -> Iterator[Note]:
        """Where responses and gold turns are not equally many: they are aligned from the start."""
        lengths = [(gold.dialogues[key], len(turns)) for key, turns in self.dialogues.items()]
        fewer = [f"{each.id} {there} of {each.turns}" for each, there in lengths if there < each.turns]
        more = [f"{each.id} {there} of {each.turns}" for each, there in lengths if there > each.turns]
        if fewer:
            places = f"{counted(len(fewer), 'dialogue')} ({some_of(fewer, _SHOWN)})"
            yield Note("fewer_responses", f"fewer responses than gold turns in {places}: the last stay unanswered")
        if more:
            places = f"{counted(len(more), 'dialogue')} ({some_of(more, _SHOWN)})"
            yield Note("more_responses", f"more responses than gold turns in {places}: the surplus is ignored")


def read_predictions(source: Responses, name: str | None = None) -> TaskPredictions:
    """The responses of a system, from a file or from memory.

    >>> read_predictions({"SNG0073.json": [{"response": "[taxi_type] is on its way ."}]}, "mine").turns
    1
    """
    file = str(source) if isinstance(source, str | Path) else ""
    corpus = read(source)
    if corpus.format == "multiwoz":
        message = "this is a MultiWOZ file with goals, which comes first: dialgauge tasks score GOLD PRED..."
        raise DialgaugeError(message, file=file or None)
    dialogues = {dialogue_key(dialogue.id): list(_turns(dialogue)) for dialogue in corpus.dialogues}
    if not any(dialogues.values()):
        raise DialgaugeError(
            f"it holds no responses (its format is '{corpus.format}'; responses come in 'mwzeval')",
            file=file or name,
        )
    return TaskPredictions(name or (system_name(file) if file else "system"), dialogues, file)


def _turns(dialogue: Dialogue) -> Iterator[TaskTurn]:
    """The responses of a dialogue, each with what was predicted for the user's turn before it."""
    user = Turn(speaker="user")
    for turn in dialogue.turns:
        if turn.speaker == "user":
            user = turn
        else:
            yield TaskTurn(turn.text, _comparable(user), user.active)


def _comparable(turn: Turn) -> TaskState | None:
    """The predicted state, names and values made comparable. To the standard evaluator ``none`` is a value."""
    if turn.predicted is None:
        return None
    state: dict[str, dict[str, str]] = {}
    for part in (turn.blank or {}, turn.predicted):
        for domain, slots in part.items():
            known = state.setdefault(domain, {})
            for slot, values in slots.items():
                name, value = _normal(slot, values[0] if values else "")
                known[name] = value
    return state


@cache
def _normal(slot: str, value: str) -> tuple[str, str]:
    name = normal_slot(slot)
    return name, normal_value(name, value)


def human_responses(gold: GoldTasks) -> TaskPredictions:
    """The wizards of the corpus as a system: their own words, delexicalised, with gold states."""
    dialogues = {
        key: [TaskTurn(_CLASS.sub(lambda found: f"[{_BRACKETED[found[0]]}]", text)) for text in references]
        for key, references in gold.references.items()
    }
    return TaskPredictions("human", dialogues)


_BRACKETED = {
    "NAME": "name", "AREA": "area", "TYPE": "type", "FOOD": "food", "ADDRESS": "address", "PHONE": "phone",
    "POST": "postcode", "PRICE": "price", "TRAINID": "trainid", "REFERENCE": "ref", "TIME": "time", "DAY": "day",
    "PLACE": "destination", "COUNT": "choice",
}  # fmt: skip
_CLASS = re.compile("|".join(_BRACKETED))


def active_domains(
    turns: Sequence[TaskTurn], estimate: Sequence[str | None], mode: DomainMode
) -> list[tuple[str, ...]]:
    """For every turn the domains that the response is taken to be about; ``estimate`` is that of the states."""
    if mode == "file":
        return [turn.active or () for turn in turns]
    if mode == "placeholders":
        return [named_domains(turn.response) for turn in turns]
    return [() if domain is None else (domain,) for domain in estimate]


def named_domains(response: str) -> tuple[str, ...]:
    """The domains that the placeholders of a response name."""
    named = (name.partition("_")[0] for name in placeholders(response))
    return tuple(dict.fromkeys(domain for domain in named if domain in DOMAINS))


def estimated_domains(states: Sequence[TaskState]) -> list[str | None]:
    """The domain each turn is about, by what changed in the state."""
    current: str | None = None
    previous: TaskState = {}
    changed_before: list[str] = []
    estimate: list[str | None] = []
    for state in states:
        changed = [
            name for name, slots in state.items() if slots and not slots.items() <= previous.get(name, {}).items()
        ]
        if changed and current not in changed:
            current = max(changed, key=lambda domain: len(state[domain]))
        elif not changed and current is not None and len(changed_before) > 1:
            current = next((name for name in changed_before if name in state and name != current), current)
        if changed or current is not None:
            previous, changed_before = state, changed
        estimate.append(current)
    return estimate
