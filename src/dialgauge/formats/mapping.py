"""A mapping: where a file keeps its dialogues, states, messages and verdicts, written down by a person.

It is a format. ``--format mine.yaml`` and ``format=Mapping(...)`` read with it, and so does ``FILE.map.yaml`` beside a
file. A mapping is strict: what does not fit it is an error that names row, path and line, and nothing is guessed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct, field

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.files import sha256_of
from dialgauge.formats.base import ALL_FIELDS, DialogueFormat, Peek
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.states import DECODERS, OPENERS, Misfit
from dialgauge.formats.row_paths import Pattern, Row, as_text, content_of, is_object, rows, steps
from dialgauge.formats.source import Part, parts_of
from dialgauge.yaml_file import YamlDocument, read_yaml

Scalar: TypeAlias = str | int | float | bool
#: A function from one record of a file to its dialogue, or None for a record that holds none.
RecordReader: TypeAlias = Callable[[Any], Dialogue | None]

SIDES = ("predicted", "gold")
#: What is known of a conversation beside its messages and its verdict.
FACTS = ("reward", "scores", "cost", "tokens", "seconds", "model", "instruction", "knows", "expected_calls")
#: Keys of a mapping that stand for one value of a row, in the order of a reading line.
VALUES = ("dialogue", "turn", *SIDES, "task", "trial", "success", *FACTS)
_OF_STATES = frozenset({"turn", *SIDES, "slot", "missing"})
_OF_LOGS = frozenset({"messages", "role", "content", "roles", "task", "trial", "success", *FACTS})
_NO_FOLDERS = frozenset("/\\:")


class Field(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a value stands in a row, and how it is written."""

    #: ``a.b[0]``, ``^name`` in the object around the row, ``{bound}``, ``$file``, ``$path``, or nothing for the row.
    at: str = ""
    #: A pattern for the first 300 characters, whose groups named dialogue, turn, state, task or trial give these.
    match: str = ""
    #: A pattern for names of columns, one for each slot; its group is domain-slot, or two are named domain and slot.
    #: Of ``success``: one column for each trial, with the group trial.
    columns: str = ""
    #: Openers and, for states, at the end a decoder: ``[json, flat]``; without it, the only one that reads all rows.
    written: str | tuple[str, ...] = field(default=(), name="as")
    #: The number of the first user turn, and how much is between two.
    first: int = 0
    step: int = 1
    #: Each turn holds what changed; an absent value empties its slot.
    changes: bool = False
    #: Of ``success``: the words for passed and failed (other words are not judged), or the lowest number that passes.
    true_values: tuple[Scalar, ...] = ()
    false_values: tuple[Scalar, ...] = ()
    at_least: float | None = None
    #: Of ``messages``: a text is one message by this role.
    role: str = ""

    @property
    def chain(self) -> tuple[str, ...]:
        """Openers and decoder."""
        return (self.written,) if isinstance(self.written, str) else self.written

    def words(self, name: str) -> str:
        """``predicted=state as flat``, for the line that says how a file was read."""
        words = [f"{name}={self.at or self.columns or 'row'}"]
        words += [f"as {' '.join(self.chain)}"] if self.chain else []
        words += [f"match {self.match}"] if self.match else []
        words += [f"by {self.role}"] if self.role else []
        words += ["(changes)"] if self.changes else []
        words += [f"at least {self.at_least:g}"] if self.at_least is not None else []
        words += [f"({' '.join(map(str, self.true_values))} passed)"] if self.true_values else []
        numbers = [f"from {self.first}"] if self.first else []
        numbers += [f"by {self.step}"] if self.step != 1 else []
        return " ".join([*words, *([f"({', '.join(numbers)})"] if numbers else [])])


def words(values: Iterable[Scalar]) -> set[str]:
    """Words for a verdict in small letters; YAML takes yes and no, without quotes, for true and false."""
    known = {True: {"true", "yes", "on"}, False: {"false", "no", "off"}}
    return {
        word for each in values for word in (known[each] if isinstance(each, bool) else {str(each).strip().lower()})
    }


