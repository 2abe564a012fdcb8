"""Single dialogues turn by turn: what was said, the slots that differ, whether the turn is right, and its error type.

The layout is that of the FGA paper's human evaluation, with the differences in place of two whole states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from dialgauge.dialogue import Dialogue, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Measure, parse_measure
from dialgauge.runs import WorstFirst, worst_first
from dialgauge.text import counted
from dialgauge.tracking.fga import EXACT, TYPE1, default_rule, error_types, turns_since_error, weights
from dialgauge.tracking.measures import averages_slots
from dialgauge.tracking.tables import PREDICTIONS, SLOT_ERRORS, TURN_SCORES

if TYPE_CHECKING:
    from dialgauge.runs import Run
    from dialgauge.tracking.tracked_system import TrackedSystem

LINE = "-" * 22
#: What turns are weighed by, and what ranks dialogues where nobody names a measure and the run has none that single
#: dialogues have.
_RATE = 0.5
WORST_BY = f"FGA@{_RATE}"


def ranking_measure(text: str) -> Measure[Any]:
    """The measure that dialogues are ranked by: one that single dialogues have."""
    measure = parse_measure(text, "tracking")
    _require_dialogues(measure)
    return measure


def _require_dialogues(measure: Measure[Any]) -> None:
    if averages_slots(measure):
        raise DialgaugeError(f"{measure} has no value for single dialogues; choose another measure for --worst-by")


def worst_ranking(system: TrackedSystem, measure: Measure[Any] | None = None) -> WorstFirst:
    """The dialogues from the worst on by a measure, or by what every page of the run ranks them by."""
    if measure is not None:
        _require_dialogues(measure)
    ranking = worst_first(system.run, None if measure is None else str(measure))
    return ranking or _by_counts(system, measure or parse_measure(WORST_BY, "tracking"))


def _by_counts(system: TrackedSystem, measure: Measure[Any]) -> WorstFirst:
    """The same by a measure that the run was not scored by; its own ranking decides among equals."""
    counts = system.counts
    if why := measure.obstacle(counts):
        raise DialgaugeError(f"{measure} cannot be computed: {why}", file=system.name)
    above, below = measure.sums(counts)
    scored = np.flatnonzero(below > 0)
    values = above[scored] / below[scored]
    sign = -1.0 if measure.card.higher_is_better is False else 1.0
    ids = system.run.table(TURN_SCORES)["dialogue"].to_numpy()[counts.first][scored].astype(str)
    usual = worst_first(system.run)
    rank = {name: index for index, name in enumerate(usual.dialogues)} if usual is not None else {}
    ranks = np.array([rank.get(name, len(rank)) for name in ids.tolist()], np.int64)
    order = np.lexsort((ids, ranks, sign * values))
    keys = [str(measure), *(usual.keys if usual is not None else [])]
    return WorstFirst(str(measure), keys, ids[order].tolist(), values[order].tolist())


def layout(system: TrackedSystem, dialogue: str) -> str:
    """One dialogue as text: what was said, the slots that differ, the error type and the FGA weight of every turn.

    Values are as the profile compares them.
    """
    gold, counts = _dialogue(system.run, dialogue), system.counts
    types = error_types(counts, default_rule(counts))
    since = turns_since_error(counts, types, np.arange(len(counts)))
    weight = weights(counts, _RATE, default_rule(counts))
    flags = system.details.evidence.flags
    wrong = {} if flags else _wrong_slots(system.run, gold.id)
    exchanges = list(_with_replies(gold))
    lines = [f"Dialogue ID : {gold.id}", LINE]
    for row, (state, text) in predicted_states(system.run, gold.id).items():
        turn = int(counts.turn[row])
        reply, user = exchanges[turn]
        lines += [f"Turn: {turn}", f"Sys : {reply}", f"Usr : {user.text or text}", ""]
        if state is None:
            lines.append("(no prediction)")
        if flags:
            lines += [] if state is None else [_verdicts(state)]
        else:
            lines += [f"right    : {counted(int(counts.turns.correct[row]), 'slot')}", *wrong.get(turn, ())]
        lines += ["", f"Matched : {bool(counts.exact[row])}"]
        lines.append(_error(int(types[row]), float(since[row]), float(weight[row])))
        lines += ["", LINE]
    return "\n".join(lines)


def _dialogue(run: Run, name: str) -> Dialogue:
    key = dialogue_key(name)
    for dialogue in run.dialogues():
        if dialogue_key(dialogue.id) == key:
            return dialogue
    raise DialgaugeError("the run has no such dialogue", dialogue=name)


def predicted_states(run: Run, dialogue: str) -> dict[int, tuple[Any, str]]:
    """By row of the turn, the same as in ``turn_scores``: what was predicted, and the user's words if gold lacks them.

    None where nothing was predicted.
    """
    frame = run.table(PREDICTIONS).with_row_index("row")
    rows = frame.filter(frame["dialogue"] == dialogue).select("row", "state", "text").iter_rows()
    return {row: (None if state is None else msgspec.json.decode(state), text or "") for row, state, text in rows}


def _error(kind: int, since: float, weight: float) -> str:
    if kind == EXACT:
        return f"Error   : none; {WORST_BY} weight 1"
    if kind == TYPE1:
        return f"Error   : type 1, made in this turn; {WORST_BY} weight 0"
    origin = f"{counted(int(since), 'turn')} after the last new error" if np.isfinite(since) else "no earlier error"
    return f"Error   : type 2, carried over, {origin}; {WORST_BY} weight {weight:.4f}"


def user_turns(run: Run, dialogue: str) -> list[tuple[str, Turn]]:
    """Each user turn of a dialogue with the system's words before it."""
    return list(_with_replies(_dialogue(run, dialogue)))


def _with_replies(dialogue: Dialogue) -> Iterator[tuple[str, Turn]]:
    """Each user turn with the system's words before it."""
    reply = ""
    for turn in dialogue.turns:
        if turn.speaker == "user":
            yield reply, turn
            reply = ""
        else:
            reply = f"{reply} {turn.text}".strip()


def _wrong_slots(run: Run, dialogue: str) -> dict[int, list[str]]:
    """By number of the user turn: the slots that are wrong, missed or spurious, with gold and predicted value."""
    frame = run.table(SLOT_ERRORS)
    rows = frame.filter(frame["dialogue"] == dialogue).select(
        "user_turn", "kind", "domain", "slot", "gold", "predicted"
    )
    wrong: dict[int, list[str]] = {}
    for turn, kind, domain, slot, gold, predicted in rows.iter_rows():
        values = f"{gold} -> {predicted}" if kind == "wrong" else gold or predicted
        wrong.setdefault(turn, []).append(f"{kind:<8} : {domain}-{slot}: {values}")
    order = {"wrong": 0, "missed": 1, "spurious": 2}
    return {turn: sorted(lines, key=lambda line: order[line.split()[0]]) for turn, lines in wrong.items()}


def _verdicts(judged: Mapping[str, Mapping[str, bool]]) -> str:
    wrong = [f"{domain}-{slot}" for domain, slots in judged.items() for slot, right in slots.items() if not right]
    return f"wrong    : {', '.join(wrong)}" if wrong else "right    : all slots"
