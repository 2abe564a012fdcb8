"""A small town in the layout of MultiWOZ: its database, two gold dialogues, and a system that serves both."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Rows = Mapping[str, Sequence[Mapping[str, Any]]]

#: Columns that every table needs; a cell that no row has is written as unknown.
_COLUMNS = {
    "restaurant": ("address", "area", "food", "id", "name", "phone", "postcode", "pricerange", "type"),
    "hotel": ("address", "area", "id", "internet", "name", "parking", "phone", "postcode", "pricerange", "stars",
              "type"),
    "attraction": ("address", "area", "entrance fee", "id", "name", "openhours", "phone", "postcode", "pricerange",
                   "type"),
    "train": ("arriveBy", "day", "departure", "destination", "duration", "leaveAt", "price", "trainID"),
}  # fmt: skip


def _train(id: str, day: str, departure: str, destination: str, leave: str, arrive: str) -> dict[str, str]:
    return {"trainID": id, "day": day, "departure": departure, "destination": destination, "leaveAt": leave,
            "arriveBy": arrive, "price": "4.40 pounds", "duration": "17 minutes"}  # fmt: skip


ROWS: Rows = {
    "restaurant": [
        {"id": "1", "name": "curry garden", "food": "indian", "area": "centre", "pricerange": "expensive",
         "phone": "01"},
        {"id": "2", "name": "yu garden", "food": "chinese", "area": "east", "pricerange": "expensive", "phone": "02"},
        {"id": "3", "name": "nandos", "food": "portuguese", "area": "south", "pricerange": "cheap"},
    ],
    "hotel": [
        {"id": "1", "name": "acorn guest house", "area": "north", "stars": "4", "parking": "yes", "internet": "yes",
         "type": "guesthouse", "pricerange": "moderate"},
        {"id": "2", "name": "cityroomz", "area": "centre", "stars": "0", "parking": "no", "internet": "yes",
         "type": "hotel", "pricerange": "moderate"},
    ],
    "attraction": [
        {"id": "1", "name": "jesus green", "area": "north", "type": "swimmingpool", "entrance fee": "?"},
        {"id": "2", "name": "adc theatre", "area": "centre", "type": "theatre", "entrance fee": "4 pounds"},
        {"id": "3", "name": "mumford theatre", "area": "east", "type": "theatre", "entrance fee": "free"},
    ],
    "train": [  # two trains share their id
        _train("TR1", "monday", "cambridge", "ely", "09:50", "10:07"),
        _train("TR1", "sunday", "ely", "cambridge", "23:35", "23:52"),
        _train("TR2", "monday", "cambridge", "ely", "11:50", "12:07"),
    ],
}  # fmt: skip


def answer(
    text: str = "",
    state: Mapping[str, Mapping[str, str]] | None = None,
    booked: Sequence[str] = (),
    spans: Sequence[Any] = (),
) -> dict[str, Any]:
    """A wizard's turn of a gold file."""
    metadata = {
        domain: {
            "semi": dict((state or {}).get(domain, {})),
            "book": {"booked": [{"reference": "X1"}] if domain in booked else [], "people": ""},
        }
        for domain in {**dict.fromkeys(state or ()), **dict.fromkeys(booked)}
    }
    return {"text": text, "metadata": metadata, "span_info": list(spans)}


def gold_dialogue(goal: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A dialogue of a gold file; what the user said is not looked at."""
    return {"goal": dict(goal), "log": [turn for each in answers for turn in ({"text": "and ?", "metadata": {}}, each)]}


HOTEL = {"area": "north", "parking": "yes"}
TRAIN = {"destination": "ely", "day": "monday", "leaveAt": "09:00"}


def gold_file() -> dict[str, Any]:
    """A hotel that is booked and a train, and a restaurant by name."""
    wanted = {
        "hotel": {"info": HOTEL, "book": {"people": "2", "invalid": False}, "reqt": ["phone", "area"]},
        "train": {"info": TRAIN, "reqt": ["trainID"]},
        "taxi": {},
    }
    first = answer(
        "the Acorn guest house is in the north .",
        {"hotel": HOTEL},
        spans=[["Hotel-Inform", "Area", "north", 7, 7], ["Hotel-Inform", "Name", "acorn guest house", 1, 3]],
    )
    second = answer(
        "it 's booked , reference ABC , phone 01 .",
        {"hotel": HOTEL},
        ["hotel"],
        [["Booking-Book", "Ref", "ABC", 5, 5], ["Hotel-Inform", "Phone", "01", 8, 8]],
    )
    third = answer(
        "TR1 leaves at 09:50 .",
        {"hotel": HOTEL, "train": TRAIN},
        ["hotel"],
        [["Train-Inform", "Id", "TR1", 0, 0], ["Train-Inform", "Leave", "09:50", 3, 3]],
    )
    where = answer(
        "it is in the south , Milton Road .",
        {"restaurant": {"name": "nandos", "area": "not mentioned"}},
        spans=[["Restaurant-Inform", "Addr", "milton road", 6, 7]],
    )
    return {
        "MUL0001.json": gold_dialogue(wanted, [first, second, third]),
        "SNG0002.json": gold_dialogue({"restaurant": {"info": {"name": "nandos"}, "reqt": ["address"]}}, [where]),
    }


def responses() -> dict[str, list[dict[str, Any]]]:
    """A system that does both jobs, by both rule sets."""
    hotel = {"hotel": dict(HOTEL)}
    train = {**hotel, "train": {"destination": "ely", "day": "monday", "leaveat": "09:00"}}
    return {
        "mul0001": [
            turn("[hotel_name] is in the [hotel_area] .", hotel, "hotel"),
            turn("booked , [hotel_reference] . the phone is [hotel_phone] .", hotel, "hotel"),
            turn("[train_id] leaves at [train_leave] .", train, "train"),
        ],
        "sng0002": [turn("it is at [restaurant_address] .", {"restaurant": {"name": "nando's"}}, "restaurant")],
    }


def turn(response: str, state: Mapping[str, Any] | None = None, *active: str) -> dict[str, Any]:
    """A turn of a prediction file."""
    return {"response": response, "state": dict(state or {}), "active_domains": list(active)}


def write_town(folder: Path, gold: Mapping[str, Any] | None = None, rows: Rows = ROWS) -> Path:
    """Gold file and database in a folder; the gold file's path."""
    database = folder / "db"
    database.mkdir(parents=True, exist_ok=True)
    for domain, columns in _COLUMNS.items():
        table = [dict(row) for row in rows.get(domain, ROWS[domain])]
        for column in columns:
            if not any(column in row for row in table):
                for row in table:
                    row[column] = "cb11aa" if column == "postcode" else "?"
        (database / f"{domain}_db.json").write_text(json.dumps(table))
    path = folder / "gold.json"
    path.write_text(json.dumps(gold_file() if gold is None else gold))
    return path
