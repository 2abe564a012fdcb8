"""Pages of recorded agents: the tool calls before each turn, and what the simulated user did wrong there.

Results of agents and checks of their users show these conversations alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Dialogue
from dialgauge.formats import as_text
from dialgauge.presentation.expected_calls import (
    ExpectedAction,
    call_reasons,
    expected_actions,
    made_calls,
)
from dialgauge.presentation.fault_wordings import fault_words
from dialgauge.presentation.pages import Badge, DialogueView, Reason, RunPages, RunTables, Trial, TurnView
from dialgauge.presentation.trial_wordings import END_REASONS
from dialgauge.rendering import Column, Table
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars

    from dialgauge.runs import Run

TRIALS, CALLS, FAULTS, CHECKS, BLAME = "trials", "calls", "faults", "fault_checks", "failure_blame"
_PARTS = "reward_parts"
ERRED_AND_FAILED, ERRED_AND_PASSED = "failed, and the user erred", "passed although the user erred"


class ShownCall(Struct, frozen=True):
    """A tool call as a page shows it: its arguments in a line, and in full as indented JSON, as its result is."""

    name: str
    summary: str
    arguments: str
    result: str
    failed: bool
    mark: Badge | None = None


class ToolCell(Struct, frozen=True):
    """The tool calls before a turn, and what the user did wrong in it."""

    calls: Sequence[ShownCall]
    faults: Sequence[tuple[str, str]]


class TrialOverview(Struct, frozen=True):
    """How a trial went: its reward by parts, what was expected, its siblings, and faults that belong to no turn."""

    facts: Sequence[tuple[str, str]]
    expected: Sequence[ExpectedAction]
    siblings: Sequence[tuple[str, int, bool | None]]
    run: str
    task: str
    faults: Sequence[tuple[str, str]]
    #: What speaks for or against each side of a failure: what it is, in words, the turn that shows it, its message.
    evidence: Sequence[tuple[str, str, int | None, int | None]] = ()


def worth_reading(library: RunTables, run: Run) -> polars.DataFrame:
    """Conversations by what makes them worth reading: verdict and faults of the user together."""
    import polars as pl

    heads = library.table(run, "dialogues").select("dialogue", "outcome")
    success = pl.col("outcome").str.json_path_match("$.success")
    if not library.has_table(run, FAULTS):
        return heads.select("dialogue", pl.lit(None, pl.String).alias("value")).drop_nulls()
    erred = pl.col("dialogue").is_in(sorted(set(library.table(run, FAULTS)["dialogue"])))
    value = (
        pl.when(erred & (success == "false")).then(pl.lit(ERRED_AND_FAILED))
        .when(erred & (success == "true")).then(pl.lit(ERRED_AND_PASSED))
        .when(success == "false").then(pl.lit("failed, no fault of the user found"))
    )  # fmt: skip
    return heads.select("dialogue", value.alias("value")).drop_nulls()


class ToolPages(RunPages):
    """Recorded conversations of agents with simulated users."""

    template = "trials.html"
    tells_outcome = True
    read_first: Sequence[str] = (ERRED_AND_FAILED, ERRED_AND_PASSED)

    def dialogue(self, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
        """The messages, and beside each the calls that led to it."""
        row = next(iter(library.rows(run, TRIALS, dialogue.id)), {})
        faults = library.rows(run, FAULTS, dialogue.id)
        actions = expected_actions(dialogue)
        calls = _shown_calls(dialogue, actions)
        messages = message_ranges(dialogue)
        turns = [
            TurnView(index, turn.speaker, turn.text, _marks(calls[index], faults, index),
                     _cell(calls[index], faults, index), messages[index])
            for index, turn in enumerate(dialogue.turns)
        ]  # fmt: skip
        overview = TrialOverview(
            _facts(row, library.rows(run, _PARTS, dialogue.id)),
            actions,
            _siblings(library, run, row.get("task")),
            run.id,
            str(row.get("task", "")),
            _told(fault for fault in faults if fault.get("turn") is None),
        )
        reasons = _reasons(dialogue, actions, faults)
        return DialogueView(self.template, turns, overview, _verdict(row), reasons=reasons)

    def trials(self, library: RunTables, run: Run) -> list[Trial]:
        """The trials of every task."""
        if TRIALS not in run.tables:
            return []
        rows = library.table(run, TRIALS).select("task", "dialogue", "trial", "success").rows()
        return [Trial(str(task), name, number or 0, success) for task, name, number, success in rows if name]

    def fault_tables(self, library: RunTables, run: Run) -> list[Table]:
        """How often each fault of the user was found, of how many conversations that were looked at."""
        if not library.has_table(run, CHECKS):
            return []
        table = Table(
            "Faults of the user",
            ["kind", "conversations with it", "looked at", Column("share", digits=1, percent=True)],
        )
        for kind, count, seen in _fault_counts(library, run):
            table.add(kind, count, seen, count / seen if seen else None)
        table.notes.append(
            "A conversation without a fault found is no proof of a faultless user: see what was not checked."
        )
        return [table]

    def evidence(self, library: RunTables, run: Run) -> Mapping[str, tuple[int | None, str]]:
        """The first fault of the user."""
        evidence: dict[str, tuple[int | None, str]] = {}
        faults = library.table(run, FAULTS) if library.has_table(run, FAULTS) else None
        for row in () if faults is None else faults.sort("turn", descending=True, maintain_order=True).to_dicts():
            if _is_fault(row):
                evidence[row["dialogue"]] = (row["turn"], f"{row['kind'].replace('_', ' ')}: {fault_words(row)}")
        return evidence

    def fault_sentence(self, library: RunTables, run: Run) -> str:
        """In how many conversations a fault of the user was found, and of which kinds."""
        if not (library.has_table(run, CHECKS) and library.has_table(run, FAULTS)):
            return ""
        with_faults = library.table(run, FAULTS)["dialogue"].n_unique()
        every = counted(library.table(run, CHECKS)["dialogue"].n_unique(), "conversation")
        kinds = sorted(_fault_counts(library, run), key=lambda counted_kind: -counted_kind[1])
        listed = ", ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count, _ in kinds if count)
        by_kind = f" ({listed})" if listed else ""
        return f"Faults of the user were found in {with_faults:,} of {every}{by_kind}; the checks find only a part"


def message_ranges(dialogue: Dialogue) -> list[str]:
    """The messages of the log that each turn shows: a call is shown with the words that follow it."""
    ranges, before = [], -1
    for turn in dialogue.turns:
        if turn.source is None:
            ranges.append("")
            continue
        first = before + 1 if turn.calls else turn.source
        ranges.append(f"{first}–{turn.source}" if first < turn.source else str(turn.source))
        before = turn.source
    return ranges


def _fault_counts(library: RunTables, run: Run) -> list[tuple[str, int, int]]:
    """Each kind of fault, the conversations with it, and those that were looked at."""
    import polars as pl

    looked = library.table(run, CHECKS).filter(pl.col("checked") != "none")
    counts: list[tuple[str, int, int]] = (
        looked.group_by("kind", maintain_order=True).agg((pl.col("faults") > 0).sum(), pl.len().alias("looked")).rows()
    )
    return counts


def _verdict(row: Mapping[str, Any]) -> list[Badge]:
    success = row.get("success")
    badge = Badge("not judged") if success is None else Badge("passed", "good") if success else Badge("failed", "bad")
    trial = [Badge(f"trial {row['trial']}")] if row.get("trial") is not None else []
    return [badge, *trial]


def _marks(calls: Sequence[ShownCall], faults: Iterable[Mapping[str, Any]], turn: int) -> list[Badge]:
    wrong = sum(call.failed or (call.mark is not None and call.mark.tone == "bad") for call in calls)
    marks = [Badge(counted(len(calls), "call"), "warn" if wrong else "plain")] if wrong else []
    here = [fault for fault in faults if fault.get("turn") == turn and _is_fault(fault)]
    return [*marks, *kind_badges(here, "a fault of the user")]


def kind_badges(faults: Sequence[Mapping[str, Any]], title: str = "") -> list[Badge]:
    """A badge for each kind of fault; milder where every fault of that kind is minor."""
    grave = {fault["kind"] for fault in faults if fault.get("minor") is not True}
    return [
        Badge(_spaced(kind), "bad", title) if kind in grave else Badge(f"{_spaced(kind)} (minor)", "warn", title)
        for kind in dict.fromkeys(fault["kind"] for fault in faults)
    ]


def _spaced(kind: Any) -> str:
    return str(kind).replace("_", " ")


def _cell(calls: Sequence[ShownCall], faults: Iterable[Mapping[str, Any]], turn: int) -> ToolCell | None:
    sentences = _told(fault for fault in faults if fault.get("turn") == turn)
    return ToolCell(calls, sentences) if calls or sentences else None


def _told(faults: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Kind and sentence of each fault, as the command line prints them."""
    return [(fault["kind"], fault_words(fault)) for fault in faults if _is_fault(fault)]


