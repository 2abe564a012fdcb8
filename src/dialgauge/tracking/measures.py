"""The measures of states: for each a card in CARDS and a pure function that gives every turn its share.

C, V, D, W are the counts of :mod:`dialgauge.tracking.counts`, T is the slot inventory. A new measure is a function and
a card in this file: ``all``, listings, parts, tables and pages have it then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from dialgauge.errors import DialgaugeError
from dialgauge.measures import (
    OVER,
    Card,
    Lists,
    Measure,
    Parameter,
    Setting,
    Settings,
    UnitNumbers,
    asked_for,
    cards,
    mean_of_ratios,
    measure_names,
    parse_measures,
)
from dialgauge.tracking.counts import SYMBOLS, Counts
from dialgauge.tracking.encode import Counters, Floats
from dialgauge.tracking.fga import RULES, Rule, default_rule, forgetting_rate, turn_match, weights
from dialgauge.tracking.sgd import SGD_CARDS

FAMILY = "tracking"

#: What a measure cannot do without: gold states, values on both sides (not only flags).
Need: TypeAlias = Literal["gold", "values"]

_DSTC2 = "Henderson et al., The second dialog state tracking challenge, SIGDIAL 2014"
_TRADE = "Wu et al., Transferable multi-domain state generator, ACL 2019"
_FGA = "Dey, Kummara and Desarkar, Towards fair evaluation of dialogue state tracking, ACL 2022"
_RSA = "Kim et al., Mismatch between multi-turn dialogue and its evaluation metric in dialogue state tracking, ACL 2022"
_SGD = "Rastogi et al., Towards scalable multi-domain conversational agents, AAAI 2020"

RULE = Parameter("rule", "auto", RULES, "which wrong turns are type 1: as the authors' code, the paper, or error sets")
LAMBDA = Parameter("lambda", 0.5, (), "forgetting rate")
SLOTS = Parameter("T", "all", ("all", "part"), "the slots of the inventory, or those of the part")
FORM = Parameter(
    "form",
    "paper",
    ("paper", "jaccard", "jaccard-skip"),
    "recall as in the papers, or over the union, as the FGA paper suggests: jaccard scores an empty gold state with "
    "spurious slots 0, jaccard-skip leaves it out",
)
EMPTY = Parameter("empty", "zero", ("zero", "one", "skip"), "the score of a turn with two empty states")
AVERAGE = Parameter(
    "average",
    "micro",
    ("micro", "turn", "slot", "gold-slot", "domain"),
    "what is averaged over, if anything; gold-slot leaves out predicted slots that gold never has",
)

_EXACT = {
    "exact": "the predicted state is the gold state",
    "type 1": "wrong, and with a new error of its own, or right after an exact turn",
    "type 2": "wrong only through earlier errors",
}


def needing(*needs: Need) -> Callable[[Counts, Settings], str | None]:
    """The obstacle of a measure that needs these: ``Card(name="Mine", ..., obstacle=needing("gold", "values"))``."""
    return partial(_obstacle, needs)


def _obstacle(needs: Collection[Need], counts: Counts, settings: Settings) -> str | None:
    if "values" in needs and counts.flags_only:
        return "it needs predicted values, but the predictions are only correctness flags"
    if "gold" in needs and not counts.has_gold:
        return "it needs gold states, but there are only correctness flags: give the gold file too"
    if counts.flags_only and str(settings.get("form")).startswith("jaccard"):
        return "it counts a wrong value twice, and flags cannot tell wrong values from missed ones"
    rule = settings.get("rule")
    if counts.flags_only and rule in ("code", "paper"):
        return f"rule {rule} needs predicted states, but there are only flags: use rule=error-set"
    return None


def _ones(counts: Counts) -> Floats:
    return np.ones(len(counts))


def _ratio(part: Counters, whole: Counters, otherwise: float = 0.0) -> Floats:
    """Of whole numbers; a part of nothing is 0, and gives 0 unless told otherwise."""
    result: Floats = part / np.maximum(whole, 1)
    if otherwise:
        result[whole == 0] = otherwise
    return result


def _jga(counts: Counts, settings: Settings) -> UnitNumbers:
    return counts.exact.astype(np.float64), _ones(counts)


def _sa(counts: Counts, settings: Settings) -> UnitNumbers:
    slots = counts.inventory if settings["T"] == "all" else counts.own_inventory
    if not slots:
        return np.zeros((2, len(counts)))
    return (slots - counts.wrong_missed_spurious) / slots, _ones(counts)


def _aga(counts: Counts, settings: Settings) -> UnitNumbers:
    form = settings["form"]
    size = counts.gold_size if form == "paper" else counts.union + counts.turns.wrong
    scored = size if form == "jaccard" else counts.gold_size
    return _ratio(counts.turns.correct, size), (scored > 0).astype(np.float64)


def _rsa(counts: Counts, settings: Settings) -> UnitNumbers:
    empty = settings["empty"]
    value = _ratio(counts.turns.correct, counts.union, 1.0 if empty == "one" else 0.0)
    return value, (counts.union > 0).astype(np.float64) if empty == "skip" else _ones(counts)


def _f1(counts: Counts, settings: Settings) -> UnitNumbers:
    double = 2 * counts.turns.correct
    size = double + counts.turns.wrong + counts.wrong_missed_spurious  # a wrong value is an error on either side
    if settings["average"] == "turn":
        return _ratio(double, size, 1.0), _ones(counts)
    return double.astype(np.float64), size.astype(np.float64)


def _f1_sums(counts: Counts, settings: Settings) -> Floats | None:
    """Numerators and denominators of every slot or domain, where these are averaged over."""
    average = settings["average"]
    if average in ("micro", "turn"):
        return None
    table = counts.slot_counts
    if average == "domain":
        table = table.by_domain()
    if average == "gold-slot":
        table = table.in_gold()
    double = 2.0 * table.correct
    return np.concatenate([double, double + 2 * table.wrong + table.missed + table.spurious])


def averages_slots(measure: Measure[Any]) -> bool:
    """Is it a mean over slots or domains, which no turn has by itself?"""
    return measure.settings().get("average", "turn") not in ("micro", "turn")


def _no_f1(counts: Counts, settings: Settings) -> str | None:
    if settings["average"] not in ("micro", "turn") and settings[OVER.name] == "dialogues":
        return "a mean over slots or domains is taken over all turns, not over dialogues"
    return _obstacle(("gold", "values"), counts, settings)


def _sampled(settings: Settings) -> bool:
    """The system's own mistakes decide which slots it predicts: a sample shows only some of them."""
    return settings["average"] != "slot"


