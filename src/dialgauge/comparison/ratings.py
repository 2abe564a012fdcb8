"""What people say: a file of ratings, how far the raters agree, and which measure goes with them.

A ratings file is CSV with the columns ``dialogue``, ``rater`` and ``rating`` (a number; in the FGA paper 1 for
satisfied and 0 for not), one line for each rating, and, where several systems were rated, ``system``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct

from dialgauge import stats
from dialgauge.comparison.csv_files import check_names, parse_number, read_csv
from dialgauge.comparison.scores import PairedScores
from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import some_of

COLUMNS = ("dialogue", "rater", "rating")
_RESAMPLES, _LEVEL = 1000, 0.95


class Ratings(Struct, frozen=True):
    """``values`` is (dialogues, raters), NaN where a rater gave none."""

    dialogues: tuple[str, ...]
    raters: tuple[str, ...]
    values: stats.Floats

    @property
    def mean(self) -> stats.Floats:
        """The mean rating of each dialogue."""
        means: stats.Floats = np.nanmean(self.values, axis=1)
        return means

    @property
    def count(self) -> int:
        return int((~np.isnan(self.values)).sum())

    def agreement(self) -> dict[str, float | None]:
        """Fleiss' kappa and Krippendorff's alpha, by name; None where undefined."""
        return {
            "Fleiss' kappa": stats.fleiss_kappa(self.values),
            "Krippendorff's alpha (nominal)": stats.krippendorff_alpha(self.values, "nominal"),
            "Krippendorff's alpha (ordinal)": stats.krippendorff_alpha(self.values, "ordinal"),
            "Krippendorff's alpha (interval)": stats.krippendorff_alpha(self.values, "interval"),
        }


def read_ratings(path: str | Path) -> dict[str, Ratings]:
    """Ratings from a CSV file, by system; the system is ``""`` where the file names none."""
    by_system: dict[str, dict[tuple[str, str], float]] = {}
    names: dict[str, str] = {}
    for line, row in _rows(Path(path)):
        dialogue, rater, text = (row[column] for column in COLUMNS)
        key, single = dialogue_key(dialogue), by_system.setdefault(row.get("system", ""), {})
        if not key or not rater:
            raise DialgaugeError("a rating needs a dialogue and a rater", file=str(path), line=line)
        if not text:
            continue  # a blank of a rating sheet
        if (key, rater) in single:
            raise DialgaugeError(f"rater '{rater}' rates it twice", file=str(path), line=line, dialogue=dialogue)
        rating = parse_number(text)
        if rating is None:
            raise DialgaugeError(f"the rating '{text}' is not a number", file=str(path), line=line, dialogue=dialogue)
        single[key, rater] = rating
        names.setdefault(key, dialogue)
    given = {system: _ratings(single, names) for system, single in by_system.items() if single}
    if not given:
        raise DialgaugeError("it holds no ratings", file=str(path))
    return given


def _ratings(single: Mapping[tuple[str, str], float], names: Mapping[str, str]) -> Ratings:
    keys, raters = (tuple(dict.fromkeys(pair[part] for pair in single)) for part in (0, 1))
    values = np.array([[single.get((key, rater), math.nan) for rater in raters] for key in keys])
    return Ratings(tuple(names[key] for key in keys), raters, values)


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    lines = read_csv(path)
    heading = lines[0][1] if lines else []
    missing = [name for name in COLUMNS if name not in heading]
    if missing:
        raise DialgaugeError(
            f"it has no column {', '.join(missing)}; the first line of a ratings file is {','.join(COLUMNS)}",
            file=str(path),
        )
    check_names(heading, "column", path, lines[0][0])
    return [(line, dict(zip(heading, row, strict=True))) for line, row in lines[1:]]


def rated_places(ratings: Ratings, dialogues: Sequence[str]) -> list[int]:
    """Where each rated dialogue stands among the scored ones; a rating for an unknown dialogue is an error."""
    places = {dialogue_key(name): index for index, name in enumerate(dialogues)}
    unknown = [name for name in ratings.dialogues if dialogue_key(name) not in places]
    if unknown:
        raise DialgaugeError(
            f"{len(unknown)} rated {'dialogue was' if len(unknown) == 1 else 'dialogues were'} not scored "
            f"({some_of(unknown)}); ratings must be of dialogues that all systems were scored on"
        )
    return [places[dialogue_key(name)] for name in ratings.dialogues]


def assigned(ratings: Mapping[str, Ratings], systems: Sequence[str]) -> dict[str, Ratings]:
    """The ratings by compared system; a single system may be left unnamed."""
    if "" in ratings:
        if len(systems) > 1:
            raise DialgaugeError(f"some ratings name no system; add the column 'system' ({', '.join(systems)})")
        if systems[0] in ratings:
            raise DialgaugeError(
                f"some ratings of '{systems[0]}' name it and some do not; name the system in every line"
            )
        ratings = {name or systems[0]: values for name, values in ratings.items()}
    for name in ratings:
        if name not in systems:
            raise DialgaugeError(f"the rated system '{name}' was not scored.{nearest(name, systems)}")
    return dict(ratings)


def rating_correlations(ratings: Ratings, scores: PairedScores, system: str) -> list[dict[str, str | float | None]]:
    """A row for each measure and kind of correlation with the ratings; intervals from drawing dialogues anew.

    ``mean`` is the correlation with the mean rating of each dialogue, ``single`` with every rating. ``behind`` is how
    much Pearson's falls short of the best measure's: an interval that holds 0 does not tell the two apart.
    """
    places = rated_places(ratings, scores.dialogues)
    table = scores.by_dialogue[scores.place_of_system(system)][:, places]
    weights = np.concatenate(list(stats.bootstrap_weights(len(places), _RESAMPLES, seed=0)))
    rows: list[dict[str, str | float | None]] = []
    for kind, correlate in stats.CORRELATIONS.items():
        means = [correlate(values, ratings.mean) for values in table]
        drawn = [stats.correlation_draws(values, ratings.mean, weights, kind) for values in table]
        draws = np.stack(drawn, axis=1)
        known = [place for place, value in enumerate(means) if value is not None]
        best = max(known, key=lambda place: means[place] or 0.0) if kind == "pearson" and len(known) > 1 else None
        ends = stats.quantiles(draws, _LEVEL).tolist()
        gaps = None if best is None else stats.quantiles(draws[:, [best]] - draws, _LEVEL).tolist()
        for place, measure in enumerate(scores.measures):
            row: dict[str, float | None] = {
                "mean": means[place],
                "single": correlate(np.repeat(table[place], len(ratings.raters)), ratings.values.reshape(-1)),
                "low": ends[place][0],
                "high": ends[place][1],
                **dict.fromkeys(("behind", "behind_low", "behind_high")),
            }
            if best is not None and gaps is not None and place in known and place != best:
                behind = (means[best] or 0.0) - (means[place] or 0.0)
                row |= {"behind": behind, "behind_low": gaps[place][0], "behind_high": gaps[place][1]}
            rows.append({"measure": measure, "kind": kind, **row})
    return rows
