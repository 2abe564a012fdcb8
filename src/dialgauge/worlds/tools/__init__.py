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
    from dialgauge.worlds.tools.calls import Replay as Replay, call_page as call_page, replay as replay
    from dialgauge.worlds.tools.log_integrity import (
        MOST_FOREIGN as MOST_FOREIGN,
        Integrity as Integrity,
        check_integrity as check_integrity,
        identifiers_of as identifiers_of,
        log_benchmark as log_benchmark,
        log_domain as log_domain,
        tasks_of_log as tasks_of_log,
    )
    from dialgauge.worlds.tools.tool_domain import (
        ToolDesk as ToolDesk,
        ToolDomain as ToolDomain,
        ToolPlan as ToolPlan,
        World as World,
        canonical as canonical,
        field_changes as field_changes,
        same_changes as same_changes,
    )
    from dialgauge.worlds.tools.tool_folder import (
        check_tool_domain as check_tool_domain,
        is_tool_domain as is_tool_domain,
        load_tool_domain as load_tool_domain,
        names_tool_domain as names_tool_domain,
    )
    from dialgauge.worlds.tools.tool_tasks import (
        GoldCall as GoldCall,
        ToolCall as ToolCall,
        ToolTask as ToolTask,
        read_calls as read_calls,
        read_tool_tasks as read_tool_tasks,
    )
    from dialgauge.worlds.tools.tools import (
        AsGiven as AsGiven,
        ToolError as ToolError,
        calculated as calculated,
        ends as ends,
        for_user as for_user,
        writes as writes,
    )
    from dialgauge.worlds.tools.verdicts import (
        AgentText as AgentText,
        Conduct as Conduct,
        is_told as is_told,
        judge as judge,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
