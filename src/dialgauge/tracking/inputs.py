"""What people hand to the scorer: files, corpora or dialogues, one system or many, with gold beside or inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec
from msgspec import Struct, structs
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
from dialgauge.tracking.additive import joined
from dialgauge.tracking.encode import carries_gold

if TYPE_CHECKING:
    from dialgauge.formats import AnyFrame, Notes

#: A state as training code has it: ``{"hotel": {"area": "north"}}`` or ``{"hotel-area": "north"}``; lists of values are
#: alternatives.
LooseState: TypeAlias = Mapping[str, "str | Sequence[str] | Mapping[str, str | Sequence[str]]"]
#: By dialogue the states of its user turns.
PlainStates: TypeAlias = Mapping[str, Sequence[LooseState]]
Source: TypeAlias = "str | Path | Corpus | Sequence[Dialogue] | AnyFrame | PlainStates"

#: What is remarked of predicted values that mean "absent", though not to every public evaluator.
BLANKS = (
    "predicted values 'none' or empty read as absent (SGD's official scores, with --schema, and the profile mwzeval "
    "count them as filled)"
)
_FILLED = "predicted values 'none' or empty counted as filled slots"

#: Places of a remark that are kept.
_PLACES = 20

_WHAT = "predictions are files, frames, datasets, dialogues or states by dialogue, or a mapping of names to them"

#: What is surely no frame.
_AT_A_GLANCE = (dict, list, tuple, str)
#: In place of a gold file: each prediction file brings its own gold.
SELF = "self"


class Remark(Struct, frozen=True):
    """Something in a prediction file that was read as something else: how often, and the first places."""

    what: str
    count: int
    places: list[str]

    def sentence(self) -> str:
        """One line for people: ``numbers read as texts: 12 (first in dialogue MUL0001, turn 3)``."""
        first = f" (first in {self.places[0]})" if self.places else ""
        return f"{self.what}: {self.count:,}{first}"


def blank_remarks(dialogues: Sequence[Dialogue]) -> list[Remark]:
    """A remark on slots whose value means "absent", where a format keeps them apart."""
    if not carries(dialogues, "blank"):
        return []
    places = [
        f"dialogue {dialogue.id}, turn {number}"
        for dialogue in dialogues
        for number, turn in enumerate(dialogue.turns)
        if turn.blank
        for slots in turn.blank.values()
        for _ in slots
    ]
    return [Remark(BLANKS, len(places), places[:1])] if places else []


def remarks_on(remarks: Sequence[Remark], *, official: bool, counts_blanks: bool) -> list[Remark]:
    """What to say beside scores; the official ones say themselves what they do with blank values."""
    kept = [remark for remark in remarks if not (official and remark.what == BLANKS)]
    return [replace(remark, what=_FILLED) if counts_blanks and remark.what == BLANKS else remark for remark in kept]


class FileReading(Struct, frozen=True, kw_only=True):
    """What reading an input showed."""

    #: What had to be read as something else, such as invalid outputs of a language model.
    remarks: tuple[Remark, ...] = ()
    #: How a mapping, or the common names, read the file, and whether its states are those of the side it is given as.
    read_as: str = ""
    either_side: bool = False
    #: The file of the mapping that read it, and its checksum.
    mapping: str = ""
    mapping_sha256: str = ""
    #: The number that the file gives to what was read as its first turns.
    numbered_from: int = 0
    #: What ConvLab-3's dialogues are called in the dataset that they are from, by their ids.
    original_ids: dict[str, str] = {}

    @classmethod
    def of(cls, notes: Notes, *, gold: bool = False) -> FileReading:
        return cls(
            remarks=tuple(Remark(what, notes.counts[what], places) for what, places in notes.places.items()),
            read_as=notes.reading.line(gold=gold) if notes.reading else "",
            either_side=notes.reading is not None and notes.reading.either_side,
            mapping=notes.reading.source if notes.reading else "",
            mapping_sha256=notes.reading.sha256 if notes.reading else "",
            numbered_from=notes.numbered_from,
            original_ids=notes.original_ids,
        )

    @classmethod
    def joined(cls, parts: Sequence[FileReading]) -> FileReading:
        remarks: dict[str, Remark] = {}
        for remark in (remark for part in parts for remark in part.remarks):
            known = remarks.get(remark.what, Remark(remark.what, 0, []))
            places = [*known.places, *remark.places][:_PLACES]
            remarks[remark.what] = Remark(remark.what, known.count + remark.count, places)
        read_as = [part.read_as for part in parts if part.read_as]
        others = f" (the first of {counted(len(parts), 'file')})" if len(parts) > 1 else ""
        return replace(
            joined([replace(part, remarks=()) for part in parts]),
            remarks=tuple(remarks.values()),
            read_as=f"{read_as[0]}{others}" if read_as else "",
            numbered_from=max(part.numbered_from for part in parts),
        )

    def notes(self) -> list[Note]:
        return [Note("read_as", f"read as: {self.read_as}")] if self.read_as else []


class SystemInput(FileReading, frozen=True, eq=False):
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

    @property
    def brings_gold(self) -> bool:
        return "state" in self.fields and carries_gold(self.dialogues)

    def described(self) -> str:
        """What was recognised, for the log: ``augpt: mwzeval, 1,000 dialogues, 7,372 user turns``."""
        turns = user_turns(self.dialogues)
        kind = f"{self.format}, " if self.format else ""
        if self.read_as:
            return f"{self.name}: read as: {self.read_as}; {counted(turns, 'user turn')}"
        return f"{self.name}: {kind}{counted(len(self.dialogues), 'dialogue')}, {counted(turns, 'user turn')}"


class _FileRead(Struct, frozen=True):
    """What a worker sends back of one file."""

    dialogues: list[Dialogue]
    reading: FileReading
    format: str
    kind: str
    ontology: Ontology | None
    fields: frozenset[str]


class _ReadFile(Work[None, str]):
    """Reads one file of an input."""

    def __init__(self, name: str, format: str | None) -> None:
        self._name, self._format = name, format

    def open(self) -> None:
        """Nothing is kept open."""

    def do(self, state: None, unit: Unit[str]) -> bytes:
        """The dialogues of a file."""
        read_ = load(unit.payload, self._name, self._format)
        reading = FileReading(**{name: getattr(read_, name) for name in FileReading.__struct_fields__})
        part = _FileRead(list(read_.dialogues), reading, read_.format, read_.kind, read_.ontology, read_.fields)
        return msgspec.msgpack.encode(part)


def load_parts(source: str | Path, name: str, format: str | None, workers: Workers) -> SystemInput:
    """One input of which each file is read by a worker; what comes out does not depend on where they run."""
    files = [shard.name for shard in list_shards([str(source)])]
    decoder = msgspec.msgpack.Decoder(_FileRead)
    parts: list[_FileRead] = []

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
            parts.append(replace(part, dialogues=[]))
            if part.format != parts[0].format:
                sentence = f"it is in the format {part.format}, but files before it are in {parts[0].format}"
                raise DialgaugeError(f"{sentence}; name the files of one of them with a pattern", file=file)

    held = hold(dialogues())
    first, facts = parts[0], structs.asdict(FileReading.joined([part.reading for part in parts]))
    return SystemInput(name, held, first.format, str(source), first.kind, first.ontology, first.fields, **facts)


def load(
    source: Source, name: str | None = None, format: str | None = None, *, may_be_empty: bool = False
) -> SystemInput:
    """Read one input; with the name ``gold`` plain states are gold states.

    ``may_be_empty``: a JSON file with nothing in it is a system that predicts nothing.
    """
    if isinstance(source, str | Path):
        if may_be_empty and is_empty_json(source):
            return SystemInput(name or system_name(source), (), "nothing predicted", str(source))
        corpus = read(source, format=format)
        return _of_corpus(corpus, name or system_name(source), str(source))
    if isinstance(source, Corpus):
        return _of_corpus(source, name or "system", "")
    if _is_frame(source):
        return _of_corpus(read(cast("AnyFrame", source)), name or "system", "")
    if isinstance(source, Mapping):
        return _of_plain(source, name or "system")
    if not isinstance(source, Sequence):
        raise DialgaugeError(
            f"something of type {type(source).__name__} cannot be read as {name or 'predictions'}: give a file, "
            f"a frame, a dataset, dialogues, or states by dialogue{_as_dictionary(source)}"
        )
    if not all(isinstance(element, Dialogue) for element in cast(Sequence[object], source)):
        return _of_plain(source, name or "system")
    return SystemInput(name or "system", cast(Sequence[Dialogue], source))


def _of_plain(source: Any, name: str) -> SystemInput:
    """Dictionaries and lists: states by dialogue as they are, everything else as files of the same content are read."""
    if not (isinstance(source, Mapping) and _are_states(source)):
        return _of_corpus(read(source), name, "")
    gold = name == "gold"
    return SystemInput(name, [states_dialogue(str(key), states, gold=gold) for key, states in source.items()])


def _of_corpus(corpus: Corpus, name: str, path: str) -> SystemInput:
    ontology = next((resource.ontology for resource in corpus.resources if resource.ontology is not None), None)
    reading = FileReading.of(corpus.notes, gold=name == "gold")
    dialogues: Sequence[Dialogue] = corpus.dialogues
    if name == "gold" and reading.either_side:
        dialogues = [_as_gold(dialogue) for dialogue in dialogues]
    facts = structs.asdict(reading)
    return SystemInput(name, dialogues, corpus.format, path, corpus.kind, ontology, corpus.fields, **facts)


def _as_gold(dialogue: Dialogue) -> Dialogue:
    """Plain states of a file that is given as gold."""
    turns = (turn if turn.state is not None else replace(turn, state=turn.predicted) for turn in dialogue.turns)
    return replace(dialogue, turns=tuple(replace(turn, predicted=None) for turn in turns))


def load_systems(
    sources: Source | Mapping[str, Source] | Sequence[str | Path],
    format: str | None,
    *,
    may_be_empty: bool = False,
    workers: Workers = None,
) -> list[SystemInput]:
    """Read one or several systems; names are unique. With ``workers``, files are read where these run."""
    if place_of(workers).asked:
        return [load_parts(source, name, format, workers) for name, source in named_files(sources).items()]
    if _is_frame(sources):
        return [load(cast("AnyFrame", sources), None, format)]
    if isinstance(sources, Mapping) and not _is_one_system(sources):
        return [
            load(cast("Source", source), name, format, may_be_empty=may_be_empty) for name, source in sources.items()
        ]
    if isinstance(sources, str | Path | Corpus | Mapping):
        return [load(cast("Source", sources), None, format, may_be_empty=may_be_empty)]
    if not isinstance(sources, Sequence):
        raise DialgaugeError(
            f"something of type {type(sources).__name__} cannot be scored: {_WHAT}{_as_dictionary(sources)}"
        )
    if not len(sources):
        raise DialgaugeError("there is nothing to score: name at least one prediction file")
    if all(isinstance(source, str | Path) for source in sources):
        paths = [str(source) for source in sources]
        named = zip(paths, system_names(paths), strict=True)
        return [load(path, name, format, may_be_empty=may_be_empty) for path, name in named]
    if any(isinstance(source, Dialogue | str | Path) for source in sources):
        dialogues = [source for source in sources if isinstance(source, Dialogue)]
        if len(dialogues) < len(sources):
            raise DialgaugeError(
                "predictions are either files or dialogues; for several systems give a mapping of names"
            )
    return [load(cast("Source", sources), None, format)]


def _as_dictionary(source: object) -> str:
    """What a column of pandas, which has the ids as its index, can be given as."""
    return "; give what its .to_dict() makes" if hasattr(source, "to_dict") else ""


def how_many(sources: object) -> int:
    """How many systems these are, before they are read: a frame is one."""
    if isinstance(sources, str | Corpus) or (isinstance(sources, Mapping) and _is_one_system(sources)):
        return 1
    return len(sources) if isinstance(sources, Mapping | Sequence) else 1


def _is_one_system(sources: Mapping[Any, Any]) -> bool:
    """True for states by dialogue, in lists or by the number of the turn; False for systems by name."""
    return bool(sources) and (all(map(_is_numbered, sources.values())) or _are_states(sources))


def _is_numbered(turns: object) -> bool:
    """True for the states of a dialogue by the number of the turn."""
    return isinstance(turns, Mapping) and all(
        str(turn).isdigit() and isinstance(state, Mapping) for turn, state in turns.items()
    )


def _are_states(sources: Mapping[Any, Any]) -> bool:
    """Are these the states of dialogues, and not systems by name?"""
    filled = {name: value for name, value in sources.items() if not isinstance(value, list | tuple) or value}
    return bool(filled) and all(
        isinstance(value, list | tuple)
        and all(isinstance(state, Mapping) for state in value)
        and not _are_rows(name, value)
        for name, value in filled.items()
    )


def _are_rows(name: object, value: object) -> bool:
    """Are these records of other dialogues than they stand under, and no states of one?"""
    first = value[0] if isinstance(value, list | tuple) and value else None
    if not isinstance(first, Mapping):
        return False
    named = formats.dialogue_named(first)
    return bool(named) and dialogue_key(named) != dialogue_key(str(name))


def _is_frame(sources: object) -> bool:
    """Is it a frame or a dataset? A dataset with several splits is a mapping, too; plain types import nothing."""
    if isinstance(sources, str | Path | Corpus) or type(sources) in _AT_A_GLANCE:
        return False
    return formats.is_frame(sources)


def declared_scope(dialogues: Sequence[Dialogue]) -> dict[str, str]:
    """For a file of one-domain predictions the domain of each dialogue, by dialogue key; empty for all others.

    Zero-shot experiments (T5-DST) predict one held-out domain and write only its slots; the other domains of the gold
    states are outside the experiment, not missed: gold is cut down before it is compared.

    It is such a file when every dialogue declares exactly one domain, and no state, its own gold or predicted, reaches
    beyond it. Files that declare the first of a dialogue's domains, and then hold a single other one throughout, are
    read as files of that domain.
    """
    if not dialogues or any(len(dialogue.domains) != 1 for dialogue in dialogues):
        return {}
    occurring = {dialogue.id: state_domains(dialogue) for dialogue in dialogues}
    everywhere = set[str]().union(*occurring.values())
    if all(occurring[dialogue.id] <= {dialogue.domains[0].lower()} for dialogue in dialogues):
        return {dialogue_key(dialogue.id): dialogue.domains[0].lower() for dialogue in dialogues}
    if len(everywhere) == 1:
        return dict.fromkeys((dialogue_key(dialogue.id) for dialogue in dialogues), everywhere.pop())
    return {}


def state_domains(dialogue: Dialogue) -> set[str]:
    """The domains of all states of a dialogue, gold or predicted."""
    states = (state for turn in dialogue.turns for state in (turn.state, turn.predicted))
    return {domain.lower() for state in states if state for domain in state}


def cut_down(gold: Sequence[Dialogue], scope: Mapping[str, str]) -> list[Dialogue]:
    """Gold dialogues with only the slots in scope; dialogues that the file does not have stay whole."""
    return [_cut(dialogue, scope.get(dialogue_key(dialogue.id))) for dialogue in gold]


def _cut(dialogue: Dialogue, domain: str | None) -> Dialogue:
    if domain is None:
        return dialogue
    return replace(dialogue, turns=tuple(_cut_turn(turn, domain) for turn in dialogue.turns))


def _cut_turn(turn: Turn, domain: str) -> Turn:
    if turn.state is None or all(name.lower() == domain for name in turn.state):
        return turn
    kept: State = {name: slots for name, slots in turn.state.items() if name.lower() == domain}
    return replace(turn, state=kept)


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
