"""What a system answered: for every user turn a response with placeholders, perhaps a state, perhaps active domains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import Keyed, Notes, Part, hold_by_key, resolve, system_name
from dialgauge.tasks.delexical import DOMAINS, placeholders, unknown_placeholders
from dialgauge.tasks.gold import GoldTask, GoldTasks, TaskState, format_name
from dialgauge.text import Note, counted, some_of
from dialgauge.values import normal_slot, normal_value

#: Where the domains that a response is about come from.
DomainMode: TypeAlias = Literal["file", "state", "placeholders"]
MODES: tuple[DomainMode, ...] = ("file", "state", "placeholders")
#: How many odd names a note lists, and how many characters of an odd state.
_SHOWN, _EXCERPT = 5, 40
#: Distinct states of a file that are remembered.
_REMEMBERED = 1 << 16


class TaskTurn(Struct, eq=False, gc=False):
    """One response; ``state`` and ``active`` are None where the file has none."""

    response: str
    state: TaskState | None = None
    active: tuple[str, ...] | None = None


class TaskPredictions:
    """A system's file, turn by turn, by dialogue key in the file's order."""

    def __init__(self, name: str, dialogues: Mapping[str, Sequence[TaskTurn]], source: str = "") -> None:
        self.name = name
        self.source = source
        self.dialogues = dialogues
        #: Dialogue to the number of its turns.
        self.lengths: dict[str, int] = {}
        #: All or nothing: one turn without a state, and gold states are used for all.
        self.stateless = self.listless = 0
        self.unknown: Counter[str] = Counter()
        #: The domains that states and lists of turns name, each combination with its turns.
        self._named: Counter[tuple[str, ...]] = Counter()
        for key, turns in dialogues.items():
            self.lengths[key] = len(turns)
            for turn in turns:
                self.stateless += turn.state is None
                self.listless += turn.active is None
                if unknown := unknown_placeholders(turn.response):
                    self.unknown.update(unknown)
                self._named[(*(turn.state or ()), *(turn.active or ()))] += 1
        self.turns = sum(self.lengths.values())

    @property
    def has_states(self) -> bool:
        """Does every turn bring a state?"""
        return self.stateless == 0

    @property
    def default_mode(self) -> DomainMode:
        """The file's own lists where every turn has one, else the estimate from states."""
        return "file" if self.listless == 0 else "state"

    def require_known(self, gold: GoldTasks) -> None:
        """Every dialogue must be one of the gold file."""
        for key in self.lengths:
            if key not in gold.turns:
                raise DialgaugeError(
                    "the gold file has no such dialogue; is it from the same dataset and split?"
                    f"{nearest(key, gold.turns, listed=False)}",
                    file=self.source or self.name,
                    dialogue=key,
                )

    def notes(self, *, strict: bool = False) -> list[str]:
        """What a reader of the scores must know about the file; ``strict`` refuses what would be switched."""
        notes: list[str] = [self._switched(*key, strict=strict) for key in self._partial_keys()]
        if self.stateless == self.turns:
            message = "it has no states, so gold states are used: a score of the policy, not of the whole system"
            notes.append(Note("gold_states", message))
        if self.unknown:
            shown = ", ".join(f"[{name}] {count}" for name, count in self.unknown.most_common(_SHOWN))
            notes.append(Note("unknown_placeholders", f"placeholders of unknown class, ignored: {shown}"))
        if strange := self._strange_domains():
            shown = ", ".join(f"'{name}' {count}" for name, count in strange.most_common(_SHOWN))
            message = f"states or active_domains name domains that MultiWOZ does not have, ignored: {shown}"
            notes.append(Note("unknown_domains", message))
        return notes

    def length_notes(self, gold: GoldTasks) -> list[str]:
        """Where responses and gold turns are not equally many: they are aligned from the start, and nothing else."""
        lengths = [
            (gold.names[key], self.lengths[key], turns) for key, turns in gold.turns.items() if key in self.lengths
        ]
        fewer = [f"{name} {there} of {wanted}" for name, there, wanted in lengths if there < wanted]
        more = [f"{name} {there} of {wanted}" for name, there, wanted in lengths if there > wanted]
        notes: list[str] = []
        if fewer:
            message = "they are aligned from the start, and the last turns stay unanswered"
            notes.append(Note("fewer_responses", f"fewer responses than gold turns in {_some(fewer)}: {message}"))
        if more:
            message = f"more responses than gold turns in {_some(more)}: those after the end are ignored"
            notes.append(Note("more_responses", message))
        return notes

    def _partial_keys(self) -> list[tuple[str, int, str]]:
        keys = [
            ("state", self.stateless, "gold states are used for ALL turns of the file: this is a score of the policy, "
             "not of the whole system, and must not be compared with end-to-end scores"),
            ("active_domains", self.listless, "existing lists are ignored too, and domains are estimated "
             "from states"),
        ]  # fmt: skip
        return [key for key in keys if 0 < key[1] < self.turns]

    def _switched(self, key: str, lacking: int, then: str, *, strict: bool) -> Note:
        lack = "lacks" if lacking == 1 else "lack"
        message = f"{lacking:,} of {counted(self.turns, 'turn')} {lack} the key '{key}', so {then}"
        if not strict:
            return Note("partial_key", f"WARNING: {message}")
        dialogue, turn = next(
            (name, number)
            for name, turns in self.dialogues.items()
            for number, each in enumerate(turns)
            if (each.state if key == "state" else each.active) is None
        )
        raise DialgaugeError(
            f"{message}; add the key to every turn, or leave out --strict",
            file=self.source or self.name,
            dialogue=dialogue,
            turn=turn,
        )

    def _strange_domains(self) -> Counter[str]:
        """Names that are no domain, each with its turns; writing 'Hotel' for 'hotel' makes a state disappear."""
        strange: Counter[str] = Counter()
        for names, count in self._named.items():
            strange.update(dict.fromkeys(set(names).difference(DOMAINS), count))
        return strange


