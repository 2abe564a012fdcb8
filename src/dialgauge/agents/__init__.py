"""Who takes part in a conversation: simulated users, rule bots, rankers, endpoints, people; and the session loop."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.agents.history_bots import CallableBot, HistoryBot, HttpBot, ModelBot
    from dialgauge.agents.keyboard import RESTART, KeyboardSystem, KeyboardUser
    from dialgauge.agents.llm.desk import Desk
    from dialgauge.agents.protocol import (
        AGENT_ERROR,
        END_WORDS,
        LOOP_GUARD,
        MAX_EXCHANGES,
        SYSTEM_QUIT,
        TIME_BUDGET,
        TOKEN_BUDGET,
        USER_DONE,
        USER_GAVE_UP,
        Agent,
        Database,
        Environment,
        Level,
        Limits,
        Overrulable,
        RandomStreams,
        Reply,
        SystemContext,
        ToolBackend,
        Usage,
        UserContext,
    )
    from dialgauge.agents.registry import BUILT_IN, agent_names, converted_options, deciding_options, make_agent
    from dialgauge.agents.replier import AgentReplier
    from dialgauge.agents.restaurant_bot import RuleBot
    from dialgauge.agents.restaurant_user import RestaurantUser
    from dialgauge.agents.rules import RuleAgent, Rules
    from dialgauge.agents.session import ALARM, EXPLANATION, Scenario, converse
    from dialgauge.agents.tool_desk import ToolDesk, ToolPlan

__all__ = [
    "AGENT_ERROR",
    "ALARM",
    "BUILT_IN",
    "END_WORDS",
    "EXPLANATION",
    "LOOP_GUARD",
    "MAX_EXCHANGES",
    "RESTART",
    "SYSTEM_QUIT",
    "TIME_BUDGET",
    "TOKEN_BUDGET",
    "USER_DONE",
    "USER_GAVE_UP",
    "Agent",
    "AgentReplier",
    "CallableBot",
    "Database",
    "Desk",
    "Environment",
    "HistoryBot",
    "HttpBot",
    "KeyboardSystem",
    "KeyboardUser",
    "Level",
    "Limits",
    "ModelBot",
    "Overrulable",
    "RandomStreams",
    "Reply",
    "RestaurantUser",
    "RuleAgent",
    "RuleBot",
    "Rules",
    "Scenario",
    "SystemContext",
    "ToolBackend",
    "ToolDesk",
    "ToolPlan",
    "Usage",
    "UserContext",
    "agent_names",
    "converse",
    "converted_options",
    "deciding_options",
    "make_agent",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
