"""Domains as data: the folder of a domain read into records, its rows searched and booked, its goals read or drawn."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.worlds.domain.domain import (
        ASKED as ASKED,
        BOOK as BOOK,
        CHOICE as CHOICE,
        FEW as FEW,
        GENERAL as GENERAL,
        ORDERED as ORDERED,
        SEARCH as SEARCH,
        UNKNOWN as UNKNOWN,
        Domain as Domain,
        Role as Role,
        SearchSlot as SearchSlot,
        Service as Service,
        SlotType as SlotType,
        act as act,
        fits as fits,
        members as members,
    )
    from dialgauge.worlds.domain.domain_folder import (
        load_domain as load_domain,
        new_domain as new_domain,
        read_domain as read_domain,
    )
    from dialgauge.worlds.domain.drawing import (
        check_domain as check_domain,
        draw_goals as draw_goals,
        shares_table as shares_table,
    )
    from dialgauge.worlds.domain.goals import (
        DomainGoal as DomainGoal,
        GoalFindings as GoalFindings,
        ServiceTask as ServiceTask,
        declared_goal as declared_goal,
        read_goals as read_goals,
    )
    from dialgauge.worlds.domain.multiwoz import (
        Failures as Failures,
        MultiwozDatabase as MultiwozDatabase,
        database_beside as database_beside,
        goal_act as goal_act,
        multiwoz_goal as multiwoz_goal,
        read_database as read_database,
        town_of as town_of,
    )
    from dialgauge.worlds.domain.rows import RowsFile as RowsFile
    from dialgauge.worlds.domain.search import (
        DomainSearch as DomainSearch,
        Entity as Entity,
    )
    from dialgauge.worlds.domain.service_desk import Booking as Booking, ServiceDesk as ServiceDesk
    from dialgauge.worlds.folders import DOMAIN_FILE as DOMAIN_FILE


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
