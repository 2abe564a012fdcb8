"""Domains as data: the folder of a domain read into records, its rows searched and booked, its goals read or drawn."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.worlds.domain.checking import check_domain as check_domain, shares_table as shares_table
    from dialgauge.worlds.domain.document_reader import DOMAIN_FILE as DOMAIN_FILE
    from dialgauge.worlds.domain.drawing import DrawnShares as DrawnShares, draw_goals as draw_goals
    from dialgauge.worlds.domain.goals import (
        DomainGoal as DomainGoal,
        GoalFindings as GoalFindings,
        ServiceTask as ServiceTask,
        declared_goal as declared_goal,
        read_goals as read_goals,
    )
    from dialgauge.worlds.domain.loader import (
        domain_of as domain_of,
        is_folder as is_folder,
        load_domain as load_domain,
        read_domain as read_domain,
    )
    from dialgauge.worlds.domain.matching import (
        ORDERED as ORDERED,
        fits as fits,
        members as members,
    )
    from dialgauge.worlds.domain.rows_file import RowsFile as RowsFile
    from dialgauge.worlds.domain.schema import FEW as FEW, GENERAL as GENERAL, Domain as Domain
    from dialgauge.worlds.domain.search import (
        DomainSearch as DomainSearch,
        Entity as Entity,
        Found as Found,
        ServiceTable as ServiceTable,
        either as either,
    )
    from dialgauge.worlds.domain.service import (
        ASKED as ASKED,
        BOOK as BOOK,
        CHOICE as CHOICE,
        SEARCH as SEARCH,
        UNKNOWN as UNKNOWN,
        Role as Role,
        SearchSlot as SearchSlot,
        Service as Service,
        SlotType as SlotType,
        act as act,
    )
    from dialgauge.worlds.domain.service_desk import Booking as Booking, ServiceDesk as ServiceDesk
    from dialgauge.worlds.domain.starting import new_domain as new_domain


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
