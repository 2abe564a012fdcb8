"""Where work runs: in this process, a pool of processes or a Ray cluster, with the same bytes in the same order."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.engine.units import (
        ENGINES as ENGINES,
        SILENT as SILENT,
        Done as Done,
        Progress as Progress,
        Unit as Unit,
        Work as Work,
        Workers as Workers,
        WorkPlace as WorkPlace,
        checked_place as checked_place,
        cores as cores,
        place_of as place_of,
        run as run,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