class Join(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A second file, of which each row belongs to a row of the first: its fields are ``join.NAME`` there."""

    #: A name in the folder of the mapping.
    file: str
    #: A field of the row, and the field of the second file that holds the same.
    by: dict[str, str]


class Mapping(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """How a file is read, as YAML or in Python.

    >>> mapping = Mapping(reads="states", dialogue="dial", turn="t", predicted=Field(at="out", written=("flat",)))
    >>> mapping.line()
    'rows [], dialogue=dial, turn=t, predicted=out as flat'
    """

    #: States by dialogue and turn, conversations of agents, or only their verdicts.
    reads: Literal["states", "conversations", "results"]
    rows: str = "[]"
    #: Only rows in which these fields have this value, or one of these.
    where: dict[str, Scalar | list[Scalar]] = {}
    join: Join | None = None
    dialogue: str | Field | None = None
    #: Without it, a dialogue's rows are its turns in file order.
    turn: str | Field | None = None
    predicted: str | Field | None = None
    gold: str | Field | None = None
    #: One row per slot: where its domain and slot stand, or domain-slot; predicted and gold are then its value.
    slot: tuple[str, ...] = ()
    #: Values that mean that a slot is not filled, beside null.
    absent: tuple[Scalar, ...] = ("", "none", "not mentioned")
    #: Turns without a row: not predicted, an empty state, or the state before.
    missing: Literal["", "empty", "carry"] = ""
    #: Where the messages of a conversation stand, one list after the other. Without it, each row is a message.
    messages: str | Field | tuple[str | Field, ...] = ()
    #: Where a message says who speaks and what, if not under ``role`` and ``content``.
    role: str = ""
    content: str = ""
    #: Words for speakers: user, assistant, system or tool, or null for messages that are left out.
    roles: dict[str, str | None] = {}
    task: str | Field | None = None
    trial: str | Field | None = None
    success: str | Field | None = None
    reward: str | None = None
    #: Names of scores and where they stand, or one object of scores.
    scores: str | dict[str, str] | None = None
    cost: str | None = None
    tokens: str | None = None
    seconds: str | None = None
    model: str | None = None
    instruction: str | None = None
    knows: str | None = None
    expected_calls: str | None = None
    #: For tables: the names of columns without a heading, and lines above the table.
    header: tuple[str, ...] = ()
    skip: int = 0

    def field(self, name: str) -> Field | None:
        """The field of that name; of ids and numbers, what ``rows`` binds under it."""
        given = getattr(self, name)
        if given is None and name in ("dialogue", "turn", "task", "trial"):
            bound = ("bind", name) in self.path or ("each", name) in self.path
            return Field(at=f"{{{name}}}") if bound else None
        return Field(at=given) if isinstance(given, str) else given

    @property
    def path(self) -> tuple[tuple[str, Any], ...]:
        """The steps of ``rows``."""
        return steps(self.rows)

    @property
    def messages_at(self) -> tuple[Field, ...]:
        """Where messages stand."""
        given = self.messages if isinstance(self.messages, tuple) else (self.messages,)
        return tuple(Field(at=each) if isinstance(each, str) else each for each in given)

    @property
    def paths(self) -> list[str]:
        """Every path in a row that is read."""
        given = [each for name in VALUES if name != "scores" and (each := self.field(name)) is not None]
        scores = {"": self.scores} if isinstance(self.scores, str) else self.scores or {}
        found = [each.at for each in (*given, *self.messages_at) if not each.columns]
        return [*found, *scores.values(), *self.slot, *self.where, *(self.join.by if self.join else ())]

    def line(self, *, gold: bool = False) -> str:
        """The mapping in one line; ``gold``: plain states were given as gold."""
        facts = [f"rows {self.rows}"]
        facts += [f"where {path}={value}" for path, value in self.where.items()]
        for name in VALUES:
            if name == "scores" or getattr(self, name) is None:
                continue
            if (each := self.field(name)) is not None:
                facts.append(each.words("gold" if gold and name == "predicted" else name))
        facts += [each.words("messages") for each in self.messages_at]
        if self.scores:
            facts.append(f"scores={self.scores if isinstance(self.scores, str) else ' '.join(self.scores)}")
        facts += [f"{name}={getattr(self, name)}" for name in ("role", "content") if getattr(self, name)]
        facts += [f"slot={' '.join(self.slot)}"] if self.slot else []
        return ", ".join(facts)


def as_yaml(keys: dict[str, Any]) -> str:
    """Plain values as YAML."""
    import yaml

    return yaml.safe_dump(keys, sort_keys=False, default_flow_style=None, allow_unicode=True, width=100)


class Reading(Struct):
    """How a file was read: the mapping, whether its states may be either side, and the fields that were not read."""

    mapping: Mapping
    #: The file of the mapping, where a person wrote it.
    source: str = ""
    sha256: str = ""
    either_side: bool = False
    unread: tuple[str, ...] = ()

    def line(self, *, gold: bool = False) -> str:
        """``rows [], dialogue=dialogue_id, turn=turn, predicted=state as flat; not read: score``."""
        by = f"{self.source}: " if self.source else ""
        rest = f"; not read: {', '.join(self.unread)}" if self.unread else ""
        return f"{by}{self.mapping.line(gold=gold and self.either_side)}{rest}"


def unread_fields(mapping: Mapping, sample: Sequence[Row]) -> tuple[str, ...]:
    """The fields of rows that the mapping does not read."""
    paths = mapping.paths
    if not all(paths):  # the row itself is read
        return ()
    if mapping.reads == "conversations" and not mapping.messages_at:
        paths += [mapping.role, mapping.content or "content", "tool_calls", "tool_call_id"]
    names: dict[str, None] = {}
    for row in sample:
        if isinstance(value := row.value, dict):
            names.update(dict.fromkeys(map(str, value)))
    read = set(paths) | {path.partition(".")[0].partition("[")[0].strip('"') for path in paths}
    left = [name for name in names if name not in read and not (mapping.join and name == "join")]
    for each in (mapping.field(name) for name in (*SIDES, "success")):
        if each is not None and each.columns:
            found = Pattern(each.columns).groups(left)
            left = [name for name, groups in zip(left, found, strict=True) if not groups]
    return tuple(left)


# -- files of mappings -----------------------------------------------------------------------------------------------


def load_mapping(path: str | Path) -> MappedFormat:
    """The format that a YAML file describes."""
    document = read_yaml(path)
    for at, choices in _open_choices(document.content, ()):
        raise DialgaugeError(
            f"choose what {'.'.join(map(str, at)) or 'this'} is: {' or '.join(map(str, choices))}",
            file=document.file,
            line=document.line(*at),
        )
    return MappedFormat(document.as_record(Mapping, "a mapping"), str(path), document)


def _open_choices(content: Any, at: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], list[Any]]]:
    """Where ``CHOOSE: [a, b]`` stands, and its choices."""
    if isinstance(content, dict):
        for key, inner in content.items():
            if key == "CHOOSE":
                yield at, inner if isinstance(inner, list) else [inner]
            else:
                yield from _open_choices(inner, (*at, key))


class MappedFormat(DialogueFormat):
    """A format that a mapping describes."""

    name = "mapping"
    summary = "what a mapping describes"
    fields = frozenset({"state", "predicted", "text"})
    spans_files = True

    def __init__(self, mapping: Mapping, source: str = "", document: YamlDocument | None = None) -> None:
        self.mapping, self.source, self._document = mapping, source, document
        if mapping.reads != "states":
            self.name = "mapped-log"  # type: ignore[misc]
            self.fields = frozenset({"text", "calls", "source", "goal", "outcome"})  # type: ignore[misc]
        self.kind = "predictions" if mapping.predicted is not None else "dialogues"  # type: ignore[misc]
        try:
            steps(mapping.rows)
            fault = next(self._faults(), None)
        except Misfit as error:
            fault = f"rows: {error}", "rows"
        if fault is not None:
            line = document.line(*fault[1:]) if document else None
            raise DialgaugeError(fault[0], file=source or "the mapping", line=line)

    @cached_property
    def sha256(self) -> str:
        """The checksum of the file of the mapping, or of the mapping."""
        if self.source:
            return sha256_of(Path(self.source))
        return hashlib.sha256(msgspec.json.encode(self.mapping, order="sorted")).hexdigest()

    def recognise(self, peek: Peek) -> bool:
        return False

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        return (dialogue for _, dialogue in self.read_parts([part], notes))

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        from dialgauge.formats.mapped_logs import LogReader
        from dialgauge.formats.mapped_states import StateReader

        notes.reading = Reading(self.mapping, self.source, self.sha256)
        log = LogReader(self.mapping, notes, self.place)
        for part in parts:
            chosen = self.rows(part)
            states = StateReader(self.mapping, part.name, self.place)
            made = states.read(chosen, notes) if self.mapping.reads == "states" else log.read(chosen, part)
            yield from ((part, dialogue) for dialogue in made)
        if self.mapping.reads != "states":
            log.require_found()

    def rows(self, part: Part) -> list[Row]:
        """The rows of a file that the mapping means."""
        mapping = self.mapping
        try:
            content = content_of(part, header=mapping.header, skip=mapping.skip)
            found = rows(content, mapping.rows, part.name)
            found = found if mapping.join is None else self._joined(mapping.join, found)
            chosen = [row for row in found if row.fits(mapping.where)]
        except Misfit as error:
            raise DialgaugeError(f"{error}{self.place('rows')}", file=part.name) from None
        if not chosen:
            raise DialgaugeError(f"no row fits the mapping{self.place('where')}", file=part.name)
        return chosen

    def _joined(self, join: Join, found: Iterator[Row]) -> Iterator[Row]:
        """Rows with the fields of the second file."""
        folder = Path(self.source).parent if self.source else Path()
        [beside] = parts_of(str(folder / join.file))
        others: dict[tuple[str, ...], Any] = {}
        for other in rows(content_of(beside), "[]", beside.name):
            key = tuple(as_text(other.get(path)) for path in join.by.values())
            if key in others:
                message = f"row {other.number + 1}: {', '.join(key)} stands twice, and a row joins one"
                raise DialgaugeError(f"{message}{self.place('join')}", file=beside.name)
            others[key] = other.value
        empty = dict.fromkeys(name for other in others.values() for name in other)
        for row in found:
            if not isinstance(value := row.value, dict):
                raise Misfit(f"join: row {row.number + 1} is no object")
            key = tuple(as_text(row.get(path)) for path in join.by)
            row.content = {**value, "join": others.get(key, empty)}
            yield row

    def place(self, *path: str) -> str:
        """Where the mapping says something, for the end of an error."""
        if self._document is None:
            return ""
        return f" ({Path(self.source).name}, line {self._document.line(*path)})"

    def _faults(self) -> Iterator[tuple[str, ...]]:
        """Why the mapping cannot read anything, and where it says so."""
        mapping, of_states = self.mapping, self.mapping.reads == "states"
        for name in sorted(_OF_LOGS if of_states else _OF_STATES):
            if getattr(mapping, name) not in (None, "", (), {}):
                yield f"{name} is not read where the mapping reads {mapping.reads}", name
        if of_states and mapping.predicted is None and mapping.gold is None:
            yield "it reads states, and says neither where predicted nor where gold ones stand", "reads"
        if of_states and mapping.field("dialogue") is None:
            yield "it does not say where the id of the dialogue stands (dialogue)", "rows"
        if mapping.reads == "conversations" and not (mapping.messages_at or mapping.role):
            yield "it does not say where messages stand, or who speaks in a row (messages, role)", "reads"
        if mapping.reads == "results" and (mapping.messages_at or (mapping.success or mapping.scores) is None):
            yield "results have a success or scores, and no messages", "reads"
        if len(mapping.slot) > 2:
            yield "slot is [domain, slot] or [slot]; the value stands under predicted or gold", "slot"
        if mapping.join and (_NO_FOLDERS & set(mapping.join.file) or mapping.join.file in ("", ".", "..")):
            yield "join: the file is a bare name in the folder of the mapping", "join", "file"
        if mapping.join and not mapping.join.by:
            yield "join: say which field holds the same in both files, as in by: {id: session}", "join"
        success = mapping.field("success") or Field()
        if bool(success.true_values) != bool(success.false_values):
            yield "success: give both true_values and false_values; other words are not judged", "success"
        if both := words(success.true_values) & words(success.false_values):
            yield f"success: '{both.pop()}' is among true_values and false_values", "success"
        if success.true_values and success.at_least is not None:
            yield "success: give true_values and false_values, or at_least", "success"
        for name in VALUES:
            each = mapping.field(name) if name != "scores" else None
            for pattern in filter(None, (each.match, each.columns) if each is not None else ()):
                try:
                    Pattern(pattern).groups([""])
                except Misfit as error:
                    yield f"{name}: {error}", name
        chains = [("messages", each.chain, OPENERS, "opener") for each in mapping.messages_at]
        for side in SIDES if of_states else ():
            chain = (mapping.field(side) or Field()).chain
            chains += [(side, chain[:-1], OPENERS, "opener"), (side, chain[-1:], DECODERS, "decoder")]
        for name, chain, known, what in chains:
            if odd := next((each for each in chain if each not in known), ""):
                yield f"{name}: there is no {what} '{odd}'.{nearest(odd, known)}", name


class RecordFormat(DialogueFormat):
    """Files whose records a function of the user's turns into dialogues."""

    name = "function"
    summary = "what a function makes of each record"
    fields = ALL_FIELDS

    def __init__(self, function: RecordReader) -> None:
        self._function = function

    def recognise(self, peek: Peek) -> bool:
        return False

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        content = content_of(part)
        for row in rows(content, "" if is_object(content) else "[]", part.name):
            dialogue = self._function(row.value)
            if dialogue is not None and not isinstance(dialogue, Dialogue):
                what = f"the function gave a {type(dialogue).__name__}, not a Dialogue or None"
                raise DialgaugeError(f"row {row.number + 1}: {what}", file=part.name)
            if dialogue is not None:
                yield dialogue
