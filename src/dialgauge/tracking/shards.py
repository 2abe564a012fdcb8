"""One system in many files: each is scored where a worker is free, and only the sums of its dialogues come back.

A file holds dialogues with predictions, their gold states inside or in GOLD. What comes out depends on the files alone:
not on the engine, the number of workers, the order in which the files are named or how often the work was broken off.
Finished files are kept in the store until all are done, so that the same call does only what is left, or has changed.

Up to :data:`RESAMPLED` dialogues the intervals are those of any other run. Beyond that, resampling would take long and
change nothing: the intervals are linearised (the residuals of the ratio over the dialogues), and the signature says so.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain

import msgspec
import numpy as np
import polars
from msgspec.structs import replace

from dialgauge import engine
from dialgauge.dialogue import Dialogue, Ontology, dialogue_key
from dialgauge.engine import Unit, Workers
from dialgauge.errors import DialgaugeError
from dialgauge.formats import list_shards, system_name
from dialgauge.measures import (
    Floats,
    Resampling,
    Score,
    Scores,
    Signature,
    Summed,
    parse_measures,
    summed_intervals,
)
from dialgauge.runs import Input, Parts, Pieces, Store, input_of_files, new_run
from dialgauge.text import Note, counted
from dialgauge.tracking.additive import joined
from dialgauge.tracking.align import align, nothing_shared
from dialgauge.tracking.checks import check_notes
from dialgauge.tracking.details import run_notes
from dialgauge.tracking.encode import Items, encode
from dialgauge.tracking.inputs import load, remarks_on
from dialgauge.tracking.measures import FAMILY
from dialgauge.tracking.prepared_inputs import slots_of
from dialgauge.tracking.renaming import renaming_notes
from dialgauge.tracking.results import INTERVALS_MADE, TrackingRuns
from dialgauge.tracking.shard_scores import Moments, ShardChecks, ShardScores
from dialgauge.tracking.shard_work import ShardSettings, ShardTask, ShardWork
from dialgauge.tracking.states import tracking_signature
from dialgauge.tracking.tracked_system import KIND
from dialgauge.values import profile_named

#: Failed files that are named, each with its reason.
_NAMED = 5
#: Up to so many dialogues intervals are made by resampling them.
RESAMPLED = 50_000
#: The name of the other way, as signatures print it.
LINEARISED = "linearised"


def score_shards(
    sources: Sequence[str],
    settings: ShardSettings,
    *,
    store: Store,
    required: Collection[str] = (),
    accept: Collection[str] = (),
    resampling: Resampling | None = None,
    workers: Workers = None,
    name: str | None = None,
    on_unit: Callable[[int], None] = lambda steps: None,
) -> TrackingRuns:
    """Score one system whose predictions lie in many files.

    GOLD is a file or folder that every worker can hold, or as many files as there are predictions, with the same names.
    A measure that cannot be computed is left out, and an error if it is ``required``; so is what makes scores nonsense
    unless its kind is in ``accept``. ``on_unit`` is called with 1 for
    every file that is done.
    """
    tasks, paired = _tasks(sources, settings.gold)
    work = replace(settings, gold="") if paired else settings
    label = name or system_name(min(sources))
    config = {
        "settings": msgspec.to_builtins(work),
        "profile": profile_named(settings.profile).label,  # a file of rules may change under its name
        "sources": sorted(sources),
        "gold": settings.gold or None,
    }
    with store.kept_units(kind="shards", name=label, config=config) as done:
        whole = _Gathered(_scored(tasks, work, workers, done, on_unit))
        source = load(work.gold, "gold", work.gold_format) if work.gold else None
        gold = None if source is None else source.dialogues
        facts = _covered(whole, settings, gold)
        for measure in required:
            if measure in facts.left_out:
                raise DialgaugeError(f"{measure} cannot be computed: {facts.left_out[measure]}", file=label)
        if facts.declared is not None and facts.declared.cuts_gold:
            raise DialgaugeError(
                f"these are predictions of one domain each ({', '.join(facts.declared.reach)}), so that gold would "
                "have to be restricted to it, which takes all files at once: score them without --engine",
                file=label,
            )
        checked = _checked(facts, settings, None if source is None else source.ontology, label, accept)
        signature = _signature(facts, settings)
        profile = profile_named(settings.profile)
        details = {
            "profile": profile.name,
            "coverage": facts.coverage,
            "counts": facts.counts | {"off_ontology": facts.off_ontology},
            "evidence": replace(facts.basis, slots_renamed=len(facts.renamed)),
            "gold_against_itself": _ceiling(facts),
            "remarks": remarks_on(facts.reading.remarks, official=False, counts_blanks=profile.counts_blanks),
            "files": len(whole.parts),
        }
        scores, made = _scores(whole, facts, settings, signature, resampling, gold)
        run = new_run(
            kind=KIND,
            name=label,
            scores=scores,
            dialogue_scores=whole.table,
            config={
                "system": label,
                "profile": settings.profile,
                "coverage": settings.coverage,
                "exclude": settings.exclude,
            },
            inputs=_inputs(whole, sources, settings.gold),
            seeds=resampling.seed if resampling else None,
            signature=signature.with_(interval=made),
            details=details,
            notes=[
                *run_notes(details, checked, parse_measures(settings.measures, FAMILY)),
                *_interval_note(made),
            ],
        )
        return TrackingRuns([run])


def _ceiling(facts: ShardScores) -> dict[str, float]:
    """What gold scores against itself, if that is not 100."""
    sums = facts.gold_itself.items() if facts.gold_differs else ()
    return {name: moments.value for name, moments in sums if name not in facts.left_out}


def _tasks(sources: Sequence[str], gold: str) -> tuple[list[ShardTask], bool]:
    """The files, each with its gold file where GOLD has one of the same name for each of them."""
    shards = list_shards(sources)
    beside = {shard.inside: shard for shard in list_shards([gold])} if gold else {}
    if len(beside) > 1 and beside.keys() == {shard.inside for shard in shards}:
        return [ShardTask(shard, beside[shard.inside]) for shard in shards], True
    return [ShardTask(shard) for shard in shards], False


def _scored(
    tasks: Sequence[ShardTask], settings: ShardSettings, workers: Workers, done: Parts, advance: Callable[[int], None]
) -> Iterator[ShardScores]:
    """The sums of the files in order; if some failed, an error at the end that names them, with the others kept."""
    decoder = msgspec.msgpack.Decoder(ShardScores)
    keys = "".join(shard.key for shard in list_shards([settings.gold])) if settings.gold else ""
    # GOLD is read by every worker: where it changes, nothing that was done counts.
    gold = f"-{hashlib.sha256(keys.encode()).hexdigest()[:16]}" if keys else ""
    units = (Unit(f"{task.key}{gold}", task) for task in tasks)
    failed: list[str] = []
    for task, result in zip(tasks, engine.run(ShardWork(settings), units, workers=workers, done=done), strict=True):
        advance(1)
        if result.content is None:
            failed.append(result.failure or "a file could not be scored")
        elif not failed:  # kept ones may have had another name among other files
            yield replace(decoder.decode(result.content), shard=task.shard.inside)
    if failed:
        sentences = dict.fromkeys(failure.partition("\n")[0] for failure in failed[:_NAMED])
        shown = "; ".join(sentences) + (f"; and {len(failed) - _NAMED:,} more" if len(failed) > _NAMED else "")
        kept = len(tasks) - len(failed)
        are = "is" if kept == 1 else "are"
        rest = f". {counted(kept, 'other file')} {are} done and kept: fix it and run the same command again"
        raise DialgaugeError(shown + (rest if kept else ""), example=failed[0].partition("\n")[2])


class _Gathered:
    """What came of all files."""

    def __init__(self, scored: Iterable[ShardScores]) -> None:
        every: list[ShardScores] = []
        #: What the checks look at, put together as it comes: that of thousands of files would fill the memory.
        self.checks = ShardChecks()
        for part in scored:
            self.checks = joined([self.checks, part.checks])
            every.append(replace(part, checks=ShardChecks()))
        self.parts = [part for part in every if part.dialogues]
        #: Files of which no turn could be scored.
        self.empty = [part for part in every if not part.dialogues]
        for part in self.parts[1:]:
            self.parts[0].require_alike(part)
        if self.parts:
            self._require_each_once()

    @property
    def every(self) -> list[ShardScores]:
        """All files, those with scores first."""
        return [*self.parts, *self.empty]

    @property
    def table(self) -> Pieces:
        return Pieces(lambda: (polars.read_parquet(io.BytesIO(part.table)) for part in self.parts))

    def _require_each_once(self) -> None:
        """An error where a dialogue is in two files, be it without a score: gold lacks it, or predictions do."""
        keys = np.sort(np.concatenate([np.frombuffer(part.keys, np.uint64) for part in self.parts]))
        unscored = [(part.shard, name) for part in self.every for name in part.unscored]
        missing = [(part.shard, name) for part in self.every for name in part.coverage.missing_dialogues]
        for others in filter(None, (unscored, missing)) if (keys[1:] != keys[:-1]).all() else ([],):
            seen: dict[str, str] = {}
            scored = ((part.shard, name) for part in self.parts for name in part.ids())
            for shard, name in (*scored, *others):
                if seen.setdefault(dialogue_key(name), shard) != shard:
                    raise DialgaugeError(
                        f"the dialogue is in {seen[dialogue_key(name)]} and in {shard}, and would be counted twice "
                        "(case and .json are ignored); put all of it into one file, or remove it from one of them. The "
                        "work on the other files is kept",
                        dialogue=name,
                    )

    def rows(self, measures: Sequence[str], gold: Sequence[Dialogue] | None) -> tuple[Floats, Floats]:
        """Numerators and denominators of all dialogues, a row for each measure; in gold's order, where it is known.

        Resamples are drawn by place, so that the order decides the last digits of intervals.
        """
        ids = [name for part in self.parts for name in part.ids()]
        if gold is not None:
            order = {dialogue_key(dialogue.id): index for index, dialogue in enumerate(gold)}
            ids.sort(key=lambda name: order.get(dialogue_key(name), len(order)))
        places = polars.DataFrame({"dialogue": ids}).with_row_index("place")
        frame = polars.concat(self.table).join(places, on="dialogue", maintain_order="left")
        above, below = np.zeros((len(measures), len(ids))), np.zeros((len(measures), len(ids)))
        for row, measure in enumerate(measures):
            own = frame.filter(polars.col("measure") == measure)
            at = own["place"].to_numpy()
            above[row, at], below[row, at] = own["num"].to_numpy(), own["den"].to_numpy()
        return above, below


def _covered(whole: _Gathered, settings: ShardSettings, gold: Sequence[Dialogue] | None) -> ShardScores:
    """What is known of all files; gold dialogues that no file has are missing ones."""
    facts = replace(ShardScores.joined(whole.every), checks=whole.checks)
    coverage = facts.coverage
    rest = None
    if gold is not None:
        scored = (name for part in whole.parts for name in part.ids())
        others = (facts.unscored, coverage.extra_dialogues, coverage.excluded, coverage.missing_dialogues)
        seen = {dialogue_key(name) for name in chain(scored, *others)}
        never_predicted = [dialogue for dialogue in gold if dialogue_key(dialogue.id) not in seen]
        items = Items()
        sides = encode(never_predicted, "state", items), encode((), "predicted", items)
        rest = align(*sides, "intersection", settings.exclude, partial=True).coverage
        coverage = joined([coverage, rest])
    if not whole.parts:
        raise nothing_shared(coverage)
    if rest is not None and rest.gold_turns and settings.coverage == "empty":
        lacking = rest.missing_dialogues
        raise DialgaugeError(
            f"{counted(len(lacking), 'gold dialogue')} have no prediction in any file ({lacking[0]}, ...), and file "
            "by file they cannot be scored as empty; add them, or leave --engine out"
        )
    excluded = {dialogue_key(name) for name in coverage.excluded}
    not_found = [name for name in settings.exclude if dialogue_key(name) not in excluded]
    return replace(facts, coverage=replace(coverage, not_found=not_found))


def _checked(
    facts: ShardScores, settings: ShardSettings, ontology: Ontology | None, name: str, accept: Collection[str]
) -> list[Note]:
    """What to say of the predictions, as of those in one file; what makes their scores nonsense is an error."""
    checks, reading, profile = facts.checks, facts.reading, profile_named(settings.profile)
    inventory = frozenset(profile.inventory or ()) | (slots_of(settings.ontology or ontology, profile) or frozenset())
    return [
        *reading.notes(),
        *(renaming_notes(settings.renaming, checks.renamed) if settings.renaming else ()),
        *(Note("renamed", said) for said in dict.fromkeys(checks.named_as_gold)),
        *([Note("renumbered", checks.recounted)] if checks.recounted else ()),
        *check_notes(
            checks.counts,
            facts.coverage,
            profile,
            inventory,
            system=name,
            numbered_from=reading.numbered_from,
            accept=accept,
        ),
    ]


def _inputs(whole: _Gathered, sources: Sequence[str], gold: str) -> list[tuple[str, str] | Input]:
    files = {part.shard: (part.sha256, part.size) for part in whole.every}
    read = input_of_files(" ".join(sorted(sources)), "predictions" if gold else "gold and predictions", files)
    return [("gold", gold), read] if gold else [read]


def _signature(facts: ShardScores, settings: ShardSettings) -> Signature:
    slots, coverage = str(facts.basis.slots), facts.coverage
    profile = profile_named(settings.profile)
    known = settings.ontology is not None or profile.inventory is not None
    return tracking_signature(coverage, profile, slots if known else "", int(facts.gold_sum), facts.roles)


def _scores(
    whole: _Gathered,
    facts: ShardScores,
    settings: ShardSettings,
    signature: Signature,
    how: Resampling | None,
    gold: Sequence[Dialogue] | None,
) -> tuple[Scores, str]:
    """The scores, and how most of their intervals were made."""
    measures = {
        name: measure
        for name, measure in zip(settings.measures, parse_measures(settings.measures, FAMILY), strict=True)
        if name not in facts.left_out
    }
    moments = {name: Moments.joined([part.moments[name] for part in whole.parts]) for name in measures}
    scores = Scores(
        dialogues=(),
        sums={},
        scores={
            name: Score.of(measure, moments[name].value, signature=signature.with_(measure=facts.full[name]))
            for name, measure in measures.items()
        },
        coverage=facts.coverage.counts(),
        left_out=facts.left_out,
    )
    if how is None or not measures:
        return scores, ""
    if facts.dialogues <= RESAMPLED:
        rows = zip(measures.values(), *whole.rows(list(measures), gold), strict=True)
        sums = [Summed.by(measure, np.stack(each)) for measure, *each in rows]
        return scores.with_intervals(summed_intervals(sums, how), how), str(how)
    made = [
        moments[name].interval(facts.dialogues, how, (measure.card.lower, measure.card.upper))
        for name, measure in measures.items()
    ]
    return scores.with_intervals(made, how), f"{how.level:g}-{LINEARISED}"


def _interval_note(made: str) -> list[str]:
    if not made.endswith(LINEARISED):
        return []
    level = float(made.split("-")[0])
    how = f"linearised from sums over dialogues, of which there are more than {RESAMPLED:,}"
    return [Note("intervals", f"{INTERVALS_MADE} {level:.0%}, {how}.")]
