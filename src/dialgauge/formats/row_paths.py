"""Rows of a file by a path such as ``results.{dialogue}.turns[]``, and values inside a row.

``name`` or ``"name"`` is a key, ``{x}`` binds every key of an object, ``[]`` is every element of a list, ``[{x}]``
binds its index, ``[0]`` is one element. Inside a row, ``^name`` stands in the object around it, ``{x}`` is what the
path bound, ``$file`` the name of the file, ``$path`` the same with its folders, and the empty path the row itself.

JSON stays undecoded (:class:`msgspec.Raw`) until a row is asked for, so that a file of any size takes one path.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw, Struct

from dialgauge.errors import DialgaugeError
from dialgauge.formats.jsonfile import (
    RAW,
    RAW_LIST,
    KeyLocation,
    are_lines,
    as_key,
    begins,
    decode,
    elements_of,
    members_of,
    values_of_lines,
)
from dialgauge.formats.predictions.states import Misfit, require_single_keys, shown
from dialgauge.formats.source import Part, file_stem

Step: TypeAlias = tuple[str, Any]

_STEP = re.compile(r'"(?P<quoted>[^"]+)"|(?P<key>[^.\[\]{}"^]+)|\{(?P<bind>\w+)\}|\[(?P<index>\d*|\{\w+\})\]')
_ANY = msgspec.json.Decoder()
_MEMBERS = msgspec.json.Decoder(dict[KeyLocation, Raw], dec_hook=as_key)
#: Rows by which a layout is told.
BEGINNING = 400
#: Characters that a pattern sees of a text.
_MATCHED = 300
_DELIMITERS = ",;\t|"
_KINDS = {b"{": "an object", b"[": "a list", b'"': "a text"}


@lru_cache(maxsize=256)
def steps(path: str) -> tuple[Step, ...]:
    """The steps of a path; :class:`Misfit` where it is none."""
    found: list[Step] = []
    at = 0
    while at < len(path):
        dot = path[at] == "."
        token = _STEP.match(path, at + dot)
        if token is None or (dot and not found) or (not dot and found and path[at] not in "["):
            raise Misfit(f"'{path}' is not a path such as results.{{dialogue}}.turns[]")
        if token["index"] is not None:
            index = token["index"]
            found.append(("at", int(index)) if index.isdigit() else ("each", index.strip("{}")))
        elif token["bind"]:
            found.append(("bind", token["bind"]))
        else:
            found.append(("key", token["quoted"] or token["key"].strip()))
        at = token.end()
    return tuple(found)


def quoted(key: str) -> str:
    """A key as a path has it."""
    return key if re.fullmatch(r"[^.\[\]{}\"^$\s](?:[^.\[\]{}\"^]*[^.\[\]{}\"^\s])?", key) else f'"{key}"'


class Row(Struct, gc=False):
    """One row of a file: its content, what its path bound, and the objects around it, the nearest last."""

    content: Any
    bound: dict[str, Any]
    above: tuple[dict[str, Any], ...]
    number: int
    file: str

    def fits(self, where: Mapping[str, Any]) -> bool:
        """Whether these fields have these values, or one of several."""
        for path, wanted in where.items():
            try:
                given = as_text(self.get(path))
            except Misfit:
                return False
            if given not in map(as_text, wanted if isinstance(wanted, list) else [wanted]):
                return False
        return True

    @property
    def value(self) -> Any:
        """The decoded content."""
        return decoded(self.content)

    def require_single_keys(self) -> None:
        """:class:`Misfit` where an object has a key twice, of which a JSON parser keeps the later in silence."""
        if isinstance(self.content, Raw):
            require_single_keys(bytes(self.content), self.value)

    def get(self, path: str) -> Any:
        """The value at a path; :class:`Misfit` where there is none."""
        content = self.content
        if isinstance(content, dict) and path in content:  # a plain name, as nearly all paths are
            return decoded(content[path])
        if path in ("$file", "$path"):
            return self.file if path == "$path" else file_stem(self.file)
        if path.startswith("{") and path.endswith("}"):
            if path[1:-1] not in self.bound:
                raise Misfit(f"{path} is bound by no part of 'rows'")
            return self.bound[path[1:-1]]
        up = len(path) - len(path.lstrip("^"))
        if up > len(self.above):
            raise Misfit(f"there is no object {'around' if up == 1 else 'so far around'} the row for '{path}'")
        return inside(self.above[-up] if up else self.value, path[up:])


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


def as_text(value: Any) -> str:
    """A value as a text; true and false in small letters."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def decoded(content: Any) -> Any:
    """What undecoded JSON says."""
    if not isinstance(content, Raw):
        return content
    try:
        return _ANY.decode(content)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Misfit(
            f"{shown(bytes(memoryview(content)[:60]).decode('utf-8', 'replace'))} is not valid JSON ({error})"
        ) from None


