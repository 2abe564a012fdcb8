"""Dialogues in Parquet: a row per dialogue or a row per turn, as Hub datasets and data frames have them.

A row per dialogue has ``id`` (or ``dialogue_id``) and either ``record``, the dialogue as native JSON, or ``turns``, a
list of turns with the fields of the data model. A row per turn has ``dialogue`` (or ``dialogue_id``, ``id``), ``turn``
and the fields of a turn; the rows of a dialogue stand together. States may be nested (``{"hotel": {"area": "east"}}``)
or flat (``{"hotel-area": "east"}``), as JSON text or as columns of structs. ``write`` writes ``id`` and ``record``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, pairwise
from typing import IO, TYPE_CHECKING, Any

import msgspec

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import ALL_FIELDS, DialogueFormat, Notes, Peek, present
from dialgauge.formats.packed import faults
from dialgauge.formats.source import Part

if TYPE_CHECKING:
    import polars

_IDS = ("dialogue", "dialogue_id", "id")
_NAMES = {"utterance": "text", "gold": "state", "gold_state": "state", "prediction": "predicted", "pred": "predicted"}
_STATES = ("state", "predicted", "blank")
_TURN_FIELDS = frozenset(Turn.__struct_fields__)
_DIALOGUE_FIELDS = frozenset(Dialogue.__struct_fields__)
#: Rows that are taken apart at a time.
_ROWS = 4096

_DECODER = msgspec.json.Decoder(Dialogue)
_ENCODER = msgspec.json.Encoder()


class ParquetDialogues(DialogueFormat):
    """Parquet with a row per dialogue or per turn."""

    name = "parquet"
    summary = "Parquet: a row per dialogue or per turn, as Hub datasets have it"
    fields = ALL_FIELDS
    writes = True

    def recognise(self, peek: Peek) -> bool:
        return peek.head.startswith(b"PAR1")

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        frame = _frame(part)
        own = next((name for name in _IDS if name in frame.columns), None)
        if own is None:
            raise _unfit(frame, part)
        if "turn" in frame.columns:
            yield from _from_turns(frame, own, part, notes)
        elif "record" in frame.columns:
            yield from _from_records(frame, part, notes)
        elif "turns" in frame.columns:
            yield from _from_dialogues(frame, own, part, notes)
        else:
            raise _unfit(frame, part)

    def write(self, dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
        import polars

        records = [(one.id, _ENCODER.encode(one).decode()) for one in dialogues]
        frame = polars.DataFrame(records, {"id": polars.String, "record": polars.String}, orient="row")
        frame.write_parquet(out)


def _frame(part: Part) -> polars.DataFrame:
    import polars

    with part.open() as stream, faults(part.name):
        try:
            return polars.read_parquet(stream, use_pyarrow=False)
        except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
            reason = str(error).splitlines()[0] if str(error) else "damaged"
            raise DialgaugeError(f"it cannot be read as Parquet ({reason})", file=part.name) from error


def _unfit(frame: polars.DataFrame, part: Part) -> DialgaugeError:
    shown = ", ".join(frame.columns[:8]) + (", ..." if len(frame.columns) > 8 else "")
    return DialgaugeError(
        "the Parquet file holds no dialogues: it needs the columns id and record, id and turns, or dialogue and turn; "
        f"it has {shown or 'none'}",
        file=part.name,
    )


def _from_records(frame: polars.DataFrame, part: Part, notes: Notes) -> Iterator[Dialogue]:
    for number, record in enumerate(frame["record"]):
        try:
            yield _DECODER.decode(str(record))
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            notes.refuse(_misshapen(error, part, f"row {number}"))


def _from_dialogues(frame: polars.DataFrame, own: str, part: Part, notes: Notes) -> Iterator[Dialogue]:
    for row in frame.iter_rows(named=True, buffer_size=_ROWS):
        try:
            turns = _parsed(row["turns"])
            if not isinstance(turns, list):
                raise TypeError("turns must be a list")
            yield _dialogue(row, own, [_turn(one) for one in turns if isinstance(one, Mapping)])
        except (msgspec.DecodeError, TypeError, ValueError, RecursionError) as error:
            notes.refuse(_misshapen(error, part, str(row[own])))


def _from_turns(frame: polars.DataFrame, own: str, part: Part, notes: Notes) -> Iterator[Dialogue]:
    seen: set[str] = set()
    for identifier, rows in groupby(frame.iter_rows(named=True, buffer_size=_ROWS), key=lambda row: row[own]):
        held = list(rows)
        try:
            if str(identifier) in seen:
                raise ValueError("its rows do not stand together; sort the table by dialogue and turn")
            seen.add(str(identifier))
            if any(later["turn"] <= row["turn"] for row, later in pairwise(held)):
                raise ValueError("its turns are not in order; sort the table by dialogue and turn")
            yield _dialogue(held[0], own, [_turn(row) for row in held])
        except (msgspec.DecodeError, TypeError, ValueError, RecursionError) as error:
            notes.refuse(_misshapen(error, part, str(identifier)))


def _misshapen(error: Exception, part: Part, dialogue: str) -> DialgaugeError:
    return DialgaugeError(f"it does not have the expected shape: {error}", file=part.name, dialogue=dialogue)


def _dialogue(row: Mapping[str, Any], own: str, turns: list[dict[str, Any]]) -> Dialogue:
    known = {name: _parsed(row[name]) for name in ("goal", "domains", "outcome") if row.get(name) is not None}
    return msgspec.convert({**_pruned(known), "id": str(row[own]), "turns": turns}, Dialogue)


def _turn(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a turn as the data model has them; what the model does not know is no field of a turn."""
    if isinstance(row.get("record"), str):
        record = msgspec.json.decode(row["record"])
        return record if isinstance(record, dict) else {}
    named = {_NAMES.get(name, name): value for name, value in row.items() if value is not None}
    turn = {name: _parsed(value) for name, value in named.items() if name in _TURN_FIELDS}
    kept: dict[str, Any] = _pruned(turn)
    kept.setdefault("speaker", "user")
    for name in _STATES:
        if isinstance(turn.get(name), Mapping | list):
            kept[name] = _state(turn[name])
    return kept


def _parsed(value: Any) -> Any:
    """A value, or what a JSON text says that stands in its place."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
    return value


def _pruned(value: Any) -> Any:
    """Without the nulls that structs of a table have where a field is absent."""
    if isinstance(value, Mapping):
        return {key: _pruned(inner) for key, inner in value.items() if inner is not None}
    return [_pruned(inner) for inner in value] if isinstance(value, list | tuple) else value


def _state(raw: Mapping[str, Any] | list[Any]) -> State:
    """A nested or flat state; a map of Parquet is a list of keys and values."""
    if isinstance(raw, list):
        raw = {str(one["key"]): one["value"] for one in raw}
    state: State = {}
    for key, value in raw.items():
        if isinstance(value, Mapping):
            slots = [(str(key), str(slot), inner) for slot, inner in value.items()]
        else:
            domain, hyphen, slot = str(key).partition("-")
            if not hyphen and value is not None:
                raise ValueError(f"'{key}' is neither a domain with slots nor written domain-slot")
            slots = [(domain, slot, value)]
        for domain, slot, inner in slots:
            values = () if inner is None else present(inner if isinstance(inner, str) else [str(one) for one in inner])
            if values:
                state.setdefault(domain, {})[slot] = values
    return state
