"""From the sums of many files to one run: totals, coverage, a signature, and intervals from the sums of the dialogues.

Up to :data:`RESAMPLED` dialogues the intervals are those of any other run. Beyond that, resampling would take long and
change nothing: the intervals are linearised (the residuals of the ratio over the dialogues), and the signature says so.
"""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Bounds, Measure, Resampling, Rows, Score, Scores, Signature
from dialgauge.runs import Input, TableParts, input_of_files, new_run
from dialgauge.text import counted
from dialgauge.tracking.align import TurnCoverage
from dialgauge.tracking.results import KIND, Results, SystemScores
from dialgauge.tracking.states import checksum_text
from dialgauge.values import profile_named

if TYPE_CHECKING:
    import polars

Floats: TypeAlias = NDArray[np.float64]

#: Up to so many dialogues intervals are made by resampling them.
RESAMPLED = 50_000
#: The name of the other way, as signatures print it.
LINEARISED = "linearised"
_CODES_NOTE = "A table of codes is compared code by code: no profile applies."
#: Bytes of a dialogue's key that are hashed.
_HASHED = 64


class ShardFacts(Struct, frozen=True, kw_only=True):
    """What is known of some dialogues besides their sums."""

    coverage: TurnCoverage
    counts: dict[str, int] = {}
    #: Dialogues that are there, and of which no turn could be scored.
    unscored: list[str] = []
    #: Measure to its name with every setting.
    full: dict[str, str] = {}
    left_out: dict[str, str] = {}
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


class ChunkSums(Struct, frozen=True, eq=False):
    """The sums of some dialogues by measure, on their way into the table of a file."""

    facts: ShardFacts
    dialogues: list[str] = []
    rows: dict[str, Rows] = {}


class Moments(Struct, frozen=True, array_like=True):
    """Sums over dialogues of a measure's numerators and denominators, their squares and their products."""

    above: float
    below: float
    above_squared: float
    below_squared: float
    product: float

    @classmethod
    def of(cls, above: Floats, below: Floats) -> Moments:
        """Those of some dialogues."""
        products = (above, below, above * above, below * below, above * below)
        return cls(*(float(one.sum()) for one in products))

    @classmethod
    def joined(cls, parts: Sequence[Moments]) -> Moments:
        """Those of several files together."""
        return cls(*(math.fsum(getattr(part, name) for part in parts) for name in cls.__struct_fields__))

    @property
    def value(self) -> float:
        """The ratio of the sums."""
        return self.above / self.below if self.below else math.nan

    def interval(self, dialogues: int, level: float, ends: Bounds) -> Bounds:
        """The normal interval of the ratio over many dialogues; its error is the spread of their residuals."""
        from statistics import NormalDist

        if not self.below or dialogues < 2:
            return math.nan, math.nan
        value = self.value
        squares = self.above_squared - 2 * value * self.product + value * value * self.below_squared
        spread = math.sqrt(max(0.0, squares) * dialogues / (dialogues - 1)) / self.below
        reach = NormalDist().inv_cdf((1 + level) / 2) * spread
        return max(value - reach, ends[0]), min(value + reach, ends[1])


