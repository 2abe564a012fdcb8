"""What people see of the outcomes of conversations, from what a run keeps of them: scores and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec
import polars as pl

from dialgauge.agents import END_WORDS
from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.measures import FLIPS, NOISE, Score
from dialgauge.rendering import Column, Table, score_cell
from dialgauge.tasks.reasons import REASONS, reason_texts
from dialgauge.tasks.recordings.outcome_measures import COMPAT, OUTCOME_RULES, STRICT
from dialgauge.tasks.recordings.outcome_records import CONVERSATIONS, HEARD, OUTCOMES
from dialgauge.text import counted

#: A table of a run by its name.
Tables: TypeAlias = Callable[[str], "pl.DataFrame"]

_BOTH = ("Success", "Book", "InformRecall", "InformPrecision", "InformF1")
_STRICT_ONLY = ("SuccessOfSatisfiable", "EntityMatch", "RefusedThenFixed", "FailPath")
_CONDUCT = (
    ("exchanges", "Exchanges"),
    ("utterances", "Utterances"),
    ("utterances where compat succeeds", "Utterances(of=successful)"),
    ("acts per user turn", "ActsPerTurn"),
    ("acts per system turn", "ActsPerTurn(speaker=system)"),
    ("attempts per booking task", "BookAttempts"),
    ("constraints said again", "Repeated"),
    ("requests said again", "Repeated(what=requests)"),
    ("longest run of one user turn", "LongestRun"),
)
_LISTENERS = ("system", "user")
#: From so many user turns in a row with the same acts on, a conversation is in a loop.
LOOP = 3
_SHARES = Column("", percent=True, digits=2, align="right")


def outcome_tables(
    scores: Mapping[str, Score], table: Tables, *, detail: bool = True, confusions: int = 10
) -> list[Table]:
    """Both rule sets side by side, by domain, and ends; with ``detail`` also beliefs, conduct and understanding.

    ``table`` gives the tables of :func:`outcome_frames` by name: ``run.table``, or theirs.
    """
    conversations = table(CONVERSATIONS)
    verdicts = [
        _headline(scores, conversations),
        _by_domain(scores),
        *_trials(scores, conversations),
        _ends(conversations, _rule_sets(scores)),
    ]
    if not detail:
        return verdicts
    return [
        *verdicts,
        _beliefs(conversations, _rule_sets(scores)),
        _conduct(scores, conversations),
        *_usage(conversations),
        _understanding(scores),
        *_confusions(table(HEARD), confusions),
    ]


def _shares(titles: Sequence[str]) -> list[Column]:
    return [msgspec.structs.replace(_SHARES, title=title) for title in titles]


def _rule_sets(scores: Mapping[str, Score]) -> tuple[str, ...]:
    """The rule sets that know the domain; the last one judges every conversation."""
    return OUTCOME_RULES if f"Success(rules={COMPAT})" in scores else (STRICT,)


def _headline(scores: Mapping[str, Score], conversations: pl.DataFrame) -> Table:
    sets = _rule_sets(scores)
    table = Table("Was the job done?", ["measure", *_shares(sets)])
    for name in _BOTH:
        table.add(name, *(score_cell(scores.get(f"{name}(rules={rules})")) for rules in sets))
    for name in _STRICT_ONLY:
        table.add(name, score_cell(scores.get(name)), *[None] * (len(sets) - 1))
    table.add("Complete (the user's belief)", *[score_cell(scores.get("Complete"))] * len(sets))
    judged = conversations.filter(conversations[sets[-1]].is_not_null())
    asking, booking = (int((judged[column] > 0).sum()) for column in ("requests", "bookings"))
    table.notes += [
        f"{STRICT}: what was said, booked and true."
        + (f" {COMPAT}: ConvLab-2's rules, by what the user heard." if COMPAT in sets else ""),
        f"{counted(judged.height, 'conversation')}: requests in {asking:,}, bookings in {booking:,}.",
    ]
    unjudged = conversations.filter(conversations[sets[-1]].is_null())
    if failed := int((unjudged["ended_by"] == "user").sum()):
        table.notes.append(f"Not judged: {counted(failed, 'conversation')} in which the user failed, not the system.")
    if broken := unjudged.height - failed:
        table.notes.append(f"Not judged: {counted(broken, 'conversation')} that infrastructure broke.")
    if silent := judged["complete"].null_count():
        table.notes.append(f"Complete leaves out {counted(silent, 'conversation')} whose user stated no belief.")
    return table


def _by_domain(scores: Mapping[str, Score]) -> Table:
    sets = _rule_sets(scores)
    begin = f"Success(rules={sets[-1]})["
    domains = [name.removeprefix(begin).rstrip("]") for name in scores if name.startswith(begin)]
    table = Table("Success by domain", ["domain", *_shares(sets)])
    for domain in domains:
        table.add(domain, *(score_cell(scores.get(f"Success(rules={rules})[{domain}]")) for rules in sets))
    return table


def _trials(scores: Mapping[str, Score], conversations: pl.DataFrame) -> list[Table]:
    """pass^k, and how much is chance, where goals were tried several times."""
    sets = _rule_sets(scores)
    table = Table("Every one of k trials", ["", *_shares(sets)])
    k = 1
    while f"pass^{k}(rules={sets[-1]})" in scores:
        table.add(f"pass^{k}", *(score_cell(scores.get(f"pass^{k}(rules={rules})")) for rules in sets))
        k += 1
    judged = conversations.drop_nulls(sets[-1]).group_by("goal").len()["len"]
    goals = [int((judged >= trials).sum()) for trials in range(1, k)]
    if len(set(goals)) > 1:
        each = ", ".join(f"pass^{trials} on {count:,}" for trials, count in enumerate(goals[1:], start=2))
        table.notes.append(
            "The goals are not the same for every k, as only those with k judged trials or more count: pass^1 rests on "
            f"{counted(goals[0], 'goal')}, {each}."
        )
    chance = Table("How much of that is chance", ["", *_shares(sets)])
    for title, name in (("flip rate", FLIPS), ("noise floor over trials", NOISE)):
        chance.add(title, *(score_cell(scores.get(f"{name}(rules={rules})")) for rules in sets))
    return [table, chance] if len(table) > 1 else []


def _ends(conversations: pl.DataFrame, sets: Sequence[str]) -> Table:
    table = Table(
        "How conversations ended",
        [
            "reason",
            Column("conversations", align="right"),
            *_shares(("share", *(f"{rules} done" for rules in sets))),
        ],
    )
    grouped = conversations.group_by("reason").agg(pl.len().alias("count"), *(pl.col(rules).mean() for rules in sets))
    for row in grouped.sort("count", "reason", descending=[True, False]).iter_rows(named=True):
        share = row["count"] / conversations.height
        table.add(_reason(row["reason"]), row["count"], share, *(row[rules] for rules in sets))
    return table


def _reason(code: str | None) -> str:
    """Why a conversation ended, in words; an agent's own reason as it gave it."""
    return END_WORDS.get(code, code) if code else "not recorded"


