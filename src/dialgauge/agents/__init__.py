"""Who takes part in a conversation: simulated users, rule bots, rankers, endpoints, people; and the session loop."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.agents.ranker_bot import RankerBot
    from dialgauge.agents.replying import HttpBot
    from dialgauge.agents.restaurant_bot import RuleBot
    from dialgauge.agents.session import Conversation, converse

__all__ = [
    "Conversation",
    "HttpBot",
    "RankerBot",
    "RuleBot",
    "converse",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
