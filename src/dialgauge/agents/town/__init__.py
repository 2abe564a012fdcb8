"""The agents of the town: users, systems, and the channel between what is said and what is heard."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.agents.town.agenda import AgendaOptions, AgendaUser
    from dialgauge.agents.town.baseline import BaselineOptions, BaselineUser
    from dialgauge.agents.town.channel import Channel, ChannelRates, Damage, kind_of
    from dialgauge.agents.town.pipeline import TownSystem, TownUser
    from dialgauge.agents.town.policy import RuleSystem
    from dialgauge.agents.town.tracker import Belief

__all__ = [
    "AgendaOptions",
    "AgendaUser",
    "BaselineOptions",
    "BaselineUser",
    "Belief",
    "Channel",
    "ChannelRates",
    "Damage",
    "RuleSystem",
    "TownSystem",
    "TownUser",
    "kind_of",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
