"""Runs of state trackers."""

from dialgauge.kinds import Kind

TRACKING = Kind(
    "tracking",
    cards="dialgauge.tracking.measures:CARDS",
    comparison="dialgauge.tracking.comparison_view:VIEW",
    pages="dialgauge.tracking.pages:PAGES",
    results="dialgauge.tracking:TrackingRuns",
    headline=("JGA",),
)
