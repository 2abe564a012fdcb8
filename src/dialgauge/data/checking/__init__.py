"""``dialgauge data check``: what is this, what is in it, what is wrong with it."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.data.checking.report import Findings, GroupReport
    from dialgauge.data.checking.show import verdict
    from dialgauge.data.checking.tally import NamedOntology, SlotInventory, compare

__all__ = [
    "Findings",
    "GroupReport",
    "NamedOntology",
    "SlotInventory",
    "compare",
    "verdict",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
