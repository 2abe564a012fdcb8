"""What comes back of one file of many: sums by dialogue, and facts that add up."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.files import parquet_bytes
from dialgauge.measures import NO_INTERVAL, ONE_MORE_UNIT, Bounds, Floats, Interval, Resampling
from dialgauge.stats import share_interval
from dialgauge.tracking.additive import joined
from dialgauge.tracking.align import TurnCoverage
from dialgauge.tracking.checks import CheckCounts
from dialgauge.tracking.details import CountBasis
from dialgauge.tracking.inputs import FileReading, state_domains

#: Bytes of a dialogue's key that are hashed.
_HASHED = 64


class Moments(Struct, frozen=True, array_like=True):
    """Sums over dialogues of a measure's numerators and denominators, their squares and their products."""

    above: float
    below: float
    above_squared: float
    below_squared: float
    product: float

    @classmethod
    def of(cls, above: Floats, below: Floats) -> Moments:
        """The moments of some dialogues."""
        products = (above, below, above * above, below * below, above * below)
        return cls(*(float(product.sum()) for product in products))

    @classmethod
    def joined(cls, parts: Sequence[Moments]) -> Moments:
        """The moments of several files together."""
        return cls(*(math.fsum(getattr(part, name) for part in parts) for name in cls.__struct_fields__))

    @property
    def value(self) -> float:
        """The ratio of the sums."""
        return self.above / self.below if self.below else math.nan

    def interval(self, dialogues: int, how: Resampling, ends: Bounds) -> Interval:
        """That of a share of cases, or the normal interval of a ratio; its error is the spread of the residuals."""
        from statistics import NormalDist

        if not self.below or dialogues < 2:
            return NO_INTERVAL
        if ends == (0.0, 1.0) and self.above == self.above_squared and self.below == self.below_squared:
            cases = share_interval(int(self.above), int(self.below), how.level)
            return Interval(*cases, f"{how.level:g}-{ONE_MORE_UNIT}")
        value = self.value
        squares = self.above_squared - 2 * value * self.product + value * value * self.below_squared
        spread = math.sqrt(max(0.0, squares) * dialogues / (dialogues - 1)) / self.below
        reach = NormalDist().inv_cdf((1 + how.level) / 2) * spread
        return Interval(max(value - reach, ends[0]), min(value + reach, ends[1]), str(how))


class ShardChecks(Struct, frozen=True, kw_only=True):
    """What the checks look at, of some dialogues of one system."""

    counts: CheckCounts = CheckCounts()
    #: How often each name that was to be renamed was met, and what is said of names changed to gold's.
    renamed: dict[str, int] = {}
    named_as_gold: list[str] = []
    #: What is said where turns were counted as asked.
    recounted: str = ""


