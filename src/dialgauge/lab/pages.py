"""Pages of lab runs: what became of the tasks, whose fault failures were, how conversations ended; and of studies."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl
import polars.selectors as cs

from dialgauge.agents import END_WORDS
from dialgauge.lab.blame.blame_views import blame_rows, blame_tables
from dialgauge.lab.comparison_view import LAB_VIEW
from dialgauge.lab.dialogue_page import cause_words, dialogue_view
from dialgauge.lab.facets import (
    BLAME,
    BOTH,
    LAB_FACETS,
    LUCKY,
    ONLY_USER,
    OUTCOME_RULES,
    SIDES,
)
from dialgauge.lab.study import study_figure, study_sentences, study_tables
from dialgauge.presentation import (
    NAMED,
    Breakdown,
    DialogueRows,
    DialogueView,
    Glossary,
    RunPages,
    RunTables,
    Trial,
    columns,
    first_scores,
    known,
    listed,
    percent,
    scored_units,
    tallied,
    value_with_interval,
)
from dialgauge.rendering import Column, Table, plain
from dialgauge.tasks import (
    CONVERSATIONS,
    HEARD,
    LOOP,
    OUTCOMES,
    REASONS,
    dialogue_reasons,
    frequent_reasons,
    outcome_tables,
    reason_counts,
)
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.dialogue import Dialogue
    from dialgauge.runs import Run

_CONFUSIONS = 20
#: The tables of a study.
_STUDIED = {"predictors", "conditions"}
#: Measures that head the list of dialogues where the usual ones are missing.
_COLUMNS = 6


class LabPages(RunPages):
    """Lab runs."""

    template = "dialgauge.lab:pages.html"
    tells_outcome = True
    facets = LAB_FACETS
    read_first = (ONLY_USER, BOTH, LUCKY)
    breakdowns = (
        Breakdown("Whose fault failures were", "blame", tone="bad", note="conversations that failed by strict rules"),
        Breakdown("Why tasks failed", "why", tone="bad", note="conversations in which a task failed so"),
        Breakdown("How they ended", "end", parts="strict", tones={"done": "good", "not done": "bad"}),
    )

    def columns(self, run: Run) -> list[str]:
        """Task, tracker and user."""
        return list(LAB_VIEW.headlines(list(run.scores)))[:_COLUMNS]

    def dialogue(self, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
        """Both sides turn by turn, and above them what became of every task."""
        return dialogue_view(self.template, library, run, dialogue)

    def trials(self, library: RunTables, run: Run) -> list[Trial]:
        """The conversations of every goal that several are about, judged by the strict rules."""
        if CONVERSATIONS not in run.tables:
            return []
        frame = library.table(run, CONVERSATIONS).drop_nulls(["goal", "dialogue"])
        several = frame.filter(pl.len().over("goal") > 1).select("goal", "dialogue", "strict").rows()
        numbers: dict[str, Iterator[int]] = {goal: itertools.count() for goal, _, _ in several}
        return [Trial(goal, name, next(numbers[goal]), strict) for goal, name, strict in several]

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """Outcome by domain under both rules, ends, reasons of failure, and what was understood."""
        why = [_reason_table(_tidy(library, run, REASONS))] if REASONS in run.tables else []
        verdicts: list[Table] = []
        conduct: list[Table] = []
        if {CONVERSATIONS, HEARD} <= run.tables.keys():
            tidy = partial(_tidy, library, run)
            verdicts = outcome_tables(run.scores, tidy, detail=False)
            conduct = outcome_tables(run.scores, tidy, confusions=_CONFUSIONS)[len(verdicts) :]
        return [table for table in (*verdicts, *blame_tables(run), *why, *conduct) if len(table)]

    def evidence(self, library: RunTables, run: Run) -> Mapping[str, tuple[int | None, str]]:
        """The link that is blamed for a failure; of what was done all the same, who erred."""
        by_dialogue: dict[str, tuple[int | None, str]] = {}
        for row in library.table(run, SIDES).to_dicts():
            sides = [side for side in ("user", "system") if row[f"{side}_erred"]]
            if row["success"] and sides:
                by_dialogue[row["dialogue"]] = (None, f"the {' and the '.join(sides)} erred")
        if BLAME in run.tables:
            reasons = library.table(run, REASONS).to_dicts() if REASONS in run.tables else []
            for row in blame_rows(library.table(run, BLAME).to_dicts(), reasons):
                if row["first"]:
                    by_dialogue[row["dialogue"]] = (row["turn"], f"{cause_words(row)}: {row['sentence']}")
        return by_dialogue

    def sentences(self, run: Run, words: Glossary) -> Iterator[str]:
        """In how many conversations users got everything, how these ended, and why tasks failed."""
        strict, compat = known(run, "Success(rules=strict)"), known(run, "Success(rules=compat)")
        if strict is not None:
            loose = (
                f"; by compat rules, ConvLab-2's, which go by what the user heard, in {value_with_interval(compat)}"
                if compat is not None
                else ""
            )
            held = scored_units(run, "dialogues", "conversation")
            yield (
                f"With {plain(run.name)} the users got everything they came for in {value_with_interval(strict)} of "
                f"{held or 'the conversations'} (Success by strict rules){loose}"
            )
        else:
            yield from first_scores(run, words)
        frame = columns(run, "conversations", text=("reason",))
        if frame is not None and frame.height:
            ends = [
                f"{END_WORDS.get(end, plain(end))} ({percent(count, frame.height)})"
                for end, count in tallied(frame["reason"])
            ]
            if ends:
                yield f"Conversations ended because {listed(ends, 2 * NAMED)}"
        yield from _loops(run)
        outcomes, reasons = columns(run, OUTCOMES, text=("rule",), number=("success",)), frequent_reasons(run, "strict")
        if outcomes is not None and reasons:
            failed = outcomes.filter((outcomes["rule"] == "strict") & (outcomes["success"] == 0))
            yield f"Of {counted(failed.height, 'failed task')} the most frequent reasons are: {reasons}"

    def went_wrong(self, tables: DialogueRows, dialogue: str) -> str:
        """Why the first tasks failed, and how the conversation ended."""
        talks = tables.rows(CONVERSATIONS, dialogue, text=("reason",))
        end = [f"ended by {plain(reason)}" for reason in talks["reason"].drop_nulls()] if talks is not None else []
        return "; ".join([*dialogue_reasons(tables, dialogue, "strict")[:2], *end])


def _tidy(library: RunTables, run: Run, name: str) -> pl.DataFrame:
    """A table with empty texts and zeros for what is not there; verdicts that are not there stay so."""
    frame = library.table(run, name).with_columns(cs.string().fill_null(""), cs.integer().fill_null(0))
    if name == CONVERSATIONS:
        return frame.with_columns(pl.col("usage").replace("", "{}"))
    return frame.filter(pl.col("times") > 0) if name == HEARD else frame


def _reason_table(reasons: pl.DataFrame) -> Table:
    counts = reason_counts(reasons, "rule")
    table = Table("Why tasks failed", ["reason", *(Column(rules, align="right") for rules in OUTCOME_RULES)])
    for name in sorted(counts, key=lambda group: (-sum(counts[group].values()), group)):
        table.add(name, *(counts[name].get(rules, 0) for rules in OUTCOME_RULES))
    table.notes.append("Tasks of goals; one that failed for several reasons counts for each.")
    return table


def _loops(run: Run) -> Iterator[str]:
    frame = columns(run, "conversations", number=("longest_run",))
    if frame is None or not frame.height:
        return
    loops = int((frame["longest_run"] >= LOOP).sum())
    if loops:
        held = f"{counted(loops, 'conversation')} ({percent(loops, frame.height)})"
        longest = max(map(int, frame["longest_run"]))
        yield f"In {held} the user says the same {LOOP} times or more in a row, at most {longest} times"


class StudyPages(RunPages):
    """Studies of what predicts success, which have measures and conditions and no dialogues."""

    scored = False

    def sentences(self, run: Run, words: Glossary) -> Iterable[str]:
        """Which measure predicts success best."""
        return study_sentences(run) if run.tables.keys() >= _STUDIED else super().sentences(run, words)

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """The measures by how well they predict success, and the conditions."""
        return study_tables(run) if run.tables.keys() >= _STUDIED else []

    def charts(self, library: RunTables, run: Run) -> Mapping[str, Callable[[], Any]]:
        """Success over each measure."""
        return {"success by measure": partial(study_figure, run)} if run.tables.keys() >= _STUDIED else {}


PAGES = LabPages()
STUDY_PAGES = StudyPages()
