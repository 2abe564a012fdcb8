"""How people speak in the town, from ``spoken.yaml``: what its trained NLU looks at and practises with."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from dialgauge.yaml_file import shipped_yaml


class SpokenTown(Struct, frozen=True, forbid_unknown_fields=True):
    """The words; the file says what each is."""

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
    practice: dict[str, dict[str, tuple[str, ...]]]


@lru_cache(1)
def spoken_town() -> SpokenTown:
    """Read once."""
    return shipped_yaml("dialgauge.worlds.town", "spoken.yaml", as_text=True).as_record(SpokenTown, "a file of words")
