"""Where dialogues can happen: venues, databases, goals and phrases; tools and their records. No agents."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.worlds.desk import CallOutcome as CallOutcome, Desk as Desk, Side as Side
    from dialgauge.worlds.folders import installed_domains as installed_domains
    from dialgauge.worlds.tools import (
        AsGiven as AsGiven,
        ToolError as ToolError,
        ends as ends,
        for_user as for_user,
        writes as writes,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
