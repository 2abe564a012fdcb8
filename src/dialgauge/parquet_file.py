"""A table of columns as a Parquet file, without polars.

The bytes depend on the content alone, whichever way a column was given. Values that repeat are written as a dictionary
and codes, and each column is compressed with gzip, the one codec that Parquet and Python's own library share.

The layout is that of https://parquet.apache.org/docs/file-format: pages of version 1, and every column optional, as
polars writes them, so that polars and DuckDB read the same types from the files of either.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct

from dialgauge._version import __version__
from dialgauge.columns import ARRAYS, ColumnKind, ColumnTable, SharedColumn, TableColumn, column

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The physical types of columns in Parquet.
_PHYSICAL = {"Boolean": 0, "Int32": 1, "Int64": 2, "Float64": 5, "String": 6, "List(String)": 6, "List(Int64)": 2}
#: The types of what lists hold.
_ELEMENTS: dict[ColumnKind, ColumnKind] = {"List(String)": "String", "List(Int64)": "Int64"}
_MAGIC = b"PAR1"
_ROWS = 1 << 18  # of a row group
_PAGE = 1 << 30  # bytes of a page, whose length Parquet keeps in 31 bits
_LEVEL = 1  # of gzip: the usual one takes three times as long for a quarter less
_SMALL = 256  # bytes: a shorter column is not compressed
_NEAR = 256  # whole numbers of so short a range are written as codes
_OPTIONAL, _REPEATED = 1, 2
_UTF8, _LIST_OF, _STRING_TYPE, _LIST_TYPE = 0, 3, 1, 3
_PLAIN, _RLE, _DICTIONARY = 0, 3, 8
_UNCOMPRESSED, _GZIP = 0, 2
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2


def write_table(table: ColumnTable, stream: IO[bytes], *, compress: bool = True) -> None:
    """Write a table as a Parquet file."""
    offset = stream.write(_MAGIC)
    groups = []
    for chunks in _row_groups(table):
        columns, size = [], 0
        for name, chunk in zip(table.schema, chunks, strict=True):
            content, about, whole = chunk.written(name, offset, compress=compress)
            offset += stream.write(content)
            columns.append(about)
            size += whole
        groups.append(_struct({1: _list(_STRUCT, columns), 2: _i64(size), 3: _i64(chunks[0].rows)}))
    footer = _struct(
        {
            1: _i32(1),
            2: _list(_STRUCT, list(_schema_elements(table.schema))),
            3: _i64(table.height),
            4: _list(_STRUCT, groups),
            6: _binary(f"dialgauge {__version__}"),
        }
    )
    stream.write(footer + len(footer).to_bytes(4, "little") + _MAGIC)


def _row_groups(table: ColumnTable) -> Iterator[list[Chunk]]:
    """The columns of each row group."""
    for piece in table.pieces():
        columns = [piece[name] for name in piece.columns]
        for start in range(0, piece.height, _ROWS):
            yield from _groups_of_rows(columns, start, min(start + _ROWS, piece.height))


def _groups_of_rows(columns: Sequence[TableColumn], start: int, stop: int) -> Iterator[list[Chunk]]:
    """The columns of some rows, in more groups than one where a page would be too long."""
    chunks = [_ready_chunk(each.rows(start, stop)) for each in columns]
    if stop - start > 1 and any(max(len(chunk.data), len(chunk.dictionary)) > _PAGE for chunk in chunks):
        middle = (start + stop) // 2
        yield from _groups_of_rows(columns, start, middle)
        yield from _groups_of_rows(columns, middle, stop)
    else:
        yield chunks


def _ready_chunk(column: TableColumn) -> Chunk:
    return column.chunk if isinstance(column, SharedColumn) else chunk_of(column)


def _schema_elements(schema: Mapping[str, ColumnKind]) -> Iterator[bytes]:
    yield _struct({4: _binary("root"), 5: _i32(len(schema))})
    for name, kind in schema.items():
        if kind in _ELEMENTS:
            annotation = {6: _i32(_LIST_OF), 10: _logical(_LIST_TYPE)}
            yield _struct({3: _i32(_OPTIONAL), 4: _binary(name), 5: _i32(1), **annotation})
            yield _struct({3: _i32(_REPEATED), 4: _binary("list"), 5: _i32(1)})
        leaf = "element" if kind in _ELEMENTS else name
        annotation = {} if _ELEMENTS.get(kind, kind) in ARRAYS else {6: _i32(_UTF8), 10: _logical(_STRING_TYPE)}
        yield _struct({1: _i32(_PHYSICAL[kind]), 3: _i32(_OPTIONAL), 4: _binary(leaf), **annotation})


class Chunk(Struct, frozen=True, eq=False, dict=True):
    """A column of a row group: a page of data and, where that is of codes, a page with what they stand for."""

    kind: ColumnKind
    rows: int
    #: Rows, and of a list all that stand in one.
    values: int
    data: bytes
    dictionary: bytes
    entries: int

    def written(self, name: str, offset: int, *, compress: bool) -> tuple[bytes, bytes, int]:
        """The pages of a column that begins at a place in the file, what the footer says of it, and its size before
        compression."""
        gzip = compress and len(self.data) + len(self.dictionary) > _SMALL
        dictionary, data, size = self._zipped_pages if gzip else self._pages(gzip=False)
        content = dictionary + data
        path = [name, "list", "element"] if self.kind in _ELEMENTS else [name]
        facts = {
            1: _i32(_PHYSICAL[self.kind]),
            2: _list(_I32, [_zigzag(code) for code in sorted({_PLAIN, _RLE, self.encoding})]),
            3: _list(_BINARY, [_binary(part)[1] for part in path]),
            4: _i32(_GZIP if gzip else _UNCOMPRESSED),
            5: _i64(self.values),
            6: _i64(size),
            7: _i64(len(content)),
            9: _i64(offset + len(dictionary)),
        }
        if self.entries:
            facts[11] = _i64(offset)
        return content, _struct({2: _i64(offset), 3: (_STRUCT, _struct(facts))}), size

    @property
    def encoding(self) -> int:
        """How the page of data is written."""
        return _DICTIONARY if self.entries else _PLAIN

    @cached_property
    def _zipped_pages(self) -> tuple[bytes, bytes, int]:
        return self._pages(gzip=True)

    def _pages(self, *, gzip: bool) -> tuple[bytes, bytes, int]:
        """The dictionary, or nothing, and the data; and the size of both before compression."""
        dictionary, size = b"", 0
        if self.entries:
            about = _struct({1: _i32(self.entries), 2: _i32(_PLAIN)})
            dictionary, size = _page(_DICTIONARY_PAGE, self.dictionary, {7: (_STRUCT, about)}, gzip=gzip)
        about = _struct({1: _i32(self.values), 2: _i32(self.encoding), 3: _i32(_RLE), 4: _i32(_RLE)})
        data, data_size = _page(_DATA_PAGE, self.data, {5: (_STRUCT, about)}, gzip=gzip)
        return dictionary, data, size + data_size


def _page(kind: int, content: bytes, about: Mapping[int, _Field], *, gzip: bool) -> tuple[bytes, int]:
    """A page with its header, and its size before compression."""
    packed = content if not gzip else zlib.compress(content, _LEVEL, wbits=31)
    header = _struct({1: _i32(kind), 2: _i32(len(content)), 3: _i32(len(packed)), **about})
    return header + packed, len(header) + len(content)


def chunk_of(column: TableColumn) -> Chunk:
    """A column as Parquet writes it."""
    rows = len(column)
    if element := _ELEMENTS.get(column.kind):
        repetition, definition, items = _nested(column, element)
        levels, values = _levels(repetition, 1) + _levels(definition, 2), len(definition)
        _, data, dictionary, entries = _value_pages(items)
    else:
        valid, data, dictionary, entries = _value_pages(column)
        levels, values = _same_levels(rows, 1) if valid is None else _levels(valid.view(np.uint8), 1), rows
    return Chunk(column.kind, rows, values, levels + data, dictionary, entries)


def _nested(lists: TableColumn, element: ColumnKind) -> tuple[NDArray[np.uint8], NDArray[np.uint8], TableColumn]:
    """Of each value whether it continues a list and how much of it is there, as Parquet counts that: nothing (0), an
    empty list, a null in a list, a value; and the values."""
    whole = [() if each is None else each for each in lists.values]
    items: list[Any] = list(chain.from_iterable(whole))
    sizes = np.fromiter(map(len, whole), np.int64, len(whole))
    levels = np.maximum(sizes, 1)
    first = np.cumsum(levels) - levels
    definition = np.full(levels.sum(), 3, np.uint8)
    repetition = np.ones_like(definition)
    repetition[first] = 0
    definition[first[sizes == 0]] = 1
    definition[first[[each is None for each in lists.values]]] = 0
    if None in items:
        definition[np.flatnonzero(definition == 3)[[item is None for item in items]]] = 2
        items = [item for item in items if item is not None]
    if lists.codes is None:
        return repetition, definition, column(element, items)
    levels = levels[lists.codes]
    of_row = np.arange(levels.sum()) + np.repeat(first[lists.codes] - (np.cumsum(levels) - levels), levels)
    there = of_row[definition[of_row] == 3]
    codes = (np.cumsum(definition == 3) - 1)[there]
    return repetition[of_row], definition[of_row], column(element, items, codes=codes)


#: Which rows are not null (None: all), what stands in the page of data behind that, the dictionary and its length.
_Pages: TypeAlias = "tuple[NDArray[np.bool_] | None, bytes, bytes, int]"


def _value_pages(column: TableColumn) -> _Pages:
    return _text_pages(column) if column.kind == "String" else _number_pages(column)


def _text_pages(column: TableColumn) -> _Pages:
    names, codes = column.coded()
    valid = None
    if None in names:
        null = names.index(None)
        valid = codes != null
        codes = codes[valid]
        codes[codes > null] -= 1
        del names[null]
    if _mostly_distinct(names, column) or not names:
        return valid, _plain_texts([names[code] for code in codes.tolist()]), b"", 0
    return valid, _codes(codes, len(names)), _plain_texts(names), len(names)


def _mostly_distinct(names: Collection[Any], column: TableColumn) -> bool:
    """Would a dictionary be no shorter than the texts themselves?"""
    return 3 * len(names) > 2 * len(column)


def _number_pages(column: TableColumn) -> _Pages:
    valid = column.valid
    values = column.to_numpy() if valid is None else column.to_numpy()[valid]
    if column.kind == "Boolean":
        return valid, np.packbits(values, bitorder="little").tobytes(), b"", 0
    if column.kind == "Float64":
        bits = values.view(np.int64)  # as there are two zeros and many NaN
        ordered = np.sort(bits)
        distinct = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(bits) else ordered
        if 0 < 4 * len(distinct) <= len(bits):
            return valid, _codes(np.searchsorted(distinct, bits), len(distinct)), distinct.tobytes(), len(distinct)
    elif len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < min(_NEAR, len(values) // 4):
            near = np.arange(low, high + 1, dtype=values.dtype)
            return valid, _codes(values - low, len(near)), near.tobytes(), len(near)
    return valid, values.tobytes(), b"", 0


def _plain_texts(texts: Sequence[Any]) -> bytes:
    """Each text behind its length."""
    encoded: Sequence[bytes] = [text.encode() for text in texts] if texts and isinstance(texts[0], str) else texts
    lengths = np.fromiter(map(len, encoded), "<u4", len(encoded)).view("V4").tolist()
    return b"".join(chain.from_iterable(zip(lengths, encoded, strict=True)))


def _codes(codes: NDArray[Any], entries: int) -> bytes:
    """Places in a dictionary, each in whole bytes, which compress better than bits."""
    width = 1 if entries <= 1 << 8 else 2 if entries <= 1 << 16 else 4
    return bytes([8 * width]) + _packed(codes.astype(f"<u{width}").tobytes(), len(codes), width)


def _levels(levels: NDArray[np.uint8], width: int) -> bytes:
    """What stands before the values of a page, in so many bits each, behind its length."""
    if len(levels) and (levels == levels[0]).all():
        return _same_levels(len(levels), int(levels[0]))
    bits = (levels[:, None] >> np.arange(width, dtype=np.uint8)) & 1
    content = _packed(np.packbits(bits, bitorder="little").tobytes(), len(levels), width / 8)
    return len(content).to_bytes(4, "little") + content


def _same_levels(rows: int, level: int) -> bytes:
    """The same where all rows have one level."""
    content = _varint(rows << 1) + bytes([level])
    return len(content).to_bytes(4, "little") + content


def _packed(content: bytes, values: int, width: float) -> bytes:
    """Packed values of so many bytes each, in groups of eight of which the last is filled up."""
    groups = -(-values // 8)
    return _varint(groups << 1 | 1) + content.ljust(int(8 * groups * width), b"\0")


# Thrift's compact protocol, in which headers and footer are written: the type of a field and its bytes.

_Field: TypeAlias = tuple[int, bytes]
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12


def _varint(number: int) -> bytes:
    if number <= 0x7F:
        return number.to_bytes(1, "little")
    content = bytearray()
    while number > 0x7F:
        content.append(number & 0x7F | 0x80)
        number >>= 7
    content.append(number)
    return bytes(content)


def _zigzag(number: int) -> bytes:
    return _varint(number << 1)  # none is negative


def _i32(number: int) -> _Field:
    return _I32, _zigzag(number)


def _i64(number: int) -> _Field:
    return _I64, _zigzag(number)


def _binary(text: str) -> _Field:
    content = text.encode()
    return _BINARY, _varint(len(content)) + content


def _list(kind: int, items: Sequence[bytes]) -> _Field:
    size = len(items)
    return _LIST, (bytes([size << 4 | kind]) if size < 15 else bytes([0xF0 | kind]) + _varint(size)) + b"".join(items)


def _logical(number: int) -> _Field:
    """A logical type, which is a union of empty structures."""
    return _STRUCT, _struct({number: (_STRUCT, _struct({}))})


def _struct(fields: Mapping[int, _Field]) -> bytes:
    content, before = bytearray(), 0
    for number, (kind, value) in fields.items():
        content.append(number - before << 4 | kind)
        content += value
        before = number
    content.append(0)
    return bytes(content)
