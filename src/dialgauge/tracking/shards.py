"""One system in many files: each is scored where a worker is free, and only the sums of its dialogues come back.

A file holds dialogues with predictions (their gold states inside, or in GOLD), or is a table of codes
(:mod:`dialgauge.tracking.stream`). What comes out depends on the files alone: not on the engine, the number of workers,
the order in which the files are named or how often the work was broken off. Finished files are kept in the store until
all are done, so that the same call does only what is left, or has changed.

Up to :data:`RESAMPLED` dialogues the intervals are those of any other run. Beyond that, resampling would take long and
change nothing: the intervals are linearised (the residuals of the ratio over the dialogues), and the signature says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from dialgauge import engine
from dialgauge.dialogue import Dialogue, Ontology, dialogue_key
from dialgauge.engine import Unit, Workers
from dialgauge.errors import DialgaugeError
from dialgauge.formats import list_shards, read, system_name
from dialgauge.measures import (
    NO_INTERVAL,
    Interval,
    Measure,
    Resampling,
    Score,
    Scores,
    Signature,
    ratio_row,
    ratio_row_intervals,
)
from dialgauge.runs import Input, Parts, Store, TableParts, input_of_files, new_run
from dialgauge.text import Note, counted
from dialgauge.tracking.align import TurnCoverage
from dialgauge.tracking.prepared_inputs import coverage_policy
from dialgauge.tracking.results import INTERVALS_MADE, KIND, TrackingRuns
from dialgauge.tracking.shard_sums import Floats, Moments, ShardFacts, ShardSums, joined_facts, left_over, require_alike
from dialgauge.tracking.shard_work import ShardSettings, ShardTask, ShardWork
from dialgauge.tracking.states import tracking_signature
from dialgauge.values import profile_named

#: Failed files that are named, each with its reason.
_NAMED = 5
#: Up to so many dialogues intervals are made by resampling them.
RESAMPLED = 50_000
#: The name of the other way, as signatures print it.
LINEARISED = "linearised"
_CODES_NOTE = Note("no_profile", "A table of codes is compared code by code: no profile applies.")


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
        return _combined(
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
        return [ShardTask(shard) for shard in shards], False
    beside = {list_shard.inside: list_shard for list_shard in list_shards([gold])}
    if len(beside) > 1 and beside.keys() == {shard.inside for shard in shards}:
        return [ShardTask(shard, beside[shard.inside]) for shard in shards], True
    return [ShardTask(shard) for shard in shards], False


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


class _Gathered:
    """What came of all files, as it comes in."""

    def __init__(self) -> None:
        self.parts: list[ShardSums] = []
        #: Files of which no turn could be scored.
        self.empty: list[ShardSums] = []

    def add(self, part: ShardSums) -> None:
        if not part.dialogues:
            self.empty.append(part)
            return
        if self.parts:
            require_alike(self.parts[0].facts, part.facts, self.parts[0].shard, part.shard)
        self.parts.append(part)

    @property
    def dialogues(self) -> int:
        return sum(part.dialogues for part in self.parts)

    @property
    def table(self) -> TableParts:
        return TableParts([part.table for part in self.parts])

    def ids(self, part: ShardSums) -> list[str]:
        """The dialogues of a file that were scored, also those for which no measure has a value."""
        return [*dict.fromkeys(TableParts([part.table])()["dialogue"].to_list()), *part.rowless]

    def require_each_once(self) -> None:
        """An error where a dialogue is in two files; of each file that is known already."""
        keys = np.sort(np.concatenate([np.frombuffer(part.keys, np.uint64) for part in self.parts]))
        if not (keys[1:] == keys[:-1]).any():
            return
        self._refuse_twice(self._scored())

    def require_unscored_once(self) -> None:
        """The same for dialogues that have no score: predictions that gold lacks, and gold that predictions lack."""
        every = (*self.parts, *self.empty)
        unscored = [(part.shard, name) for part in every for name in part.facts.unscored]
        missing = [
            (part.shard, missing_dialogue)
            for part in every
            for missing_dialogue in part.facts.coverage.missing_dialogues
        ]
        for without in filter(None, (unscored, missing)):
            self._refuse_twice([*self._scored(), *without])

    def _scored(self) -> Iterator[tuple[str, str]]:
        return ((part.shard, name) for part in self.parts for name in self.ids(part))

    @staticmethod
    def _refuse_twice(places: Iterable[tuple[str, str]]) -> None:
        seen: dict[str, str] = {}
        for shard, name in places:
            if seen.setdefault(dialogue_key(name), shard) != shard:
                raise DialgaugeError(
                    f"the dialogue is in {seen[dialogue_key(name)]} and in {shard}, and would be counted twice (case "
                    "and .json are ignored); put all of it into one file, or remove it from one of them. The work on "
                    "the other files is kept",
                    dialogue=name,
                )

    def rows(self, measures: Sequence[str], gold: Sequence[Dialogue] | None) -> tuple[Floats, Floats]:
        """Numerators and denominators of all dialogues, a row for each measure; in gold's order, where it is known.

        Resamples are drawn by place, so that the order decides the last digits of intervals.
        """
        import polars

        ids = [name for part in self.parts for name in self.ids(part)]
        if gold is not None:
            order = {dialogue_key(dialogue.id): place for place, dialogue in enumerate(gold)}
            ids.sort(key=lambda one: order.get(dialogue_key(one), len(order)))
        places = polars.DataFrame({"dialogue": ids}).with_row_index("place")
        frame = self.table().join(places, on="dialogue", maintain_order="left")
        above, below = np.zeros((len(measures), self.dialogues)), np.zeros((len(measures), self.dialogues))
        for row, measure in enumerate(measures):
            own = frame.filter(polars.col("measure") == measure)
            at = own["place"].to_numpy()
            above[row, at], below[row, at] = own["num"].to_numpy(), own["den"].to_numpy()
        return above, below


def _combined(
    parts: Iterable[ShardSums],
    *,
    settings: Mapping[str, Any],
    measures: Sequence[Measure[Any]],
    required: Collection[str],
    how: Resampling | None,
    name: str,
    sources: Sequence[str],
    gold_source: str | None,
    gold: Sequence[Dialogue] | None,
) -> TrackingRuns:
    """The run of one system from what came of its files."""
    whole = _Gathered()
    for part in parts:
        whole.add(part)
    if not whole.parts:
        raise DialgaugeError(
            "no turn of any file could be scored: check that gold and predictions are of the same data"
        )
    whole.require_each_once()
    whole.require_unscored_once()
    facts = joined_facts([part.facts for part in (*whole.parts, *whole.empty)], whole.parts[0].facts)
    for measure, why in facts.left_out.items():
        if measure in required:
            raise DialgaugeError(f"{measure} cannot be computed: {why}", file=name)
    if facts.declared is not None and facts.declared.cuts_gold:
        raise DialgaugeError(
            f"these are predictions of one domain each ({', '.join(facts.declared.reach)}), so that gold would have to "
            "be restricted to it, which takes all files at once: score them without --engine",
            file=name,
        )
    if gold is not None:
        facts = replace(facts, coverage=_with_left_over(whole, facts.coverage, gold, settings))
    facts = replace(facts, coverage=_with_not_found(facts.coverage, settings["exclude"]))
    kept = [one for one in measures if str(one) not in facts.left_out]
    signature = _signature(facts, settings)
    scores, made = _scores(whole, facts, kept, signature, how, gold)
    run = new_run(
        kind=KIND,
        name=name,
        scores=scores,
        dialogue_scores=whole.table,
        config={"system": name, **{key: settings[key] for key in ("profile", "coverage", "exclude")}},
        inputs=_inputs(whole, sources, gold_source),
        seeds=how.seed if how else None,
        signature=signature.with_(interval=made),
        details=_details(facts, settings, len(whole.parts)),
        notes=[
            facts.coverage.note(),
            *_interval_note(made),
            *([_CODES_NOTE] if facts.codes else []),
        ],
    )
    return TrackingRuns([run])


def _with_left_over(
    whole: _Gathered, coverage: TurnCoverage, gold: Sequence[Dialogue], settings: Mapping[str, Any]
) -> TurnCoverage:
    """Gold dialogues that no file has are missing ones."""
    seen = {dialogue_key(name) for part in whole.parts for name in whole.ids(part)}
    seen |= {dialogue_key(name) for part in whole.empty for name in part.facts.unscored}
    seen |= {
        dialogue_key(name) for name in (*coverage.extra_dialogues, *coverage.excluded, *coverage.missing_dialogues)
    }
    seen |= {dialogue_key(name) for part in whole.parts for name in part.facts.unscored}
    missing = [dialogue for dialogue in gold if dialogue_key(dialogue.id) not in seen]
    return TurnCoverage.joined([coverage, left_over(missing, settings["exclude"], settings["coverage"])])


def _with_not_found(coverage: TurnCoverage, exclude: Sequence[str]) -> TurnCoverage:
    """What was to be excluded and is in no file."""
    found = {dialogue_key(name) for name in coverage.excluded}
    return replace(coverage, not_found=[name for name in exclude if dialogue_key(name) not in found])


def _inputs(whole: _Gathered, sources: Sequence[str], gold: str | None) -> list[tuple[str, str] | Input]:
    role = "gold and predictions" if gold is None else "predictions"
    files = {part.shard: (part.sha256, part.size) for part in (*whole.parts, *whole.empty)}
    read = input_of_files(" ".join(sorted(sources)), role, files)
    return [read] if gold is None else [("gold", gold), read]


def _signature(facts: ShardFacts, settings: Mapping[str, Any]) -> Signature:
    slots, coverage = str(facts.basis.slots), facts.coverage
    if facts.codes:
        return Signature(slots=slots, roles="codes", dialogues=str(coverage.dialogues), turns=str(coverage.turns))
    profile = profile_named(settings["profile"])
    known = settings["ontology"] is not None or profile.inventory is not None
    return tracking_signature(coverage, profile, slots if known else "", int(facts.gold_sum), facts.roles)


def _scores(
    whole: _Gathered,
    facts: ShardFacts,
    measures: Sequence[Measure[Any]],
    signature: Signature,
    how: Resampling | None,
    gold: Sequence[Dialogue] | None,
) -> tuple[Scores, str]:
    names = [str(measure) for measure in measures]
    moments = {name: Moments.joined([part.moments[name] for part in whole.parts]) for name in names}
    made: list[Interval] = [NO_INTERVAL] * len(names)
    usual = ""
    if how is not None and names:
        if whole.dialogues <= RESAMPLED:
            rows = zip(measures, *whole.rows(names, gold), strict=True)
            made, usual = ratio_row_intervals([ratio_row(*row) for row in rows], how), str(how)
        else:
            usual = f"{how.level:g}-{LINEARISED}"
            ends = [(measure.card.lower, measure.card.upper) for measure in measures]
            made = [
                Interval(*moments[name].interval(whole.dialogues, how.level, end), str(how))
                for name, end in zip(names, ends, strict=True)
            ]
    scores = Scores(
        dialogues=(),
        sums={},
        scores={
            name: Score.of(measure, moments[name].value, signature=signature.with_(measure=facts.full[name]))
            for name, measure in zip(names, measures, strict=True)
        },
        coverage=facts.coverage.counts(),
        left_out=facts.left_out,
    )
    return (scores.with_intervals(made, how) if how else scores), usual


def _interval_note(made: str) -> list[str]:
    if not made.endswith(LINEARISED):
        return []
    level = float(made.split("-")[0])
    how = f"linearised from sums over dialogues, of which there are more than {RESAMPLED:,}"
    return [Note("intervals", f"{INTERVALS_MADE} {level:.0%}, {how}.")]


def _details(facts: ShardFacts, settings: Mapping[str, Any], files: int) -> dict[str, Any]:
    return {
        "profile": "codes" if facts.codes else profile_named(settings["profile"]).name,
        "coverage": facts.coverage,
        "counts": facts.counts | {"off_ontology": facts.off_ontology},
        "evidence": replace(facts.basis, slots_renamed=len(facts.renamed)),
        "files": files,
    }
