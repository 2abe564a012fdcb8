"""Where work runs: in this process, a pool of processes or a Ray cluster, with the same bytes in the same order."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.engine.execute import ENGINES as ENGINES, checked_place as checked_place, run as run
    from dialgauge.engine.units import (
        SILENT as SILENT,
        Done as Done,
        Progress as Progress,
        Unit as Unit,
        Work as Work,
        Workers as Workers,
        WorkPlace as WorkPlace,
        cores as cores,
        place_of as place_of,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
