"""The page of one conversation of the lab: what each side heard, what the system believed and asked its database, and
what became of every task."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.agents import END_WORDS, EXPLANATION
from dialgauge.dialogue import Act
from dialgauge.intents import OFFERING
from dialgauge.lab.blame.blame_views import blame_rows
from dialgauge.lab.facets import BLAME, OUTCOME_RULES
from dialgauge.presentation import (
    Badge,
    DialogueView,
    Reason,
    RunTables,
    StateRowReader,
    StateView,
    Tone,
    TurnView,
    capitalised,
)
from dialgauge.tasks import ALIKE, CONVERSATIONS, LOOP, OUTCOMES, REASONS, paired_items, reason_texts
from dialgauge.text import some_of
from dialgauge.values import canonical
from dialgauge.worlds.town import TOWN

if TYPE_CHECKING:
    from dialgauge.dialogue import Call, Dialogue, Task, Turn
    from dialgauge.runs import Run

#: Rows of an answer that are listed.
_MOST_ROWS = 8
#: Slots that say what is offered in the town.
_NAMES = frozenset((*TOWN.names, *(service.gives[0] for service in TOWN.services.values() if service.rows is None)))
_CALL_TONES: dict[str, Tone] = {"done": "good", "failed": "bad"}
#: Act name, slot, value in the form in which values are compared, value as it was said.
_Item: TypeAlias = tuple[str, str, str, str]
#: The parts in which what was heard rightly agrees.
_SAME = slice(0, 3)


class HeardRow(Struct, frozen=True):
    """An act and what was made of it. ``kind`` is ``right``, ``wrong`` (something else was heard), ``missed`` (it was
    not heard) or ``spurious`` (it was heard and never said)."""

    said: str
    heard: str
    kind: str


class TaskView(Struct, frozen=True):
    """What became of a task of the goal: what was wanted, what was offered when, what the user ended up with, why not.

    ``verdicts`` are (rules, mark, reason).
    """

    domain: str
    wanted: Sequence[tuple[str, str]]
    offered: Sequence[tuple[str, int]]
    entity: str
    turn: int | None
    verdicts: Sequence[tuple[str, Badge, str]]


class OtherTrial(Struct, frozen=True):
    """Another conversation about the same goal."""

    dialogue: str
    here: bool
    marks: Sequence[Badge]


class LabOverview(Struct, frozen=True):
    """The tasks, how the conversation went (name, value), and the trials of the same goal."""

    tasks: Sequence[TaskView]
    went: Sequence[tuple[str, str]]
    trials: Sequence[OtherTrial]


class CallView(Struct, frozen=True):
    """A call to the database."""

    name: str
    outcome: Badge
    arguments: Mapping[str, str]
    rows: str
    result: Mapping[str, str]


class LabCell(Struct, frozen=True):
    """What stands beside a turn: acts, what the other side made of them, states, and calls before it.

    ``heard`` is None where nobody recorded it; ``alike`` of what was said was heard as it was said.
    """

    acts: Sequence[str] | None
    listener: str
    heard: Sequence[HeardRow] | None
    alike: int
    states: StateView | None
    calls: Sequence[CallView]


def dialogue_view(template: str, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
    """Both sides turn by turn, and above them what became of every task."""
    outcomes = library.rows(run, OUTCOMES, dialogue.id)
    conversation = next(iter(library.rows(run, CONVERSATIONS, dialogue.id)), {})
    reader = StateRowReader()
    reasons = library.rows(run, REASONS, dialogue.id)
    blamed = blame_rows(library.rows(run, BLAME, dialogue.id), reasons)
    turns = [_with_blame(_turn(index, turn, reader), blamed) for index, turn in enumerate(dialogue.turns)]
    overview = LabOverview(
        list(_tasks(outcomes, reason_texts(reasons), dialogue, run.manifest.config.get("names") or _NAMES)),
        list(_went(conversation, dialogue)),
        _trials(library, run, conversation),
    )
    return DialogueView(template, turns, overview, list(_marks(conversation)), reasons=list(_reasons(blamed, reasons)))


def _reasons(blamed: Iterable[Mapping[str, Any]], reasons: Sequence[Mapping[str, Any]]) -> Iterator[Reason]:
    """Whose fault a failure was; where nobody is blamed, what the strict rules say."""
    explained = False
    for row in blamed:
        explained = True
        domain = f" ({row['domain']})" if row["domain"] else ""
        yield Reason(capitalised(f"{cause_words(row)}{domain}: {row['sentence']}"), row["turn"])
    if not explained:
        for (_, failed, rule), text in reason_texts(reasons).items():
            if rule == "strict":
                yield Reason(capitalised(f"{failed or 'a task'}: {text}"))


def cause_words(row: Mapping[str, Any]) -> str:
    """Side and cause of a row of blame."""
    return f"{row['side'] or 'unclear'}: {row['cause'] or 'unclear'}".replace("_", " ")


def _with_blame(turn: TurnView, rows: Iterable[Mapping[str, Any]]) -> TurnView:
    """The turn with a mark where a failure began."""
    marks = [Badge(f"blame, {cause_words(row)}", "bad", row["sentence"]) for row in rows if row["turn"] == turn.place]
    return replace(turn, badges=[*turn.badges, *marks]) if marks else turn


def _turn(number: int, turn: Turn, reader: StateRowReader) -> TurnView:
    rows = None if turn.acts is None or turn.heard is None else heard_rows(turn.acts, turn.heard)
    alone = turn.heard if turn.acts is None else None
    listener = "system" if turn.speaker == "user" else "user"
    cell = LabCell(
        acts=None if turn.acts is None else act_words(turn.acts),
        listener=listener,
        heard=rows if alone is None else [HeardRow("", words, "right") for words in act_words(alone)],
        alike=0 if rows is None else sum(row.kind == "right" for row in rows),
        states=reader.read(turn) if turn.speaker == "user" else None,
        calls=[_call(call) for call in turn.calls or ()],
    )
    return TurnView(number, turn.speaker, turn.text, list(_turn_marks(cell)), cell)


def _turn_marks(cell: LabCell) -> Iterator[Badge]:
    if cell.heard is not None and cell.acts is not None and (wrong := len(cell.heard) - cell.alike):
        yield Badge(f"{wrong} misheard", "warn", f"the {cell.listener} heard something other than what was said")
    if cell.states is not None:
        yield from cell.states.badges()
    for call in cell.calls:
        if call.outcome.tone == "bad":
            yield Badge(f"{call.name}: {call.outcome.text}", "bad")


def _call(call: Call) -> CallView:
    tone = "warn" if call.found == 0 else _CALL_TONES.get(call.outcome, "plain")
    return CallView(
        f"{call.name} {call.domain}".strip(),
        Badge(call.outcome_words or "no outcome recorded", tone),
        call.arguments,
        f"{'row' if len(call.rows) == 1 else 'rows'} {some_of(map(str, call.rows), _MOST_ROWS)}" if call.rows else "",
        call.values,
    )


def _tasks(
    outcomes: Sequence[Mapping[str, Any]],
    whys: Mapping[tuple[str | None, str | None, str | None], str],
    dialogue: Dialogue,
    names: Collection[str],
) -> Iterator[TaskView]:
    tasks = dialogue.goal.tasks if dialogue.goal else {}
    offers = _offers(dialogue.turns, names)
    for domain in dict.fromkeys([*tasks, *(row["domain"] or "unknown" for row in outcomes)]):
        rows = [row for row in outcomes if (row["domain"] or "unknown") == domain]
        verdicts = [
            (rule or "", verdict_badge(row["success"]), whys.get((row["dialogue"], row["domain"], rule), ""))
            for row in rows
            for rule in [row["rule"]]
        ]
        settled = next((row for row in rows if row["entity"]), None)
        yield TaskView(
            domain,
            _wanted(tasks[domain]) if domain in tasks else [],
            list(offers.get(domain, {}).items()),
            settled["entity"] if settled else "",
            settled["turn"] if settled else None,
            verdicts,
        )


def _wanted(task: Task) -> list[tuple[str, str]]:
    return [*task.info.items(), *((f"book {slot}", value) for slot, value in task.book.items())]


def _offers(turns: Sequence[Turn], names: Collection[str]) -> dict[str, dict[str, int]]:
    """By domain what the system named, each with the turn in which it was named first."""
    offers: dict[str, dict[str, int]] = {}
    for index, turn in enumerate(turns):
        if turn.speaker != "system":
            continue
        booked = next((call.domain for call in reversed(turn.calls or ()) if call.name == "book"), "")
        for act in (turn.acts if turn.acts is not None else turn.heard) or ():
            if act.slot in names and act.intent in OFFERING:
                domain = (booked or act.domain) if act.domain == "booking" else act.domain
                for value in act.values:
                    offers.setdefault(domain, {}).setdefault(value, index)
    return offers


def verdict_badge(success: bool | None, name: str = "") -> Badge:
    """Whether something was done, perhaps by which rules."""
    word = "not judged" if success is None else "done" if success else "not done"
    tone: Tone = "plain" if success is None else "good" if success else "bad"
    return Badge(f"{name}: {word}" if name else word, tone)


def _verdicts(conversation: Mapping[str, Any]) -> Iterator[Badge]:
    return (verdict_badge(conversation[rules], rules) for rules in OUTCOME_RULES)


def _marks(conversation: Mapping[str, Any]) -> Iterator[Badge]:
    if not conversation:
        return
    yield from _verdicts(conversation)
    if (conversation["longest_run"] or 0) >= LOOP:
        yield Badge(f"loop: the same user turn {conversation['longest_run']} times in a row", "warn")


def _went(conversation: Mapping[str, Any], dialogue: Dialogue) -> Iterator[tuple[str, str]]:
    outcome = dialogue.outcome
    reason = conversation.get("reason") or (outcome.reason if outcome else "")
    if reason:
        yield "end", END_WORDS.get(reason, reason)
    if by := conversation.get("ended_by") or (outcome.ended_by if outcome else ""):
        yield "ended by", f"the {by}" if by in ("user", "system", "session") else by
    if outcome is not None and outcome.facts.get(EXPLANATION):
        yield "what failed", outcome.facts[EXPLANATION]
    if not conversation:
        return
    believes = {True: "that it is done", False: "that it is not done", None: "nothing known"}
    yield "the user believes", believes[conversation["complete"]]
    names = {
        "exchanges": "exchanges", "utterances": "utterances", "repeated_constraints": "constraints said again",
        "repeated_requests": "requests said again", "longest_run": "longest run of one user turn",
    }  # fmt: skip
    for column, name in names.items():
        if conversation[column] is not None:
            yield name, f"{conversation[column]:,}"


def _trials(library: RunTables, run: Run, conversation: Mapping[str, Any]) -> list[OtherTrial]:
    """The conversations about the same goal, where there are several."""
    goal = conversation.get("goal")
    if not goal:
        return []
    same = library.table(run, CONVERSATIONS).filter(pl.col("goal") == goal).to_dicts()
    trials = [
        OtherTrial(name, name == conversation["dialogue"], list(_verdicts(row)))
        for row in same
        if (name := row["dialogue"]) is not None
    ]
    return trials if len(trials) > 1 else []


def heard_rows(said: Sequence[Act], heard: Sequence[Act]) -> list[HeardRow]:
    """Both sides in pairs: the same first; of the rest acts with the same slot and value, then the same act and slot
    (another value was heard), then the same value. What has no partner was missed, or is spurious."""
    lost, invented = list(_items(said)), list(_items(heard))
    rows = [
        HeardRow(_words(row), _words(other), "right" if parts == _SAME else "wrong")
        for parts in (_SAME, *ALIKE)
        for row, other in paired_items(lost, invented, parts)
    ]
    rows += [HeardRow(_words(item), "", "missed") for item in lost]
    return rows + [HeardRow("", _words(item), "spurious") for item in invented]


def act_words(acts: Sequence[Act]) -> list[str]:
    """Acts as people read them, one for each value."""
    return [_words(item) for item in _items(acts)]


def _items(acts: Sequence[Act]) -> Iterator[_Item]:
    return ((act.name, act.slot, canonical(value), value) for act in acts for value in act.values or ("",))


def _words(item: _Item) -> str:
    name, slot, _, value = item
    words = f"{name} {slot}".strip()
    return f"{words} = {value}" if value else words
