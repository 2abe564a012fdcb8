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
from dialgauge.trials.expected import ExpectedAction, expected_actions
from dialgauge.trials.suspects import EVIDENCE, FAULT, SIGN, SUSPECT
from dialgauge.trials.words import ENDS, FACTS, SUSPECTED, UNFAIR, evidence_words, fault_words, sign_words

AS_EXPECTED = Mark("as expected", "good")
OTHER_ARGUMENTS = Mark("other arguments than expected", "bad")
#: Letters of arguments that stand in one line; all of them are folded behind it.
_LINE = 160


def transcript(run: Run, dialogue: Dialogue) -> Transcript:
    """The messages with the calls that led to them; on top why it failed, and what its task expected."""
    trial = _row(run, "trials", dialogue.id) or {}
    blame = _blame(run, dialogue.id)
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
    for _, expected, made in (difference for action in actions for difference in _differences(action)):
        words |= {made: "bad", expected: "good"}
    success = trial.get("success")
    verdict = Mark("not judged") if success is None else Mark("passed", "good") if success else Mark("failed", "bad")
    return Transcript(
        run=run.name,
        dialogue=dialogue.id,
        marks=[verdict, Mark(f"task {trial.get('task')}, trial {trial.get('trial')}")],
        tables={name: table for name, table in tables.items() if table.rows},
        turns=list(_turns(dialogue, actions, blame)),
        words=words,
    )


def turn_of(dialogue: Dialogue, message: int) -> int | None:
    """The turn that shows a message of the log; a call is shown with the words that follow it."""
    if all(turn.source is None for turn in dialogue.turns):
        return message if message < len(dialogue.turns) else None
    shown = (number for number, turn in enumerate(dialogue.turns) if turn.source is not None and turn.source >= message)
    return next(shown, None)


