"""Cross-evaluation: every user in front of every system (Schatzmann et al., 2005), from stored lab runs.

A good user is expected to do well with a variety of systems, so that the mean over systems is taken as its worth; a
good system does well with all users. Beside it stands GCDF1, which looks at the user itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import Struct, structs

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.lab.study import SUCCESS
from dialgauge.rendering import Column, Table
from dialgauge.runs import Run
from dialgauge.stats import bootstrap_weights, quantiles

#: What a cell shows unless another measure is named.
USER_MEASURES = ("I-GCDF1", "R-GCDF1")
#: Parts of a lab run's signature that the two of a pair bring.
_OWN = ("user", "system")


class CrossCell(Struct, frozen=True):
    """A mean over dialogues, or over the systems or users of a row or column, with its interval."""

    value: float
    low: float | None = None
    high: float | None = None

    def text(self) -> str:
        """For a table: percent."""
        ends = "" if self.low is None or self.high is None else f" [{100 * self.low:.2f}, {100 * self.high:.2f}]"
        return f"{100 * self.value:.2f}{ends}"


class CrossEvaluation(Struct, frozen=True):
    """Users down, systems across."""

    measure: str
    users: list[str]
    systems: list[str]
    cells: dict[tuple[str, str], CrossCell]
    by_user: dict[str, CrossCell]
    by_system: dict[str, CrossCell]
    #: User to GCDF1, a mean over its systems; where the runs have it.
    gcdf1: dict[str, dict[str, CrossCell]]
    notes: list[str]

    def table(self) -> Table:
        """The matrix, means beside and below, GCDF1 at the end of each row."""
        shown = [name for name in USER_MEASURES if any(name in row for row in self.gcdf1.values())]
        columns = [Column(name, align="right") for name in (*self.systems, "mean", *shown)]
        title = f"Cross-evaluation: {self.measure} of each user with each system"
        table = Table(title, ["user", *columns], unit="percent")
        for user in self.users:
            pairs = (self.cells.get((user, system)) for system in self.systems)
            measured = (self.gcdf1[user].get(name) for name in shown)
            cells = (*pairs, self.by_user[user], *measured)
            table.add(user, *(None if cell is None else cell.text() for cell in cells))
        table.add("mean", *(self.by_system[system].text() for system in self.systems), None, *(None for _ in shown))
        table.notes = [*self.notes, *self._disagreement(shown)]
        return table

    def _disagreement(self, shown: Sequence[str]) -> list[str]:
        """Whether the users rank alike by what systems reach with them and by GCDF1."""
        if len(self.users) < 2:
            return []
        ranked = _in_order(self.by_user)
        lines = []
        for name in shown:
            if all(name in self.gcdf1[user] for user in self.users):
                other = _in_order({user: self.gcdf1[user][name] for user in self.users})
                same = "the same order" if other == ranked else f"another order: {other}"
                lines.append(f"By the mean over systems {ranked}; by {name} {same}.")
        return lines

    def document(self) -> dict[str, Any]:
        """For JSON: shares as fractions."""

        def plain(cells: Mapping[str, CrossCell]) -> dict[str, Any]:
            return {name: structs.asdict(cell) for name, cell in cells.items()}

        return {
            "measure": self.measure,
            "cells": [
                {"user": user, "system": system, **structs.asdict(cell)} for (user, system), cell in self.cells.items()
            ],
            "by_user": plain(self.by_user),
            "by_system": plain(self.by_system),
            "gcdf1": {user: plain(cells) for user, cells in self.gcdf1.items()},
            "notes": self.notes,
        }


def cross_evaluation(
    runs: Sequence[Run], measure: str = SUCCESS, *, resamples: int = 1000, seed: int = 0
) -> CrossEvaluation:
    """Lab runs, one for each user and system, as a matrix.

    Intervals: dialogues are drawn anew, the same ones in runs of the same goals, so that a mean is over equal goals.
    """
    pairs: dict[tuple[str, str], Run] = {}
    for run in runs:
        if run.kind != "lab":
            raise DialgaugeError(f"cross-evaluation needs runs of 'dialgauge lab run', but {run.id} is of {run.kind}")
        pair = str(run.manifest.config.get("user", "")), str(run.manifest.config.get("system", ""))
        if pair in pairs:
            raise DialgaugeError(
                f"two runs have the user {pair[0]} and the system {pair[1]}: {pairs[pair].id} and {run.id}; name one"
            )
        if measure not in run.scores:
            raise DialgaugeError(f"the run {run.id} has no measure '{measure}'.{nearest(measure, run.scores)}")
        pairs[pair] = run
    if len(pairs) < 2:
        raise DialgaugeError("cross-evaluation needs at least two runs: several users, several systems or both")
    users, systems = (list(dict.fromkeys(pair[side] for pair in pairs)) for side in (0, 1))

    def spread(name: str) -> dict[tuple[str, str], tuple[float, Any]]:
        return {pair: _draws(run, name, resamples, seed) for pair, run in pairs.items() if name in run.scores}

    def mean(some: Sequence[tuple[float, Any]]) -> CrossCell:
        values, draws = [value for value, _ in some], [drawn for _, drawn in some]
        low, high = (None, None)
        if resamples:
            bounds = quantiles(np.mean(draws, axis=0)[:, None], 0.95)[0]
            low, high = float(bounds[0]), float(bounds[1])
        return CrossCell(float(np.mean(values)), low, high)

    drawn = spread(measure)
    gcdf1: dict[str, dict[str, CrossCell]] = {user: {} for user in users}
    for name in USER_MEASURES:
        measured = spread(name)
        for user in users:
            if own := [cell for (whose, _), cell in measured.items() if whose == user]:
                gcdf1[user][name] = mean(own)
    return CrossEvaluation(
        measure,
        users,
        systems,
        {pair: mean([cell]) for pair, cell in drawn.items()},
        {user: mean([cell for pair, cell in drawn.items() if pair[0] == user]) for user in users},
        {system: mean([cell for pair, cell in drawn.items() if pair[1] == system]) for system in systems},
        gcdf1,
        _notes(pairs, users, systems),
    )


def _in_order(cells: Mapping[str, CrossCell]) -> str:
    """Names by value, the best first: ``a > b = c``."""
    names = sorted(cells, key=lambda name: (-cells[name].value, name))
    marks = ["=" if cells[a].value == cells[b].value else ">" for a, b in pairwise(names)]
    return names[0] + "".join(f" {mark} {name}" for mark, name in zip(marks, names[1:], strict=True))


def _draws(run: Run, measure: str, resamples: int, seed: int) -> tuple[float, Any]:
    """The value of a measure, and its values in resamples of the dialogues, in the order of their names."""
    scores = run.table("dialogue_scores")
    own = scores.filter(scores["measure"] == measure).sort("dialogue")
    above, below = own["num"].to_numpy(), own["den"].to_numpy()
    value = float(above.sum() / below.sum()) if below.sum() else float("nan")
    if not resamples:
        return value, np.full(1, value)
    drawn = np.concatenate(list(bootstrap_weights(len(own), resamples, seed)))
    with np.errstate(invalid="ignore"):
        return value, (drawn @ above) / (drawn @ below)


def _notes(pairs: Mapping[tuple[str, str], Run], users: Sequence[str], systems: Sequence[str]) -> list[str]:
    """What makes the cells differ besides user and system, and which are missing."""
    notes = []
    missing = [f"{user} with {system}" for user in users for system in systems if (user, system) not in pairs]
    if missing:
        notes.append(f"Not held: {', '.join(missing)}; means are over what there is.")
    signatures = [dict(part.split(":", 1) for part in run.manifest.signature.split("|")) for run in pairs.values()]
    names = dict.fromkeys(name for signature in signatures for name in signature)
    differing = [name for name in names if name not in _OWN and len({s.get(name) for s in signatures}) > 1]
    if differing:
        notes.append(f"These runs also differ in {', '.join(differing)}: not the users and systems alone differ.")
    return notes
