"""Runs to show to others without the personal data in their conversations that rules can find.

Texts, tool calls, ids, goals, tables and the manifest have stand-ins, the same for the same value in all runs that are
shown together; what users know is read from what they were told, and what is personal from how tools call it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
import polars as pl
from msgspec import structs

from dialgauge.personal_fields import PersonalField, ids_of_things, personal_fields
from dialgauge.redaction import NOT_FOUND, Redactor, tool_data
from dialgauge.runs import FIXED, Run, renamed, run_in_memory


def redacted_runs(runs: Sequence[Run]) -> tuple[list[Run], Redactor]:
    """Runs in memory with stand-ins, and what was replaced in all of them."""
    known = (value for run in runs for value in _known_in(run))
    fields = (field for run in runs for field in _fields_in(run))
    redactor = Redactor(known, fields, (name for run in runs for name in _ids_in(run)))
    return [_redacted(run, redactor) for run in runs], redactor


def _known_in(run: Run) -> Iterator[str]:
    for dialogue in run.dialogues():
        if dialogue.goal:
            yield from dialogue.goal.knows.values()
            for match in _VALUE.finditer("\n".join(dialogue.goal.message)):
                yield match["quoted"] or match[0]


def _fields_in(run: Run) -> Iterator[PersonalField]:
    for dialogue in run.dialogues():
        for name in _names_of_user("\n".join(dialogue.instruction)):
            yield PersonalField("name", name)
        for holder, name in tool_data(msgspec.to_builtins(dialogue)):
            yield from personal_fields(holder[name])


#: What an instruction tells its user that no other would say: up to three words in quotes, words with letters and
#: digits, long numbers.
_VALUE = re.compile(
    r"(?<!\w)[\"“‘'](?P<quoted>[^\s\"”’']+(?: [^\s\"”’']+){0,2})[\"”’'](?!\w)"
    r"|\b(?=[\w.-]*[^\W\d_])(?=[\w.-]*\d)\w[\w.-]{3,}\w\b|\b\d{5,}\b"
)
_PERSON = re.compile(
    r"\b[Yy]ou(?: are|'re) (?P<full>[A-Z][\w'-]+(?: [A-Z][\w'-]+){1,3})"
    r"|\b(?:[Yy]our|[Mm]y) (?:\w+ )?name(?: is|:) (?P<name>[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,3})"
)


def _names_of_user(instruction: str) -> list[str]:
    """The parts of the names that an instruction gives its user.

    >>> _names_of_user("You are Mia Li. Your middle name is Ann.")
    ['Mia', 'Li', 'Ann']
    """
    names = [match["full"] or match["name"] for match in _PERSON.finditer(instruction)]
    return list(dict.fromkeys(part for name in names for part in name.split()))


def _ids_in(run: Run) -> Iterator[str]:
    """Ids of conversations and of what tools and the run itself call so: none of them is a phone number or a key."""
    yield from ids_of_things(msgspec.to_builtins(run.manifest))
    for dialogue in run.dialogues():
        yield dialogue.id
        for holder, name in tool_data(msgspec.to_builtins(dialogue)):
            yield from ids_of_things(holder[name])


def _redacted(run: Run, redactor: Redactor) -> Run:
    dialogues = [redactor.dialogue(dialogue) for dialogue in run.dialogues()] if run.has_corpus else None
    own = [name for name in run.tables if name not in _OF_CORPUS]
    tables = {name: _redacted_table(run.table(name), redactor) for name in own}
    facts = run.manifest
    redacted = {name: redactor.value(getattr(facts, name)) for name in ("command", "config", "details", "notes")}
    name = redactor.text(facts.name)
    scores = {
        redactor.name(measure): structs.replace(score, signature=redactor.name(score.signature))
        for measure, score in facts.scores.items()
    }
    inputs = [structs.replace(given, path=redactor.text(given.path)) for given in facts.inputs]
    notes = [*redacted.pop("notes"), f"personal data that rules can find is replaced by stand-ins. {NOT_FOUND}"]
    changed = structs.replace(
        facts, id=facts.id if name == facts.name else renamed(facts.id, facts.kind, name), name=name, scores=scores,
        inputs=inputs, notes=notes, note_kinds=[*facts.note_kinds, "redacted"], corpus="", tables={}, **redacted,
    )  # fmt: skip
    return run_in_memory(changed, tables, dialogues)


#: Tables that are made of the dialogues.
_OF_CORPUS = frozenset(FIXED) - {"dialogue_scores"}


def _redacted_table(frame: pl.DataFrame, redactor: Redactor) -> pl.DataFrame:
    def column(series: pl.Series) -> pl.Series:
        if series.dtype == pl.String:
            changed = {text: redactor.name(text) for text in series.unique().drop_nulls().to_list()}
            return series.replace({old: new for old, new in changed.items() if old != new})
        if series.dtype.is_nested():
            return pl.Series(series.name, [redactor.value(value) for value in series.to_list()], series.dtype)
        return series

    return pl.DataFrame([column(series) for series in frame])
