"""What a notebook shows of a dialogue, a corpus and a run: pages like any other."""

from __future__ import annotations

from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING

from dialgauge.report.page import Page
from dialgauge.report.pages import run_page
from dialgauge.report.states import Slots, recorded_slots, state_table
from dialgauge.report.table import Table
from dialgauge.report.transcript import Mark, Transcript, Turn
from dialgauge.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dialgauge.dialogue import Act, Dialogue, Goal
    from dialgauge.formats import Corpus
    from dialgauge.runs import Run

#: Dialogues of a corpus and turns of a dialogue that are shown, and letters of what opens a dialogue.
_DIALOGUES, _TURNS, _OPENING = 5, 200, 80


def run_summary(run: Run) -> Page:
    """The scores of a run."""
    return run_page(run, ["scores"])


def dialogue_summary(dialogue: Dialogue) -> Page:
    """A dialogue turn by turn with the states that it records, those that are new or wrong first."""
    turns: list[Turn] = []
    before: Slots = {}
    for number, turn in enumerate(islice(dialogue.turns, _TURNS)):
        slots = recorded_slots(turn)
        beside = [] if slots is None else [state_table(slots, before)]
        before = before if slots is None else slots
        text = turn.text or "; ".join(map(_act, turn.acts or ()))
        turns.append(Turn(number=number, speaker=turn.speaker, text=text, beside=beside))
    more = len(dialogue.turns) - _TURNS
    notes = [f"and {counted(more, 'turn')} more"] if more > 0 else []
    tables = {"about": Table("", ["fact", "value"], _about(dialogue))}
    shown = Transcript(run="", dialogue=dialogue.id, turns=turns, tables=tables, marks=_outcome(dialogue))
    return Page(title=dialogue.id, dialogues=[(shown,)], notes=notes)


def corpus_summary(corpus: Corpus) -> Page:
    """A corpus: how much it holds, what is recorded, and its first dialogues."""
    turns = [turn for dialogue in corpus for turn in dialogue.turns]
    name = PurePath(corpus.source).name or "Corpus"
    title = f"{name}: {counted(len(corpus), 'dialogue')}, {counted(len(turns), 'turn')}"
    table = Table(title, ["dialogue", "turns", "domains", "begins with"])
    for dialogue in corpus.dialogues[:_DIALOGUES]:
        opening = next((turn.text for turn in dialogue.turns if turn.text), "")
        shown = opening if len(opening) <= _OPENING else f"{opening[:_OPENING]}…"
        table.add(dialogue.id, len(dialogue.turns), ", ".join(dialogue.domains), shown)
    if len(corpus) > _DIALOGUES:
        table.notes.append(f"and {len(corpus) - _DIALOGUES:,} more")
    names = ("text", "acts", "state", "predicted")
    recorded = [f"{name} {sum(getattr(turn, name) not in (None, '') for turn in turns):,}" for name in names]
    table.notes.append(f"Format: {corpus.format}. Turns that have: {', '.join(recorded)}.")
    if corpus.notes.counts:
        counts = ", ".join(f"{what} ({count:,})" for what, count in corpus.notes.counts.items())
        table.notes.append(f"When it was read: {counts}.")
    return Page(title=title, tables={"dialogues": table})


def _about(dialogue: Dialogue) -> Iterator[tuple[str, str]]:
    if dialogue.domains:
        yield "domains", ", ".join(dialogue.domains)
    if dialogue.goal is not None:
        yield "goal", _goal(dialogue.goal)


def _outcome(dialogue: Dialogue) -> list[Mark]:
    outcome = dialogue.outcome
    if outcome is None or outcome.success is None:
        return []
    reason = f": {outcome.reason}" if outcome.reason else ""
    return [Mark(f"{'passed' if outcome.success else 'failed'}{reason}", "good" if outcome.success else "bad")]


def _goal(goal: Goal) -> str:
    wishes = []
    for domain, task in goal.tasks.items():
        asked = [f"{slot} {value}" for slot, value in {**task.info, **task.book}.items()]
        asked += [f"asks for {', '.join(task.requests)}"] if task.requests else []
        wishes.append(f"{domain}: {', '.join(asked) or 'anything'}")
    return "; ".join(wishes) or " ".join(goal.instruction).rstrip(".") or "none"


def _act(act: Act) -> str:
    slot = f"{act.slot}={'|'.join(act.values)}" if act.values else act.slot
    return f"{act.name}({', '.join(filter(None, (act.domain, slot)))})"
