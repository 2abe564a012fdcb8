"""Runs that hold what simulated users said against their goals."""

from dialgauge.kinds import Kind

USERS = Kind(
    "users",
    section="user",
    title="Simulated users",
    cards="dialgauge.users.measures:CARDS",
    view="dialgauge.users.views:VIEW",
    headline=("I-GCDF1", "R-GCDF1"),
)
