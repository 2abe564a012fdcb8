"""Every tracking measure straight from its formula, one turn and one slot at a time. Slow and plain on purpose.

Takes plain states, {dialogue: [{"domain-slot": value}, ...]}: a tuple lists acceptable values, None is a turn without a
state. It borrows nothing from the product; the normalisation of names and values is written from docs/measures.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

Values = str | Sequence[str]
State = Mapping[str, Values]
States = Mapping[str, Sequence[State | None]]
#: Acceptable values by slot.
Normal = dict[str, tuple[str, ...]]
Sums = tuple[float, float]

# Names and values


DOMAINS = ("attraction", "hotel", "restaurant", "taxi", "train")
ABSENT = ("", "none", "not mentioned", "not given")
DONTCARE = ("dont care", "don't care", "do n't care", "do not care", "does not care")
SPELLINGS = {
    "guest house": ("guesthouse", "guesthouses", "guest houses"),
    "nightclub": ("night club",),
    "swimming pool": ("swimmingpool",),
    "concert hall": ("concerthall",),
    "multiple sports": ("mutliple sports", "mutiple sports"),
    "centre": ("center",),
    "portuguese": ("portugese",),
}
ONE_SPELLING = {wrong: right for right, many in SPELLINGS.items() for wrong in many}


def slot_name(name: str, profile: str) -> str | None:
    """The slot under its unified name; None outside the five domains."""
    if profile == "verbatim":
        return name
    domain, _, slot = name.partition("-")
    domain, slot = domain.lower(), slot.lower().replace(" ", "").replace("_", "")
    if slot.startswith("book") and slot != "book":
        slot = slot[len("book") :]
    slot = {"arriveby": "arrive", "leaveat": "leave"}.get(slot, slot)
    return f"{domain}-{slot}" if domain in DOMAINS else None


def plain(value: str) -> str:
    """Lower case, one spelling of dontcare; empty for an absent slot."""
    text = " ".join(value.lower().split())
    if text in ABSENT:
        return ""
    return "dontcare" if text in DONTCARE else text


def canon(slot: str, value: str) -> str:
    """A value that is already plain, with one spelling of times, of frequent values and of names."""
    if slot in ("leave", "arrive", "time"):
        packed = value.replace(" ", "")
        if re.fullmatch("[0-9]{3,4}", packed):
            packed = f"{packed[:-2]}:{packed[-2:]}"
        return packed.zfill(5) if re.fullmatch("[0-9]{1,2}:[0-9]{2}", packed) else value
    text = ONE_SPELLING.get(value, value)
    if slot in ("parking", "internet") and text == "free":
        return "yes"
    if slot in ("name", "destination", "departure"):
        return " ".join(text.replace("&", " and ").replace(" '", "'").split())
    return text


def acceptable(name: str, written: Values, profile: str) -> tuple[str, ...]:
    """The values that a slot has under a profile, in order; none if it is absent."""
    found: list[str] = []
    for value in (written,) if isinstance(written, str) else written:
        text = value if profile == "verbatim" else plain(value)
        if profile in ("canon", "canon_nodc"):
            text = canon(name.partition("-")[2], text)
        if profile.endswith("_nodc") and text == "dontcare":
            text = ""
        if profile == "simpletod" and any(word in text for word in ("dontcare", "none", "not mentioned")):
            text = ""
        several = [part.replace(" ", "") for part in text.split("|")] if profile == "convlab3" else [text]
        found += [one for one in several if one and one not in found]
    return tuple(found)


def normal(state: State, profile: str, *, first: bool) -> Normal:
    """A state as slots and acceptable values, or only the first of each."""
    result: Normal = {}
    for written, values in state.items():
        name = slot_name(written, profile)
        found = acceptable(name, values, profile) if name is not None else ()
        if name is not None and found:
            result[name] = found[:1] if first else found
    return result


def same(gold: Iterable[str], predicted: Iterable[str], profile: str) -> bool:
    """True if a predicted value is one of the gold values."""
    return any(
        wanted == given or (profile == "hidst" and _alike(wanted, given)) for wanted in gold for given in predicted
    )


def _alike(one: str, other: str) -> bool:
    """Hi-DST's test: times up to 15 minutes apart, or one text within the other."""
    clocks = [re.fullmatch("([0-9]{1,2}):([0-9]{2})", text) for text in (one, other)]
    minutes = [60 * int(clock[1]) + int(clock[2]) for clock in clocks if clock]
    if len(minutes) == 2 and abs(minutes[0] - minutes[1]) <= 15:
        return True
    bare = [text.removeprefix("the ").replace("b and b", "bed and breakfast") for text in (one, other)]
    short, long = sorted(("".join(re.split(r"[\s\-'\":]", text)) for text in bare), key=len)
    return bool(short) and short in long


