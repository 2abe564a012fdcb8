"""MultiWOZ's slot names and values, and how alike two are, by the standard evaluator's rules (Nekvinda and Dušek 2021).

Its numbers come out with these rules; they are not good rules. Times lose their meaning in places (``12:30 pm`` is
24:30, ``929`` is no time at all), and all slots but those named here are compared as they are written: ``Monday`` is
not ``monday``. The profile ``mwzeval`` and the scores of recorded responses share them.
"""

from __future__ import annotations

from functools import lru_cache

from dialgauge.values.rules import ValueRule

PLACE_SLOTS = ("name", "destination", "departure")
TIME_SLOTS = ("leave", "arrive", "time")

#: Whole names and values that are replaced.
SLOT_NAMES = {"arriveby": "arrive", "leaveat": "leave"}
TYPES = {
    "swimming pool": "swimmingpool",
    "mutliple sports": "multiple sports",
    "night club": "nightclub",
    "guest house": "guesthouse",
}
FOODS = {
    "eriterean": "mediterranean",
    "brazilian": "portuguese",
    "portugese": "portuguese",
    "sea food": "seafood",
    "modern american": "north american",
    "americas": "north american",
    "intalian": "italian",
    "italain": "italian",
    "asian or oriental": "asian",
    "english": "british",
    "brutish": "british",
    "bristish": "british",
    "australasian": "australian",
    "gastropod": "gastropub",
    "europeon": "european",
}
PLACES = {
    "hotel du vin bistro": "hotel du vin and bistro",
    "the river bar and grill": "the river bar steakhouse and grill",
    "nando's": "nandos",
    "city center b and b": "city center north b and b",
    "acorn house": "acorn guest house",
    "caffee uno": "caffe uno",
    "cafe uno": "caffe uno",
    "rosa's": "rosas bed and breakfast",
    "restaurant called two two": "restaurant two two",
    "restaurant 2 two": "restaurant two two",
    "restaurant two 2": "restaurant two two",
    "restaurant 2 2": "restaurant two two",
    "restaurant 1 7": "restaurant one seven",
    "restaurant 17": "restaurant one seven",
    "lime house": "limehouse",
    "cityrooms": "cityroomz",
    "whale of time": "whale of a time",
    "huntingdon hotel": "huntingdon marriott hotel",
    "holiday inn exlpress, cambridge": "express by holiday inn cambridge",
    "university hotel": "university arms hotel",
    "arbury guesthouse and lodge": "arbury lodge guesthouse",
    "arbury guesthouse": "arbury lodge guesthouse",
    "bridge house": "bridge guest house",
    "nandos in the city centre": "nandos city centre",
    "broughton gallery": "broughton house gallery",
    "scudamores punt co": "scudamores punting co",
    "cambridge botanic gardens": "cambridge university botanic gardens",
    "the botanical gardens at cambridge university": "cambridge university botanic gardens",
    "the junction": "junction theatre",
    "trinity street college": "trinity college",
    "christ college": "christ's college",
    "christs": "christ's college",
    "history of science museum": "whipple museum of the history of science",
    "parkside pools": "parkside swimming pool",
    "cafe jello museum": "cafe jello gallery",
}
PLACE_SPELLING = ((" & ", " and "), ("&", " and "), (" '", "'"))
_WORDED_TIMES = {
    "afternoon": "13:00",
    "lunch": "12:00",
    "noon": "12:00",
    "mid-day": "12:00",
    "around lunch time": "12:00",
    "morning": "08:00",
    "seven o'clock tomorrow evening": "07:00",
    "three forty five p.m": "15:45",
    "one thirty p.m.": "13:30",
    "six fourty five": "06:45",
    "eight thirty": "08:30",
}
_WORDED_BEGINNINGS = {"one o'clock p.m": "13:00", "ten o'clock a.m": "10:00"}


@lru_cache(1 << 16)
def normal_slot(slot: str) -> str:
    """The slot's name in lower case, without spaces, with one word for each of the two times.

    >>> normal_slot("arriveBy"), normal_slot("price range")
    ('arrive', 'pricerange')
    """
    plain = slot.lower().replace(" ", "")
    return SLOT_NAMES.get(plain, plain)


