"""JSON as people write it: typed, or one sentence that says what is wrong and where; and what is nearly JSON."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Mapping
from mmap import mmap
from typing import IO, Any, TypeVar

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part, decode_utf8

T = TypeVar("T")
#: How msgspec points to a byte, and numbers that are none, outside of texts.
_BYTE = re.compile(r"\(byte (\d+)\)")
_NAN = re.compile(rb"-?(?:NaN|Infinity)")
_NO_NUMBERS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|-?(?:NaN|Infinity)', re.DOTALL)
#: Escapes of JSON: both halves of a character beyond 16 bits, one of them alone, or any other.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_HALF = "half of an emoji, as where a text was cut"
#: How msgspec points into the list of turns of one dialogue, whatever the format calls that list, if anything.
_TURN_PATH = re.compile(r"`\$(?:\.\w+)?\[(\d+)\]")


def decode(
    decoder: msgspec.json.Decoder[T],
    content: bytes | memoryview | mmap | msgspec.Raw,
    part: Part,
    *,
    line: int | None = None,
    dialogue: str | None = None,
    notes: Notes | None = None,
) -> T:
    """Typed JSON, or one sentence that says what is wrong and where in the structure.

    When the content is one dialogue, give its id: the error then names it and, where the structure tells, the turn.
    With ``notes``, halves of characters are replaced, and counted there.
    """
    try:
        return decoder.decode(content)
    except msgspec.ValidationError as error:
        decode_utf8(bytes(content), part.name, line)
        match = _TURN_PATH.search(str(error)) if dialogue is not None or line is not None else None
        raise DialgaugeError(
            f"the JSON does not have the expected shape: {error}",
            file=part.name,
            line=line,
            dialogue=dialogue,
            turn=int(match[1]) if match else None,
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        decode_utf8(bytes(content), part.name, line)
        whole = without_halves(bytes(content))
        if whole != bytes(content):
            if notes is None:
                message = f"it holds {_HALF} (such as \\ud83d); write \\ufffd instead, or leave it out"
                raise DialgaugeError(message, file=part.name, line=line, dialogue=dialogue) from error
            notes.add(f"{_HALF}, read as the replacement character")
            return decode(decoder, whole, part, line=line, dialogue=dialogue)
        message = f"it is not valid JSON: {_no_number(bytes(content), str(error)) or error}"
        raise DialgaugeError(message, file=part.name, line=line, dialogue=dialogue) from error
    except RecursionError as error:
        message = "the JSON is nested too deeply to be dialogue data"
        raise DialgaugeError(message, file=part.name, line=line, dialogue=dialogue) from error


def without_halves(content: bytes) -> bytes:
    """JSON in which the replacement character stands for halves of characters that are written as escapes.

    >>> without_halves(rb'"a \\ud83d, \\ud83d\\ude00, \\\\ud83d"')
    b'"a \\\\ufffd, \\\\ud83d\\\\ude00, \\\\\\\\ud83d"'
    """
    if b"\\ud" not in content and b"\\uD" not in content:
        return content
    return _ESCAPE.sub(lambda escape: b"\\ufffd" if escape[1] else escape[0], content)


def _no_number(content: bytes, error: str) -> str:
    """The sentence about a NaN, which many programs write and JSON does not have; empty where it is something else."""
    position = _BYTE.search(error)
    match = _NAN.match(content, int(position[1])) if position else None
    if match is None:
        return ""
    lines = content.count(b"\n", 0, match.start()) + 1
    where = f"line {lines:,}" if lines > 1 else f"byte {match.start():,}"
    return f"{match[0].decode()} ({where}) is not a JSON value; write null where there is none, or the intended number"


_ENCODER = msgspec.json.Encoder()


def write_array(records: Iterable[Any], out: IO[bytes]) -> None:
    """Write a JSON array, one record a line."""
    separator = b"[\n"
    for record in records:
        out.write(separator + _ENCODER.encode(record))
        separator = b",\n"
    out.write(b"\n]\n" if separator == b",\n" else b"[]\n")


def without_nan(content: bytes) -> bytes:
    """JSON in which null stands for NaN and infinite numbers, which many programs write and JSON does not have."""
    if b"NaN" not in content and b"Infinity" not in content:
        return content
    return null_for_nan(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def null_for_nan(text: str) -> str:
    """The same for a text."""
    return _NO_NUMBERS.sub(_as_null, text)


def _as_null(token: re.Match[str]) -> str:
    return token[0] if token[0].startswith('"') else "null"


def rows_by_columns(written: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """The rows of a table that was written by columns, as pandas does; none where it is no table.

    >>> rows_by_columns({"columns": ["a", "b"], "data": [[1, 2]]}), rows_by_columns({"a": {"0": 1}, "b": {"0": 2}})
    ([{'a': 1, 'b': 2}], [{'a': 1, 'b': 2}])
    """
    if isinstance(written.get("columns"), list) and isinstance(written.get("data"), list):
        cells = [row for row in written["data"] if isinstance(row, list)]
        return [dict(zip(map(str, written["columns"]), row, strict=False)) for row in cells]
    contents = list(written.values())
    if not all(isinstance(content, list | Mapping) for content in contents) or len(set(map(len, contents))) != 1:
        return []
    lists = [list(content.values()) if isinstance(content, Mapping) else content for content in contents]
    return [dict(zip(map(str, written), row, strict=True)) for row in zip(*lists, strict=True)]


def literal(text: str, longest: int = 1 << 30) -> Any:
    """What JSON or Python means by a text, which is data and never run; None where it is neither.

    Longer texts than ``longest`` are none of Python's.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return python_literal(text) if len(text) < longest else None


def python_literal(text: str) -> Any:
    """What Python means by a text; None where it is no literal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a model wrote may look like a bad escape
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None
