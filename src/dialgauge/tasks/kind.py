"""Runs that judge whether responses do what their goals ask for, agents over trials, and the measures of outcomes."""

from dialgauge.kinds import Kind, Verdicts

TASKS = Kind(
    "tasks",
    section="task",
    title="Recorded responses",
    cards="dialgauge.tasks.measures:CARDS",
    comparison="dialgauge.tasks.comparison_view:VIEW",
    view="dialgauge.tasks.views:VIEW",
    results="dialgauge.tasks:TaskRuns",
    headline=("Success", "Success(rules=grounded)", "Inform"),
)
#: No run is of this kind: runs of the lab have these measures beside others.
OUTCOMES = Kind(
    "outcomes",
    section="task",
    title="Outcomes of conversations",
    cards="dialgauge.tasks.recordings.outcome_measures:CARDS",
)
#: Agents that try each task several times.
TRIALS = Kind(
    "trials",
    section="task",
    title="Trials of agents",
    cards="dialgauge.tasks.trials.reward_measures:CARDS",
    comparison="dialgauge.tasks.trials.trial_comparison:VIEW",
    view="dialgauge.tasks.trials.views:VIEW",
    results="dialgauge.tasks:TrialRuns",
    headline=("pass^1",),
    worst_by=("Reward",),
    verdicts=Verdicts("trials", "success", "task"),
)
