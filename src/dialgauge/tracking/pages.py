"""What tracking runs show: gold and predicted states side by side, differences by kind, and where errors begin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue, State
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Signature
from dialgauge.presentation import (
    Badge,
    Breakdown,
    DialogueRows,
    DialogueView,
    Facet,
    Glossary,
    Reason,
    RunPages,
    RunTables,
    SlotRow,
    Slots,
    Tone,
    TurnView,
    columns,
    first_scores,
    known,
    listed,
    percent,
    quoted,
    scored_units,
    slot_rows,
    value_with_interval,
)
from dialgauge.rendering import Table, error_onset, plain
from dialgauge.runs import Run
from dialgauge.text import counted
from dialgauge.tracking.tables import KIND_WORDS
from dialgauge.values import Profile, profile_named

_ERRORS, _TURNS, _PREDICTIONS, _REWORDINGS = "slot_errors", "turn_scores", "predictions", "slot_rewordings"

#: What flexible goal accuracy calls a turn.
_TYPES = {
    "type1": Badge(
        "new error (type 1)",
        "bad",
        "FGA counts it as a new error: the turn before was exact, or a slot that changed is wrong",
    ),
    "type2": Badge("error carried over (type 2)", "warn", "FGA counts it as an earlier error carried over"),
    "exact": Badge("exact", "good", "the predicted state is the gold state"),
}
_WRONG = Badge("wrong", "bad", "the predicted state is not the gold state")
_FGA = "FGA@"
#: How bars of errors are tinted.
_TONES: Mapping[str, Tone] = {"wrong": "bad", "missed": "plain", "spurious": "warn"}


@dataclass(frozen=True)
class StateCell:
    """What stands beside a user turn: its slots that are new or wrong, the others, and what the turn weighs."""

    rows: tuple[SlotRow, ...]
    rest: tuple[SlotRow, ...]
    weights: Mapping[str, float]
    exact: bool

    def alike(self, row: SlotRow) -> bool:
        """Whether this cell has the slot with the same values, new or not."""
        return any(
            slot_row.slot == row.slot and slot_row.predicted == row.predicted for slot_row in (*self.rows, *self.rest)
        )


class TrackingPages(RunPages):
    """Tracking runs."""

    template = "dialgauge.tracking:pages.html"
    facets = (
        Facet("error", "kind of error", _ERRORS, ("kind",), words=KIND_WORDS),
        Facet("slot", "slot with an error", _ERRORS, ("domain", "slot")),
        Facet(
            "type", "has a turn", _TURNS, ("error_type",), words={code: badge.text for code, badge in _TYPES.items()}
        ),
    )

    breakdowns = (
        Breakdown("Errors by slot", "slot", parts="error", tones=_TONES, note="dialogues with an error in the slot"),
        Breakdown("Turns by kind of error", "type", note="dialogues with such a turn"),
    )

    def dialogue(self, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
        """The words, and beside each user turn both states."""
        scores = {row["turn"]: row for row in library.rows(run, _TURNS, dialogue.id)}
        states: dict[int, State] = {}
        for stored in library.rows(run, _PREDICTIONS, dialogue.id):
            with suppress(msgspec.DecodeError):  # what is no state is shown as none
                states[stored["turn"]] = msgspec.json.decode(stored["state"] or "{}", type=State)
        errors = _by_turn(library.rows(run, _ERRORS, dialogue.id))
        reworded = _by_turn(library.rows(run, _REWORDINGS, dialogue.id))
        profile = _profile_of(run)
        turns: list[TurnView] = []
        before: Slots = {}
        for index, turn in enumerate(dialogue.turns):
            row = scores.get(index)
            cell, badges = None, []
            if row is not None:
                state = _named_alike(states.get(index, {}), profile)
                slots = _slots(errors.get(index, {}), reworded.get(index, {}), state)
                weights = {name: row[name] for name in row if name.startswith(_FGA)}
                cell, before = StateCell(*slot_rows(slots, before), weights, bool(row["exact"])), slots
                badges = [_TYPES["exact"] if row["exact"] else _TYPES.get(row["error_type"], _WRONG)]
            turns.append(TurnView(index, turn.speaker, turn.text, badges, cell))
        first = [Reason(words, turn) for turn, words in _first_errors(errors)]
        return DialogueView(self.template, turns, badges=list(_summary(scores.values())), reasons=first)

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """Scores by domain and by slot, and where it goes wrong."""
        from dialgauge.tracking.results import TrackingRuns

        if not {_TURNS, _ERRORS, "slot_scores", "part_scores"} <= set(run.tables) or not run.tables[_TURNS].rows:
            return []
        return TrackingRuns([run]).tables(by=["domain", "slot"], faults=True)[1:]

    def charts(self, library: RunTables, run: Run) -> Mapping[str, Callable[[], Any]]:
        """Where in a dialogue the first error falls."""
        known = {_TURNS, _ERRORS} <= set(run.tables) and run.tables[_TURNS].rows
        return {"first error": partial(_onset_chart, run)} if known else {}

    def sentences(self, run: Run, words: Glossary) -> Iterator[str]:
        """How many turns are exactly right, how many dialogues are, and which slots are wrong."""
        exact = known(run, "JGA")
        if exact is not None:
            sure = ", no interval" if exact.low is None else ""
            of = f" of {dialogues}" if (dialogues := scored_units(run, "dialogues")) else ""
            about = f"{value_with_interval(exact)} of the turns{of} exactly right"
            yield f"{plain(run.name)} gets {about}: {words.said('JGA')}{sure}"
        else:
            yield from first_scores(run, words)
        frame = columns(run, "turn_scores", text=("dialogue",), number=("exact",))
        if frame is not None and frame.height:
            perfect = frame.group_by("dialogue").min()["exact"] > 0
            right, every = int(perfect.sum()), len(perfect)
            yield f"In {right:,} of {counted(every, 'dialogue')} ({percent(right, every)}) every turn is right"
        yield from _slot_errors(run)

    def went_wrong(self, tables: DialogueRows, dialogue: str) -> str:
        """The first slot that is wrong."""
        text = ("domain", "slot", "kind", "gold", "predicted")
        rows = tables.rows(_ERRORS, dialogue, text=text, number=("turn",))
        if rows is None or not rows.height:
            return ""
        _, domain, slot, kind, gold, predicted, turn = rows.sort("turn", maintain_order=True).row(0)
        what = {
            "wrong": f"is {quoted(predicted)}, not {quoted(gold)}", "missed": "is missed", "spurious": "is spurious",
        }  # fmt: skip
        where = f"{plain(domain or '')}-{plain(slot or '')}"
        return f"first, in turn {turn:.0f}, {where} {what.get(kind, plain(kind or ''))}"


def _first_errors(errors: Mapping[int, Mapping[str, Mapping[str, Any]]]) -> Iterator[tuple[int, str]]:
    """What is wrong in the first turn that has an error, in words."""
    if not errors:
        return
    turn = min(errors)
    each = []
    for slot, row in errors[turn].items():
        predicted, gold = quoted(row["predicted"]), quoted(row["gold"])
        words = {"missed": f"is missed (gold {gold})", "spurious": f"is {predicted}, and nobody asked for it"}
        each.append(f"{slot} {words.get(row['kind'], f'is {predicted}, not {gold}')}")
    yield turn, f"The first error: {listed(each, 4)}"


def _by_turn(rows: Iterable[Mapping[str, Any]]) -> dict[int, dict[str, Mapping[str, Any]]]:
    turns: dict[int, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        turns.setdefault(row["turn"], {})[f"{row['domain']}-{row['slot']}"] = row
    return turns


def _profile_of(run: Run) -> Profile | None:
    """The profile under which the run was scored; None where this program does not have the very same one."""
    try:
        label = Signature.parse(run.signature).get("profile", "")
        profile = profile_named(label.partition("@")[0])
    except DialgaugeError:
        return None
    return profile if profile.label == label else None


def _named_alike(state: State, profile: Profile | None) -> dict[str, str]:
    """The predicted slots under the names by which they are compared, as the tables of errors have them."""
    if profile is None:
        return {
            f"{domain}-{slot}": " | ".join(values) for domain, slots in state.items() for slot, values in slots.items()
        }
    named = {}
    for domain, slots in state.items():
        for slot, values in slots.items():
            pair = profile.pair(domain, slot)
            compared = profile.normalise(pair, values, "predicted") if pair is not None else ()
            if pair is not None and compared:
                named["-".join(pair)] = " | ".join(compared)
    return named


def _slots(
    errors: Mapping[str, Mapping[str, Any]], reworded: Mapping[str, Mapping[str, Any]], state: Mapping[str, str]
) -> Slots:
    """Each slot with its gold value, its predicted value and the kind of error; a slot without an error is right."""
    right = {
        name: (str(reworded[name]["gold"]) if name in reworded else value, value, "right")
        for name, value in state.items()
        if name not in errors
    }
    wrong = {
        name: (row["gold"] or "", row["predicted"] or "", row["kind"] if row["kind"] in KIND_WORDS else "wrong")
        for name, row in errors.items()
    }
    return dict(sorted((right | wrong).items()))


def _summary(rows: Iterable[Mapping[str, Any]]) -> Iterator[Badge]:
    turns = list(rows)
    exact = sum(row["exact"] for row in turns)
    if turns:
        yield Badge(f"{exact} of {counted(len(turns), 'user turn')} exact", "good" if exact == len(turns) else "warn")
    for kind, column in (("missed", "missed"), ("spurious", "spurious"), ("wrong value", "wrong_value")):
        if count := max((row[column] for row in turns), default=0):
            yield Badge(f"up to {count} {kind}", "bad")


def _onset_chart(run: Run) -> Any:
    from dialgauge.tracking.tracked_system import TrackedSystem

    counts = TrackedSystem(run).faults.first_errors().histogram()
    return error_onset(counts, note=f"{sum(counts):,} of them end with a wrong state")


#: Kinds of slot errors, by the column that counts them.
_ERROR_COLUMNS = {"missed": "missed slots", "spurious": "spurious slots", "wrong_value": "wrong values"}


def _slot_errors(run: Run) -> Iterator[str]:
    import polars as pl

    frame = columns(run, "slot_scores", text=("domain", "slot"), number=tuple(_ERROR_COLUMNS))
    if frame is None:
        return
    totals = {kind: float(frame[column].sum()) for column, kind in _ERROR_COLUMNS.items()}
    every = sum(totals.values())
    if not every:
        yield "No slot is ever wrong"
        return
    kinds = [
        f"{kind} ({percent(count, every)})"
        for kind, count in sorted(totals.items(), key=lambda pair: -pair[1])
        if count
    ]
    first, *others = kinds
    by_slot = frame.group_by("domain", "slot").agg(wrong=pl.sum_horizontal(pl.col(*_ERROR_COLUMNS).sum()))
    domain, slot, wrong = by_slot.sort("wrong", "domain", "slot", descending=[True, False, False]).row(0)
    where = "-".join(filter(None, [domain, slot]))
    then = f", then {listed(others)}" if others else ""
    yield (
        f"Most errors are {first}{then}; the slot most often wrong is {plain(where)} "
        f"({percent(wrong, every)} of {counted(int(every), 'error')}, turn by turn)"
    )


PAGES = TrackingPages()
