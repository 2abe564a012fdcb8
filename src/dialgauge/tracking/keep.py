"""Tracking scores in the run store: one run per system and profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dialgauge.runs import Store
from dialgauge.tracking.results import Results, SystemScores
from dialgauge.tracking.sgd.official import Official

if TYPE_CHECKING:
    import polars

KIND = "tracking"


def store_results(
    results: Results,
    store: Store,
    *,
    paths: dict[str, str],
    gold: str | None,
    config: dict[str, Any],
    official: Mapping[str, Official] | None = None,
) -> list[str]:
    """Store every system; gives the ids of the runs. ``paths`` has the file of each system that came from one.

    SGD's ``official`` scores, where they were computed, stand beside the others in the same table.
    """
    ids = []
    for system in results:
        inputs = [path for path in (gold, paths.get(system.name)) if path]
        with store.create(
            kind=KIND,
            name=system.name,
            config={**config, "system": system.name, "profile": system.comparison.coder.profile.label},
            inputs=inputs,
            seed=results.resampling.seed if results.resampling else None,
            signature=results.signature.long(),
        ) as run:
            sgd = (official or {}).get(system.name)
            run.table("dialogue_scores", _with_official(system, sgd))
            run.table("turn_scores", system.turns)
            if not system.comparison.flags_only:
                run.table("slot_scores", system.slots)
            run.scores = {name: score.as_dict() for name, score in system.scores.items()}
            if sgd:
                run.scores |= sgd.as_dict(system.comparison.signature.gold)
            coverage = system.coverage
            run.coverage = {"scored": coverage.turns, "expected": coverage.gold_turns, **coverage.as_dict()}
        ids.append(run.id)
    return ids


def _with_official(system: SystemScores, official: Official | None) -> polars.DataFrame:
    if official is None:
        return system.dialogue_scores
    import polars

    return polars.concat([system.dialogue_scores, official.frame()])
