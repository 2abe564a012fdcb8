"""Runs that check recorded conversations for faults of the simulated user."""

from dialgauge.kinds import Kind

FAULTS = Kind(
    "faults",
    title="Faults of users",
    cards="dialgauge.users.faults.results:CARDS",
    pairing="dialgauge.users.faults.results:PAIRING",
    view="dialgauge.users.faults.views:VIEW",
    headline=("UserFault",),
)