def _precision(counts: Counts, settings: Settings) -> UnitNumbers:
    correct = counts.turns.correct.astype(np.float64)
    return correct, correct + counts.turns.wrong + counts.turns.spurious


def _recall(counts: Counts, settings: Settings) -> UnitNumbers:
    return counts.turns.correct.astype(np.float64), counts.gold_size.astype(np.float64)


def _resolved(counts: Counts, settings: Settings) -> Settings:
    return {**settings, "rule": default_rule(counts)} if settings["rule"] == "auto" else settings


def _rule(settings: Settings) -> Rule:
    return next(rule for rule in RULES if rule == settings["rule"])


def _rate(pairs: dict[str, str]) -> dict[str, Setting]:
    """Lambda from the turns t_f in which a share p of a mistake is forgotten: ``FGA(tf=6,p=0.95)``."""
    if not {"tf", "p"} & pairs.keys():
        return {}
    try:
        return {"lambda": forgetting_rate(float(pairs.pop("tf")), float(pairs.pop("p")))}
    except (KeyError, ValueError):
        raise DialgaugeError("lambda from t_f and p needs both, as numbers: FGA(tf=6,p=0.95)") from None


def _fga(counts: Counts, settings: Settings) -> UnitNumbers:
    return weights(counts, float(settings["lambda"]), _rule(settings)), _ones(counts)


def _turn_match(counts: Counts, settings: Settings) -> UnitNumbers:
    return turn_match(counts, _rule(settings)).astype(np.float64), _ones(counts)


