"""Domains as data: the folder of a domain read into records, its rows searched and booked, its goals read or drawn."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.worlds.domain.backend import Booking, DomainBackend
    from dialgauge.worlds.domain.checking import DomainCheck, check_domain, shares_table
    from dialgauge.worlds.domain.document_reader import DOMAIN_FILE
    from dialgauge.worlds.domain.drawing import DrawnGoals, DrawnShares, draw_goals, shares_of
    from dialgauge.worlds.domain.goals import DomainGoal, GoalFindings, ServiceTask, declared_goal, read_goals
    from dialgauge.worlds.domain.loader import domain_names, domain_of, is_folder, load_domain, read_domain
    from dialgauge.worlds.domain.matching import (
        DAYS,
        MATCHES,
        ORDERED,
        Match,
        clock_text,
        comparable,
        fits,
        members,
        minutes,
        number,
        plain,
        truth,
    )
    from dialgauge.worlds.domain.rows_file import RowsFile, read_rows
    from dialgauge.worlds.domain.schema import FEW, GENERAL, Domain, GoalDraw, Inventory, SlotWords
    from dialgauge.worlds.domain.search import DomainSearch, Entity, Found, ServiceTable, either
    from dialgauge.worlds.domain.service import (
        ASKED,
        BOOK,
        CHOICE,
        SEARCH,
        UNKNOWN,
        BookSpec,
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
    "MATCHES",
    "ORDERED",
    "SEARCH",
    "UNKNOWN",
    "BookSpec",
    "Booking",
    "Domain",
    "DomainBackend",
    "DomainCheck",
    "DomainGoal",
    "DomainSearch",
    "DrawnGoals",
    "DrawnShares",
    "Entity",
    "Found",
    "GoalDraw",
    "GoalFindings",
    "Inventory",
    "Match",
    "Role",
    "RowsFile",
    "SearchSlot",
    "Service",
    "ServiceTable",
    "ServiceTask",
    "SlotType",
    "SlotWords",
    "act",
    "check_domain",
    "clock_text",
    "comparable",
    "declared_goal",
    "domain_names",
    "domain_of",
    "draw_goals",
    "either",
    "fits",
    "is_folder",
    "load_domain",
    "members",
    "minutes",
    "new_domain",
    "number",
    "plain",
    "read_domain",
    "read_goals",
    "read_rows",
    "shares_of",
    "shares_table",
    "truth",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
