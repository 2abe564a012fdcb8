"""What else there is to see of trackers: FGA as its strictness moves, other profiles, correlations, people's ratings.

A comparison of tracking runs pairs turns by their number among the user's. Other profiles need the dialogues compared
anew, so that is measured while scoring; runs keep it as a table ``sensitivity`` (measure, profile, rule, value, gained,
lost). Without a rule, the value is that under the whole profile; with one, that without this rule, and the turns that
are exact only with it, and only without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from msgspec import Struct

from dialgauge import stats
from dialgauge.comparison import Pairing, scores_of_run
from dialgauge.measures import NO_INTERVAL, Measure, Resampling, Signature, intervals, parse_measure, ratio
from dialgauge.report import PERCENT, Cell, Chart, Column, Number, Table, number_of, part_of
from dialgauge.runs import Run
from dialgauge.text import counted, named_note, note_kind
from dialgauge.tracking.checks import SHOWN
from dialgauge.tracking.counts import Counts
from dialgauge.tracking.details import tracking_details
from dialgauge.tracking.measures import DEFAULT_MEASURES
from dialgauge.tracking.ratings import (
    CORRELATIONS as RATING_CORRELATIONS,
    FACTS as RATING_FACTS,
    FITTED,
    FITTED_PEARSON,
    SEARCHED,
)
from dialgauge.tracking.tables import TURN_SCORES, frame_counts, read_counts
from dialgauge.values import Profile

if TYPE_CHECKING:
    import polars

    from dialgauge.comparison import Comparison
    from dialgauge.tracking.encode import Flags
    from dialgauge.tracking.prepared_inputs import PreparedInputs

#: From joint goal accuracy (0) to nearly full forgiveness, in steps fine enough to see a crossing.
LAMBDAS = tuple(round(0.05 * step, 2) for step in range(41))
#: Those that a screen shows.
_SHOWN = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)


class TrackingPairing(Pairing):
    """Turns are paired by their number among the user's."""

    def notes(self, runs: Sequence[Run]) -> list[str]:
        """What gold itself scores under profiles that do not give it 100, and what is odd in the predictions."""
        ceilings = dict.fromkeys(note for run in runs for note in run.notes if note_kind(note) == "ceiling")
        own = (named_note(run.name, note) for run in runs for note in run.notes if note_kind(note) in SHOWN)
        return [*ceilings, *own]

    def turn_scores(self, run: Run) -> polars.DataFrame | None:
        """The table ``turn_scores``."""
        return run.table(TURN_SCORES) if _is_complete(run) else None

    def scored_turns(self, run: Run) -> polars.DataFrame | None:
        """The user turns by their number, which two gold files agree on even if one has no turns of the system."""
        if not _is_complete(run):
            return None
        return run.table(TURN_SCORES).select("dialogue", turn="user_turn")


PAIRING = TrackingPairing()


def _is_complete(run: Run) -> bool:
    return "evidence" in run.details and TURN_SCORES in run.tables


class Swap(Struct, frozen=True):
    """Below ``at``, ``before`` is higher; above it, ``after``."""

    at: float
    before: str
    after: str


def swaps(curves: Mapping[str, Sequence[float]], lambdas: Sequence[float]) -> list[Swap]:
    """Every crossing of two systems, interpolated between the two lambdas around it; touching is no crossing."""
    found = []
    for first, second in combinations(curves, 2):
        gap = np.asarray(curves[first]) - np.asarray(curves[second])
        steps = np.flatnonzero(np.abs(gap) > 1e-12)
        for left, right in pairwise(steps.tolist()):
            if gap[left] * gap[right] < 0:
                share = gap[left] / (gap[left] - gap[right])
                at = lambdas[left] + share * (lambdas[right] - lambdas[left])
                order = (first, second) if gap[left] > 0 else (second, first)
                found.append(Swap(float(at), *order))
    return sorted(found, key=lambda swap: (swap.at, swap.before, swap.after))


def _sweep_table(systems: Mapping[str, Counts], how: Resampling | None) -> Table:
    """FGA of each system at each of LAMBDAS, with intervals where it is said how."""
    measures = [parse_measure(f"FGA@{at:g}", "tracking") for at in LAMBDAS]
    work = [[(measure, measure.sums(counts)) for measure in measures] for counts in systems.values()]
    made = intervals(work, how) if how else [[NO_INTERVAL] * len(LAMBDAS) for _ in work]
    curves = [[float(ratio(sums.sum(axis=1))) for _, sums in measured] for measured in work]
    table = Table(
        "Flexible goal accuracy by strictness",
        [Column("λ", help="0 is joint goal accuracy"), *(Column(system, PERCENT) for system in systems)],
        chart=Chart("lines", tuple(systems)),
    )
    for place in sorted(range(len(LAMBDAS)), key=lambda place: LAMBDAS[place] not in _SHOWN):
        values = zip(curves, made, strict=True)
        table.add(LAMBDAS[place], *(Cell(curve[place], *(bands[place].ends if how else ())) for curve, bands in values))
    table.first = len(_SHOWN)
    crossings = swaps(dict(zip(systems, curves, strict=True)), LAMBDAS)
    if len(systems) > 1:
        passing = "; ".join(f"{each.after} passes {each.before} at λ = {each.at:.2f}" for each in crossings)
        table.answer = f"{passing or 'No two systems change places'}."
    return table


