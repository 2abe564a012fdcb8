"""What comes back of one file: facts that add up, sums and squares of every measure, and its piece of the table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.files import parquet_bytes
from dialgauge.measures import Bounds, Rows
from dialgauge.text import counted
from dialgauge.tracking.align import Policy, TurnCoverage, align
from dialgauge.tracking.details import CountBasis
from dialgauge.tracking.encode import Items, encode

if TYPE_CHECKING:
    import polars

Floats: TypeAlias = NDArray[np.float64]

#: Bytes of a dialogue's key that are hashed.
_HASHED = 64
#: A table that is written fast: it is read again soon, and as a whole.
_QUICK = {"compression_level": 1, "statistics": False, "row_group_size": 1 << 19}


class DeclaredDomains(Struct, frozen=True):
    """What some predictions say of their domains: gold of one-domain files is cut down to what they predict."""

    #: Every dialogue declares one domain, and no state reaches beyond it.
    single: bool
    within: bool
    #: The domains of all states, of the predictions and of gold.
    reach: list[str]
    gold_reach: list[str]
    #: Gold has slots of a domain that the prediction of the same dialogue does not declare.
    gold_beyond: bool

    @classmethod
    def of(cls, chunk: Sequence[Dialogue], gold: Mapping[str, Dialogue]) -> DeclaredDomains:
        """Those of some predictions with their gold."""
        reach, gold_reach, within, beyond = set[str](), set[str](), True, False
        for one in chunk:
            own = {domain.lower() for domain in one.domains}
            used, wanted = _state_domains(one), _state_domains(gold.get(dialogue_key(one.id)))
            reach, gold_reach = reach | used, gold_reach | wanted
            within, beyond = within and used <= own, beyond or not wanted <= own
        single = all(len(dialogue.domains) == 1 for dialogue in chunk)
        return cls(single, within, sorted(reach), sorted(gold_reach), beyond)

    @classmethod
    def joined(cls, parts: Sequence[DeclaredDomains]) -> DeclaredDomains:
        """Those of disjoint dialogues together."""
        return cls(
            all(part.single for part in parts),
            all(part.within for part in parts),
            sorted({name for part in parts for name in part.reach}),
            sorted({name for part in parts for name in part.gold_reach}),
            any(part.gold_beyond for part in parts),
        )

    @property
    def cuts_gold(self) -> bool:
        """Whether gold would have to be cut down, which takes a look at all files before any is scored."""
        if not self.single:
            return False
        return self.gold_beyond if self.within else len(self.reach) == 1 and self.gold_reach != self.reach


def _state_domains(dialogue: Dialogue | None) -> set[str]:
    states = (state for turn in (dialogue.turns if dialogue else ()) for state in (turn.state, turn.predicted))
    return {domain.lower() for state in states if state for domain in state}


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
    basis: CountBasis = CountBasis(slots=0, slots_by_domain={}, gold=True, flags=False)
    off_ontology: int = 0
    renamed: list[str] = []
    #: Of predictions that are compared with gold from elsewhere.
    declared: DeclaredDomains | None = None


class ChunkSums(Struct, frozen=True, eq=False):
    """The sums of some dialogues by measure, on their way into the table of a file."""

    facts: ShardFacts
    #: Their ids, as strings; None where no dialogue has a score.
    dialogues: polars.Series | None = None
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
        return cls(*(float(product.sum()) for product in products))

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
    #: The piece as Parquet, the dialogues that have no row in it (no measure has a score there), and a 64-bit hash of
    #: each dialogue's key.
    table: bytes
    rowless: list[str] = []
    keys: bytes
    moments: dict[str, Moments]

    @classmethod
    def of(cls, parts: Sequence[ChunkSums], shard: str, sha256: str, size: int) -> ShardSums:
        """The chunks of one file put together."""
        scored = [part for part in parts if part.dialogues is not None]
        ids = _joined_ids([part.dialogues for part in parts if part.dialogues is not None])
        if ids is None:
            facts = joined_facts([part.facts for part in parts], parts[0].facts)
            return cls(shard=shard, sha256=sha256, size=size, facts=facts, dialogues=0, table=b"", keys=b"", moments={})
        for part in scored[1:]:
            require_alike(scored[0].facts, part.facts, shard, shard)
        facts = joined_facts([part.facts for part in parts], scored[0].facts)
        rows = _joined_rows([part.rows for part in scored], facts.left_out)
        return cls(
            shard=shard,
            sha256=sha256,
            size=size,
            facts=facts,
            dialogues=len(ids),
            table=parquet_bytes(_scores_frame(ids, rows), **_QUICK),
            rowless=_rowless(ids, rows),
            keys=_keys_of(ids),
            moments={name: Moments.of(*sums) for name, sums in rows.items()},
        )


def _joined_ids(parts: Sequence[polars.Series]) -> polars.Series | None:
    import polars

    return polars.concat(parts, rechunk=True) if parts else None


def _scores_frame(dialogues: polars.Series, sums: Mapping[str, Rows]) -> polars.DataFrame:
    """The table ``dialogue_scores`` of some dialogues, from their sums by measure."""
    import polars

    text, number = polars.String, polars.Float64
    frames = [polars.DataFrame(schema={"dialogue": text, "measure": text, "num": number, "den": number})]
    for name, (above, below) in sums.items():
        columns = [dialogues.alias("dialogue"), polars.Series("num", above), polars.Series("den", below)]
        scored = polars.DataFrame(columns).filter(polars.Series(below > 0))
        frames.append(scored.select("dialogue", polars.lit(name).alias("measure"), "num", "den"))
    return polars.concat(frames)


def _rowless(ids: polars.Series, rows: Mapping[str, Rows]) -> list[str]:
    import polars

    without = np.ones(len(ids), bool)
    for _, below in rows.values():
        without &= ~(below > 0)
        if not without.any():
            return []
    return ids.filter(polars.Series(without)).to_list()


def _joined_rows(parts: Sequence[Mapping[str, Rows]], left_out: Collection[str]) -> dict[str, Rows]:
    """The sums of all chunks by measure. Most measures share one array of denominators, which is joined once."""
    known: dict[tuple[int, ...], Floats] = {}

    def joined(chunks: Sequence[Floats]) -> Floats:
        key = tuple(id(chunk) for chunk in chunks)
        if key not in known:
            known[key] = np.concatenate(chunks)
        return known[key]

    rows: dict[str, Rows] = {}
    for name in parts[0]:
        if name not in left_out:
            rows[name] = joined([part[name][0] for part in parts]), joined([part[name][1] for part in parts])
    return rows


def _keys_of(ids: polars.Series) -> bytes:
    """A 64-bit hash of each dialogue's key, the same everywhere; an id that is used twice is an error."""
    keys = dialogue_keys(ids)
    if keys.n_unique() < len(keys):
        raise DialgaugeError(
            "this id is used twice in the file; ids must be unique (case and .json are ignored), and all turns of a "
            "dialogue must be in a row",
            dialogue=ids[int(keys.is_first_distinct().not_().arg_true()[0])],
        )
    return key_hashes(keys)


