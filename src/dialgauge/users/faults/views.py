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
)
from dialgauge.runs import Run
from dialgauge.text import counted
from dialgauge.users.faults.labelled import Share, load_record
from dialgauge.users.faults.records import KINDS, fault_words, scope_words
from dialgauge.users.faults.results import CHECKS, FAULTS, USER_FAULT, missing_sentence

_LOOKED: Mapping[str, str] = {"whole": "fully", "part": "in part", "none": "no"}


def verdict(run: Run) -> str:
    """In how many conversations a fault was found, and which kinds were."""
    counts = (
        _faults(run)
        .group_by("fault")
        .agg(pl.col("dialogue").n_unique())
        .sort("dialogue", "fault", descending=[True, False])
    )
    found = ", ".join(f"{kind} {count:,}" for kind, count in counts.iter_rows())
    score = run.scores.get(USER_FAULT)
    if score is None or score.value is None:
        why = run.details.get("left_out", {}).get(USER_FAULT, "nothing could be checked")
        return f"{run.name} has no rate of user faults: {why}.{f' Found: {found}.' if found else ''}"
    interval = ""
    if score.low is not None and score.high is not None:
        interval = f" (95% interval {100 * score.low:.1f} to {100 * score.high:.1f})"
    told = counted(int(run.details.get("told", 0)), "conversation")
    return (
        f"{run.name}: the checks found a fault of the user in {score.value:.1%} of {told}{interval}: {found or 'none'}."
    )


def warnings(run: Run) -> list[str]:
    """Conversations that are missing or have nothing to look at."""
    return [f"{sentence}." for sentence in [missing_sentence(run)] if sentence]


def kinds(run: Run) -> Table:
    """How often each fault was found, of how many conversations that were looked at."""
    faults, checks = _faults(run), run.table(CHECKS)
    share = Column("share", Number(1, percent=True))
    table = Table(
        "Faults of the user",
        ["fault", "found in", Column("of", help="conversations checked"), share, Column("meaning", spare=1)],
    )
    unseen: dict[str, list[str]] = {}
    for kind, meaning in KINDS.items():
        own = checks.filter(pl.col("kind") == kind)
        if looked := own.filter(pl.col("checked") != "none").height:
            score = run.scores.get(f"{USER_FAULT}[{kind}]")
            cell = None if score is None else Cell(score.value, score.low, score.high)
            table.add(_words(kind), count_cell(faults, {"fault": _words(kind)}), looked, cell, meaning)
        else:
            table.add(_words(kind), "not checked", None, None, meaning)
            reasons = sorted({scope_words(row) for row in own.iter_rows(named=True)})
            unseen.setdefault("; ".join(reasons), []).append(kind)
    table.notes += [f"{', '.join(map(_words, names))} not checked: {why}." for why, names in unseen.items()]
    if run.details.get("by_texts"):
        record = load_record()
        table.notes.append(
            "In texts the checks see only ids, codes, addresses and what the log declares; finding no fault proves "
            f"nothing. On {sum(record.conversations.values())} labelled conversations of tau-bench and "
            f"tau2-bench the checks found {sum(each.right for each in record.overall.values())} of "
            f"{sum(each.right + each.missed for each in record.overall.values())} faults (show --only trust); "
            "other logs differ."
        )
    return table


def where(run: Run) -> Table | None:
    """The faults, each at the message that shows it."""
    table = Table("Faults by message", ["conversation", "fault", "message", "why", Column("by", spare=1)], first=10)
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
        key = (row["kind"], row["checked"], scope_words(row))
        counts[key] = counts.get(key, 0) + 1
    table = Table(
        "Not checked, or only in part",
        ["fault", "conversations", "checked", "what was looked at, or why not"],
        first=12,
    )
    order: dict[str, int] = {kind: place for place, kind in enumerate(KINDS)}
    for (kind, checked, scope), count in sorted(counts.items(), key=lambda item: (order.get(item[0][0], 99), -item[1])):
        table.add(_words(kind), count, _LOOKED.get(checked, checked), scope)
    return table if table.rows else None


