"""One system and what people said of its dialogues: which measure goes with them, and which forgetting rate fits best.

The FGA paper relates JGA and FGA to the ratings of eleven people, of one system; its lambda is how soon a user forgets
a mistake. Whoever has ratings can ask for the lambda at which FGA goes with them best.

A human evaluation is prepared with sheets of sampled dialogues for people to read, and a table for their ratings. A
sheet has the layout of the FGA paper's own evaluation (format ``human-eval``), so what was rated can be scored again
from the sheets alone; the table is what ``score --ratings`` reads back. Ratings that stay empty count as not given.
"""

from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, structs

from dialgauge.comparison import (
    Ratings,
    assigned,
    rated_places,
    rating_correlations,
    rating_tables,
    read_ratings,
    scores_of_run,
    system_correlations,
)
from dialgauge.errors import DialgaugeError
from dialgauge.files import write_all
from dialgauge.rendering import Table
from dialgauge.stats import bootstrap_weights, correlation_draws, pearson, quantiles
from dialgauge.tracking.counts import Counts
from dialgauge.tracking.encode import Floats
from dialgauge.tracking.fga import default_rule, weights
from dialgauge.tracking.worst import LINE, predicted_states, user_turns

if TYPE_CHECKING:
    from dialgauge.tracking.tracked_system import TrackedSystem

#: Where the best lambda is looked for, unless it is said.
SEARCHED = (0.0, 3.0)
_STEPS = 121
_RESAMPLES, _LEVEL = 1000, 0.95


class FittedRate(Struct, frozen=True):
    """The lambda whose FGA has the highest correlation with the ratings, and the interval of both."""

    rate: float
    low: float
    high: float
    pearson: float
    searched: tuple[float, float]

    def sentence(self) -> str:
        edge = " (the end of the range)" if self.rate in self.searched else ""
        return (
            f"FGA goes with these ratings best at λ = {self.rate:.3g}{edge}, 95% interval [{self.low:.3g}, "
            f"{self.high:.3g}], with a correlation of {self.pearson:.3f}; searched from {self.searched[0]:g} to "
            f"{self.searched[1]:g}."
        )


def fitted_rate(system: TrackedSystem, ratings: Ratings, searched: tuple[float, float] = SEARCHED) -> FittedRate | None:
    """The lambda that fits the raters best; None where FGA or the ratings are constant."""
    places = rated_places(ratings, scores_of_run(system.run).dialogues)
    return _fitted(system.counts, places, np.asarray(ratings.mean), searched)


def _fitted(counts: Counts, places: Sequence[int], means: Floats, searched: tuple[float, float]) -> FittedRate | None:
    """The lambda that fits the mean ratings of the dialogues at these places best."""
    rule, sizes = default_rule(counts), np.bincount(counts.dialogue, minlength=counts.dialogues)
    rates = np.linspace(*searched, _STEPS)
    columns = [
        (np.bincount(counts.dialogue, weights(counts, float(rate), rule), counts.dialogues) / sizes)[places]
        for rate in rates
    ]
    values = np.array([np.nan if (r := pearson(column, means)) is None else r for column in columns])
    if np.isnan(values).all():
        return None
    drawn = np.concatenate(list(bootstrap_weights(len(places), _RESAMPLES, seed=0)))
    draws = np.stack([correlation_draws(column, means, drawn) for column in columns], axis=1)
    defined = draws[~np.isnan(draws).all(axis=1)]
    best = rates[np.nanargmax(defined, axis=1)]
    (low, high), at = quantiles(best[:, None], _LEVEL)[0], int(np.nanargmax(values))
    return FittedRate(float(rates[at]), float(low), float(high), float(values[at]), searched)


