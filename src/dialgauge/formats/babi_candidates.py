"""Dialog bAbI: the replies a bot chooses from, one ``1 text`` a line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import IO

from dialgauge.errors import DialgaugeError
from dialgauge.formats.babi_lines import RELATIONS, excerpt, numbered, numbered_head
from dialgauge.formats.base import Notes, Resource, ResourceFormat
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part, resolve


class BabiCandidates(ResourceFormat):
    """One candidate a line; leading spaces belong to the text (task 6 has one)."""

    name = "babi-candidates"
    summary = "dialog bAbI candidates: one '1 reply' a line"
    kind = "candidates"

    def recognise(self, peek: Peek) -> bool:
        head = numbered_head(peek)
        if head is None or any(number != 1 or "\t" in rest for number, rest in head):
            return False
        return not all(_looks_like_fact(rest) for _, rest in head)

    def load(self, part: Part, notes: Notes) -> Resource:
        texts: list[str] = []
        for item in numbered(part):
            if item is None:
                continue
            line, number, rest = item
            if number != 1 or "\t" in rest or not rest.strip():
                raise DialgaugeError(
                    f"a candidate is written '1 text', found {excerpt(f'{number} {rest}')}", file=part.name, line=line
                )
            texts.append(rest)
        notes.add("candidate listed twice", len(texts) - len({text.strip() for text in texts}))
        return Resource(kind="candidates", texts=tuple(texts))


def _looks_like_fact(rest: str) -> bool:
    words = rest.split(" ")
    return len(words) == 3 and words[1] in RELATIONS


def write_candidates(texts: Iterable[str], out: IO[bytes]) -> None:
    """Write candidates in the given order, as the released files do."""
    out.write("".join(f"1 {text}\n" for text in texts).encode())


def load_candidates(path: str | Path) -> tuple[str, ...]:
    """The candidates of a file, in its order, as they stand there."""
    return tuple(text for part in resolve(path) for text in BabiCandidates().load(part, Notes()).texts)
