"""Runs of the lab: systems in front of simulated users, in the town and in bAbI's restaurant, and studies of them."""

from dialgauge.kinds import Kind

LAB = Kind(
    "lab",
    section="conversation",
    title="The lab",
    cards="dialgauge.lab.measures:CARDS",
    pairing="dialgauge.lab.pairing:LAB_PAIRING",
    view="dialgauge.lab.views:VIEW",
    headline=("Success(rules=strict)", "Success(rules=compat)"),
)
INTERACTION = Kind(
    "interaction",
    pairing="dialgauge.lab.pairing:PAIRING",
    view="dialgauge.responses.views:VIEW",
    measured_on=("task", "half"),
    headline=("completed",),
)
STUDY = Kind(
    "study",
    view="dialgauge.lab.study_views:VIEW",
)