def _some(places: Sequence[str]) -> str:
    """How many dialogues, and the first of them."""
    return f"{counted(len(places), 'dialogue')} ({some_of(places, _SHOWN)})"


class _Entry(Struct, gc=False):
    response: str
    state: Raw | UnsetType = UNSET
    active_domains: tuple[str, ...] | UnsetType = UNSET


_FILE = Keyed(list[_Entry])
_STATE = msgspec.json.Decoder(dict[str, Raw])
_SLOTS = msgspec.json.Decoder(dict[str, str])
_LOOSE_SLOTS = msgspec.json.Decoder(dict[str, Any])


def read_predictions(source: str | Path, name: str | None = None) -> TaskPredictions:
    """A prediction file in the layout of MultiWOZ_Evaluation (``mwzeval``)."""
    return predictions_in(resolve(source), name or system_name(source), str(source))


def predictions_in(parts: Iterable[Part], name: str, source: str = "") -> TaskPredictions:
    """What files of that layout hold; ``source`` is what errors call them."""
    seen: set[str] = set()

    def keyed() -> Iterator[tuple[str, list[TaskTurn]]]:
        for part in parts:
            for key, turns in _read_part(part):
                if key in seen:
                    raise DialgaugeError("two dialogues have this id (case and .json are ignored)",
                                         file=part.name, dialogue=key)  # fmt: skip
                seen.add(key)
                yield key, turns

    predictions = TaskPredictions(name, hold_by_key(keyed(), list[TaskTurn]), source)
    if not predictions.turns:
        raise DialgaugeError("it holds no responses", file=source or name)
    return predictions


class _Pairs(dict[tuple[str, str], tuple[str, str]]):
    """Slots and values made comparable, each pair once."""

    def __missing__(self, pair: tuple[str, str]) -> tuple[str, str]:
        slot = normal_slot(pair[0])
        normal = self[pair] = slot, normal_value(slot, pair[1])
        return normal


class _Slots(dict[bytes, dict[str, str]]):
    """The slots of a domain; they repeat from turn to turn."""

    def __init__(self) -> None:
        self._pairs = _Pairs()

    def __missing__(self, content: bytes) -> dict[str, str]:
        slots = self[content] = dict(map(self._pairs.__getitem__, _SLOTS.decode(content).items()))
        return slots


class _States(dict[bytes, TaskState]):
    """States by what the file says; they repeat from turn to turn too."""

    def __init__(self) -> None:
        self._slots = _Slots()

    def __missing__(self, content: bytes) -> TaskState:
        slots = self._slots
        if len(self) > _REMEMBERED:
            self.clear()
        state = self[content] = {domain: slots[bytes(raw)] for domain, raw in _STATE.decode(content).items()}
        return state


