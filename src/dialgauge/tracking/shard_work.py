"""What a worker does with one file of many: it reads and scores it, and gives the sums of its dialogues.

Apart from :mod:`dialgauge.tracking.shards`, so that a worker imports nothing that only the process needs which puts the
sums together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, Ontology, dialogue_key
from dialgauge.engine import Unit, Work
from dialgauge.errors import DialgaugeError
from dialgauge.formats import DialogueFormat, Notes, Part, Shard, hold, stream
from dialgauge.measures import Measure, parse_measures
from dialgauge.text import Note
from dialgauge.tracking.align import Policy
from dialgauge.tracking.checks import ROLES, CheckCounts
from dialgauge.tracking.counts import Counts
from dialgauge.tracking.encode import Floats
from dialgauge.tracking.inputs import FileReading, SystemInput, blank_remarks, load
from dialgauge.tracking.measures import FAMILY, averages_slots
from dialgauge.tracking.prepared_inputs import PreparedInputs
from dialgauge.tracking.renaming import Renaming, named_as_gold, renamed
from dialgauge.tracking.roles import require_roles
from dialgauge.tracking.shard_scores import DeclaredDomains, Moments, ShardChecks, ShardScores
from dialgauge.tracking.turn_numbers import counted_as_asked
from dialgauge.values import Profile, profile_named

#: Dialogues that are scored at a time.
_BLOCK = 2048


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
    #: How turns are counted, and names that gold has otherwise, as in any other scoring.
    turns: str | None = None
    renaming: Renaming | None = None
    #: Findings that do not stop the score.
    accept: list[str] = []


class ShardTask(Struct, frozen=True):
    """One file to be scored, and the file with its gold states where there is one for each."""

    shard: Shard
    gold: Shard | None = None

    @property
    def key(self) -> str:
        return self.shard.key if self.gold is None else f"{self.shard.key}-{self.gold.key}"


class GoldByKey:
    """Gold dialogues by their keys, whether they lie in memory or in a file."""

    def __init__(self, source: SystemInput) -> None:
        self.source = source
        self.dialogues = dialogues = source.dialogues
        self._places = {dialogue_key(dialogue.id): index for index, dialogue in enumerate(dialogues)}

    def get(self, key: str) -> Dialogue | None:
        index = self._places.get(key)
        return None if index is None else self.dialogues[index]

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def of(self, predictions: Iterable[Dialogue]) -> GoldByKey:
        keys = dict.fromkeys(dialogue_key(dialogue.id) for dialogue in predictions)
        some = [self.dialogues[self._places[key]] for key in keys if key in self._places]
        return GoldByKey(replace(self.source, dialogues=some))


class _WorkerState(Struct):
    """What a worker keeps open."""

    profile: Profile
    measures: list[Measure[Any]]
    gold: GoldByKey | None


class ShardWork(Work[_WorkerState, ShardTask]):
    """The sums of one file."""

    def __init__(self, settings: ShardSettings) -> None:
        self._settings = settings

    def open(self) -> _WorkerState:
        settings = self._settings
        gold = GoldByKey(load(settings.gold, "gold", settings.gold_format)) if settings.gold else None
        return _WorkerState(profile_named(settings.profile), parse_measures(settings.measures, FAMILY), gold)

    def do(self, state: _WorkerState, unit: Unit[ShardTask]) -> bytes:
        task = unit.payload
        path = Path(task.shard.name)
        try:
            digest = task.shard.sha256()
            scored = self._scored(state, task, path)
        except DialgaugeError as error:
            raise error.at(file=task.shard.name) from error
        return msgspec.msgpack.encode(replace(scored, shard=task.shard.inside, sha256=digest, size=task.shard.size))

    def _scored(self, state: _WorkerState, task: ShardTask, path: Path) -> ShardScores:
        """The scores of a file, some thousand dialogues at a time; all at once if it has a gold file of its own."""
        settings = self._settings
        known_slots = state.profile.inventory is not None or settings.ontology is not None
        sums, itself = (_Sums(state.measures, inventory_known=known_slots) for _ in range(2))
        notes = Notes()
        predictions = _Predictions(stream(path, format=settings.format, notes=notes), task.shard.name)
        known: list[ShardScores] = []
        if task.gold is not None:
            gold = GoldByKey(load(Path(task.gold.name), "gold", settings.gold_format))
            whole, checks = self._as_asked(predictions.rest(notes), gold)
            if ROLES not in settings.accept:
                require_roles(gold.source, [whole])
            known.append(self._of_block(state, task.shard, whole, gold, sums, itself, checks))
        else:
            while read := predictions.next_block(notes):
                block, checks = self._as_asked(read, state.gold)
                some = None if state.gold is None else state.gold.of(block.dialogues)
                first = not known and (some is None or some.dialogues)  # the first dialogues tell
                if first and ROLES not in settings.accept:
                    require_roles(None if some is None else some.source, [block])
                known.append(self._of_block(state, task.shard, block, some, sums, itself, checks))
        known.sort(key=lambda part: not part.roles)  # those with scores first
        for part in known[1:]:
            if part.roles:
                known[0].require_alike(part)
        reading = replace(FileReading.of(notes), original_ids={})  # which are large
        facts = ShardScores.joined(known)
        facts = replace(
            facts,
            reading=replace(reading, remarks=(*reading.remarks, *facts.reading.remarks)),
            gold_itself=itself.moments(),
            gold_differs=itself.counts["turns"] - itself.counts["exact"],
        )
        return sums.scores(facts) if sums.ids else facts

    def _of_block(
        self,
        state: _WorkerState,
        shard: Shard,
        block: SystemInput,
        gold: GoldByKey | None,
        sums: _Sums,
        itself: _Sums,
        checks: ShardChecks,
    ) -> ShardScores:
        """Score a block of dialogues, and add their sums and those of gold against itself."""
        settings, name = self._settings, block.name
        ids = {dialogue_key(dialogue.id): dialogue.id for dialogue in block.dialogues}
        there = {dialogue_key(identifier): identifier for identifier in settings.exclude}
        inputs = PreparedInputs(
            None if gold is None else gold.dialogues,
            {name: block.dialogues},
            coverage=settings.coverage,
            exclude=[
                identifier for key, identifier in there.items() if key in ids or (gold is not None and key in gold)
            ],
            ontology=settings.ontology,
            partial=True,
        )
        system = inputs.systems[name]
        aligned = system.aligned
        scored = {dialogue_key(identifier) for identifier in aligned.ids}
        unscored = [identifier for key, identifier in ids.items() if key not in scored]
        coder = inputs.coder(state.profile)
        known = ShardScores(
            shard=shard.inside,
            coverage=aligned.coverage,
            unscored=unscored,
            reading=FileReading(remarks=tuple(blank_remarks(block.dialogues))),
            checks=replace(checks, counts=CheckCounts.of(system, coder)),
        )
        if not scored:
            return known
        comparison = inputs.comparison(name, state.profile)
        comparison.require_scope(name)
        scored_ids = pl.Series(aligned.ids, dtype=pl.String)
        sums.add(scored_ids, comparison.counts)
        if (of_gold := inputs.gold_itself(name, state.profile)) is not None:
            itself.add(scored_ids, of_gold.counts)
        return replace(
            known,
            gold_sum=str(comparison.gold_sum),
            roles=comparison.signature["roles"],
            basis=comparison.basis,
            off_ontology=comparison.off_ontology,
            renamed=sorted("-".join(pair) for pair in comparison.renamed),
            declared=None if gold is None else DeclaredDomains.of(block.dialogues, gold.get),
        )

    def _as_asked(self, block: SystemInput, gold: GoldByKey | None) -> tuple[SystemInput, ShardChecks]:
        """Dialogues with names and turns as asked, and what of them was changed."""
        settings, dialogues, used, note = self._settings, block.dialogues, dict[str, int](), ""
        as_gold: list[Note] = []
        if settings.renaming is not None:
            dialogues, used = renamed(dialogues, settings.renaming)
        if gold is not None:
            dialogues, as_gold = named_as_gold(gold.dialogues, dialogues, block.original_ids)
        if settings.turns is not None:
            dialogues, note = counted_as_asked(dialogues, settings.turns, block.numbered_from)
        checks = ShardChecks(renamed=used, named_as_gold=[*map(str, as_gold)], recounted=str(note))
        return replace(block, dialogues=dialogues), checks


class _Predictions:
    """The dialogues of one file as they come, some at a time."""

    def __init__(self, streamed: Iterator[tuple[Part, DialogueFormat, Dialogue]], name: str) -> None:
        self._streamed, self._name = streamed, name
        self._format: DialogueFormat | None = None

    def _dialogues(self) -> Iterator[Dialogue]:
        for _, chosen, dialogue in self._streamed:
            self._format = chosen
            yield dialogue

    def next_block(self, notes: Notes) -> SystemInput | None:
        """The next ones; None at the end."""
        dialogues = list(islice(self._dialogues(), _BLOCK))
        return self._input(dialogues, notes) if dialogues else None

    def rest(self, notes: Notes) -> SystemInput:
        return self._input(hold(self._dialogues()), notes)

    def _input(self, dialogues: Sequence[Dialogue], notes: Notes) -> SystemInput:
        kind = self._format
        about = (kind.name, self._name, kind.kind) if kind else ("", self._name, "")
        return SystemInput(
            self._name, dialogues, *about,
            numbered_from=notes.numbered_from, original_ids=notes.original_ids,
        )  # fmt: skip


class _Sums:
    """The sums of dialogues by measure, block by block."""

    def __init__(self, measures: Sequence[Measure[Any]], *, inventory_known: bool = True) -> None:
        self._measures, self._inventory_known = measures, inventory_known
        self.ids: list[pl.Series] = []
        self.counts: Counter[str] = Counter()
        self._full: dict[str, str] = {}
        self._left_out: dict[str, str] = {}
        self._rows: dict[str, list[Floats]] = {}

    def add(self, ids: pl.Series, counts: Counts) -> None:
        self.ids.append(ids)
        self.counts.update(counts.totals())
        for measure in self._measures:
            name = str(measure)
            why = measure.obstacle(counts)
            if averages_slots(measure) or measure.card.value:
                why = "it is not a ratio of sums over dialogues, so it cannot be combined across files"
            rows: Floats | None = None if why else measure.sums(counts)
            if rows is not None and not self._inventory_known:
                others = measure.sums(replace(counts, inventory=counts.inventory + 1))
                if not np.array_equal(rows, others):
                    why = "it needs the total number of slots before all files are read: give them with --ontology FILE"
            if rows is None or why:
                self._left_out[name] = why or ""
                continue
            self._rows.setdefault(name, []).append(rows)
            self._full[name] = measure.full(counts)

    def scores(self, known: ShardScores) -> ShardScores:
        """What is known of a file with the sums of all of its blocks."""
        facts = replace(known, counts=dict(self.counts), full=self._full, left_out=self._left_out)
        return facts.with_sums(pl.concat(self.ids, rechunk=True), self._joined())

    def moments(self) -> dict[str, Moments]:
        """The sums over all dialogues, by measure."""
        return {name: Moments.of(*rows) for name, rows in self._joined().items()}

    def _joined(self) -> dict[str, Floats]:
        """The sums of all blocks."""
        return {
            name: np.concatenate(blocks, axis=1) for name, blocks in self._rows.items() if name not in self._left_out
        }
