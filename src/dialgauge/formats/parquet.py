"""Dialogues in Parquet, a row per dialogue or per turn (``rows.py``), as the datasets of the Hub have them.

A dataset is cut into files by rows, so with a row per turn a dialogue may begin in one file and end in the next.
``write`` writes ``id`` and ``record``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.files import parquet_bytes
from dialgauge.formats.base import ALL_FIELDS, DialogueFormat
from dialgauge.formats.notes import Notes
from dialgauge.formats.packed import reading_errors
from dialgauge.formats.peek import Peek
from dialgauge.formats.rows import Rows, RowsOfDialogues, read_table
from dialgauge.formats.source import Part

if TYPE_CHECKING:
    import polars

#: What all such files begin with.
MAGIC = b"PAR1"
#: Rows that are taken apart at a time.
_ROWS = 4096

_ENCODER = msgspec.json.Encoder()


class ParquetDialogues(DialogueFormat):
    """Parquet with a row per dialogue or per turn."""

    name = "parquet"
    summary = "Parquet: a row per dialogue or per turn, as Hub datasets have it"
    fields = ALL_FIELDS
    writes = True
    goes_on = True

    def recognise(self, peek: Peek) -> bool:
        return peek.head.startswith(MAGIC)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        return read_frame(_frame(part), part.name, notes)

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        """One file after the other; files with a row per turn as one table."""
        import polars

        first = _frame(parts[0])
        if len(parts) == 1 or not RowsOfDialogues(first.columns, parts[0].name, notes).has_turns:
            yield from ((parts[0], dialogue) for dialogue in read_frame(first, parts[0].name, notes))
            for part in parts[1:]:
                yield from ((part, dialogue) for dialogue in self.read(part, notes))
            return
        frames = [first, *map(_frame, parts[1:])]
        begins: dict[str, Part] = {}
        for frame, part in zip(frames, parts, strict=True):
            table = RowsOfDialogues(frame.columns, part.name, notes)
            for identifier in table.identifiers(_rows(frame)):
                begins.setdefault(identifier, part)
        files = f"{parts[0].name} and {len(parts) - 1} more"
        try:
            whole = polars.concat(frames, how="diagonal_relaxed")
        except polars.exceptions.PolarsError as error:
            reason = str(error).splitlines()[0]
            raise DialgaugeError(f"the files do not have the same columns ({reason})", file=files) from error
        yield from ((begins.get(dialogue.id, parts[0]), dialogue) for dialogue in read_frame(whole, files, notes))

    def write(self, dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
        import polars

        records = [(dialogue.id, _ENCODER.encode(dialogue).decode()) for dialogue in dialogues]
        frame = polars.DataFrame(records, {"id": polars.String, "record": polars.String}, orient="row")
        out.write(parquet_bytes(frame))


def read_frame(frame: polars.DataFrame, name: str, notes: Notes) -> Iterator[Dialogue]:
    """The dialogues of a frame of polars; ``name`` is what errors call it."""
    return read_table(*polars_table(frame), name, notes)


def polars_table(frame: polars.DataFrame) -> tuple[list[str], Rows]:
    """The columns of a frame, and its rows."""
    return frame.columns, _rows(frame)


def _rows(frame: polars.DataFrame) -> Rows:
    return lambda columns: frame.select(columns).iter_rows(named=True, buffer_size=_ROWS)


def rows_in(part: Part, most: int | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a table, whatever their columns are, or the first of them; what is not there is left out."""
    frame = _frame(part, most)
    for row in _rows(frame)(frame.columns):
        yield _present(row)


def _present(value: Any) -> Any:
    """A value without the members that structs of other rows have, and this one does not."""
    if isinstance(value, dict):
        return {key: _present(inner) for key, inner in value.items() if inner is not None}
    return [_present(inner) for inner in value] if isinstance(value, list) else value


def _frame(part: Part, most: int | None = None) -> polars.DataFrame:
    import polars

    with part.open() as stream, reading_errors(part.name):
        try:
            return polars.read_parquet(stream, n_rows=most, use_pyarrow=False)
        except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
            reason = str(error).splitlines()[0] if str(error) else "damaged"
            raise DialgaugeError(f"it cannot be read as Parquet ({reason})", file=part.name) from error
