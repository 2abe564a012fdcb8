"""Runs that check recorded conversations for faults of the simulated user."""

from dialgauge.kinds import Kind

FAULTS = Kind(
    "faults",
    title="Faults of users",
    cards="dialgauge.users.faults.fault_measures:CARDS",
    pairing="dialgauge.users.faults.fault_comparison:PAIRING",
    view="dialgauge.users.faults.views:VIEW",
    from_dialogues="dialgauge.users.faults.fault_runs:faults_run",
    results="dialgauge.users.faults:FaultRuns",
    headline=("NoFaultFound",),
)