# Turns


class ScoredTurn(NamedTuple):
    """A turn that both sides have, and what follows from its states and those before it."""

    number: int
    gold: Normal
    predicted: Normal
    right: frozenset[str]
    wrong: frozenset[str]
    counts: tuple[int, int, int, int]
    #: By rule E, 1 or 2, and the user turns since the last error of type 1.
    kinds: dict[str, str]
    since: dict[str, float]
    #: Both sides added and changed the same.
    label: bool

    @property
    def exact(self) -> bool:
        return not self.wrong


RULES = ("code", "paper", "error-set")


def scored(turns: Sequence[tuple[int, Normal, Normal]], profile: str, rules: Sequence[str] = RULES) -> list[ScoredTurn]:
    """The turns of a dialogue in their order."""
    result: list[ScoredTurn] = []
    last_error = dict.fromkeys(rules, -math.inf)
    for number, gold, predicted in turns:
        before = result[-1] if result else None
        both = gold.keys() & predicted.keys()
        right = frozenset(slot for slot in both if same(gold[slot], predicted[slot], profile))
        wrong = frozenset((gold.keys() | predicted.keys()) - right)
        wrong_values = len(both) - len(right)
        counts = (len(right), wrong_values, len(gold) - len(both), len(predicted) - len(both))
        gold_new = _added(gold, before.gold if before else {})
        predicted_new = _added(predicted, before.predicted if before else {})
        kinds = {rule: _kind(rule, wrong, gold_new | predicted_new, before) for rule in rules}
        last_error |= {rule: float(number) for rule, kind in kinds.items() if kind == "1"}
        # Another wording of a value that was right before and is right now is no change.
        reworded = (predicted_new - gold_new) & right & (before.right if before else frozenset())
        label = gold_new == predicted_new - reworded and gold_new <= right
        since = {rule: number - last_error[rule] for rule in rules}
        result.append(ScoredTurn(number, gold, predicted, right, wrong, counts, kinds, since, label))
    return result


def _added(now: Normal, before: Normal) -> frozenset[str]:
    """Slots that are new, or that share no value with the turn before."""
    return frozenset(slot for slot, values in now.items() if not set(values) & set(before.get(slot, ())))


def _kind(rule: str, wrong: frozenset[str], new: frozenset[str], before: ScoredTurn | None) -> str:
    """E (exact), 1 (an error of this turn) or 2 (only an earlier error)."""
    if not wrong:
        return "E"
    if before is None or (rule != "paper" and before.exact):
        return "1"
    carried = wrong == before.wrong if rule == "error-set" else not new & wrong
    return "2" if carried else "1"


def key(dialogue: str) -> str:
    """An id as it is compared."""
    return dialogue.lower().removesuffix(".json")


def aligned(
    gold: States, predicted: States, profile: str, *, missing_as_empty: bool = False
) -> dict[str, list[tuple[int, Normal, Normal]]]:
    """By gold dialogue the turns that both sides have; dialogues without any are left out."""
    theirs = {key(dialogue): turns for dialogue, turns in predicted.items()}
    result = {}
    for dialogue, states in gold.items():
        other = theirs.get(key(dialogue), [])
        turns = []
        for number, state in enumerate(states):
            given = other[number] if number < len(other) else None
            if state is None or (given is None and not missing_as_empty):
                continue
            wanted = normal(state, profile, first=False)
            guess = normal(given or {}, profile, first=profile != "convlab3")
            if profile == "convlab3":
                known = {slot.partition("-")[0] for slot in wanted}
                guess = {slot: values for slot, values in guess.items() if slot.partition("-")[0] in known}
            turns.append((number, wanted, guess))
        if turns:
            result[dialogue] = turns
    return result


