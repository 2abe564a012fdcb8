"""dialgauge measures task-oriented dialogue: trackers, bots, simulated users, and whole systems in conversation.

The names below are the public API. They are imported when first used, so that ``import dialgauge`` costs nothing.
"""

from __future__ import annotations

from dialgauge._lazy import lazy
from dialgauge._version import __version__

TYPE_CHECKING = False  # typing's own would cost a third of the time of `dialgauge --help`
if TYPE_CHECKING:
    from dialgauge.api import compare, review
    from dialgauge.comparison import Comparison
    from dialgauge.data import check, convert
    from dialgauge.dialogue import Act, Dialogue, Fact, Goal, Ontology, Task, Turn
    from dialgauge.errors import DialgaugeError
    from dialgauge.explorer import write_report
    from dialgauge.formats import read, write
    from dialgauge.lab import converse, simulate
    from dialgauge.measures import Score
    from dialgauge.report import RunSet
    from dialgauge.runs import Run, Store
    from dialgauge.tasks import score_tasks
    from dialgauge.tracking import Accumulator, compute, score
    from dialgauge.users import score_users
    from dialgauge.users.faults import user_faults
    from dialgauge.worlds.restaurant import load_world

__all__ = [
    "Accumulator",
    "Act",
    "Comparison",
    "DialgaugeError",
    "Dialogue",
    "Fact",
    "Goal",
    "Ontology",
    "Run",
    "RunSet",
    "Score",
    "Store",
    "Task",
    "Turn",
    "__version__",
    "check",
    "compare",
    "compute",
    "converse",
    "convert",
    "load_world",
    "read",
    "review",
    "score",
    "score_tasks",
    "score_users",
    "simulate",
    "user_faults",
    "write",
    "write_report",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)


def __dir__() -> list[str]:
    return sorted(__all__)
