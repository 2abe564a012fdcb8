"""Finding formats (through entry points) and picking the one a file is in, by name or by looking, never by guessing."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats.base import AnyFormat, DialogueFormat, Peek
from dialgauge.formats.document import Document, is_document
from dialgauge.formats.source import Part

GROUP = "dialgauge.formats"

#: First bytes of files that people hold out by mistake, and what to tell them.
_STARTS = {
    b"\xff\xfe": "it is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16 text; save it as UTF-8",
    b"BZh": "it is compressed with bzip2; unpack it first, gzip and zip are read as they are",
    b"\xfd7zXZ": "it is compressed with xz; unpack it first, gzip and zip are read as they are",
    b"\x28\xb5\x2f\xfd": "it is compressed with zstandard; unpack it first, gzip and zip are read as they are",
    b"7z\xbc\xaf": "it is a 7-Zip archive; unpack it first, gzip and zip are read as they are",
    b"version https://git-lfs": "it is a Git LFS pointer, not the file itself; run  git lfs pull",
}
_KINDS = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number", bool: "true or false"}


@cache
def formats() -> dict[str, AnyFormat]:
    """All known formats by name."""
    points = {(point.name, point.value): point for point in entry_points(group=GROUP)}
    found: dict[str, AnyFormat] = {}
    for (name, value), point in sorted(points.items()):
        if name in found:
            raise DialgaugeError(f"two installed packages offer a format named '{name}'; uninstall one ({value})")
        try:
            found[name] = point.load()()
        except (ImportError, AttributeError) as error:
            raise DialgaugeError(f"the format '{name}' ({value}) cannot be loaded: {error}; reinstall it") from error
    return found


def format_named(name: str) -> AnyFormat:
    """The format of that name, or an error with the nearest names."""
    known = formats()
    if name not in known:
        raise DialgaugeError(f"there is no format named '{name}'.{nearest(name, known)}")
    return known[name]


def writer_named(name: str) -> DialogueFormat:
    """The format of that name if it can write dialogues, or an error that lists those that can."""
    chosen = format_named(name)
    if isinstance(chosen, DialogueFormat) and chosen.writes:
        return chosen
    able = [n for n, f in formats().items() if isinstance(f, DialogueFormat) and f.writes]
    raise DialgaugeError(f"the format {name} can be read but not written; writable: {', '.join(able)}")


def recognise(part: Part) -> AnyFormat:
    """The one format the part is in; none or several is an error that tells how to name it.

    Files that accompany data (README, checksums, ...) are told by their name before any content is looked at.
    """
    if is_document(part.stem):
        return format_named(Document.name)
    peek = Peek(part)
    if not peek.head.strip():
        raise DialgaugeError("the file is empty", file=part.name)
    matching = [found for found in formats().values() if found.recognise(peek)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        names = ", ".join(found.name for found in matching)
        raise DialgaugeError(f"it could be any of these formats: {names}; choose one with --format", file=part.name)
    raise DialgaugeError(
        f"no known format fits it{_why(peek)}; 'dialgauge data formats' lists them, --format NAME names one",
        file=part.name,
    )


def _why(peek: Peek) -> str:
    for start, what in _STARTS.items():
        if peek.head.startswith(start):
            return f" ({what})"
    if peek.head.lstrip()[:1] in (b"{", b"[") and peek.json is None:
        return " (its JSON is nested too deeply)" if peek.too_deep else " (it begins like JSON but is not valid JSON)"
    if peek.json is not None:
        return f" ({_shape(peek)})"
    if b"\x00" in peek.head[:4096]:
        return " (it is a binary file)"
    return ""


def _shape(peek: Peek) -> str:
    """What JSON it is, in a few words, for people to see whether they took the right file."""
    kind = "an object" if isinstance(peek.json, dict) else "a list"
    if peek.first is None:
        return f"it is JSON: {kind} with nothing in it"
    key, value = peek.first
    inside = _KINDS.get(type(value), "something")
    return f"it is JSON: {kind} whose first entry is {inside}" + (f" under the key {key[:40]!r}" if key else "")
