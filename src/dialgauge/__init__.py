"""dialgauge measures task-oriented dialogue: trackers, bots, simulated users, and whole systems in conversation.

The names below are the public API. They are imported when first used, so that ``import dialgauge`` costs nothing.
"""

from __future__ import annotations

from dialgauge._lazy import lazy
from dialgauge._version import __version__

TYPE_CHECKING = False  # typing's own would cost a third of the time of `dialgauge --help`
if TYPE_CHECKING:
    from dialgauge.comparison import Comparison, compare_runs
    from dialgauge.data import check, convert
    from dialgauge.dialogue import Act, Dialogue, Fact, Goal, Ontology, Task, Turn
    from dialgauge.errors import DialgaugeError
    from dialgauge.formats import read, write
    from dialgauge.lab import simulate
    from dialgauge.runs import Run, Store
    from dialgauge.tasks import score_tasks
    from dialgauge.tracking import Accumulator, compare, compute, score
    from dialgauge.users import score_users
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
    "Store",
    "Task",
    "Turn",
    "__version__",
    "check",
    "compare",
    "compare_runs",
    "compute",
    "convert",
    "load_world",
    "read",
    "score",
    "score_tasks",
    "score_users",
    "simulate",
    "write",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)


def __dir__() -> list[str]:
    return sorted(__all__)
