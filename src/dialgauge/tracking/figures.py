"""The figures of trackers: where errors begin, FGA by strictness, slots per dialogue, scores by domain.

Those of a comparison are over the turns that it is over, those of scored systems over all of theirs. Intervals resample
dialogues, as those of the scores do; without those there are none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dialgauge.measures import (
    NO_INTERVAL,
    Bounds,
    Floats,
    Resampling,
    Signature,
    Summed,
    intervals,
    parse_measure,
    summed_intervals,
)
from dialgauge.rendering import domain_bars, error_onset, figure_label, lambda_sweep, slot_histogram
from dialgauge.text import counted
from dialgauge.tracking.counts import Counts
from dialgauge.tracking.details import tracking_details
from dialgauge.tracking.pairing import LAMBDAS, sweep_counts, turn_counts_of
from dialgauge.tracking.parts import PART_SUMS, stored_parts
from dialgauge.tracking.slot_errors import onset_histogram, slots_per_dialogue
from dialgauge.tracking.tables import TURN_SCORES
from dialgauge.tracking.tracked_system import KIND, TrackedSystem

if TYPE_CHECKING:
    import polars

    from dialgauge.runs import Run

#: Resamples that give a picture its intervals: more would not be seen.
_DRAWN_RESAMPLES = 1000

#: Fewer dialogues than that, and one of them decides how wide an interval is.
_FEW = 10

#: Measures that are drawn by domain, where the comparison has them.
_BY_DOMAIN = ("JGA", "RSA")

#: System to its ends at each lambda.
Bands = dict[str, list[tuple[float, float]]]


@dataclass(frozen=True)
class DrawnTurns:
    """Systems by the names that figures have for them, and the turns that are drawn."""

    runs: Mapping[str, Run]
    frames: Mapping[str, polars.DataFrame]
    measures: Collection[str]
    basis: str
    #: None where intervals were refused: then none are drawn.
    how: Resampling | None

    @cached_property
    def counts(self) -> dict[str, Counts]:
        return turn_counts_of(self.runs, self.frames)


def scored_figures(systems: Mapping[str, Run]) -> dict[str, Callable[[], Any]]:
    """File name without ending to the function that draws the figure; nothing for systems that kept no turns."""
    kept = {name: run for name, run in systems.items() if TURN_SCORES in run.tables and "evidence" in run.details}
    if not kept:
        return {}
    measures = dict.fromkeys(name for run in kept.values() for name in run.scores)
    sizes = {run.coverage["dialogues"].scored or 0 for run in kept.values()}
    basis = counted(sizes.pop(), "dialogue") if len(sizes) == 1 else "each system over its own dialogues"
    frames = {name: run.table(TURN_SCORES) for name, run in kept.items()}
    return _figures(DrawnTurns(kept, frames, measures, basis, _as_scored(kept.values())))


def _as_scored(runs: Iterable[Run]) -> Resampling | None:
    """How the intervals of the scores were made: those of the figures are made alike. None where one has none."""
    made = [Signature.parse(run.signature).get("interval", "") for run in runs]
    return (Resampling.parse(made[0]) or Resampling(_DRAWN_RESAMPLES)) if made and all(made) else None


def _figures(drawn: DrawnTurns) -> dict[str, Callable[[], Any]]:
    figures: dict[str, Callable[[], Any]] = {}
    for index, (system, frame) in enumerate(drawn.frames.items(), 1):
        figures[f"error_onset_{figure_label(index, system)}"] = partial(_error_onset, system, frame)
    figures["lambda_sweep"] = partial(_lambda_sweep, drawn)
    with_gold = [name for name, run in drawn.runs.items() if tracking_details(run).evidence.gold]
    if with_gold:
        figures["slots_per_dialogue"] = partial(_slot_histogram, drawn, with_gold[0])
    for measure in _BY_DOMAIN:
        if measure in drawn.measures and all(_has_domains(run, measure) for run in drawn.runs.values()):
            figures[f"domains_{measure}"] = partial(_domain_bars, drawn, measure)
    return figures


def _has_domains(run: Run, measure: str) -> bool:
    return PART_SUMS in run.tables and not tracking_details(run).evidence.flags and measure in run.scores


def _error_onset(system: str, frame: polars.DataFrame) -> Any:
    exact = frame.group_by("dialogue", maintain_order=True).agg("exact")["exact"].to_list()
    wrong = [marks for marks in exact if not marks[-1]]
    counts = onset_histogram([marks.index(False) for marks in wrong], map(len, wrong))
    return error_onset(counts, note=f"{system}: {len(wrong):,} of {len(exact):,} dialogues end wrong")


def _slot_histogram(drawn: DrawnTurns, system: str) -> Any:
    sizes = slots_per_dialogue(drawn.counts[system]).tolist()
    return slot_histogram(sizes, note=counted(len(sizes), "dialogue"))


def _lambda_sweep(drawn: DrawnTurns) -> Any:
    systems = drawn.counts
    sweep = sweep_counts(systems)
    turns = max(map(len, systems.values()), default=0)
    bands = sweep_intervals(systems, drawn.how) if drawn.how else {}
    interval_note = _interval_words("bands", drawn.how, [ends for band in bands.values() for ends in band])
    return lambda_sweep(
        sweep.lambdas,
        sweep.scores,
        intervals=bands,
        swaps=[swap.at for swap in sweep.swaps()],
        note=[f"{drawn.basis}, {counted(turns, 'turn')}; {interval_note}", *_caution(systems, bands)],
    )


def _caution(systems: Mapping[str, Counts], bands: Bands) -> list[str]:
    """What a reader of bands must know that swell at single lambdas: of three dialogues two may happen to be alike."""
    sizes = [systems[name].dialogues for name, band in bands.items() if not math.isnan(band[0][0])]
    few = bool(sizes) and min(sizes) < _FEW
    return ["with so few dialogues the width of a band is uncertain itself"] if few else []


def _interval_words(marks: str, how: Resampling | None, bounds: Collection[Bounds]) -> str:
    """What the bands or whiskers of a figure are; that there are none, where there are none."""
    if how is None:
        return "no intervals were computed"
    undefined = sum(math.isnan(low) or math.isnan(high) for low, high in bounds)
    if undefined == len(bounds):
        return "no intervals: fewer than two dialogues"
    sentence = f"{marks}: {how.level:.0%} confidence intervals from {how.resamples:,} resamples"
    return f"{sentence}; none where fewer than two dialogues count" if undefined else sentence


def sweep_intervals(systems: Mapping[str, Counts], how: Resampling) -> Bands:
    """The interval of every system's FGA at each of LAMBDAS."""
    measures = [parse_measure(f"FGA@{at:g}", KIND) for at in LAMBDAS]
    sums = [[(measure, measure.sums(counts)) for measure in measures] for counts in systems.values()]
    made = intervals(sums, how)
    return {system: [band.ends for band in bands] for system, bands in zip(systems, made, strict=True)}