SENSITIVITY = "sensitivity"
_SCHEMA = {"measure": pl.String, "profile": pl.String, "rule": pl.String, "value": pl.Float64} | dict.fromkeys(
    ("gained", "lost"), pl.Int64
)


def profile_sensitivity(
    inputs: PreparedInputs,
    measure: Measure[Any],
    profiles: Sequence[Profile],
    advance: Callable[[int], None] = lambda steps: None,
) -> dict[str, pl.DataFrame]:
    """The table of every system; ``advance`` is told of every comparison done."""
    frames = {}
    for name in inputs.systems:
        rows: list[tuple[str, str, str | None, float, int | None, int | None]] = []
        exact: dict[str, Flags] = {}
        for profile in profiles:
            counts = inputs.comparison(name, profile).counts
            rows.append((str(measure), profile.name, None, measure.value(counts), None, None))
            exact[profile.name] = counts.exact
            advance(1)
        for profile in profiles:
            for rule in profile.values:
                counts = inputs.comparison(name, profile.without(rule)).counts
                gained = int((exact[profile.name] & ~counts.exact).sum())
                lost = int((counts.exact & ~exact[profile.name]).sum())
                rows.append((str(measure), profile.name, rule.name, measure.value(counts), gained, lost))
                advance(1)
        frames[name] = pl.DataFrame(rows, schema=_SCHEMA, orient="row").with_columns(pl.col("value").fill_nan(None))
    return frames


def sensitivity(run: Run) -> Table | None:
    """The first measure under other rules for comparing values, if that was asked for when the run was scored."""
    if SENSITIVITY not in run.tables:
        return None
    rows = run.table(SENSITIVITY).rows()
    whole = [row for row in rows if row[2] is None]
    rules = [row for row in rows if row[2] is not None and (row[4] or row[5])]
    number = number_of(run.scores.get(rows[0][0]))
    table = Table(
        f"{rows[0][0]} under other rules for comparing values",
        [
            "profile",
            Column("without the rule"),
            Column(rows[0][0], number),
            Column("gained", help="turns that are exact only with the rule"),
            Column("lost", help="turns that are exact only without it"),
        ],
        notes=["Each rule is left out on its own; rules that flip no turn are not listed."],
        first=len(whole) + 8,
    )
    for _, profile, rule, value, gained, lost in (*whole, *sorted(rules, key=lambda row: -row[4] - row[5])):
        table.add(profile, rule, value, gained, lost)
    return table


def correlation(run: Run) -> Table | None:
    """How the measures go together, over turns and over dialogues."""
    if TURN_SCORES not in run.tables or all(map(part_of, run.scores)):
        return None
    paired, turns = scores_of_run(run), run.table(TURN_SCORES)
    whole = [name for name in paired.measures if not part_of(name)]
    heads = [name for name in whole if name in DEFAULT_MEASURES] or whole
    measures = [*heads, *(name for name in whole if name not in heads)]
    values = dict(zip(paired.measures, paired.by_dialogue[0], strict=True))
    columns = [Column(name, Number(3), spare=max(0, place - 5)) for place, name in enumerate(measures)]
    table = Table(
        "Correlations of measures",
        ["kind", "over", "measure", *columns],
        first=len(heads),
        notes=["Undefined where a measure is constant."],
        chart=Chart("heat", tuple(measures)),
    )
    by_turn = [name for name in measures if name in turns.columns]
    units = {
        "turns": {name: turns[name].fill_null(float("nan")).to_numpy() for name in by_turn},
        "dialogues": {name: values[name] for name in measures},
    }
    for kind in stats.CORRELATIONS:
        for over, known in units.items():
            matrix = stats.correlation_matrix(list(known.values()), kind)
            for name, row in zip(known, matrix, strict=True):
                found = dict(zip(known, row, strict=True))
                table.add(kind, over, name, *(found.get(other) for other in measures))
    return table


