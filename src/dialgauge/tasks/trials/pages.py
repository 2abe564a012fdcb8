"""Pages of results of agents over several trials: the trials of a task, those that pass sometimes, tool calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from dialgauge.presentation import (
    BLAME,
    CALLS,
    CHECKS,
    FAULTS,
    READ_FIRST,
    TRIALS,
    Breakdown,
    ExpectedAction,
    Facet,
    RunTables,
    ToolPages,
    call_reasons,
    expected_actions,
    worth_reading,
)
from dialgauge.report import Table, stacked_bars

if TYPE_CHECKING:
    import polars

    from dialgauge.runs import Run

_COLUMNS = ("Reward", "Turns", "ToolCalls", "Cost", "ModelTokens")
#: Scores of a log that the list of its conversations has room for.
_MOST_SCORES = 4
#: Tasks that a table of the page of a run lists.
_LISTED = 60


def _passed(frame: polars.DataFrame) -> polars.DataFrame:
    import polars as pl

    value = pl.when(pl.col("success")).then(pl.lit("yes")).when(~pl.col("success")).then(pl.lit("no"))
    return frame.select("dialogue", value.otherwise(pl.lit("not judged")).alias("value"))


def _steady(frame: polars.DataFrame) -> polars.DataFrame:
    """Whether all trials of a dialogue's task went the same way."""
    import polars as pl

    share = pl.col("success").cast(pl.Float64).mean().over("task")
    value = pl.when(share == 1).then(pl.lit("all pass")).when(share == 0).then(pl.lit("none passes"))
    return frame.select("dialogue", value.otherwise(pl.lit("some pass")).alias("value"))


#: How the expected calls of a conversation went; the first that holds.
_NEVER, _OTHER, _ALL, _NONE = (
    "an expected call was never made", "made with other arguments", "all expected calls made", "no call was expected",
)  # fmt: skip


def _expectations(library: RunTables, run: Run) -> polars.DataFrame:
    """Each conversation by how its expected calls went, matched one to one with those that were made."""
    import polars as pl

    found = {dialogue.id: _expectation(expected_actions(dialogue)) for dialogue in run.dialogues()}
    return pl.DataFrame({"dialogue": list(found), "value": list(found.values())}, schema=_PAIRS)


_PAIRS = ("dialogue", "value")


def _expectation(actions: Sequence[ExpectedAction]) -> str:
    if not actions:
        return _NONE
    if any(not action.made for action in actions):
        return _NEVER
    return _ALL if all(action.same for action in actions) else _OTHER


class TrialsPages(ToolPages):
    """Results of agents."""

    facets: Sequence[Facet] = (
        Facet("passed", "passed", TRIALS, (), pairs=_passed),
        Facet("task", "task", TRIALS, ("task",)),
        Facet("steady", "trials of its task", TRIALS, (), pairs=_steady),
        Facet("end", "how it ended", TRIALS, ("reason",)),
        Facet("expected", "expected calls", TRIALS, (), made=_expectations),
        Facet("tool", "tool called", CALLS, ("name",)),
        Facet("call", "outcome of a call", CALLS, ("outcome",)),
        Facet("fault", "fault of the user", FAULTS, ("kind",)),
        Facet("blame", "suspected fault", BLAME, ("blamed",)),
        Facet(READ_FIRST, "read first", FAULTS, (), made=worth_reading),
    )
    breakdowns = (
        Breakdown("Where conversations failed", "expected", only={"passed": "no"}, tone="bad"),
        Breakdown("How they ended", "end", parts="passed", tones={"yes": "good", "no": "bad"}),
        Breakdown("Faults of the user", "fault", tone="warn", note="conversations in which one was found"),
        Breakdown("Tool calls", "tool", note="conversations that make each call"),
    )
    companions: ClassVar[Mapping[str, str]] = {FAULTS: "faults", CHECKS: "faults"}

    def columns(self, run: Run) -> list[str]:
        """What every conversation has a value for."""
        scores = [name for name in run.scores if name.startswith("Score[")]
        return [*scores[:_MOST_SCORES], *(name for name in _COLUMNS if name in run.scores)]

    def evidence(self, library: RunTables, run: Run) -> Mapping[str, tuple[int | None, str]]:
        """The fault of the user, or else what is wrong with the calls that were expected."""
        found: dict[str, tuple[int | None, str]] = {}
        for dialogue in run.dialogues():
            if dialogue.outcome is not None and dialogue.outcome.success is False:
                turns = [place for place, turn in enumerate(dialogue.turns) for _ in turn.calls or ()]
                reasons = call_reasons(expected_actions(dialogue), turns)
                if reasons:
                    found[dialogue.id] = (reasons[0].turn, reasons[0].text)
        return {**found, **super().evidence(library, run)}

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """The tasks with their trials, those first that some trials pass and some do not."""
        if TRIALS not in run.tables:
            return self.fault_tables(library, run)
        tasks: dict[str, list[str]] = {}
        for name, success in library.table(run, TRIALS).select("task", "success").rows():
            tasks.setdefault(str(name), []).append({True: "✓", False: "✗"}.get(success, "–"))
        table = Table("Tasks and their trials: those first that pass sometimes", ["task", "trials", "passed", "of"])
        order = sorted(tasks, key=lambda name: (len(set(tasks[name])) < 2, -tasks[name].count("✗"), name))
        for name in order[:_LISTED]:
            table.add(name, " ".join(tasks[name]), tasks[name].count("✓"), len(tasks[name]))
        if len(order) > _LISTED:
            table.notes.append(f"{len(order) - _LISTED:,} more are not listed; filter the dialogues by task.")
        return [table, *self.fault_tables(library, run)]

    def charts(self, library: RunTables, run: Run) -> Mapping[str, Callable[[], Any]]:
        """Which tools were called, and how that went."""
        return {"tool calls": partial(_call_chart, library, run)} if CALLS in run.tables else {}


def _call_chart(library: RunTables, run: Run) -> Any:
    bars: dict[str, dict[str, float]] = {}
    for name, outcome, count in library.table(run, CALLS).group_by("name", "outcome").len().rows():
        bars.setdefault(name, {})[outcome or "done"] = count
    outcomes = sorted({outcome for bar in bars.values() for outcome in bar}, key=lambda one: (one != "done", one))
    return stacked_bars(bars, outcomes, title="Tool calls", value="calls")


PAGES = TrialsPages()
