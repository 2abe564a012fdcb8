"""Pages of results of agents over several trials: the trials of a task, those that pass sometimes, tool calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import polars as pl
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue
from dialgauge.presentation import (
    BLAME,
    CALLS,
    CHECKS,
    END_REASONS,
    FAULT_KIND_WORDS,
    FAULTS,
    READ_FIRST,
    TRIALS,
    Badge,
    Breakdown,
    DialogueView,
    ExpectedAction,
    Facet,
    Panel,
    Reading,
    RunTables,
    ToolPages,
    Trial,
    TurnView,
    call_reasons,
    expected_actions,
    worth_reading,
)
from dialgauge.rendering import Table
from dialgauge.runs import Run
from dialgauge.tasks.audit.audit_pages import (
    AUDIT_FACETS,
    audit_panels,
    audit_reasons,
    contradictions,
    per_task_stands,
    task_facts_of,
    turn_of,
)
from dialgauge.tasks.audit.audit_tables import FILINGS, REPLAYS
from dialgauge.tasks.blame.blame_pages import blame_panel, blame_reasons, stored_evidence
from dialgauge.tasks.judges.graded_runs import GRADER_FACET, grader_panel
from dialgauge.tasks.log_findings import READINGS, stored_readings

_COLUMNS = ("Reward", "Turns", "ToolCalls", "Cost", "ModelTokens")
#: Scores of a log that the list of its conversations has room for.
_MOST_SCORES = 4
#: Tasks that a table of the page of a run lists.
_LISTED = 60


def _passed(frame: pl.DataFrame) -> pl.DataFrame:
    value = pl.when(pl.col("success")).then(pl.lit("yes")).when(~pl.col("success")).then(pl.lit("no"))
    return frame.select("dialogue", value.otherwise(pl.lit("not judged")).alias("value"))


def _steady(frame: pl.DataFrame) -> pl.DataFrame:
    """Whether all trials of a dialogue's task went the same way."""
    share = pl.col("success").cast(pl.Float64).mean().over("task")
    value = pl.when(share == 1).then(pl.lit("all pass")).when(share == 0).then(pl.lit("none passes"))
    value = value.when(share.is_null()).then(pl.lit("not judged"))
    return frame.select("dialogue", value.otherwise(pl.lit("some pass")).alias("value"))


#: How the expected calls of a conversation went; the first that holds.
_NEVER, _OTHER, _ALL, _NONE = (
    "an expected call was never made", "made with other arguments", "all expected calls made", "no call was expected",
)  # fmt: skip


def _expectations(library: RunTables, run: Run) -> pl.DataFrame:
    """Each conversation that has expected calls by how these went, matched one to one with those that were made."""
    dialogues = run.dialogues() if per_task_stands(run) else ()
    with_calls = (dialogue for dialogue in dialogues if dialogue.ended.expected is not None)
    expectations = {dialogue.id: _expectation(expected_actions(dialogue)) for dialogue in with_calls}
    return pl.DataFrame({"dialogue": list(expectations), "value": list(expectations.values())}, schema=_PAIRS)


_PAIRS = {"dialogue": str, "value": str}


def _expectation(actions: Sequence[ExpectedAction]) -> str:
    if not actions:
        return _NONE
    if any(not action.made for action in actions):
        return _NEVER
    return _ALL if all(action.same for action in actions) else _OTHER


_FOREIGN, _CONTRADICTED = "filed under another task", "the replay contradicts its verdict"


def _worth_reading(library: RunTables, run: Run) -> pl.DataFrame:
    """What contradicts the log before what went wrong in it."""
    frames = [worth_reading(library, run)]
    if FILINGS in run.tables:
        frame = library.table(run, FILINGS).filter(pl.col("belonging") == "foreign")
        frames.append(frame.select("dialogue", pl.lit(_FOREIGN).alias("value")))
    if REPLAYS in run.tables:
        frame = library.table(run, REPLAYS).filter(~pl.col("agrees"))
        frames.append(frame.select("dialogue", pl.lit(_CONTRADICTED).alias("value")))
    return pl.concat(frames)


def _marked(turns: Sequence[TurnView], deciding: Mapping[int | None, int | None]) -> list[TurnView]:
    """The turns, with a mark at the one that shows the deciding message."""
    marks = {turn: Badge(f"message {message} decides", "warn") for message, turn in deciding.items()}
    return [replace(turn, badges=[marks[turn.place], *turn.badges]) if turn.place in marks else turn for turn in turns]