def rated(run: Run) -> Table | None:
    """Which measure goes with what people said of the dialogues, if there were ratings when the run was scored."""
    if RATING_CORRELATIONS not in run.tables:
        return None
    facts = {name: (value, low, high) for name, value, low, high in run.table(RATING_FACTS).iter_rows()}
    frame, three = run.table(RATING_CORRELATIONS), Number(3)
    table = Table(
        "Correlation with people's ratings of dialogues",
        [
            Column("measure"),
            Column("Pearson", three, help="with the mean rating of each dialogue"),
            Column("behind the best", three, help="an interval that holds 0 cannot tell the two apart"),
            *(Column(kind.capitalize(), three, spare=1) for kind in stats.CORRELATIONS if kind != "pearson"),
            *(Column(f"{kind}, single ratings", three, spare=2) for kind in stats.CORRELATIONS),
        ],
        answer=_fit_sentence(facts),
    )
    by_kind = {(row["measure"], row["kind"]): row for row in frame.iter_rows(named=True)}
    best = frame.filter(kind="pearson").sort("mean", descending=True, nulls_last=True)["measure"]
    for name in best:
        head = by_kind[name, "pearson"]
        every = [by_kind[name, kind] for kind in stats.CORRELATIONS]
        others = [Cell(row["mean"], row["low"], row["high"]) for row in every[1:]]
        behind = Cell(head["behind"], head["behind_low"], head["behind_high"])
        single = [row["single"] for row in every]
        table.add(name, Cell(head["mean"], head["low"], head["high"]), behind, *others, *single)
    sizes = ("rating", "dialogue", "rater")
    given = [counted(int(facts[f"{noun}s"][0] or 0), noun) for noun in sizes]
    table.notes = [f"{given[0]} of {given[1]} by {given[2]}; intervals are 95%, from 1,000 resamples of dialogues."]
    known = [
        f"{name} {value:.3f}"
        for name, (value, *_) in facts.items()
        if value is not None and ("kappa" in name or "alpha" in name)
    ]
    table.notes.append(f"Agreement of the raters: {', '.join(known) or 'undefined'}.")
    return table


def _fit_sentence(facts: Mapping[str, tuple[float | None, float | None, float | None]]) -> str:
    if FITTED not in facts:
        return "No λ has a correlation: FGA or the ratings are all the same."
    (rate, low, high), (value, *_) = facts[FITTED], facts[FITTED_PEARSON]
    edge = " (the end of the range)" if rate in SEARCHED else ""
    return (
        f"FGA goes with these ratings best at λ = {rate:.3g}{edge}, 95% interval {low:.3g} to {high:.3g}, with a "
        f"correlation of {value:.3f}; searched from {SEARCHED[0]:g} to {SEARCHED[1]:g}."
    )


def sweep(run: Run) -> Table | None:
    """Flexible goal accuracy from strict to forgiving (FGA paper)."""
    if TURN_SCORES not in run.tables:
        return None
    return _sweep_table({run.name: read_counts(run)}, _resampling(run))


def compared_sweep(comparison: Comparison) -> Table | None:
    """The same of several systems, and where they change places."""
    if not comparison.turn_scores:
        return None
    systems = {
        name: frame_counts(frame, tracking_details(comparison.runs[name]).evidence)
        for name, frame in comparison.turn_scores.items()
    }
    return _sweep_table(systems, comparison.resampling)


def compared_sensitivity(comparison: Comparison) -> Table | None:
    """The first measure of each system under every profile, and whether that changes their order."""
    frames = {name: run.table(SENSITIVITY) for name, run in comparison.runs.items() if SENSITIVITY in run.tables}
    if len(frames) < len(comparison.runs):
        return None
    values: dict[str, dict[str, float]] = {}
    for name, frame in frames.items():
        for profile, value in frame.filter(pl.col("rule").is_null()).select("profile", "value").iter_rows():
            values.setdefault(profile, {})[name] = value
    measure = next(iter(frames.values()))["measure"][0]
    score = comparison.scores.run_score(measure)
    table = Table(f"{measure} under each profile", ["profile", *(Column(name, number_of(score)) for name in frames)])
    for profile, by_system in values.items():
        table.add(profile, *(by_system.get(name) for name in frames))
    orders = {profile: sorted(frames, key=lambda name: -known.get(name, 0)) for profile, known in values.items()}
    first, *others = orders
    changed = next((profile for profile in others if orders[profile] != orders[first]), "")
    table.answer = "The order of the systems is the same under all profiles."
    if changed:
        ranked = [f"{', '.join(orders[profile])} under {profile}" for profile in (first, changed)]
        table.answer = f"The order changes: {'; '.join(ranked)}."
    return table


def _resampling(run: Run) -> Resampling | None:
    """How the intervals of the run were made."""
    return Resampling.parse(Signature.parse(run.signature).get("interval", ""))
