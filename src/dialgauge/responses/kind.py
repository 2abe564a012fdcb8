"""Runs of bots that choose replies: scored, while being trained, and with the memories they attended to."""

from dialgauge.kinds import Kind

_VIEW = "dialgauge.responses.views:VIEW"

RESPONSES = Kind(
    "responses",
    title="Responses",
    cards="dialgauge.responses.measures:CARDS",
    pairing="dialgauge.responses.pairing:PAIRING",
    view=_VIEW,
    results="dialgauge.responses:ReplyRuns",
    measured_on=("task", "split"),
    headline=("per-response",),
)
TRAINING = Kind("training", view=_VIEW, headline=("per-response",))
ATTENTION = Kind("attention", view=_VIEW)
