"""MultiWOZ_Evaluation's state-tracking mode (Nekvinda and Dušek 2021), written a second time, slowly, from its rules.

Takes what the package takes, JSON values: predictions in its own format, and gold states as {"domain-slot": value}. The
tables of aliases are facts of the public package, written out here once more. Where the package fails with an error
(``x:30 pm``), so does this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein
from tracking_oracle import States, Values

Slots = dict[tuple[str, str], str]

TIMES = {
    "13:00": ["afternoon"],
    "12:00": ["lunch", "noon", "mid-day", "around lunch time"],
    "08:00": ["morning"],
    "07:00": ["seven o'clock tomorrow evening"],
    "15:45": ["three forty five p.m"],
    "13:30": ["one thirty p.m."],
    "06:45": ["six fourty five"],
    "08:30": ["eight thirty"],
}
TYPES = {
    "swimmingpool": ["swimming pool"],
    "multiple sports": ["mutliple sports"],
    "nightclub": ["night club"],
    "guesthouse": ["guest house"],
}
FOODS = {
    "british": ["english", "brutish", "bristish"],
    "portuguese": ["brazilian", "portugese"],
    "north american": ["modern american", "americas"],
    "italian": ["intalian", "italain"],
    "mediterranean": ["eriterean"],
    "seafood": ["sea food"],
    "asian": ["asian or oriental"],
    "australian": ["australasian"],
    "gastropub": ["gastropod"],
    "european": ["europeon"],
}
PLACES = {
    "hotel du vin and bistro": ["hotel du vin bistro"],
    "the river bar steakhouse and grill": ["the river bar and grill"],
    "nandos": ["nando's"],
    "nandos city centre": ["nandos in the city centre"],
    "city center north b and b": ["city center b and b"],
    "acorn guest house": ["acorn house"],
    "caffe uno": ["caffee uno", "cafe uno"],
    "rosas bed and breakfast": ["rosa's"],
    "restaurant two two": [
        "restaurant called two two", "restaurant 2 two", "restaurant two 2", "restaurant 2 2",
    ],
    "restaurant one seven": ["restaurant 1 7", "restaurant 17"],
    "limehouse": ["lime house"],
    "cityroomz": ["cityrooms"],
    "whale of a time": ["whale of time"],
    "huntingdon marriott hotel": ["huntingdon hotel"],
    "express by holiday inn cambridge": ["holiday inn exlpress, cambridge"],
    "university arms hotel": ["university hotel"],
    "arbury lodge guesthouse": ["arbury guesthouse and lodge", "arbury guesthouse"],
    "bridge guest house": ["bridge house"],
    "broughton house gallery": ["broughton gallery"],
    "scudamores punting co": ["scudamores punt co"],
    "cambridge university botanic gardens": [
        "cambridge botanic gardens", "the botanical gardens at cambridge university",
    ],
    "junction theatre": ["the junction"],
    "trinity college": ["trinity street college"],
    "christ's college": ["christ college", "christs"],
    "whipple museum of the history of science": ["history of science museum"],
    "parkside swimming pool": ["parkside pools"],
    "cafe jello gallery": ["cafe jello museum"],
}  # fmt: skip


class Tally(NamedTuple):
    """What the package counts before it divides."""

    turns: int
    joint: int
    right: int
    spurious: int
    missed: int

    @property
    def scores(self) -> dict[str, float | None]:
        """Without the tiny numbers that the package adds to denominators; a share of nothing is None."""
        below = 2 * self.right + self.spurious + self.missed
        return {
            "JGA": self.joint / self.turns,
            "Precision": self.right / (self.right + self.spurious) if self.right + self.spurious else None,
            "Recall": self.right / (self.right + self.missed) if self.right + self.missed else None,
            "F1": 2 * self.right / below if below else None,
        }


def turn_tally(gold: Mapping[str, Values], state: Any) -> Tally:
    """One turn: gold, and the predicted state by domain and slot."""
    wanted, given = gold_slots(gold), slots(state)
    right = [slot for slot in given if slot in wanted and partial_ratio(given[slot], wanted[slot]) > 95]
    exact = given.keys() == wanted.keys() and len(right) == len(wanted)
    return Tally(1, int(exact), len(right), len(given) - len(right), len(wanted) - len(right))


def tracking_mode(gold: States, predictions: Mapping[str, Sequence[Any]]) -> dict[tuple[str, int], Tally]:
    """The tally of every predicted turn; every one needs a gold state, every dialogue its id in lower case."""
    return {
        (dialogue, number): turn_tally(gold[dialogue][number] or {}, turn["state"])
        for dialogue, turns in predictions.items()
        for number, turn in enumerate(turns)
    }


def summed(tallies: Sequence[Tally]) -> Tally:
    """The tally of several turns."""
    return Tally(*(sum(column) for column in zip(*tallies, strict=True)))


def gold_slots(state: Mapping[str, Values]) -> Slots:
    """Of several values the first; a slot is dropped that lists ``dontcare``; 2.2 writes the domain twice."""
    kept: dict[str, dict[str, str]] = {}
    for name, value in state.items():
        domain, _, slot = name.partition("-")
        values = [value] if isinstance(value, str) else list(value)
        if "dontcare" not in values:
            kept.setdefault(domain, {})[slot.rpartition("-")[2]] = values[0]
    return slots(kept)


def slots(state: Any) -> Slots:
    """Nothing is left out, whatever the value; of two spellings of one slot the last one counts."""
    result: Slots = {}
    for domain, some in state.items():
        for slot, value in some.items():
            name = slot.lower().replace(" ", "")
            name = {"arriveby": "arrive", "leaveat": "leave"}.get(name, name)
            result[domain, name] = normal_value(name, value)
    return result


def normal_value(slot: str, value: str) -> str:
    """A value in the form in which it is compared."""
    if slot in ("name", "destination", "departure"):
        name = value.strip().lower()
        name = name.replace(" & ", " and ").replace("&", " and ").replace(" '", "'")
        return _one_name(PLACES, name)
    if slot == "type":
        return _one_name(TYPES, value)
    if slot == "food":
        return _one_name(FOODS, value.strip().lower())
    if slot in ("arrive", "leave", "time"):
        return normal_time(value)
    return "yes" if slot in ("parking", "internet") and value == "free" else value


def _one_name(aliases: Mapping[str, Sequence[str]], value: str) -> str:
    return next((name for name, others in aliases.items() if value in others), value)


def normal_time(value: str) -> str:
    """The package's reading of times, rule by rule."""
    text = value.strip().lower()
    if any(text in words for words in TIMES.values()):
        return _one_name(TIMES, text)
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
    if text[-1] in ".,?":
        text = text[:-1]
    if text.isdigit():
        return text[:2] + ":" + text[2:] if len(text) == 4 else text.rjust(2, "0") + ":00"
    if ":" in text:
        text = text.replace(" ", "")
    if len(text) == 4 and text[1] == ":":
        return "0" + text[0] + text[1:]
    return text


def partial_ratio(predicted: str, gold: str) -> int:
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
        best = max(best, 2 * common_length(short, part) / (len(short) + len(part)))
    return 100 if best > 0.995 else round(100 * best)


def common_length(first: str, second: str) -> int:
    """The length of a longest common subsequence."""
    lengths = [0] * (len(second) + 1)
    for letter in first:
        before = lengths[:]
        for place, other in enumerate(second):
            lengths[place + 1] = before[place] + 1 if letter == other else max(before[place + 1], lengths[place])
    return lengths[-1]
