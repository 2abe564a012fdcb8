"""Agents that try each task several times."""

from dialgauge.kinds import Kind, Verdicts

TRIALS = Kind(
    "trials",
    section="task",
    title="Trials of agents",
    cards="dialgauge.trials.reward_measures:CARDS",
    pairing="dialgauge.trials.trial_comparison:PAIRING",
    view="dialgauge.trials.views:VIEW",
    results="dialgauge.trials:TrialRuns",
    headline=("pass^1",),
    worst_by=("Reward",),
    verdicts=Verdicts("trials", "success", "task"),
)