def _beliefs(conversations: pl.DataFrame, sets: Sequence[str]) -> Table:
    """What users believe, and what is true."""
    counts = [Column(title, align="right") for title in ("done", "not done")]
    table = Table("Belief and truth", ["rules", "the user believes", *counts])
    for rules in sets:
        for belief, title in ((True, "it is done"), (False, "it is not"), (None, "nothing known")):
            verdicts = conversations.filter(pl.col("complete").eq_missing(belief) & pl.col(rules).is_not_null())[rules]
            if belief is not None or len(verdicts):
                table.add(rules, title, int(verdicts.sum()), int((~verdicts).sum()))
    return table


def _conduct(scores: Mapping[str, Score], conversations: pl.DataFrame) -> Table:
    table = Table("How conversations went", ["", Column("mean", digits=2, align="right")])
    for title, name in _CONDUCT:
        if name in scores:
            table.add(title, score_cell(scores[name]))
    conversations = conversations.filter(conversations[COMPAT].is_not_null())
    loops = int((conversations["longest_run"] >= LOOP).sum())
    longest = max(conversations["longest_run"], default=0)
    table.notes.append(
        f"{counted(loops, 'conversation')} with the same user turn {LOOP} times in a row; longest run: {longest}."
    )
    return table


def _usage(conversations: pl.DataFrame) -> list[Table]:
    totals: dict[str, float] = {}
    for text in conversations["usage"]:
        for name, number in msgspec.json.decode(text, type=dict[str, float]).items():
            totals[name] = totals.get(name, 0.0) + number
    if not totals:
        return []
    rows = [(name, total, total / conversations.height) for name, total in sorted(totals.items())]
    columns = [Column(title, digits=2, align="right") for title in ("in all", "per conversation")]
    return [Table("What agents used", ["", *columns], rows)]


