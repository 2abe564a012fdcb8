"""Single dialogues turn by turn, in the layout of the FGA paper's human evaluation, with error type and weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dialgauge.dialogue import Dialogue, State, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.tracking.align import number
from dialgauge.tracking.fga import EXACT, TYPE1, default_rule, error_types, turns_since_error, weights
from dialgauge.tracking.measures.base import Measure
from dialgauge.tracking.measures.registry import parse_measure
from dialgauge.tracking.results import SystemScores
from dialgauge.tracking.study import System

_RULE = "-" * 22


def ranking_measure(text: str) -> Measure:
    """The measure that dialogues are ranked by: one that single dialogues have."""
    measure = parse_measure(text)
    _require_dialogues(measure)
    return measure


def _require_dialogues(measure: Measure) -> None:
    if measure.grouped:
        raise DialgaugeError(f"{measure} has no value for single dialogues; choose another measure for --worst-by")


def worst_dialogues(scores: SystemScores, measure: Measure, most: int) -> list[tuple[str, float]]:
    """The dialogues with the lowest value of a measure; longer ones first among equals."""
    _require_dialogues(measure)
    counts, ids = scores.comparison.counts, scores.comparison.aligned.ids
    if why := measure.obstacle(counts):
        raise DialgaugeError(f"{measure} cannot be computed: {why}", file=scores.name)
    above, below = measure.by_dialogue(counts)
    scored = np.flatnonzero(below > 0)
    values = above[scored] / below[scored]
    sign = 1.0 if measure.card.higher_is_better else -1.0
    turns = np.bincount(counts.dialogue, minlength=counts.dialogues)[scored]
    order = np.lexsort((np.array(ids, dtype=object)[scored].astype(str), -turns, sign * values))[:most]
    return [(ids[scored[place]], float(values[place])) for place in order.tolist()]


def layout(scores: SystemScores, system: System, dialogue: str, rate: float = 0.5) -> str:
    """One dialogue as text: what was said, both states, whether they match, the error type and the FGA weight."""
    gold, predicted = _find(system.gold_dialogues, dialogue), _find(system.dialogues, dialogue)
    comparison = scores.comparison
    counts = comparison.counts
    types = error_types(counts, default_rule(counts))
    since, weight = turns_since_error(counts, types), weights(counts, rate, default_rule(counts))
    place = comparison.aligned.ids.index(gold.id)
    rows = np.flatnonzero(counts.dialogue == place).tolist()
    said, theirs = list(_with_replies(gold)), list(predicted.user_turns())
    lines = [f"Dialogue ID : {gold.id}", _RULE]
    for row in rows:
        turn = int(counts.turn[row])
        reply, user = said[turn]
        other = theirs[turn] if turn < len(theirs) else None
        lines += [f"Turn: {turn}", f"Sys : {reply}", f"Usr : {user.text or (other.text if other else '')}", ""]
        lines += [f"GT  : {_flat(user.state)}", f"PR  : {_predicted(other, system)}", ""]
        lines.append(f"Matched : {bool(counts.exact[row])}")
        lines.append(_error(int(types[row]), float(since[row]), float(weight[row]), rate))
        lines += ["", _RULE]
    return "\n".join(lines)


def _error(kind: int, since: float, weight: float, rate: float) -> str:
    if kind == EXACT:
        return f"Error   : none; FGA@{rate:g} weight 1"
    if kind == TYPE1:
        return f"Error   : type 1, made in this turn; FGA@{rate:g} weight 0"
    origin = f"{number(int(since), 'turn')} after the last new error" if np.isfinite(since) else "no earlier error"
    return f"Error   : type 2, carried over, {origin}; FGA@{rate:g} weight {weight:.4f}"


def _with_replies(dialogue: Dialogue) -> Iterator[tuple[str, Turn]]:
    """Each user turn with the system's words before it."""
    reply = ""
    for turn in dialogue.turns:
        if turn.speaker == "user":
            yield reply, turn
            reply = ""
        else:
            reply = f"{reply} {turn.text}".strip()


def _predicted(turn: Turn | None, system: System) -> str:
    if turn is None:
        return "(no prediction)"
    if system.predicted.kind == "judged":
        wrong = [f"{d}-{s}" for d, slots in (turn.judged or {}).items() for s, right in slots.items() if not right]
        return "wrong: " + ", ".join(wrong) if wrong else "all right"
    return _flat(turn.predicted if system.predicted.kind == "predicted" else turn.state)


def _flat(state: State | None) -> str:
    if state is None:
        return "(none)"
    return str({domain: {slot: "|".join(v) for slot, v in slots.items()} for domain, slots in state.items()})


def _find(dialogues: Sequence[Dialogue], name: str) -> Dialogue:
    key = dialogue_key(name)
    for dialogue in dialogues:
        if dialogue_key(dialogue.id) == key:
            return dialogue
    return Dialogue(id=name, turns=())