def _is_fault(row: Mapping[str, Any]) -> bool:
    """Whether a row tells of a fault, and not of a check that could not look."""
    return row.get("checked") not in (False, "not checked") and bool(row.get("reason"))


def _facts(row: Mapping[str, Any], parts: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    facts = [("reward", _number(row.get("reward")))] if row.get("reward") is not None else []
    facts += [(f"reward[{part['part']}]", _number(part["reward"])) for part in parts]
    facts += [("end", END_REASONS.get(row["reason"], str(row["reason"])))] if row.get("reason") else []
    costs = [(name, row.get(f"{name}_cost")) for name in ("agent", "user")]
    return facts + [(f"cost of the {name}", f"{cost:.4f}") for name, cost in costs if cost is not None]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _turns_of_calls(dialogue: Dialogue) -> list[int]:
    return [index for index, turn in enumerate(dialogue.turns) for _ in turn.calls or ()]


def _reasons(
    dialogue: Dialogue, actions: Sequence[ExpectedAction], faults: Iterable[Mapping[str, Any]]
) -> list[Reason]:
    """Why a conversation failed, as far as its record tells; of one that passed, what the user did wrong."""
    failed = dialogue.outcome is not None and dialogue.outcome.success is False
    erred = [
        Reason(f"The user erred, {_spaced(fault['kind'])}: {fault_words(fault)}", fault.get("turn"), tone="warn")
        for fault in faults
        if _is_fault(fault)
    ]
    if not failed:
        return erred
    calls = call_reasons(actions, _turns_of_calls(dialogue))
    if not calls and actions:
        calls = [Reason("Every expected call was made as expected, and the result is still wrong")]
    elif not calls and dialogue.ended.expected is not None:
        calls = [Reason("No call was expected" + (", but some were made" if made_calls(dialogue) else ""))]
    return [*calls, *erred]


def _shown_calls(dialogue: Dialogue, actions: Sequence[ExpectedAction]) -> list[list[ShownCall]]:
    """The calls of each turn, those marked that were expected with other arguments."""
    other = {action.call for action in actions if action.call is not None and not action.same}
    right = {action.call for action in actions if action.same}
    marks = dict.fromkeys(other, Badge("other arguments than expected", "bad")) | dict.fromkeys(
        right, Badge("as expected", "good")
    )
    number, turns = 0, []
    for turn in dialogue.turns:
        calls = []
        for call in turn.calls or ():
            calls.append(
                ShownCall(
                    call.name,
                    ", ".join(f"{name} {as_text(value)}" for name, value in call.given.items()),
                    _indented(call.arguments),
                    _indented(call.result),
                    call.failed,
                    marks.get(number),
                )
            )
            number += 1
        turns.append(calls)
    return turns


def _indented(value: Any) -> str:
    """A value as indented JSON, texts that hold JSON taken for what they hold; empty for nothing."""
    if not value:
        return ""
    try:
        return msgspec.json.format(msgspec.json.encode(_decoded(value)), indent=2).decode()
    except (msgspec.MsgspecError, RecursionError):
        return str(value)


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _decoded(own) for name, own in value.items()}
    if not isinstance(value, str):
        return value
    try:
        decoded = msgspec.json.decode(value)
    except msgspec.DecodeError:
        return value
    return value if isinstance(decoded, float) else decoded


def _siblings(library: RunTables, run: Run, task: Any) -> list[tuple[str, int, bool | None]]:
    import polars

    if task is None:
        return []
    frame = library.table(run, TRIALS).filter(polars.col("task") == task).sort("trial")
    rows: list[tuple[str, int, bool | None]] = frame.select("dialogue", "trial", "success").rows()
    return rows
