"""A conversation's own copy of a tool domain's data, and the calls that are made on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from dialgauge.errors import nearest
from dialgauge.worlds.desk import CallOutcome, Side
from dialgauge.worlds.tools.marking import ToolError
from dialgauge.worlds.tools.tables import Changes, changes_in, copied, same_changes

if TYPE_CHECKING:
    from dialgauge.worlds.tools.tool_domain import ToolDomain


class ToolCall(Struct, frozen=True, omit_defaults=True):
    """A call to make: the tool, its arguments (anything that is no object is refused), and who makes it.

    Where nobody is named, it is whoever holds the tool.
    """

    name: str
    arguments: Any = {}
    side: Side | None = None


class World:
    """The data of one conversation.

    What a tool changed before it failed stays changed, as in the benchmarks; arguments that do not fit its signature
    are refused before it is called.
    """

    def __init__(self, domain: ToolDomain, data: dict[str, Any]) -> None:
        self.domain = domain
        self.data = data
        #: A call that was made, whatever came of it, of a tool that ends the conversation.
        self.ended = False

    def call(self, name: str, arguments: Any, side: Side | None = None) -> CallOutcome:
        """Make a call, as the system, the user, or whoever holds the tool."""
        tool = self.domain.tools.get(name)
        if tool is None or side not in (None, tool.side):
            known = [each.name for each in self.domain.tools.values() if side in (None, each.side)]
            return CallOutcome("unknown", reason=f"there is no tool '{name}'.{nearest(name, known)}")
        self.ended = self.ended or tool.ends
        if problem := tool.refusal(arguments):
            return CallOutcome("error", reason=problem)
        # A record must share nothing with what was given, nor a result with a record.
        return _attempt(lambda: copied(tool.function(self.data, **copied(arguments))))

    def call_all(self, calls: Iterable[ToolCall]) -> list[CallOutcome]:
        """Make calls in order, whatever comes of each."""
        return [self.call(call.name, call.arguments, call.side) for call in calls]

    def holds(self, check: str) -> bool:
        """Whether a ``check_`` function says that the data are as they should be; False where it fails."""
        function = self.domain.checks.get(check)
        if function is None:
            return False
        outcome = _attempt(lambda: function(self.data))
        return outcome.ok and outcome.result is True

    def changes(self) -> Changes:
        """The records that differ from a fresh world's."""
        return changes_in(self.data, self.domain.records, self.domain.compare)

    def equals(self, other: World) -> bool:
        """Whether the data are the same, compared as the domain says."""
        return same_changes(self.changes(), other.changes(), self.domain.compare)


def _attempt(work: Callable[[], Any]) -> CallOutcome:
    try:
        return CallOutcome("ok", work())
    except ToolError as error:
        return CallOutcome("error", reason=str(error))
    except (Exception, SystemExit) as error:  # an error like any other, says the specification
        return CallOutcome("error", reason=f"{type(error).__name__}: {error}"[:500])
