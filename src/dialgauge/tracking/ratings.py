"""What people say of the dialogues of a tracker: which measure goes with it, and which forgetting rate fits best.

The FGA paper relates JGA and FGA to the ratings of eleven people, of one system; its lambda is how soon a user forgets
a mistake. Whoever has ratings can ask for the lambda at which FGA goes with them best. Runs keep two tables:

``rating_correlations``  measure, kind (pearson, spearman, kendall), mean and single (the correlation with the mean
                         rating of each dialogue, and with every single rating), low, high (of the first), behind,
                         behind_low, behind_high (by how much Pearson's falls short of the best measure's)
``rating_facts``         fact (ratings, dialogues, raters, a statistic of agreement, fitted lambda and its Pearson
                         correlation), value, low, high

Sheets for people to read have the layout of the FGA paper's own evaluation (format ``human-eval``), so what was rated
can be scored again from the sheets alone. ``ratings.csv`` beside them is what ``score --ratings`` reads; ratings that
stay empty count as not given.
"""

from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import polars as pl

from dialgauge.comparison import Ratings, assigned, paired_scores, rated_places, rating_correlations, read_ratings
from dialgauge.dialogue import State
from dialgauge.errors import DialgaugeError
from dialgauge.files import write_all
from dialgauge.measures import Scores
from dialgauge.stats import bootstrap_weights, correlation_draws, pearson, quantiles
from dialgauge.tracking.counts import Counts
from dialgauge.tracking.fga import default_rule, weights
from dialgauge.tracking.tables import PREDICTIONS, SLOT_ERRORS, TURN_SCORES

if TYPE_CHECKING:
    from dialgauge.runs import Run

CORRELATIONS, FACTS = "rating_correlations", "rating_facts"
#: Facts of the fitted lambda.
FITTED, FITTED_PEARSON = "fitted lambda", "Pearson's correlation at the fitted lambda"
#: Where the best lambda is looked for.
SEARCHED = (0.0, 3.0)
_STEPS = 121
_RESAMPLES, _LEVEL = 1000, 0.95

Facts = list[tuple[str, float | None, float | None, float | None]]


def ratings_of(path: str | Path, systems: Sequence[str]) -> Mapping[str, Ratings]:
    """The ratings in a file (CSV: dialogue, rater, rating, maybe system) by system."""
    return assigned(read_ratings(path), tuple(systems))


def rating_tables(ratings: Ratings, name: str, scores: Scores, counts: Counts) -> dict[str, pl.DataFrame]:
    """The tables that the run of a rated system keeps."""
    paired = paired_scores({name: scores.frame()}, {name: scores.scores})
    numbers = ("mean", "single", "low", "high", "behind", "behind_low", "behind_high")
    schema = {"measure": pl.String, "kind": pl.String, **dict.fromkeys(numbers, pl.Float64)}
    correlations = pl.DataFrame(rating_correlations(ratings, paired, name), schema=schema)
    sizes = {"ratings": ratings.count, "dialogues": len(ratings.dialogues), "raters": len(ratings.raters)}
    facts: Facts = [(fact, value, None, None) for fact, value in {**sizes, **ratings.agreement()}.items()]
    facts += _fitted(counts, rated_places(ratings, paired.dialogues), np.asarray(ratings.mean))
    ends = dict.fromkeys(("value", "low", "high"), pl.Float64)
    return {
        CORRELATIONS: correlations.with_columns(pl.col(numbers).fill_nan(None)),
        FACTS: pl.DataFrame(facts, schema={"fact": pl.String, **ends}, orient="row"),
    }


