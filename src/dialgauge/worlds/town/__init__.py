"""The town of MultiWOZ: venues and trains in a database, and when a row fits what somebody asked for."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.worlds.domain import ASKED, CHOICE, UNKNOWN, act
    from dialgauge.worlds.town.database import DATABASE_DOMAINS, VENUE_DOMAINS, TownDatabase, load_town, town_beside
    from dialgauge.worlds.town.document import described
    from dialgauge.worlds.town.generator import generate_town, write_town
    from dialgauge.worlds.town.goal_generator import generate_goals, goal_record
    from dialgauge.worlds.town.goals import Failures, town_goal
    from dialgauge.worlds.town.likeness import DONT_CARE, LikeTexts, alike, minutes
    from dialgauge.worlds.town.search import Backend, TownSearch, ontology_of, spoken_ontology
    from dialgauge.worlds.town.town import town_domain
    from dialgauge.worlds.town.town_words import spoken_town
    from dialgauge.worlds.town.vocabulary import (
        BOOK_SLOTS,
        REFERENCE,
        REQUEST_SLOTS,
        SEARCH_SLOTS,
        SYSTEM_ACTS,
        TOWN,
        TOWN_DOMAINS,
        USER_ACTS,
        goal_act,
        is_reference,
    )

__all__ = [
    "ASKED",
    "BOOK_SLOTS",
    "CHOICE",
    "DATABASE_DOMAINS",
    "DONT_CARE",
    "REFERENCE",
    "REQUEST_SLOTS",
    "SEARCH_SLOTS",
    "SYSTEM_ACTS",
    "TOWN",
    "TOWN_DOMAINS",
    "UNKNOWN",
    "USER_ACTS",
    "VENUE_DOMAINS",
    "Backend",
    "Failures",
    "LikeTexts",
    "TownDatabase",
    "TownSearch",
    "act",
    "alike",
    "described",
    "generate_goals",
    "generate_town",
    "goal_act",
    "goal_record",
    "is_reference",
    "load_town",
    "minutes",
    "ontology_of",
    "spoken_ontology",
    "spoken_town",
    "town_beside",
    "town_domain",
    "town_goal",
    "write_town",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
