"""Goals for users of a town, in the shape of MultiWOZ's: what to find, what to book, what to ask, what fails first.

How often each kind of task occurs is counted in the 1,000 test goals of MultiWOZ 2.1. Every ``info`` has a row that
fits, every ``fail_info`` has none (unless stale ones are asked for), and goal 17 is the same however many are drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from dialgauge.dialogue import Goal, Task
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.values import DAYS, clock_text, normal_slot
from dialgauge.worlds.town.database import VENUE_DOMAINS, TownDatabase
from dialgauge.worlds.town.goal_messages import messages
from dialgauge.worlds.town.likeness import minutes
from dialgauge.worlds.town.town_words import town_words
from dialgauge.worlds.town.vocabulary import TOWN_DOMAINS

RawTask = dict[str, Any]
Info = dict[str, str]

_PURPOSE = "town-goals"
#: Domains of a goal, and how many of 1,000 goals have them.
_COMBINATIONS: dict[tuple[str, ...], int] = {
    ("attraction", "train"): 163,
    ("restaurant", "train"): 155,
    ("hotel", "train"): 144,
    ("restaurant", "attraction"): 70,
    ("hotel",): 67,
    ("restaurant",): 62,
    ("restaurant", "attraction", "taxi"): 59,
    ("taxi",): 52,
    ("hotel", "attraction"): 50,
    ("restaurant", "hotel"): 49,
    ("hotel", "attraction", "taxi"): 42,
    ("restaurant", "hotel", "taxi"): 42,
    ("train",): 33,
    ("attraction",): 12,
}
#: Slots of a search with their counts; a hotel is searched by three or four of its slots.
_SEARCHES: dict[str, dict[tuple[str, ...], int]] = {
    "restaurant": {
        ("food", "pricerange", "area"): 168,
        ("name",): 91,
        ("pricerange", "area"): 62,
        ("food", "area"): 60,
        ("food", "pricerange"): 56,
    },
    "attraction": {("type", "area"): 144, ("name",): 86, ("area",): 84, ("type",): 82},
}
_HOTEL_SLOTS = ("type", "pricerange", "area", "stars", "parking", "internet")
_HOTEL_BY_NAME = 0.28
_BOOKED = {"restaurant": 0.63, "hotel": 0.59, "train": 0.51}
#: Slots whose first value fails, by how often they do, and the share of goals that have one of them where it can be.
_FAILING = {
    "restaurant": {"food": 1},
    "hotel": {"pricerange": 28, "internet": 15, "type": 14, "parking": 6, "stars": 4, "area": 3},
    "attraction": {"type": 56, "area": 1},
}
_FAILS = {"restaurant": 0.32, "hotel": 0.28, "attraction": 0.4}
#: The same for first values that would not fail.
_STALE = {"restaurant": 0.14, "hotel": 0.11, "attraction": 0.29}
#: Bookings refused at first, and the slots refused.
_REFUSED = {"restaurant": 0.15, "hotel": 0.17}
_REFUSALS = {"restaurant": {"time": 40, "day": 1}, "hotel": {"stay": 31, "day": 8}}
#: What is asked for, unless it is given; and how often one, two or three things are.
_QUESTIONS = {
    "restaurant": ("address", "postcode", "phone", "food", "pricerange", "area"),
    "hotel": ("phone", "postcode", "address", *_HOTEL_SLOTS),
    "attraction": ("entrance fee", "phone", "address", "postcode", "area", "type"),
    "train": ("duration", "price", "leaveAt", "trainID", "arriveBy"),
}
_HOW_MANY = {"restaurant": (56, 51, 55), "hotel": (45, 48, 67), "attraction": (148, 118, 130), "train": (94, 84, 65)}
_CONTACT = ("phone", "address", "postcode")
_SAME = 0.25
_QUARTER = 15
_LATEST = 23 * 60 + 45


def generate_goals(
    town: TownDatabase, count: int, seed: int = 0, *, stale: bool = False, emergencies: float = 0.0
) -> dict[str, dict[str, Any]]:
    """Goals ``TOWN0001``, ``TOWN0002``, ... by id, for a synthetic town or for MultiWOZ's own.

    ``stale`` adds values to try first that do not fail (MultiWOZ has them: the message is silent about them);
    ``emergencies`` is the share of goals about the hospital or the police.
    """
    if count < 0 or not 0 <= emergencies <= 1:
        raise DialgaugeError("the number of goals must be ≥ 0 and the share of emergencies between 0 and 1")
    source = _GoalSource(town, seed)
    goals = {}
    for number in range(1, count + 1):
        urgent = emergencies > 0 and Draws(seed, _PURPOSE, "emergency", number).unit() < emergencies
        goal = source.emergency(number) if urgent else source.goal(number)
        if stale:
            source.add_stale(goal, number)
        goals[f"TOWN{number:04}"] = goal
    return goals


def goal_record(raw: Mapping[str, Any]) -> Goal:
    """A goal as records have it, without the flags that belong to the tool which made MultiWOZ's goals."""
    tasks = {}
    for domain in TOWN_DOMAINS:
        task = raw.get(domain)
        if task:
            book = {slot: value for slot, value in task.get("book", {}).items() if isinstance(value, str)}
            tasks[domain] = Task(
                info=task["info"],
                fail_info=task.get("fail_info", {}),
                book=book,
                fail_book=task.get("fail_book", {}),
                requests=tuple(task.get("reqt", ())),
            )
    return Goal(tasks=tasks, message=tuple(raw["message"]))


