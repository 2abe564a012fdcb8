"""MultiWOZ_Evaluation's state-tracking mode (Nekvinda and Dušek 2021), written a second time, slowly, from its rules.

It takes what the package takes, JSON values: predictions in its own format, and gold states. It shares with the product
the tables of aliases, which are data and are tested by themselves, and nothing else. Where the package fails with an
error (``x:30 pm``, a number in place of a text), so does this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz.distance import Levenshtein

from dialgauge.values.standard_evaluator import FOODS, PLACES, TYPES

Written = Mapping[str, Mapping[str, Any]]
Flat = dict[tuple[str, str], str]

_TIMES_IN_WORDS = {
    "13:00": ["afternoon"],
    "12:00": ["lunch", "noon", "mid-day", "around lunch time"],
    "08:00": ["morning"],
    "07:00": ["seven o'clock tomorrow evening"],
    "15:45": ["three forty five p.m"],
    "13:30": ["one thirty p.m."],
    "06:45": ["six fourty five"],
    "08:30": ["eight thirty"],
}


@dataclass
class Tally:
    """What the package prints, before it divides."""

    turns: int = 0
    joint: int = 0
    right: int = 0
    spurious: int = 0
    missed: int = 0

    @property
    def scores(self) -> dict[str, float]:
        """As the package defines them, without the tiny numbers that it adds to denominators."""
        precision = self.right / max(1, self.right + self.spurious)
        recall = self.right / max(1, self.right + self.missed)
        both = precision + recall
        return {
            "JGA": self.joint / self.turns,
            "Precision": precision,
            "Recall": recall,
            "F1": 2 * precision * recall / both if both else 0.0,
        }


def tracking_mode(
    gold: Mapping[str, Sequence[Written]], predictions: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Tally:
    """The whole mode; every predicted turn needs a gold state, every dialogue its id in lower case."""
    tally = Tally()
    for name, turns in predictions.items():
        for number, turn in enumerate(turns):
            wanted, given = flat_gold(gold[name][number]), flat(turn["state"])
            right = [slot for slot in given if slot in wanted and ratio(given[slot], wanted[slot]) > 95]
            tally.turns += 1
            tally.joint += given.keys() == wanted.keys() and len(right) == len(wanted)
            tally.right += len(right)
            tally.spurious += len(given) - len(right)
            tally.missed += len(wanted) - len(right)
    return tally


def flat_gold(state: Written) -> Flat:
    """MultiWOZ 2.2 lists values and writes the domain before the slot; a slot is dropped that lists ``dontcare``."""
    kept: dict[str, dict[str, str]] = {}
    for domain, slots in state.items():
        for slot, value in slots.items():
            values = [value] if isinstance(value, str) else list(value)
            if "dontcare" not in values:
                kept.setdefault(domain, {})[slot.split("-")[-1]] = values[0]
    return flat(kept)


def flat(state: Written) -> Flat:
    """Nothing is left out, whatever the value; of two spellings of one slot the last one counts."""
    result: Flat = {}
    for domain, slots in state.items():
        for slot, value in slots.items():
            name = "".join(slot.lower().split(" "))
            name = {"arriveby": "arrive", "leaveat": "leave"}.get(name, name)
            result[domain, name] = normal(name, value)
    return result


def normal(slot: str, value: str) -> str:
    """A value in the form in which it is compared."""
    if slot in ("name", "destination", "departure"):
        name = value.strip().lower()
        name = " and ".join(name.split(" & "))
        name = " and ".join(name.split("&"))
        name = "'".join(name.split(" '"))
        return PLACES.get(name, name)
    if slot == "type":
        return TYPES.get(value, value)
    if slot == "food":
        return FOODS.get(value.strip().lower(), value.strip().lower())
    if slot in ("arrive", "leave", "time"):
        return time(value)
    return "yes" if slot in ("parking", "internet") and value == "free" else value


def time(value: str) -> str:
    """The evaluator's reading of times, rule by rule."""
    text = value.strip().lower()
    for clock, words in _TIMES_IN_WORDS.items():
        if text in words:
            return clock
    if text.startswith("one o'clock p.m"):
        return "13:00"
    if text.startswith("ten o'clock a.m"):
        return "10:00"
    if text[:2] == "by":
        text = text[3:]
    if text[:5] == "after":
        text = text[5:].strip()
    if text[:4] == "afer":
        text = text[4:].strip()
    if text[-2:] == "am":
        text = text[:-2].strip()
    if text[-4:] == "a.m.":
        text = text[:-4].strip()
    if text[-2:] == "pm" or text[-4:] == "p.m.":
        if text[-2:] == "pm":
            text = text[:-2].strip()
        if text[-4:] == "p.m.":
            text = text[:-4].strip()
        parts = text.split(":")
        if len(parts) == 2:
            return str(int(parts[0]) + 12) + ":" + parts[1]
        if len(parts) == 1 and text.isdigit():
            return str(int(text) + 12) + ":00"
    if text == "":
        return "00:00"
    if text[-1] in (".", ",", "?"):
        text = text[:-1]
    if text.isdigit():
        return text[:2] + ":" + text[2:] if len(text) == 4 else text.rjust(2, "0") + ":00"
    if ":" in text:
        text = "".join(letter for letter in text if letter != " ")
    if len(text) == 4 and text[1] == ":":
        parts = text.split(":")
        return parts[0].zfill(2) + ":" + parts[1]
    return text


def ratio(predicted: str, gold: str) -> int:
    """fuzzywuzzy's partial ratio with the Levenshtein library; the prediction comes first."""
    if predicted == gold:
        return 100
    if not predicted or not gold:
        return 0
    short, long = (gold, predicted) if len(gold) < len(predicted) else (predicted, gold)
    best = 0.0
    for block in Levenshtein.opcodes(short, long).as_matching_blocks():
        start = max(0, block.b - block.a)
        part = long[start : start + len(short)]
        best = max(best, 2 * _common(short, part) / (len(short) + len(part)))
    return 100 if best > 0.995 else round(100 * best)


def _common(first: str, second: str) -> int:
    """The length of a longest common subsequence."""
    lengths = [0] * (len(second) + 1)
    for letter in first:
        before = lengths[:]
        for place, other in enumerate(second):
            lengths[place + 1] = before[place] + 1 if letter == other else max(before[place + 1], lengths[place])
    return lengths[-1]
