"""How runs of recorded responses are shown: Inform and Success by both rule sets, and why domains failed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar

import polars as pl

from dialgauge.comparison import Pairing
from dialgauge.dialogue import Dialogue
from dialgauge.report import (
    PERCENT,
    Cell,
    Chart,
    Column,
    Finding,
    Link,
    Mark,
    Slots,
    Table,
    Tone,
    Transcript,
    Turn,
    View,
    count_cell,
    count_table,
    part_table,
    recorded_slots,
    state_table,
)
from dialgauge.runs import Run
from dialgauge.tasks.measures import COMPANIONS, DEFAULT, LEAST_ASKED
from dialgauge.tasks.reasons import REASON_GROUPS, REASONS, reason_texts
from dialgauge.tasks.rules import RULES
from dialgauge.tasks.tables import VERDICTS
from dialgauge.text import counted

_TONES: Mapping[str, Tone] = {"mwzeval": "plain", "grounded": "bad"}


def verdict(run: Run) -> str:
    """Inform and Success by both rule sets, beside those of the human responses."""
    human = run.details.get("human") or {}
    parts = []
    for rules, words in (("", "the standard rules"), ("(rules=grounded)", "the grounded rules")):
        names = [f"{name}{rules}" for name in ("Inform", "Success") if f"{name}{rules}" in run.scores]
        values = [f"{name.partition('(')[0]} {float(run.scores[name]):.1%}" for name in names]
        theirs = [f"{human[name]:.1%}" for name in names if human.get(name) is not None]
        people = f" (people: {' and '.join(theirs)})" if theirs else ""
        parts += [f"{' and '.join(values)} by {words}{people}"] if values else []
    return f"{run.name}: {', '.join(parts)}." if parts else ""


def warnings(run: Run) -> list[str]:
    """Missing dialogues, gold states, and signs that the responses were made for the evaluator."""
    sentences = [] if run.coverage.complete else [f"{run.name}: {run.coverage.sentence()}."]
    if run.details.get("states") == "gold":
        sentences.append(
            f"{run.name} uses gold states: only its policy is scored. Do not rank it with end-to-end systems."
        )
    return [*sentences, *_gaming(run)]


def _gaming(run: Run) -> Iterator[str]:
    details, turns = run.details, run.coverage["turns"].read or 0
    if details["stuffed_responses"] > 0.01 * turns:  # of people's, 2 in 7,372 are
        yield (
            f"{run.name}: {details['stuffed_responses']:,} of {counted(turns, 'response')} are stuffed (a venue and a "
            "train at once, or nearly all that can be asked for): mwzeval rewards that, grounded gives them nothing."
        )
    precision, human = run.scores.get("ReqP"), (details.get("human") or {}).get("ReqP")
    if human and precision is not None and precision < LEAST_ASKED * human:
        yield (
            f"Only {float(precision):.0%} of what {run.name} tells was asked for (human responses: {human:.0%}); "
            "mwzeval rewards telling everything."
        )
    named = details["domains_per_turn"]
    if named is not None and named > 2:  # more than anybody talks about
        yield (
            f"{run.name} claims {named:.1f} active domains per turn; mwzeval trusts the list, and longer lists score "
            "higher."
        )


def by_domain(run: Run) -> Table | None:
    """Inform and Success of each domain under both rule sets."""
    if not any("[" in name for name in run.scores):
        return None
    frame = run.table(VERDICTS).select("dialogue", "domain").drop_nulls()
    counts = {name: count_cell(frame, {"domain": name}) for name in sorted(frame["domain"].unique())}
    table = part_table("By domain", "domain", run.scores, counts)
    table.notes.append("Under mwzeval no domain succeeds in a dialogue in which another was not informed.")
    return table


def why(run: Run) -> Table:
    """Why domains failed, by rule set."""
    table = count_table("Why domains failed", _reasons(run), "reason", split="rules", tones=_TONES)
    table.chart = Chart("bars", tuple(column.name for column in table.columns[1:2]))
    table.notes.append("Dialogues; one with several reasons counts for each.")
    return table


def failed_domains(run: Run) -> Table:
    """Which domains failed."""
    table = count_table("Domains that failed", _failed(run), "failed domain", split="rules", tones=_TONES)
    table.chart = Chart("bars", tuple(column.name for column in table.columns[1:2]))
    return table


def humans(run: Run) -> Table | None:
    """This run beside the human responses."""
    human: Mapping[str, float] = run.details.get("human") or {}
    table = Table("Beside the human responses", ["measure", *(Column(name, PERCENT) for name in (run.name, "human"))])
    for name, score in run.scores.items():
        if name in human and score.unit == "share" and "[" not in name:
            table.add(name, Cell(score.value, score.low, score.high), human[name])
    return table if table.rows else None


@lru_cache(maxsize=8)
def findings(run: Run) -> Mapping[str, Finding]:
    """Why a domain failed by the rules that are harder to game."""
    rows = [row for row in run.table(REASONS).iter_rows(named=True) if row["rule"] == "grounded"]
    turns = {row["dialogue"]: row["turn"] for row in reversed(rows) if row["turn"] is not None}
    texts: dict[str, list[str]] = {}
    for (dialogue, domain, _), text in reason_texts(rows).items():
        texts.setdefault(dialogue or "", []).append(f"{domain}: {text}")
    return {name: Finding("; ".join(each[:2]), turns.get(name)) for name, each in texts.items()}


def filters(run: Run) -> Iterator[pl.DataFrame]:
    """By verdict of the dialogue, by reason, and by domain that failed."""
    yield _done(run)
    yield _reasons(run)
    yield _failed(run).rename({"rules": "failed by"})
    yield run.table(VERDICTS).select("dialogue", "domain").unique().drop_nulls()


def transcript(run: Run, dialogue: Dialogue) -> Transcript:
    """The responses; beside each user turn both states; above them each domain by both rule sets."""
    own = pl.col("dialogue") == dialogue.id
    rows = run.table(VERDICTS).filter(own).to_dicts()
    reasons = run.table(REASONS).filter(own).to_dicts() if REASONS in run.tables else []
    offers: dict[int, list[Mark]] = {}
    for row in rows:
        if row["turn"] is not None:
            mark = Mark(f"offer of {row['domain']} ({row['rules']})", "good" if row["inform"] else "bad")
            offers.setdefault(row["turn"], []).append(mark)
    turns: list[Turn] = []
    before: Slots = {}
    for number, turn in enumerate(dialogue.turns):
        beside = []
        if turn.speaker == "user" and (slots := recorded_slots(turn)) is not None:
            beside, before = [state_table(slots, before)], slots
            if turn.active:
                beside[0].notes.append(f"The next response is taken to be about {', '.join(turn.active)}.")
        turns.append(
            Turn(number=number, speaker=turn.speaker, text=turn.text, marks=offers.get(number, []), beside=beside)
        )
    marks = []
    for rules in RULES:
        flags = [row["success"] for row in rows if row["rules"] == rules]
        if flags and None not in flags:
            marks.append(
                Mark(f"Success ({rules})" if all(flags) else f"no Success ({rules})", "good" if all(flags) else "bad")
            )
    tables = {"domains": _domains(rows, reasons), "goal": _goal(dialogue)}
    shown = {name: table for name, table in tables.items() if table.rows}
    return Transcript(run=run.name, dialogue=dialogue.id, turns=turns, marks=marks, tables=shown)


class TasksPairing(Pairing):
    """Systems that were given other states are not ranked; mwzeval counts only dialogues that all systems have."""

    cautions: ClassVar[Mapping[str, str]] = {"states": "With gold states only the policy is scored"}

    def excluded(self, run: Run, measure: str) -> Collection[str]:
        """Under mwzeval a missing dialogue is not counted, and dropping hard ones would pay; grounded has it failed."""
        if "(rules=grounded)" in measure or measure in COMPANIONS or run.coverage["dialogues"].complete:
            return ()
        missing: list[str] = run.details.get("missing_dialogues", [])
        return missing


PAIRING = TasksPairing()
VIEW = View(
    verdict=verdict,
    warnings=warnings,
    tables={"by-domain": by_domain, "why": why, "failed-domains": failed_domains, "humans": humans},
    scores=lambda run: DEFAULT,
    screen=("why",),
    transcript=transcript,
    columns=("Inform", "Success", "Success(rules=grounded)"),
    findings=findings,
    filters=filters,
    labels={"reason": "why a domain failed", "rules": "by the rules"},
    apart=("domains",),
)


def _reasons(run: Run) -> pl.DataFrame:
    """Each dialogue with the groups of its reasons, by rule set and domain."""
    group = pl.col("reason").replace_strict(REASON_GROUPS, return_dtype=pl.String)
    given = run.table(REASONS).filter(pl.col("reason").fill_null("") != "")
    return given.select("dialogue", "turn", reason=group, rules="rule").unique(maintain_order=True)


def _failed(run: Run) -> pl.DataFrame:
    failed = run.table(VERDICTS).filter(~pl.col("success"))
    return failed.select("dialogue", pl.col("domain").fill_null("unknown").alias("failed domain"), "rules")


def _done(run: Run) -> pl.DataFrame:
    """Whether each dialogue was informed and served, by both rule sets."""
    frame = run.table(VERDICTS).select("dialogue").unique(maintain_order=True)
    for rules in RULES:
        own = (
            run.table(VERDICTS)
            .filter(pl.col("rules") == rules)
            .group_by("dialogue")
            .agg(pl.col("inform", "success").all())
        )
        words = [
            pl.when(pl.col(aspect)).then(pl.lit("yes")).otherwise(pl.lit("no")).alias(f"{aspect} ({rules})")
            for aspect in ("inform", "success")
        ]
        frame = frame.join(own.select("dialogue", *words), on="dialogue", how="left", maintain_order="left")
    return frame


def _domains(rows: list[dict[str, Any]], reasons: list[dict[str, Any]]) -> Table:
    """Each domain of the goal under both rule sets, what was offered and asked for, and why it failed."""
    texts = reason_texts(reasons)
    heads = map(Column, ("domain", "rules", "inform", "success", "why not", "message"))
    more = (Column("offered", spare=1), Column("fitting", spare=1), Column("not told", spare=2))
    table = Table("Result by domain", [*heads, *more])
    for row in rows:
        turn = Cell(row["turn"], link=None if row["turn"] is None else Link(turn=row["turn"]))
        reason = texts.get((row["dialogue"], row["domain"], row["rules"]))
        counts = (row["offered"], row["fitting"], ", ".join(row["missing"] or ()) or None)
        table.add(row["domain"], row["rules"], row["inform"], row["success"], reason, turn, *counts)
    return table


def _goal(dialogue: Dialogue) -> Table:
    table = Table("What the user wants", ["domain", "constraints", "booking", "asks for"])
    for domain, task in (dialogue.goal.tasks if dialogue.goal is not None else {}).items():
        written = [", ".join(f"{slot} = {value}" for slot, value in part.items()) for part in (task.info, task.book)]
        table.add(domain, *written, ", ".join(task.requests))
    return table
