"""Many conversations: simulated corpora, and systems in front of simulated users."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.lab.blame.attribution import ConversationBlame, blame_conversations
    from dialgauge.lab.blame.blame_views import blame_document, blame_explanation, blame_list, blame_tables, blamed_run
    from dialgauge.lab.blame.broken_links import CAUSE_WORDS, BrokenLink
    from dialgauge.lab.conversations import conversations_with, restaurant_scenario
    from dialgauge.lab.corpora import Form, dialog_file, simulate, splits_of, write_release
    from dialgauge.lab.interaction import failed, failures, interact, interaction_table, move_to, world_task
    from dialgauge.lab.lab_run import LAB_KIND, LabRuns, converse, scored_run, town_run, write_conversations
    from dialgauge.lab.measures import score_conversations
    from dialgauge.lab.model_tracking import Tracked, track_corpus
    from dialgauge.lab.sittings import LAB_LIMITS, AgentSpec, Sitting, hold_conversations, make_sitting, town_scenario
    from dialgauge.lab.study import (
        ERRORS,
        RATES,
        STUDY_KIND,
        Condition,
        channel_conditions,
        study_figure,
        study_run,
        study_tables,
    )
    from dialgauge.lab.town_source import LoadedTown, goal_named, goal_tables, one_goal_table, open_town

__all__ = [
    "CAUSE_WORDS",
    "ERRORS",
    "LAB_KIND",
    "LAB_LIMITS",
    "RATES",
    "STUDY_KIND",
    "AgentSpec",
    "BrokenLink",
    "Condition",
    "ConversationBlame",
    "Form",
    "LabRuns",
    "LoadedTown",
    "Sitting",
    "Tracked",
    "blame_conversations",
    "blame_document",
    "blame_explanation",
    "blame_list",
    "blame_tables",
    "blamed_run",
    "channel_conditions",
    "conversations_with",
    "converse",
    "dialog_file",
    "failed",
    "failures",
    "goal_named",
    "goal_tables",
    "hold_conversations",
    "interact",
    "interaction_table",
    "make_sitting",
    "move_to",
    "one_goal_table",
    "open_town",
    "restaurant_scenario",
    "score_conversations",
    "scored_run",
    "simulate",
    "splits_of",
    "study_figure",
    "study_run",
    "study_tables",
    "town_run",
    "town_scenario",
    "track_corpus",
    "world_task",
    "write_conversations",
    "write_release",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
