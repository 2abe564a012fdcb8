"""The page of one conversation of a users run: what was said against what was heard, every verdict with its reason,
loops and their causes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from dialgauge.presentation import Badge, DialogueView, RunTables, Tone, TurnView
from dialgauge.text import counted
from dialgauge.users.acts import EQUALS
from dialgauge.users.causes import misheard
from dialgauge.users.conversations import act_text, because, loop_cause, loop_turns
from dialgauge.users.labels import meaning
from dialgauge.users.measures import FAULTS
from dialgauge.users.tables import LOST
from dialgauge.users.verdicts import COMBINED, VERDICTS

if TYPE_CHECKING:
    from dialgauge.dialogue import Act, Dialogue, Turn
    from dialgauge.runs import Run

Row = Mapping[str, Any]

_COUNTS = ("tp", "fp", "fn")
#: Faults of hearing to the kinds of rows that a page marks.
_HEARD = {"missed": "missed", "invented": "spurious"}
#: How conversations end.
ENDS = {
    "loop": Badge("ends in a loop", "bad", "when the user last spoke of anything, it was in a loop"),
    "goodbye": Badge("ends with a goodbye", "good", "the user said goodbye"),
    "open": Badge("ends open", "warn", "neither with the user's goodbye nor in a loop"),
}


class ActRow(Struct, frozen=True):
    """An act, said beside heard; ``kind`` is ``right``, ``wrong``, ``missed`` or ``spurious`` (heard, never said)."""

    kind: str
    said: str
    heard: str
    word: str


class Ruling(Struct, frozen=True):
    """Verdicts of one turn, or of none, that differ in the item only, with the points that they gave and took."""

    measure: str
    domain: str
    items: tuple[str, ...]
    verdict: str
    meaning: str
    points: str
    fault: str
    reason: str
    tone: Tone


class LoopMark(Struct, frozen=True):
    """A loop: where it stands, how often the same was said, and why."""

    turns: str
    repeats: int
    acts: str
    fault: str
    cause: str


class TalkCell(Struct, frozen=True):
    """What stands beside a turn; ``loop`` where one begins, ``inside`` one or not."""

    acts: tuple[ActRow, ...]
    listener: str
    recorded: bool
    rulings: tuple[Ruling, ...]
    loop: LoopMark | None
    inside: bool


class ScoreRow(Struct, frozen=True):
    """F1 of a measure in a domain, the counts behind it, and the lost points by fault."""

    measure: str
    domain: str
    values: tuple[float | None, ...]
    counts: tuple[int | None, ...]
    lost: tuple[int | None, ...]


class Overview(Struct, frozen=True):
    """What is true of the whole conversation."""

    scores: tuple[ScoreRow, ...]
    faults: tuple[str, ...]
    unsaid: tuple[Ruling, ...]
    loops: tuple[LoopMark, ...]
    end: Badge | None
    notes: tuple[str, ...]
    behaviours: tuple[Row, ...]
    patterns: tuple[Row, ...]
    values: tuple[Row, ...]


def dialogue_view(template: str, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
    """The words; beside each turn said against heard, the verdicts and the loop it is part of."""
    rows = library.rows(run, "loops", dialogue.id)
    loops = [row for row in rows if row["first_turn"] is not None and row["last_turn"] is not None]
    verdicts = library.rows(run, "verdicts", dialogue.id)
    by_turn: dict[int | None, list[Row]] = {}
    for row in verdicts:
        by_turn.setdefault(row["turn"], []).append(row)
    turns = []
    repetitions = [0] * len(loops)
    for index, turn in enumerate(dialogue.turns):
        inside = [number for number, loop in enumerate(loops) if loop["first_turn"] <= index <= loop["last_turn"]]
        if turn.speaker == "user":
            for number in inside:
                repetitions[number] += 1
        marks = [(loops[number], repetitions[number]) for number in inside]
        turns.append(_turn(index, turn, by_turn.get(index, []), loops, marks))
    known = set(range(len(dialogue.turns)))
    unsaid = [row for turn, rows in by_turn.items() if turn not in known for row in rows]
    overview = _overview(library, run, dialogue.id, unsaid, loops)
    return DialogueView(template, turns, overview, list(_summary(library, run, dialogue.id, verdicts)))


def _turn(
    number: int, turn: Turn, verdicts: Sequence[Row], loops: Sequence[Row], marks: Sequence[tuple[Row, int]]
) -> TurnView:
    acts = tuple(_acts(turn.acts or (), turn.heard))
    rulings = tuple(_rulings(verdicts, loops))
    begun = next((_mark(loop) for loop, _ in marks if loop["first_turn"] == number), None)
    listener = "system" if turn.speaker == "user" else "user"
    badges = []
    if lost := _lost(verdicts):
        badges.append(Badge(f"{lost:,} wrong or missing", "bad", "false positives and false negatives of this turn"))
    elif won := sum(row["tp"] or 0 for row in verdicts):
        badges.append(Badge(f"{counted(won, 'point')} won", "good", "true positives of this turn"))
    if wrong := sum(row.kind not in ("right", "plain") for row in acts):
        badges.append(Badge("misheard", "warn", f"the {listener} understood {counted(wrong, 'act')} otherwise"))
    for loop, repetition in marks:
        text = f"↻ {repetition} of {loop['repeats']} in a loop" if turn.speaker == "user" else "↻ inside a loop"
        badges.append(Badge(text, "plain", f"{loop_turns(loop)}, {loop['cause']}: {loop_cause(loop)}"))
    cell = None
    if acts or rulings or marks:
        cell = TalkCell(acts, listener, turn.heard is not None, rulings, begun, bool(marks))
    return TurnView(number, turn.speaker, turn.text, badges, cell)


def _acts(said: Sequence[Act], heard: Sequence[Act] | None) -> Iterator[ActRow]:
    """Acts in the order in which they were said, each with what was heard for it; then what nobody said."""
    if heard is None:
        yield from (ActRow("plain", act_text(act), "", "") for act in said)
        return
    errors = list(misheard(said, heard))
    for act in said:
        error = next((mishearing for mishearing in errors if mishearing.said == act), None)
        if error is None:
            yield ActRow("right", act_text(act), act_text(act), "understood")
            continue
        errors.remove(error)
        text = "" if error.heard is None else act_text(error.heard)
        word = "missed" if error.heard is None else f"another {error.fault}"
        yield ActRow(_HEARD.get(error.fault, "wrong"), act_text(act), text, word)
    yield from (
        ActRow("spurious", "", act_text(mishearing.heard), "never said")
        for mishearing in errors
        if mishearing.heard is not None
    )


def _rulings(rows: Iterable[Row], loops: Sequence[Row]) -> Iterator[Ruling]:
    """Verdicts with what they have in common told once, the lost points first."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        reason = because(row["behaviours"] or (), [] if row["turn"] is None else [row["turn"]], loops)
        key = (row["measure"], row["domain"], row["verdict"], row.get("fault"), reason)
        groups.setdefault(key, []).append(row)
    ruled = [_ruling(group, *key) for key, group in groups.items()]
    yield from sorted(ruled, key=lambda ruling: ruling.tone != "bad")


