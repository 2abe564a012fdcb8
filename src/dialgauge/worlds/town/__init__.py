"""The town of MultiWOZ: venues and trains in a database, and when a row fits what somebody asked for."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.worlds.domain import ASKED as ASKED, CHOICE as CHOICE, UNKNOWN as UNKNOWN, act as act
    from dialgauge.worlds.town.database import (
        DATABASE_DOMAINS as DATABASE_DOMAINS,
        VENUE_DOMAINS as VENUE_DOMAINS,
        TownDatabase as TownDatabase,
        load_town as load_town,
        town_beside as town_beside,
    )
    from dialgauge.worlds.town.generator import generate_town as generate_town, write_town as write_town
    from dialgauge.worlds.town.goal_generator import generate_goals as generate_goals, goal_record as goal_record
    from dialgauge.worlds.town.goals import Failures as Failures, town_goal as town_goal
    from dialgauge.worlds.town.likeness import (
        DONT_CARE as DONT_CARE,
        LikeTexts as LikeTexts,
        alike as alike,
        minutes as minutes,
    )
    from dialgauge.worlds.town.search import (
        Backend as Backend,
        TownSearch as TownSearch,
        ontology_of as ontology_of,
        spoken_ontology as spoken_ontology,
        town_domain as town_domain,
    )
    from dialgauge.worlds.town.vocabulary import (
        BOOK_SLOTS as BOOK_SLOTS,
        REFERENCE as REFERENCE,
        REQUEST_SLOTS as REQUEST_SLOTS,
        SEARCH_SLOTS as SEARCH_SLOTS,
        SYSTEM_ACTS as SYSTEM_ACTS,
        TOWN as TOWN,
        TOWN_DOMAINS as TOWN_DOMAINS,
        USER_ACTS as USER_ACTS,
        described as described,
        goal_act as goal_act,
        is_reference as is_reference,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
