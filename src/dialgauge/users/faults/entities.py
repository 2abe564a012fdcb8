"""Things in a text that are either known or made up: e-mail addresses, ids, dates, amounts, airports, phone numbers.

Only what a text shows beyond doubt is found here: a check that compares them must not stumble over wording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_EMAIL = re.compile(r"\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+\b")
_USER_ID = re.compile(r"(?<![@\w.])[a-z]+_[a-z]+_\d{2,}\b(?!@)")
_ITEM_ID = re.compile(r"\b(?:certificate|gift_card|credit_card|paypal)_\d{3,}\b")
_PHONE = re.compile(r"(?<![\d-])\d{3}[-. ]\d{3}[-. ]\d{4}(?![\d-])")
_ORDER = re.compile(r"#[A-Z]\d{5,}\b")
FLIGHT = re.compile(r"\b[A-Z]{2,3}\d{3,4}\b")
_AMOUNT = re.compile(r"\$\s?(\d[\d,]*(?:\.\d+)?)")
#: Six capitals or digits with a letter: a booking code, if it has a digit or stands in a sentence about bookings.
_BOOKING = re.compile(r"(?<![\w#-])(?=[A-Z0-9]*[A-Z])[A-Z0-9]{6}(?![\w-])")
_ABOUT_BOOKINGS = re.compile(r"\b(?:reservation|confirmation|booking|record locator)s?\b", re.IGNORECASE)
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" if name != "may" else "may" for name in _MONTHS)
_DAY_OF_MONTH = re.compile(
    rf"\b({_MONTH})\.?\s+(?:the\s+)?(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*(?:am|pm|:\d))", re.IGNORECASE
)
_MONTH_AFTER_DAY = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b", re.IGNORECASE)
_ISO = re.compile(r"\b(?:19|20)\d\d-(\d\d)-(\d\d)\b")
_ORDINAL = re.compile(r"\bthe (\d{1,2})(?:st|nd|rd|th)\b(?!\s+(?:of|\w+ (?:flight|one|option|reservation)|"
                      r"flight|one|option|reservation|passenger|time|leg|segment|bag))")  # fmt: skip

#: Airports of the United States, for users that name a city by its airport or the other way round.
AIRPORTS = {
    "ATL": "atlanta", "BOS": "boston", "CLT": "charlotte", "DEN": "denver", "DFW": "dallas", "DTW": "detroit",
    "EWR": "newark", "IAH": "houston", "JFK": "new york", "LAS": "las vegas", "LAX": "los angeles",
    "LGA": "new york", "MCO": "orlando", "MIA": "miami", "MSP": "minneapolis", "ORD": "chicago",
    "PHL": "philadelphia", "PHX": "phoenix", "SEA": "seattle", "SFO": "san francisco", "SLC": "salt lake city",
    "BWI": "baltimore", "DCA": "washington", "SAN": "san diego", "TPA": "tampa", "PDX": "portland", "AUS": "austin",
}  # fmt: skip
#: Other ways to say where an airport is.
_ALSO = {
    "EWR": ("new york", "new jersey", "ny", "nyc"), "JFK": ("ny", "nyc"), "LGA": ("ny", "nyc"),
    "LAX": ("la", "west coast"), "SFO": ("sf", "west coast"), "SEA": ("west coast",), "LAS": ("vegas",), "DCA": ("dc",),
    "SAN": ("west coast",), "PDX": ("west coast",), "PHL": ("philly",),
}  # fmt: skip
_CODE = re.compile(rf"\b(?:{'|'.join(AIRPORTS)})\b")
_CITY = re.compile(rf"\b(?:{'|'.join(sorted(set(AIRPORTS.values())))})\b", re.IGNORECASE)
#: The longest a stated day may lie from one that is known, to have been reckoned from it.
_RECKONED = 8


class StatedEntity(Struct, frozen=True):
    """A thing of a kind, as written and in the form in which it is compared."""

    kind: str
    written: str
    value: str


def entities(text: str) -> Iterator[StatedEntity]:
    """The things in a text that no wording explains: addresses, ids, numbers of flights, phones, days, airports."""
    patterns = {
        "e-mail address": _EMAIL, "user id": _USER_ID, "payment id": _ITEM_ID, "phone number": _PHONE,
        "order id": _ORDER, "flight number": FLIGHT,
    }  # fmt: skip
    for kind, pattern in patterns.items():
        for match in pattern.finditer(text):
            yield StatedEntity(kind, match[0], match[0].lower())
    for code in bookings(text):
        yield StatedEntity("booking code", code, code.lower())
    for match in _CODE.finditer(text):
        yield StatedEntity("airport", match[0], match[0].lower())
    for match in _CITY.finditer(text):
        yield StatedEntity("city", match[0], match[0].lower())
    for day, written in days(text):
        yield StatedEntity("day", written, day)


def bookings(text: str) -> list[str]:
    """Codes of bookings: with a digit anywhere, without one where bookings are spoken of.

    >>> bookings("Cancel HXDUBJ and 59XX6W please. It is URGENT.")
    ['59XX6W']
    >>> bookings("Cancel reservation HXDUBJ.")
    ['HXDUBJ']
    """
    about = _ABOUT_BOOKINGS.search(text) is not None
    return [
        match[0]
        for match in _BOOKING.finditer(text)
        if not FLIGHT.fullmatch(match[0])
        and (re.search(r"\d", match[0]) or about)
        and re.search(r"[A-Z]", match[0])
        and not match[0].isdigit()
    ]


def days(text: str) -> list[tuple[str, str]]:
    """Days that a text names, as month and day or, without a month, as ``-`` and day; each as written too.

    >>> days("From May 23 to 2024-05-24, or on the 5th")
    [('5-23', 'May 23'), ('5-24', '2024-05-24'), ('--5', 'the 5th')]
    """
    named = []
    for match in _DAY_OF_MONTH.finditer(text):
        named.append((_month(match[1]), int(match[2]), match[0]))
    for match in _MONTH_AFTER_DAY.finditer(text):
        named.append((_month(match[2]), int(match[1]), match[0]))
    for match in _ISO.finditer(text):
        named.append((int(match[1]), int(match[2]), match[0]))
    dated = [(f"{month}-{day}", written) for month, day, written in named if 1 <= day <= 31]
    return dated + [(f"--{match[1]}", match[0]) for match in _ORDINAL.finditer(text)]


def _month(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, start=1) if month.startswith(name.lower()[:3]))


def amounts(text: str) -> list[float]:
    """Amounts in dollars.

    >>> amounts("It costs $1,016.50 or $ 20")
    [1016.5, 20.0]
    """
    return [float(match[1].replace(",", "").rstrip(".")) for match in _AMOUNT.finditer(text)]


def is_known(entity: StatedEntity, text: str) -> bool:
    """Does what was told explain a thing? Days may be reckoned from others, airports named by their city."""
    lower = text.lower()
    if entity.kind == "day":
        return _day_known(entity.value, text)
    if entity.kind in ("airport", "city"):
        return any(re.search(rf"\b{name}\b", lower) for name in _names_of(entity))
    if entity.kind == "phone number":
        return re.sub(r"\D", "", entity.value) in re.sub(r"[-. ()]", "", text)
    return entity.value in lower


def _names_of(city_or_airport: StatedEntity) -> list[str]:
    """The names under which a place may have been told: its airports, its city, and what else these are called."""
    codes = [code for code, city in AIRPORTS.items() if city_or_airport.value in (code.lower(), city)]
    return [name for code in codes for name in (code.lower(), AIRPORTS[code], *_ALSO.get(code, ()))]


def _day_known(value: str, text: str) -> bool:
    """A day is known where one within reach was named; without any month, where the number of the day was."""
    if value.startswith("--"):
        day = int(value[2:])
        return any(abs(int(known.rsplit("-", 1)[1]) - day) <= _RECKONED for known, _ in days(text))
    month, day = map(int, value.split("-"))
    for known, _ in days(text):
        known_month, _, known_day = known.rpartition("-")
        if known_month.strip("-") in ("", str(month)) and abs(int(known_day) - day) <= _RECKONED:
            return True
    return False
