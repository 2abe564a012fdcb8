"""Finding formats (through entry points) and picking the one a file is in, by name or by looking, never by guessing."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from turnwise.errors import TurnwiseError, nearest
from turnwise.formats.base import AnyFormat, DialogueFormat
from turnwise.formats.peek import Peek
from turnwise.formats.source import Part

GROUP = "turnwise.formats"


@cache
def formats() -> dict[str, AnyFormat]:
    """All known formats by name."""
    found = {point.name: point.load()() for point in entry_points(group=GROUP)}
    return dict(sorted(found.items()))


def format_named(name: str) -> AnyFormat:
    """The format of that name, or an error with the nearest names."""
    known = formats()
    if name not in known:
        raise TurnwiseError(f"there is no format named '{name}'.{nearest(name, known)}")
    return known[name]


def writer_named(name: str) -> DialogueFormat:
    """The format of that name if it can write dialogues, or an error that lists those that can."""
    chosen = format_named(name)
    if isinstance(chosen, DialogueFormat) and chosen.writes:
        return chosen
    able = [n for n, f in formats().items() if isinstance(f, DialogueFormat) and f.writes]
    raise TurnwiseError(f"the format {name} can be read but not written; writable: {', '.join(able)}")


def recognise(part: Part) -> AnyFormat:
    """The one format the part is in; none or several is an error that tells how to name it."""
    peek = Peek(part)
    if not peek.head.strip():
        raise TurnwiseError("the file is empty", file=part.name)
    matching = [found for found in formats().values() if found.recognise(peek)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        names = ", ".join(found.name for found in matching)
        raise TurnwiseError(f"it could be any of these formats: {names}; choose one with --format", file=part.name)
    raise TurnwiseError(
        f"no known format fits it{_why(peek)}; 'turnwise data formats' lists them, --format NAME names one",
        file=part.name,
    )


def _why(peek: Peek) -> str:
    start = peek.head.lstrip()[:1]
    if start in (b"{", b"[") and peek.json is None:
        return " (it begins like JSON but does not parse as JSON)"
    if b"\x00" in peek.head[:4096]:
        return " (it is a binary file)"
    return ""
