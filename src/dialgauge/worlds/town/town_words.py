"""The words that synthetic towns are named with; the file says what each is."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.yaml_file import shipped_yaml


class TownWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What there is to name a town with."""

    town_name: str
    postcode_area: str
    phone_prefix: str
    areas: tuple[str, ...]
    area_shares: dict[str, tuple[int, ...]]
    price_ranges: tuple[str, ...]
    foods: dict[str, tuple[int, str]]
    foods_elsewhere: tuple[str, ...]
    local_names: tuple[str, ...]
    restaurant_names: dict[str, tuple[str, ...]]
    restaurant_forms: dict[str, tuple[str, ...]]
    two_word_forms: tuple[str, ...]
    first_words: tuple[str, ...]
    second_words: tuple[str, ...]
    lodging_forms: dict[str, tuple[str, ...]]
    attractions: dict[str, tuple[int, tuple[str, ...]]]
    opening_hours: tuple[str, ...]
    opening_nights: tuple[str, ...]
    fees: dict[str, tuple[str, ...]]
    streets: dict[str, tuple[str, ...]]
    near_stations: dict[str, int]
    far_stations: dict[str, int]
    departments: tuple[str, ...]
    hospital_street: str
    police_name: str
    police_street: str
    taxi_colours: tuple[str, ...]
    taxi_makes: tuple[str, ...]
    dishes: tuple[str, ...]
    introductions: tuple[str, ...]


@lru_cache(1)
def town_words() -> TownWords:
    """The words of ``town_words.yaml``; restaurants may have local names too."""
    words = shipped_yaml("dialgauge.worlds.town", "town_words.yaml").as_record(TownWords, "a file of words")
    return replace(words, restaurant_names={**words.restaurant_names, "local": words.local_names})
