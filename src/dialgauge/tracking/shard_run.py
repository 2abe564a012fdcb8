"""From the sums of many files to one run: totals, coverage, a signature, and intervals from the sums of the dialogues.

Up to :data:`RESAMPLED` dialogues the intervals are those of any other run. Beyond that, resampling would take long and
change nothing: the intervals are linearised (the residuals of the ratio over the dialogues), and the signature says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.errors import DialgaugeError
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
from dialgauge.runs import Input, TableParts, input_of_files, new_run
from dialgauge.text import Note
from dialgauge.tracking.align import TurnCoverage
from dialgauge.tracking.results import INTERVALS_MADE, KIND, Results, SystemScores
from dialgauge.tracking.shard_sums import (
    Floats,
    Moments,
    ShardFacts,
    ShardSums,
    joined_coverage,
    joined_facts,
    left_over,
    require_alike,
)
from dialgauge.tracking.states import checksum_text
from dialgauge.values import profile_named

#: Up to so many dialogues intervals are made by resampling them.
RESAMPLED = 50_000
#: The name of the other way, as signatures print it.
LINEARISED = "linearised"
_CODES_NOTE = Note("no_profile", "A table of codes is compared code by code: no profile applies.")


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
        unscored = [(part.shard, one) for part in every for one in part.facts.unscored]
        missing = [(part.shard, one) for part in every for one in part.facts.coverage.missing_dialogues]
        for without in filter(None, (unscored, missing)):
            self._refuse_twice([*self._scored(), *without])

    def _scored(self) -> Iterator[tuple[str, str]]:
        return ((part.shard, one) for part in self.parts for one in self.ids(part))

    @staticmethod
    def _refuse_twice(places: Iterable[tuple[str, str]]) -> None:
        seen: dict[str, str] = {}
        for shard, one in places:
            if seen.setdefault(dialogue_key(one), shard) != shard:
                raise DialgaugeError(
                    f"the dialogue is in {seen[dialogue_key(one)]} and in {shard}, and would be counted twice (case "
                    "and .json are ignored); put all of it into one file, or remove it from one of them. The work on "
                    "the other files is kept",
                    dialogue=one,
                )

    def rows(self, measures: Sequence[str], gold: Sequence[Dialogue] | None) -> tuple[Floats, Floats]:
        """Numerators and denominators of all dialogues, a row for each measure; in gold's order, where it is known.

        Resamples are drawn by place, so that the order decides the last digits of intervals.
        """
        import polars

        ids = [one for part in self.parts for one in self.ids(part)]
        if gold is not None:
            order = {dialogue_key(one.id): place for place, one in enumerate(gold)}
            ids.sort(key=lambda one: order.get(dialogue_key(one), len(order)))
        places = polars.DataFrame({"dialogue": ids}).with_row_index("place")
        frame = self.table().join(places, on="dialogue", maintain_order="left")
        above, below = np.zeros((len(measures), self.dialogues)), np.zeros((len(measures), self.dialogues))
        for row, measure in enumerate(measures):
            own = frame.filter(polars.col("measure") == measure)
            at = own["place"].to_numpy()
            above[row, at], below[row, at] = own["num"].to_numpy(), own["den"].to_numpy()
        return above, below


def combined(
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
) -> Results:
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
    return Results([SystemScores(run, kept)])


def _with_left_over(
    whole: _Gathered, coverage: TurnCoverage, gold: Sequence[Dialogue], settings: Mapping[str, Any]
) -> TurnCoverage:
    """Gold dialogues that no file has are missing ones."""
    seen = {dialogue_key(one) for part in whole.parts for one in whole.ids(part)}
    seen |= {dialogue_key(one) for part in whole.empty for one in part.facts.unscored}
    seen |= {dialogue_key(one) for one in (*coverage.extra_dialogues, *coverage.excluded, *coverage.missing_dialogues)}
    seen |= {dialogue_key(one) for part in whole.parts for one in part.facts.unscored}
    missing = [one for one in gold if dialogue_key(one.id) not in seen]
    return joined_coverage([coverage, left_over(missing, settings["exclude"], settings["coverage"])])


def _with_not_found(coverage: TurnCoverage, exclude: Sequence[str]) -> TurnCoverage:
    """What was to be excluded and is in no file."""
    found = {dialogue_key(one) for one in coverage.excluded}
    return replace(coverage, not_found=[one for one in exclude if dialogue_key(one) not in found])


def _inputs(whole: _Gathered, sources: Sequence[str], gold: str | None) -> list[tuple[str, str] | Input]:
    role = "gold and predictions" if gold is None else "predictions"
    files = {part.shard: (part.sha256, part.size) for part in (*whole.parts, *whole.empty)}
    read = input_of_files(" ".join(sorted(sources)), role, files)
    return [read] if gold is None else [("gold", gold), read]


def _signature(facts: ShardFacts, settings: Mapping[str, Any]) -> Signature:
    scored = {"dialogues": str(facts.coverage.dialogues), "turns": str(facts.coverage.turns)}
    if facts.codes:
        return Signature(slots=str(facts.inventory), roles="codes", **scored)
    profile = profile_named(settings["profile"])
    known = settings["ontology"] is not None or profile.inventory is not None
    return Signature(
        profile=profile.label,
        slots=str(facts.inventory) if known else "",
        coverage=settings["coverage"],
        **scored,
        gold=checksum_text(int(facts.gold_sum)),
        roles=facts.roles,
    )


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
        "evidence": {
            "slots": facts.inventory,
            "slots_by_domain": facts.slots_by_domain,
            "gold": facts.has_gold,
            "flags": facts.flags_only,
            "slots_renamed": len(facts.renamed),
            "slots_out_of_scope": facts.out_of_scope,
        },
        "files": files,
    }
