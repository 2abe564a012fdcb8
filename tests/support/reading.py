"""Reading bytes as a named format, without a file."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from functools import partial
from typing import Any

from dialgauge.dialogue import Dialogue
from dialgauge.formats import DialogueFormat, Notes, Part, format_named


def part_of(content: bytes, name: str = "file.json") -> Part:
    """The bytes as a part of a source."""
    return Part(name, partial(io.BytesIO, content), 1 << 30)


def read_bytes(
    format: str, content: bytes, name: str = "file.json", *, tolerant: bool = False
) -> tuple[list[Dialogue], Notes]:
    """The dialogues the content holds in that format, and what the reader noted."""
    reader, notes = format_named(format), Notes(tolerant=tolerant)
    assert isinstance(reader, DialogueFormat)
    return list(reader.read(part_of(content, name), notes)), notes


def read_json(format: str, value: Any) -> tuple[list[Dialogue], Notes]:
    """As :func:`read_bytes`, for a value written as JSON."""
    return read_bytes(format, json.dumps(value).encode())


def write_bytes(format: str, dialogues: Iterable[Dialogue]) -> tuple[bytes, Notes]:
    """The dialogues as bytes in that format, and what the writer noted."""
    writer, out, notes = format_named(format), io.BytesIO(), Notes()
    assert isinstance(writer, DialogueFormat)
    writer.write(dialogues, out, notes)
    return out.getvalue(), notes
