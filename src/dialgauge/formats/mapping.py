"""A mapping: where a file keeps its dialogues, turns and states, written down by a person.

It is a format. ``--format mine.yaml`` and ``format=Mapping(...)`` read with it, and so does ``FILE.map.yaml`` beside a
file. A mapping is strict: what does not fit it is an error that names row, path and line, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.files import sha256_of
from dialgauge.formats.base import ALL_FIELDS, DialogueFormat
from dialgauge.formats.notes import INVALID, Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions.common import HOLE, MOST_TURNS, TWO_VALUES
from dialgauge.formats.predictions.states import (
    CLOSED,
    DECODERS,
    EMPTY,
    MOST_TEXT,
    OPENERS,
    Misfit,
    Slot,
    domain_and_slot,
    is_empty,
    shown,
    slots_of,
    state_of,
    values_of,
)
from dialgauge.formats.row_paths import Row, content_of, is_object, rows, steps
from dialgauge.formats.source import Part
from dialgauge.text import encodable
from dialgauge.yaml_file import YamlDocument, read_yaml

Scalar: TypeAlias = str | int | float | bool
#: A function from one record of a file to its dialogue, or None for a record that holds none.
RecordReader: TypeAlias = Callable[[Any], Dialogue | None]

#: Characters that a pattern sees of a text.
_MATCHED = 300
_SIDES = ("predicted", "gold")
_FIELDS = ("dialogue", "turn", *_SIDES)


class Field(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a value stands in a row, and how it is written."""

    #: ``a.b[0]``, ``^name`` in the object around the row, ``{bound}``, ``$file``, or nothing for the row itself.
    at: str = ""
    #: A pattern for the first 300 characters, whose groups named dialogue, turn or state give these.
    match: str = ""
    #: A pattern for names of columns, one for each slot; its group is domain-slot, or two are named domain and slot.
    columns: str = ""
    #: Openers and, at the end, a decoder: ``[json, flat]``. Without it, the only decoder that reads all rows.
    written: str | tuple[str, ...] = field(default=(), name="as")
    #: The number of the first user turn, and how much is between two.
    first: int = 0
    step: int = 1
    #: Each turn holds what changed; an absent value empties its slot.
    changes: bool = False

    @property
    def chain(self) -> tuple[str, ...]:
        """Openers and decoder."""
        return _texts(self.written)


