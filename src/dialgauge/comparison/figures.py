"""The figures of a comparison, each a function that draws when called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.comparison.result import Comparison
from dialgauge.comparison.slots import domain_f1, gold_slots
from dialgauge.comparison.spread import spreads
from dialgauge.comparison.stored import RunComparison
from dialgauge.comparison.trackers import TrackerComparison
from dialgauge.comparison.turns import sweep_turns, turn_correlations
from dialgauge.report import charts as figures
from dialgauge.text import counted
from dialgauge.tracking import slots_per_dialogue

if TYPE_CHECKING:
    import polars


def drawings(comparison: Comparison) -> dict[str, Callable[[], Any]]:
    """File name (without ending) to the function that draws it; what the comparison has no data for is absent."""
    found: dict[str, Callable[[], Any]] = {
        "intervals": partial(_intervals, comparison),
        "mean_spread": partial(_mean_spread, comparison),
    }
    frames = comparison.turn_frames
    for place, (system, frame) in enumerate(frames.items(), 1):
        label = f"{place}_{_file_name(system)}"
        found[f"correlation_{label}"] = partial(_correlation, comparison, system, frame)
        if "exact" in frame.columns:
            found[f"error_onset_{label}"] = partial(_onset, system, frame)
    sweep = sweep_turns(frames) if frames else None
    if sweep is not None:
        swaps = [swap.at for swap in sweep.swaps()]
        found["lambda_sweep"] = partial(figures.lambda_sweep, sweep.lambdas, sweep.scores, swaps=swaps)
    if isinstance(comparison, TrackerComparison):
        found.update(_tracker_drawings(comparison))
    if isinstance(comparison, RunComparison):
        found.update(_run_drawings(comparison))
    return found


def _intervals(comparison: Comparison) -> Any:
    rows = [
        {
            "system": system,
            "measure": measure,
            "value": None if value != value else float(value),
            "low": float(comparison.intervals[row, column, 0]),
            "high": float(comparison.intervals[row, column, 1]),
        }
        for row, system in enumerate(comparison.systems)
        for column, measure in enumerate(comparison.measures)
        for value in (comparison.values[row, column],)
    ]
    return figures.interval_plot(rows, note=comparison.basis)


def _mean_spread(comparison: Comparison) -> Any:
    known = [spread for spread in spreads(comparison.measures, comparison.values) if spread.mean is not None]
    points = {
        measure: [float(value) for value in comparison.values[:, place] if value == value]
        for place, measure in enumerate(comparison.measures)
    }
    return figures.mean_spread(
        [spread.measure for spread in known],
        [spread.mean or 0.0 for spread in known],
        [spread.population_std or 0.0 for spread in known],
        points=points,
        note=f"{len(comparison.systems)} systems, population standard deviation",
    )


def _correlation(comparison: Comparison, system: str, frame: polars.DataFrame) -> Any:
    names, matrix = turn_correlations(frame, comparison.measures, "pearson")
    return figures.correlation_heatmap(names, matrix, note=f"{system}: Pearson over {counted(len(frame), 'turn')}")


def _onset(system: str, frame: polars.DataFrame) -> Any:
    positions = []
    turns: dict[str, list[bool]] = {}
    for dialogue, exact in frame.select("dialogue", "exact").iter_rows():
        turns.setdefault(dialogue, []).append(exact)
    for marks in turns.values():
        if not marks[-1]:
            positions.append(marks.index(False) / len(marks))
    return figures.error_onset(positions, note=f"{system}: {len(positions):,} of {len(turns):,} dialogues end wrong")


def _tracker_drawings(comparison: TrackerComparison) -> Mapping[str, Callable[[], Any]]:
    results = [system for system in comparison.results if system.comparison.has_gold]
    states = [system for system in results if not system.comparison.flags_only]
    found: dict[str, Callable[[], Any]] = {}
    if results:
        counts = [int(count) for count in slots_per_dialogue(results[0].comparison)]
        found["slots_per_dialogue"] = partial(figures.slots_per_dialogue, counts, note=counted(len(counts), "dialogue"))
    measures = [name for name in ("JGA", "RSA") if name in comparison.measures]
    if not states or not measures:
        return found
    views = {system.name: system.by("domain") for system in states}
    domains = sorted({domain for view in views.values() for domain in view})
    for measure in measures:
        bars = {
            domain: {name: view.get(domain, {}).get("scores", {}).get(measure) for name, view in views.items()}
            for domain in domains
        }
        note = "turns whose gold state has the domain, both states cut down to it"
        found[f"domains_{measure}"] = partial(figures.domain_bars, bars, value=measure, note=note)
    return found


def _run_drawings(comparison: RunComparison) -> Mapping[str, Callable[[], Any]]:
    """What tables of counts allow. Runs keep no states, so domains are told by F1, which is a ratio of counts."""
    tables = comparison.slot_frames
    if not tables or not comparison.turn_frames:
        return {}
    counts = gold_slots(comparison.turn_frames[next(iter(tables))])
    scores = {name: domain_f1(table) for name, table in tables.items()}
    domains = sorted({domain for values in scores.values() for domain in values})
    bars = {domain: {name: values.get(domain) for name, values in scores.items()} for domain in domains}
    note = "micro F1 over the slots of the domain in all turns"
    return {
        "slots_per_dialogue": partial(figures.slots_per_dialogue, counts, note=counted(len(counts), "dialogue")),
        "domains_F1": partial(figures.domain_bars, bars, value="F1", note=note),
    }


def _file_name(name: str) -> str:
    """A system's name as part of a file name."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)[:60]
