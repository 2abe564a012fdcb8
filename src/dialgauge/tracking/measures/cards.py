"""The measures that come with dialgauge. C, V, D, W are the counts of the kernel, T is the slot inventory."""

from __future__ import annotations

import numpy as np

from dialgauge.tracking.counts import Counts, SlotCounts
from dialgauge.tracking.encode import Floats
from dialgauge.tracking.fga import RULES, Rule, turn_match, weights
from dialgauge.tracking.measures.base import OVER, Card, Need, Parameter, Rows, Settings

_DSTC2 = "Henderson et al., The second dialog state tracking challenge, SIGDIAL 2014"
_TRADE = "Wu et al., Transferable multi-domain state generator, ACL 2019"
_FGA = "Dey, Kummara and Desarkar, Towards fair evaluation of dialogue state tracking, ACL 2022"
_RSA = "Kim et al., Mismatch between joint goal accuracy and slot accuracy, ACL 2022"
_SGD = "Rastogi et al., Towards scalable multi-domain conversational agents, AAAI 2020"

_NOTHING: frozenset[Need] = frozenset()
_GOLD: frozenset[Need] = frozenset({"gold"})
_VALUES: frozenset[Need] = frozenset({"gold", "values"})
_HISTORY: frozenset[Need] = frozenset({"history"})

RULE = Parameter("rule", "auto", RULES, "which wrong turns are type 1: as the authors' code, the paper, or error sets")
LAMBDA = Parameter("lambda", 0.5, (), "forgetting rate")


def _ones(counts: Counts) -> Floats:
    return np.ones(len(counts))


def _ratio(above: Floats, below: Floats, otherwise: float = 0.0) -> Floats:
    result: Floats = np.full(len(above), otherwise)
    np.divide(above, below, out=result, where=below > 0)
    return result


def _jga(counts: Counts, settings: Settings) -> Rows:
    return counts.exact.astype(np.float64), _ones(counts)


def _sa(counts: Counts, settings: Settings) -> Rows:
    if not counts.inventory:
        return np.zeros(len(counts)), np.zeros(len(counts))
    return (counts.inventory - counts.errors) / counts.inventory, _ones(counts)


def _aga(counts: Counts, settings: Settings) -> Rows:
    correct = counts.turns.correct.astype(np.float64)
    jaccard = settings["form"] == "jaccard"
    size = counts.union + counts.turns.wrong if jaccard else counts.gold_size
    return _ratio(correct, size.astype(np.float64)), (size > 0).astype(np.float64)


def _rsa(counts: Counts, settings: Settings) -> Rows:
    union = counts.union.astype(np.float64)
    empty = settings["empty"]
    value = _ratio(counts.turns.correct.astype(np.float64), union, 1.0 if empty == "one" else 0.0)
    return value, (union > 0).astype(np.float64) if empty == "skip" else _ones(counts)


def _f1(counts: Counts, settings: Settings) -> Rows:
    double = 2.0 * counts.turns.correct.astype(np.float64)
    size = double + 2 * counts.turns.wrong + counts.turns.missed + counts.turns.spurious
    if settings["average"] == "turn":
        return _ratio(double, size, 1.0), _ones(counts)
    return double, size


def _f1_groups(slots: SlotCounts, settings: Settings) -> Rows:
    table = slots.by_domain() if settings["average"] == "domain" else slots
    double = 2.0 * table.correct.astype(np.float64)
    return double, double + 2 * table.wrong + table.missed + table.spurious


def _precision(counts: Counts, settings: Settings) -> Rows:
    correct = counts.turns.correct.astype(np.float64)
    return correct, correct + counts.turns.wrong + counts.turns.spurious


def _recall(counts: Counts, settings: Settings) -> Rows:
    return counts.turns.correct.astype(np.float64), counts.gold_size.astype(np.float64)


def _rule(settings: Settings) -> Rule:
    chosen = settings["rule"]
    return next(rule for rule in RULES if rule == chosen)


def _fga(counts: Counts, settings: Settings) -> Rows:
    return weights(counts, float(settings["lambda"]), _rule(settings)), _ones(counts)


def _turn_match(counts: Counts, settings: Settings) -> Rows:
    return turn_match(counts, _rule(settings)).astype(np.float64), _ones(counts)


def _turn_label(counts: Counts, settings: Settings) -> Rows:
    return counts.turns.label_match.astype(np.float64), _ones(counts)


def _final_jga(counts: Counts, settings: Settings) -> Rows:
    return (counts.exact & counts.last).astype(np.float64), counts.last.astype(np.float64)


def _dialogue_exact(counts: Counts, settings: Settings) -> Rows:
    return (counts.dialogue_exact[counts.dialogue] & counts.last).astype(np.float64), counts.last.astype(np.float64)


