"""The oracle: every measure straight from its formula, one turn and one slot at a time. Slow and plain on purpose.

It shares with the product only the data model and the profiles' normalisation (tested by itself against the
definitions); alignment, counting, FGA and averaging are written a second time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dialgauge.dialogue import Dialogue, State
from dialgauge.values import Pair, Profile, Side, matcher_named

Normalised = dict[Pair, tuple[str, ...]]


@dataclass
class OracleTurn:
    """A scored turn: both states, normalised, and its number among the user turns."""

    number: int
    gold: Normalised
    predicted: Normalised


def normalised(state: State, profile: Profile, side: Side) -> Normalised:
    """A state as pairs and acceptable values; later entries win where two slots get one name."""
    result: Normalised = {}
    for domain, slots in state.items():
        for slot, values in slots.items():
            pair = profile.pair(domain, slot)
            if pair is not None:
                acceptable = profile.normalise(pair, values, side)
                if acceptable:
                    result[pair] = acceptable
    return result


def aligned(
    gold: Iterable[Dialogue], predicted: Iterable[Dialogue], profile: Profile, *, missing_as_empty: bool = False
) -> list[list[OracleTurn]]:
    """Dialogues with their scored turns; dialogues without any are left out."""
    theirs = {dialogue.id.lower().removesuffix(".json"): list(dialogue.user_turns()) for dialogue in predicted}
    result = []
    for dialogue in gold:
        other = theirs.get(dialogue.id.lower().removesuffix(".json"), [])
        turns = []
        for number, turn in enumerate(dialogue.user_turns()):
            if turn.state is None:
                continue
            given = other[number].predicted if number < len(other) else None
            if given is None and not missing_as_empty:
                continue
            before = normalised(turn.state, profile, "gold"), normalised(given or {}, profile, "predicted")
            turns.append(OracleTurn(number, *before))
        if turns:
            result.append(turns)
    return result


class Oracle:
    """All values of one system, from aligned dialogues."""

    def __init__(self, dialogues: Sequence[Sequence[OracleTurn]], profile: Profile, inventory: int) -> None:
        self.dialogues, self.inventory = dialogues, inventory
        self._match = matcher_named(profile.match)

    def same(self, gold: tuple[str, ...], predicted: tuple[str, ...]) -> bool:
        return any(self._match(wanted, given) for wanted in gold for given in predicted)

    def counts(self, turn: OracleTurn) -> tuple[int, int, int, int]:
        """C, V, D, W."""
        correct = wrong = missed = spurious = 0
        for pair in {*turn.gold, *turn.predicted}:
            if pair in turn.gold and pair in turn.predicted:
                if self.same(turn.gold[pair], turn.predicted[pair]):
                    correct += 1
                else:
                    wrong += 1
            elif pair in turn.gold:
                missed += 1
            else:
                spurious += 1
        return correct, wrong, missed, spurious

    def exact(self, turn: OracleTurn) -> bool:
        return self.counts(turn)[1:] == (0, 0, 0)

    def right(self, turn: OracleTurn, pair: Pair) -> bool:
        return pair in turn.gold and pair in turn.predicted and self.same(turn.gold[pair], turn.predicted[pair])

    def added(self, now: Normalised, before: Normalised) -> set[Pair]:
        """B_t minus B_(t-1): slots that are new or whose acceptable values have nothing in common with before."""
        return {pair for pair, values in now.items() if pair not in before or not set(values) & set(before[pair])}

    def wrong_slots(self, turn: OracleTurn) -> set[Pair]:
        return {pair for pair in {*turn.gold, *turn.predicted} if not self.right(turn, pair)}

    def types(self, turns: Sequence[OracleTurn], rule: str) -> list[str]:
        """E, 1 or 2 for every turn of a dialogue."""
        letters = []
        for place, turn in enumerate(turns):
            if self.exact(turn):
                letters.append("E")
                continue
            if place == 0:
                letters.append("1")
                continue
            before = turns[place - 1]
            if rule in ("code", "error-set") and self.exact(before):
                letters.append("1")
            elif rule == "error-set":
                letters.append("2" if self.wrong_slots(turn) == self.wrong_slots(before) else "1")
            else:
                changed = self.added(turn.gold, before.gold) | self.added(turn.predicted, before.predicted)
                letters.append("2" if all(self.right(turn, pair) for pair in changed) else "1")
        return letters

    def weights(self, turns: Sequence[OracleTurn], rate: float, rule: str) -> list[float]:
        """The FGA weight of every turn of a dialogue."""
        result, last_error = [], -math.inf
        for turn, letter in zip(turns, self.types(turns, rule), strict=True):
            if letter == "1":
                last_error = turn.number
            distance = turn.number - last_error
            forgiven = 1.0 if math.isinf(distance) else 1.0 - math.exp(-rate * distance)
            result.append({"E": 1.0, "1": 0.0, "2": forgiven}[letter])
        return result

    def label_match(self, turns: Sequence[OracleTurn], place: int) -> bool:
        """Did both sides add and change the same? Another wording of an unchanged right value is no change."""
        turn = turns[place]
        before = turns[place - 1] if place else OracleTurn(-1, {}, {})
        gold_new, predicted_new = self.added(turn.gold, before.gold), self.added(turn.predicted, before.predicted)
        reworded = {pair for pair in predicted_new - gold_new if self.right(turn, pair) and self.right(before, pair)}
        predicted_new -= reworded
        return gold_new == predicted_new and all(self.right(turn, pair) for pair in gold_new)

    def per_turn(self, name: str) -> list[list[float | None]]:
        """A turn-level measure by dialogue and turn; None where the turn is skipped."""
        formulas = {
            "JGA": lambda c, v, d, w: float(v + d + w == 0),
            "SA": lambda c, v, d, w: (self.inventory - v - d - w) / self.inventory,
            "AGA": lambda c, v, d, w: c / (c + v + d) if c + v + d else None,
            "AGA(form=jaccard)": lambda c, v, d, w: c / (c + 2 * v + d + w) if c + v + d + w else None,
            "RSA": lambda c, v, d, w: c / (c + v + d + w) if c + v + d + w else 0.0,
            "RSA(empty=one)": lambda c, v, d, w: c / (c + v + d + w) if c + v + d + w else 1.0,
            "RSA(empty=skip)": lambda c, v, d, w: c / (c + v + d + w) if c + v + d + w else None,
            "F1(average=turn)": _turn_f1,
        }
        return [[formulas[name](*self.counts(turn)) for turn in turns] for turns in self.dialogues]

    def mean(self, rows: list[list[float | None]], *, over_dialogues: bool = False) -> float:
        kept = [[value for value in row if value is not None] for row in rows]
        if over_dialogues:
            return _mean([_mean(row) for row in kept if row])
        return _mean([value for row in kept for value in row])

    def f1_by(self, key: int | None) -> float:
        """Micro F1; or the mean of micro F1 per (domain, slot) pair (key 2) or per domain (key 0)."""
        groups: dict[object, list[int]] = {}
        for turns in self.dialogues:
            for turn in turns:
                for pair in {*turn.gold, *turn.predicted}:
                    single = OracleTurn(
                        0,
                        {pair: turn.gold[pair]} if pair in turn.gold else {},
                        {pair: turn.predicted[pair]} if pair in turn.predicted else {},
                    )
                    name: object = None if key is None else pair[0] if key == 0 else pair
                    sums = groups.setdefault(name, [0, 0, 0, 0])
                    for place, number in enumerate(self.counts(single)):
                        sums[place] += number
        return _mean([2 * c / (2 * c + 2 * v + d + w) for c, v, d, w in groups.values()])

    def everything(
        self, rates: Sequence[float] = (0.0, 0.25, 1.0, 50.0), rules: Sequence[str] = ("code", "paper", "error-set")
    ) -> dict[str, float]:
        """All measures by their names."""
        values = {name: self.mean(self.per_turn(name)) for name in _PER_TURN}
        values["JGA(over=dialogues)"] = self.mean(self.per_turn("JGA"), over_dialogues=True)
        values["AGA(over=dialogues)"] = self.mean(self.per_turn("AGA"), over_dialogues=True)
        values["F1"], values["F1(average=domain)"], values["F1(average=slot)"] = (
            self.f1_by(None),
            self.f1_by(0),
            self.f1_by(2),
        )
        sums = [sum(column) for column in zip(*(self.counts(t) for d in self.dialogues for t in d), strict=True)]
        values["Precision"] = _ratio(sums[0], sums[0] + sums[1] + sums[3])
        values["Recall"] = _ratio(sums[0], sums[0] + sums[1] + sums[2])
        for rule in rules:
            for rate in rates:
                weights: list[list[float | None]] = [list(self.weights(turns, rate, rule)) for turns in self.dialogues]
                values[f"FGA@{rate:g}(rule={rule})"] = self.mean(weights)
                values[f"FGA@{rate:g}(rule={rule},over=dialogues)"] = self.mean(weights, over_dialogues=True)
            letters = [letter for turns in self.dialogues for letter in self.types(turns, rule)]
            values[f"TurnMatch(rule={rule})"] = _mean([float(letter != "1") for letter in letters])
        values["TurnLabel"] = _mean(
            [float(self.label_match(turns, place)) for turns in self.dialogues for place in range(len(turns))]
        )
        values["FinalJGA"] = _mean([float(self.exact(turns[-1])) for turns in self.dialogues])
        values["DialogueExact"] = _mean([float(all(map(self.exact, turns))) for turns in self.dialogues])
        return values


_PER_TURN = (
    "JGA",
    "SA",
    "AGA",
    "AGA(form=jaccard)",
    "RSA",
    "RSA(empty=one)",
    "RSA(empty=skip)",
    "F1(average=turn)",
)


def _turn_f1(correct: int, wrong: int, missed: int, spurious: int) -> float:
    if correct + wrong + missed == 0:
        return float(spurious == 0)
    precision = _ratio(correct, correct + wrong + spurious)
    recall = _ratio(correct, correct + wrong + missed)
    precision = 0.0 if math.isnan(precision) else precision
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _ratio(above: float, below: float) -> float:
    return above / below if below else math.nan


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