def _turns(dialogue: Dialogue, actions: Sequence[ExpectedAction], blame: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    marks = {action.call: AS_EXPECTED if action.same else OTHER_ARGUMENTS for action in actions}
    message = next((row["turn"] for row in blame if row["cause"] == SUSPECT), None)
    deciding = turn_of(dialogue, message) if message is not None else None
    calls_before, last_message = 0, -1
    for number, turn in enumerate(dialogue.turns):
        calls = turn.calls or ()
        numbers = range(calls_before, calls_before + len(calls))
        source = "" if turn.source is None else f"{last_message + 1}–{turn.source}" if calls else str(turn.source)
        yield Turn(
            number=number,
            speaker="agent" if turn.speaker == "system" else turn.speaker,
            text=turn.text,
            marks=[Mark(f"message {message} is suspected", "warn")] if number == deciding else [],
            before=[_calls(calls, [marks.get(place) for place in numbers])] if calls else [],
            source=source,
        )
        calls_before += len(calls)
        last_message = last_message if turn.source is None else turn.source


def _calls(calls: Sequence[Call], marks: Sequence[Mark | None]) -> Table:
    """Tool calls in a line each; arguments and results in full are folded."""
    table = Table("", ["call", "arguments", "result", "verdict"])
    for call, mark in zip(calls, marks, strict=True):
        failed = call.failed
        result = _indented(call.result)
        arguments = ", ".join(f"{name} {value}" for name, value in call.given.items()) or str(call.arguments or "")
        size = counted(result.count("\n") + 1, "line") if result else ""
        table.add(
            Cell(call.name, tone="bad" if failed or mark is OTHER_ARGUMENTS else "plain"),
            Cell(arguments[:_LINE], fold=_indented(call.arguments)),
            Cell("error", tone="bad", fold=result) if failed else Cell(size, fold=result),
            Cell(mark.text, tone=mark.tone) if mark is not None else "",
        )
    return table


def _findings(
    run: Run, dialogue: Dialogue, blame: Sequence[Mapping[str, Any]], actions: Sequence[ExpectedAction]
) -> Table:
    """Why it failed, the gravest first, each with the turn that shows it."""
    table = Table("Why it failed", ["finding", "message"])
    match, replay = _row(run, "task_match", dialogue.id), _row(run, "replays", dialogue.id)
    if match is not None and match["match"] == "foreign":
        fits = f": it fits task {match['fits']}" if match["fits"] else ""
        table.add(Cell(f"Filed under task {match['task']}, which it does not match{fits}", tone="bad"), None)
    if replay is not None and replay["contradicts"] == "replay":
        recorded, made = (_reward(replay[name]) for name in ("recorded", "replayed"))
        words = f"Making its calls again contradicts its verdict (recorded {recorded}, replayed {made})"
        table.add(Cell(words, tone="bad"), _turn_cell(dialogue, replay["drift_message"]))
    if replay is not None and replay["contradicts"] == "parts":
        table.add(Cell("The parts stored with its reward contradict it", tone="bad"), None)
    for row in blame:
        if row["cause"] in (SUSPECT, SIGN):
            suspect = f"Suspect: {SUSPECTED[row['side']]}. " if row["cause"] == SUSPECT else ""
            words = upper_first(sign_words(row["code"], row["arguments"]))
            table.add(Cell(f"{suspect}{words}", tone="warn"), _turn_cell(dialogue, row["turn"]))
    if dialogue.outcome is None or dialogue.outcome.success is not False:
        return table
    for words in _unfair_facts(run, dialogue):
        table.add(Cell(f"Its task is unfair: {words}", tone="warn"), None)
    turns = [number for number, turn in enumerate(dialogue.turns) for _ in turn.calls or ()]
    sources = dict(enumerate(turn.source for turn in dialogue.turns))
    for action in actions:
        if action.call is None:
            table.add(Cell(f"Never called {action.name}, as was expected", tone="bad"), None)
        elif not action.same:
            names = ", ".join(name for name, _, _ in _differences(action))
            turn = turns[action.call]
            words = f"Called {action.name} with another {names} than expected"
            message = turn if sources[turn] is None else sources[turn]
            table.add(Cell(words, tone="bad"), Cell(message, link=Link(turn=turn)))
    return table


def _expected(actions: Sequence[ExpectedAction]) -> Table:
    """What the task expects beside what was made, one row for each value that differs."""
    same = sum(action.same for action in actions)
    answer = f"{same} of {counted(len(actions), 'expected call')} made as expected."
    table = Table("Expected calls", ["call", "argument", "expected", "made"], answer=answer)
    for action in actions:
        if action.call is None or action.same:
            expected = Cell(action.arguments[:_LINE], fold=_indented(action.given))
            made = Cell("as expected", tone="good") if action.same else Cell("never made", tone="bad")
            table.add(action.name, "", expected, made)
        for name, right, wrong in _differences(action):
            table.add(action.name, name, right or None, Cell(wrong or None, tone="bad"))
    return table


def _siblings(run: Run, trial: Mapping[str, Any]) -> Table:
    """All trials of the task, each leading to its conversation."""
    trials = run.table("trials").filter(pl.col("task") == trial.get("task")).sort("trial")
    table = Table(f"Trials of task {trial.get('task')}", [f"trial {number}" for number in trials["trial"]])
    if trials.height > 1:
        rows = trials.select("dialogue", "success").iter_rows()
        here = str(trial.get("dialogue"))
        links = {name: Link(dialogue=here, beside=name) if name != here else None for name in trials["dialogue"]}
        table.add(*(Cell(success, link=links[name]) for name, success in rows))
    return table


def _evidence(dialogue: Dialogue, blame: Sequence[Mapping[str, Any]]) -> Table:
    """What speaks for or against each side."""
    table = Table("Evidence on both sides", ["about", "evidence", "message"], first=5)
    for row in blame:
        if row["cause"] == EVIDENCE:
            table.add(
                row["side"] or "calls", evidence_words(row["code"], row["arguments"]), _turn_cell(dialogue, row["turn"])
            )
        elif row["cause"] == FAULT:
            table.add("user", fault_words(row["code"], row["arguments"]), _turn_cell(dialogue, row["turn"]))
    return table


def _facts(trial: Mapping[str, Any]) -> Table:
    """Reward, end and costs."""
    facts = {
        "reward": trial.get("reward"),
        "end": ENDS.get(trial.get("reason") or "", trial.get("reason")),
        "cost of the agent": trial.get("agent_cost"),
        "cost of the user": trial.get("user_cost"),
    }
    known = {
        name: f"{value:g}" if isinstance(value, float) else value for name, value in facts.items() if value is not None
    }
    return Table("How it went", ["fact", "value"], known.items())


def _goal(dialogue: Dialogue) -> Table:
    lines = dialogue.goal.instruction if dialogue.goal is not None else ()
    return Table("What the user was told", ["instruction"], [[line] for line in lines])


def _row(run: Run, table: str, dialogue: str) -> dict[str, Any] | None:
    """The row of a conversation in a table; None if there is no such table or row."""
    if table not in run.tables:
        return None
    return next(run.table(table).filter(pl.col("dialogue") == dialogue).iter_rows(named=True), None)


def _blame(run: Run, dialogue: str) -> list[dict[str, Any]]:
    """All records on a conversation."""
    return run.table("suspects").filter(dialogue=dialogue).rows(named=True) if "suspects" in run.tables else []


def _reward(reward: float | None) -> str:
    return "open" if reward is None else f"{reward:g}"


def _unfair_facts(run: Run, dialogue: Dialogue) -> Iterator[str]:
    """What is unfair about the task of a conversation."""
    trial = _row(run, "trials", dialogue.id)
    if trial is None or "task_facts" not in run.tables:
        return
    own = run.table("task_facts").filter((pl.col("task") == trial["task"]) & pl.col("fact").is_in(UNFAIR))
    for fact, about in own.select("fact", "about").iter_rows():
        yield f"{FACTS[fact]} ({', '.join(about)})" if about else FACTS[fact]


def _turn_cell(dialogue: Dialogue, message: int | None) -> Cell:
    turn = None if message is None else turn_of(dialogue, message)
    return Cell(message, link=None if turn is None else Link(turn=turn))


def _differences(action: ExpectedAction) -> list[tuple[str, str, str]]:
    """Argument, expected value and made value, wherever a call that was made differs from the expected one."""
    if action.call is None:
        return []
    expected, made = dict(_flat(action.given)), dict(_flat(action.tried))
    names = dict.fromkeys([*expected, *made])
    return [
        (name, expected.get(name, ""), made.get(name, "")) for name in names if expected.get(name) != made.get(name)
    ]


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """The single values of nested arguments: ``flights[1].flight_number``, ``HAT172``."""
    content = _decoded(value)
    if isinstance(content, Mapping):
        for key, own in content.items():
            yield from _flat(own, f"{name}.{key}".lstrip("."))
    elif isinstance(content, list):
        for place, own in enumerate(content):
            yield from _flat(own, f"{name}[{place}]")
    else:
        yield name, str(content)


def _decoded(value: Any) -> Any:
    """The content of a text that holds JSON; mappings are decoded value by value."""
    if isinstance(value, Mapping):
        return {key: _decoded(own) for key, own in value.items()}
    try:
        return msgspec.json.decode(value) if isinstance(value, str) else value
    except msgspec.DecodeError:
        return value


def _indented(value: Any) -> str:
    """A value as indented JSON; empty if there is none."""
    return msgspec.json.format(msgspec.json.encode(_decoded(value)), indent=2).decode() if value else ""