class ShardSums(Struct, frozen=True, kw_only=True):
    """What comes back of one file: its piece of the table ``dialogue_scores``, and what is needed of all pieces."""

    shard: str
    sha256: str
    size: int
    facts: ShardFacts
    dialogues: int
    #: The piece as Parquet, and a 64-bit hash of each dialogue's key.
    table: bytes
    keys: bytes
    moments: dict[str, Moments]

    @classmethod
    def of(cls, parts: Sequence[ChunkSums], shard: str, sha256: str, size: int) -> ShardSums:
        """The chunks of one file put together."""
        scored = [part for part in parts if part.dialogues]
        if not scored:
            facts = joined_facts([part.facts for part in parts], parts[0].facts)
            return cls(shard=shard, sha256=sha256, size=size, facts=facts, dialogues=0, table=b"", keys=b"", moments={})
        for part in scored[1:]:
            _require_alike(scored[0].facts, part.facts, shard, shard)
        facts = joined_facts([part.facts for part in parts], scored[0].facts)
        names = [name for name in scored[0].rows if name not in facts.left_out]
        rows: dict[str, Rows] = {}
        for name in names:
            above, below = (np.concatenate([part.rows[name][side] for part in scored]) for side in (0, 1))
            rows[name] = above, below
        ids = [one for part in scored for one in part.dialogues]
        _require_each_once(ids)
        return cls(
            shard=shard,
            sha256=sha256,
            size=size,
            facts=facts,
            dialogues=len(ids),
            table=_parquet(Scores(dialogues=ids, sums=rows, scores={}).frame()),
            keys=_keys(ids),
            moments={name: Moments.of(*sums) for name, sums in rows.items()},
        )


def _require_each_once(ids: Sequence[str]) -> None:
    keys = [dialogue_key(one) for one in ids]
    if len(set(keys)) == len(keys):
        return
    seen: set[str] = set()
    for one, key in zip(ids, keys, strict=True):
        if key in seen:
            raise DialgaugeError(
                "this id is used twice in the file; ids must be unique (case and .json are ignored), and all turns of "
                "a dialogue must be in a row",
                dialogue=one,
            )
        seen.add(key)


def _parquet(frame: polars.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="lz4", statistics=False)  # two thirds of the time that the default takes
    return buffer.getvalue()


def _keys(ids: Sequence[str]) -> bytes:
    """A 64-bit hash (FNV-1a) of each dialogue's key, the same on every machine; equal ones are looked at by name."""
    texts = [dialogue_key(one).encode("utf-8", "surrogatepass")[:_HASHED] for one in ids]
    lengths = np.array([len(text) for text in texts])
    width = max(1, int(lengths.max()))
    letters = np.array(texts, f"S{width}").view(np.uint8).reshape(len(texts), width)
    hashes = np.full(len(texts), 0xCBF29CE484222325, np.uint64)
    for place, column in enumerate(letters.T):
        hashes = np.where(place < lengths, (hashes ^ column) * np.uint64(0x100000001B3), hashes)
    return hashes.tobytes()


def joined_facts(parts: Sequence[ShardFacts], first: ShardFacts) -> ShardFacts:
    """What is known of disjoint dialogues together."""
    return replace(
        first,
        coverage=joined_coverage([part.coverage for part in parts]),
        counts=_added([part.counts for part in parts]),
        unscored=[one for part in parts for one in part.unscored],
        full={name: full for part in parts for name, full in part.full.items()},
        left_out={name: why for part in parts for name, why in part.left_out.items()},
        gold_sum=str(sum(int(part.gold_sum) for part in parts)),
        slots_by_domain=_widest([part.slots_by_domain for part in parts]),
        inventory=max(part.inventory for part in parts),
        off_ontology=sum(part.off_ontology for part in parts),
        renamed=sorted({one for part in parts for one in part.renamed}),
        out_of_scope=sorted({one for part in parts for one in part.out_of_scope}),
    )


def _require_alike(first: ShardFacts, other: ShardFacts, name: str, other_name: str) -> None:
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


