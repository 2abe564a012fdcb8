"""Many conversations: simulated corpora and agents in front of simulated users."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.lab.corpora import Form, dialog_file, simulate, splits_of, write_release
    from dialgauge.lab.interaction import keep_meeting, meet, meetings_table, move_to

__all__ = [
    "Form",
    "dialog_file",
    "keep_meeting",
    "meet",
    "meetings_table",
    "move_to",
    "simulate",
    "splits_of",
    "write_release",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
