"""The pages there are: of a run, its dialogues, one of them, two side by side, a table; in a notebook of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.kinds import kind_named
from dialgauge.report.dialogues import PAGE, PAGE_SIZE, dialogue_list
from dialgauge.report.page import Headline, Page
from dialgauge.report.table import Link, Table
from dialgauge.report.tables import Slots, meaning_of, recorded_slots, score_cell, score_table, state_table
from dialgauge.report.transcript import Mark, Transcript, Turn
from dialgauge.report.view import made, stored_as_expected, view_of
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.dialogue import Act, Dialogue, Goal
    from dialgauge.formats import Corpus
    from dialgauge.runs import Run

#: Pairs of a dialogue and a label that people gave it.
Labels: TypeAlias = "Sequence[tuple[str, str]]"
#: Tables of a kind that the page of a run opens with.
_OPEN = 4
#: Rows of the list of dialogues on the page of a run, and of a table on a page of its own.
_SHORT_LIST, _ROWS = 10, 500
#: Dialogues of a corpus and turns of a dialogue that a notebook shows, and letters of what opens a dialogue.
_DIALOGUES, _TURNS, _OPENING = 5, 200, 80


def run_tables(run: Run) -> dict[str, Callable[[], Table | None]]:
    """All tables of a run by name: its scores, what its kind shows, its dialogues, and where it comes from."""
    return {
        "scores": lambda: score_table([run], heads=view_of(run).scores(run)) if run.scores else None,
        **{name: partial(make, run) for name, make in view_of(run).tables.items()},
        "dialogues": lambda: _short_list(run),
        "coverage": lambda: _coverage(run),
        "provenance": lambda: _provenance(run),
    }


def run_page(run: Run, names: Sequence[str] | None = None) -> Page:
    """A run with some of its tables, or with all of them."""
    view, kind = view_of(run), kind_named(run.kind)
    headline = next((name for name in kind.headline if name in run.scores), None)
    leading = list(view.tables)[:_OPEN]
    listed = [] if "failures" in view.screen else ["dialogues"]  # the list repeats what is found of each failure
    return Page(
        title=f"{run.name}: {kind.heading.lower()}",
        runs=[run.id],
        verdict=made(lambda: view.verdict(run), ""),
        headline=Headline(headline, score_cell(run.scores[headline]), meaning_of(headline, run.kind)[1])
        if headline
        else None,
        warnings=made(lambda: view.warnings(run), []),
        tables=made_tables(run_tables(run), names),
        open=["scores", *leading, *view.screen, *listed] if names is None else [],
        ways={"all dialogues": Link(only={PAGE: "1"})} if run.has_corpus else {},
        notes=run.notes,
        signature=run.signature,
    )


def screen_tables(run: Run) -> list[str]:
    """The tables that a terminal shows unless asked for others."""
    return ["scores", *view_of(run).screen]


def list_page(run: Run, only: Mapping[str, str], labels: Labels = ()) -> Page:
    """The dialogues of a run that pass the filters, a page of them."""
    dialogues = dialogue_list(run, tuple(labels))
    names = dialogues.matching(only)
    pages = max(1, -(-len(names) // PAGE_SIZE))
    number = min(int(only[PAGE]), pages) if only.get(PAGE, "").isdecimal() else 1
    asked = {name: value for name, value in only.items() if name != PAGE}
    table = dialogues.table(names[(number - 1) * PAGE_SIZE : number * PAGE_SIZE], asked)
    table.answer = dialogues.answer(names, asked)
    if pages > 1:
        table.notes.append(f"Page {number:,} of {pages:,}: {counted(len(names), 'dialogue')}.")
    ways = {"the run": Link(runs=(run.id,))}
    ways |= {"previous": Link(only={**asked, PAGE: str(number - 1)})} if number > 1 else {}
    ways |= {"next": Link(only={**asked, PAGE: str(number + 1)})} if number < pages else {}
    return Page(
        title=f"{run.name}: dialogues",
        runs=[run.id],
        tables={"dialogues": table},
        choices=dialogues.choices(only),
        ways=ways,
    )


def whole_list(run: Run, only: Mapping[str, str]) -> Page:
    """All dialogues of a run that pass the filters."""
    dialogues = dialogue_list(run)
    table = dialogues.table(dialogues.matching(only), only)
    return Page(title=f"{run.name}: dialogues", runs=[run.id], tables={"dialogues": table})


def worst_page(run: Run, most: int) -> Page:
    """The worst dialogues of a run with their errors, a line for each."""
    dialogues = dialogue_list(run)
    table = dialogues.table(dialogues.ranked[:most], {})
    return Page(title=f"{run.name}: worst dialogues", runs=[run.id], tables={"dialogues": table})


def dialogue_page(run: Run, *names: str, only: Mapping[str, str] | None = None, labels: Labels = ()) -> Page:
    """Some dialogues of a run, turn by turn; of one, with the ways through the list it was found in."""
    shown = [(transcript_of(run, name),) for name in names]
    single = shown[0][0].dialogue if len(shown) == 1 else counted(len(names), "dialogue")
    page = Page(title=f"{run.name}: {single}", runs=[run.id], dialogues=shown)
    if only is None or len(names) > 1:
        return page
    found = dialogue_list(run, tuple(labels)).matching(only)
    ways = {"the run": Link(runs=(run.id,)), "its list": Link(only={PAGE: "1", **only})}
    if single in found:
        place = found.index(single)
        near = {"previous": place - 1, "next": place + 1}
        ways |= {
            name: Link(dialogue=found[other], only=only) for name, other in near.items() if 0 <= other < len(found)
        }
        ways["its list"] = Link(only={**only, PAGE: str(place // PAGE_SIZE + 1)})
    return replace(page, ways=ways)


def side_page(runs: Sequence[Run], *names: str) -> Page:
    """One dialogue as some runs have it, or some dialogues of one run, side by side."""
    pairs = [(run, name) for run in runs for name in names]
    if len(pairs) < 2 or (len(runs) > 1 and len(names) > 1):
        raise DialgaugeError("name runs and one dialogue, or one run and some of its dialogues")
    reading = tuple(transcript_of(run, name) for run, name in pairs)
    own = [each.run for each in reading] if len(runs) > 1 else [each.dialogue for each in reading]
    whose = reading[0].dialogue if len(runs) > 1 else reading[0].run
    title = f"{whose}: {', '.join(own[:-1])} and {own[-1]}"
    return Page(title=title, runs=[run.id for run in runs], dialogues=[reading])


def table_page(run: Run, name: str, number: int) -> Page:
    """One table of a run with all of its rows, a page of them."""
    table = made_tables(run_tables(run), [name]).get(name)
    if table is None:
        raise DialgaugeError(f"run {run.id} has nothing to show as '{name}'")
    pages = max(1, -(-len(table) // _ROWS))
    start = (min(number, pages) - 1) * _ROWS
    ways = {"the run": Link(runs=(run.id,))}
    ways |= {"previous": Link(table=name, only={PAGE: str(number - 1)})} if number > 1 else {}
    ways |= {"next": Link(table=name, only={PAGE: str(number + 1)})} if number < pages else {}
    table.rows, table.first = table.rows[start : start + _ROWS], None
    return Page(title=f"{run.name}: {table.title}", runs=[run.id], tables={name: table}, ways=ways)


def run_report(run: Run, dialogues: Sequence[str]) -> Page:
    """Everything about a run and some of its dialogues, for one file."""
    return replace(run_page(run), dialogues=[(transcript_of(run, name),) for name in dialogues])


def worst_dialogues(run: Run, most: int) -> list[str]:
    """The ids of the worst dialogues of a run."""
    return dialogue_list(run).ranked[:most]


def transcript_of(run: Run, name: str) -> Transcript:
    """One dialogue of a run."""
    with stored_as_expected():
        return view_of(run).transcript(run, run.dialogue(name))


def made_tables(makers: Mapping[str, Callable[[], Table | None]], names: Sequence[str] | None) -> dict[str, Table]:
    """The tables of these names, or all there are; what the run has nothing for is left out.

    Where all are asked for, one that cannot be made says so and hides no other.
    """
    for name in names or ():
        if name not in makers:
            raise DialgaugeError(f"there is no table '{name}'.{nearest(name, makers)}")
    tables: dict[str, Table | None] = {}
    for name in makers if names is None else names:
        try:
            with stored_as_expected():
                tables[name] = makers[name]()
        except DialgaugeError as error:
            if names is not None:
                raise
            tables[name] = Table(name, [], answer=f"This table cannot be made: {error}.", tone="bad")
    return {name: table for name, table in tables.items() if table is not None}


def _short_list(run: Run) -> Table | None:
    dialogues = dialogue_list(run)
    return dialogues.table(dialogues.ranked, {}, first=_SHORT_LIST) if dialogues.ranked else None


def _coverage(run: Run) -> Table | None:
    table = Table(
        "Coverage",
        ["unit", "expected", "read", "scored", "failed"],
        answer=f"{run.coverage.sentence()}.",
        tone="good" if run.coverage.complete else "warn",
    )
    for unit, count in run.coverage.units.items():
        table.add(unit, count.expected, count.read, count.scored, count.failed)
    return table if table.rows else None


def _provenance(run: Run) -> Table:
    manifest = run.manifest
    facts = {
        "run": run.id,
        "kind": run.kind,
        "created": f"{manifest.created:%Y-%m-%d %H:%M} UTC",
        "command": " ".join(manifest.command),
        "versions": ", ".join(f"{name} {version}" for name, version in manifest.versions.items()),
        **{given.role or "input": given.path for given in manifest.inputs},
    }
    return Table("Provenance", ["fact", "value"], facts.items())


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