def _read_part(part: Part) -> Iterator[tuple[str, list[TaskTurn]]]:
    states = _States()

    def turns(entries: Sequence[_Entry], dialogue: str) -> list[TaskTurn]:
        try:
            return [
                TaskTurn(
                    entry.response,
                    None if entry.state is UNSET else states[bytes(entry.state)],
                    None if entry.active_domains is UNSET else entry.active_domains,
                )
                for entry in entries
            ]
        except msgspec.DecodeError as error:
            number, message = _unreadable_state(entries, states)
            raise DialgaugeError(message, file=part.name, dialogue=dialogue, turn=number) from error

    return ((dialogue_key(name), turns(entries, name)) for name, entries in _entries(part))


def _entries(part: Part) -> Iterator[tuple[str, list[_Entry]]]:
    try:
        yield from _FILE.read(part, Notes())
    except DialgaugeError as error:
        name = format_name(part)
        if name == "multiwoz":
            message = "this is a MultiWOZ file with goals, which comes first: dialgauge tasks score GOLD PRED..."
            raise DialgaugeError(message, file=part.name) from error
        if name not in (None, "mwzeval"):
            message = f"its format is '{name}', which has no responses; PRED must be in the format 'mwzeval'"
            raise DialgaugeError(message, file=part.name) from error
        raise


def _unreadable_state(entries: Sequence[_Entry], states: Mapping[bytes, TaskState]) -> tuple[int, str]:
    """The first turn whose state cannot be read, and what in it is not as it should be."""
    for number, entry in enumerate(entries):
        content = b"{}" if entry.state is UNSET else bytes(entry.state)
        try:
            _ = states[content]
        except msgspec.DecodeError as error:
            return number, _problem(content) or f"the state cannot be read ({error})"
    raise ValueError("all states can be read")


def _problem(content: bytes) -> str | None:
    try:
        state = _STATE.decode(content)
    except msgspec.DecodeError:
        return f"the state must be an object of domain to slots (got {content.decode()[:_EXCERPT]})"
    for domain, raw in state.items():
        try:
            slots = _LOOSE_SLOTS.decode(raw)
        except msgspec.DecodeError:
            return f"the state of '{domain}' must be an object of slot to text"
        for slot, value in slots.items():
            if not isinstance(value, str):
                return f"the value of {domain}-{slot} must be a text (got {msgspec.json.encode(value).decode()})"
    return None


def human_responses(gold: GoldTasks) -> TaskPredictions:
    """The wizards of the corpus as a system: their own words, delexicalised, with gold states."""
    turns = ((key, [TaskTurn(_bracketed(text)) for text in references]) for key, references in gold.references.items())
    return TaskPredictions("human", hold_by_key(turns, list[TaskTurn]))


_BRACKETED = {
    "NAME": "name", "AREA": "area", "TYPE": "type", "FOOD": "food", "ADDRESS": "address", "PHONE": "phone",
    "POST": "postcode", "PRICE": "price", "TRAINID": "trainid", "REFERENCE": "ref", "TIME": "time", "DAY": "day",
    "PLACE": "destination", "COUNT": "choice",
}  # fmt: skip


def _bracketed(reference: str) -> str:
    for word, name in _BRACKETED.items():
        if word in reference:
            reference = reference.replace(word, f"[{name}]")
    return reference


def states_of(turns: Sequence[TaskTurn], gold: GoldTask, *, own: bool) -> list[TaskState]:
    """The states of a dialogue: the system's own, or gold's."""
    return [turn.state or {} for turn in turns] if own else list(gold.states[: len(turns)])


def active_domains(
    turns: Sequence[TaskTurn], estimate: Sequence[str | None], mode: DomainMode
) -> list[tuple[str, ...]]:
    """For every turn the domains that the response is taken to be about; ``estimate`` is that of the states."""
    if mode == "file":
        return [turn.active or () for turn in turns]
    if mode == "placeholders":
        return [named_domains(turn.response) for turn in turns]
    return [() if domain is None else (domain,) for domain in estimate]


@lru_cache(1 << 16)
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
        changed = (
            [] if state is previous else [name for name, slots in state.items() if _news(slots, previous.get(name))]
        )
        if not changed and current is None:
            estimate.append(None)
            continue
        if not changed:
            if len(changed_before) > 1:
                current = next((name for name in changed_before if name in state and name != current), current)
        elif current not in changed:
            current = max(changed, key=lambda domain: len(state[domain]))
        previous, changed_before = state, changed
        estimate.append(current)
    return estimate


def _news(slots: Mapping[str, str], before: Mapping[str, str] | None) -> bool:
    if slots is before:
        return False
    return bool(slots) if before is None else not slots.items() <= before.items()
