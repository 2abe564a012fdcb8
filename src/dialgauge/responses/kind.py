"""Runs of bots that choose replies: scored, and while being trained."""

from dialgauge.kinds import Kind

_VIEW = "dialgauge.responses.views:VIEW"

RESPONSES = Kind(
    "responses",
    title="Responses",
    cards="dialgauge.responses.measures:CARDS",
    pairing="dialgauge.responses.pairing:PAIRING",
    view=_VIEW,
    measured_on=("task", "split"),
    headline=("per-response",),
)
TRAINING = Kind("training", view=_VIEW, headline=("per-response",))