def trust(run: Run) -> Table | None:
    """Precision and recall of the checks of texts, each on the log that it was measured on."""
    if not run.details.get("by_texts"):
        return None
    record = load_record()
    table = Table(
        "How far to trust the checks of texts, by labelled log",
        [
            "fault",
            "log",
            "found",
            "of",
            Column("wrong", spare=1),
            *(Column(name, PERCENT) for name in ("recall", "precision")),
        ],
        notes=[
            f"Measured {record.measured}; found and of: conversations in which a person marked such a fault; wrong: "
            "reports that the person did not mark."
        ],
    )
    for kind in KINDS:
        if record.overall[kind].not_checked == sum(record.conversations.values()):
            continue
        for log, checks in {**record.logs, "all": record.overall}.items():
            each = checks[kind]
            if each.right or each.wrong or each.missed:
                numbers = (each.right, each.right + each.missed, each.wrong)
                table.add(_words(kind), log, *numbers, _share(each.recall), _share(each.precision))
    return table


def judged(run: Run) -> Table | None:
    """How the judge agrees with the labels of people, where one was asked and labels are there."""
    rows = run.details.get("judged") or []
    shares = [Column(name, PERCENT) for name in ("precision", "recall")]
    table = Table("The judge against people's labels", ["fault", "right", "wrong", "missed", *shares])
    for row in rows:
        counts = (row[name] for name in ("right", "wrong", "missed"))
        table.add(_words(row["kind"]), *counts, *(row[name]["value"] for name in ("precision", "recall")))
    if rows:
        table.notes.append(f"On {counted(rows[0]['labelled'], 'labelled conversation')}.")
    return table if rows else None


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
    turns = []
    for number, turn in enumerate(dialogue.turns):
        own = [row for row in faults if row["turn"] == number]
        marks = [Mark(f"{_words(row['kind'])}: {fault_words(row)}", "bad") for row in own]
        source = "" if turn.source is None else str(turn.source)
        speaker = "agent" if turn.speaker == "system" else turn.speaker
        turns.append(Turn(number=number, speaker=speaker, text=turn.text, marks=marks, source=source))
    table = Table("What the user did wrong", ["fault", "why", "message"])
    for row in faults:
        cell = Cell(row["message"], link=None if row["turn"] is None else Link(turn=row["turn"]))
        table.add(Cell(_words(row["kind"]), tone="bad"), fault_words(row), cell)
    unseen = Table("Not checked, or only in part", ["fault", "checked", "what was looked at, or why not"], first=0)
    for row in _rows(run, CHECKS, dialogue.id):
        if row["checked"] != "whole":
            unseen.add(_words(row["kind"]), _LOOKED.get(row["checked"], row["checked"]), scope_words(row))
    goal = Table("What the user was told", ["instruction"], [[line] for line in dialogue.instruction])
    success = dialogue.outcome.success if dialogue.outcome is not None else None
    marks = [] if success is None else [Mark("passed", "good") if success else Mark("failed", "bad")]
    marks += [Mark(counted(len(faults), "fault"), "bad")] if faults else [Mark("no fault found")]
    tables = {name: each for name, each in {"faults": table, "goal": goal, "unchecked": unseen}.items() if each.rows}
    return Transcript(run=run.name, dialogue=dialogue.id, turns=turns, marks=marks, tables=tables)


VIEW = View(
    verdict=verdict,
    warnings=warnings,
    scores=lambda run: (USER_FAULT,),
    tables={"kinds": kinds, "where": where, "unchecked": unchecked, "trust": trust, "judge": judged},
    screen=("kinds", "where", "judge"),
    transcript=transcript,
    columns=(USER_FAULT,),
    findings=findings,
    filters=filters,
    labels={"fault": "fault of the user", "user": "any fault of the user"},
)


def _words(kind: str | None) -> str:
    return str(kind or "").replace("_", " ")


def _share(share: Share) -> Cell:
    return Cell(share.value, share.low, share.high) if share.n else Cell(None)


def _rows(run: Run, table: str, dialogue: str) -> list[dict[str, Any]]:
    return run.table(table).filter(pl.col("dialogue") == dialogue).to_dicts()


def _faults(run: Run) -> pl.DataFrame:
    words = pl.col("kind").map_elements(_words, return_dtype=pl.String)
    return run.table(FAULTS).select("dialogue", "turn", fault=words)
