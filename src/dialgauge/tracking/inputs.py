"""What people hand to the scorer: files, corpora, frames, dialogues or plain states, with gold beside or inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dialgauge import formats
from dialgauge.dialogue import Dialogue, Ontology, State, Turn, dialogue_key
from dialgauge.engine import Unit, Work, Workers, place_of, run as run_units
from dialgauge.errors import DialgaugeError
from dialgauge.formats import (
    ALL_FIELDS,
    Corpus,
    carries,
    hold,
    is_empty_json,
    list_shards,
    named_files,
    read,
    system_name,
    system_names,
    user_turns,
)
from dialgauge.text import Note, counted

if TYPE_CHECKING:
    from dialgauge.formats import AnyFrame

#: A state as training code has it: ``{"hotel": {"area": "north"}}`` or ``{"hotel-area": "north"}``; lists of values are
#: alternatives.
LooseState: TypeAlias = Mapping[str, "str | Sequence[str] | Mapping[str, str | Sequence[str]]"]
#: By dialogue the states of its user turns.
PlainStates: TypeAlias = Mapping[str, Sequence[LooseState]]
Source: TypeAlias = "str | Path | Corpus | Sequence[Dialogue] | AnyFrame | PlainStates | Sequence[Mapping[str, Any]]"
#: Files, or systems by name.
Systems: TypeAlias = "str | Path | Sequence[str | Path] | Mapping[str, Source]"

#: What is remarked of predicted values that mean "absent", though not to every public evaluator.
_BLANKS = (
    "predicted values 'none' or empty read as absent (SGD's official scores, with --schema, and the profile mwzeval "
    "count them as filled)"
)
_FILLED = "predicted values 'none' or empty counted as filled slots"
#: In place of a gold file: each prediction file brings its own gold.
SELF = "self"


class Remark(Struct, frozen=True):
    """Something in a prediction file that was read as something else: how often, and the first place."""

    what: str
    count: int
    first: str = ""


class SystemInput(Struct, frozen=True, eq=False, dict=True):
    """One input, read: its name for people, its dialogues, and what is known of where they came from."""

    name: str
    dialogues: Sequence[Dialogue]
    format: str = ""
    path: str = ""
    #: ``dialogues`` or ``predictions``: what the format is made for.
    kind: str = ""
    ontology: Ontology | None = None
    #: What dialogues of the format can carry.
    fields: frozenset[str] = ALL_FIELDS
    #: What had to be read as something else, such as invalid outputs of a language model.
    remarks: tuple[Remark, ...] = ()
    #: How a mapping, or the common names, read the file.
    read_as: str = ""
    #: The file of the mapping that read it, and its checksum.
    mapping: str = ""
    mapping_sha256: str = ""
    #: The number that the file gives to what was read as its first turns, and the distance to the next.
    numbered: tuple[int, int] = (0, 1)
    #: What a mapping says of turns without a row.
    missing: str = ""
    #: Whether a person said how turns are numbered.
    recounted: bool = False
    #: What was changed as asked.
    notes: tuple[Note, ...] = ()

    @cached_property
    def carried(self) -> frozenset[str]:
        """Which states any of its turns has."""
        return frozenset(name for name in ("state", "predicted", "judged", "blank") if carries(self.dialogues, name))

    @property
    def predicts(self) -> bool:
        """Has it predicted states, or flags that stand for them?"""
        return not self.carried.isdisjoint(("predicted", "judged"))

    @property
    def brings_gold(self) -> bool:
        """Has it its own gold states beside the predictions?"""
        return self.predicts and "state" in self.carried

    def described(self) -> str:
        """What was recognised, for the log: ``augpt: mwzeval, 1,000 dialogues, 7,372 user turns``."""
        turns = counted(user_turns(self.dialogues), "user turn")
        if self.read_as:
            return f"{self.name}: read as: {self.read_as}; {turns}"
        kind = f"{self.format}, " if self.format else ""
        return f"{self.name}: {kind}{counted(len(self.dialogues), 'dialogue')}, {turns}"

    @property
    def said(self) -> list[Note]:
        """How it was read, and what was changed as asked."""
        return [*([Note("read_as", f"read as: {self.read_as}")] if self.read_as else []), *self.notes]

    def remark_notes(self, *, official: bool, counts_blanks: bool) -> list[Note]:
        """What was read as something else: ``numbers read as texts: 12 (first in dialogue MUL0001, turn 3)``.

        The official scores of SGD say themselves what they do with values that mean "absent".
        """
        remarks = list(self.remarks)
        if not official and "blank" in self.carried and (blanks := _blanks(self.dialogues)):
            remarks.append(Remark(_FILLED if counts_blanks else _BLANKS, len(blanks), blanks[0]))
        return [
            Note("remarks", f"{each.what}: {each.count:,}{f' (first in {each.first})' if each.first else ''}")
            for each in remarks
        ]


def _blanks(dialogues: Sequence[Dialogue]) -> list[str]:
    """Where slots have a value that means "absent", in formats that keep them apart."""
    return [
        f"dialogue {dialogue.id}, turn {number}"
        for dialogue in dialogues
        for number, turn in enumerate(dialogue.turns)
        for slots in (turn.blank or {}).values()
        for _ in slots
    ]


def load(
    source: Source, name: str | None = None, format: str | None = None, *, may_be_empty: bool = False
) -> SystemInput:
    """Read one input; with the name ``gold`` plain states are gold states.

    ``may_be_empty``: a JSON file with nothing in it is a system that predicts nothing.
    """
    if isinstance(source, str | Path):
        if may_be_empty and is_empty_json(source):
            return SystemInput(name or system_name(source), (), "nothing predicted", str(source))
        return _of_corpus(read(source, format=format), name or system_name(source), str(source))
    called = name or "system"
    if isinstance(source, Corpus):
        return _of_corpus(source, called, "")
    if formats.is_frame(source):
        return _of_corpus(read(source), called, "")
    if not isinstance(source, Mapping | Sequence):
        advice = "; give what its .to_dict() makes" if hasattr(source, "to_dict") else ""
        raise DialgaugeError(
            f"something of type {type(source).__name__} cannot be read as {name or 'predictions'}: give a file, "
            f"a frame, a dataset, dialogues, or states by dialogue{advice}"
        )
    if isinstance(source, Mapping) and _are_states(source):
        gold = called == "gold"
        return SystemInput(called, [states_dialogue(str(key), states, gold=gold) for key, states in source.items()])
    if not isinstance(source, Mapping) and all(isinstance(each, Dialogue) for each in cast(Sequence[object], source)):
        return SystemInput(called, cast(Sequence[Dialogue], source))
    return _of_corpus(read(source), called, "")  # as a file of the same content is read


def _of_corpus(corpus: Corpus, name: str, path: str) -> SystemInput:
    notes, reading = corpus.notes, corpus.notes.reading
    gold = name == "gold"
    dialogues: Sequence[Dialogue] = corpus.dialogues
    if gold and reading is not None and reading.either_side:
        dialogues = [_as_gold(dialogue) for dialogue in dialogues]
    return SystemInput(
        name,
        dialogues,
        corpus.format,
        path,
        corpus.kind,
        next((resource.ontology for resource in corpus.resources if resource.ontology is not None), None),
        corpus.fields,
        tuple(Remark(what, notes.counts[what], places[0]) for what, places in notes.places.items()),
        reading.line(gold=gold) if reading else "",
        reading.source if reading else "",
        reading.sha256 if reading else "",
        notes.numbered,
        reading.mapping.missing if reading else "",
    )


def _as_gold(dialogue: Dialogue) -> Dialogue:
    """Plain states of a file that is given as gold."""
    turns = (turn if turn.state is not None else replace(turn, state=turn.predicted) for turn in dialogue.turns)
    return replace(dialogue, turns=tuple(replace(turn, predicted=None) for turn in turns))


def load_systems(
    sources: Systems, format: str | None, *, may_be_empty: bool = False, workers: Workers = None
) -> list[SystemInput]:
    """Read the systems; names are unique. With ``workers``, files are read where these run."""
    if place_of(workers).asked:
        return [load_parts(source, name, format, workers) for name, source in named_files(sources).items()]
    return [load(source, name, format, may_be_empty=may_be_empty) for name, source in named_systems(sources).items()]


def named_systems(sources: Systems) -> Mapping[str, Source]:
    """Systems by name; files are called by their names."""
    if isinstance(sources, Mapping) and not _are_states(sources):
        return sources
    paths = [sources] if isinstance(sources, str | Path) else sources
    if not isinstance(paths, list | tuple) or not all(isinstance(path, str | Path) for path in paths):
        raise DialgaugeError(
            "predictions are files, or systems by name: score(gold, {'mine': predictions}), where predictions are a "
            "file, a frame, a dataset, dialogues, or states by dialogue"
        )
    files = [str(path) for path in paths]
    return dict(zip(system_names(files), files, strict=True))


def _are_states(source: Mapping[Any, Any]) -> bool:
    """True for lists of states by dialogue: the rows of another table say whose they are, and belong to nobody else."""
    filled = {name: states for name, states in source.items() if not isinstance(states, list | tuple) or states}
    return bool(filled) and all(
        isinstance(states, list | tuple)
        and all(isinstance(state, Mapping) for state in states)
        and dialogue_key(formats.dialogue_named(states[0]) or str(name)) == dialogue_key(str(name))
        for name, states in filled.items()
    )


class _ReadFile(Work[None, str]):
    """Reads one file of an input."""

    def __init__(self, name: str, format: str | None) -> None:
        self._name, self._format = name, format

    def open(self) -> None:
        """Nothing is kept open."""

    def do(self, state: None, unit: Unit[str]) -> bytes:
        """The input of one file."""
        part = load(unit.payload, self._name, self._format)
        return msgspec.msgpack.encode(replace(part, dialogues=list(part.dialogues)))


def load_parts(source: str | Path, name: str, format: str | None, workers: Workers) -> SystemInput:
    """One input of which each file is read by a worker; what comes out does not depend on where they run."""
    files = list_shards([str(source)])
    decoder = msgspec.msgpack.Decoder(SystemInput)
    parts: list[SystemInput] = []

    def dialogues() -> Iterator[Dialogue]:
        seen: dict[str, str] = {}
        units = (Unit(file, file) for file in files)
        for file, done in zip(files, run_units(_ReadFile(name, format), units, workers=workers), strict=True):
            if done.content is None:
                raise DialgaugeError(done.failure or f"{file} could not be read")
            part = decoder.decode(done.content)
            for dialogue in part.dialogues:
                if (first := seen.setdefault(dialogue_key(dialogue.id), file)) != file:
                    raise DialgaugeError(f"the dialogue is also in {first}", file=file, dialogue=dialogue.id)
                yield dialogue
            parts.append(replace(part, dialogues=()))
            if part.format != parts[0].format:
                sentence = f"it is in the format {part.format}, but files before it are in {parts[0].format}"
                raise DialgaugeError(f"{sentence}; name the files of one of them with a pattern", file=file)

    held = hold(dialogues())
    first = parts[0]
    remarks: dict[str, Remark] = {}
    for remark in (remark for part in parts for remark in part.remarks):
        known = remarks.get(remark.what, replace(remark, count=0))
        remarks[remark.what] = replace(known, count=known.count + remark.count)
    others = f" (the first of {counted(len(parts), 'file')})" if len(parts) > 1 and first.read_as else ""
    return replace(
        first,
        dialogues=held,
        path=str(source),
        remarks=tuple(remarks.values()),
        read_as=f"{first.read_as}{others}",
        numbered=max(part.numbered for part in parts),
    )


def declared_scope(dialogues: Sequence[Dialogue]) -> dict[str, str]:
    """For a file of one-domain predictions the domain of each dialogue, by dialogue key; empty for all others.

    Zero-shot experiments (T5-DST) predict one held-out domain and write only its slots; the other domains of the gold
    states are outside the experiment, not missed: gold is cut down before it is compared. It is such a file when every
    dialogue declares exactly one domain, and no state, its own gold or predicted, reaches beyond it.
    """
    scope = {}
    for dialogue in dialogues:
        states = (state for turn in dialogue.turns for state in (turn.state, turn.predicted))
        if len(dialogue.domains) != 1 or {domain.lower() for state in states for domain in state or ()} - {
            dialogue.domains[0].lower()
        }:
            return {}
        scope[dialogue_key(dialogue.id)] = dialogue.domains[0].lower()
    return scope


def cut_down(gold: Sequence[Dialogue], scope: Mapping[str, str]) -> list[Dialogue]:
    """Gold dialogues with only the slots in scope; dialogues that the file does not have stay whole."""

    def cut(turn: Turn, domain: str) -> Turn:
        state = {name: slots for name, slots in (turn.state or {}).items() if name.lower() == domain}
        return turn if turn.state is None or state == turn.state else replace(turn, state=state)

    return [
        dialogue if domain is None else replace(dialogue, turns=tuple(cut(turn, domain) for turn in dialogue.turns))
        for dialogue in gold
        for domain in (scope.get(dialogue_key(dialogue.id)),)
    ]


def states_dialogue(name: str, states: Sequence[LooseState], *, gold: bool) -> Dialogue:
    """A dialogue of user turns with nothing but their states, gold or predicted."""
    made = [_loose_state(state, name, turn) for turn, state in enumerate(states)]
    turns = [Turn(speaker="user", state=record) if gold else Turn(speaker="user", predicted=record) for record in made]
    return Dialogue(id=name, turns=tuple(turns))


def _loose_state(state: LooseState, dialogue: str, turn: int) -> State:
    """A state in the data model from a nested or a flat mapping."""
    nested: State = {}
    if not isinstance(state, Mapping):
        raise DialgaugeError(f"a state must be a mapping (got {state!r:.60})", dialogue=dialogue, turn=turn)
    pairs: Iterable[tuple[Any, Any]] = state.items()
    for key, value in pairs:
        if isinstance(value, Mapping):
            for slot, inner in value.items():
                nested.setdefault(key, {})[slot] = _values(inner, f"{key}-{slot}", dialogue, turn)
            continue
        name = "-".join(map(str, key)) if isinstance(key, tuple) else str(key)
        domain, hyphen, slot = name.partition("-")
        if not hyphen:
            raise DialgaugeError(
                f"'{name}' is neither a domain with slots nor of the form domain-slot", dialogue=dialogue, turn=turn
            )
        nested.setdefault(domain, {})[slot] = _values(value, name, dialogue, turn)
    return nested


def _values(value: str | Sequence[str], slot: str, dialogue: str, turn: int) -> tuple[str, ...]:
    values = (value,) if isinstance(value, str) or not isinstance(value, Sequence) else tuple(value)
    for name in values:
        if not isinstance(name, str):
            raise DialgaugeError(
                f"{slot} is {name!r:.60}; values must be strings; leave absent slots out",
                dialogue=dialogue,
                turn=turn,
            )
    return values
