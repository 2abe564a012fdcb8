"""What a run of trials says of each conversation: one frame, of whose rows every count is a group, and its reasons.

Columns of the frame are the filters of the list of dialogues, so a count and the list it leads to cannot disagree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
import polars as pl
from msgspec import Struct

from dialgauge.report import Tone
from dialgauge.runs import Run
from dialgauge.text import counted, note_kind, some_of, upper_first
from dialgauge.trials.calls import expected_actions
from dialgauge.trials.suspects import FAULT, SUSPECT
from dialgauge.trials.words import (
    CHANGES,
    ENDS,
    FACTS,
    MATCHES,
    NO_SIGN,
    SUSPECTED,
    UNFAIR,
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


class Reason(Struct, frozen=True):
    """Why a conversation failed, or is in doubt, and the message that shows it."""

    text: str
    message: int | None = None
    tone: Tone = "warn"


def rows(run: Run, table: str, **only: str | None) -> list[dict[str, Any]]:
    """The rows of a table with these values; none of a table that the run does not have, or of an unknown value."""
    if table not in run.tables or None in only.values():
        return []
    return run.table(table).filter(*(pl.col(name) == value for name, value in only.items())).to_dicts()


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
    found = []
    if integrity is not None and integrity.foreign:
        found.append(f"The log contradicts itself: {match_sentence(integrity)}")
    if odd:
        found.append(f"{counted(len(odd), 'recorded verdict')} contradicted ({some_of(odd, FEW)}).")
    found += [f"{upper_first(note)}." for note in run.notes if note_kind(note) == "instructions"]
    if not per_task_stands(run):
        found.append("Figures by task are left out; totals count the log as recorded.")
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
        verdict=pl.when(success).then(pl.lit(PASSED)).when(~success).then(pl.lit(FAILED)).otherwise(pl.lit(NOT_JUDGED)),
        passes=pl.format("{} of {}", success.sum().over(task), success.count().over(task)),
    )
    for other in _more_facts(run):
        frame = frame.join(other, on=other.columns[0], how="left", maintain_order="left")
    return frame


def _more_facts(run: Run) -> Iterator[pl.DataFrame]:
    """What else is known, by dialogue or by task; a run that was not audited has less."""
    expected = [
        (each.id, None if each.ended.expected is None else expectation_words(expected_actions(each)))
        for each in run.dialogues()
    ]
    yield pl.DataFrame(expected, schema={"dialogue": pl.String, "expected calls": pl.String}, orient="row")
    if "task_match" in run.tables:
        words = {code: text for code, (text, _) in MATCHES.items()}
        yield run.table("task_match").select("dialogue", match=pl.col("match").replace(words))
    if "replays" in run.tables and not run.details["audit"]["no_replay"]:
        agrees = pl.when("agrees").then(pl.lit(AGREES)).otherwise(pl.lit(DIFFERS))
        idle = pl.when(pl.col("writes_done") + pl.col("writes_failed") == 0).then(pl.lit(NO_WRITES))
        yield run.table("replays").select("dialogue", replay=agrees, writes=idle)
    if "suspects" in run.tables:
        suspected = run.table("suspects").filter(cause=SUSPECT)
        sign = pl.col("code").map_elements(sign_words, return_dtype=pl.String, skip_nulls=False)
        yield suspected.select("dialogue", suspect=pl.col("side").replace(SUSPECTED), why=sign)
    if "task_facts" in run.tables:
        change = run.table("task_facts").filter(pl.col("fact").is_in(list(CHANGES)))
        yield change.select("task", change=pl.col("fact").replace(CHANGES))


@lru_cache(maxsize=8)
def reasons(run: Run) -> Mapping[str, Sequence[Reason]]:
    """Why conversations failed or are in doubt, and what their users did wrong, the gravest reason first."""
    found: dict[str, list[Reason]] = defaultdict(list)
    for row in rows(run, "task_match", match="foreign"):
        fits = f": it fits task {row['fits']}" if row["fits"] else ""
        found[row["dialogue"]].append(Reason(f"filed under task {row['task']}, which it does not match{fits}"))
    for row in rows(run, "replays"):
        if row["contradicts"] is None:
            continue
        recorded, replayed = ("open" if row[name] is None else f"{row[name]:g}" for name in ("recorded", "replayed"))
        words = f"replaying its calls contradicts its verdict (recorded {recorded}, replayed {replayed})"
        if row["contradicts"] == "parts":
            words = "the stored parts of its reward contradict the reward"
        found[row["dialogue"]].append(Reason(words, row["drift_message"], "bad"))
    facts: dict[str, list[str]] = defaultdict(list)
    for row in rows(run, "task_facts"):
        if row["fact"] in UNFAIR:
            about = f" ({', '.join(row['about'])})" if row["about"] else ""
            facts[row["task"]].append(f"its task is unfair: {FACTS[row['fact']]}{about}")
    for row in rows(run, "suspects"):
        if row["cause"] == FAULT:
            words = f"the user erred: {fault_words(row['code'], row['arguments'])}"
        else:
            both = "both: " if row["cause"] == SUSPECT and row["side"] == "both" else ""
            words = f"{both}{sign_words(row['code'], row['arguments'])}"
        found[row["dialogue"]].append(Reason(words, row["turn"]))
    facts_of = {each.id: each.ended.facts for each in run.dialogues()}
    for row in conversations(run).filter(verdict=FAILED).iter_rows(named=True):
        own, said = found[row["dialogue"]], facts_of.get(row["dialogue"], {})
        known = row["expected calls"] or said.get("error") or said.get("explanation")
        if not own:
            own.append(Reason(known or f"{row['passes']} trials passed", tone="bad"))
        elif known and own[0].text == NO_SIGN:
            own[0] = Reason(f"{NO_SIGN}; {known}")
        own += map(Reason, facts[row["task"]])
    return found


def user_faults(run: Run) -> pl.DataFrame:
    """What the user got wrong in each conversation."""
    faults = run.table("suspects").filter(cause=FAULT)
    return faults.select("dialogue", pl.col("code").str.replace_all("_", " ").alias("fault of the user"))


def facts_of_tasks(run: Run) -> pl.DataFrame:
    """Each conversation with the facts about its task."""
    facts = run.table("task_facts").filter(pl.col("fact").is_in(list(FACTS)))
    words = facts.select("task", fact=pl.col("fact").replace(FACTS))
    return conversations(run).select("dialogue", "task").join(words, on="task")
