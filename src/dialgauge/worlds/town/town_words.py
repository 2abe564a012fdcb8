"""The words that synthetic towns are named with, and those that people use there; the files say what each is."""

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


class SpokenTown(Struct, frozen=True, forbid_unknown_fields=True):
    """How people speak in the town: what its trained NLU looks at."""

    not_foods: frozenset[str]
    colours: tuple[str, ...]
    makes: tuple[str, ...]
    streets: frozenset[str]
    name_ends: tuple[str, ...]
    not_names: frozenset[str]
    service_words: dict[str, tuple[str, ...]]
    kinds: dict[str, str]
    kinds_of_type: dict[str, str]
    slot_kinds: dict[str, tuple[str, ...]]
    also_said: dict[str, dict[str, tuple[str, ...]]]
    known: dict[str, tuple[str, ...]]
    ends_of_rides: tuple[str, ...]


@lru_cache(1)
def spoken_town() -> SpokenTown:
    """The words of ``spoken.yaml``."""
    return shipped_yaml("dialgauge.worlds.town", "spoken.yaml", as_text=True).as_record(SpokenTown, "a file of words")