def _turn_label(counts: Counts, settings: Settings) -> UnitNumbers:
    return counts.turns.label_match.astype(np.float64), _ones(counts)


def _final_jga(counts: Counts, settings: Settings) -> UnitNumbers:
    return (counts.exact & counts.last).astype(np.float64), counts.last.astype(np.float64)


def _dialogue_exact(counts: Counts, settings: Settings) -> UnitNumbers:
    return (counts.dialogue_exact[counts.dialogue] & counts.last).astype(np.float64), counts.last.astype(np.float64)


def _card(*, letters: str = "", needs: Sequence[Need] = (), **declared: Any) -> Card[Counts]:
    """A measure of ours, with what it cannot do without and the letters of its formula."""
    symbols = {letter: SYMBOLS[letter] for letter in letters}
    return Card(**{"family": FAMILY, "parts": True, "symbols": symbols, "obstacle": needing(*needs), **declared})


_STATE_CARDS: tuple[Card[Counts], ...] = (
    _card(
        name="JGA",
        title="Joint goal accuracy",
        summary="Share of turns whose predicted state is exactly the gold state; two empty states are equal.",
        formula="1 if V + D + W = 0 else 0",
        letters="VDW",
        source=_DSTC2,
        units=_jga,
        parameters=(OVER,),
    ),
    _card(
        name="SA",
        title="Slot accuracy",
        summary="Share of all slots of the inventory that are right, empty ones too; high even for empty predictions.",
        formula="(T - V - D - W) / T",
        letters="VDWT",
        source=f"{_TRADE}; {_FGA}, eq. 1; {_RSA}, eq. 2",
        units=_sa,
        parameters=(SLOTS, OVER),
        lower=float("-inf"),
    ),
    _card(
        name="AGA",
        title="Average goal accuracy",
        summary="Share of gold slots that are right, skipping turns with an empty gold state; jaccard counts spurious.",
        formula="paper: C / (C + V + D); jaccard: C / (C + 2V + D + W)",
        letters="CVDW",
        source=f"{_SGD}; {_FGA}, section 2.3",
        units=_aga,
        parameters=(FORM, OVER),
        needs=("gold",),
        forms=("AGA(form=jaccard)",),
    ),
    _card(
        name="RSA",
        title="Relative slot accuracy",
        summary="Share of the slots of either state that are right.",
        formula="C / (C + V + D + W); a turn with two empty states scores 0 (zero), 1 (one) or nothing (skip)",
        letters="CVDW",
        source=f"{_RSA}, eq. 3",
        units=_rsa,
        parameters=(EMPTY, OVER),
        needs=("gold",),
        forms=("RSA(empty=one)", "RSA(empty=skip)"),
    ),
    _card(
        name="F1",
        title="Slot F1",
        summary="Harmonic mean of precision and recall of slot values, of all turns or averaged (RSA paper: per turn).",
        formula="2C / (2C + 2V + D + W)",
        letters="CVDW",
        source=f"{_TRADE} (average=turn); {_RSA}, Table 1 (average=turn, most likely)",
        units=_f1,
        sums=_f1_sums,
        of=mean_of_ratios,
        has_interval=_sampled,
        obstacle=_no_f1,
        forms=("F1(average=turn)", "F1(average=slot)", "F1(average=gold-slot)", "F1(average=domain)"),
        parameters=(AVERAGE, OVER),
    ),
    _card(
        name="Precision",
        title="Slot precision (micro)",
        summary="Share of predicted slots that are right.",
        formula="C / (C + V + W)",
        letters="CVW",
        source=_TRADE,
        units=_precision,
        parameters=(OVER,),
        needs=("gold", "values"),
    ),
    _card(
        name="Recall",
        title="Slot recall (micro)",
        summary="Share of gold slots that are right.",
        formula="C / (C + V + D)",
        letters="CVD",
        source=_TRADE,
        units=_recall,
        parameters=(OVER,),
        needs=("gold",),
    ),
    _card(
        name="FGA",
        title="Flexible goal accuracy",
        summary="JGA that forgives: a turn that is wrong only by an error x turns ago scores 1 - exp(-lambda x).",
        formula="exact 1; type 1 0; type 2 1 - exp(-lambda x)",
        symbols={
            **_EXACT,
            "x": "user turns since the last turn with an error of its own",
            "lambda": "the forgetting rate",
        },
        source=f"{_FGA}, Algorithm 1",
        units=_fga,
        cutoff=LAMBDA,
        forms=("FGA@0.25", "FGA@0.75", "FGA@0.5(rule=paper)", "FGA@0.5(over=dialogues)"),
        parameters=(RULE, OVER),
        resolve=_resolved,
        shorthand=_rate,
    ),
    _card(
        name="TurnMatch",
        title="Turn-level match (M2)",
        summary="Share of turns that made no error themselves: exact, or wrong only through an earlier error.",
        formula="1 if exact or type 2 else 0",
        symbols={name: _EXACT[name] for name in ("exact", "type 2")},
        source=f"{_FGA}, Table 1",
        units=_turn_match,
        parameters=(RULE, OVER),
        resolve=_resolved,
    ),
    _card(
        name="TurnLabel",
        title="Turn-label accuracy",
        summary="Share of turns where gold and prediction added and changed exactly the same slots.",
        formula="1 if B_t \\ B_(t-1) = B'_t \\ B'_(t-1) else 0",
        symbols={"B_t": "the gold state after turn t", "B'_t": "the predicted state after turn t"},
        source=f"{_FGA}, section 3",
        units=_turn_label,
        parameters=(OVER,),
        needs=("gold", "values"),
    ),
    _card(
        name="FinalJGA",
        title="Final-turn joint goal accuracy",
        summary="Joint goal accuracy of the last turn of each dialogue.",
        formula="JGA of the last turn",
        source="Kim et al., Efficient dialogue state tracking by selectively overwriting memory, ACL 2020",
        units=_final_jga,
    ),
    _card(
        name="DialogueExact",
        title="Exact dialogues",
        summary="Share of dialogues all of whose turns are exact.",
        formula="1 if all turns have V + D + W = 0 else 0",
        letters="VDW",
        source=_DSTC2,
        units=_dialogue_exact,
    ),
)
CARDS: tuple[Card[Any], ...] = (*_STATE_CARDS, *SGD_CARDS)