def all_extra(chunk: Sequence[Dialogue], known: Sequence[Dialogue], policy: str) -> TurnCoverage:
    """The coverage of predictions of which none can be scored: gold does not have them, or they are excluded."""
    excluded = {dialogue_key(one.id): one.id for one in known}
    extra = [one for one in chunk if dialogue_key(one.id) not in excluded]
    turns = sum(1 for one in extra for turn in one.user_turns() if (turn.predicted or turn.state) is not None)
    return replace(
        all_covered(0, 0), policy=policy, predicted_dialogues=len(chunk), predicted_turns=turns,
        extra_dialogues=[one.id for one in extra], extra_turns=turns, excluded=list(excluded.values()),
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
            _require_alike(self.parts[0].facts, part.facts, self.parts[0].shard, part.shard)
        self.parts.append(part)

    @property
    def dialogues(self) -> int:
        return sum(part.dialogues for part in self.parts)

    @property
    def table(self) -> TableParts:
        return TableParts([part.table for part in self.parts])

    def ids(self, part: ShardSums) -> list[str]:
        """The dialogues of a file that have a score."""
        return list(dict.fromkeys(TableParts([part.table])()["dialogue"].to_list()))

    def require_each_once(self) -> None:
        """An error where a dialogue is in two files; of each file that is known already."""
        keys = np.concatenate([np.frombuffer(part.keys, np.uint64) for part in self.parts])
        if len(np.unique(keys)) == len(keys):
            return
        seen: dict[str, str] = {}
        for part in self.parts:
            for one in self.ids(part):
                if (key := dialogue_key(one)) in seen:
                    raise DialgaugeError(
                        f"the dialogue is in {seen[key]} and in {part.shard}, and would count twice (case and .json do "
                        "not count); remove it from one of them. The work on the other files is kept",
                        dialogue=one,
                    )
                seen[key] = part.shard

    def rows(self, measures: Sequence[str]) -> tuple[Floats, Floats]:
        """Numerators and denominators of all dialogues, a row for each measure."""
        import polars

        frame = self.table()
        places = frame.select(polars.col("dialogue").unique(maintain_order=True)).with_row_index("place")
        frame = frame.join(places, on="dialogue", maintain_order="left")
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
    facts = joined_facts([part.facts for part in (*whole.parts, *whole.empty)], whole.parts[0].facts)
    for measure, why in facts.left_out.items():
        if measure in required:
            raise DialgaugeError(f"{measure} cannot be computed: {why}", file=name)
    if gold is not None:
        facts = replace(facts, coverage=_with_left_over(whole, facts.coverage, gold, settings))
    kept = [one for one in measures if str(one) not in facts.left_out]
    signature = _signature(facts, settings)
    scores, made = _scores(whole, facts, kept, signature, how)
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
        notes=[facts.coverage.sentence(), *_interval_note(made), *([_CODES_NOTE] if facts.codes else [])],
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
    whole: _Gathered, facts: ShardFacts, measures: Sequence[Measure[Any]], signature: Signature, how: Resampling | None
) -> tuple[Scores, str]:
    names = [str(measure) for measure in measures]
    moments = {name: Moments.joined([part.moments[name] for part in whole.parts]) for name in names}
    bounds: list[Bounds] = [(math.nan, math.nan)] * len(names)
    made = ""
    if how is not None and names:
        ends = [(measure.card.lower, measure.card.upper) for measure in measures]
        if whole.dialogues <= RESAMPLED:
            from dialgauge.stats import ratio_intervals

            limits = ratio_intervals(
                *whole.rows(names), resamples=how.resamples, seed=how.seed, level=how.level, bounds=ends,
                method=how.method,
            )  # fmt: skip
            bounds, made = [(low, high) for low, high in limits.tolist()], str(how)
        else:
            bounds = [
                moments[name].interval(whole.dialogues, how.level, end) for name, end in zip(names, ends, strict=True)
            ]
            made = f"{how.level:g}-{LINEARISED}"
    scores = {
        name: Score.of(measure, moments[name].value, low, high, signature.with_(measure=facts.full[name]))
        for name, measure, (low, high) in zip(names, measures, bounds, strict=True)
    }
    return Scores(
        dialogues=(), sums={}, scores=scores, coverage=facts.coverage.counts(), left_out=facts.left_out,
        resampling=how if made == str(how) else None,
    ), made  # fmt: skip


def _interval_note(made: str) -> list[str]:
    if not made.endswith(LINEARISED):
        return []
    level = float(made.split("-")[0])
    return [f"Intervals: {level:.0%}, linearised from the sums of all dialogues, which are more than {RESAMPLED:,}."]


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
