"""Was the job done? Recorded responses, and recorded conversations, against the user's goal and the database."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.tasks.predictions import (
        read_predictions as read_predictions,
    )
    from dialgauge.tasks.reasons import (
        REASON_GROUPS as REASON_GROUPS,
        REASONS as REASONS,
        TaskFailure as TaskFailure,
        failure_texts as failure_texts,
        reason_texts as reason_texts,
        reasons_table as reasons_table,
    )
    from dialgauge.tasks.recordings.compat import CompatVerdict as CompatVerdict
    from dialgauge.tasks.recordings.conduct import (
        ALIKE as ALIKE,
        ConversationCounts as ConversationCounts,
        paired_items as paired_items,
    )
    from dialgauge.tasks.recordings.judging import (
        ACTS_READ as ACTS_READ,
        JudgedConversation as JudgedConversation,
        JudgedConversations as JudgedConversations,
        judge_outcomes as judge_outcomes,
    )
    from dialgauge.tasks.recordings.measures import NEEDS_ACTS as NEEDS_ACTS
    from dialgauge.tasks.recordings.scoring import (
        CALLS as CALLS,
        CONVERSATIONS as CONVERSATIONS,
        HEARD as HEARD,
        OUTCOMES as OUTCOMES,
        outcome_frames as outcome_frames,
        score_outcomes as score_outcomes,
    )
    from dialgauge.tasks.recordings.strict import StrictVerdict as StrictVerdict, TaskOutcome as TaskOutcome
    from dialgauge.tasks.scoring import TaskEvaluation as TaskEvaluation, score_tasks as score_tasks


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