class ShardScores(Struct, frozen=True, kw_only=True):
    """What comes back of one file: its piece of the table ``dialogue_scores``, and what is needed of all pieces."""

    shard: str = ""
    sha256: str = ""
    size: int = 0
    coverage: TurnCoverage
    counts: dict[str, int] = {}
    #: Dialogues that are there, and of which no turn could be scored.
    unscored: list[str] = []
    #: Measure to its name with every setting.
    full: dict[str, str] = {}
    left_out: dict[str, str] = {}
    gold_sum: str = "0"
    roles: str = ""
    basis: CountBasis = CountBasis(slots=0, slots_by_domain={}, gold=True, flags=False)
    off_ontology: int = 0
    renamed: list[str] = []
    #: The sums of gold against itself, under a profile with rules for one side, and the turns in which it differs.
    gold_itself: dict[str, Moments] = {}
    gold_differs: int = 0
    #: Of predictions that are compared with gold from elsewhere.
    declared: DeclaredDomains | None = None
    reading: FileReading = FileReading()
    checks: ShardChecks = ShardChecks()
    dialogues: int = 0
    #: The piece as Parquet, the dialogues that have no row in it (no measure has a score there), and a 64-bit hash of
    #: each dialogue's key.
    table: bytes = b""
    rowless: list[str] = []
    keys: bytes = b""
    moments: dict[str, Moments] = {}

    @classmethod
    def joined(cls, parts: Sequence[ShardScores]) -> ShardScores:
        """What is known of all files together, without their tables; the first has scored dialogues."""
        declared = [part.declared for part in parts if part.declared is not None]
        counts: Counter[str] = Counter()
        for part in parts:
            counts.update(part.counts)
        return cls(
            coverage=joined([part.coverage for part in parts]),
            counts=dict(counts),
            unscored=[name for part in parts for name in part.unscored],
            full={name: full for part in parts for name, full in part.full.items()},
            left_out={name: why for part in parts for name, why in part.left_out.items()},
            gold_sum=str(sum(int(part.gold_sum) for part in parts)),
            roles=parts[0].roles,
            basis=CountBasis.joined([part.basis for part in parts]),
            off_ontology=sum(part.off_ontology for part in parts),
            renamed=sorted({name for part in parts for name in part.renamed}),
            gold_itself=_moments_joined([part.gold_itself for part in parts if part.gold_itself]),
            gold_differs=sum(part.gold_differs for part in parts),
            declared=DeclaredDomains.joined(declared) if declared else None,
            reading=FileReading.joined([part.reading for part in parts]),
            checks=joined([part.checks for part in parts]),
            dialogues=sum(part.dialogues for part in parts),
        )

    def with_sums(self, ids: pl.Series, rows: Mapping[str, Floats]) -> ShardScores:
        """The same with the sums of its dialogues, by measure; an id that is used twice is an error."""
        keys = dialogue_keys(ids)
        if keys.n_unique() < len(keys):
            raise DialgaugeError(
                "this id is used twice in the file; ids must be unique (case and .json are ignored), and all turns of "
                "a dialogue must be in a row",
                dialogue=ids[int(keys.is_first_distinct().not_().arg_true()[0])],
            )
        return replace(
            self,
            dialogues=len(ids),
            table=parquet_bytes(_scores_frame(ids, rows)),
            rowless=_rowless(ids, rows),
            keys=key_hashes(keys),
            moments={name: Moments.of(*sums) for name, sums in rows.items()},
        )

    def require_alike(self, other: ShardScores) -> None:
        """An error where another file cannot be put together with this one."""
        if self.roles != other.roles:
            raise DialgaugeError(
                f"it holds {other.roles or 'something else'}, but {self.shard} holds {self.roles}: score such files "
                "separately",
                file=other.shard,
            )

    def ids(self) -> list[str]:
        """The dialogues that were scored, also those for which no measure has a value."""
        rows = pl.read_parquet(io.BytesIO(self.table), columns=["dialogue"], use_pyarrow=False)
        return [*rows["dialogue"].unique(maintain_order=True).to_list(), *self.rowless]


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
    def of(cls, dialogues: Iterable[Dialogue], gold: Callable[[str], Dialogue | None]) -> DeclaredDomains:
        """Those of some predictions with their gold."""
        reach, gold_reach, within, beyond, single = set[str](), set[str](), True, False, True
        for dialogue in dialogues:
            own = {domain.lower() for domain in dialogue.domains}
            labelled = gold(dialogue_key(dialogue.id))
            used, wanted = state_domains(dialogue), state_domains(labelled) if labelled else set[str]()
            reach, gold_reach = reach | used, gold_reach | wanted
            within, beyond = within and used <= own, beyond or not wanted <= own
            single = single and len(dialogue.domains) == 1
        return cls(single, within, sorted(reach), sorted(gold_reach), beyond)

    @classmethod
    def joined(cls, parts: Sequence[DeclaredDomains]) -> DeclaredDomains:
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


def _moments_joined(parts: Sequence[Mapping[str, Moments]]) -> dict[str, Moments]:
    """Those of the measures that all parts have."""
    common = [name for name in (parts[0] if parts else ()) if all(name in part for part in parts)]
    return {name: Moments.joined([part[name] for part in parts]) for name in common}


def _scores_frame(dialogues: pl.Series, sums: Mapping[str, Floats]) -> pl.DataFrame:
    """The table ``dialogue_scores`` of some dialogues, from their sums by measure."""
    text, number = pl.String, pl.Float64
    frames = [pl.DataFrame(schema={"dialogue": text, "measure": text, "num": number, "den": number})]
    for name, (above, below) in sums.items():
        columns = [dialogues.alias("dialogue"), pl.Series("num", above), pl.Series("den", below)]
        scored = pl.DataFrame(columns).filter(pl.Series(below > 0))
        frames.append(scored.select("dialogue", pl.lit(name).alias("measure"), "num", "den"))
    return pl.concat(frames)


def _rowless(ids: pl.Series, rows: Mapping[str, Floats]) -> list[str]:
    without = np.ones(len(ids), bool)
    for _, below in rows.values():
        without &= ~(below > 0)
        if not without.any():
            return []
    return ids.filter(pl.Series(without)).to_list()


def dialogue_keys(ids: pl.Series) -> pl.Series:
    """:func:`dialogue_key` of every id, for all at once where that is sure to be the same."""
    together: str = ids.str.join("").item()
    if not together.isascii() or not together.isprintable():
        return pl.Series([dialogue_key(name) for name in ids], dtype=pl.String)
    if together.isalnum() and together == together.lower():
        return ids
    return ids.str.strip_chars().str.to_lowercase().str.strip_suffix(".json")


def key_hashes(texts: pl.Series) -> bytes:
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


def _padded(texts: pl.Series, width: int) -> NDArray[np.uint8]:
    """The first bytes of texts one after the other, shorter ones filled up with zeros."""
    together: str = texts.str.slice(0, width).str.pad_end(width, "\0").str.join("").item()
    if together.isascii():
        return np.frombuffer(together.encode(), np.uint8)
    return np.array([text.encode() for text in texts], f"S{width}").view(np.uint8)
