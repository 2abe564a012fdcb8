"""The instructions a person would be given for a goal: sentences with the emphasis that MultiWOZ's have.

Domains are mentioned in the order in which they are to be discussed. A value that fails is told first, what to ask for
instead after it: "If there is no such hotel, how about ...", "If the booking fails how about ...".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialgauge.draws import Draws

Task = Mapping[str, Any]

_PLACES = {"restaurant": "place to dine", "hotel": "place to stay", "attraction": "places to go"}
_ASKED = {
    "phone": "phone number",
    "pricerange": "price range",
    "food": "kind of food",
    "stars": "star rating",
    "internet": "whether they have free wifi",
    "parking": "whether they have free parking",
    "duration": "travel time",
    "price": "ticket price",
    "leaveAt": "departure time",
    "arriveBy": "arrival time",
    "trainID": "train ID",
}
_AMENITIES = {"internet": "free wifi", "parking": "free parking"}


def messages(town: str, tasks: Mapping[str, Task], way: str, draws: Draws) -> list[str]:
    """The sentences for tasks in their order; ``way`` is the venue that a taxi between two venues starts or ends at."""
    sentences = [f"You are spending a few days in {town.title()}"] if len(tasks) > 1 else []
    for index, (domain, task) in enumerate(tasks.items()):
        earlier = dict(list(tasks.items())[:index])
        also = "also " if earlier else ""
        if domain in _PLACES:
            sentences += _venue(domain, task, earlier, also, draws)
        elif domain == "train":
            sentences += _train(task, earlier, also, draws)
        elif domain == "taxi":
            sentences += _taxi(task, way, draws)
        else:
            sentences += _emergency(domain, task)
        if task.get("book"):
            sentences += [*_booking(domain, task, earlier, draws), f"Remember to get the {_strong('reference number')}"]
        if task.get("reqt"):
            sentences.append(f"Find out {_listed([_strong(_question(domain, slot)) for slot in task['reqt']])}")
    return sentences


def _strong(text: str) -> str:
    return f"<span class='emphasis'>{text}</span>"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join((", ".join(parts[:-1]), parts[-1])) if len(parts) > 1 else parts[0]


def _question(domain: str, slot: str) -> str:
    if slot == "type":
        return f"{domain} type"
    if domain == "taxi" and slot == "phone":
        return "contact number"
    return _ASKED.get(slot, slot)


def _venue(domain: str, task: Task, earlier: Mapping[str, Task], also: str, draws: Draws) -> list[str]:
    info, first = task["info"], task["fail_info"] or task["info"]
    if "name" in info:
        return [f"You are {also}looking for a {_strong(f'particular {domain}')}. It is called {_strong(info['name'])}"]
    slots = draws.shuffled(list(first))
    wishes = [_wish(slot, first[slot], _same_as(slot, first[slot], earlier, draws)) for slot in slots]
    article = "" if domain == "attraction" else "a "
    sentences = _wishes(f"You are {also}looking for {article}{_strong(_PLACES[domain])}.", domain, wishes)
    changed = [slot for slot in slots if first[slot] != info[slot]]
    sentences += [f"If there is no such {domain}, how about one that {_instead(slot, info[slot])}" for slot in changed]
    return sentences


def _wishes(opening: str, domain: str, wishes: Sequence[str]) -> list[str]:
    """Two wishes to a sentence."""
    pairs = [" and ".join(wishes[start : start + 2]) for start in range(0, len(wishes), 2)]
    return [f"{opening} The {domain} should {pairs[0]}", *(f"The {domain} should {pair}" for pair in pairs[1:])]


def _wish(slot: str, value: str, same_as: str) -> str:
    if same_as:
        like = "price range" if slot == "pricerange" else slot
        return f"be in {_strong(f'the same {like} as the {same_as}')}"
    if slot in _AMENITIES:
        return f"{'offer' if value == 'yes' else 'be without'} {_strong(_AMENITIES[slot])}"
    return {
        "food": f"serve {_strong(value)} food",
        "pricerange": f"be in the {_strong(value)} price range",
        "area": f"be in the {_strong(value)}",
        "type": f"be of the type {_strong(value)}",
        "stars": f"have {_strong(f'a star rating of {value}')}",
    }[slot]


def _instead(slot: str, value: str) -> str:
    if slot in _AMENITIES:
        return f"{'has' if value == 'yes' else 'has no'} {_strong(_AMENITIES[slot])}"
    return {
        "food": f"serves {_strong(value)} food",
        "pricerange": f"is in the {_strong(value)} price range",
        "area": f"is in the {_strong(value)}",
        "type": f"is of the type {_strong(value)}",
        "stars": f"has {_strong(f'a star rating of {value}')}",
    }[slot]


def _same_as(slot: str, value: str, earlier: Mapping[str, Task], draws: Draws) -> str:
    """An earlier venue with the same area or price range, where it may be told so."""
    same = [domain for domain, task in earlier.items() if task["info"].get(slot) == value]
    return same[0] if same and slot in ("area", "pricerange") and draws.unit() < 0.7 else ""


def _train(task: Task, earlier: Mapping[str, Task], also: str, draws: Draws) -> list[str]:
    info = task["info"]
    booked = [domain for domain, other in earlier.items() if other.get("book", {}).get("day") == info["day"]]
    wishes = {
        "departure": f"depart from {_strong(info['departure'])}",
        "destination": f"go to {_strong(info['destination'])}",
        "day": f"leave on {_strong(f'the same day as the {booked[0]} booking' if booked else info['day'])}",
    }
    if "arriveBy" in info:
        wishes["arriveBy"] = _strong(f"arrive by {info['arriveBy']}")
    if "leaveAt" in info:
        wishes["leaveAt"] = _strong(f"leave after {info['leaveAt']}")
    opening = f"You are {also}looking for a {_strong('train')}."
    return _wishes(opening, "train", [wishes[slot] for slot in draws.shuffled(list(wishes))])


def _taxi(task: Task, way: str, draws: Draws) -> list[str]:
    info = task["info"]
    if way:
        opening = f"You also want a {_strong('taxi')} to commute between the two places"
        if "arriveBy" in info:
            return [opening, f"Make sure that it arrives the {way} {_strong('by the booked time')}"]
        return [opening, f"You want to leave the {_strong(way)} by {_strong(info['leaveAt'])}"]
    wishes = [f"go to {_strong(info['destination'])}", f"depart from {_strong(info['departure'])}"]
    time = f"arrive by {info['arriveBy']}" if "arriveBy" in info else f"leave after {info['leaveAt']}"
    return _wishes(f"You want to book a {_strong('taxi')}.", "taxi", [*draws.shuffled(wishes), _strong(time)])


def _booking(domain: str, task: Task, earlier: Mapping[str, Task], draws: Draws) -> list[str]:
    book, refused = task["book"], task["fail_book"]
    first = {**book, **refused}
    before = [other["book"] for other in earlier.values() if other.get("book")]
    people = _counted(first["people"], "person", "people")
    if before and before[0]["people"] == first["people"] and draws.unit() < 0.5:
        people = "the same group of people"
    if domain == "train":
        return [f"Once you have found the train, book it for {_strong(people)}"]
    day = first["day"]
    if any(other.get("day") == day for other in before) and draws.unit() < 0.5:
        day = "the same day"
    if domain == "restaurant":
        what = f"a table for {_strong(people)} at {_strong(first['time'])} on {_strong(day)}"
    else:
        what = f"it for {_strong(people)} and {_strong(_nights(first['stay']))} from {_strong(day)}"
    instead = [_nights(book[slot]) if slot == "stay" else book[slot] for slot in refused]
    return [
        f"Once you have found the {_strong(domain)}, book {what}",
        *(f"If the booking fails how about {_strong(value)}" for value in instead),
    ]


def _nights(stay: str) -> str:
    return _counted(stay, "night", "nights")


def _counted(number: str, singular: str, several: str) -> str:
    return f"{number} {singular if number == '1' else several}"


def _emergency(domain: str, task: Task) -> list[str]:
    if domain == "police":
        return [f"You have been robbed and need the {_strong('police')}"]
    department = _strong(task["info"]["department"])
    return [f"You have hurt yourself and need a {_strong('hospital')}. It should have the department {department}"]
