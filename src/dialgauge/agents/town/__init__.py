"""The agents of the town: users, systems, and the channel between what is said and what is heard."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.agents.town.agenda import AgendaOptions as AgendaOptions, AgendaUser as AgendaUser
    from dialgauge.agents.town.baseline import BaselineOptions as BaselineOptions, BaselineUser as BaselineUser
    from dialgauge.agents.town.channel import (
        ERROR_KINDS as ERROR_KINDS,
        SHIPPED as SHIPPED,
        Channel as Channel,
        ChannelRates as ChannelRates,
        Damage as Damage,
        kind_of as kind_of,
    )
    from dialgauge.agents.town.pipeline import TownSystem as TownSystem, TownUser as TownUser
    from dialgauge.agents.town.policy import Belief as Belief, RuleSystem as RuleSystem


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