def _domain_bars(drawn: DrawnTurns, measure: str) -> Any:
    chosen, how = parse_measure(measure, KIND), drawn.how
    sums: dict[tuple[str, str], Floats] = {}
    sizes: dict[str, dict[str, int]] = {}
    for name, run in drawn.runs.items():
        for domain in stored_parts(run, "domain"):
            if (own := _sums_of(run, f"{measure}[{domain}]", drawn.frames[name])).any():
                sums[domain, name] = own
                sizes.setdefault(domain, {})[name] = int(own[1].sum())
    summed = [Summed.by(chosen, own) for own in sums.values()]
    made = summed_intervals(summed, how) if how else [NO_INTERVAL] * len(summed)
    bars: dict[str, dict[str, float | None]] = {domain: {} for domain in sizes}
    ends: dict[str, dict[str, tuple[float, float]]] = {domain: {} for domain in sizes}
    for ((domain, system), own), interval in zip(sums.items(), made, strict=True):
        bars[domain][system] = float(chosen.card.of(own.sum(axis=1)))
        ends[domain][system] = interval.ends
    return domain_bars(
        bars,
        title=f"{measure} by domain",
        value=measure,
        percent=all(TrackedSystem(run).is_share(measure) for run in drawn.runs.values()),
        counts=sizes,
        intervals=ends,
        note=[
            f"{drawn.basis}; {_interval_words('whiskers', how, [ends[domain][system] for domain, system in sums])}",
            "n: turns whose gold state has the domain; both states are restricted to it",
        ],
    )


def _sums_of(run: Run, measure: str, turns: polars.DataFrame) -> Floats:
    """The sums of a part over the dialogues that are drawn, (2, dialogues)."""
    places = turns.select("dialogue").unique(maintain_order=True).with_row_index("place")
    rows = run.table(PART_SUMS).filter(measure=measure).join(places, on="dialogue")
    sums = np.zeros((2, len(places)))
    sums[:, rows["place"].to_numpy()] = rows["num"].to_numpy(), rows["den"].to_numpy()
    return sums
