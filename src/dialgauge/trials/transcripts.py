"""One conversation of an agent: its tool calls, what its task expected, and the message that decided its fate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from dialgauge.dialogue import Call, Dialogue
from dialgauge.report import Cell, Column, Link, Mark, Table, Tone, Transcript, Turn
from dialgauge.runs import Run
from dialgauge.text import counted, upper_first
from dialgauge.trials.calls import ExpectedAction, expected_actions
from dialgauge.trials.conversations import reasons, rows
from dialgauge.trials.suspects import SUSPECT
from dialgauge.trials.words import ENDS, SUSPECTED

AS_EXPECTED = Mark("as expected", "good")
OTHER_ARGUMENTS = Mark("other arguments than expected", "bad")
#: Letters of arguments that stand in one line; all of them are folded behind it.
_LINE = 160


def transcript(run: Run, dialogue: Dialogue) -> Transcript:
    """The messages with the calls that led to them; on top why it failed, and what its task expected."""
    trial = next(iter(rows(run, "trials", dialogue=dialogue.id)), {})
    suspect = next(iter(rows(run, "suspects", dialogue=dialogue.id, cause=SUSPECT)), None)
    actions = expected_actions(dialogue)
    tables = {
        "findings": _findings(run, dialogue),
        "expected": _expected(actions),
        "trials": _siblings(run, trial),
        "facts": _facts(trial),
        "goal": _goal(dialogue),
    }
    words: dict[str, Tone] = {}
    for _, expected, made in (difference for action in actions for difference in action.differences):
        words |= {made: "bad", expected: "good"}
    success = trial.get("success")
    verdict = Mark("not judged") if success is None else Mark("passed", "good") if success else Mark("failed", "bad")
    marks = [verdict, Mark(f"task {trial['task']}, trial {trial['trial']}")] if trial else [verdict]
    if suspect is not None:
        marks.append(Mark(f"suspect: {SUSPECTED[suspect['side']]}", "warn"))
    return Transcript(
        run=run.name,
        dialogue=dialogue.id,
        marks=marks,
        tables={name: table for name, table in tables.items() if table.rows},
        turns=list(_turns(dialogue, actions, None if suspect is None else suspect["turn"])),
        words=words,
    )


def turn_of(dialogue: Dialogue, message: int | None) -> int | None:
    """The turn that shows a message of the log; a call is shown with the words that follow it."""
    if message is None:
        return None
    if all(turn.source is None for turn in dialogue.turns):
        return message if message < len(dialogue.turns) else None
    shown = (number for number, turn in enumerate(dialogue.turns) if turn.source is not None and turn.source >= message)
    return next(shown, None)


def _turns(dialogue: Dialogue, actions: Sequence[ExpectedAction], message: int | None) -> Iterator[Turn]:
    """The turns; that of the message that is suspected is marked."""
    marks = {action.call: AS_EXPECTED if action.same else OTHER_ARGUMENTS for action in actions}
    deciding = turn_of(dialogue, message)
    calls_before, last_message = 0, -1
    for number, turn in enumerate(dialogue.turns):
        calls = turn.calls or ()
        source = "" if turn.source is None else f"{last_message + 1}–{turn.source}" if calls else str(turn.source)
        own = [marks.get(calls_before + place) for place in range(len(calls))]
        yield Turn(
            number=number,
            speaker="agent" if turn.speaker == "system" else turn.speaker,
            text=turn.text,
            marks=[Mark(f"message {message} is suspected", "warn")] if number == deciding else [],
            before=[_calls(calls, own)] if calls else [],
            source=source,
        )
        calls_before += len(calls)
        last_message = last_message if turn.source is None else turn.source


def _calls(calls: Sequence[Call], marks: Sequence[Mark | None]) -> Table:
    """Tool calls in a line each; arguments and results in full are folded."""
    table = Table("", ["call", "arguments", Column("result", spare=1), "verdict"])
    for call, mark in zip(calls, marks, strict=True):
        result = _indented(call.result)
        size = counted(result.count("\n") + 1, "line") if result else ""
        table.add(
            call.name,
            _arguments(call.given, call.arguments),
            Cell("error", tone="bad", fold=result) if call.failed else Cell(size, fold=result),
            Cell(mark.text, tone=mark.tone) if mark is not None else "",
        )
    return table


def _findings(run: Run, dialogue: Dialogue) -> Table:
    """Why it failed or is in doubt, the gravest reason first, each with the turn that shows it."""
    title = "Why it failed" if dialogue.ended.success is False else "What was found"
    table = Table(title, ["reason", "message"])
    for reason in reasons(run).get(dialogue.id, ()):
        turn = turn_of(dialogue, reason.message)
        message = Cell(reason.message, link=None if turn is None else Link(turn=turn))
        table.add(Cell(upper_first(reason.text), tone=reason.tone), message)
    return table


def _expected(actions: Sequence[ExpectedAction]) -> Table:
    """What the task expects beside what was made, one row for each value that differs."""
    same = sum(action.same for action in actions)
    answer = f"{same} of {counted(len(actions), 'expected call')} made as expected."
    table = Table("Expected calls", ["call", "expected", "made"], answer=answer)
    for action in actions:
        if action.call is None or action.same:
            made = Cell("as expected", tone="good") if action.same else Cell("never made", tone="bad")
            table.add(action.name, _arguments(action.arguments, action.arguments), made)
        for name, right, wrong in action.differences:
            table.add(action.name, f"{name} {right}" if right else None, Cell(f"{name} {wrong or '–'}", tone="bad"))
    return table


def _siblings(run: Run, trial: Mapping[str, Any]) -> Table:
    """All trials of the task, each leading to its conversation."""
    trials = sorted(rows(run, "trials", task=trial.get("task")), key=lambda row: row["trial"])
    columns = ["side by side", *(f"trial {row['trial']}" for row in trials)]
    table = Table(f"Trials of task {trial.get('task')}", columns)
    if len(trials) > 1:
        here, names = str(trial["dialogue"]), [row["dialogue"] for row in trials]
        links = [Link(dialogue=here, beside=(name,)) if name != here else None for name in names]
        every = Cell("all trials", link=Link(dialogue=names[0], beside=tuple(names[1:])))
        table.add(every, *(Cell(row["success"], link=link) for row, link in zip(trials, links, strict=True)))
    return table


def _facts(trial: Mapping[str, Any]) -> Table:
    """Reward, end, costs and duration."""
    facts = {
        "reward": None if trial.get("reward") in (0, 1) else trial.get("reward"),  # the verdict says as much
        "end": ENDS.get(trial.get("reason") or "", trial.get("reason")),
        "cost of the agent": trial.get("agent_cost"),
        "cost of the user": trial.get("user_cost"),
        "seconds": trial.get("seconds"),
    }
    known = {name: value for name, value in facts.items() if value is not None}
    rows = [[name, f"{value:g}" if isinstance(value, float) else value] for name, value in known.items()]
    return Table("How it went", ["fact", "value"], rows)


def _goal(dialogue: Dialogue) -> Table:
    lines = dialogue.goal.instruction if dialogue.goal is not None else ()
    return Table("What the user was told", ["instruction"], [[line] for line in lines])


def _arguments(known: Mapping[str, Any], recorded: Any) -> Cell:
    """Arguments in one line; where that does not say all of them, they are folded behind it."""
    line = ", ".join(f"{name} {value}" for name, value in known.items()) or str(recorded or "")
    says_all = len(line) <= _LINE and not any(isinstance(value, dict | list) for value in known.values())
    return Cell(line[:_LINE], fold="" if known and says_all else _indented(recorded))


def _indented(value: Any) -> str:
    """A value, or the JSON that a text holds, as indented JSON; empty if there is none."""
    try:
        content = msgspec.json.decode(value) if isinstance(value, str) else value
    except msgspec.DecodeError:
        content = value
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() if value else ""
