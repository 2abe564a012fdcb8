"""Runs that judge whether responses do what their goals ask for, and the measures of outcomes."""

from dialgauge.kinds import Kind

TASKS = Kind(
    "tasks",
    section="task",
    title="Recorded responses",
    cards="dialgauge.tasks.measures:CARDS",
    pairing="dialgauge.tasks.pairing:PAIRING",
    view="dialgauge.tasks.views:VIEW",
    headline=("Success", "Success(rules=grounded)", "Inform"),
)
#: No run is of this kind: runs of the lab have these measures beside others.
OUTCOMES = Kind(
    "outcomes",
    section="task",
    title="Outcomes of conversations",
    cards="dialgauge.tasks.recordings.measures:CARDS",
)
