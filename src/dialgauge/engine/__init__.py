"""Where work runs: in this process, a pool of processes or a Ray cluster, with the same bytes in the same order."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.engine.execute import ENGINES, checked_place, run
    from dialgauge.engine.progress import SILENT, Progress
    from dialgauge.engine.units import Done, Engine, Unit, Work, Workers, WorkPlace, cores, place_of
    from dialgauge.engine.worker import WorkerTraceback

__all__ = [
    "ENGINES",
    "SILENT",
    "Done",
    "Engine",
    "Progress",
    "Unit",
    "Work",
    "WorkPlace",
    "WorkerTraceback",
    "Workers",
    "checked_place",
    "cores",
    "place_of",
    "run",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