# Measures


def _turn_f1(c: int, v: int, d: int, w: int) -> float:
    if c + v + d == 0:
        return float(w == 0)
    precision = c / (c + v + w) if c + v + w else 0.0
    recall = c / (c + v + d)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


#: Turn-level measures from C, V, D, W (SA also from the size of the inventory); None where the turn is skipped.
PER_TURN: dict[str, Callable[[int, int, int, int], float | None]] = {
    "JGA": lambda c, v, d, w: float(v + d + w == 0),
    "AGA": lambda c, v, d, w: c / (c + v + d) if c + v + d else None,
    "AGA(form=jaccard)": lambda c, v, d, w: c / (c + 2 * v + d + w) if c + v + d + w else None,
    "AGA(form=jaccard-skip)": lambda c, v, d, w: c / (c + 2 * v + d + w) if c + v + d else None,
    "RSA": lambda c, v, d, w: c / (c + v + d + w) if c + v + d + w else 0.0,
    "RSA(empty=one)": lambda c, v, d, w: c / (c + v + d + w) if c + v + d + w else 1.0,
    "RSA(empty=skip)": lambda c, v, d, w: c / (c + v + d + w) if c + v + d + w else None,
    "F1(average=turn)": _turn_f1,
}
#: Ratios of sums over turns.
POOLED: dict[str, Callable[[int, int, int, int], Sums]] = {
    "F1": lambda c, v, d, w: (2 * c, 2 * c + 2 * v + d + w),
    "Precision": lambda c, v, d, w: (c, c + v + w),
    "Recall": lambda c, v, d, w: (c, c + v + d),
}
RATES = (0.0, 0.25, 0.5, 0.75, 1.0, 50.0)
#: Names without a rule mean that of the authors' code.
FORGIVING = {f"FGA@{rate:g}(rule={rule})": (rate, rule) for rate in RATES for rule in RULES} | {
    f"FGA@{rate:g}": (rate, "code") for rate in RATES
}
MATCHES = {f"TurnMatch(rule={rule})": rule for rule in RULES} | {"TurnMatch": "code"}
#: Means over dialogues of their means over turns.
MACRO = {f"{name}(over=dialogues)": name for name in ("JGA", "AGA", "FGA@0.5", "F1")} | {
    f"FGA@0.5(rule={rule},over=dialogues)": f"FGA@0.5(rule={rule})" for rule in RULES
}
BY_DIALOGUE = ("FinalJGA", "DialogueExact")
GROUPED = ("F1(average=slot)", "F1(average=gold-slot)", "F1(average=domain)")
TURN_LEVEL = (*PER_TURN, "SA", *FORGIVING, *MATCHES, "TurnLabel")
MEASURES = (*TURN_LEVEL, *POOLED, *MACRO, *BY_DIALOGUE, *GROUPED)


def turn_value(measure: str, turn: ScoredTurn, inventory: int = 30) -> float | None:
    """A turn-level or pooled measure in one turn; None where it is skipped."""
    if measure in POOLED:
        above, below = POOLED[measure](*turn.counts)
        return above / below if below else None
    if measure in FORGIVING:
        rate, rule = FORGIVING[measure]
        return weight(turn.kinds[rule], turn.since[rule], rate)
    if measure in MATCHES:
        return float(turn.kinds[MATCHES[measure]] != "1")
    if measure == "SA":
        return (inventory - sum(turn.counts[1:])) / inventory
    return float(turn.label) if measure == "TurnLabel" else PER_TURN[measure](*turn.counts)


def weight(kind: str, since: float, rate: float) -> float:
    """The FGA weight of a turn."""
    if kind == "2":
        return 1.0 if math.isinf(since) else 1.0 - math.exp(-rate * since)
    return float(kind == "E")


