"""One conversation of an agent: its tool calls, what its task expected, and the message that decided its fate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import polars as pl

from dialgauge.dialogue import Call, Dialogue
from dialgauge.report import Cell, Link, Mark, Table, Tone, Transcript, Turn
from dialgauge.runs import Run
from dialgauge.text import counted, upper_first
from dialgauge.trials.calls import ExpectedAction, expected_actions
from dialgauge.trials.suspects import EVIDENCE, FAULT, SIGN, SUSPECT
from dialgauge.trials.words import ENDS, FACTS, SUSPECTED, UNFAIR, evidence_words, fault_words, sign_words

AS_EXPECTED = Mark("as expected", "good")
OTHER_ARGUMENTS = Mark("other arguments than expected", "bad")
#: Letters of arguments that stand in one line; all of them are folded behind it.
_LINE = 160


def transcript(run: Run, dialogue: Dialogue) -> Transcript:
    """The messages with the calls that led to them; on top why it failed, and what its task expected."""
    trial = next(iter(_rows(run, "trials", dialogue=dialogue.id)), {})
    blame = _rows(run, "suspects", dialogue=dialogue.id)
    actions = expected_actions(dialogue)
    tables = {
        "findings": _findings(run, dialogue, blame, actions),
        "expected": _expected(actions),
        "trials": _siblings(run, trial),
        "evidence": _evidence(dialogue, blame),
        "facts": _facts(trial),
        "goal": _goal(dialogue),
    }
    words: dict[str, Tone] = {}
    for _, expected, made in (difference for action in actions for difference in action.differences):
        words |= {made: "bad", expected: "good"}
    success = trial.get("success")
    verdict = Mark("not judged") if success is None else Mark("passed", "good") if success else Mark("failed", "bad")
    return Transcript(
        run=run.name,
        dialogue=dialogue.id,
        marks=[verdict, Mark(f"task {trial['task']}, trial {trial['trial']}")] if trial else [verdict],
        tables={name: table for name, table in tables.items() if table.rows},
        turns=list(_turns(dialogue, actions, blame)),
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


def _turns(dialogue: Dialogue, actions: Sequence[ExpectedAction], blame: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    marks = {action.call: AS_EXPECTED if action.same else OTHER_ARGUMENTS for action in actions}
    message = next((row["turn"] for row in blame if row["cause"] == SUSPECT), None)
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
    table = Table("", ["call", "arguments", "result", "verdict"])
    for call, mark in zip(calls, marks, strict=True):
        result = _indented(call.result)
        size = counted(result.count("\n") + 1, "line") if result else ""
        table.add(
            Cell(call.name, tone="bad" if call.failed or mark is OTHER_ARGUMENTS else "plain"),
            Cell(_line(call.given) or str(call.arguments or "")[:_LINE], fold=_indented(call.arguments)),
            Cell("error", tone="bad", fold=result) if call.failed else Cell(size, fold=result),
            Cell(mark.text, tone=mark.tone) if mark is not None else "",
        )
    return table


def _findings(
    run: Run, dialogue: Dialogue, blame: Sequence[Mapping[str, Any]], actions: Sequence[ExpectedAction]
) -> Table:
    """Why it failed, the gravest first, each with the turn that shows it."""
    table = Table("Why it failed", ["finding", "message"])
    for match in _rows(run, "task_match", dialogue=dialogue.id, match="foreign"):
        fits = f": it fits task {match['fits']}" if match["fits"] else ""
        table.add(Cell(f"Filed under task {match['task']}, which it does not match{fits}", tone="bad"), None)
    for replay in _rows(run, "replays", dialogue=dialogue.id):
        if replay["contradicts"] == "replay":
            recorded, made = (
                "open" if replay[name] is None else f"{replay[name]:g}" for name in ("recorded", "replayed")
            )
            words = f"Making its calls again contradicts its verdict (recorded {recorded}, replayed {made})"
            table.add(Cell(words, tone="bad"), _turn_cell(dialogue, replay["drift_message"]))
        elif replay["contradicts"] == "parts":
            table.add(Cell("The parts stored with its reward contradict it", tone="bad"), None)
    for row in blame:
        if row["cause"] in (SUSPECT, SIGN):
            suspect = f"Suspect: {SUSPECTED[row['side']]}. " if row["cause"] == SUSPECT else ""
            words = upper_first(sign_words(row["code"], row["arguments"]))
            table.add(Cell(f"{suspect}{words}", tone="warn"), _turn_cell(dialogue, row["turn"]))
    if dialogue.ended.success is not False:
        return table
    for row in _rows(run, "task_facts", task=dialogue.ended.task):
        if row["fact"] in UNFAIR:
            about = f" ({', '.join(row['about'])})" if row["about"] else ""
            table.add(Cell(f"Its task is unfair: {FACTS[row['fact']]}{about}", tone="warn"), None)
    turns = [number for number, turn in enumerate(dialogue.turns) for _ in turn.calls or ()]
    for action in actions:
        if action.call is None:
            table.add(Cell(f"Never called {action.name}, as was expected", tone="bad"), None)
        elif not action.same:
            names = ", ".join(name for name, _, _ in action.differences)
            number = turns[action.call]
            source = dialogue.turns[number].source
            words = f"Called {action.name} with another {names} than expected"
            table.add(Cell(words, tone="bad"), Cell(number if source is None else source, link=Link(turn=number)))
    return table


def _expected(actions: Sequence[ExpectedAction]) -> Table:
    """What the task expects beside what was made, one row for each value that differs."""
    same = sum(action.same for action in actions)
    answer = f"{same} of {counted(len(actions), 'expected call')} made as expected."
    table = Table("Expected calls", ["call", "argument", "expected", "made"], answer=answer)
    for action in actions:
        if action.call is None or action.same:
            expected = Cell(_line(action.arguments), fold=_indented(action.arguments))
            made = Cell("as expected", tone="good") if action.same else Cell("never made", tone="bad")
            table.add(action.name, "", expected, made)
        for name, right, wrong in action.differences:
            table.add(action.name, name, right or None, Cell(wrong or None, tone="bad"))
    return table


def _siblings(run: Run, trial: Mapping[str, Any]) -> Table:
    """All trials of the task, each leading to its conversation."""
    trials = sorted(_rows(run, "trials", task=trial.get("task")), key=lambda row: row["trial"])
    columns = ["side by side", *(f"trial {row['trial']}" for row in trials)]
    table = Table(f"Trials of task {trial.get('task')}", columns)
    if len(trials) > 1:
        here, names = str(trial["dialogue"]), [row["dialogue"] for row in trials]
        links = [Link(dialogue=here, beside=(name,)) if name != here else None for name in names]
        every = Cell("all trials", link=Link(dialogue=names[0], beside=tuple(names[1:])))
        table.add(every, *(Cell(row["success"], link=link) for row, link in zip(trials, links, strict=True)))
    return table


def _evidence(dialogue: Dialogue, blame: Sequence[Mapping[str, Any]]) -> Table:
    """What speaks for or against each side."""
    table = Table("Evidence on both sides", ["about", "evidence", "message"], first=5)
    words_of = {EVIDENCE: evidence_words, FAULT: fault_words}
    for row in blame:
        if row["cause"] in words_of:
            words = words_of[row["cause"]](row["code"], row["arguments"])
            table.add(row["side"] or "calls", words, _turn_cell(dialogue, row["turn"]))
    return table


def _facts(trial: Mapping[str, Any]) -> Table:
    """Reward, end, costs and duration."""
    facts = {
        "reward": trial.get("reward"),
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


def _rows(run: Run, table: str, **only: str | None) -> list[dict[str, Any]]:
    """The rows of a table with these values; none of a table that the run does not have, or of an unknown value."""
    if table not in run.tables or None in only.values():
        return []
    return run.table(table).filter(*(pl.col(name) == value for name, value in only.items())).to_dicts()


def _turn_cell(dialogue: Dialogue, message: int | None) -> Cell:
    turn = turn_of(dialogue, message)
    return Cell(message, link=None if turn is None else Link(turn=turn))


def _line(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in arguments.items())[:_LINE]


def _indented(value: Any) -> str:
    """A value, or the JSON that a text holds, as indented JSON; empty if there is none."""
    try:
        content = msgspec.json.decode(value) if isinstance(value, str) else value
    except msgspec.DecodeError:
        content = value
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() if value else ""
