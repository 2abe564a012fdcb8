"""Many conversations: simulated corpora, and systems in front of simulated users."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.lab.blame.attribution import ConversationBlame, blame_conversations
    from dialgauge.lab.blame.blame_views import (
        blame_document,
        blame_explanation,
        blame_list,
        blame_rows,
        blame_tables,
        require_blame,
    )
    from dialgauge.lab.blame.broken_links import CAUSE_WORDS, BrokenLink
    from dialgauge.lab.corpora import (
        Form,
        Written,
        conversations_with,
        dialog_file,
        restaurant_scenario,
        simulate,
        splits_of,
        world_facts,
        write_release,
    )
    from dialgauge.lab.cross import CrossCell, CrossEvaluation, cross_evaluation
    from dialgauge.lab.domain_source import (
        LoadedDomain,
        goal_named,
        goal_tables,
        one_goal_table,
        open_domain,
        open_town,
    )
    from dialgauge.lab.interaction import failed, failures, interact, interaction_table, move_to, world_task
    from dialgauge.lab.lab_config import (
        LAB_LIMITS,
        AgentSpec,
        LabConfig,
        check_setting,
        hold_conversations,
        lab_scenario,
        make_lab_config,
        with_states,
    )
    from dialgauge.lab.lab_results import LabRuns, write_conversations
    from dialgauge.lab.lab_run import converse, judged_conversations, lab_signature, run_lab, scored_run
    from dialgauge.lab.measures import score_conversations
    from dialgauge.lab.model_tracking import Tracked, track_corpus
    from dialgauge.lab.prediction import auc, auc_within, line_error, predictors, rank_agreement
    from dialgauge.lab.study import ERRORS, Condition, channel_conditions, study_figure, study_run, study_tables
    from dialgauge.lab.told_acts import with_told_acts
    from dialgauge.lab.tool_runs import run_tool_domain

__all__ = [
    "CAUSE_WORDS",
    "ERRORS",
    "LAB_LIMITS",
    "AgentSpec",
    "BrokenLink",
    "Condition",
    "ConversationBlame",
    "CrossCell",
    "CrossEvaluation",
    "Form",
    "LabConfig",
    "LabRuns",
    "LoadedDomain",
    "Tracked",
    "Written",
    "auc",
    "auc_within",
    "blame_conversations",
    "blame_document",
    "blame_explanation",
    "blame_list",
    "blame_rows",
    "blame_tables",
    "channel_conditions",
    "check_setting",
    "conversations_with",
    "converse",
    "cross_evaluation",
    "dialog_file",
    "failed",
    "failures",
    "goal_named",
    "goal_tables",
    "hold_conversations",
    "interact",
    "interaction_table",
    "judged_conversations",
    "lab_scenario",
    "lab_signature",
    "line_error",
    "make_lab_config",
    "move_to",
    "one_goal_table",
    "open_domain",
    "open_town",
    "predictors",
    "rank_agreement",
    "require_blame",
    "restaurant_scenario",
    "run_lab",
    "run_tool_domain",
    "score_conversations",
    "scored_run",
    "simulate",
    "splits_of",
    "study_figure",
    "study_run",
    "study_tables",
    "track_corpus",
    "with_states",
    "with_told_acts",
    "world_facts",
    "world_task",
    "write_conversations",
    "write_release",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
