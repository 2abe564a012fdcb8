"""The agents of the town: users, systems, and how they speak and listen."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.agents.town.agenda import AgendaOptions, AgendaUser
    from dialgauge.agents.town.channel import Channel
    from dialgauge.agents.town.pipeline import TownSystem, TownUser
    from dialgauge.agents.town.policy import RuleSystem
    from dialgauge.agents.town.tracker import Belief

__all__ = ["AgendaOptions", "AgendaUser", "Belief", "Channel", "RuleSystem", "TownSystem", "TownUser"]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
