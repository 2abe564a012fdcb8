"""Calls of the public API that no single family can answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dialgauge.comparison import SCORED_AS_EMPTY, Comparison, compare_runs, missing_policy
from dialgauge.dialogue import Ontology
from dialgauge.errors import DialgaugeError
from dialgauge.report import RunSet
from dialgauge.runs import Run, Store
from dialgauge.tracking import how_many, score
from dialgauge.values import DEFAULT_PROFILE, Profile

if TYPE_CHECKING:
    from dialgauge.tracking import MeasureChoice, Renaming, Source


def compare(
    systems: RunSet | Source | Sequence[RunSet | Run | str | Path] | None,
    predictions: Mapping[str, Source] | Sequence[str | Path] | None = None,
    *,
    measures: MeasureChoice = None,
    profile: str | Profile = DEFAULT_PROFILE,
    coverage: str = "intersection",
    exclude: Collection[str] = (),
    ontology: Ontology | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    gold_format: str | None = None,
    pred_format: str | None = None,
    turns: str | None = None,
    rename: Renaming | Mapping[str, Mapping[str, str]] | str | Path | None = None,
    accept: str | Collection[str] = (),
    missing: str = "shared",
    store: Store | str | Path | None = None,
) -> Comparison:
    """Which system is better, and by which measure?

    Compared are results of any kind (one :class:`RunSet`, or a list of them, of runs, or of ids of stored runs), result
    files of agents, or trackers: ``compare(gold, predictions)``, each as for :func:`dialgauge.score`. Tests are paired
    over the dialogues that all systems have. ``missing`` says what becomes of others: ``shared`` leaves them out,
    ``without`` leaves out the systems that lack some, ``refuse`` is an error; of trackers, ``empty`` scores what a
    system lacks as empty states. ``profile`` to ``ontology`` and the formats to ``accept`` are for trackers.

    >>> import dialgauge
    >>> gold = {str(n): [{"hotel-area": "north"}] for n in range(8)}
    >>> results = dialgauge.score(gold, {"right": gold, "silent": {name: [{}] for name in gold}}, measures="JGA")
    >>> comparison = dialgauge.compare(results, resamples=1000)
    >>> comparison["right"]["JGA"], comparison.difference("right", "silent", "JGA").significant
    (<Score 1 [0.5888, 1], n=8>, True)
    """
    if predictions is not None:
        if how_many(predictions) < 2:
            raise DialgaugeError("a comparison needs at least two systems; name two or more prediction files")
        if missing == SCORED_AS_EMPTY:
            coverage, missing = "empty", "shared"
        missing_policy(missing)
        results = score(
            cast("Source | None", systems),
            predictions,
            measures=measures,
            profile=profile,
            coverage=coverage,
            exclude=exclude,
            ontology=ontology,
            intervals=False,
            gold_format=gold_format,
            pred_format=pred_format,
            turns=turns,
            rename=rename,
            accept=accept,
        )
        return compare_runs(results.runs, resamples=resamples, seed=seed, level=level, missing=missing)
    if isinstance(systems, RunSet):
        systems = [systems]
    if not isinstance(systems, list | tuple):
        raise DialgaugeError("give results to compare, or gold and predictions: compare(gold, predictions)")
    runs: list[Run | str] = []
    for one in systems:
        if isinstance(one, RunSet):
            runs += one.runs
        elif isinstance(one, Run | str):
            runs.append(one)
        else:
            raise DialgaugeError(f"a {type(one).__name__} cannot be compared; give results, runs or ids of stored runs")
    files = [run for run in runs if isinstance(run, str) and Path(run).is_file()]
    if files and len(files) == len(runs):
        from dialgauge.tasks import are_results, score_results

        if are_results(files):
            runs = [*score_results(files, resamples=0).runs]
    named = None if measures is None else [str(one) for one in ([measures] if isinstance(measures, str) else measures)]
    return compare_runs(runs, store=store, measures=named, resamples=resamples, seed=seed, level=level, missing=missing)