def dialogue_keys(ids: polars.Series) -> polars.Series:
    """:func:`dialogue_key` of every id, for all at once where that is sure to be the same."""
    import polars

    together: str = ids.str.join("").item()
    if not together.isascii() or not together.isprintable():
        return polars.Series([dialogue_key(one) for one in ids], dtype=polars.String)
    if together.isalnum() and together == together.lower():
        return ids
    return ids.str.strip_chars().str.to_lowercase().str.strip_suffix(".json")


def key_hashes(texts: polars.Series) -> bytes:
    """A hash of the first bytes of texts: as FNV-1a, but eight bytes at a time.

    Words of zeros, which only fill a text up to the longest, change nothing: a text has the same hash in every file.
    """
    lengths = texts.str.len_bytes().to_numpy()
    words = max(1, -(-min(_HASHED, int(lengths.max())) // 8))
    columns = _padded(texts, 8 * words).view("<u8").reshape(len(texts), words).T
    hashes = np.full(len(texts), 0xCBF29CE484222325, np.uint64)
    for column in columns:
        mixed = (hashes ^ column) * np.uint64(0x100000001B3)
        hashes = np.where(column != 0, mixed ^ (mixed >> np.uint64(32)), hashes)
    return hashes.tobytes()


def _padded(texts: polars.Series, width: int) -> NDArray[np.uint8]:
    """The first bytes of texts one after the other, shorter ones filled up with zeros."""
    together: str = texts.str.slice(0, width).str.pad_end(width, "\0").str.join("").item()
    if together.isascii():
        return np.frombuffer(together.encode(), np.uint8)
    return np.array([text.encode() for text in texts], f"S{width}").view(np.uint8)


def joined_facts(parts: Sequence[ShardFacts], first: ShardFacts) -> ShardFacts:
    """What is known of disjoint dialogues together."""
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part.counts)
    return replace(
        first,
        coverage=TurnCoverage.joined([part.coverage for part in parts]),
        counts=dict(counts),
        unscored=[name for part in parts for name in part.unscored],
        full={name: full for part in parts for name, full in part.full.items()},
        left_out={name: why for part in parts for name, why in part.left_out.items()},
        gold_sum=str(sum(int(part.gold_sum) for part in parts)),
        basis=CountBasis.joined([part.basis for part in parts]),
        off_ontology=sum(part.off_ontology for part in parts),
        renamed=sorted({name for part in parts for name in part.renamed}),
        declared=_joined_declared([part.declared for part in parts if part.declared is not None]),
    )


def _joined_declared(parts: Sequence[DeclaredDomains]) -> DeclaredDomains | None:
    return DeclaredDomains.joined(parts) if parts else None


def require_alike(first: ShardFacts, other: ShardFacts, name: str, other_name: str) -> None:
    """An error where two files, or two chunks of one, cannot be put together."""
    if (first.roles, first.codes) != (other.roles, other.codes):
        raise DialgaugeError(
            f"it holds {other.roles or 'something else'}, but {name} holds {first.roles}: score such files separately",
            file=other_name,
        )
    if (first.slots, first.codes and first.basis.slots) != (other.slots, other.codes and other.basis.slots):
        differing = sorted(set(first.slots) ^ set(other.slots))[:3]
        raise DialgaugeError(
            f"its slots differ from those of {name} ({', '.join(differing) or 'in another order'}), and the total "
            "number of slots affects the scores: give all tables the same columns",
            file=other_name,
        )


def left_over(missing: Sequence[Dialogue], exclude: Collection[str], policy: Policy) -> TurnCoverage:
    """The coverage of gold dialogues for which there is no prediction at all."""
    items = Items()
    gold, nothing = encode(missing, "state", items), encode((), "predicted", items)
    coverage = align(gold, nothing, "intersection", exclude, partial=True).coverage
    if coverage.gold_turns and policy == "empty":
        lacking = coverage.missing_dialogues
        raise DialgaugeError(
            f"{counted(len(lacking), 'gold dialogue')} have no prediction in any file ({lacking[0]}, ...), and file "
            "by file they cannot be scored as empty; add them, or leave --engine out"
        )
    return coverage
