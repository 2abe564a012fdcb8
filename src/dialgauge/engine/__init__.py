"""Where work runs: in this process or in a pool of processes, with the same bytes in the same order."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.engine.execute import ENGINES, cores, run
    from dialgauge.engine.units import Done, Engine, Unit, Work

__all__ = ["ENGINES", "Done", "Engine", "Unit", "Work", "cores", "run"]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