def inside(value: Any, path: str) -> Any:
    """The value at a path inside another, null where null stands on the way; :class:`Misfit` where there is none."""
    if isinstance(value, dict) and path in value:  # a name with dots or brackets
        return decoded(value[path])
    for kind, name in steps(path):
        if value is None:
            return None
        if kind == "key" and isinstance(value, dict):
            if name not in value:
                near = difflib.get_close_matches(name, map(str, value), 1, 0.5)
                hint = f" Did you mean '{path[: len(path) - len(name)]}{near[0]}'?" if near else ""
                known = ", ".join(map(str, list(value)[:8])) or "nothing"
                raise Misfit(f"'{path}' is missing; there is {known}.{hint}")
            value = value[name]
        elif kind == "at" and isinstance(value, list | tuple):
            if name >= len(value):
                raise Misfit(f"'{path}' is missing; the list has {len(value)} elements")
            value = value[name]
        else:
            raise Misfit(f"'{path}' is missing; {shown(value)} has no such part")
        value = decoded(value)
    return value


def rows(content: Any, path: str, file: str = "") -> Iterator[Row]:
    """The rows of a file's content."""
    numbers = iter(range(1 << 62))

    def walk(held: Any, at: int, bound: dict[str, Any], above: tuple[dict[str, Any], ...]) -> Iterator[Row]:
        if at == len(todo):
            yield Row(held, bound, above, next(numbers), file)
            return
        kind, name = todo[at]
        if kind in ("key", "bind"):
            pairs = _members(held, path)
            around = (*above, dict(pairs))
            if kind == "key":
                if name not in around[-1]:
                    raise Misfit(f"rows: there is no '{name}'; there is {', '.join(list(around[-1])[:8])}")
                yield from walk(around[-1][name], at + 1, bound, around)
            else:
                for key, inner in pairs:
                    yield from walk(inner, at + 1, {**bound, name: key}, around)
        elif kind == "at":
            yield from walk(_elements(held, path)[name], at + 1, bound, above)
        else:
            for number, inner in enumerate(_elements(held, path)):
                yield from walk(inner, at + 1, {**bound, name: number} if name else bound, above)

    todo = steps(path)
    return walk(content, 0, {}, ())


def _elements(held: Any, path: str) -> Sequence[Any]:
    if isinstance(held, Raw):
        try:
            return RAW_LIST.decode(held)
        except msgspec.ValidationError:
            raise Misfit(f"rows: '{path}' needs a list, and there is {_kind(held)}") from None
    if not isinstance(held, list | tuple):
        raise Misfit(f"rows: '{path}' needs a list, and there is {shown(held)}")
    return held


def _members(held: Any, path: str) -> list[tuple[str, Any]]:
    if isinstance(held, Raw):
        try:
            return [(key.text, raw) for key, raw in _MEMBERS.decode(held).items()]
        except msgspec.ValidationError:
            raise Misfit(f"rows: '{path}' needs an object, and there is {_kind(held)}") from None
    if not isinstance(held, dict):
        raise Misfit(f"rows: '{path}' needs an object, and there is {shown(held)}")
    return list(held.items())


def is_object(content: Any) -> bool:
    """Whether a file's content is one object, and no list or lines."""
    return isinstance(content, dict) or (isinstance(content, Raw) and _kind(content) == "an object")


def _kind(raw: Raw) -> str:
    return _KINDS.get(bytes(memoryview(raw)[:1]), "a number, true, false or null")


# -- files -----------------------------------------------------------------------------------------------------------


def content_of(part: Part, *, header: Sequence[str] = (), skip: int = 0, most: int | None = None) -> Any:
    """The content of a file: JSON undecoded, the values of JSON lines, or the rows of a table.

    ``header`` names the columns of a table without names, ``skip`` lines stand above it. With ``most``, only so many of
    the first rows, elements or members.
    """
    if part.head(4) == b"PAR1":
        from dialgauge.formats.tables import parquet_rows

        return parquet_rows(part, most)
    content = part.buffer()
    if begins(content) not in (b"{", b"[") or header or skip:
        return list(islice(_table(part.text(), part.name, header=header, skip=skip), most))
    if are_lines(content) or part.stem.endswith("l"):
        return list(islice(values_of_lines(content, part), most))
    if most is not None and begins(content) == b"[":
        return elements_of(content, part)[:most]
    if most is not None and len(members := members_of(content, part)) > most:
        return dict(members[:most])
    return decode(RAW, content, part)


def beginning(part: Part) -> Any:
    """The first rows of a file's content, or the first members of its object."""
    return content_of(part, most=BEGINNING)


def _table(text: str, file: str, *, header: Sequence[str] = (), skip: int = 0) -> Iterator[dict[str, str]]:
    """The rows of CSV or TSV by the names of its columns; cells are texts as they stand."""
    for _ in range(skip):
        text = text.partition("\n")[2]
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter not in first:
        raise Misfit("it is neither JSON nor a table of several columns")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        names = list(header) or next(reader)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DialgaugeError(f"two of its columns are called '{twice[:60]}'; rename one", file=file)
        for cells in reader:
            if not any(cells):
                continue
            if len(cells) != len(names):
                raise DialgaugeError(
                    f"it has {len(cells)} cells, and the heading {len(names)}; quote texts that contain {delimiter!r}",
                    file=file,
                    line=reader.line_num + skip,
                )
            yield dict(zip(names, cells, strict=True))
    except csv.Error as error:
        raise DialgaugeError(f"it is no sound table ({error})", file=file, line=reader.line_num + skip) from error