class _Draft(Struct):
    """A goal so far: the party, its day, its tasks in order, and the venue that its taxi leaves or arrives at."""

    people: str
    day: str
    tasks: dict[str, RawTask] = field(default_factory=dict)
    way: str = ""


class _GoalSource:
    """Draws goals whose constraints the rows of one town fit."""

    def __init__(self, town: TownDatabase, seed: int) -> None:
        self._town, self._seed = town, seed
        self._rows = town.raw
        self._names = [row["name"] for domain in VENUE_DOMAINS for row in self._rows[domain]]
        self._home = Counter(row["departure"] for row in self._rows["train"]).most_common(1)[0][0]
        self._values: dict[tuple[str, str], list[str]] = {}
        # A train that arrives after midnight arrives "by" no time of its day.
        trains = [row for row in self._rows["train"] if minutes(row["leaveAt"]) < minutes(row["arriveBy"]) <= _LATEST]
        self._trains = {day: [row for row in trains if row["day"] == day] or trains for day in DAYS}
        self._makers: dict[str, Callable[[Draws, str, _Draft], RawTask]] = {
            **dict.fromkeys(VENUE_DOMAINS, self._venue),
            "train": self._train,
            "taxi": self._taxi,
        }

    def goal(self, number: int) -> dict[str, Any]:
        draws = Draws(self._seed, _PURPOSE, number)
        domains = list(_COMBINATIONS)[draws.weighted(list(_COMBINATIONS.values()))]
        order = draws.shuffled([domain for domain in domains if domain != "taxi"])
        order += [domain for domain in domains if domain == "taxi"]
        draft = _Draft(people=str(draws.integer(1, 8)), day=draws.pick(DAYS))
        for domain in order:
            draft.tasks[domain] = self._makers[domain](draws, domain, draft)
        return self._written(draft.tasks, number, draft.way)

    def emergency(self, number: int) -> dict[str, Any]:
        draws = Draws(self._seed, _PURPOSE, "urgent", number)
        departments = [row["department"] for row in self._rows["hospital"]]
        known = [domain for domain in ("hospital", "police") if self._rows[domain]]
        if not known:
            raise DialgaugeError(
                "this town has neither a hospital nor a police station; draw goals without emergencies"
            )
        domain = draws.pick(known)
        info = {"department": draws.pick(departments)} if domain == "hospital" else {}
        asked = draws.sample(_CONTACT, draws.integer(1, 3))
        return self._written({domain: {"info": info, "fail_info": {}, "reqt": asked}}, number)

    def add_stale(self, goal: dict[str, Any], number: int) -> None:
        draws = Draws(self._seed, _PURPOSE, "stale", number)
        for domain in VENUE_DOMAINS:
            task = goal[domain]
            if task and not task["fail_info"] and draws.unit() < _STALE[domain]:
                order = draws.shuffled(list(task["info"]))
                task["fail_info"] = self._changed(draws, domain, task["info"], order, empty=False)

    def _written(self, tasks: Mapping[str, RawTask], number: int, way: str = "") -> dict[str, Any]:
        sentences = messages(self._home, tasks, way, Draws(self._seed, _PURPOSE, "message", number))
        return {**{domain: tasks.get(domain, {}) for domain in TOWN_DOMAINS}, "message": sentences}

    def _venue(self, draws: Draws, domain: str, draft: _Draft) -> RawTask:
        row = draws.pick(self._alike_rows(draws, domain, draft))
        info = {slot: row[slot] for slot in _searched(draws, domain, row)}
        task: RawTask = {"info": info, "fail_info": {}}
        if draws.unit() < _FAILS[domain]:
            weights = {slot: weight for slot, weight in _FAILING[domain].items() if slot in info}
            if domain != "attraction" or "area" in info:
                order = _weighted_order(draws, weights)
                task["fail_info"] = self._changed(draws, domain, info, order, empty=True)
        if draws.unit() < _BOOKED.get(domain, 0):
            return task | _booking(draws, domain, draft)
        return task | {"reqt": _questions(draws, domain, info)}

    def _alike_rows(self, draws: Draws, domain: str, draft: _Draft) -> Sequence[dict[str, Any]]:
        """All rows, or now and then those in the area or price range of an earlier venue."""
        rows = self._rows[domain]
        earlier = [task["info"] for domain, task in draft.tasks.items() if domain in VENUE_DOMAINS]
        if not earlier or draws.unit() >= _SAME:
            return rows
        slot = draws.pick(("area", "pricerange") if domain != "attraction" else ("area",))
        return [row for row in rows if row.get(slot) == earlier[0].get(slot)] or rows

    def _changed(self, draws: Draws, domain: str, info: Info, order: Sequence[str], *, empty: bool) -> Info:
        """The constraints with one slot changed so that no row fits them, or some do; nothing where none can be."""
        for slot in order:
            values = self._values_of(domain, slot)
            if slot == "food" and empty and draws.unit() < 0.7:
                values = list(town_words().foods_elsewhere)
            for value in draws.shuffled(values):
                changed = {**info, slot: value}
                if value != info[slot] and (not self._fit(domain, changed)) is empty:
                    return changed
        return {}

    def _values_of(self, domain: str, slot: str) -> list[str]:
        known = self._values.get((domain, slot))
        if known is None:
            known = self._values[domain, slot] = sorted({row[slot] for row in self._rows[domain]})
        return known

    def _fit(self, domain: str, info: Info) -> int:
        return self._town.answer(domain, {normal_slot(slot): value for slot, value in info.items()})

    def _train(self, draws: Draws, domain: str, draft: _Draft) -> RawTask:
        row = draws.pick(self._trains[draft.day])
        info = {slot: row[slot] for slot in ("departure", "destination", "day")}
        if draws.unit() < 0.61:
            info["arriveBy"] = clock_text(-(-minutes(row["arriveBy"]) // _QUARTER) * _QUARTER)
        else:
            info["leaveAt"] = clock_text(minutes(row["leaveAt"]) // _QUARTER * _QUARTER)
        task: RawTask = {"info": info, "fail_info": {}}
        if draws.unit() < _BOOKED[domain]:
            return task | {"book": {"people": draft.people, "invalid": False}, "fail_book": {}}
        return task | {"reqt": _questions(draws, domain, info)}

    def _taxi(self, draws: Draws, _domain: str, draft: _Draft) -> RawTask:
        """A taxi between two places or, with only the time given, to or from a venue of the goal."""
        task: RawTask = {"info": {}, "fail_info": {}, "reqt": draws.shuffled(("car type", "phone"))}
        booked = draft.tasks.get("restaurant", {}).get("book")
        time = clock_text(_QUARTER * draws.integer(6 * 4, 23 * 4))
        if booked:
            draft.way = "restaurant"
            return task | {"info": {"arriveBy": booked["time"]}}
        if draft.tasks:
            draft.way = draws.pick(list(draft.tasks))
            return task | {"info": {"leaveAt": time}}
        departure, destination = draws.sample(self._names, 2)
        slot = "leaveAt" if draws.unit() < 0.58 else "arriveBy"
        return task | {"info": {"departure": departure, "destination": destination, slot: time}}


def _searched(draws: Draws, domain: str, row: Mapping[str, Any]) -> Sequence[str]:
    """The slots that a venue is searched by."""
    if domain != "hotel":
        searches = _SEARCHES[domain]
        return list(searches)[draws.weighted(list(searches.values()))]
    if draws.unit() < _HOTEL_BY_NAME:
        return ("name",)
    # Nobody searches for a hotel without wifi; it can only be what is tried first.
    wanted = [slot for slot in _HOTEL_SLOTS if row[slot] != "no"]
    return draws.sample(wanted, draws.integer(3, 4))


def _booking(draws: Draws, domain: str, draft: _Draft) -> RawTask:
    book: dict[str, Any] = {"people": draft.people, "day": draft.day}
    if domain == "restaurant":
        book["time"] = clock_text(_QUARTER * draws.integer(11 * 4, 20 * 4))
    else:
        book["stay"] = str(draws.integer(1, 4) if draws.unit() < 0.9 else 5)
    refused: Info = {}
    if draws.unit() < _REFUSED[domain]:
        slots = _REFUSALS[domain]
        slot = list(slots)[draws.weighted(list(slots.values()))]
        refused[slot] = _other_booking(draws, slot, book[slot])
    flags = {"invalid": False, "pre_invalid": True} if refused else {"invalid": False}
    return {"book": book | flags, "fail_book": refused}


def _other_booking(draws: Draws, slot: str, value: str) -> str:
    if slot == "time":
        return clock_text(minutes(value) + draws.pick((-60, 60)))
    choices = DAYS if slot == "day" else "12345"
    return draws.pick([choice for choice in choices if choice != value])


def _questions(draws: Draws, domain: str, info: Info) -> list[str]:
    open_questions = [slot for slot in _QUESTIONS[domain] if slot not in info]
    return draws.sample(open_questions, 1 + draws.weighted(_HOW_MANY[domain]))


def _weighted_order(draws: Draws, weights: Mapping[str, float]) -> list[str]:
    left, order = dict(weights), []
    while left:
        order.append(list(left)[draws.weighted(list(left.values()))])
        del left[order[-1]]
    return order