def _ruling(rows: Sequence[Row], measure: str, domain: str, verdict: str, fault: str | None, reason: str) -> Ruling:
    sums = {name: sum(row[name] or 0 for row in rows) for name in _COUNTS}
    lost = sums["fp"] + sums["fn"] > 0
    return Ruling(
        measure=measure or "",
        domain=domain or "",
        items=tuple((row["item"] or "").replace(EQUALS, " = ") for row in rows),
        verdict=verdict or "",
        meaning=next((words for name, words in VERDICTS.items() if name == verdict), ""),
        points=", ".join(f"{name.upper()} {count}" for name, count in sums.items() if count).replace("-", "−"),
        fault=fault or "",
        reason=reason,
        tone="bad" if lost else "good" if sums["tp"] else "plain",
    )


def _mark(loop: Row) -> LoopMark:
    return LoopMark(
        loop_turns(loop), loop["repeats"] or 0, ", ".join(loop["acts"] or ()), loop["cause"] or "", loop_cause(loop)
    )


def _lost(rows: Iterable[Row]) -> int:
    return sum((row["fp"] or 0) + (row["fn"] or 0) for row in rows)


def _summary(library: RunTables, run: Run, dialogue: str, verdicts: Sequence[Row]) -> Iterator[Badge]:
    for failure in library.rows(run, "failures", dialogue):
        yield Badge("not scored", "bad", failure["reason"] or "")
    if verdicts:
        lost = _lost(verdicts)
        yield Badge(f"{lost:,} wrong or missing", "bad") if lost > 0 else Badge("nothing wrong or missing", "good")


def _overview(library: RunTables, run: Run, dialogue: str, unsaid: Sequence[Row], loops: Sequence[Row]) -> Overview:
    facts = next(iter(library.rows(run, "conversation_facts", dialogue)), {})
    failures = [f"not scored: {row['reason']}" for row in library.rows(run, "failures", dialogue) if row["reason"]]
    end = facts.get("end")
    behaviours = library.rows(run, "behaviours", dialogue)
    return Overview(
        scores=tuple(_scores(library.rows(run, "domain_scores", dialogue))),
        faults=tuple(FAULTS),
        unsaid=tuple(_rulings(unsaid, loops)),
        loops=tuple(map(_mark, loops)),
        end=ENDS.get(end, Badge(f"ends: {end}")) if end else None,
        notes=(*failures, *_notes(facts)),
        behaviours=tuple(_behaviour(row) for row in behaviours),
        patterns=tuple(library.rows(run, "patterns", dialogue)),
        values=tuple(library.rows(run, "normalisation", dialogue)),
    )


def _scores(rows: Iterable[Row]) -> Iterator[ScoreRow]:
    ordered = sorted(rows, key=lambda row: (row["measure"] or "", row["domain"] == COMBINED))
    for row in ordered:
        lost = map(row.get, LOST)
        yield ScoreRow(
            row["measure"] or "", row["domain"] or "", tuple(row[name] for name in ("f1", "precision", "recall")),
            tuple(row[name] for name in _COUNTS), tuple(lost),
        )  # fmt: skip


def _notes(facts: Row) -> Iterator[str]:
    if removed := ", ".join(facts.get("requests_removed") or ()):
        yield f"the search failed, so {removed} requests are not scored"
    try:
        yield from msgspec.json.decode(facts.get("warnings") or "[]", type=list[str])
    except (msgspec.DecodeError, UnicodeDecodeError):
        yield "the warnings of this conversation are damaged"


def _behaviour(row: Row) -> Row:
    label, item = row["behaviour"] or "", (row["item"] or "").replace(EQUALS, " = ")
    return {
        **row,
        "behaviour": label,
        "item": item,
        "meaning": meaning(label),
        "at_turns": ", ".join(map(str, row["at_turns"] or ())),
    }
