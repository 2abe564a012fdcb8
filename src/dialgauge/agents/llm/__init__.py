"""Language models as users, systems and trackers: a thin client, cassettes, budgets, and a small model of our own."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.agents.llm.budget import BudgetSpent, Cost, DialogueBudget, RunBudget
    from dialgauge.agents.llm.cassette import Cassette, Completion, TapeEntry, request_key
    from dialgauge.agents.llm.chat import ChatClient, clean_text, completion_of
    from dialgauge.agents.llm.desk import Desk
    from dialgauge.agents.llm.in_flight import awaited
    from dialgauge.agents.llm.language_system import json_instructions, llm_system
    from dialgauge.agents.llm.language_user import goal_prompt
    from dialgauge.agents.llm.local_model import LocalModel
    from dialgauge.agents.llm.observer import reported_acts
    from dialgauge.agents.llm.settings import ChatSettings
    from dialgauge.agents.llm.state_tracker import LlmTracker, chat_settings, slots_to_track
    from dialgauge.agents.llm.tool_agents import tool_agent
    from dialgauge.agents.llm.transport import ChatError, Transport

__all__ = [
    "BudgetSpent",
    "Cassette",
    "ChatClient",
    "ChatError",
    "ChatSettings",
    "Completion",
    "Cost",
    "Desk",
    "DialogueBudget",
    "LlmTracker",
    "LocalModel",
    "RunBudget",
    "TapeEntry",
    "Transport",
    "awaited",
    "chat_settings",
    "clean_text",
    "completion_of",
    "goal_prompt",
    "json_instructions",
    "llm_system",
    "reported_acts",
    "request_key",
    "slots_to_track",
    "tool_agent",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