class TrialsPages(ToolPages):
    """Results of agents."""

    read_first = (_FOREIGN, _CONTRADICTED, *ToolPages.read_first)

    facets: Sequence[Facet] = (
        Facet("passed", "passed", TRIALS, (), pairs=_passed),
        Facet("task", "task", TRIALS, ("task",)),
        Facet("steady", "trials of its task", TRIALS, (), pairs=_steady),
        Facet("end", "how it ended", TRIALS, ("reason",), words=END_REASONS, absent="not recorded"),
        Facet("expected", "expected calls", TRIALS, (), made=_expectations),
        Facet("tool", "tool called", CALLS, ("name",)),
        Facet("call", "outcome of a call", CALLS, ("outcome",)),
        Facet("fault", "fault of the user", FAULTS, ("kind",), words=FAULT_KIND_WORDS),
        Facet("blame", "whose fault", BLAME, ("blamed",)),
        Facet("leans", "leans to", BLAME, ("leans",)),
        *AUDIT_FACETS,
        GRADER_FACET,
        Facet(READ_FIRST, "read first", TRIALS, (), made=_worth_reading),
    )
    breakdowns = (
        Breakdown("Where conversations failed", "expected", only={"passed": "no"}, tone="bad"),
        Breakdown("How they ended", "end", parts="passed", tones={"yes": "good", "no": "bad"}),
        Breakdown("Faults of the user", "fault", tone="warn", note="conversations in which one was found"),
        Breakdown(
            "Tool calls", "tool", parts="call", tones={"done": "plain", "error": "bad"}, note="conversations with each"
        ),
    )
    companions: ClassVar[Mapping[str, str]] = {FAULTS: "faults", CHECKS: "faults"}

    def columns(self, run: Run) -> list[str]:
        """What every conversation has a value for."""
        scores = [name for name in run.scores if name.startswith("Score[")]
        return [*scores[:_MOST_SCORES], *(name for name in _COLUMNS if name in run.scores)]

    def dialogue(self, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
        """The conversation; on top what contradicts its record, whose fault it was, and what is wrong with its task."""
        view = super().dialogue(library, run, dialogue)
        blamed = library.rows(run, BLAME, dialogue.id) if BLAME in run.tables else []
        lines = [line for row in blamed for line in stored_evidence(row)]
        messages = {row["message"] for row in blamed} | {line.message for line in lines}
        turns = {message: turn_of(dialogue, message) for message in messages if message is not None}
        overview = replace(
            view.overview,
            facts=[*view.overview.facts, *task_facts_of(library, run, dialogue)],
            evidence=[(line.what, line.words, turns.get(line.message), line.message) for line in lines],
        )
        view = replace(view, turns=_marked(view.turns, {row["message"]: turns.get(row["message"]) for row in blamed}))
        audited = audit_reasons(library, run, dialogue)
        if not per_task_stands(run):
            return replace(view, overview=replace(overview, expected=(), siblings=()), reasons=audited)
        return replace(view, overview=overview, reasons=[*blame_reasons(blamed, turns), *audited, *view.reasons])

    def readings(self, library: RunTables, run: Run) -> list[Reading]:
        """The list that ``review`` prints, in its order."""
        if READINGS not in run.tables:
            return []
        suggested = stored_readings(library.table(run, READINGS))
        named = {each.conversation for each in suggested}
        dialogues = {dialogue.id: dialogue for dialogue in run.dialogues() if dialogue.id in named}
        return [
            Reading(
                each.conversation,
                each.why,
                turn_of(dialogues[each.conversation], each.message)
                if each.message is not None and each.conversation in dialogues
                else None,
                each.message,
            )
            for each in suggested
        ]

    def companion(self, run: Run, table: str) -> str | None:
        """Faults of users are held against their tasks: nothing of them where conversations do not belong to these."""
        return super().companion(run, table) if per_task_stands(run) else None

    def trials(self, library: RunTables, run: Run) -> list[Trial]:
        """The trials of every task, where tasks can be told apart."""
        return super().trials(library, run) if per_task_stands(run) else []

    def panels(self, library: RunTables, run: Run) -> list[Panel]:
        """Is it what it says, what does the pass rate blend, were its tasks fair, whose fault were failures."""
        return [*audit_panels(library, run), *blame_panel(library, run), *grader_panel(library, run)]

    def evidence(self, library: RunTables, run: Run) -> Mapping[str, tuple[int | None, str]]:
        """What contradicts the log, the fault of the user, or else what is wrong with the calls that were expected."""
        by_dialogue: dict[str, tuple[int | None, str]] = {}
        for dialogue in run.dialogues() if per_task_stands(run) else ():
            if dialogue.outcome is not None and dialogue.outcome.success is False:
                turns = [index for index, turn in enumerate(dialogue.turns) for _ in turn.calls or ()]
                reasons = call_reasons(expected_actions(dialogue), turns)
                if reasons:
                    by_dialogue[dialogue.id] = (reasons[0].turn, reasons[0].text)
        return {**by_dialogue, **super().evidence(library, run), **contradictions(library, run)}

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """The tasks with their trials, those first that some trials pass and some do not."""
        if TRIALS not in run.tables or not per_task_stands(run):
            return self.fault_tables(library, run)
        tasks: dict[str, list[str]] = {}
        for name, success in library.table(run, TRIALS).select("task", "success").rows():
            tasks.setdefault(str(name), []).append({True: "✓", False: "✗"}.get(success, "–"))
        table = Table("Tasks and their trials: those first that pass sometimes", ["task", "trials", "passed", "of"])
        order = sorted(tasks, key=lambda name: (len(set(tasks[name])) < 2, -tasks[name].count("✗"), name))
        for name in order[:_LISTED]:
            table.add(name, " ".join(tasks[name]), tasks[name].count("✓"), sum(mark != "–" for mark in tasks[name]))
        if len(order) > _LISTED:
            table.notes.append(f"{len(order) - _LISTED:,} more are not listed; filter the dialogues by task.")
        return [table, *self.fault_tables(library, run)]


PAGES = TrialsPages()
