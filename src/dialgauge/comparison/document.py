"""All that is told about a comparison, as tables for people and as JSON for programs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dialgauge.comparison.divergence import parting_tables, partings
from dialgauge.comparison.ratings import Ratings, rating_correlations, rating_tables
from dialgauge.comparison.result import ALPHA, Comparison
from dialgauge.comparison.spread import rank_agreement, spreads
from dialgauge.comparison.sweep import sweep_table
from dialgauge.comparison.tables import floor_table, matrix_table, pair_table, rank_table, score_table
from dialgauge.comparison.turns import dialogue_correlations, sweep_turns, turn_correlations
from dialgauge.errors import DialgaugeError
from dialgauge.report import Table
from dialgauge.stats import discriminative_power
from dialgauge.text import counted


@dataclass(frozen=True)
class Wishes:
    """What to tell beyond scores and tests."""

    correlations: tuple[str, ...] = ()
    sweep: bool = False
    show: int = 0
    show_by: str | None = None
    ratings: Mapping[str, Ratings] = field(default_factory=dict)


def comparison_tables(comparison: Comparison, wishes: Wishes) -> list[Table]:
    """Every table, the scores first."""
    found = [score_table(comparison), pair_table(comparison), floor_table(comparison)]
    if len(comparison.systems) > 2:
        found.append(rank_table(comparison))
    for kind in wishes.correlations:
        found += _correlation_tables(comparison, kind)
    if wishes.sweep:
        sweep = sweep_turns(comparison.turn_frames) if comparison.turn_frames else None
        if sweep is None:
            raise DialgaugeError(
                "a λ sweep needs the error type of every turn, which these systems' scores do not have"
            )
        found.append(sweep_table(sweep))
    if wishes.ratings:
        found += rating_tables(wishes.ratings, comparison.scores)
    if wishes.show:
        found += _parting_tables(comparison, wishes)
    return found


def _correlation_tables(comparison: Comparison, kind: str) -> list[Table]:
    found = []
    for system in comparison.systems:
        frame = comparison.turn_frames.get(system)
        if frame is not None:
            names, matrix = turn_correlations(frame, comparison.measures, kind)
            found.append(
                matrix_table(f"{kind.capitalize()} over {counted(len(frame), 'turn')}: {system}", names, matrix)
            )
        over = f"{kind.capitalize()} over {counted(len(comparison.scores.dialogues), 'dialogue')}: {system}"
        matrix = dialogue_correlations(comparison.scores, system, kind)
        found.append(matrix_table(over, comparison.measures, matrix))
    return found


def _parting_tables(comparison: Comparison, wishes: Wishes) -> list[Table]:
    """The first system against each of the others."""
    measure, first = wishes.show_by or comparison.measures[0], comparison.systems[0]
    return [
        table
        for second in comparison.systems[1:]
        for table in parting_tables(
            partings(comparison.scores, first, second, measure, wishes.show, comparison.details(first, second)),
            first,
            second,
            measure,
        )
    ]


def as_json(comparison: Comparison, wishes: Wishes) -> dict[str, Any]:
    """Everything as plain values; undefined is null."""
    power = discriminative_power(comparison.randomisation.p, alpha=ALPHA)
    content: dict[str, Any] = {
        "signature": comparison.signature,
        "resamples": comparison.resamples,
        "seed": comparison.seed,
        "level": comparison.level,
        "systems": list(comparison.systems),
        "measures": list(comparison.measures),
        "dialogues": len(comparison.scores.dialogues),
        "notes": list(comparison.scores.notes),
        "scores": [
            {
                "system": system,
                "measure": measure,
                "value": comparison.values[row, column],
                "low": comparison.intervals[row, column, 0],
                "high": comparison.intervals[row, column, 1],
            }
            for row, system in enumerate(comparison.systems)
            for column, measure in enumerate(comparison.measures)
        ],
        "differences": [asdict(difference) | {"found": difference.found} for difference in comparison.differences()],
        "by_measure": [
            asdict(spread)
            | {
                "range": spread.range,
                "noise_floor": comparison.floor[place],
                "detectable": comparison.detectable[place],
                "discriminative_power": power[place],
            }
            for place, spread in enumerate(spreads(comparison.measures, comparison.values))
        ],
        "rank_agreement": rank_agreement(comparison.values),
    }
    content.update(_extras(comparison, wishes))
    cleaned: dict[str, Any] = _plain(content)
    return cleaned


def _extras(comparison: Comparison, wishes: Wishes) -> dict[str, Any]:
    extras: dict[str, Any] = {}
    for kind in wishes.correlations:
        frames = comparison.turn_frames
        extras.setdefault("correlations", {})[kind] = {
            "dialogues": {name: dialogue_correlations(comparison.scores, name, kind) for name in comparison.systems},
            "turns": {name: turn_correlations(frame, comparison.measures, kind)[1] for name, frame in frames.items()},
        }
    sweep = sweep_turns(comparison.turn_frames) if wishes.sweep and comparison.turn_frames else None
    if sweep is not None:
        extras["sweep"] = {
            "lambdas": sweep.lambdas,
            "scores": sweep.scores,
            "swaps": [asdict(s) for s in sweep.swaps()],
        }
    if wishes.ratings:
        extras["ratings"] = {
            name: {
                "agreement": ratings.agreement(),
                "correlations": [asdict(row) for row in rating_correlations(ratings, comparison.scores, name)],
            }
            for name, ratings in wishes.ratings.items()
        }
    if wishes.show:
        measure, first = wishes.show_by or comparison.measures[0], comparison.systems[0]
        extras["partings"] = {
            second: [
                asdict(found)
                for found in partings(
                    comparison.scores, first, second, measure, wishes.show, comparison.details(first, second)
                )
            ]
            for second in comparison.systems[1:]
        }
    return extras


def _plain(value: Any) -> Any:
    """Plain Python values, with None for what is undefined."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    return value
