"""Inform and Success of the rule set ``mwzeval`` a second time, from the specification alone (``specs/end-to-end.md``).

Nothing is borrowed from dialgauge: own tables, own readers of MultiWOZ, plain loops. Sections are those of the page.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz.distance import Indel, Levenshtein

State = Mapping[str, Mapping[str, str]]
Flags = dict[str, tuple[bool, bool]]

SEVEN = ("restaurant", "hotel", "attraction", "train", "taxi", "police", "hospital")
VENUES = ("restaurant", "hotel", "attraction")
REQUESTS = {"PHONE", "ADDRESS", "POST", "REFERENCE", "TRAINID"}
DONT_CARE = {"dontcare", "not mentioned", "don't care", "dont care", "do n't care", "do not care"}


# 3 Responses


def _by_name(table: str) -> dict[str, str]:
    """A table of ``WORD: name, name``, on lines or after semicolons, by name."""
    entries = [entry.partition(": ") for entry in re.split("; |\n", table.strip())]
    return {name: word for word, _, names in entries for name in names.split(", ")}


CLASSES = _by_name("""
ADDRESS: address, value_address, attraction_address, hospital_address, hotel_address, police_address, restaurant_address
AREA: area, value_area, attraction_area, restaurant_area, hotel_area
TIME: time, value_time, booktime, duration, value_duration, train_duration, arriveby, arrive by, value_arrive
TIME: taxi_arriveby, train_arriveby, train_arrive, leaveat, leave at, value_leave, train_leaveat, train_leave
TIME: taxi_leaveat
DAY: day, value_day, bookday, train_day
PLACE: destination, value_destination, departure, value_departure, value_place, train_departure, taxi_departure
PLACE: train_destination, taxi_destination
FOOD: food, value_food, restaurant_food
NAME: name, value_name, attraction_name, hospital_name, hotel_name, police_name, restaurant_name
PHONE: phone, value_phone, attraction_phone, hospital_phone, hotel_phone, police_phone, restaurant_phone, taxi_phone
POST: postcode, value_postcode, attraction_postcode, hospital_postcode, hotel_postcode, police_postcode
POST: restaurant_postcode
PRICE: price, value_price, train_price, attraction_price, entrancefee, entrance fee, attraction_entrancefee
PRICE: pricerange, price range, value_pricerange, attraction_pricerange, hotel_pricerange, restaurant_pricerange
REFERENCE: ref, reference, value_reference, attraction_reference, hotel_reference, restaurant_reference, train_reference
COUNT: stars, value_stars, hotel_stars, stay, bookstay, value_stay, people, bookpeople, value_people, choice
COUNT: value_choice, value_count, attraction_choice, hotel_choice, restaurant_choice, train_choice
TYPE: type, value_type, car, value_car, taxi_type, taxi_car, restaurant_type, hotel_type, attraction_type
TRAINID: trainid, train_id, train_trainid, value_id, id, train
INTERNET: internet, hotel_internet
PARKING: parking, hotel_parking
ID: hospital_id, attraction_id, restaurant_id
DEPARTMENT: department, value_department, hospital_department
OPEN: openhours
""")
_BRACKETED = re.compile(r"\[([\w\s]+)\]")
_WITH_PLURAL = re.compile(r"\[([\w\s]+)\](?:es|s|-s|-es)?")


def placeholders(response: str) -> list[str]:
    """The bracketed names of a response."""
    return _BRACKETED.findall(response.lower())


def with_classes(response: str) -> str:
    """Steps 1 and 2: small letters, and classes in place of bracketed names."""
    return _WITH_PLURAL.sub(lambda found: CLASSES.get(found[1], ""), response.lower())


# 4 States


_SAME_NAMES = _by_name("""
hotel du vin and bistro: hotel du vin bistro; the river bar steakhouse and grill: the river bar and grill
nandos: nando's; city center north b and b: city center b and b; acorn guest house: acorn house
caffe uno: caffee uno, cafe uno; rosas bed and breakfast: rosa's
restaurant two two: restaurant called two two, restaurant 2 two, restaurant two 2, restaurant 2 2
restaurant one seven: restaurant 1 7, restaurant 17; limehouse: lime house; cityroomz: cityrooms
whale of a time: whale of time; huntingdon marriott hotel: huntingdon hotel; university arms hotel: university hotel
arbury lodge guesthouse: arbury guesthouse and lodge, arbury guesthouse; bridge guest house: bridge house
nandos city centre: nandos in the city centre; broughton house gallery: broughton gallery
scudamores punting co: scudamores punt co
cambridge university botanic gardens: cambridge botanic gardens, the botanical gardens at cambridge university
junction theatre: the junction; trinity college: trinity street college; christ's college: christ college, christs
whipple museum of the history of science: history of science museum; parkside swimming pool: parkside pools
cafe jello gallery: cafe jello museum
""") | {"holiday inn exlpress, cambridge": "express by holiday inn cambridge"}
_SAME_TYPES = _by_name("""
swimmingpool: swimming pool; multiple sports: mutliple sports; nightclub: night club; guesthouse: guest house
""")
_SAME_FOOD = _by_name("""
mediterranean: eriterean; portuguese: brazilian, portugese; seafood: sea food
north american: modern american, americas; italian: intalian, italain; asian: asian or oriental
british: english, brutish, bristish; australian: australasian; gastropub: gastropod; european: europeon
""")
_TIME_WORDS = {
    "afternoon": "13:00", "lunch": "12:00", "noon": "12:00", "mid-day": "12:00", "around lunch time": "12:00",
    "morning": "08:00", "seven o'clock tomorrow evening": "07:00", "three forty five p.m": "15:45",
    "one thirty p.m.": "13:30", "six fourty five": "06:45", "eight thirty": "08:30",
}  # fmt: skip


def slot_name(slot: str) -> str:
    """A slot as databases, goals and states name it."""
    slot = slot.lower().replace(" ", "")
    return {"arriveby": "arrive", "leaveat": "leave"}.get(slot, slot)


def value_of(slot: str, value: str) -> str:
    """A value in its normal form."""
    if slot in ("name", "destination", "departure"):
        value = value.strip().lower().replace(" & ", " and ").replace("&", " and ").replace(" '", "'")
        return _SAME_NAMES.get(value, value)
    if slot == "type":
        return _SAME_TYPES.get(value, value)
    if slot == "food":
        value = value.strip().lower()
        return _SAME_FOOD.get(value, value)
    if slot in ("arrive", "leave", "arriveby", "leaveat", "time"):
        return _time(value.strip().lower())
    return "yes" if slot in ("parking", "internet") and value == "free" else value


def _time(text: str) -> str:
    if text in _TIME_WORDS:
        return _TIME_WORDS[text]
    for beginning, time in (("one o'clock p.m", "13:00"), ("ten o'clock a.m", "10:00")):
        if text.startswith(beginning):
            return time
    text = text[3:] if text.startswith("by") else text
    for beginning in ("after", "afer"):
        text = text[len(beginning) :].strip() if text.startswith(beginning) else text
    for ending in ("am", "a.m."):
        text = text[: -len(ending)].strip() if text.endswith(ending) else text
    if text.endswith(("pm", "p.m.")):
        text = text.removesuffix("pm").removesuffix("p.m.").strip()
        hour, *rest = text.split(":")
        if hour.strip().isdigit() and (len(rest) == 1 or (not rest and text.isdigit())):
            return f"{int(hour) + 12}:{rest[0] if rest else '00'}"
    if not text:
        return "00:00"
    text = text[:-1] if text[-1] in ".,?" else text
    if re.fullmatch(r"\d{4}", text):
        return f"{text[:2]}:{text[2:]}"
    if text.isdigit():
        return f"{text.zfill(2)}:00"
    text = text.replace(" ", "") if ":" in text else text
    return f"0{text}" if len(text) == 4 and text[1] == ":" else text


def minutes(time: str) -> int:
    """Minutes after midnight; 0 for what is no time."""
    found = re.match(r"(\d\d):(\d\d)", time)
    return 60 * int(found[1]) + int(found[2]) if found else 0


def normal_state(state: State) -> dict[str, dict[str, str]]:
    """A state with normal names of slots and normal values."""
    return {
        domain: {slot_name(slot): value_of(slot_name(slot), value) for slot, value in slots.items()}
        for domain, slots in state.items()
    }


# 6 Database


_FUZZY = {"restaurant": {"name", "food"}, "attraction": {"name"}, "hotel": {"name"},
          "train": {"departure", "destination"}}  # fmt: skip
_COLUMNS = {
    "restaurant": "address area food id name phone postcode pricerange type",
    "attraction": "address area entrancefee id name phone postcode pricerange type",
    "hotel": "address area id internet name parking phone postcode pricerange stars type",
    "train": "arrive day departure destination duration leave price trainid",
}


@cache
def similarity(row: str, constraint: str) -> int:
    """How alike a value of the database and a constraint are, from 0 to 100."""
    if row == constraint:
        return 100
    if not row or not constraint:
        return 0
    short, long = (row, constraint) if len(row) <= len(constraint) else (constraint, row)
    blocks = Levenshtein.opcodes(short, long).as_matching_blocks()
    starts = {max(block.b - block.a, 0) for block in blocks}
    best = max(Indel.normalized_similarity(short, long[start : start + len(short)]) for start in starts)
    return 100 if best > 0.995 else round(100 * best)


class Town:
    """The rows of the four databases, and which of them fit constraints."""

    def __init__(self, folder: Path) -> None:
        self.rows: dict[str, list[dict[str, str]]] = {}
        for domain, columns in _COLUMNS.items():
            [path] = folder.glob(f"{domain}_db.json*")
            self.rows[domain] = [
                {name: value for column, value in row.items() if (name := slot_name(column)) in columns.split()}
                for row in _json(path)
            ]
        self._passing: dict[tuple[str, str, str], frozenset[int]] = {}

    def fitting(self, domain: str, constraints: Mapping[str, str]) -> frozenset[int]:
        """The numbers of the rows that fit."""
        if domain not in _COLUMNS:
            return frozenset()
        fitting = frozenset(range(len(self.rows[domain])))
        for slot, value in constraints.items():
            if slot in _COLUMNS[domain].split() and value not in DONT_CARE:
                fitting &= self._passes(domain, slot, value_of(slot, value))
        return fitting

    def ids(self, domain: str, rows: Iterable[int]) -> frozenset[str]:
        """The ids of rows; different trains may share one."""
        return frozenset(self.rows[domain][row]["trainid" if domain == "train" else "id"] for row in rows)

    def _passes(self, domain: str, slot: str, wanted: str) -> frozenset[int]:
        key = domain, slot, wanted
        if key not in self._passing:
            self._passing[key] = frozenset(
                number for number, row in enumerate(self.rows[domain]) if slot in row and _fits(key, row[slot])
            )
        return self._passing[key]


def _fits(constraint: tuple[str, str, str], value: str) -> bool:
    domain, slot, wanted = constraint
    if value == "?":
        return True
    if slot == "arrive":
        return minutes(value) <= minutes(wanted)
    if slot == "leave":
        return minutes(value) >= minutes(wanted)
    return similarity(value, wanted) >= 90 if slot in _FUZZY[domain] else value == wanted


def _json(path: Path) -> Any:
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


# 2.2, 5, 9 Gold


class DomainGoal(NamedTuple):
    """What a goal wants in one domain."""

    informable: dict[str, str]
    requestable: frozenset[str]


class Gold(NamedTuple):
    """The gold side of a dialogue, turn by turn."""

    goal: dict[str, DomainGoal]
    booked: list[set[str]]
    states: list[dict[str, dict[str, str]]]


_ASKED = {"phone": "PHONE", "address": "ADDRESS", "postcode": "POST", "trainID": "TRAINID"}


@cache
def read_gold(path: Path) -> dict[str, Gold]:
    """The dialogues of a MultiWOZ file, by lower-case id."""
    return {key.lower().removesuffix(".json"): _gold(dialogue) for key, dialogue in _json(path).items()}


def _gold(dialogue: Mapping[str, Any]) -> Gold:
    answers = dialogue["log"][1::2]
    goal = {
        domain: DomainGoal(
            {slot_name(slot): value for slot, value in part.get("info", {}).items()},
            frozenset(word for asked, word in _ASKED.items() if asked in part.get("reqt", ()))
            | ({"REFERENCE"} if part.get("book") else frozenset()),
        )
        for domain in SEVEN
        if (part := dialogue["goal"].get(domain))
    }
    booked = [
        {name for name, part in answer["metadata"].items() if name != "taxi" and part["book"].get("booked")}
        for answer in answers
    ]
    states = [normal_state(_annotated(answer["metadata"])) for answer in answers]
    return Gold(goal, booked, states)


def _annotated(metadata: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    state = {}
    for domain, part in metadata.items():
        slots = {**part["semi"], **{f"book{slot}": value for slot, value in part["book"].items() if slot != "booked"}}
        state[domain] = {slot: value for slot, value in slots.items() if value and value not in {"none", *DONT_CARE}}
    return {domain: slots for domain, slots in state.items() if slots}


# 7 Active domains


def estimated(states: Sequence[State]) -> list[str | None]:
    """The domain that each turn is about, from the changes of the state."""
    current: str | None = None
    before: State = {}
    changed_before: list[str] = []
    found: list[str | None] = []
    for state in states:
        changed = [name for name, slots in state.items() if slots.items() - before.get(name, {}).items()]
        if not changed and current is None:
            found.append(None)
            continue
        if not changed:
            if len(changed_before) > 1:
                left = [name for name in changed_before if name in state and name != current]
                current = left[0] if left else current
        elif current not in changed:
            current = max(changed, key=lambda name: len(state[name]))
        before, changed_before = state, changed
        found.append(current)
    return found


def active_lists(turns: Sequence[Mapping[str, Any]], states: Sequence[State], mode: str) -> list[list[str]]:
    """The domains that each turn is taken to be about."""
    if mode == "file":
        return [list(turn["active_domains"]) for turn in turns]
    if mode == "placeholders":
        named = [[name.partition("_")[0] for name in placeholders(turn["response"])] for turn in turns]
        return [[domain for domain in each if domain in SEVEN] for each in named]
    return [[] if domain is None else [domain] for domain in estimated(states)]


# 8 Inform and Success: mwzeval


def mwzeval(
    gold: Gold, town: Town, turns: Sequence[Mapping[str, Any]], states: Sequence[State], active: Sequence[Sequence[str]]
) -> Flags:
    """Inform and Success of each domain of the goal."""
    offered: dict[str, frozenset[str]] = dict.fromkeys(gold.goal, frozenset())
    provided: dict[str, set[str]] = {domain: set() for domain in gold.goal}
    for turn, state, booked, domains in zip(turns, states, gold.booked, active, strict=False):
        text = with_classes(turn["response"])
        for domain in gold.goal:
            if domain not in domains:
                continue
            if (domain in VENUES and "NAME" in text) or (domain == "train" and "TRAINID" in text):
                rows = town.fitting(domain, state[domain]) if domain in state else frozenset()
                answer = town.ids(domain, rows)
                if not offered[domain] or not offered[domain] <= answer:
                    offered[domain] = answer
            provided[domain] |= {word for word in REQUESTS - {"REFERENCE"} if word in text}
            if "REFERENCE" in text and domain in booked:
                provided[domain].add("REFERENCE")
    informed = {domain: _informed(domain, goal, offered[domain], town) for domain, goal in gold.goal.items()}
    return {
        domain: (informed[domain], all(informed.values()) and goal.requestable <= provided[domain])
        for domain, goal in gold.goal.items()
    }


def _informed(domain: str, goal: DomainGoal, offered: frozenset[str], town: Town) -> bool:
    if "name" in goal.informable or domain in ("taxi", "police", "hospital"):
        return True
    if not offered:
        return domain == "train" and "TRAINID" not in goal.requestable
    return offered <= town.ids(domain, town.fitting(domain, goal.informable))


# Whole systems


def judge(
    gold: Mapping[str, Gold], town: Town, predictions: Mapping[str, Sequence[Any]], mode: str | None = None
) -> dict[str, Flags]:
    """Inform and Success of every dialogue of a prediction file."""
    system = {key.lower().removesuffix(".json"): turns for key, turns in predictions.items()}
    every = [turn for turns in system.values() for turn in turns]
    own_states = all("state" in turn for turn in every)
    mode = mode or ("file" if all("active_domains" in turn for turn in every) else "state")
    found = {}
    for key, turns in system.items():
        states = [normal_state(turn["state"]) for turn in turns] if own_states else gold[key].states
        found[key] = mwzeval(gold[key], town, turns, states, active_lists(turns, states, mode))
    return found
