"""How runs of bots that choose replies are shown: accuracy by class, ranks, the chosen reply beside gold, attention.

Runs in front of simulated users, of training and of attention have fewer of these tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from dialgauge.dialogue import Dialogue
from dialgauge.measures import Score
from dialgauge.report import (
    PERCENT,
    Cell,
    Chart,
    Column,
    Finding,
    Mark,
    Number,
    Table,
    Tone,
    Transcript,
    Turn,
    View,
    count_cell,
    count_table,
    score_cell,
)
from dialgauge.runs import Run
from dialgauge.stats import ratio_intervals
from dialgauge.text import counted

REPLIES, CANDIDATES, ATTENTION, OUTCOMES, EPOCHS = "replies", "candidates", "attention", "outcomes", "epochs"
#: Memories of a reply that are shown; those with less weight are folded away.
_OPEN = 6
_UNKNOWN = "not known"
_DONE: Mapping[str, Tone] = {"done": "good", "not done": "bad", "not judged": "plain"}


def verdict(run: Run) -> str:
    """How many conversations are carried to their end, or how many replies are right and which are mostly wrong."""
    done, right = run.scores.get("completed"), run.scores.get("per-response")
    if done is not None and done.value is not None:
        return f"{run.name} completes {_share(done)} of the conversations."
    if right is None or right.value is None:
        return ""
    whole = run.scores.get("per-dialog")
    carried = f", and all replies in {float(whole):.1%} of the dialogues" if whole is not None else ""
    return f"{run.name} gets {_share(right)} of the replies right{carried}{_worst_class(run)}."


def _share(score: Score) -> str:
    interval = f" {Column('', PERCENT).interval(score_cell(score))}" if score.low is not None else ""
    return f"{float(score):.1%}{interval}"


def classes(run: Run) -> Table | None:
    """How many replies of each class are right, with intervals over dialogues, and where the gold reply is ranked."""
    if not _has(run, REPLIES):
        return None
    replies, wrong = _replies(run), _wrong(run)
    sums = replies.group_by("class", "dialogue").agg(pl.col("correct").sum(), pl.len())
    names = sums["class"].unique().sort().to_list()
    places = {name: place for place, name in enumerate(sums["dialogue"].unique().sort())}
    right, whole = (np.zeros((len(names), len(places))) for _ in range(2))
    for name, dialogue, correct, size in sums.iter_rows():
        right[names.index(name), places[dialogue]], whole[names.index(name), places[dialogue]] = correct, size
    ends = ratio_intervals(right, whole, bounds=(0.0, 1.0)).tolist()
    facts = {row["class"]: row for row in replies.group_by("class").agg(
        pl.col("rank").median(), (pl.col("chosen").fill_null("") == "").sum().alias("silent"), pl.col("tied").sum()
    ).iter_rows(named=True)}  # fmt: skip
    table = Table(
        "Accuracy by class of reply",
        [
            Column("class"),
            Column("accuracy", PERCENT),
            Column("replies"),
            Column("median rank", Number(1), help="of the gold reply", spare=1),
            Column("no answer", spare=2),
            Column("tied", help="several candidates share the best score", spare=2),
            Column("dialogues", help="with a wrong reply of the class", spare=1),
        ],
        chart=Chart("intervals", ("accuracy",)),
    )
    for place, name in enumerate(names):
        every, own = int(whole[place].sum()), facts[name]
        share = right[place].sum() / every
        low, high = (None if end != end else end for end in ends[place])
        numbers = (every, own["rank"], own["silent"], own["tied"])
        table.add(name, Cell(float(share), low, high), *numbers, count_cell(wrong, {"wrong reply": name}))
    return table


def outcomes(run: Run) -> Table | None:
    """How many conversations ended in which way."""
    if not _has(run, OUTCOMES):
        return None
    return count_table("How conversations ended", _ends(run), "end", split="task", tones=_DONE)


def epochs(run: Run) -> Table | None:
    """How a training went, epoch by epoch."""
    if not _has(run, EPOCHS):
        return None
    columns = [Column("epoch"), Column("loss", Number(4)), Column("dev", PERCENT)]
    table = Table("Epochs", columns, chart=Chart("lines", ("dev",)), first=20)
    for row in run.table(EPOCHS).iter_rows(named=True):
        table.add(row["epoch"], row.get("loss"), row.get("dev"))
    return table


def findings(run: Run) -> dict[str, Finding]:
    """The first wrong reply, or why a conversation was not carried to its end."""
    found: dict[str, Finding] = {}
    if _has(run, OUTCOMES):
        failed = run.table(OUTCOMES).filter(pl.col("success").not_())
        found = {
            row["dialogue"]: Finding(row["explanation"] or row["reason"] or "") for row in failed.iter_rows(named=True)
        }
    if _has(run, REPLIES):
        wrong = run.table(REPLIES).filter(pl.col("correct").not_()).sort("turn", maintain_order=True)
        for row in wrong.group_by("dialogue", maintain_order=True).first().iter_rows(named=True):
            said = f"says ‘{row['chosen']}’" if row["chosen"] else "says nothing"
            found[row["dialogue"]] = Finding(f"{said} instead of ‘{row['gold']}’", row["turn"])
    return found


def filters(run: Run) -> Iterator[pl.DataFrame]:
    """By class of a reply and of a wrong reply, by a tie, by the end of the conversation."""
    if _has(run, REPLIES):
        words = pl.when(pl.col("tied").fill_null(value=False)).then(pl.lit("yes")).otherwise(pl.lit("no"))
        yield _replies(run).select("dialogue", "turn", "class", tied=words)
        yield _wrong(run)
    if _has(run, OUTCOMES):
        yield _ends(run)


def transcript(run: Run, dialogue: Dialogue) -> Transcript:
    """The words; beside each reply what was chosen, the best candidates, and where a memory network looked."""
    replies = {row["turn"]: row for row in _rows(run, REPLIES, dialogue.id)}
    candidates = _by_turn(_rows(run, CANDIDATES, dialogue.id))
    attention = _by_turn(_rows(run, ATTENTION, dialogue.id))
    turns = []
    for number, turn in enumerate(dialogue.turns):
        reply = replies.get(number)
        beside = [_reply(reply)] if reply is not None and not reply["correct"] else []
        beside += [_candidates(candidates[number])] if number in candidates else []
        beside += [_memories(attention[number])] if number in attention else []
        marks = list(_marks(reply)) if reply is not None else []
        turns.append(Turn(number=number, speaker=turn.speaker, text=turn.text, marks=marks, beside=beside))
    right = sum(bool(reply["correct"]) for reply in replies.values())
    summary = f"{right:,} of {counted(len(replies), 'reply', 'replies')} right"
    marks = [Mark(summary, "good" if right == len(replies) else "bad")] if replies else []
    table = Table("How it ended", ["reason", "ended by", "explanation"])
    for row in _rows(run, OUTCOMES, dialogue.id):
        table.add(row["reason"], row["ended_by"], row["explanation"])
    tables = {"end": table} if table.rows else {}
    return Transcript(run=run.name, dialogue=dialogue.id, turns=turns, marks=marks, tables=tables)


VIEW = View(
    verdict=verdict,
    tables={"classes": classes, "outcomes": outcomes, "epochs": epochs},
    screen=("classes", "outcomes", "epochs"),
    transcript=transcript,
    columns=("per-response", "completed"),
    findings=findings,
    filters=filters,
    labels={"class": "class of a reply", "wrong reply": "class of a wrong reply", "tied": "best score is tied"},
    apart=("task", "split"),
)


def _has(run: Run, name: str) -> bool:
    return name in run.tables and run.rows(name) > 0


def _rows(run: Run, table: str, dialogue: str) -> list[dict[str, Any]]:
    return run.table(table).filter(pl.col("dialogue") == dialogue).to_dicts() if table in run.tables else []


def _by_turn(rows: Sequence[Mapping[str, Any]]) -> dict[int, list[Mapping[str, Any]]]:
    turns: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        turns.setdefault(row["turn"], []).append(row)
    return turns


def _replies(run: Run) -> pl.DataFrame:
    return run.table(REPLIES).with_columns(
        pl.col("class").fill_null(_UNKNOWN), pl.col("correct", "tied").fill_null(value=False)
    )


def _wrong(run: Run) -> pl.DataFrame:
    return (
        _replies(run).filter(pl.col("correct").not_()).select("dialogue", "turn", pl.col("class").alias("wrong reply"))
    )


def _ends(run: Run) -> pl.DataFrame:
    success = pl.col("success")
    task = (
        pl.when(success)
        .then(pl.lit("done"))
        .when(success.not_())
        .then(pl.lit("not done"))
        .otherwise(pl.lit("not judged"))
    )
    end = pl.col("reason").fill_null("").replace("", "not recorded").str.replace_all("_", " ")
    return run.table(OUTCOMES).select("dialogue", task=task, end=end)


def _worst_class(run: Run) -> str:
    """The class with most wrong replies, as the end of a sentence."""
    if not _has(run, REPLIES):
        return ""
    counts = _wrong(run)["wrong reply"].value_counts(sort=True).rows()
    if not counts:
        return ""
    every = sum(count for _, count in counts)
    return f"; most often wrong are {counts[0][0]} replies ({counts[0][1]:,} of {every:,} mistakes)"


def _marks(reply: Mapping[str, Any]) -> Iterator[Mark]:
    if reply["correct"]:
        yield Mark("right", "good")
    else:
        yield Mark("wrong" if reply["chosen"] else "no answer", "bad")
    if reply["class"]:
        yield Mark(str(reply["class"]))
    if reply["tied"]:
        yield Mark("tied", "warn")


def _reply(reply: Mapping[str, Any]) -> Table:
    table = Table("", ["reply", "text", "rank"])
    table.add("gold", Cell(reply["gold"], tone="good"), reply["rank"])
    table.add("chosen", Cell(reply["chosen"] or "(nothing)", tone="bad"), None)
    return table


def _candidates(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("", ["rank", "candidate", Column("score", Number(4))], first=3)
    for row in sorted(rows, key=lambda row: (row["rank"] is None, row["rank"] or 0)):
        table.add(row["rank"], Cell(row["text"], tone="good" if row["gold"] else "plain"), row["score"])
    return table


def _memories(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The memories by their largest weight, shaded by the weight in every hop."""
    hops = sorted({row["hop"] for row in rows if row["hop"] is not None})
    places: dict[int, dict[int, Mapping[str, Any]]] = {}
    for row in rows:
        if row["memory"] is not None:
            places.setdefault(row["memory"], {})[row["hop"]] = row
    names = [f"hop {hop}" for hop in hops]
    columns = [
        Column("memory"),
        Column("speaker", spare=1),
        Column("text"),
        *(Column(name, Number(3)) for name in names),
    ]
    table = Table("", columns, first=_OPEN, chart=Chart("heat", tuple(names)))
    heaviest = sorted(places, key=lambda place: -max(row["weight"] or 0.0 for row in places[place].values()))
    for place in heaviest:
        first = next(iter(places[place].values()))
        weights = (places[place][hop]["weight"] if hop in places[place] else None for hop in hops)
        table.add(place + 1, first["speaker"], first["text"], *weights)
    return table
