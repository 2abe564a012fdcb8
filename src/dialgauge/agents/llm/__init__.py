"""Language models as users and systems: a thin client, cassettes, budgets, and a small model of our own."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.agents.llm.budget import (
        BudgetSpent as BudgetSpent,
        DialogueBudget as DialogueBudget,
    )
    from dialgauge.agents.llm.cassette import (
        Cassette as Cassette,
        Completion as Completion,
        TapeEntry as TapeEntry,
        request_key as request_key,
    )
    from dialgauge.agents.llm.chat import (
        ChatClient as ChatClient,
        chat_settings as chat_settings,
        clean_text as clean_text,
        completion_of as completion_of,
    )
    from dialgauge.agents.llm.language_system import json_instructions as json_instructions, llm_system as llm_system
    from dialgauge.agents.llm.language_user import goal_prompt as goal_prompt
    from dialgauge.agents.llm.local_model import LocalModel as LocalModel
    from dialgauge.agents.llm.settings import ChatSettings as ChatSettings
    from dialgauge.agents.llm.speaker import reported_acts as reported_acts
    from dialgauge.agents.llm.tool_agents import tool_agent as tool_agent
    from dialgauge.agents.llm.transport import ChatError as ChatError, Transport as Transport


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