class RatedSystems:
    """Ratings of some of the systems that were scored, as tables and as JSON."""

    def __init__(
        self,
        systems: Sequence[TrackedSystem],
        path: str | Path,
        rated: str | None,
        searched: tuple[float, float],
    ) -> None:
        self._systems = {system.name: system for system in systems}
        self._ratings: Mapping[str, Ratings] = assigned(read_ratings(path), tuple(self._systems), rated)
        self._scores = {name: scores_of_run(self._systems[name].run) for name in self._ratings}
        self.fits = {name: fitted_rate(self._systems[name], given, searched) for name, given in self._ratings.items()}

    def tables(self) -> list[Table]:
        """Agreement of the raters, correlation of each measure with its interval, and the lambda that fits best."""
        tables = []
        for name, given in self._ratings.items():
            agreement, sure, every = rating_tables({name: given}, self._scores[name])
            fit = self.fits[name]
            sure.notes.append(fit.sentence() if fit else "No λ has a correlation: FGA or the ratings are all the same.")
            tables += [agreement, sure, every]
        return tables

    def document(self) -> dict[str, Any]:
        return {
            name: {
                "agreement": given.agreement(),
                "correlations": [asdict(row) for row in rating_correlations(given, self._scores[name], name)],
                "fitted_lambda": structs.asdict(fit) if (fit := self.fits[name]) else None,
            }
            for name, given in self._ratings.items()
        }


def correlation_tables(system: TrackedSystem, kinds: Sequence[str]) -> list[Table]:
    """How the measures of one system go together, over turns and over dialogues."""
    from dialgauge.tracking.pairing import PAIRING

    scores, turns = scores_of_run(system.run), PAIRING.turn_scores(system.run)
    return [table for kind in kinds for table in system_correlations(scores, system.name, kind, turns)]


QUESTION = "Would you be satisfied with a system that understood you like this?"
SCALE = "0 = no, 1 = yes"
RATINGS = "ratings.csv"
_UNSAFE = re.compile(r"[^\w.-]")


def write_sheets(
    systems: Sequence[TrackedSystem],
    folder: str | Path,
    *,
    dialogues: int,
    raters: int = 3,
    seed: int = 0,
    question: str = QUESTION,
    scale: str = SCALE,
) -> list[Path]:
    """Draw dialogues by a seed, write a sheet for each and system, and ``ratings.csv`` to be filled in."""
    if raters < 1 or dialogues < 1:
        raise DialgaugeError("rating sheets need at least one dialogue and one rater")
    target = Path(folder)
    known = sorted(systems[0].run.table("dialogues")["dialogue"].to_list())
    drawn = sorted(random.Random(seed).sample(known, min(dialogues, len(known))))  # noqa: S311  no secret
    files: dict[Path, bytes] = {}
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(("dialogue", "system", "rater", "rating", "question", "scale", "sheet"))
    for system in systems:
        below = _UNSAFE.sub("_", system.name) if len(systems) > 1 else ""
        for dialogue in drawn:
            sheet = Path(below, f"{_UNSAFE.sub('_', dialogue)}.txt")
            files[target / sheet] = _sheet(system, dialogue).encode("utf-8", "backslashreplace")
            for rater in range(1, raters + 1):
                rows.writerow((dialogue, system.name, f"rater{rater}", "", question, scale, sheet))
    write_all({**files, target / RATINGS: table.getvalue().encode("utf-8", "backslashreplace")})
    return [*files, target / RATINGS]


def _sheet(system: TrackedSystem, dialogue: str) -> str:
    """One dialogue with what was said and, below each turn, what is right and what the system understood."""
    counts = system.counts
    exchanges = user_turns(system.run, dialogue)
    lines = [f"Dialogue ID : {dialogue}", LINE]
    for row, (state, text) in predicted_states(system.run, dialogue).items():
        turn = int(counts.turn[row])
        reply, user = exchanges[turn]
        lines += [f"Turn: {turn}", f"Sys : {reply}", f"Usr : {user.text or text}", ""]
        lines += [f"GT  : {_plain(user.state)}", f"PR  : {_plain(state)}", ""]
        lines += [f"Matched : {bool(counts.exact[row])}", "", LINE]
    return "\n".join(lines) + "\n"


def _plain(state: object) -> str:
    """A state as a Python literal with single values as texts, as those files have it."""
    if not isinstance(state, dict):
        return "{}"
    plain = {
        domain: {slot: _value(values) for slot, values in slots.items()}
        for domain, slots in state.items()
        if isinstance(slots, dict) and slots
    }
    return repr(plain)


def _value(values: object) -> object:
    if isinstance(values, str):
        return values
    several = [str(value) for value in values] if isinstance(values, Sequence) else [str(values)]
    return several[0] if len(several) == 1 else several
