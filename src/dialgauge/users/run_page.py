"""The page of a users run: its tables, charts of lost points and behaviours, and its sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.presentation import (
    NAMED,
    Glossary,
    RunTables,
    columns,
    first_scores,
    known,
    listed,
    percent,
    tallied,
    value_of,
    value_with_interval,
)
from dialgauge.report import Table, plain, stacked_bars
from dialgauge.text import counted
from dialgauge.users.figures import confusion_table, loop_table, verdict_table
from dialgauge.users.labels import meaning
from dialgauge.users.measures import FAULTS
from dialgauge.users.presentation import score_tables
from dialgauge.users.records import COMBINED, MEASURES

if TYPE_CHECKING:
    from dialgauge.runs import Run

#: Domains that a chart tells apart.
_MOST_DOMAINS = 4
_OTHER = "other domains"
#: What the behaviours are about whose labels have two parts.
_MENTIONS = {
    "multiple_constraint_informs": "repeated constraint",
    "constraints_not_in_goal": "constraint outside the goal",
    "multiple_slot_requests": "repeated request",
}
_LOST = {fault: f"lost_{fault.lower().replace(' ', '_')}" for fault in FAULTS}


def run_tables(library: RunTables, run: Run) -> list[Table]:
    """What the family prints of a run; a table of the run that is missing, or empty, has none here."""
    tables = score_tables(run) if "scored_dialogues" in run.details else []
    makers: dict[str, Callable[[Run], Table]] = {
        "verdicts": verdict_table,
        "behaviours": partial(_behaviour_table, library),
        "loops": loop_table,
        "confusions": confusion_table,
    }
    return [*tables, *(make(run) for name, make in makers.items() if name in run.tables and run.tables[name].rows)]


def _behaviour_table(library: RunTables, run: Run) -> Table:
    import polars as pl

    labelled = library.table(run, "behaviours").drop_nulls("behaviour").group_by("behaviour")
    counts = labelled.agg(pl.len(), pl.col("dialogue").n_unique().alias("dialogues"))
    table = Table("Behaviours", ["behaviour", "records", "dialogues", "meaning"])
    for label, records, dialogues in counts.sort(["len", "behaviour"], descending=[True, False]).iter_rows():
        table.add(label, records, dialogues, meaning(label))
    return table


def lost_charts(library: RunTables, run: Run) -> Iterator[tuple[str, Callable[[], Any]]]:
    """A chart of lost points for each measure that lost any."""
    if "domain_scores" not in run.tables or not set(_LOST.values()) <= set(library.table(run, "domain_scores").columns):
        return
    for measure in MEASURES:
        bars = library.of_run(f"lost points {measure}", run, partial(_lost_points, library, run, measure))
        if any(points for split in bars.values() for points in split.values()):
            yield f"lost points {measure}", partial(_lost_chart, bars, measure)


def _lost_points(library: RunTables, run: Run, measure: str) -> dict[str, dict[str, int]]:
    """Domain to fault to points."""
    import polars as pl

    rows = library.table(run, "domain_scores").drop_nulls("domain")
    rows = rows.filter(pl.col("measure") == measure, pl.col("domain") != COMBINED)
    sums = rows.group_by("domain").agg(pl.col(*_LOST.values()).sum())
    return {row["domain"]: {fault: row[column] for fault, column in _LOST.items()} for row in sums.to_dicts()}


def _lost_chart(bars: dict[str, dict[str, int]], measure: str) -> Any:
    title = f"Points lost in {measure}, by domain and fault"
    return stacked_bars(bars, list(FAULTS), title=title, value="lost points (FP + FN)")


def _in_words(label: str) -> str:
    """What a behaviour means, after the kind of mention it is about."""
    kind = _MENTIONS.get(label.partition("/")[0])
    return f"{kind}: {meaning(label)}" if kind else meaning(label)


def behaviour_chart(library: RunTables, run: Run) -> Any:
    """In how many dialogues each behaviour was seen, by domain."""
    import polars as pl

    seen = library.table(run, "behaviours").select("dialogue", "behaviour", pl.col("domain").fill_null(""))
    counts = seen.drop_nulls("behaviour").unique().group_by("behaviour", "domain").len()
    domains = counts.group_by("domain").agg(pl.col("len").sum()).sort(["len", "domain"], descending=[True, False])
    shown = domains["domain"].head(_MOST_DOMAINS).to_list()
    bars: dict[str, dict[str, int]] = {}
    for label, domain, count in counts.iter_rows():
        group = (domain or "no domain") if domain in shown else _OTHER
        of_label = bars.setdefault(_in_words(label), {})
        of_label[group] = of_label.get(group, 0) + count
    groups = [*(domain or "no domain" for domain in shown), _OTHER]
    return stacked_bars(bars, groups, title="Behaviours by domain", value="dialogues, counted once for each domain")


#: Who caused something, in words.
_BLAMED = {
    "user NLU": "the user's understanding",
    "user policy": "the user's policy",
    "system NLU": "the system's understanding",
    "system policy": "the system's policy",
    "system": "the system",
}
#: Verdicts on what the user did not say.
_NEVER_SAID = ("missing", "pre-empted", "excused", "pooled")
_SAYS = {"I-GCDF1": "constraints", "R-GCDF1": "requests"}


def user_sentences(run: Run, words: Glossary) -> Iterator[str]:
    """How much of its goal the user says, what it repeats, who lost its points, and how conversations end."""
    told = False
    for measure, what in _SAYS.items():
        f1, recall, precision = (known(run, f"{measure}{aspect}") for aspect in ("", " recall", " precision"))
        parts = [f"expresses {value_of(recall)} of the {what} of its goal"] if recall else []
        # These are means over conversations; sentences that pool all of them say so.
        if precision:
            parts.append(
                f"{value_of(precision)} of the {what} it expresses belong there or are warranted by the context"
            )
        if f1:
            parts.append(f"together that is {words.said(measure, value_with_interval(f1))}")
        if parts:
            told = True
            yield (
                f"On average the user {'; '.join(parts)}" if recall else f"Of the user, on average: {'; '.join(parts)}"
            )
    if not told:
        yield from first_scores(run, words)
    yield from _repetitions(run)
    yield from _lost_to(run)
    ends = columns(run, "conversation_facts", text=("end",))
    if ends is not None and ends.height:
        loops = int((ends["end"] == "loop").sum())
        if loops:
            yield f"{percent(loops, ends.height)} of {counted(ends.height, 'conversation')} end in a loop{_causes(run)}"


def _causes(run: Run) -> str:
    frame = columns(run, "loops", text=("cause",))
    causes = tallied(frame["cause"]) if frame is not None else []
    if not causes:
        return ""
    every = sum(count for _, count in causes)
    shares = [f"{_fault(cause)} ({percent(count, every)})" for cause, count in causes[:NAMED]]
    return f"; loops are caused by {listed(shares)}"


def _fault(name: str) -> str:
    return _BLAMED.get(name, plain(name))


def _repetitions(run: Run) -> Iterator[str]:
    frame = columns(run, "verdicts", text=("verdict", "fault"))
    if frame is None:
        return
    mentions = frame.filter(~frame["verdict"].is_in(_NEVER_SAID))
    repeated = mentions.filter(mentions["verdict"] == "repeated-penalised")
    if not mentions.height:
        return
    if not repeated.height:
        yield "The user repeats nothing needlessly"
        return
    faults = [
        f"{_fault(name)} ({percent(count, repeated.height)})" for name, count in tallied(repeated["fault"])[:NAMED]
    ]
    blamed = f", caused by {listed(faults)}" if faults else ""
    yield (
        f"Over all conversations together, {percent(repeated.height, mentions.height)} of what the user says are "
        f"needless repetitions{blamed}"
    )


def _lost_to(run: Run) -> Iterator[str]:
    lost = run.details.get("lost")
    shares = lost.get("I-GCDF1", {}).get("combined", {}) if isinstance(lost, Mapping) else {}
    losses = [(str(name), share) for name, share in shares.items() if isinstance(share, float) and share > 0]
    if losses:
        losses.sort(key=lambda one: -one[1])
        parts = [f"{_fault(name)} {100 * share:.1f} points" for name, share in losses]
        yield f"What I-GCDF1 lacks is lost to {listed(parts)}"
