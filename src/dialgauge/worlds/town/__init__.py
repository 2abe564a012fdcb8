"""The town of MultiWOZ: venues and trains in a database, and when a row fits what somebody asked for."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.worlds.town.database import (
        DATABASE_DOMAINS,
        VENUE_DOMAINS,
        TownDatabase,
        load_town,
        town_beside,
    )
    from dialgauge.worlds.town.normal_values import (
        DONT_CARE,
        alike,
        minutes,
        normal_slot,
        normal_value,
        similarity,
    )

__all__ = [
    "DATABASE_DOMAINS",
    "DONT_CARE",
    "VENUE_DOMAINS",
    "TownDatabase",
    "alike",
    "load_town",
    "minutes",
    "normal_slot",
    "normal_value",
    "similarity",
    "town_beside",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
