"""What a run of trials says of each conversation: one frame, of whose rows every count is a group.

Its columns are the filters of the list of dialogues, so a count and the list it leads to cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import msgspec
import polars as pl

from dialgauge.report import Finding, Tone
from dialgauge.runs import Run
from dialgauge.text import counted, note_kind, some_of, upper_first
from dialgauge.trials.calls import expected_actions
from dialgauge.trials.suspects import FAULT, SUSPECT
from dialgauge.trials.transcripts import turn_of
from dialgauge.trials.words import (
    CHANGES,
    COUNTED,
    ENDS,
    FACTS,
    MATCHES,
    SUSPECTED,
    expectation_words,
    fault_words,
    match_sentence,
    sign_words,
)
from dialgauge.worlds.tools import Integrity

PASSED, FAILED, NOT_JUDGED = "passed", "failed", "not judged"
VERDICTS: Mapping[str, Tone] = {PASSED: "good", FAILED: "bad", NOT_JUDGED: "plain"}
AGREES, DIFFERS = "gives the recorded verdict", "contradicts it"
NO_WRITES = "no call that writes"
#: Tasks or conversations that a sentence names.
FEW = 3


def stored_integrity(run: Run) -> Integrity | None:
    """Whether the conversations of a run match their tasks; None where that was not checked."""
    checked = run.details.get("integrity")
    return None if checked is None else msgspec.convert(checked, Integrity)


def per_task_stands(run: Run) -> bool:
    """Whether what goes by task may be shown: not where conversations do not match their tasks."""
    integrity = stored_integrity(run)
    return integrity is None or integrity.per_task_stands


def contradicted(run: Run) -> list[str]:
    """Conversations whose verdict the replay contradicts, or what is stored with it."""
    return run.table("replays").drop_nulls("contradicts")["dialogue"].to_list() if "replays" in run.tables else []


def doubts(run: Run) -> list[str]:
    """What contradicts a log; nothing where it is sound."""
    integrity, odd = stored_integrity(run), contradicted(run)
    found = [match_sentence(integrity)] if integrity is not None and integrity.foreign else []
    if odd:
        found.append(f"{counted(len(odd), 'recorded verdict')} contradicted ({some_of(odd, FEW)}).")
    found += [f"{upper_first(note)}." for note in run.notes if note_kind(note) == "instructions"]
    if not per_task_stands(run):
        found.append("What goes by task is withheld; totals are those of the log as it is.")
    return found


@lru_cache(maxsize=8)
def conversations(run: Run) -> pl.DataFrame:
    """Each conversation with its task, verdict and end, and what was found out about it."""
    success, task = pl.col("success"), pl.col("task")
    frame = run.table("trials").select(
        "dialogue",
        "task",
        "trial",
        "success",
        pl.col("reason").replace(ENDS).fill_null("not recorded").alias("end"),
        pl.col("end").replace(COUNTED).alias("counts as"),
        verdict=pl.when(success).then(pl.lit(PASSED)).when(~success).then(pl.lit(FAILED)).otherwise(pl.lit(NOT_JUDGED)),
        passes=pl.format("{} of {}", success.sum().over(task), success.count().over(task)),
    )
    for other in _more_facts(run):
        frame = frame.join(other, on=other.columns[0], how="left", maintain_order="left")
    return frame


def _more_facts(run: Run) -> Iterator[pl.DataFrame]:
    """What else is known, by dialogue or by task; a run that was not audited has less."""
    told = []
    for each in run.dialogues():
        expected = None if each.ended.expected is None else expectation_words(expected_actions(each))
        why = next(filter(None, map(each.ended.facts.get, ("error", "explanation"))), None)
        told.append((each.id, expected, why))
    schema = {"dialogue": pl.String, "expected calls": pl.String, "explained": pl.String}
    yield pl.DataFrame(told, schema=schema, orient="row")
    if "task_match" in run.tables:
        words = {code: text for code, (text, _) in MATCHES.items()}
        yield run.table("task_match").select("dialogue", match=pl.col("match").replace(words))
    if "replays" in run.tables and not run.details["audit"]["no_replay"]:
        agrees = pl.when("agrees").then(pl.lit(AGREES)).otherwise(pl.lit(DIFFERS))
        idle = pl.when(pl.col("writes_done") + pl.col("writes_failed") == 0).then(pl.lit(NO_WRITES))
        yield run.table("replays").select("dialogue", replay=agrees, writes=idle)
    if "suspects" in run.tables:
        sign = pl.col("code").map_elements(sign_words, return_dtype=pl.String, skip_nulls=False)
        suspected = run.table("suspects").filter(cause=SUSPECT)
        yield suspected.select(
            "dialogue",
            message="turn",
            about="arguments",
            sign="code",
            suspect=pl.col("side").replace(SUSPECTED),
            why=sign,
        )
    if "task_facts" in run.tables:
        change = run.table("task_facts").filter(pl.col("fact").is_in(list(CHANGES)))
        yield change.select("task", change=pl.col("fact").replace(CHANGES))


@lru_cache(maxsize=8)
def findings(run: Run) -> Mapping[str, Finding]:
    """Why each failure failed, with the turn that shows it; first of all that it is another task's."""
    found: dict[str, Finding] = {}
    integrity = stored_integrity(run)
    fits = {each.conversation: each.fits for each in (integrity.foreign if integrity else ())}
    rows = user_faults(run).reverse().iter_rows(named=True) if "suspects" in run.tables else ()
    faults = {row["dialogue"]: row for row in rows}
    odd = set(contradicted(run))
    for row in conversations(run).iter_rows(named=True):
        name, turn = row["dialogue"], row.get("message")
        if name in fits:
            found[name] = Finding(
                f"filed under task {row['task']}, but is {f'of task {fits[name]}' if fits[name] else 'of another'}"
            )
        elif name in odd:
            found[name] = Finding("its recorded verdict is contradicted")
        elif row["verdict"] != FAILED:
            continue
        elif row.get("suspect") is not None:
            both = "both: " if row["suspect"] == SUSPECTED["both"] else ""
            words = f"{both}{sign_words(row['sign'], row['about'])}"
            found[name] = Finding(words, turn_of(run.dialogue(name), turn))
        elif name in faults:
            fault = faults[name]
            found[name] = Finding(f"the user erred: {fault['words']}", turn_of(run.dialogue(name), fault["message"]))
        else:
            found[name] = Finding(row["expected calls"] or row["explained"] or f"failed; {row['passes']} trials pass")
    return found


def odd_conversations(run: Run) -> list[str]:
    """Conversations to look at first: those of other tasks, then those with a contradicted verdict."""
    integrity = stored_integrity(run)
    return [*(each.conversation for each in (integrity.foreign if integrity else ())), *contradicted(run)]


def user_faults(run: Run) -> pl.DataFrame:
    """What the user got wrong in each conversation."""
    rows = [
        (name, message, code.replace("_", " "), fault_words(code, about))
        for name, message, code, about in run.table("suspects")
        .filter(cause=FAULT)
        .select("dialogue", "turn", "code", "arguments")
        .iter_rows()
    ]
    schema = {"dialogue": pl.String, "message": pl.Int64, "fault of the user": pl.String, "words": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def facts_of_tasks(run: Run) -> pl.DataFrame:
    """Each conversation with the facts about its task."""
    facts = run.table("task_facts").filter(pl.col("fact").is_in(list(FACTS)))
    words = facts.select("task", fact=pl.col("fact").replace(FACTS))
    return conversations(run).select("dialogue", "task").join(words, on="task")
