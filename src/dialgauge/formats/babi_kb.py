"""Dialog bAbI: knowledge bases, in both spellings of the release.

Tasks 1-5 put a tab before the value (``1 entity relation<TAB>value``), task 6 a space (``1 entity relation value``).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import IO

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.formats.babi_lines import excerpt, fact_of, numbered, numbered_head
from dialgauge.formats.base import Notes, Resource, ResourceFormat
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part, resolve


class BabiKnowledgeBase(ResourceFormat):
    """One fact a line: entity, relation, value."""

    name = "babi-kb"
    summary = "dialog bAbI knowledge base: one '1 entity relation value' a line"
    kind = "knowledge base"

    def recognise(self, peek: Peek) -> bool:
        head = numbered_head(peek)
        return head is not None and all(number == 1 and _is_fact(rest) for number, rest in head)

    def load(self, part: Part, notes: Notes) -> Resource:
        facts: list[Fact] = []
        for item in numbered(part):
            if item is None:
                continue
            line, number, rest = item
            if number != 1:
                raise DialgaugeError(
                    f"a line of a knowledge base begins with 1, found {excerpt(f'{number} {rest}')}",
                    file=part.name,
                    line=line,
                )
            facts.append(fact_of(_words(rest), rest, part, line))
        notes.add("fact listed twice", len(facts) - len(set(facts)))
        return Resource(kind="knowledge base", facts=tuple(facts))


def _words(rest: str) -> list[str]:
    left, tab, value = rest.partition("\t")
    return [*left.split(" "), value] if tab else left.split(" ")


def _is_fact(rest: str) -> bool:
    words = _words(rest)
    return len(words) == 3 and words[1].startswith("R_")


def write_kb(facts: Iterable[Fact], out: IO[bytes], *, tab: bool = True) -> None:
    """Write facts in the given order: with a tab before the value (tasks 1-5) or a space (task 6)."""
    between = "\t" if tab else " "
    out.write("".join(f"1 {fact.entity} {fact.relation}{between}{fact.value}\n" for fact in facts).encode())


def load_kb(path: str | Path) -> tuple[Fact, ...]:
    """The facts of a knowledge-base file, in either spelling."""
    parts = resolve(path)
    return tuple(fact for part in parts for fact in BabiKnowledgeBase().load(part, Notes()).facts)