def sums(measure: str, turns: Sequence[ScoredTurn], inventory: int = 30) -> Sums:
    """Numerator and denominator of a measure over turns of one dialogue."""
    if measure in POOLED:
        pairs = [POOLED[measure](*turn.counts) for turn in turns]
        return sum(above for above, _ in pairs), sum(below for _, below in pairs)
    if measure in MACRO:
        above, below = sums(MACRO[measure], turns, inventory)
        return (above / below, 1.0) if below else (0.0, 0.0)
    if measure == "FinalJGA":
        return float(turns[-1].exact), 1.0
    if measure == "DialogueExact":
        return float(all(turn.exact for turn in turns)), 1.0
    known = [value for turn in turns if (value := turn_value(measure, turn, inventory)) is not None]
    return sum(known), float(len(known))


def ratio(pairs: Iterable[Sums]) -> float | None:
    """Sum over sum; None of nothing."""
    listed = list(pairs)
    below = sum(part for _, part in listed)
    return sum(part for part, _ in listed) / below if below else None


Dialogues = dict[str, list[ScoredTurn]]


def oracle(gold: States, predicted: States, profile: str = "canon", *, missing_as_empty: bool = False) -> Dialogues:
    """All scored dialogues."""
    both = aligned(gold, predicted, profile, missing_as_empty=missing_as_empty)
    return {dialogue: scored(turns, profile) for dialogue, turns in both.items()}


def value(dialogues: Dialogues, measure: str, inventory: int = 30) -> float | None:
    """A measure over all dialogues; None where nothing counts."""
    if measure in GROUPED:
        return _mean_f1(slot_counts(turn for turns in dialogues.values() for turn in turns), measure)
    return ratio(sums(measure, turns, inventory) for turns in dialogues.values())


def slot_counts(turns: Iterable[ScoredTurn]) -> dict[str, tuple[int, int, int, int]]:
    """C, V, D, W of every slot that either side has."""
    result: dict[str, tuple[int, int, int, int]] = {}
    for turn in turns:
        for slot in turn.gold.keys() | turn.predicted.keys():
            where = 0 if slot in turn.right else error_kind(turn, slot)
            counts = result.get(slot, (0, 0, 0, 0))
            result[slot] = (*counts[:where], counts[where] + 1, *counts[where + 1 :])  # type: ignore[assignment]
    return result


def error_kind(turn: ScoredTurn, slot: str) -> int:
    """1 for a wrong value, 2 for a missed slot, 3 for a spurious one."""
    return 3 if slot not in turn.gold else 2 if slot not in turn.predicted else 1


def _mean_f1(slots: dict[str, tuple[int, int, int, int]], measure: str) -> float | None:
    groups: dict[str, list[Sums]] = {}
    for slot, counts in slots.items():
        if measure != "F1(average=gold-slot)" or any(counts[:3]):
            name = slot.partition("-")[0] if measure == "F1(average=domain)" else slot
            groups.setdefault(name, []).append(POOLED["F1"](*counts))
    found = [ratio(pairs) or 0.0 for pairs in groups.values()]
    return sum(found) / len(found) if found else None


def in_domain(gold: States, predicted: States, domain: str, profile: str) -> tuple[Dialogues, int]:
    """Both states cut down to a domain: turns whose gold state has it, and the number of those that only predict it.

    What a turn does is judged in its dialogue, before the turns without the domain are left out.
    """
    chosen: Dialogues = {}
    only_predicted = 0
    for dialogue, turns in aligned(gold, predicted, profile).items():
        cut = scored([(number, _only(a, domain), _only(b, domain)) for number, a, b in turns], profile)
        only_predicted += sum(1 for turn in cut if turn.predicted and not turn.gold)
        kept = [turn for turn in cut if turn.gold]
        if kept:
            chosen[dialogue] = kept
    return chosen, only_predicted


def _only(state: Normal, domain: str) -> Normal:
    return {slot: values for slot, values in state.items() if slot.startswith(f"{domain}-")}


def domains(turns: Collection[ScoredTurn], *, gold_only: bool = True) -> set[str]:
    """The domains that gold, or either side, has in any of the turns."""
    sides = [turn.gold for turn in turns] + ([] if gold_only else [turn.predicted for turn in turns])
    return {slot.partition("-")[0] for side in sides for slot in side}
