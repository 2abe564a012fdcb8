"""Pages of users runs: scores by domain, what each fault takes, verdicts, behaviours, loops and their causes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from dialgauge.presentation import (
    NAMED,
    Breakdown,
    DialogueRows,
    DialogueView,
    Facet,
    Glossary,
    RunPages,
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
from dialgauge.rendering import Table, plain
from dialgauge.text import counted
from dialgauge.users.dialogue_page import ENDS, dialogue_view
from dialgauge.users.figures import confusion_table, loop_table, verdict_table
from dialgauge.users.labels import LABELS, meaning
from dialgauge.users.measures import POINT_KINDS, WHOSE
from dialgauge.users.presentation import score_tables
from dialgauge.users.sentences import sentence_table

if TYPE_CHECKING:
    from dialgauge.dialogue import Dialogue
    from dialgauge.runs import Run

_VERDICTS, _BEHAVIOURS, _LOOPS, _FACTS = "verdicts", "behaviours", "loops", "conversation_facts"
_COLUMNS = 6
#: What the behaviours are about whose labels have two parts.
_MENTIONS = {
    "multiple_constraint_informs": "repeated constraint",
    "constraints_not_in_goal": "constraint outside the goal",
    "multiple_slot_requests": "repeated request",
}


def _in_words(label: str) -> str:
    """What a behaviour means, after the kind of mention it is about."""
    kind = _MENTIONS.get(label.partition("/")[0])
    return f"{kind}: {meaning(label)}" if kind else meaning(label)


_BEHAVIOUR_WORDS = {label: _in_words(label) for label in LABELS}


class UsersPages(RunPages):
    """Users runs. The domains of the goals are a filter that every run has."""

    template = "dialgauge.users:pages.html"
    facets = (
        Facet("behaviour", "behaviour", _BEHAVIOURS, ("behaviour",), words=_BEHAVIOUR_WORDS),
        Facet("verdict", "verdict", _VERDICTS, ("verdict",)),
        Facet("fault", "fault of a lost point", _VERDICTS, ("fault",)),
        Facet("cause", "cause of a loop", _LOOPS, ("cause",)),
        Facet(
            "end",
            "end",
            _FACTS,
            ("end",),
            words={code: badge.text for code, badge in ENDS.items()},
            absent="not recorded",
        ),
        Facet("slot", "slot", _VERDICTS, ("domain", "slot")),
    )
    breakdowns = (
        Breakdown("Whose fault lost points were", "fault", tone="bad", note="conversations that lost one so"),
        Breakdown("Behaviours", "behaviour", tone="warn", note="conversations that show each"),
        Breakdown("How they ended", "end"),
    )

    def columns(self, run: Run) -> list[str]:
        """The measures over all domains, F1 rather than precision and recall; the rest is on the page of the run."""
        whole = [name for name in run.scores if "[" not in name]
        return ([name for name in whole if " " not in name] or whole)[:_COLUMNS]

    def dialogue(self, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
        """The words; beside each turn said against heard, the verdicts and the loop it is part of."""
        return dialogue_view(self.template, library, run, dialogue)

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """By domain, what each fault takes, verdicts, behaviours, loops, confusions and the sentences behind them."""
        tables = score_tables(run) if "scored_dialogues" in run.details else []
        makers: tuple[tuple[str, Callable[[Run], Table]], ...] = (
            ("verdicts", verdict_table),
            ("behaviours", partial(_behaviour_table, library)),
            ("loops", loop_table),
            ("confusions", confusion_table),
            ("confusions", sentence_table),
        )
        return [*tables, *(make(run) for name, make in makers if name in run.tables and run.tables[name].rows)]

    def sentences(self, run: Run, words: Glossary) -> Iterator[str]:
        """How much of its goal the user says, and whose fault its repetitions and loops are."""
        explained = False
        for measure, what in POINT_KINDS.items():
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
                explained = True
                yield (
                    f"On average the user {'; '.join(parts)}"
                    if recall
                    else f"Of the user, on average: {'; '.join(parts)}"
                )
        if not explained:
            yield from first_scores(run, words)
        yield from _repetitions(run)
        yield from _lost_to(run)
        ends = columns(run, "conversation_facts", text=("end",))
        if ends is not None and ends.height:
            loops = int((ends["end"] == "loop").sum())
            if loops:
                share = f"{percent(loops, ends.height)} of {counted(ends.height, 'conversation')}"
                yield f"{share} end in a loop{_causes(run)}"

    def went_wrong(self, tables: DialogueRows, dialogue: str) -> str:
        """The most frequent verdicts but for credit."""
        rows = tables.rows(_VERDICTS, dialogue, text=("verdict",))
        bad = [] if rows is None else tallied(rows.filter(rows["verdict"] != "credited")["verdict"])
        return ", ".join(f"{count:,} {plain(verdict)}" for verdict, count in bad[:3])


def _behaviour_table(library: RunTables, run: Run) -> Table:
    import polars as pl

    labelled = library.table(run, "behaviours").drop_nulls("behaviour").group_by("behaviour")
    counts = labelled.agg(pl.len(), pl.col("dialogue").n_unique().alias("dialogues"))
    table = Table("Behaviours", ["behaviour", "records", "dialogues", "meaning"])
    for label, records, dialogues in counts.sort(["len", "behaviour"], descending=[True, False]).iter_rows():
        table.add(label, records, dialogues, meaning(label))
    return table


#: Verdicts on what the user did not say.
_NEVER_SAID = ("missing", "pre-empted", "excused", "pooled")


def _causes(run: Run) -> str:
    frame = columns(run, "loops", text=("cause",))
    causes = tallied(frame["cause"]) if frame is not None else []
    if not causes:
        return ""
    every = sum(count for _, count in causes)
    shares = [f"{_fault(cause)} ({percent(count, every)})" for cause, count in causes[:NAMED]]
    return f"; loops are caused by {listed(shares)}"


def _fault(name: str) -> str:
    return WHOSE.get(name, plain(name))


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
        losses.sort(key=lambda loss: -loss[1])
        parts = [f"{_fault(name)} {100 * share:.1f} points" for name, share in losses]
        yield f"What I-GCDF1 lacks is lost to {listed(parts)}"


PAGES = UsersPages()
