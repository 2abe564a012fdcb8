"""Many conversations: simulated corpora, and systems in front of simulated users."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.lab.conversations import conversations_with, restaurant_scenario
    from dialgauge.lab.corpora import Form, dialog_file, simulate, splits_of, write_release
    from dialgauge.lab.interaction import failed, failures, interact, interaction_table, move_to, world_task
    from dialgauge.lab.measures import score_conversations

__all__ = [
    "Form",
    "conversations_with",
    "dialog_file",
    "failed",
    "failures",
    "interact",
    "interaction_table",
    "move_to",
    "restaurant_scenario",
    "score_conversations",
    "simulate",
    "splits_of",
    "world_task",
    "write_release",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
