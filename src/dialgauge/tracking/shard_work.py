"""What a worker does with one file of many: it reads and scores it, and gives the sums of its dialogues.

Apart from :mod:`dialgauge.tracking.shards`, so that a worker imports nothing that only the process needs which puts the
sums together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, Ontology, dialogue_key
from dialgauge.engine import Unit, Work
from dialgauge.errors import DialgaugeError
from dialgauge.formats import Shard, bulk_load, on_this_machine, read, stream
from dialgauge.measures import Measure, Rows, parse_measures
from dialgauge.tracking.align import Policy, TurnCoverage
from dialgauge.tracking.counts import Counts
from dialgauge.tracking.details import CountBasis
from dialgauge.tracking.measures import FAMILY
from dialgauge.tracking.prepared_inputs import PreparedInputs
from dialgauge.tracking.shard_sums import (
    ChunkSums,
    DeclaredDomains,
    ShardFacts,
    ShardSums,
    left_over,
)
from dialgauge.tracking.stream import code_inventory, code_slots, is_code_table, stream_counts
from dialgauge.values import Profile, profile_named

if TYPE_CHECKING:
    from pathlib import Path

    import polars

    from dialgauge.tracking.states import StateComparison

#: Dialogues that a worker holds at a time.
_CHUNK = 2048


class ShardSettings(Struct, frozen=True):
    """Everything but the files that the sums depend on."""

    measures: list[str]
    profile: str
    coverage: Policy
    exclude: list[str]
    ontology: Ontology | None = None
    #: GOLD where every worker reads it whole; empty where the gold states lie in the files, or in a file beside each.
    gold: str = ""
    gold_format: str | None = None
    format: str | None = None


class ShardTask(Struct, frozen=True):
    """One file to be scored, and the file with its gold states where there is one for each."""

    shard: Shard
    gold: Shard | None = None

    @property
    def key(self) -> str:
        """What identifies both."""
        return self.shard.key if self.gold is None else f"{self.shard.key}-{self.gold.key}"


class _WorkerState(Struct):
    """What a worker keeps open."""

    profile: Profile
    measures: list[Measure[Any]]
    gold: dict[str, Dialogue] | None


class ShardWork(Work[_WorkerState, ShardTask]):
    """The sums of one file."""

    def __init__(self, settings: ShardSettings) -> None:
        self._settings = settings

    def open(self) -> _WorkerState:
        settings = self._settings
        gold = None
        if settings.gold:
            gold = {
                dialogue_key(dialogue.id): dialogue for dialogue in read(settings.gold, format=settings.gold_format)
            }
        return _WorkerState(profile_named(settings.profile), parse_measures(settings.measures, FAMILY), gold)

    def do(self, state: _WorkerState, unit: Unit[ShardTask]) -> bytes:
        task = unit.payload
        try:
            with on_this_machine(task.shard) as (path, digest), bulk_load():
                whole = ShardSums.of(list(self._sums(state, task, path)), task.shard.inside, digest, task.shard.size)
        except DialgaugeError as error:
            raise error.at(file=task.shard.name) from error
        return msgspec.msgpack.encode(whole)

    def _sums(self, bench: _WorkerState, task: ShardTask, path: Path) -> Iterator[ChunkSums]:
        if is_code_table(path):
            if bench.gold is not None or task.gold is not None:
                raise DialgaugeError("a table of codes holds gold and predictions, so leave GOLD out")
            yield from self._of_codes(bench, path)
        else:
            yield from self._of_dialogues(bench, task, path)

    def _of_codes(self, bench: _WorkerState, path: Path) -> Iterator[ChunkSums]:
        if self._settings.coverage == "empty":
            raise DialgaugeError("a table of codes has both sides of every turn, so leave --coverage empty out")
        slots = code_slots(path)
        by_domain: dict[str, int] = {}
        for slot in slots:
            domain = slot.partition("-")[0]
            by_domain[domain] = by_domain.get(domain, 0) + 1
        inventory = code_inventory(path)
        basis = CountBasis(slots=inventory, slots_by_domain=by_domain, gold=True, flags=False)
        facts = ShardFacts(coverage=_all_covered(0, 0), codes=True, slots=slots, basis=basis, roles="codes")
        excluded: list[str] = []
        for ids, counts in stream_counts(path, inventory=inventory, exclude=self._settings.exclude, excluded=excluded):
            covered = replace(facts, coverage=_all_covered(len(ids), len(counts)))
            yield _summed(counts, ids, bench.measures, covered)
        yield ChunkSums(replace(facts, coverage=replace(facts.coverage, excluded=excluded)))

    def _of_dialogues(self, bench: _WorkerState, task: ShardTask, path: Path) -> Iterator[ChunkSums]:
        own = None if task.gold is None else _gold_of(task.gold, self._settings.gold_format)
        dialogues = (dialogue for _, _, dialogue in stream(path, format=self._settings.format))
        seen: set[str] = set()
        while chunk := list(islice(dialogues, _CHUNK)):
            seen.update(dialogue_key(dialogue.id) for dialogue in chunk)
            yield self._of_chunk(bench, task.shard.name, chunk, own if own is not None else bench.gold)
        if own is not None and (missing := [dialogue for key, dialogue in own.items() if key not in seen]):
            yield ChunkSums(ShardFacts(coverage=left_over(missing, self._settings.exclude, self._settings.coverage)))

    def _of_chunk(
        self, bench: _WorkerState, name: str, chunk: list[Dialogue], gold: Mapping[str, Dialogue] | None
    ) -> ChunkSums:
        import polars

        settings = self._settings
        keys = dict.fromkeys(dialogue_key(dialogue.id) for dialogue in chunk)
        study = PreparedInputs(
            None if gold is None else [gold[key] for key in keys if key in gold],
            {name: chunk},
            coverage=settings.coverage,
            exclude=[one for one in settings.exclude if dialogue_key(one) in keys],
            ontology=settings.ontology,
            partial=True,
        )
        aligned = study.systems[name].aligned
        scored = {dialogue_key(one) for one in aligned.ids}
        unscored = [dialogue.id for dialogue in chunk if dialogue_key(dialogue.id) not in scored]
        if not scored:
            return ChunkSums(ShardFacts(coverage=aligned.coverage, unscored=unscored))
        comparison = study.comparison(name, bench.profile)
        comparison.require_scope(name)
        if comparison.signature["roles"].endswith("PRED=states") and gold is None:
            raise DialgaugeError("it has states but no predictions; name GOLD too")
        return _summed(
            comparison.counts,
            polars.Series(aligned.ids, dtype=polars.String),
            bench.measures,
            replace(
                _facts(comparison),
                unscored=unscored,
                declared=None if gold is None else DeclaredDomains.of(chunk, gold),
            ),
            inventory_known=bench.profile.inventory is not None or settings.ontology is not None,
        )


def _all_covered(dialogues: int, turns: int) -> TurnCoverage:
    """The coverage of dialogues that were scored whole."""
    return TurnCoverage(
        policy="intersection", gold_dialogues=dialogues, gold_turns=turns, predicted_dialogues=dialogues,
        predicted_turns=turns, dialogues=dialogues, turns=turns,
    )  # fmt: skip


def _facts(comparison: StateComparison) -> ShardFacts:
    """What is known of a chunk besides its sums."""
    return ShardFacts(
        coverage=comparison.aligned.coverage,
        gold_sum=str(comparison.gold_sum),
        roles=comparison.signature["roles"],
        basis=comparison.basis,
        off_ontology=comparison.off_ontology,
        renamed=sorted("-".join(pair) for pair in comparison.renamed),
    )


def _summed(
    counts: Counts,
    ids: polars.Series,
    measures: Sequence[Measure[Any]],
    facts: ShardFacts,
    *,
    inventory_known: bool = True,
) -> ChunkSums:
    sums: dict[str, Rows] = {}
    full: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for measure in measures:
        name = str(measure)
        why = _obstacle(measure, counts)
        rows: Rows | None = None if why else measure.by_dialogue(counts)
        if rows is not None and not inventory_known and _depends_on_inventory(measure, counts, rows):
            why = "it needs the total number of slots before all files are read: give them with --ontology FILE"
        if rows is None or why:
            left_out[name] = why or ""
            continue
        sums[name], full[name] = rows, measure.full(counts)
    return ChunkSums(replace(facts, full=full, left_out=left_out, counts=counts.totals()), ids, sums)


def _obstacle(measure: Measure[Any], counts: Counts) -> str | None:
    if measure.grouped or measure.card.value or measure.card.statistics:
        return "it is not a ratio of sums over dialogues, so it cannot be combined across files"
    return measure.obstacle(counts)


def _depends_on_inventory(measure: Measure[Any], counts: Counts, rows: Rows) -> bool:
    others = measure.by_dialogue(replace(counts, inventory=counts.inventory + 1))
    return not all(np.array_equal(left, right) for left, right in zip(rows, others, strict=True))


def _gold_of(shard: Shard, format: str | None) -> dict[str, Dialogue]:
    with on_this_machine(shard) as (path, _):
        return {dialogue_key(dialogue.id): dialogue for dialogue in read(path, format=format)}
