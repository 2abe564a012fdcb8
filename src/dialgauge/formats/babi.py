"""Dialog bAbI, tasks 1 to 6 (Bordes, Boureau and Weston, ICLR 2017): dialogs, candidates and knowledge bases.

Every line is a number, one space and the rest. In dialogs the number counts lines, in the other files it is always 1.

In a dialog, a line with a tab, ``user<TAB>bot``, becomes a user turn and a system turn, with the texts exactly as they
stand there. Lines without a tab are what the knowledge base answered (``entity relation value``, or ``api_call no
result``); they become the ``results`` of the user turn that follows. Reading a released file and writing it gives the
same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from dialgauge.dialogue import Dialogue, Fact, Turn
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats.base import DialogueFormat, Peek, Resource, ResourceFormat
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part, decode_utf8, resolve

#: What stands for a user who says nothing, so that the bot speaks again.
SILENCE = "<SILENCE>"
NO_RESULT = "api_call no result"

_OFFICIAL = re.compile(r"dialog-babi-(task\d+)-(?:.*-)?(trn|dev|tst-OOV|tst)\.txt", re.IGNORECASE)
_KB_LINE = re.compile(r"\S+ R_\w+\t\S+")
_BREAKS = re.compile(r"[\t\r\n]+")
#: The relations of the released files: seven of tasks 1-5, and the post code of task 6.
RELATIONS = (
    "R_cuisine",
    "R_location",
    "R_price",
    "R_rating",
    "R_phone",
    "R_address",
    "R_number",
    "R_post_code",
)

_LINE = re.compile(r"([0-9]{1,7}) (.*)", re.DOTALL)
_RELATIONS = frozenset(RELATIONS)
_SHOWN = 60


def is_silence(text: str) -> bool:
    """Did the user say nothing? (One training dialog of task 6 leaves the user's side empty instead.)"""
    return text.strip() in ("", SILENCE)


def numbered(part: Part) -> Iterator[tuple[int, int, str] | None]:
    """The lines of a file as (line number, number at its start, rest), and ``None`` for an empty line."""
    for number, raw in part.lines():
        if not raw.strip():
            yield None
            continue
        line = decode_utf8(raw, part.name, number)
        match = _LINE.fullmatch(line)
        if match is None:
            raise DialgaugeError(
                f"expected a number, a space and text, found {excerpt(line)}", file=part.name, line=number
            )
        yield number, int(match[1]), match[2]


def numbered_head(peek: Peek) -> list[tuple[int, str]] | None:
    """The whole lines at the beginning of a file as (number, rest); ``None`` when one of them is not of this kind."""
    lines = peek.lines if len(peek.lines) < 2 else peek.lines[:-1]
    matches = [_LINE.fullmatch(line) for line in lines if line.strip()]
    if not matches or None in matches:
        return None
    return [(int(match[1]), match[2]) for match in matches if match is not None]


def excerpt(text: str) -> str:
    """A text as it is shown in an error: quoted, control characters visible, not too long."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def fact_of(words: list[str], text: str, part: Part, line: int) -> Fact:
    """A fact from its three words, or an error when there are more or fewer or the relation is unknown."""
    if len(words) != 3 or not all(words):
        raise DialgaugeError(
            f"expected 'entity relation value', three words, found {excerpt(text)}", file=part.name, line=line
        )
    if words[1] not in _RELATIONS:
        raise DialgaugeError(
            f"the relation '{words[1]}' is unknown.{nearest(words[1], RELATIONS)}", file=part.name, line=line
        )
    return Fact(*words)


class Babi(DialogueFormat):
    """Numbered lines ``user<TAB>bot`` with facts between them; an empty line after each dialog."""

    name = "babi"
    summary = "dialog bAbI tasks 1-6: numbered lines, user TAB bot, facts between turns"
    fields = frozenset({"text", "results"})
    writes = True

    def recognise(self, peek: Peek) -> bool:
        head = numbered_head(peek)
        if head is None or head[0][0] != 1 or any(rest.count("\t") > 1 for _, rest in head):
            return False
        counts_on = any(number == 2 for number, _ in head)
        with_tab = [rest for _, rest in head if "\t" in rest]
        return counts_on or (bool(with_tab) and not all(_KB_LINE.fullmatch(rest) for rest in with_tab))

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        prefix = _id_prefix(part)
        for position, lines in enumerate(_blocks(part), start=1):
            yield _dialogue(f"{prefix}-{position:04d}", lines, part)

    def write(self, dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
        for dialogue in dialogues:
            lines = [f"{number} {rest}\n" for number, rest in enumerate(_rests(dialogue, notes), start=1)]
            out.write("".join([*lines, "\n"]).encode())


def _id_prefix(part: Part) -> str:
    """``task1-tst`` for a released file, the file's own name for others, ``dialog`` where there is none."""
    official = _OFFICIAL.fullmatch(part.stem)
    if official:
        return f"{official[1].lower()}-{official[2]}"
    stem = part.stem.removesuffix(".txt")
    return "dialog" if stem in ("", "standard input") else stem


def _blocks(part: Part) -> Iterator[list[tuple[int, str]]]:
    """The lines of each dialog as (line number, rest): a dialog ends at an empty line or where numbering restarts."""
    block: list[tuple[int, str]] = []
    for item in numbered(part):
        if item is None:
            if block:
                yield block
                block = []
            continue
        line, number, rest = item
        if number == 1 and block:
            yield block
            block = []
        if number != len(block) + 1:
            raise DialgaugeError(
                f"lines of a dialogue are numbered 1, 2, 3, …; expected {len(block) + 1}, found {number}",
                file=part.name,
                line=line,
            )
        block.append((line, rest))
    if block:
        yield block


def _dialogue(identifier: str, lines: list[tuple[int, str]], part: Part) -> Dialogue:
    turns: list[Turn] = []
    results: tuple[Fact, ...] | None = None
    facts: list[Fact] = []
    for line, rest in lines:
        if "\t" not in rest:
            if results is not None or (rest == NO_RESULT and facts):
                raise DialgaugeError(
                    f"'{NO_RESULT}' cannot be mixed with other answers of the knowledge base", file=part.name, line=line
                )
            if rest == NO_RESULT:
                results = ()
            else:
                facts.append(fact_of(rest.split(" "), rest, part, line))
            continue
        user, bot = _sides(rest, part, line)
        turns.append(Turn(speaker="user", text=user, results=tuple(facts) if facts else results))
        turns.append(Turn(speaker="system", text=bot))
        results, facts = None, []
    if facts or results is not None:
        raise DialgaugeError(
            "the dialogue ends with an answer of the knowledge base; a turn must follow it",
            file=part.name,
            line=lines[-1][0],
        )
    return Dialogue(id=identifier, turns=tuple(turns))


def _sides(rest: str, part: Part, line: int) -> tuple[str, str]:
    user, _, bot = rest.partition("\t")
    if "\t" in bot:
        raise DialgaugeError(
            f"a turn has one tab, between user and bot; found {excerpt(rest)}", file=part.name, line=line
        )
    if not bot.strip():
        raise DialgaugeError(f"the bot's side is empty in {excerpt(rest)}", file=part.name, line=line)
    return user, bot


def _rests(dialogue: Dialogue, notes: Notes) -> Iterator[str]:
    """The lines of a dialog without their numbers. A bot that speaks unasked answers silence."""
    user_text: str | None = None
    for position, turn in enumerate(dialogue.turns, start=1):
        if turn.speaker == "user" and user_text is not None:
            raise DialgaugeError(
                "two user turns follow each other, which the bAbI format cannot express; join them first",
                dialogue=dialogue.id,
                turn=position,
            )
        if turn.results is not None:
            yield from (_fact_line(fact, notes) for fact in turn.results) if turn.results else (NO_RESULT,)
        text = _one_line(turn.text, notes)
        if turn.speaker == "user":
            user_text = text
        else:
            if not text.strip():
                raise DialgaugeError(
                    "the bot's turn has no text, which the bAbI format cannot express",
                    dialogue=dialogue.id,
                    turn=position,
                )
            yield f"{SILENCE if user_text is None else user_text}\t{text}"
            user_text = None
    notes.add("last user turn without a reply dropped", int(user_text is not None))


def _fact_line(fact: Fact, notes: Notes) -> str:
    words = (fact.entity, fact.relation, fact.value)
    joined = ["_".join(word.split()) for word in words]
    notes.add("white space in a fact written as an underscore", int(joined != list(words)))
    return " ".join(joined)


def _one_line(text: str, notes: Notes) -> str:
    if not _BREAKS.search(text):
        return text
    notes.add("tab or line break in a text written as a space")
    return _BREAKS.sub(" ", text)


class BabiCandidates(ResourceFormat):
    """The replies a bot chooses from, ``1 text`` a line; leading spaces belong to the text (task 6 has one)."""

    name = "babi-candidates"
    summary = "dialog bAbI candidates: one '1 reply' per line"
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


class BabiKnowledgeBase(ResourceFormat):
    """One fact a line, in both spellings of the release.

    Tasks 1-5 put a tab before the value (``1 entity relation<TAB>value``), task 6 a space.
    """

    name = "babi-kb"
    summary = "dialog bAbI knowledge base: one '1 entity relation value' per line"
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
