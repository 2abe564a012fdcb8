"""Runs of the lab: systems in front of simulated users, in the town and in bAbI's restaurant, and studies of them."""

from dialgauge.kinds import Kind

LAB = Kind(
    "lab",
    section="conversation",
    title="The lab",
    cards="dialgauge.lab.measures:CARDS",
    comparison="dialgauge.lab.comparison_view:LAB_VIEW",
    pages="dialgauge.lab.pages:PAGES",
    results="dialgauge.lab:LabRuns",
    headline=("Success(rules=strict)", "Success(rules=compat)"),
)
INTERACTION = Kind(
    "interaction",
    comparison="dialgauge.lab.comparison_view:VIEW",
    # Their conversations are bots' replies to a simulated user, some of them with gold replies.
    pages="dialgauge.responses.pages:CONVERSATION_PAGES",
    measured_on=("task", "half"),
    headline=("completed",),
)
STUDY = Kind("study", pages="dialgauge.lab.pages:STUDY_PAGES", results="dialgauge.lab:StudyRuns")
