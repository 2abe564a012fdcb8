"""Domains as data: the folder of a domain read into records, its rows searched and booked, its goals read or drawn."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.worlds.domain.backend import Booking, DomainBackend
    from dialgauge.worlds.domain.checking import check_domain, shares_table
    from dialgauge.worlds.domain.document_reader import DOMAIN_FILE
    from dialgauge.worlds.domain.drawing import DrawnShares, draw_goals
    from dialgauge.worlds.domain.goals import DomainGoal, GoalFindings, ServiceTask, declared_goal, read_goals
    from dialgauge.worlds.domain.loader import domain_of, is_folder, load_domain, read_domain
    from dialgauge.worlds.domain.matching import DAYS, ORDERED, clock_text, comparable, fits, members, minutes, truth
    from dialgauge.worlds.domain.rows_file import RowsFile
    from dialgauge.worlds.domain.schema import FEW, GENERAL, Domain
    from dialgauge.worlds.domain.search import DomainSearch, Entity, Found, ServiceTable, either
    from dialgauge.worlds.domain.service import (
        ASKED,
        BOOK,
        CHOICE,
        SEARCH,
        UNKNOWN,
        Role,
        SearchSlot,
        Service,
        SlotType,
        act,
    )
    from dialgauge.worlds.domain.starting import new_domain

__all__ = [
    "ASKED",
    "BOOK",
    "CHOICE",
    "DAYS",
    "DOMAIN_FILE",
    "FEW",
    "GENERAL",
    "ORDERED",
    "SEARCH",
    "UNKNOWN",
    "Booking",
    "Domain",
    "DomainBackend",
    "DomainGoal",
    "DomainSearch",
    "DrawnShares",
    "Entity",
    "Found",
    "GoalFindings",
    "Role",
    "RowsFile",
    "SearchSlot",
    "Service",
    "ServiceTable",
    "ServiceTask",
    "SlotType",
    "act",
    "check_domain",
    "clock_text",
    "comparable",
    "declared_goal",
    "domain_of",
    "draw_goals",
    "either",
    "fits",
    "is_folder",
    "load_domain",
    "members",
    "minutes",
    "new_domain",
    "read_domain",
    "read_goals",
    "shares_table",
    "truth",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
