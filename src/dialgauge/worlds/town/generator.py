"""Synthetic towns: a database with the tables, columns and gaps of MultiWOZ's, every name in it invented.

A seed gives the same bytes on every machine. Gaps are as in the real tables, so that whoever is tried here meets them:
restaurants without a phone, attractions whose fee or hours nobody knows (``?``), trains that arrive after midnight,
train ids that several trains share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.files import write_all
from dialgauge.values import DAYS, clock_text
from dialgauge.worlds.town.database import TownDatabase
from dialgauge.worlds.town.likeness import LikeTexts, alike
from dialgauge.worlds.town.town_words import town_words

Row = dict[str, Any]

words = town_words()
_UNKNOWN = "?"
_WEEKEND = ("saturday", "sunday")
_PURPOSE = "town"
#: Trains each way on a day: first minute of the first hour, and minutes between two. As many as in MultiWOZ.
_INTERVALS = (30, 60, 60, 60, 60, 60, 60, 120, 120, 120, 120, 120)
_FIRST_HOUR, _LAST_HOUR = 5, 23
_DAY_MINUTES = 24 * 60
#: Least and most of each, as far as names reach.
_SIZES = {
    "restaurants": (5, 120), "hotels": (5, 45), "attractions": (12, 90), "stations": (2, 13), "departments": (1, 40),
}  # fmt: skip


def generate_town(
    seed: int = 0,
    *,
    restaurants: int = 110,
    hotels: int = 33,
    attractions: int = 79,
    stations: int = 13,
    departments: int = 40,
) -> TownDatabase:
    """A town: venues, trains between its station and the others, a hospital, the police and taxis.

    >>> town = generate_town(seed=7)
    >>> town.raw["hotel"][0]["name"] == generate_town(seed=7).raw["hotel"][0]["name"]
    True
    """
    sizes = {
        "restaurants": restaurants, "hotels": hotels, "attractions": attractions,
        "stations": stations, "departments": departments,
    }  # fmt: skip
    for name, size in sizes.items():
        least, most = _SIZES[name]
        if not least <= size <= most:
            raise DialgaugeError(f"a synthetic town has {least} to {most} {name}, not {size}")
    places = _Places(seed)
    # Hotels and attractions can have names of one kind only, so they come first.
    hotel_rows = _hotels(seed, hotels, places)
    attraction_rows = _attractions(seed, attractions, places)
    rows = {
        "restaurant": _restaurants(seed, restaurants, places),
        "hotel": hotel_rows,
        "attraction": attraction_rows,
        "train": _trains(seed, stations),
        "hospital": _hospital(departments, places),
        "police": [_police(places)],
    }
    taxi = {
        "taxi_colors": list(words.taxi_colours),
        "taxi_types": list(words.taxi_makes),
        "taxi_phone": ["^[0-9]{10}$"],
    }
    return TownDatabase(rows, taxi=taxi)


def write_town(folder: str | Path, town: TownDatabase, goals: Mapping[str, Any]) -> None:
    """Write a town and its goals as MultiWOZ lays them out: ``db/hotel_db.json`` and others, and ``data.json``."""
    target = Path(folder)
    tables: dict[str, Any] = {**town.raw, "taxi": town.taxi}
    files = {target / "db" / f"{name}_db.json": table for name, table in tables.items() if table}
    dialogues = {f"{name}.json": {"goal": goal, "log": []} for name, goal in goals.items()}
    write_all({path: _readable(content) for path, content in {**files, target / "data.json": dialogues}.items()})


def _readable(content: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


class _Places:
    """Names, phone numbers and addresses, each given away once."""

    def __init__(self, seed: int) -> None:
        draws = Draws(seed, _PURPOSE, "names")
        self._draws = draws
        self._single = {flavour: draws.shuffled(pool) for flavour, pool in words.restaurant_names.items()}
        self._first, self._second = draws.shuffled(words.first_words), draws.shuffled(words.second_words)
        self._phones = iter(draws.shuffled(range(1000)))
        self._taken: list[str] = []

    def named(self, forms: Sequence[str], flavour: str = "local") -> str:
        return self._first_unlike(forms, self._single[flavour]) or self.two_words()

    def two_words(self) -> str:
        """A name like "the velvet otter"; once every word was tried, words meet other words."""
        name = self._first_unlike(words.two_word_forms, self._first, self._second)
        if not name:
            self._first = self._draws.shuffled(words.first_words)
            self._second = self._draws.shuffled(words.second_words)
            name = self._first_unlike(words.two_word_forms, self._first, self._second)
        if not name:
            raise DialgaugeError("the synthetic town has run out of names; ask for fewer venues")
        return name

    def _first_unlike(self, forms: Sequence[str], *pools: list[str]) -> str:
        """A name unlike every other (who asks for one of two alike would be shown both), "" where none is left."""
        while all(pools):
            parts = [pool.pop() for pool in pools]
            for form in self._draws.shuffled(forms):
                name = form.format(*parts)
                near = LikeTexts(self._taken).perhaps_alike(name)
                # Of two names of one length, either can be alike to the other and not the other way round.
                if not any(alike(other, name) or alike(name, other) for other in near):
                    self._taken.append(name)
                    return name
        return ""

    def phone(self) -> str:
        return f"{words.phone_prefix}{next(self._phones):03}"

    def postcode(self, area: str) -> str:
        letters = "".join(self._draws.pick("abdefghjlnpqrstuwxyz") for _ in range(2))
        return f"{words.postcode_area}{words.areas.index(area) + 1}{self._draws.integer(1, 9)}{letters}"

    def address(self, area: str) -> str:
        return f"{self._draws.integer(1, 180)} {self._draws.pick(words.streets[area])}"

    def location(self) -> list[float]:
        """Somewhere in the sea."""
        return [round(54.9 + 0.05 * self._draws.unit(), 6), round(2.1 + 0.08 * self._draws.unit(), 6)]


def _spread(draws: Draws, values: Sequence[str], shares: Sequence[float], count: int) -> list[str]:
    """So many values in random order, each as often as its share says, and at least once where there is room."""
    times = [1] * len(values) if count >= len(values) else [0] * len(values)
    whole = sum(shares)
    for _ in range(count - sum(times)):
        # The value that is furthest behind its share.
        behind = [share * count / whole - given for share, given in zip(shares, times, strict=True)]
        times[behind.index(max(behind))] += 1
    return draws.shuffled([value for value, often in zip(values, times, strict=True) for _ in range(often)])


def _some(draws: Draws, count: int, share: float) -> set[int]:
    """Positions of a share of so many rows, one at least."""
    return set(draws.sample(range(count), max(round(count * share), 1)))


def _restaurants(seed: int, count: int, places: _Places) -> list[Row]:
    draws = Draws(seed, _PURPOSE, "restaurant")
    foods = _spread(draws, list(words.foods), [share for share, _ in words.foods.values()], count)
    areas = _spread(draws, words.areas, words.area_shares["restaurant"], count)
    prices = _spread(draws, words.price_ranges, (25, 35, 50), count)
    without_phone, plain = _some(draws, count, 0.027), _some(draws, count, 0.127)
    with_dish = _some(draws, count, 0.145) - plain - without_phone
    rows: list[Row] = []
    for number, (food, area, price) in enumerate(zip(foods, areas, prices, strict=True)):
        flavour = words.foods[food][1]
        single = draws.unit() < 0.6
        name = places.named(words.restaurant_forms[flavour], flavour) if single else places.two_words()
        row: Row = {"address": places.address(area).title(), "area": area, "food": food, "id": str(5001 + number)}
        if number not in plain:
            row["introduction"] = draws.pick(words.introductions).format(name=name, food=food, area=area)
        row |= {"location": places.location(), "name": name}
        if number not in without_phone:
            row["phone"] = places.phone()
        row |= {"postcode": places.postcode(area), "pricerange": price}
        if number in with_dish:
            row["signature"] = draws.pick(words.dishes)
        rows.append(row | {"type": "restaurant"})
    return rows


def _hotels(seed: int, count: int, places: _Places) -> list[Row]:
    draws = Draws(seed, _PURPOSE, "hotel")
    kinds = _spread(draws, ("guesthouse", "hotel"), (21, 12), count)
    areas = _spread(draws, words.areas, words.area_shares["hotel"], count)
    prices = _spread(draws, words.price_ranges, (10, 16, 7), count)
    without_internet, without_parking = _some(draws, count, 0.1), _some(draws, count, 0.2)
    rows: list[Row] = []
    for number, (kind, area, price) in enumerate(zip(kinds, areas, prices, strict=True)):
        rows.append(
            {
                "address": places.address(area),
                "area": area,
                "internet": "no" if number in without_internet else "yes",
                "parking": "no" if number in without_parking else "yes",
                "id": str(number),
                "location": places.location(),
                "name": places.named(words.lodging_forms[kind]),
                "phone": places.phone(),
                "postcode": places.postcode(area),
                "price": _room_prices(draws, price),
                "pricerange": price,
                "stars": "0234"[draws.weighted((2, 3, 5, 8) if kind == "guesthouse" else (1, 3, 4, 4))],
                "takesbookings": "yes",
                "type": kind,
            }
        )
    return rows


def _room_prices(draws: Draws, price: str) -> dict[str, str]:
    single = {"cheap": 30, "moderate": 50, "expensive": 90}[price] + draws.integer(0, 18)
    double, family = single + draws.integer(10, 25), single + draws.integer(28, 50)
    prices = {"double": str(double), "family": str(family), "single": str(single)}
    missing = (None, "family", "single")[draws.weighted((22, 8, 3))]
    return {room: cost for room, cost in prices.items() if room != missing}


def _attractions(seed: int, count: int, places: _Places) -> list[Row]:
    draws = Draws(seed, _PURPOSE, "attraction")
    kinds = _spread(draws, list(words.attractions), [share for share, _ in words.attractions.values()], count)
    areas = _spread(draws, words.areas, words.area_shares["attraction"], count)
    prices = _spread(draws, ("free", _UNKNOWN, *words.price_ranges), (40, 22, 6, 9, 2), count)
    any_hours = _some(draws, count, 0.68)
    rows: list[Row] = []
    for number, (kind, area, price) in enumerate(zip(kinds, areas, prices, strict=True)):
        hours = words.opening_nights if kind == "nightclub" else words.opening_hours
        rows.append(
            {
                "address": places.address(area),
                "area": area,
                "entrance fee": draws.pick(words.fees[price]) if price in words.fees else price,
                "id": str(number + 1),
                "location": places.location(),
                "name": places.named(words.attractions[kind][1]),
                "openhours": draws.pick(hours) if number in any_hours else _UNKNOWN,
                "phone": places.phone(),
                "postcode": places.postcode(area),
                "pricerange": price,
                "type": kind,
            }
        )
    return rows


def _trains(seed: int, stations: int) -> list[Row]:
    draws = Draws(seed, _PURPOSE, "train")
    far = (stations - 1) // 3
    near = stations - 1 - far
    lengths = {**words.near_stations, **words.far_stations}
    others = draws.sample(list(words.near_stations), near) + draws.sample(list(words.far_stations), far)
    rows: list[Row] = []
    for other, interval in zip(draws.shuffled(others), _INTERVALS, strict=False):
        length = lengths[other] + draws.integer(-3, 3)
        pence = 10 * (draws.integer(22, 30) * length // 10 + draws.integer(5, 60))
        for departure, destination in ((words.town_name, other), (other, words.town_name)):
            ends = {"departure": departure, "destination": destination}
            times = [
                {"leaveAt": clock_text(minute), "arriveBy": _arrival(minute + length)}
                for minute in _departures(draws.integer(0, 59), interval)
            ]
            for day in DAYS:
                price = pence * 8 // 10 if day in _WEEKEND else pence
                fixed = {"duration": f"{length} minutes", "price": f"{price // 100}.{price % 100:02} pounds"}
                rows += [_train(draws, day, ends, time, fixed) for time in times]
    return rows


def _train(draws: Draws, day: str, ends: Row, time: Row, fixed: Row) -> Row:
    return {
        "arriveBy": time["arriveBy"],
        "day": day,
        **ends,
        "duration": fixed["duration"],
        "leaveAt": time["leaveAt"],
        "price": fixed["price"],
        "trainID": f"TR{draws.integer(0, 9999):04}",
    }


def _departures(past_the_hour: int, interval: int) -> Iterator[int]:
    first = 60 * _FIRST_HOUR + past_the_hour % min(interval, 60)
    return iter(range(first, 60 * (_LAST_HOUR + 1), interval))


def _arrival(minute: int) -> str:
    """The hour after midnight is written 24:xx, as MultiWOZ has it, and later ones 01:xx."""
    return clock_text(minute if minute < _DAY_MINUTES + 60 else minute - _DAY_MINUTES)


def _hospital(departments: int, places: _Places) -> list[Row]:
    address, postcode = f"{words.hospital_street} , {words.town_name}", places.postcode("south")
    return [
        {"department": name, "id": number, "phone": places.phone(), "address": address, "postcode": postcode}
        for number, name in enumerate(words.departments[:departments])
    ]


def _police(places: _Places) -> Row:
    address = f"{words.police_street}, {words.town_name.title()}"
    name, phone, postcode = words.police_name, places.phone(), places.postcode("centre")
    return {"name": name, "address": address, "id": 0, "phone": phone, "postcode": postcode}
