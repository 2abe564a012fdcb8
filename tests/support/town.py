"""A small town: a database of a few rows, gold dialogues in the layout of MultiWOZ, and responses to them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dialgauge.worlds.domain import DomainSearch, MultiwozDatabase, load_domain, town_of

ROWS: dict[str, list[dict[str, Any]]] = {
    "restaurant": [
        {"id": "1", "name": "curry garden", "food": "indian", "area": "centre", "pricerange": "expensive",
         "location": [1, 2], "introduction": "hot", "phone": "01"},
        {"id": "2", "name": "yu garden", "food": "chinese", "area": "east", "pricerange": "expensive", "phone": "02"},
        {"id": "3", "name": "nandos", "food": "portuguese", "area": "south", "pricerange": "cheap"},
    ],
    "hotel": [
        {"id": "1", "name": "acorn guest house", "area": "north", "stars": "4", "parking": "yes", "internet": "yes",
         "type": "guesthouse", "pricerange": "moderate", "price": {"double": "60"}},
        {"id": "2", "name": "cityroomz", "area": "centre", "stars": "0", "parking": "no", "internet": "yes",
         "type": "hotel", "pricerange": "moderate"},
    ],
    "attraction": [
        {"id": "1", "name": "jesus green", "area": "north", "type": "swimmingpool", "entrance fee": "?"},
        {"id": "2", "name": "adc theatre", "area": "centre", "type": "theatre", "entrance fee": "4 pounds"},
        {"id": "3", "name": "mumford theatre", "area": "east", "type": "theatre", "entrance fee": "free"},
    ],
    "train": [
        {"trainID": "TR1", "day": "monday", "departure": "cambridge", "destination": "ely", "leaveAt": "09:50",
         "arriveBy": "10:07", "price": "4.40 pounds", "duration": "17 minutes"},
        {"trainID": "TR1", "day": "sunday", "departure": "ely", "destination": "cambridge", "leaveAt": "23:35",
         "arriveBy": "23:52", "price": "4.40 pounds", "duration": "17 minutes"},
        {"trainID": "TR2", "day": "monday", "departure": "cambridge", "destination": "ely", "leaveAt": "11:50",
         "arriveBy": "12:07", "price": "4.40 pounds", "duration": "17 minutes"},
    ],
}  # fmt: skip
# What is not written out above for any row is known of none; a postcode tells that it is Cambridge.
for _row in (_row for _domain in ("restaurant", "hotel", "attraction") for _row in ROWS[_domain]):
    _row["postcode"] = "cb11aa"
#: The town without rows, and its acts.
TOWN = load_domain("town").public
USER_ACTS, SYSTEM_ACTS = TOWN.acts("user"), TOWN.acts("system")


def town_search() -> DomainSearch:
    """What can be found in the small town."""
    return DomainSearch(town_of(MultiwozDatabase(tables=ROWS)))


def answer(
    text: str, states: Mapping[str, Mapping[str, str]], booked: Sequence[str] = (), spans: Sequence[Any] = ()
) -> dict[str, Any]:
    """A wizard's turn of the gold file."""
    domains = {*states, *booked}
    metadata = {
        domain: {
            "semi": dict(states.get(domain, {})),
            "book": {"booked": [{"reference": "X1"}] if domain in booked else [], "people": ""},
        }
        for domain in domains
    }
    return {"text": text, "metadata": metadata, "span_info": list(spans)}


def gold_file() -> dict[str, Any]:
    """Two dialogues: a hotel that is booked and a train, and a restaurant by name."""
    hotel = {"area": "north", "parking": "yes"}
    train = {"destination": "ely", "day": "monday", "leaveAt": "09:00"}
    return {
        "MUL0001.json": {
            "goal": {
                "hotel": {"info": hotel, "book": {"people": "2", "invalid": False}, "reqt": ["phone", "area"]},
                "train": {"info": train, "reqt": ["trainID"]},
                "taxi": {},
                "message": ["You want a hotel"],
            },
            "log": [
                {"text": "a hotel in the north with parking", "metadata": {}},
                answer(
                    "the Acorn guest house is in the north .",
                    {"hotel": hotel},
                    spans=[
                        ["Hotel-Inform", "Area", "north", 7, 7],
                        ["Hotel-Inform", "Name", "acorn guest house", 1, 3],
                    ],
                ),
                {"text": "book it , and the phone number ?", "metadata": {}},
                answer(
                    "it 's booked , reference ABC , phone 01 .",
                    {"hotel": hotel},
                    ["hotel"],
                    [["Booking-Book", "Ref", "ABC", 5, 5], ["Hotel-Inform", "Phone", "01", 8, 8]],
                ),
                {"text": "and a train to ely on monday after nine", "metadata": {}},
                answer(
                    "TR1 leaves at 09:50 .",
                    {"hotel": hotel, "train": train},
                    ["hotel"],
                    [["Train-Inform", "Id", "TR1", 0, 0], ["Train-Inform", "Leave", "09:50", 3, 3]],
                ),
            ],
        },
        "SNG0002.json": {
            "goal": {"restaurant": {"info": {"name": "nandos"}, "reqt": ["address"]}},
            "log": [
                {"text": "where is nandos ?", "metadata": {}},
                answer(
                    "it is in the south , Milton Road .",
                    {"restaurant": {"name": "nandos", "area": "not mentioned"}},
                    spans=[["Restaurant-Inform", "Addr", "milton road", 6, 7]],
                ),
            ],
        },
    }


def responses() -> dict[str, list[dict[str, Any]]]:
    """A system that does both jobs, by both rule sets."""
    hotel = {"hotel": {"area": "north", "parking": "yes"}}
    train = {**hotel, "train": {"destination": "ely", "day": "monday", "leaveat": "09:00"}}
    return {
        "mul0001": [
            {"response": "[hotel_name] is in the [hotel_area] .", "state": hotel, "active_domains": ["hotel"]},
            {
                "response": "booked , [hotel_reference] . the phone is [hotel_phone] .",
                "state": {"hotel": {**hotel["hotel"], "bookpeople": "2"}},
                "active_domains": ["hotel"],
            },
            {"response": "[train_id] leaves at [train_leave] .", "state": train, "active_domains": ["train"]},
        ],
        "sng0002": [
            {
                "response": "it is at [restaurant_address] .",
                "state": {"restaurant": {"name": "nando's"}},
                "active_domains": ["restaurant"],
            },
        ],
    }


def write_town(folder: Path) -> Path:
    """Gold file and database in a folder; the gold file's path."""
    database = folder / "db"
    database.mkdir(parents=True, exist_ok=True)
    for domain, rows in ROWS.items():
        (database / f"{domain}_db.json").write_text(json.dumps(rows))
    gold = folder / "gold.json"
    gold.write_text(json.dumps(gold_file()))
    return gold
