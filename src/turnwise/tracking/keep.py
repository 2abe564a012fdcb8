"""Tracking scores in the run store: one run per system and profile."""

from __future__ import annotations

from typing import Any

from turnwise.runs import Store
from turnwise.tracking.results import Results

KIND = "tracking"


def store_results(
    results: Results,
    store: Store,
    *,
    paths: dict[str, str],
    gold: str | None,
    config: dict[str, Any],
) -> list[str]:
    """Store every system; gives the ids of the runs. ``paths`` has the file of each system that came from one."""
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
            run.table("dialogue_scores", system.dialogue_scores)
            run.table("turn_scores", system.turns)
            if not system.comparison.flags_only:
                run.table("slot_scores", system.slots)
            run.scores = {name: score.as_dict() for name, score in system.scores.items()}
            run.coverage = system.coverage.as_dict()
        ids.append(run.id)
    return ids