@lru_cache(1 << 16)
def normal_value(slot: str, value: str) -> str:
    """The value of a slot (named as :func:`normal_slot` names it) in the form in which it is compared."""
    if slot in PLACE_SLOTS:
        return _place(value)
    if slot in TIME_SLOTS or slot in SLOT_NAMES:
        return evaluator_time(value)
    if slot == "type":
        return TYPES.get(value, value)
    if slot == "food":
        food = value.strip().lower()
        return FOODS.get(food, food)
    if slot in ("parking", "internet") and value == "free":
        return "yes"
    return value


def _place(value: str) -> str:
    name = value.strip().lower()
    for written, meant in PLACE_SPELLING:
        name = name.replace(written, meant)
    return PLACES.get(name, name)


def evaluator_time(value: str) -> str:
    """A time as the evaluator compares it; what it cannot read stays as it is.

    >>> evaluator_time("5:30 pm"), evaluator_time("after 1845"), evaluator_time("9:15"), evaluator_time("")
    ('17:30', '18:45', '09:15', '00:00')
    """
    text = value.strip().lower()
    if text in _WORDED_TIMES:
        return _WORDED_TIMES[text]
    for beginning, time in _WORDED_BEGINNINGS.items():
        if text.startswith(beginning):
            return time
    text = _without_words(text)
    if text.endswith(("pm", "p.m.")):
        for word in ("pm", "p.m."):
            if text.endswith(word):
                text = text[: -len(word)].strip()
        afternoon = _afternoon(text)
        if afternoon is not None:
            return afternoon
    return _clock(text)


class EvaluatorClock(ValueRule, frozen=True, kw_only=True):
    """Times as :func:`evaluator_time` reads them."""

    name: str = "times"

    def apply(self, value: str) -> tuple[str, ...]:
        return (evaluator_time(value),)

    def describe(self) -> str:
        return (
            "H:MM and HHMM → HH:MM; 'by', 'after' and 'am' cut off, 'pm' adds 12 hours (even at noon); noon, lunch and "
            "some other words → HH:MM; '' → 00:00; other digits → digits:00"
        )


def _without_words(text: str) -> str:
    if text.startswith("by"):
        text = text[3:]
    for word in ("after", "afer"):
        if text.startswith(word):
            text = text[len(word) :].strip()
    for word in ("am", "a.m."):
        if text.endswith(word):
            text = text[: -len(word)].strip()
    return text


def _afternoon(text: str) -> str | None:
    """Twelve hours later, even at noon; None where there is no hour to read (the evaluator fails at some of these)."""
    hour, colon, rest = text.partition(":")
    if ":" in rest or not (colon or hour.isdigit()):
        return None
    try:
        return f"{int(hour) + 12}:{rest if colon else '00'}"
    except ValueError:
        return None


def _clock(text: str) -> str:
    if not text:
        return "00:00"
    if text[-1] in ".,?":
        text = text[:-1]
    if text.isdigit():
        return f"{text[:2]}:{text[2:]}" if len(text) == 4 else f"{text:0>2}:00"
    if ":" in text:
        text = text.replace(" ", "")
    if len(text) == 4 and text[1] == ":":
        hour, minute = text.split(":")[:2]
        return f"{hour.zfill(2)}:{minute}"
    return text


def similarity(text: str, other: str) -> int:
    """How alike two values are, from 0 to 100; of two equally long ones the order can matter.

    The best match of the shorter text within the longer, looked for only where a cheapest alignment of the two has
    equal characters: what fuzzywuzzy's ``partial_ratio`` gives with its Levenshtein library. rapidfuzz's own
    ``partial_ratio`` is another function, and would make ``yu garden`` a ``curry garden``.
    """
    from rapidfuzz.distance import Indel, Levenshtein

    if text == other:
        return 100
    if not text or not other:
        return 0
    short, long = (text, other) if len(text) <= len(other) else (other, text)
    best = 0.0
    for block in Levenshtein.opcodes(short, long).as_matching_blocks():
        start = max(block.b - block.a, 0)
        best = max(best, Indel.normalized_similarity(short, long[start : start + len(short)]))
        if best > 0.995:
            return 100
    return round(100 * best)
