"""Language models as users and systems: a thin client, cassettes, budgets, and a small model of our own."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.agents.llm.cassette import (
        Cassette as Cassette,
        Completion as Completion,
        TapeEntry as TapeEntry,
        request_key as request_key,
    )
    from dialgauge.agents.llm.client import (
        BudgetSpent as BudgetSpent,
        ChatClient as ChatClient,
        ChatError as ChatError,
        chat_settings as chat_settings,
        clean_text as clean_text,
        completion_of as completion_of,
    )
    from dialgauge.agents.llm.language_agents import goal_prompt as goal_prompt, json_instructions as json_instructions
    from dialgauge.agents.llm.local_model import LocalModel as LocalModel
    from dialgauge.agents.llm.settings import ChatSettings as ChatSettings


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
