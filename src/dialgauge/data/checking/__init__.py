"""``dialgauge data check``: what is this, what is in it, what is wrong with it."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.data.checking.report import Findings as Findings, GroupReport as GroupReport
    from dialgauge.data.checking.show import verdict as verdict
    from dialgauge.data.checking.tally import (
        NamedOntology as NamedOntology,
        SlotInventory as SlotInventory,
        compare as compare,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
