"""Agents that try each task several times."""

from dialgauge.kinds import Kind, Verdicts

TRIALS = Kind(
    "trials",
    section="task",
    title="Trials of agents",
    cards="dialgauge.trials.cards:CARDS",
    pairing="dialgauge.trials.comparison:PAIRING",
    view="dialgauge.trials.views:VIEW",
    headline=("pass^1",),
    worst_by=("Reward",),
    verdicts=Verdicts("trials", "success", "task"),
)
