"""All that is shown of a comparison: as tables for people, and as JSON for programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from msgspec import structs

from dialgauge.comparison.divergence import DialogueDivergence, divergence_tables, divergences
from dialgauge.comparison.ratings import Ratings, rating_correlations, rating_tables
from dialgauge.comparison.result import Comparison
from dialgauge.comparison.spread import (
    dialogue_correlations,
    rank_agreement,
    spreads,
    system_correlations,
    turn_correlations,
)
from dialgauge.comparison.standing import standings
from dialgauge.comparison.tables import (
    floor_table,
    pair_table,
    rank_range_table,
    rank_table,
    score_table,
    spread_table,
    standing_tables,
)
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.rendering import USAGE, Table, notebook_html
from dialgauge.stats import discriminative_power
from dialgauge.text import Note, counted, note_kind

#: Up to so many differences a notebook shows at once; more open at a click.
_FEW_DIFFERENCES = 12


@dataclass(frozen=True)
class ComparisonOptions:
    """What to show beyond scores and tests.

    ``pairs`` shows every pair of systems on the screen too; files have them always. ``extras`` names tables that only
    some families have, such as tracking's ``sweep``. ``detail`` shows on the screen too what files have always: ranks,
    what the dialogues can resolve, and the spread over dialogues.
    """

    correlations: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    show: int = 0
    show_by: str | None = None
    ratings: Mapping[str, Ratings] = field(default_factory=dict)
    pairs: bool = False
    detail: bool = False


def comparison_tables(comparison: Comparison, options: ComparisonOptions | None = None) -> list[Table]:
    """Every table, the scores first, each whole: for files, reports and programs."""
    many = len(comparison.systems) > 2
    first = [score_table(comparison), *([rank_range_table(comparison)] if many else []), pair_table(comparison)]
    return [*first, *_detail_tables(comparison), *_asked_tables(comparison, options or ComparisonOptions())]


def screen_tables(comparison: Comparison, options: ComparisonOptions | None = None) -> list[Table]:
    """The same for people at a screen: the standings in 80 columns; the pairs where there is one, or on request."""
    chosen = options or ComparisonOptions()
    pairs = [pair_table(comparison)] if chosen.pairs or len(comparison.systems) == 2 else []
    standing, *ranks = standing_tables(comparison)
    tables = [standing, *(ranks if chosen.detail else ()), *pairs]
    if not pairs:
        tables[-1].notes.append(
            Note(
                USAGE,
                f"--pairs prints the {counted(len(comparison.pairs) * len(comparison.measures), 'difference')} with "
                "intervals and p-values; --json FILE and --table FILE write them.",
            )
        )
    return [*tables, *(_detail_tables(comparison) if chosen.detail else ()), *_asked_tables(comparison, chosen)]


def comparison_html(comparison: Comparison) -> str:
    """The same in a notebook, with what is long folded."""
    scores, *others = comparison_tables(comparison)
    pairs = others.pop(0 if len(comparison.systems) == 2 else 1)
    if len(pairs) <= _FEW_DIFFERENCES:
        return notebook_html([scores, pairs], folded=others)
    return notebook_html([scores], folded=[pairs, *others])


def _detail_tables(comparison: Comparison) -> list[Table]:
    several = len(comparison.systems) > 2 and len(comparison.measures) > 1
    return [floor_table(comparison), spread_table(comparison), *([rank_table(comparison)] if several else [])]


def _asked_tables(comparison: Comparison, chosen: ComparisonOptions) -> list[Table]:
    tables = []
    for kind in chosen.correlations:
        tables += _correlation_tables(comparison, kind)
    for name in (*comparison.view.always, *chosen.extras):
        tables += _extra(comparison, name)()
    if chosen.ratings:
        tables += rating_tables(chosen.ratings, comparison.scores)
    if chosen.show:
        first, measure = comparison.systems[0], chosen.show_by or comparison.measures[0]
        for second in comparison.systems[1:]:
            tables += divergence_tables(comparison, first, second, measure, chosen.show)
    return tables


def _correlation_tables(comparison: Comparison, kind: str) -> list[Table]:
    unit, turns = comparison.view.unit, comparison.turn_scores
    return [
        table
        for system in comparison.systems
        for table in system_correlations(comparison.scores, system, kind, turns.get(system), unit)
    ]


def _extra(comparison: Comparison, name: str) -> Callable[[], list[Table]]:
    """A table that the family of the runs offers."""
    offered = comparison.view.tables(comparison)
    if name not in offered:
        kinds = dict.fromkeys(run.kind for run in comparison.runs.values())
        what = f"{', '.join(kinds)} runs like these" if kinds else "these scores"
        raise DialgaugeError(f"{what} have no data for a {name}.{nearest(name, offered)}")
    return offered[name]


def comparison_json(comparison: Comparison, options: ComparisonOptions | None = None) -> dict[str, Any]:
    """Everything as plain values; undefined is null."""
    power = discriminative_power(comparison.tested.p, alpha=comparison.alpha)
    content: dict[str, Any] = {
        "signature": comparison.signature,
        "resamples": comparison.resamples,
        "seed": comparison.seed,
        "level": comparison.level,
        "dialogues": len(comparison.dialogues),
        "unit": comparison.view.unit,
        "complete": comparison.complete,
        "lacking": [structs.asdict(system) for system in comparison.lacking],
        "notes": [str(note) for note in comparison.notes],
        "note_kinds": [note_kind(note) for note in comparison.notes],
        "verdict": {
            "sentence": str(comparison.verdict),
            "measures": list(map(structs.asdict, comparison.verdict.measures)),
        },
        "systems": _systems(comparison),
        "differences": [difference.as_dict() for difference in comparison.differences()],
        "measures": [
            structs.asdict(spread)
            | {
                "range": spread.range,
                "higher_is_better": comparison.scores.higher_is_better(spread.measure),
                "noise_floor": comparison.floor[index],
                "resolved": comparison.resolved[index],
                "detectable": comparison.detectable[index],
                "discriminative_power": power[index],
            }
            for index, spread in enumerate(spreads(comparison.measures, comparison.corpus_values))
        ],
        "rank_agreement": rank_agreement(comparison.oriented),
    }
    content.update(_more(comparison, options or ComparisonOptions()))
    plain: dict[str, Any] = _plain(content)
    return plain


def _systems(comparison: Comparison) -> list[dict[str, Any]]:
    standing = dict(zip(comparison.measures, standings(comparison), strict=True))
    return [
        {
            "name": name,
            **({"run": run.id if run.stored else None, "kind": run.kind} if (run := comparison.runs.get(name)) else {}),
            "scores": {
                measure: {
                    "value": comparison.corpus_values[row, column],
                    "low": comparison.intervals[row, column, 0],
                    "high": comparison.intervals[row, column, 1],
                    "signature": comparison.score_signature(name, measure),
                }
                for column, measure in enumerate(comparison.measures)
            },
            "standings": {
                measure: {
                    "letters": ranking.letters[row],
                    "best_rank": ranking.best[row],
                    "worst_rank": ranking.worst[row],
                }
                for measure, ranking in standing.items()
            },
        }
        for row, name in enumerate(comparison.systems)
    ]


def _more(comparison: Comparison, options: ComparisonOptions) -> dict[str, Any]:
    more: dict[str, Any] = {}
    for kind in options.correlations:
        frames = comparison.turn_scores
        more.setdefault("correlations", {})[kind] = {
            "dialogues": {name: dialogue_correlations(comparison.scores, name, kind) for name in comparison.systems},
            "turns": {name: turn_correlations(frame, comparison.measures, kind)[1] for name, frame in frames.items()},
        }
    documents = comparison.view.documents(comparison)
    for name in (*comparison.view.always, *options.extras):
        tables = _extra(comparison, name)
        more[name] = documents[name]() if name in documents else [table.records() for table in tables()]
    if options.ratings:
        more["ratings"] = {
            name: {
                "agreement": ratings.agreement(),
                "correlations": [asdict(row) for row in rating_correlations(ratings, comparison.scores, name)],
            }
            for name, ratings in options.ratings.items()
        }
    if options.show:
        measure, first = options.show_by or comparison.measures[0], comparison.systems[0]
        more["divergences"] = {
            second: [_divergence(part) for part in divergences(comparison, first, second, measure, options.show)]
            for second in comparison.systems[1:]
        }
    return more


def _divergence(part: DialogueDivergence) -> dict[str, Any]:
    turn = part.turn
    own = {"dialogue": part.dialogue, "first": part.first, "second": part.second, "size": part.size}
    if turn is None:
        return own | {"turn": None, "turns": 0, "items": []}
    return own | {"turn": turn.turn, "turns": turn.turns, "items": [structs.asdict(item) for item in turn.items]}


def _plain(value: Any) -> Any:
    """Plain Python values, with None for what is undefined."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    return value
