"""Runs of state trackers."""

from dialgauge.kinds import Kind, Mistakes

TRACKING = Kind(
    "tracking",
    section="tracker",
    title="State tracking",
    cards="dialgauge.tracking.measures:CARDS",
    pairing="dialgauge.tracking.comparing:PAIRING",
    view="dialgauge.tracking.views:VIEW",
    headline=("JGA",),
    worst_by=("FGA@0.5",),
    mistakes=Mistakes("wrong slots", "turn_scores", ("wrong_value", "missed", "spurious")),
)
