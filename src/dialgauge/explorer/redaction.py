"""Runs to show to others without the personal data in their conversations that rules can find.

Texts, tool calls, ids, goals, tables and the manifest have stand-ins, the same for the same value in all runs that are
shown together; what users know is read from what they were told, and what is personal from how tools call it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import polars as pl
from msgspec import structs

from dialgauge.redaction import NOT_FOUND, Redactor, ids_of_things, redactor_of
from dialgauge.runs import FIXED, Run, renamed


def redacted_runs(runs: Sequence[Run]) -> tuple[list[Run], Redactor]:
    """Runs in memory with stand-ins, and what was replaced in all of them."""
    ids = (each for run in runs for each in ids_of_things(msgspec.to_builtins(run.manifest)))
    redactor = redactor_of([dialogue for run in runs for dialogue in run.dialogues()], ids)
    return [_redacted(run, redactor) for run in runs], redactor


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
    return Run(changed, tables, dialogues, changed.inputs)


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