JGA = Card(
    name="JGA",
    title="Joint goal accuracy",
    summary="Share of turns whose predicted state is exactly the gold state; two empty states are equal.",
    formula="1 if V + D + W = 0 else 0",
    source=_DSTC2,
    rows=_jga,
    needs=_NOTHING,
)
SA = Card(
    name="SA",
    title="Slot accuracy",
    summary="Share of all slots of the inventory that are right, empty ones included; high even for empty predictions.",
    formula="(T - V - D - W) / T",
    source=f"{_TRADE}; {_FGA}, eq. 1; {_RSA}, eq. 2",
    rows=_sa,
    needs=_NOTHING,
    lower=float("-inf"),
)
AGA = Card(
    name="AGA",
    title="Average goal accuracy",
    summary="Share of gold slots that are right, turns with an empty gold state skipped; jaccard also counts spurious.",
    formula="paper: C / (C + V + D); jaccard: C / (C + 2V + D + W)",
    source=f"{_SGD}; {_FGA}, section 2.3",
    rows=_aga,
    parameters=(
        Parameter("form", "paper", ("paper", "jaccard"), "recall as in the papers, or the fix the FGA paper suggests"),
        OVER,
    ),
    needs=_GOLD,
)
RSA = Card(
    name="RSA",
    title="Relative slot accuracy",
    summary="Share of the slots of either state that are right.",
    formula="C / (C + V + D + W); a turn with two empty states scores 0 (zero), 1 (one) or nothing (skip)",
    source=f"{_RSA}, eq. 3",
    rows=_rsa,
    parameters=(Parameter("empty", "zero", ("zero", "one", "skip"), "the score of a turn with two empty states"), OVER),
    needs=_GOLD,
)
F1 = Card(
    name="F1",
    title="Slot F1",
    summary="Harmonic mean of precision and recall of slot values: over all turns, per turn, per slot or per domain.",
    formula="2C / (2C + 2V + D + W)",
    source=f"{_TRADE}; {_RSA}",
    rows=_f1,
    groups=_f1_groups,
    parameters=(
        Parameter("average", "micro", ("micro", "turn", "slot", "domain"), "what is averaged over, if anything"),
        OVER,
    ),
)
PRECISION = Card(
    name="Precision",
    title="Slot precision (micro)",
    summary="Share of predicted slots that are right.",
    formula="C / (C + V + W)",
    source=_TRADE,
    rows=_precision,
)
RECALL = Card(
    name="Recall",
    title="Slot recall (micro)",
    summary="Share of gold slots that are right.",
    formula="C / (C + V + D)",
    source=_TRADE,
    rows=_recall,
    needs=_GOLD,
)
FGA = Card(
    name="FGA",
    title="Flexible goal accuracy",
    summary="JGA that forgives old mistakes: a turn wrong only through an error x turns ago scores 1 - exp(-lambda x).",
    formula="exact 1; type 1 0; type 2 1 - exp(-lambda x)",
    source=f"{_FGA}, Algorithm 1",
    rows=_fga,
    cutoff=LAMBDA,
    parameters=(RULE, OVER),
    needs=_HISTORY,
)
TURN_MATCH = Card(
    name="TurnMatch",
    title="Turn-level match (M2)",
    summary="Share of turns that made no error themselves: exact, or wrong only through an earlier error.",
    formula="1 if exact or type 2 else 0",
    source=f"{_FGA}, Table 1",
    rows=_turn_match,
    parameters=(RULE, OVER),
    needs=_HISTORY,
)
TURN_LABEL = Card(
    name="TurnLabel",
    title="Turn-label accuracy",
    summary="Share of turns where gold and prediction added and changed exactly the same slots.",
    formula="1 if B_t \\ B_(t-1) = B'_t \\ B'_(t-1) else 0",
    source=f"{_FGA}, section 3",
    rows=_turn_label,
    needs=_VALUES | _HISTORY,
)
FINAL_JGA = Card(
    name="FinalJGA",
    title="Final-turn joint goal accuracy",
    summary="Joint goal accuracy of the last turn of each dialogue.",
    formula="JGA of the last turn",
    source="Kim et al., Efficient dialogue state tracking by selectively overwriting memory, ACL 2020",
    rows=_final_jga,
    parameters=(),
    needs=_HISTORY,
)
DIALOGUE_EXACT = Card(
    name="DialogueExact",
    title="Exact dialogues",
    summary="Share of dialogues all of whose turns are exact.",
    formula="1 if all turns have V + D + W = 0 else 0",
    source=_DSTC2,
    rows=_dialogue_exact,
    parameters=(),
    needs=_HISTORY,
)
