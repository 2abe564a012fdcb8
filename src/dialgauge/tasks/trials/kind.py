"""Runs of agents that try each task several times."""

from dialgauge.kinds import Kind, Verdicts

TRIALS = Kind(
    "trials",
    title="Trials of agents",
    cards="dialgauge.tasks.trials.reward_measures:CARDS",
    comparison="dialgauge.tasks.trials.trial_comparison:VIEW",
    pages="dialgauge.tasks.trials.pages:PAGES",
    results="dialgauge.tasks:TrialRuns",
    headline=("pass^1",),
    worst_by=("Reward",),
    verdicts=Verdicts("trials", "success", "task"),
)
