"""One system in many files: each is scored where a worker is free, and only the sums of its dialogues come back.

A file holds dialogues with predictions (their gold states inside, or in GOLD), or is a table of codes
(:mod:`dialgauge.tracking.stream`). What comes out depends on the files alone: not on the engine, the number of workers,
the order in which the files are named or how often the work was broken off. Finished files are kept in the store until
all are done, so that the same call does only what is left, or has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from dialgauge import engine
from dialgauge.dialogue import Ontology
from dialgauge.engine import Unit, Workers
from dialgauge.errors import DialgaugeError
from dialgauge.formats import list_shards, read, system_name
from dialgauge.measures import Measure, Resampling
from dialgauge.runs import Parts, Store
from dialgauge.text import counted
from dialgauge.tracking.results import TrackingRuns
from dialgauge.tracking.shard_run import combined
from dialgauge.tracking.shard_sums import ShardSums
from dialgauge.tracking.shard_work import ShardSettings, ShardTask, ShardWork
from dialgauge.tracking.study import coverage_policy
from dialgauge.values import profile_named

#: Failed files that are named, each with its reason.
_NAMED = 5


def score_shards(
    sources: Sequence[str],
    gold: str | None = None,
    *,
    measures: Sequence[Measure[Any]],
    required: Collection[str] = (),
    profile: str,
    store: Store,
    coverage: str = "intersection",
    exclude: Collection[str] = (),
    ontology: Ontology | None = None,
    resampling: Resampling | None = None,
    workers: Workers = None,
    format: str | None = None,
    gold_format: str | None = None,
    name: str | None = None,
    on_unit: Callable[[int], None] | None = None,
) -> TrackingRuns:
    """Score one system whose predictions lie in many files.

    ``gold`` is a file or folder that every worker can hold, or as many files as there are predictions, with the same
    names. ``on_unit`` is called with 1 for every file that is done.
    """
    tasks, paired = _tasks(sources, gold)
    settings = ShardSettings(
        measures=[str(measure) for measure in measures],
        profile=profile,
        coverage=coverage_policy(coverage),
        exclude=sorted(exclude),
        ontology=ontology,
        gold="" if paired or gold is None else gold,
        gold_format=gold_format,
        format=format,
    )
    label = name or system_name(min(sources))
    told = on_unit or (lambda steps: None)
    config = {
        "settings": msgspec.to_builtins(settings),
        "profile": profile_named(profile).label,  # a file of rules may change under its name
        "sources": sorted(sources),
        "gold": gold,
    }
    with store.kept_units(kind="shards", name=label, config=config) as done:
        results = _scored(tasks, settings, workers, done, told)
        return combined(
            results,
            settings=msgspec.to_builtins(settings) | {"gold": gold or ""},
            measures=measures,
            required=required,
            how=resampling,
            name=label,
            sources=sources,
            gold_source=gold,
            gold=read(settings.gold, format=gold_format).dialogues if settings.gold else None,
        )


def _tasks(sources: Sequence[str], gold: str | None) -> tuple[list[ShardTask], bool]:
    """The files, each with its gold file where GOLD has one of the same name for each of them."""
    shards = list_shards(sources)
    if gold is None:
        return [ShardTask(one) for one in shards], False
    beside = {one.inside: one for one in list_shards([gold])}
    if len(beside) > 1 and beside.keys() == {one.inside for one in shards}:
        return [ShardTask(one, beside[one.inside]) for one in shards], True
    return [ShardTask(one) for one in shards], False


def _scored(
    tasks: Sequence[ShardTask], settings: ShardSettings, workers: Workers, done: Parts, told: Callable[[int], None]
) -> Iterator[ShardSums]:
    """The sums of the files in order; if some failed, an error at the end that names them, with the others kept."""
    decoder = msgspec.msgpack.Decoder(ShardSums)
    gold = _checksum(settings.gold) if settings.gold else ""
    units = (Unit(f"{task.key}{gold}", task) for task in tasks)
    failed: list[str] = []
    for task, result in zip(tasks, engine.run(ShardWork(settings), units, workers=workers, done=done), strict=True):
        told(1)
        if result.content is None:
            failed.append(result.failure or "a file could not be scored")
        elif not failed:  # kept ones may have had another name among other files
            yield replace(decoder.decode(result.content), shard=task.shard.inside)
    if failed:
        shown = "; ".join(dict.fromkeys(failed[:_NAMED])) + (
            f"; and {len(failed) - _NAMED:,} more" if len(failed) > _NAMED else ""
        )
        kept = len(tasks) - len(failed)
        are = "is" if kept == 1 else "are"
        rest = f". {counted(kept, 'other file')} {are} done and kept: fix it and run the same command again"
        raise DialgaugeError(shown + (rest if kept else ""))


def _checksum(gold: str) -> str:
    """GOLD is read by every worker: where it changes, nothing that was done counts."""
    keys = "".join(shard.key for shard in list_shards([gold]))
    return "-" + hashlib.sha256(keys.encode()).hexdigest()[:16]