def _understanding(scores: Mapping[str, Score]) -> Table:
    table = Table("What was understood", ["listener", *_shares(("precision", "recall", "F1"))])
    for listener in _LISTENERS:
        ending = "" if listener == "system" else "(listener=user)"
        heard = [scores.get(f"Heard{aspect}{ending}") for aspect in ("Precision", "Recall", "F1")]
        table.add(listener, *(None if score is None else score.value for score in heard))
    return table


def _confusions(heard: pl.DataFrame, number: int) -> list[Table]:
    """The acts understood worst, and what was heard for what; nothing where all was understood."""
    wrong = heard.filter(~pl.col("same")).sort("times", "said", "heard", descending=[True, False, False])
    if not wrong.height:
        return []
    table = Table("Most frequent confusions", ["listener", "said", "heard", Column("times", align="right")])
    for row in wrong.head(number).iter_rows(named=True):
        other = "another value" if row["said"] == row["heard"] else row["heard"] or "nothing"
        table.add(row["listener"], row["said"] or "nothing", other, row["times"])
    return [act_table(heard, number), table]


def act_table(heard: pl.DataFrame, number: int) -> Table:
    """The acts with most mistakes: how often said and heard, precision, recall and F1."""
    sides = [
        heard.filter(pl.col(side) != "").group_by("listener", pl.col(side).alias("act")).agg(pl.col("times").sum())
        for side in ("said", "heard")
    ]
    right = heard.filter("same").select("listener", pl.col("said").alias("act"), pl.col("times").alias("right"))
    joined = (
        sides[0]
        .rename({"times": "said"})
        .join(sides[1].rename({"times": "heard"}), on=["listener", "act"], how="full", coalesce=True)
        .join(right, on=["listener", "act"], how="left")
        .with_columns(pl.col("said", "heard", "right").fill_null(0))
        .with_columns((pl.col("said") + pl.col("heard") - 2 * pl.col("right")).alias("mistakes"))
        .sort("mistakes", "listener", "act", descending=[True, False, False])
    )
    counts = [Column(title, align="right") for title in ("said", "heard")]
    rated = [msgspec.structs.replace(column, digits=1) for column in _shares(("P", "R", "F1"))]
    table = Table("Acts understood worst", ["listener", "act", *counts, *rated])
    for row in joined.head(number).iter_rows(named=True):
        said, times, hits = row["said"], row["heard"], row["right"]
        rates = (hits / times if times else None, hits / said if said else None, 2 * hits / (said + times))
        table.add(row["listener"], row["act"], said, times, *rates)
    return table


def outcome_explanation(table: Tables, dialogue: str) -> Table:
    """For each task of a conversation, under both rule sets: what the user ended up with, since when, and why not."""
    outcomes = table(OUTCOMES)
    ids = table(CONVERSATIONS)["dialogue"].to_list()
    known = next((name for name in ids if dialogue_key(name) == dialogue_key(dialogue)), None)
    if known is None:
        raise DialgaugeError(f"there is no conversation '{dialogue}'.{nearest(dialogue, ids)}")
    columns: list[str | Column] = ["domain", "rules", "success", "ended up with", Column("turn", align="right")]
    explained = Table(f"{known}: outcome", columns)
    whys = reason_texts(table(REASONS).filter(pl.col("dialogue") == known).iter_rows(named=True))
    for row in outcomes.filter(pl.col("dialogue") == known).iter_rows(named=True):
        explained.add(row["domain"], row["rule"], row["success"], row["entity"], row["turn"])
        if why := whys.get((known, row["domain"], row["rule"])):
            explained.notes.append(f"{row['domain']} ({row['rule']}): {why}.")
    verdict = table(CONVERSATIONS).filter(pl.col("dialogue") == known).row(0, named=True)
    believed = {True: "believes that it is done", False: "believes that it is not done", None: "says nothing"}
    explained.notes.append(
        f"{STRICT}: {_done(verdict['strict'])}, {COMPAT}: {_done(verdict['compat'])}; the user "
        f"{believed[verdict['complete']]}. It ended after {counted(verdict['exchanges'], 'exchange')}"
        f"{': ' + _reason(verdict['reason']) if verdict['reason'] else ''}."
    )
    return explained


def _done(success: bool | None) -> str:
    return "not judged" if success is None else "done" if success else "not done"
