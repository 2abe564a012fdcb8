"""Tool domains: functions over records, tasks that are judged by what was done to them, and replay of recorded calls.

>>> from dialgauge.worlds.tools import load_tool_domain
>>> world = load_tool_domain("depot").world()
>>> world.call("track_parcel", {"parcel_id": "P-1001"}).ok
True
"""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.worlds.tools.arithmetic import calculated
    from dialgauge.worlds.tools.integrity import (
        MOST_FOREIGN,
        Integrity,
        check_integrity,
        check_log,
        identifiers_of,
        log_domain,
        same_logs,
        tasks_of_log,
    )
    from dialgauge.worlds.tools.integrity_words import (
        filing_words,
        integrity_document,
        integrity_sentences,
        withheld_words,
    )
    from dialgauge.worlds.tools.isolation import CallLimits
    from dialgauge.worlds.tools.loading import is_tool_domain, load_tool_domain, names_tool_domain
    from dialgauge.worlds.tools.marking import AsGiven, ToolError, ends, for_user, writes
    from dialgauge.worlds.tools.replaying import RecordedCall, Replay, replay
    from dialgauge.worlds.tools.soundness import DomainReport, check_tool_domain
    from dialgauge.worlds.tools.tables import canonical, field_changes, same_changes
    from dialgauge.worlds.tools.task_files import (
        GoldCall,
        ToolTask,
        gold_calls,
        read_calls,
        read_tool_tasks,
        tau2_entries,
    )
    from dialgauge.worlds.tools.tool_domain import ToolDomain
    from dialgauge.worlds.tools.verdicts import AgentText, Conduct, is_told, judge
    from dialgauge.worlds.tools.world import CallOutcome, ToolCall, World

__all__ = [
    "MOST_FOREIGN",
    "AgentText",
    "AsGiven",
    "CallLimits",
    "CallOutcome",
    "Conduct",
    "DomainReport",
    "GoldCall",
    "Integrity",
    "RecordedCall",
    "Replay",
    "ToolCall",
    "ToolDomain",
    "ToolError",
    "ToolTask",
    "World",
    "calculated",
    "canonical",
    "check_integrity",
    "check_log",
    "check_tool_domain",
    "ends",
    "field_changes",
    "filing_words",
    "for_user",
    "gold_calls",
    "identifiers_of",
    "integrity_document",
    "integrity_sentences",
    "is_told",
    "is_tool_domain",
    "judge",
    "load_tool_domain",
    "log_domain",
    "names_tool_domain",
    "read_calls",
    "read_tool_tasks",
    "replay",
    "same_changes",
    "same_logs",
    "tasks_of_log",
    "tau2_entries",
    "withheld_words",
    "writes",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