def _fitted(counts: Counts, places: Sequence[int], means: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Facts:
    """The lambda whose FGA goes with the mean ratings best, with its interval; nothing where either is constant."""
    rule, sizes = default_rule(counts), np.bincount(counts.dialogue, minlength=counts.dialogues)
    rates = np.linspace(*SEARCHED, _STEPS)
    columns = [
        (np.bincount(counts.dialogue, weights(counts, float(rate), rule), counts.dialogues) / sizes)[places]
        for rate in rates
    ]
    values = np.array([np.nan if (r := pearson(column, means)) is None else r for column in columns])
    if np.isnan(values).all():
        return []
    drawn = np.concatenate(list(bootstrap_weights(len(places), _RESAMPLES, seed=0)))
    draws = np.stack([correlation_draws(column, means, drawn) for column in columns], axis=1)
    best = rates[np.nanargmax(draws[~np.isnan(draws).all(axis=1)], axis=1)]
    (low, high), at = quantiles(best[:, None], _LEVEL)[0], int(np.nanargmax(values))
    return [(FITTED, float(rates[at]), float(low), float(high)), (FITTED_PEARSON, float(values[at]), None, None)]


_LINE = "-" * 22
_UNSAFE = re.compile(r"[^\w.-]")


def write_rating_sheets(
    runs: Iterable[Run], folder: str | Path, *, dialogues: int = 50, raters: int = 3, seed: int = 0
) -> list[Path]:
    """Draw dialogues by a seed, write a sheet for each and run, and ``ratings.csv`` to be filled in: 0 no, 1 yes."""
    if raters < 1 or dialogues < 1:
        raise DialgaugeError("rating sheets need at least one dialogue and one rater")
    chosen, target = list(runs), Path(folder)
    for run in chosen:
        if SLOT_ERRORS not in run.tables:
            raise DialgaugeError("sheets show predicted states, but there are only flags", file=run.name)
    known = sorted(chosen[0].table("dialogues")["dialogue"].to_list())
    drawn = sorted(random.Random(seed).sample(known, min(dialogues, len(known))))  # noqa: S311  no secret
    files: dict[Path, bytes] = {}
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(("dialogue", "system", "rater", "rating", "question", "scale", "sheet"))
    for run in chosen:
        below = _UNSAFE.sub("_", run.name) if len(chosen) > 1 else ""
        for dialogue in drawn:
            sheet = Path(below, f"{_UNSAFE.sub('_', dialogue)}.txt")
            files[target / sheet] = _sheet(run, dialogue).encode("utf-8", "backslashreplace")
            question = ("Would you be satisfied with a system that understood you like this?", "0 = no, 1 = yes", sheet)
            rows.writerows((dialogue, run.name, f"rater{rater}", "", *question) for rater in range(1, raters + 1))
    write_all({**files, target / "ratings.csv": table.getvalue().encode("utf-8", "backslashreplace")})
    return [*files, target / "ratings.csv"]


def _sheet(run: Run, name: str) -> str:
    """One dialogue with what was said and, below each turn, what is right and what the system understood."""
    turns, own = run.dialogue(name).turns, pl.col("dialogue") == name
    exact = dict(run.table(TURN_SCORES).filter(own).select("turn", "exact").iter_rows())
    lines, reply = [f"Dialogue ID : {name}", _LINE], 0
    for place, number, written, text in (
        run.table(PREDICTIONS).filter(own).select("turn", "user_turn", "state", "text").iter_rows()
    ):
        said = " ".join(turn.text for turn in turns[reply:place] if turn.speaker != "user").strip()
        gold, predicted = turns[place].state or {}, msgspec.json.decode(written or "{}", type=State)
        lines += [f"Turn: {number}", f"Sys : {said}", f"Usr : {turns[place].text or text or ''}", ""]
        lines += [f"GT  : {_literal(gold)}", f"PR  : {_literal(predicted)}", ""]
        lines += [f"Matched : {exact[place]}", "", _LINE]
        reply = place + 1
    return "\n".join(lines) + "\n"


def _literal(state: State) -> str:
    """A state as a Python literal with single values as texts, as those files have it."""
    return repr(
        {
            domain: {slot: values[0] if len(values) == 1 else list(values) for slot, values in slots.items()}
            for domain, slots in state.items()
            if slots
        }
    )
