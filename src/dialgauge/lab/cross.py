"""Cross-evaluation: every user in front of every system (Schatzmann et al., 2005), from lab runs."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.lab.study import SUCCESS
from dialgauge.measures import Score
from dialgauge.rendering import Cell, Column, Table
from dialgauge.runs import Run


def cross_evaluation(runs: Iterable[Run], measure: str = SUCCESS) -> Table:
    """Users down, systems across: the measure in the run of each pair, and the mean of each user and system.

    A good user does well with several systems, a good system with several users. A pair without a run is left empty.
    """
    scores: dict[tuple[str, str], Score] = {}
    for run in runs:
        if run.kind != "lab":
            raise DialgaugeError(f"cross-evaluation needs runs of 'dialgauge lab run', but {run.id} is of {run.kind}")
        if measure not in run.scores:
            raise DialgaugeError(f"the run {run.id} has no measure '{measure}'.{nearest(measure, run.scores)}")
        user, system = str(run.manifest.config["user"]), str(run.manifest.config["system"])
        if (user, system) in scores:
            raise DialgaugeError(f"two runs have the user {user} and the system {system}; give one of them")
        scores[user, system] = run.scores[measure]
    users = list(dict.fromkeys(user for user, _ in scores))
    systems = list(dict.fromkeys(system for _, system in scores))
    columns = [Column(name, digits=2, percent=True) for name in (*systems, "mean")]
    table = Table(f"Cross-evaluation: {measure} of each user with each system", ["user", *columns], unit="percent")
    for user in users:
        row = [scores.get((user, system)) for system in systems]
        table.add(user, *map(_cell, row), _mean(row))
    table.add("mean", *(_mean([scores.get((user, system)) for user in users]) for system in systems), None)
    return table


def _cell(score: Score | None) -> Cell:
    return Cell(None) if score is None else Cell(score.value, score.low, score.high)


def _mean(scores: Iterable[Score | None]) -> float | None:
    values = [score.value for score in scores if score is not None and score.value is not None]
    return fmean(values) if values else None
