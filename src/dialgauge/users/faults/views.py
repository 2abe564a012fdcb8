"""How checks of simulated users are shown: each fault at its message, and how far each check looked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from dialgauge.dialogue import Dialogue
from dialgauge.report import (
    PERCENT,
    Cell,
    Column,
    Finding,
    Link,
    Mark,
    Number,
    Table,
    Transcript,
    Turn,
    View,
    count_cell,
    score_cell,
)
from dialgauge.runs import Run
from dialgauge.text import counted
from dialgauge.users.faults.fault_measures import NO_FAULT_FOUND, USER_FAULT
from dialgauge.users.faults.fault_presentation import missing_sentence
from dialgauge.users.faults.fault_records import KINDS
from dialgauge.users.faults.fault_runs import CHECKS, FAULTS
from dialgauge.users.faults.labelled import load_record
from dialgauge.users.faults.wordings import fault_words, scope_sentence

_LOOKED: Mapping[str, str] = {"whole": "all of it", "part": "a part", "none": "not checked"}


def verdict(run: Run) -> str:
    """In how many conversations no fault was found, and which kinds were."""
    score = run.scores.get(NO_FAULT_FOUND)
    if score is None or score.value is None:
        return f"{run.name}: the users could not be checked."
    interval = f" {Column('', PERCENT).interval(score_cell(score))}" if score.low is not None else ""
    counts = (
        _faults(run)
        .group_by("fault")
        .agg(pl.col("dialogue").n_unique())
        .sort("dialogue", "fault", descending=[True, False])
    )
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in counts.iter_rows())
    return (
        f"No fault of the user was found in {score.value:.1%}{interval} of the conversations of {run.name}; found in "
        f"the others: {kinds or 'nothing'}. The checks find only a part."
    )


def warnings(run: Run) -> list[str]:
    """Conversations that are missing or have nothing to look at."""
    return list(filter(None, [missing_sentence(run)]))


def kinds(run: Run) -> Table:
    """How often each fault was found, of how many conversations that were looked at, and how much the check finds."""
    faults, checks = _faults(run), run.table(CHECKS)
    measured = load_record().overall if run.details.get("by_texts") else {}
    percent = Number(0, percent=True)
    table = Table(
        "Faults of the user",
        [
            Column("fault"),
            Column("conversations"),
            Column("looked at"),
            Column("share", Number(1, percent=True)),
            Column("recall", percent, help="of the check, on labelled conversations with such a fault", spare=1),
            Column("precision", percent, help="of the check, on labelled conversations", spare=1),
            Column("meaning", spare=2),
        ],
    )
    for kind, meaning in KINDS.items():
        looked = checks.filter((pl.col("kind") == kind) & (pl.col("checked") != "none")).height
        score = run.scores.get(f"{USER_FAULT}[{kind}]")
        share = None if score is None else Cell(score.value, score.low, score.high)
        record = measured.get(kind)
        trust = (None, None) if record is None else (record.recall.value, record.precision.value)
        table.add(_words(kind), count_cell(faults, {"fault": _words(kind)}), looked, share, *trust, meaning)
    table.notes.append("No fault found is no proof of a faultless user: see what was not checked, and the recall.")
    return table


def where(run: Run) -> Table | None:
    """The faults, each at the message that shows it."""
    table = Table("Where", ["conversation", "fault", "message", "why", Column("by", spare=1)], first=15)
    several = run.table(FAULTS)["by"].n_unique() > 1
    for row in run.table(FAULTS).iter_rows(named=True):
        link = Link(dialogue=row["dialogue"], turn=row["turn"])
        by = row["by"] if several else None
        table.add(Cell(row["dialogue"], link=link), _words(row["kind"]), row["message"], fault_words(row), by)
    return table if table.rows else None


def unchecked(run: Run) -> Table | None:
    """What was not checked, or only in part, and why."""
    checks = run.table(CHECKS).filter(pl.col("checked") != "whole")
    counts: dict[tuple[str, str, str], int] = {}
    for row in checks.iter_rows(named=True):
        key = (row["kind"], row["checked"], scope_sentence(row))
        counts[key] = counts.get(key, 0) + 1
    table = Table("Not checked, or only in part", ["fault", "conversations", "looked at", "scope or reason"], first=12)
    order: dict[str, int] = {kind: place for place, kind in enumerate(KINDS)}
    for (kind, checked, scope), count in sorted(counts.items(), key=lambda item: (order.get(item[0][0], 99), -item[1])):
        table.add(_words(kind), count, _LOOKED.get(checked, checked), scope)
    return table if table.rows else None


def findings(run: Run) -> dict[str, Finding]:
    """The first fault of the user."""
    found: dict[str, Finding] = {}
    for row in run.table(FAULTS).sort("turn", maintain_order=True).iter_rows(named=True):
        found.setdefault(row["dialogue"], Finding(f"{_words(row['kind'])}: {fault_words(row)}", row["turn"]))
    return found


def filters(run: Run) -> Iterator[pl.DataFrame]:
    """By fault, by what was not checked, and by the verdict of the conversation."""
    yield _faults(run)
    unseen = run.table(CHECKS).filter(pl.col("checked") == "none")
    yield unseen.select(
        "dialogue", pl.col("kind").map_elements(_words, return_dtype=pl.String).alias("not checked for")
    )
    success = pl.col("outcome").str.json_path_match("$.success")
    words = success.replace_strict({"true": "passed", "false": "failed"}, default=None, return_dtype=pl.String)
    erred = pl.col("dialogue").is_in(run.table(FAULTS)["dialogue"].unique().to_list())
    user = pl.when(erred).then(pl.lit("a fault was found")).otherwise(pl.lit("none was found"))
    yield run.table("dialogues").select("dialogue", verdict=words, user=user)


def transcript(run: Run, dialogue: Dialogue) -> Transcript:
    """The messages with their faults, and what was not checked."""
    faults = _rows(run, FAULTS, dialogue.id)
    checks = _rows(run, CHECKS, dialogue.id)
    turns = []
    for number, turn in enumerate(dialogue.turns):
        marks = [
            Mark(f"{_words(row['kind'])}: {fault_words(row)}", "warn" if row["minor"] else "bad")
            for row in faults
            if row["turn"] == number
        ]
        source = "" if turn.source is None else str(turn.source)
        speaker = "agent" if turn.speaker == "system" else turn.speaker
        turns.append(Turn(number=number, speaker=speaker, text=turn.text, marks=marks, source=source))
    table = Table("What the user did wrong", ["fault", "why", "message"])
    for row in faults:
        cell = Cell(row["message"], link=None if row["turn"] is None else Link(turn=row["turn"]))
        table.add(Cell(_words(row["kind"]), tone="warn" if row["minor"] else "bad"), fault_words(row), cell)
    unseen = Table("Not checked, or only in part", ["fault", "looked at", "scope or reason"], first=0)
    for row in checks:
        if row["checked"] != "whole":
            unseen.add(_words(row["kind"]), _LOOKED.get(row["checked"], row["checked"]), scope_sentence(row))
    goal = Table("What the user was told", ["instruction"], [[line] for line in dialogue.instruction])
    success = dialogue.outcome.success if dialogue.outcome is not None else None
    marks = [] if success is None else [Mark("passed", "good") if success else Mark("failed", "bad")]
    marks += [Mark(counted(len(faults), "fault"), "bad")] if faults else [Mark("no fault found")]
    tables = {name: each for name, each in {"faults": table, "goal": goal, "unchecked": unseen}.items() if each.rows}
    return Transcript(run=run.name, dialogue=dialogue.id, turns=turns, marks=marks, tables=tables)


VIEW = View(
    verdict=verdict,
    warnings=warnings,
    tables={"kinds": kinds, "where": where, "unchecked": unchecked},
    screen=("kinds",),
    transcript=transcript,
    columns=(NO_FAULT_FOUND,),
    findings=findings,
    filters=filters,
    labels={"fault": "fault of the user", "user": "any fault of the user"},
)


def _words(kind: str | None) -> str:
    return str(kind or "").replace("_", " ")


def _rows(run: Run, table: str, dialogue: str) -> list[dict[str, Any]]:
    return run.table(table).filter(pl.col("dialogue") == dialogue).to_dicts()


def _faults(run: Run) -> pl.DataFrame:
    words = pl.col("kind").map_elements(_words, return_dtype=pl.String)
    return run.table(FAULTS).select("dialogue", "turn", fault=words)
