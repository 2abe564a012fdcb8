"""From the sums of many files to one run: totals, coverage, a signature, and intervals from the sums of the dialogues.

Up to :data:`RESAMPLED` dialogues the intervals are those of any other run. Beyond that, resampling would take long and
change nothing: the intervals are linearised (the residuals of the ratio over the dialogues), and the signature says so.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Bounds, Measure, Resampling, Rows, Score, Scores, Signature
from dialgauge.runs import Input, input_of_files, new_run
from dialgauge.text import counted
from dialgauge.tracking.align import TurnCoverage
from dialgauge.tracking.results import KIND, Results, SystemScores
from dialgauge.tracking.states import checksum_text
from dialgauge.values import profile_named

#: Up to so many dialogues intervals are made by resampling them.
RESAMPLED = 50_000
#: The name of the other way, as signatures print it.
LINEARISED = "linearised"


class ShardSums(Struct, frozen=True, kw_only=True):
    """What comes back of one file: for every dialogue the sums of every measure, and what was seen."""

    coverage: TurnCoverage
    shard: str = ""
    sha256: str = ""
    size: int = 0
    dialogues: list[str] = []
    #: Little-endian doubles, one for every dialogue, each array once; and of which two every measure is made.
    arrays: list[bytes] = []
    sums: dict[str, tuple[int, int]] = {}
    #: Measure to its name with every setting.
    full: dict[str, str] = {}
    left_out: dict[str, str] = {}
    counts: dict[str, int] = {}
    gold_sum: str = "0"
    roles: str = ""
    codes: bool = False
    slots: list[str] = []
    inventory: int = 0
    slots_by_domain: dict[str, int] = {}
    has_gold: bool = True
    flags_only: bool = False
    off_ontology: int = 0
    renamed: list[str] = []
    out_of_scope: list[str] = []

    @classmethod
    def joined(cls, parts: Sequence[ShardSums], shard: str) -> ShardSums:
        """Several chunks of one file as one."""
        scored = [part for part in parts if part.dialogues]
        if not scored:
            raise DialgaugeError("no turn of it could be scored")
        first = scored[0]
        for part in scored[1:]:
            _require_alike(first, part, shard, shard)
        left_out = {name: why for part in scored for name, why in part.left_out.items()}
        packed = PackedRows()
        for name in first.sums:
            if name not in left_out:
                packed.add(name, *(b"".join(part.side(name, side) for part in scored) for side in (0, 1)))
        return replace(
            first,
            shard=shard,
            coverage=joined_coverage([part.coverage for part in parts]),
            dialogues=[one for part in scored for one in part.dialogues],
            arrays=packed.arrays,
            sums=packed.sums,
            left_out=left_out,
            counts=_added([part.counts for part in scored]),
            gold_sum=str(sum(int(part.gold_sum) for part in scored)),
            slots_by_domain=_widest([part.slots_by_domain for part in scored]),
            inventory=max(part.inventory for part in scored),
            off_ontology=sum(part.off_ontology for part in scored),
            renamed=sorted({one for part in scored for one in part.renamed}),
            out_of_scope=sorted({one for part in scored for one in part.out_of_scope}),
        )

    def side(self, measure: str, side: int) -> bytes:
        """The numerators (0) or denominators (1) of a measure."""
        return self.arrays[self.sums[measure][side]]


class PackedRows:
    """Numerators and denominators of measures, equal ones once: many measures divide by the number of turns."""

    def __init__(self) -> None:
        self.arrays: list[bytes] = []
        self.sums: dict[str, tuple[int, int]] = {}
        self._places: dict[bytes, int] = {}

    def add(self, measure: str, above: bytes, below: bytes) -> None:
        """Take in one measure."""
        self.sums[measure] = self._place(above), self._place(below)

    def _place(self, array: bytes) -> int:
        place = self._places.setdefault(array, len(self.arrays))
        if place == len(self.arrays):
            self.arrays.append(array)
        return place


def _require_alike(first: ShardSums, other: ShardSums, name: str, other_name: str) -> None:
    if (first.roles, first.codes) != (other.roles, other.codes):
        raise DialgaugeError(
            f"it holds {other.roles or 'something else'}, but {name} holds {first.roles}: keep such files apart",
            file=other_name,
        )
    if (first.slots, first.codes and first.inventory) != (other.slots, other.codes and other.inventory):
        differing = sorted(set(first.slots) ^ set(other.slots))[:3]
        raise DialgaugeError(
            f"it has other slots than {name} ({', '.join(differing) or 'in another order'}), and the number of all "
            "slots enters the scores: give all tables the same columns",
            file=other_name,
        )


def _added(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return total


def _widest(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    widest: dict[str, int] = {}
    for part in parts:
        for domain, slots in part.items():
            widest[domain] = max(slots, widest.get(domain, 0))
    return dict(sorted(widest.items()))


def joined_coverage(parts: Sequence[TurnCoverage]) -> TurnCoverage:
    """The coverage of disjoint dialogues together."""
    values: dict[str, Any] = {}
    for field in TurnCoverage.__struct_fields__:
        given = [getattr(part, field) for part in parts]
        if isinstance(given[0], str):
            values[field] = given[0]
        elif isinstance(given[0], int):
            values[field] = sum(given)
        elif isinstance(given[0], dict):
            values[field] = {key: value for one in given for key, value in one.items()}
        else:
            values[field] = [item for one in given for item in one]
    return TurnCoverage(**values)


def all_covered(dialogues: int, turns: int) -> TurnCoverage:
    """The coverage of dialogues that were scored whole."""
    return TurnCoverage(
        policy="intersection", gold_dialogues=dialogues, gold_turns=turns, predicted_dialogues=dialogues,
        predicted_turns=turns, dialogues=dialogues, turns=turns, missing_dialogues=[], missing_turns=0,
        extra_dialogues=[], extra_turns=0, turn_count_mismatch={}, excluded=[], not_found=[], only_domains=[],
    )  # fmt: skip


def left_over(missing: Sequence[Dialogue], exclude: Collection[str], policy: str) -> TurnCoverage:
    """The coverage of gold dialogues for which there is no prediction at all."""
    left_out = {dialogue_key(name) for name in exclude}
    lacking = [one for one in missing if dialogue_key(one.id) not in left_out]
    turns = sum(1 for one in lacking for turn in one.user_turns() if turn.state is not None)
    if turns and policy == "empty":
        raise DialgaugeError(
            f"{counted(len(lacking), 'gold dialogue')} have no prediction in any file ({lacking[0].id}, ...), and file "
            "by file they cannot be scored as empty; add them, or leave --engine out"
        )
    return replace(
        all_covered(0, 0),
        gold_dialogues=len(lacking), gold_turns=turns, missing_dialogues=[one.id for one in lacking],
        missing_turns=turns, excluded=[one.id for one in missing if dialogue_key(one.id) in left_out],
    )  # fmt: skip


class _Gathered:
    """The sums of all files as they come in, without their bytes."""

    def __init__(self) -> None:
        self.first: ShardSums | None = None
        self.gold_sum = self.off_ontology = self.inventory = 0
        #: SHA-256 and size by name.
        self.files: dict[str, tuple[str, int]] = {}
        self.names: list[str] = []
        self.ids: list[list[str]] = []
        self.parts: list[ShardSums] = []
        self.left_out: dict[str, str] = {}
        self.full: dict[str, str] = {}
        self.coverage: list[TurnCoverage] = []
        self.counts: list[Mapping[str, int]] = []
        self.by_domain: list[Mapping[str, int]] = []
        self.renamed: set[str] = set()
        self.out_of_scope: set[str] = set()

    def add(self, part: ShardSums) -> None:
        self.first = self.first or part
        _require_alike(self.first, part, self.first.shard, part.shard)
        self.names.append(part.shard)
        self.ids.append(part.dialogues)
        self.left_out |= part.left_out
        self.full |= part.full
        self.parts.append(replace(part, dialogues=[]))
        self.coverage.append(part.coverage)
        self.counts.append(part.counts)
        self.by_domain.append(part.slots_by_domain)
        self.gold_sum += int(part.gold_sum)
        self.off_ontology += part.off_ontology
        self.inventory = max(self.inventory, part.inventory)
        self.renamed |= set(part.renamed)
        self.out_of_scope |= set(part.out_of_scope)
        self.files[part.shard] = part.sha256, part.size

    def require_each_once(self) -> None:
        """An error where a dialogue is in two files, or twice in one."""
        import polars

        keys = polars.concat([polars.Series(ids, dtype=polars.String) for ids in self.ids])
        keys = keys.str.strip_chars().str.to_lowercase().str.strip_suffix(".json")  # dialogue_key of many at once
        if keys.n_unique() == len(keys):
            return
        seen: dict[str, str] = {}
        for name, ids in zip(self.names, self.ids, strict=True):
            for one in ids:
                if (key := dialogue_key(one)) in seen:
                    raise DialgaugeError(
                        f"the dialogue is in {seen[key]} and in {name}, and would count twice (case and .json do not "
                        "count); take it out of one of them. The work on the other files is kept",
                        dialogue=one,
                    )
                seen[key] = name

    @property
    def dialogues(self) -> int:
        return sum(map(len, self.ids))

    def rows(self, measures: Sequence[str]) -> dict[str, Rows]:
        """The sums of all dialogues by measure; arrays that are the same in every file are put together once."""
        made: dict[tuple[int, ...], NDArray[np.float64]] = {}

        def joined(measure: str, side: int) -> NDArray[np.float64]:
            places = tuple(part.sums[measure][side] for part in self.parts)
            if places not in made:
                made[places] = np.frombuffer(b"".join(part.side(measure, side) for part in self.parts), "<f8")
            return made[places]

        return {measure: (joined(measure, 0), joined(measure, 1)) for measure in measures}


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
    """The run of one system from the sums of its files."""
    whole = _Gathered()
    for part in parts:
        whole.add(part)
    if whole.first is None:
        raise DialgaugeError("there is nothing to score")
    whole.require_each_once()
    for measure, why in whole.left_out.items():
        if measure in required:
            raise DialgaugeError(f"{measure} cannot be computed: {why}", file=name)
    if gold is not None:
        seen = {dialogue_key(one) for ids in whole.ids for one in ids}
        seen |= {dialogue_key(one) for part in whole.coverage for one in (*part.extra_dialogues, *part.excluded)}
        missing = [one for one in gold if dialogue_key(one.id) not in seen]
        whole.coverage.append(left_over(missing, settings["exclude"], settings["coverage"]))
    kept = [one for one in measures if str(one) not in whole.left_out]
    coverage = joined_coverage(whole.coverage)
    signature = _signature(whole, settings, coverage)
    scores, made = _scores(whole, kept, signature, coverage, how)
    details = _details(whole, settings, coverage)
    run = new_run(
        kind=KIND,
        name=name,
        scores=scores,
        config={"system": name, **{key: settings[key] for key in ("profile", "coverage", "exclude")}},
        inputs=_inputs(whole, sources, gold_source),
        seeds=how.seed if how else None,
        signature=signature.with_(interval=made),
        details=details,
        notes=[coverage.sentence(), *_interval_note(made)],
    )
    return Results([SystemScores(run, kept)])


def _inputs(whole: _Gathered, sources: Sequence[str], gold: str | None) -> list[tuple[str, str] | Input]:
    role = "gold and predictions" if gold is None else "predictions"
    read = input_of_files(" ".join(sorted(sources)), role, whole.files)
    return [read] if gold is None else [("gold", gold), read]


def _signature(whole: _Gathered, settings: Mapping[str, Any], coverage: TurnCoverage) -> Signature:
    first = whole.first
    codes = first is not None and first.codes
    known = codes or settings["ontology"] is not None or profile_named(settings["profile"]).inventory is not None
    scored = {"dialogues": str(coverage.dialogues), "turns": str(coverage.turns)}
    if codes:
        return Signature(slots=str(whole.inventory), roles="codes", **scored)
    return Signature(
        profile=profile_named(settings["profile"]).label,
        slots=str(whole.inventory) if known else "",
        coverage=settings["coverage"],
        **scored,
        gold=checksum_text(whole.gold_sum),
        roles=first.roles if first else "",
    )


def _scores(
    whole: _Gathered, measures: Sequence[Measure[Any]], signature: Signature, coverage: TurnCoverage,
    how: Resampling | None,
) -> tuple[Scores, str]:  # fmt: skip
    rows = whole.rows([str(measure) for measure in measures])
    bounds: list[Bounds] = [(math.nan, math.nan)] * len(measures)
    made = ""
    if how is not None and measures:
        ends = [(measure.card.lower, measure.card.upper) for measure in measures]
        if whole.dialogues <= RESAMPLED:
            from dialgauge.stats import ratio_intervals

            above, below = (np.stack([one[side] for one in rows.values()]) for side in (0, 1))
            limits = ratio_intervals(
                above, below, resamples=how.resamples, seed=how.seed, level=how.level, bounds=ends, method=how.method
            )
            bounds, made = [(low, high) for low, high in limits.tolist()], str(how)
        else:
            bounds = [linearised(*sums, how.level, end) for sums, end in zip(rows.values(), ends, strict=True)]
            made = f"{how.level:g}-{LINEARISED}"
    scores = {
        str(measure): Score.of(
            measure, _ratio(rows[str(measure)]), low, high, signature.with_(measure=whole.full[str(measure)])
        )
        for measure, (low, high) in zip(measures, bounds, strict=True)
    }
    ids = list(chain.from_iterable(whole.ids))
    return Scores(
        dialogues=ids, sums=rows, scores=scores, coverage=coverage.counts(), left_out=whole.left_out,
        resampling=how if made == str(how) else None,
    ), made  # fmt: skip


def _ratio(rows: Rows) -> float:
    above, below = (float(part.sum()) for part in rows)
    return above / below if below else math.nan


def linearised(above: NDArray[np.float64], below: NDArray[np.float64], level: float, ends: Bounds) -> Bounds:
    """The normal interval of a ratio of sums over many dialogues; its error is the spread of their residuals."""
    from statistics import NormalDist

    total = float(below.sum())
    if not total or len(above) < 2:
        return math.nan, math.nan
    value = float(above.sum()) / total
    residuals = above - value * below
    spread = math.sqrt(float((residuals * residuals).sum()) * len(above) / (len(above) - 1)) / total
    reach = NormalDist().inv_cdf((1 + level) / 2) * spread
    return max(value - reach, ends[0]), min(value + reach, ends[1])


def _interval_note(made: str) -> list[str]:
    if not made.endswith(LINEARISED):
        return []
    level = float(made.split("-")[0])
    return [f"Intervals: {level:.0%}, linearised from the sums of all dialogues, which are more than {RESAMPLED:,}."]


def _details(whole: _Gathered, settings: Mapping[str, Any], coverage: TurnCoverage) -> dict[str, Any]:
    first = whole.first
    codes = first is not None and first.codes
    by_domain = _widest(whole.by_domain)
    return {
        "profile": "codes" if codes else profile_named(settings["profile"]).name,
        "coverage": coverage,
        "counts": _added(whole.counts) | {"off_ontology": whole.off_ontology},
        "evidence": {
            "slots": whole.inventory,
            "slots_by_domain": by_domain,
            "gold": first.has_gold if first else True,
            "flags": first.flags_only if first else False,
            "slots_renamed": len(whole.renamed),
            "slots_out_of_scope": sorted(whole.out_of_scope),
        },
        "files": len(whole.files),
    }
