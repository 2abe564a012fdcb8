"""Runs of bots that choose replies: scored, while being trained, and with the memories they attended to."""

from dialgauge.kinds import Kind

_PAGES = "dialgauge.responses.pages:PAGES"

RESPONSES = Kind(
    "responses",
    title="Responses",
    cards="dialgauge.responses.measures:CARDS",
    comparison="dialgauge.responses.comparison_view:VIEW",
    pages=_PAGES,
    results="dialgauge.responses:ReplyRuns",
    measured_on=("task", "split"),
    headline=("per-response",),
)
TRAINING = Kind("training", pages=_PAGES, headline=("per-response",))
ATTENTION = Kind("attention", pages="dialgauge.responses.pages:CONVERSATION_PAGES")
