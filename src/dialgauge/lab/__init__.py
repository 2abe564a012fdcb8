"""Many conversations: simulated corpora, and systems in front of simulated users."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.lab.blame.attribution import (
        ConversationBlame as ConversationBlame,
        blame_conversations as blame_conversations,
    )
    from dialgauge.lab.blame.reasons import CAUSE_WORDS as CAUSE_WORDS, blame_sentence as blame_sentence
    from dialgauge.lab.corpora import (
        Form as Form,
        Written as Written,
        conversations_with as conversations_with,
        dialog_file as dialog_file,
        restaurant_scenario as restaurant_scenario,
        simulate as simulate,
        splits_of as splits_of,
        world_facts as world_facts,
        write_release as write_release,
    )
    from dialgauge.lab.domain_source import (
        LoadedDomain as LoadedDomain,
        goal_named as goal_named,
        goal_page as goal_page,
        goals_page as goals_page,
        open_domain as open_domain,
    )
    from dialgauge.lab.interaction import (
        failed as failed,
        failures as failures,
        interact as interact,
        interaction_page as interaction_page,
        move_to as move_to,
        world_task as world_task,
    )
    from dialgauge.lab.lab_run import (
        converse as converse,
        judged_conversations as judged_conversations,
        lab_signature as lab_signature,
        run_lab as run_lab,
        scored_run as scored_run,
    )
    from dialgauge.lab.measures import score_conversations as score_conversations
    from dialgauge.lab.prediction import (
        auc as auc,
        auc_within as auc_within,
        line_error as line_error,
        predictors as predictors,
        rank_agreement as rank_agreement,
    )
    from dialgauge.lab.services import (
        check_setting as check_setting,
        hold_conversations as hold_conversations,
        lab_scenario as lab_scenario,
        with_states as with_states,
    )
    from dialgauge.lab.sessions import (
        LAB_LIMITS as LAB_LIMITS,
        AgentSpec as AgentSpec,
        LabConfig as LabConfig,
        make_lab_config as make_lab_config,
    )
    from dialgauge.lab.study import (
        Condition as Condition,
        channel_conditions as channel_conditions,
        run_study as run_study,
    )
    from dialgauge.lab.told_acts import with_told_acts as with_told_acts
    from dialgauge.lab.tools import run_tool_domain as run_tool_domain
    from dialgauge.lab.views import blame_rows as blame_rows, cross_evaluation as cross_evaluation


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