class Mapping(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """How a file is read, as YAML or in Python.

    >>> mapping = Mapping(reads="states", dialogue="dial", turn="t", predicted=Field(at="out", written=("flat",)))
    >>> mapping.line()
    'rows [], dialogue=dial, turn=t, predicted=out as flat'
    """

    reads: Literal["states"]
    rows: str = "[]"
    #: Only rows in which these fields have this value, or one of these.
    where: dict[str, Scalar | list[Scalar]] = {}
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
    #: For tables: the names of columns without a heading, and lines above the table.
    header: tuple[str, ...] = ()
    skip: int = 0

    def field(self, name: str) -> Field | None:
        """The field of that name; of dialogue and turn, what ``rows`` binds under it."""
        given = getattr(self, name)
        if (
            given is None
            and name in ("dialogue", "turn")
            and (("bind", name) in self.path or ("each", name) in self.path)
        ):
            return Field(at=f"{{{name}}}")
        return Field(at=given) if isinstance(given, str) else given

    @property
    def path(self) -> tuple[tuple[str, Any], ...]:
        """The steps of ``rows``."""
        return steps(self.rows)

    def line(self, *, gold: bool = False) -> str:
        """The mapping in one line; ``gold``: plain states were given as gold."""
        facts = [f"rows {self.rows}"]
        for name in _FIELDS:
            each = self.field(name)
            if each is None or (name in ("dialogue", "turn") and getattr(self, name) is None):
                continue
            shown_name = "gold" if gold and name == "predicted" else name
            words = [f"{shown_name}={each.at or each.columns or 'row'}"]
            words += [f"as {' '.join(each.chain)}"] if each.chain else []
            words += [f"match {each.match}"] if each.match else []
            words += ["(changes)"] if each.changes else []
            numbers = [f"from {each.first}"] if each.first else []
            numbers += [f"by {each.step}"] if each.step != 1 else []
            facts.append(" ".join([*words, *([f"({', '.join(numbers)})"] if numbers else [])]))
        facts += [f"slot={' '.join(self.slot)}"] if self.slot else []
        return ", ".join(facts)

    def yaml(self) -> str:
        """The mapping as a file."""
        import yaml

        return yaml.safe_dump(
            msgspec.to_builtins(self), sort_keys=False, default_flow_style=None, allow_unicode=True, width=100
        )


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


def _texts(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


# -- files of mappings -----------------------------------------------------------------------------------------------


def load_mapping(path: str | Path) -> MappedFormat:
    """The format that a YAML file describes."""
    document = read_yaml(path)
    return MappedFormat(mapping_in(document), str(path), document)


def mapping_in(document: YamlDocument) -> Mapping:
    """The mapping in YAML; what was left open is an error."""
    for at, choices in _open_choices(document.content, ()):
        raise DialgaugeError(
            f"choose what {'.'.join(map(str, at)) or 'this'} is: {' or '.join(map(str, choices))}",
            file=document.file,
            line=document.line(*at),
        )
    return document.as_record(Mapping, "a mapping")


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

    def __init__(self, mapping: Mapping, source: str = "", document: YamlDocument | None = None) -> None:
        self.mapping, self.source, self._document = mapping, source, document
        self.kind = "predictions" if mapping.predicted is not None else "dialogues"  # type: ignore[misc]
        self._check()

    @cached_property
    def sha256(self) -> str:
        """The checksum of the file of the mapping, or of the mapping."""
        if self.source:
            return sha256_of(Path(self.source))
        import hashlib

        return hashlib.sha256(msgspec.json.encode(self.mapping, order="sorted")).hexdigest()

    def recognise(self, peek: Peek) -> bool:
        return False

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        mapping = self.mapping
        try:
            content = content_of(part, header=mapping.header, skip=mapping.skip)
        except Misfit as error:
            raise DialgaugeError(str(error), file=part.name) from None
        reader = StateReader(mapping, part.name, self._place)
        notes.reading = Reading(mapping, self.source, self.sha256)
        yield from reader.read(content, part.stem, notes)

    def _place(self, *path: str) -> str:
        """Where the mapping says something, for the end of an error."""
        if self._document is None:
            return ""
        return f" ({Path(self.source).name}, line {self._document.line(*path)})"

    def _check(self) -> None:
        """Refuse a mapping that cannot read anything."""
        mapping = self.mapping
        try:
            steps(mapping.rows)
        except Misfit as error:
            self._refuse(f"rows: {error}", "rows")
        if mapping.predicted is None and mapping.gold is None:
            self._refuse("it reads states, and says neither where predicted nor where gold ones stand", "reads")
        if mapping.field("dialogue") is None:
            self._refuse("it does not say where the id of the dialogue stands (dialogue)", "rows")
        if len(mapping.slot) > 2:
            self._refuse("slot is [domain, slot] or [slot]; the value stands under predicted or gold", "slot")
        for side in _SIDES:
            chain = (mapping.field(side) or Field()).chain
            for place, name in enumerate(chain):
                known = DECODERS if place == len(chain) - 1 else OPENERS
                if name not in known:
                    what = "decoder" if known is DECODERS else "opener"
                    self._refuse(f"{side}: there is no {what} '{name}'.{nearest(name, known)}", side)

    def _refuse(self, message: str, *path: str) -> NoReturn:
        line = self._document.line(*path) if self._document else None
        raise DialgaugeError(message, file=self.source or "the mapping", line=line)


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
        for row in rows(content, "" if is_object(content) else "[]", part.stem):
            dialogue = self._function(row.value)
            if dialogue is not None and not isinstance(dialogue, Dialogue):
                what = f"the function gave a {type(dialogue).__name__}, not a Dialogue or None"
                raise DialgaugeError(f"row {row.number + 1}: {what}", file=part.name)
            if dialogue is not None:
                yield dialogue


# -- states ----------------------------------------------------------------------------------------------------------


class Pattern:
    """A pattern with named groups that takes time in proportion to its texts, whatever it is."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def groups(self, texts: Sequence[str], most: int = _MATCHED) -> list[dict[str, str | None]]:
        """The groups in the first characters of each text; empty where it does not match."""
        import polars

        cut = polars.Series([text[:most] for text in texts], dtype=polars.String)
        try:
            matched = cut.str.contains(self._pattern).to_list()
            found = cut.str.extract_groups(self._pattern).to_list()
        except polars.exceptions.PolarsError as error:
            reason = " ".join(str(error).split())
            raise Misfit(f"the pattern '{self._pattern}' cannot be used ({reason[:200]})") from None
        return [dict(each or {"": None}) if fits else {} for fits, each in zip(matched, found, strict=True)]


class StateReader:
    """Reads states by a mapping. ``place`` says in which line of the mapping a field stands."""

    def __init__(self, mapping: Mapping, file: str, place: Callable[..., str] = lambda *path: "") -> None:
        self._mapping, self._file, self._place = mapping, file, place
        self._absent = frozenset(str(value).strip().lower() for value in mapping.absent)
        self._columns: dict[tuple[str, tuple[str, ...]], list[tuple[str, str, str]]] = {}

    def read(self, content: Any, stem: str, notes: Notes, chosen: Sequence[Row] | None = None) -> Iterator[Dialogue]:
        """The dialogues of a file's content, or of some of its rows, in the order in which they begin."""
        chosen = [row for row in self._rows(content, stem) if self._is_meant(row)] if chosen is None else chosen
        if not chosen:
            raise DialgaugeError(f"no row fits the mapping{self._place('where')}", file=self._file)
        mapping = self._with_decoders(chosen)
        self._mapping = mapping
        if notes.reading is not None:
            notes.reading.mapping = mapping
            notes.reading.unread = unread_fields(mapping, chosen[:200])
        turn = mapping.field("turn") or Field()
        notes.numbered_from = max(notes.numbered_from, turn.first)
        for dialogue, numbered in self._by_dialogue(chosen).items():
            try:
                yield self._dialogue(dialogue, numbered, notes)
            except DialgaugeError as error:
                notes.refuse(error)

    def _rows(self, content: Any, stem: str) -> Iterator[Row]:
        try:
            yield from rows(content, self._mapping.rows, stem)
        except Misfit as error:
            raise DialgaugeError(f"{error}{self._place('rows')}", file=self._file) from None

    def _is_meant(self, row: Row) -> bool:
        """Whether the row is one of those that ``where`` asks for."""
        for path, wanted in self._mapping.where.items():
            try:
                given = as_text(row.get(path))
            except Misfit:
                return False
            if given not in map(as_text, wanted if isinstance(wanted, list) else [wanted]):
                return False
        return True

    def _refuse(self, row: Row, name: str, error: object) -> NoReturn:
        raise DialgaugeError(f"row {row.number + 1}: {name}: {error}{self._place(name)}", file=self._file) from None

    def _texts_of(self, name: str, chosen: Sequence[Row]) -> tuple[list[Any], list[dict[str, str | None]]]:
        """The values of a field in all rows, and what its pattern finds in them."""
        wanted = self._mapping.field(name)
        if wanted is None:
            return [None] * len(chosen), []
        values = []
        for row in chosen:
            try:
                values.append(row.get(wanted.at))
            except Misfit as error:
                self._refuse(row, name, error)
        if not wanted.match:
            return values, []
        try:
            groups = Pattern(wanted.match).groups([as_text(value) for value in values])
        except Misfit as error:
            raise DialgaugeError(f"{name}: {error}{self._place(name)}", file=self._file) from None
        for row, value, found in zip(chosen, values, groups, strict=True):
            if not found:
                self._refuse(row, name, f"{shown(value)} does not match {wanted.match}")
        return values, groups

    def _by_dialogue(self, chosen: Sequence[Row]) -> dict[str, list[tuple[int, list[Row]]]]:
        """Rows by dialogue and turn; turns in order, with the rows of each."""
        mapping = self._mapping
        names, from_name = self._texts_of("dialogue", chosen)
        numbers, from_turn = self._texts_of("turn", chosen)
        has_turn = mapping.field("turn") is not None or any("turn" in found for found in from_name[:1])
        grouped: dict[str, dict[int, list[Row]]] = {}
        for place, row in enumerate(chosen):
            found = from_name[place] if from_name else {}
            name = found["dialogue"] if "dialogue" in found else names[place]
            try:
                row.require_single_keys()
                identifier = identifier_of(name)
            except Misfit as error:
                self._refuse(row, "dialogue", error)
            turns = grouped.setdefault(identifier, {})
            number = len(turns)
            if has_turn:
                given = from_turn[place].get("turn", numbers[place]) if from_turn else found.get("turn", numbers[place])
                try:
                    number = turn_of(given, mapping.field("turn") or Field())
                except Misfit as error:
                    self._refuse(row, "turn", error)
            if number in turns and not mapping.slot:
                raise DialgaugeError(
                    f"row {row.number + 1}: this turn appears twice; keep one of them, or choose rows with 'where'",
                    file=self._file,
                    dialogue=identifier,
                    turn=number,
                )
            turns.setdefault(number, []).append(row)
        return {name: sorted(turns.items()) for name, turns in grouped.items()}

    def _dialogue(self, name: str, numbered: list[tuple[int, list[Row]]], notes: Notes) -> Dialogue:
        mapping = self._mapping
        turns: list[Turn] = []
        values: dict[str, dict[tuple[str, str], Slot]] = {side: {} for side in _SIDES}
        for number, here in numbered:
            while len(turns) < number:
                turns.append(self._missing_turn(turns))
                notes.add(
                    "missing turns, left as holes" if not mapping.missing else f"missing turns, {mapping.missing}"
                )
            states: dict[str, State | None] = {}
            for side in _SIDES:
                if (wanted := mapping.field(side)) is not None:
                    states[side] = self._state(
                        side, wanted, here, values[side], f"dialogue {name}, turn {number}", notes
                    )
            turns.append(Turn(speaker="user", predicted=states.get("predicted"), state=states.get("gold")))
        return Dialogue(id=name, turns=tuple(turns))

    def _missing_turn(self, before: Sequence[Turn]) -> Turn:
        if not self._mapping.missing:
            return HOLE
        carried = before[-1] if before and self._mapping.missing == "carry" else None
        empty: State = {}
        sides = {"predicted" if side == "predicted" else "state": empty for side in _SIDES if self._mapping.field(side)}
        return carried or Turn(speaker="user", **sides)  # type: ignore[arg-type]

    def _state(
        self,
        side: str,
        wanted: Field,
        here: Sequence[Row],
        values: dict[tuple[str, str], Slot],
        place: str,
        notes: Notes,
    ) -> State | None:
        slots: list[Slot] = []
        for row in here:
            try:
                found = self._slots(side, wanted, row)
            except Misfit as error:
                if "answer" not in wanted.chain:
                    self._refuse(row, side, f"{error}, in {place}")
                notes.add_at(INVALID, 1, place)
                found = []
            if found is None:
                return None
            slots += found
        if wanted.changes:
            for slot in slots:
                values[slot[0], slot[1]] = slot
            slots = list(values.values())
        try:
            state, twice = state_of(slots, self._absent)
        except Misfit as error:
            self._refuse(here[0], side, f"{error}, in {place}")
        if twice:
            notes.add_at(f"gold: {TWO_VALUES}" if side == "gold" else TWO_VALUES, twice, place)
        return state

    def _slots(self, side: str, wanted: Field, row: Row) -> list[Slot] | None:
        """What a row says of a side; None where it says that nothing is recorded."""
        if self._mapping.slot:
            names = [row.get(path) for path in self._mapping.slot]
            if names[-1] in EMPTY:
                return []
            domain, slot = domain_and_slot(names[0]) if len(names) == 1 else names
            if not isinstance(domain, str) or not isinstance(slot, str):
                raise Misfit(f"{shown(names)} names no domain and slot")
            return [(domain, slot, row.get(wanted.at))]
        if wanted.columns:
            return self._from_columns(wanted.columns, row)
        value = row.get(wanted.at)
        if value is None:
            return None
        if wanted.match and not is_empty(value):
            [found] = Pattern(wanted.match).groups([as_text(value)], MOST_TEXT)
            if not found:
                raise Misfit(f"{shown(value)} does not match {wanted.match}")
            value = found.get("state", next(iter(found.values())))
        slots = slots_of(value, wanted.chain)
        for _, _, given in slots:
            values_of(given)  # a value that is an object is an answer that cannot be read, too
        return slots

    def _from_columns(self, pattern: str, row: Row) -> list[Slot]:
        value = row.value
        if not isinstance(value, dict):
            raise Misfit(f"{shown(value)} has no columns")
        names = tuple(value)
        if (pattern, names) not in self._columns:
            found = zip(names, Pattern(pattern).groups(names), strict=True)
            self._columns[pattern, names] = [
                (name, groups["domain"] or "", groups["slot"] or "")
                if groups.keys() >= {"domain", "slot"}
                else (name, *domain_and_slot(next(iter(groups.values()))))
                for name, groups in found
                if groups
            ]
        return [(domain, slot, value[name]) for name, domain, slot in self._columns[pattern, names]]

    def _with_decoders(self, chosen: Sequence[Row]) -> Mapping:
        """The mapping with the decoder of each side that does not name one: the only one that reads all rows."""
        mapping = self._mapping
        for side in _SIDES:
            wanted = mapping.field(side)
            if wanted is not None and "answer" in wanted.chain:
                self._require_answers(side, wanted, chosen)
            if wanted is None or wanted.chain or mapping.slot:
                continue
            if wanted.columns:
                if not any(self._from_columns(wanted.columns, row) for row in chosen):
                    message = f"{side}: no column matches '{wanted.columns}'{self._place(side)}"
                    raise DialgaugeError(message, file=self._file)
                continue
            try:
                chain = the_decoder(row.get(wanted.at) for row in chosen)
            except Misfit as error:
                raise DialgaugeError(f"{side}: {error}{self._place(side)}", file=self._file) from None
            mapping = replace(mapping, **{side: replace(wanted, written=chain)})
        return mapping

    def _require_answers(self, side: str, wanted: Field, chosen: Sequence[Row]) -> None:
        """An error where none of a model's answers is written as the mapping says."""
        reason = ""
        for row in chosen:
            try:
                if self._slots(side, wanted, row):
                    return
            except Misfit as error:
                reason = reason or str(error)
        if reason:
            raise DialgaugeError(f"{side}: no answer can be read ({reason}){self._place(side)}", file=self._file)


def the_decoder(values: Iterable[Any]) -> tuple[str, ...]:
    """The one way of writing states in which all values are; :class:`Misfit` where there is none, or several."""
    openers: tuple[tuple[str, ...], ...] = ((), ("json",), ("python",))
    chains = [(*opener, name) for opener in openers for name in CLOSED]
    reasons: dict[tuple[str, ...], str] = {}
    filled = False
    for value in values:
        if is_empty(value):
            continue
        for chain in chains if len(chains) > 1 or not filled else ():
            try:
                filled |= bool(slots_of(value, chain) and state_of(slots_of(value, chain)))
            except Misfit as error:
                reasons[chain] = str(error)
        if not (fitting := [chain for chain in chains if chain not in reasons]):
            reason = reasons[min(chains, key=len)] if len(chains) < 4 else f"{shown(value)} is written in no known way"
            raise Misfit(f"{reason}; decoders: {', '.join(CLOSED)}")
        chains = fitting
    if not filled:
        return chains[0]
    if len(chains) > 1:
        raise Misfit(
            f"it can be read in several ways: {' or '.join(' '.join(chain) for chain in chains)}; name one (as)"
        )
    return chains[0]


def as_text(value: Any) -> str:
    """A value as a text; true and false in small letters."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def identifier_of(value: Any) -> str:
    """The id of a dialogue as a text; a whole number that a frame made a float is whole again."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise Misfit(f"{shown(value)} is no id of a dialogue")
    return encodable(str(value))


def turn_of(value: Any, wanted: Field) -> int:
    """The index of a user turn."""
    number = whole_number(value) - wanted.first
    if number < 0 or number % wanted.step:
        by = f", {wanted.first + wanted.step}, ..." if wanted.step > 1 else " on"
        raise Misfit(f"{shown(value)} is no number of a turn from {wanted.first}{by}")
    if number // wanted.step >= MOST_TURNS:
        raise Misfit(f"turn {number:,} is beyond the {MOST_TURNS:,} turns a dialogue may have")
    return number // wanted.step


def whole_number(value: Any) -> int:
    """A whole number, also as a text."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = value.strip().removesuffix(".0")
        if text.isascii() and text.isdigit() and len(text) < 10:
            return int(text)
    raise Misfit(f"{shown(value)} is no number of a turn")


def unread_fields(mapping: Mapping, sample: Sequence[Row]) -> tuple[str, ...]:
    """The fields of rows that the mapping does not read."""
    fields = [each for name in _FIELDS if (each := mapping.field(name)) is not None]
    paths = [each.at for each in fields if not each.columns]
    paths += [*mapping.slot, *mapping.where]
    if not all(paths):  # the row itself is read
        return ()
    patterns = [each.columns for each in fields if each.columns]
    names: dict[str, None] = {}
    for row in sample:
        if isinstance(value := row.value, dict):
            names.update(dict.fromkeys(map(str, value)))
    read = set(paths) | {path.partition(".")[0].partition("[")[0].strip('"') for path in paths}
    left = [name for name in names if name not in read]
    for pattern in patterns:
        left = [name for name, found in zip(left, Pattern(pattern).groups(left), strict=True) if not found]
    return tuple(left)