#: What is reported unless measures are named.
DEFAULT_MEASURES = ("JGA", "SA", "AGA", "RSA", "F1", "FGA@0.5", "FGA@1")


def _every_measure() -> list[str]:
    """The usual measures, then every form of ours and of other packages' measures."""
    foreign = [card for name, card in cards(FAMILY).items() if name not in {card.name for card in CARDS}]
    forms = (form for card in (*_STATE_CARDS, *foreign) for form in card.forms or (card.name,))
    return list(dict.fromkeys([*DEFAULT_MEASURES, *forms]))


_LISTS: Lists = {"default": DEFAULT_MEASURES, "all": _every_measure}

#: Measures as people name them: one text or several, or measures themselves; None is the usual ones.
MeasureChoice: TypeAlias = str | Sequence[str | Measure[Counts]] | None


def chosen_measures(measures: MeasureChoice) -> list[Measure[Any]]:
    """Measures from names; the usual ones where none is named."""
    if measures is None:
        return parse_measures(DEFAULT_MEASURES, FAMILY)
    given: object = measures
    listed: list[Any] = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    measure_names([choice for choice in listed if not isinstance(choice, Measure)])  # what else is there is an error
    if not listed:
        raise DialgaugeError("no measure was named; leave measures out for the defaults")
    parsed = (
        [choice] if isinstance(choice, Measure) else parse_measures([choice], FAMILY, _LISTS) for choice in listed
    )
    return list({str(measure): measure for measures in parsed for measure in measures}.values())


def required_measures(measures: MeasureChoice) -> frozenset[str]:
    """The names of the measures that were asked for one by one: leaving one of them out is an error."""
    listed = [measures] if isinstance(measures, str) else list(measures or ())
    given = frozenset(str(choice) for choice in listed if isinstance(choice, Measure))
    return given | asked_for((choice for choice in listed if isinstance(choice, str)), FAMILY, _LISTS)
