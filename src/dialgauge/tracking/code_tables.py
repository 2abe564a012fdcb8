"""Scoring from Parquet a piece at a time: states as integer codes, one row per turn.

The table has the columns ``dialogue`` (strings or numbers; the turns of a dialogue stand together), ``turn`` (the
number of the user turn) and for every slot ``gold:DOMAIN-SLOT`` and ``pred:DOMAIN-SLOT``: 0 for an absent slot, and
otherwise a number such that equal numbers are equal values. :func:`write_codes` makes such a table; so can any other
tool. The slots of the table are the inventory of slot accuracy, unless the file's metadata says another number of slots
under ``dialgauge.inventory``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic, parquet_bytes, reason, system_error
from dialgauge.tracking.counts import Counts, SlotTally, TurnCounts, turn_counts
from dialgauge.tracking.details import CountBasis
from dialgauge.tracking.encode import Coder, Codes, Flags
from dialgauge.tracking.states import DialogueBlock, StateComparison

GOLD, PREDICTED = "gold:", "pred:"
#: Where the file says how many slots there are, if they are not as many as it has columns for.
INVENTORY = "dialgauge.inventory"

#: Turns read at a time, which bounds memory.
CHUNK = 1 << 18
#: Turns counted and measured at a time, the fastest of several: fewer cost more calls, more no longer fit the cache.
_BLOCK = 60_000


def write_codes(comparison: StateComparison, path: Path) -> None:
    """Write a comparison as codes. Predictions that match gold without being equal get the gold code.

    Where a slot has alternatives, one number cannot always say with which values of this and of the previous turn it
    agrees; if the codes would give other counts than the values do, it is an error.
    """
    if comparison.flags_only or not comparison.has_gold:
        raise DialgaugeError("codes need gold and predicted states, but there are only correctness flags")
    names = ["-".join(pair) for pair in comparison.slots]
    ids = comparison.aligned.ids
    frames = []
    for stretch in comparison.stretches():
        span = slice(stretch.start, stretch.stop)
        gold, predicted = _codes(comparison, stretch)
        numbers = comparison.aligned.dialogue[span].tolist()
        columns: dict[str, object] = {
            "dialogue": [ids[number] for number in numbers],
            "turn": comparison.aligned.turn[span],
        }
        absent = np.zeros(stretch.stop - stretch.start, np.int32)
        row_of = {number: row for row, number in enumerate(stretch.slots.tolist())}
        for prefix, side in ((GOLD, gold), (PREDICTED, predicted)):
            columns |= {f"{prefix}{name}": side[row_of[n]] if n in row_of else absent for n, name in enumerate(names)}
        frames.append(pl.DataFrame(columns))
    with atomic(path) as scratch:
        metadata = {INVENTORY: str(comparison.inventory)}
        scratch.write_bytes(parquet_bytes(pl.concat(frames), row_group_size=CHUNK, metadata=metadata))


def _codes(comparison: StateComparison, stretch: DialogueBlock) -> tuple[Codes, Codes]:
    coder = comparison.coder
    gold, predicted = _steady(coder, stretch.gold, stretch.first), _steady(coder, stretch.predicted, stretch.first)
    predicted = np.where(coder.same(stretch.gold, stretch.predicted), gold, predicted)
    if not coder.identity:
        written = turn_counts(gold, predicted, stretch.first)
        meant = turn_counts(stretch.gold, stretch.predicted, stretch.first, coder)
        for name in TurnCounts.__struct_fields__:
            if not np.array_equal(getattr(written, name), getattr(meant, name)):
                raise DialgaugeError(
                    "the states have alternatives that cannot be written as codes: score the dialogues themselves, or "
                    "use a profile with gold_values: first"
                )
    return gold, predicted


def _steady(coder: Coder, codes: Codes, first: Flags) -> Codes:
    """Codes that stay the same while a slot keeps its value in other words."""
    if coder.identity or codes.shape[1] < 2:
        return codes
    kept = coder.kept(codes[:, :-1], codes[:, 1:]) & ~first[1:]
    steady = codes.copy()
    for turn in range(1, codes.shape[1]):
        steady[:, turn] = np.where(kept[:, turn - 1], steady[:, turn - 1], codes[:, turn])
    return steady


def is_code_table(path: Path) -> bool:
    """Whether a file is a table of codes: Parquet with a column ``gold:DOMAIN-SLOT``."""
    with path.open("rb") as stream:
        if stream.read(4) != b"PAR1":
            return False
    return any(name.startswith(GOLD) for name in _columns(path))


def _columns(path: Path) -> list[str]:
    with _readable(path):
        return pl.scan_parquet(path, glob=False).collect_schema().names()


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        if system_error(error) is not None:
            raise DialgaugeError(f"it cannot be read ({reason(error)})", file=str(path)) from error
        why = " ".join(str(error).split())[:300]
        raise DialgaugeError(f"it cannot be read as Parquet ({why})", file=str(path)) from error


class CodeTable:
    """A table of codes, read a piece at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        columns = _columns(path)
        self.slots = [name.removeprefix(GOLD) for name in columns if name.startswith(GOLD)]
        predicted = {name.removeprefix(PREDICTED) for name in columns if name.startswith(PREDICTED)}
        if not self.slots or set(self.slots) != predicted:
            raise DialgaugeError(
                f"every slot needs a column '{GOLD}SLOT' and a column '{PREDICTED}SLOT'; unpaired: "
                f"{', '.join(sorted(set(self.slots) ^ predicted)) or 'there are none'}",
                file=str(path),
            )
        #: The dialogues that were there and were left out, as :meth:`counts` comes upon them.
        self.excluded: list[str] = []

    @cached_property
    def basis(self) -> CountBasis:
        """What its counts rest on; T of slot accuracy is what the file says, else the number of its slots."""
        with _readable(self.path):
            stored = pl.read_parquet_metadata(self.path).get(INVENTORY, "")
        inventory = int(stored) if stored.isdecimal() and len(stored) < 10 else len(self.slots)
        by_domain = dict(Counter(slot.partition("-")[0] for slot in self.slots))
        return CountBasis(slots=inventory, slots_by_domain=by_domain, gold=True, flags=False)

    def counts(self, exclude: Collection[str] = (), chunk: int = CHUNK) -> Iterator[tuple[pl.Series, Counts]]:
        """Ids and counts of whole dialogues, some thousand turns at a time, without those that are excluded."""
        columns = [f"{side}{slot}" for side in (GOLD, PREDICTED) for slot in self.slots]
        for frame in _frames(self.path, chunk):
            _require_integers(frame, ["turn", *columns], self.path)
            _require_ids(frame["dialogue"], self.path)
            kept = _without(frame, exclude, self.excluded) if exclude else frame
            if len(kept):
                yield from _block_counts(kept, self.slots, self.basis.slots)
            del kept
            del frame  # or it would stay in memory while the next one is read


def _without(frame: pl.DataFrame, exclude: Collection[str], excluded: list[str]) -> pl.DataFrame:
    left_out = {dialogue_key(name) for name in exclude}
    ids = frame["dialogue"].cast(pl.String)
    distinct = ids.unique(maintain_order=True)
    kept = pl.Series([dialogue_key(dialogue) not in left_out for dialogue in distinct], dtype=pl.Boolean)
    wanted = distinct.filter(kept)
    excluded.extend(distinct.filter(~kept).to_list())
    return frame.filter(ids.is_in(wanted.implode()))


def _block_counts(frame: pl.DataFrame, slots: list[str], inventory: int) -> Iterator[tuple[pl.Series, Counts]]:
    dialogue = frame["dialogue"]
    first: Flags = np.ones(len(frame), bool)
    first[1:] = (dialogue[1:] != dialogue[:-1]).to_numpy()
    ids = dialogue.filter(pl.Series(first)).cast(pl.String)
    turn = frame["turn"].to_numpy().astype(np.int32, copy=False)
    gold, predicted = ([frame[f"{side}{slot}"].to_numpy() for slot in slots] for side in (GOLD, PREDICTED))
    for start, stop in _blocks(first):
        begins = first[start:stop]
        tally = SlotTally(begins, len(slots))
        for left, right in zip(gold, predicted, strict=True):
            tally.add(left[start:stop], right[start:stop])
        counts = Counts(
            turns=tally.counts(),
            dialogue=np.cumsum(begins) - 1,
            turn=turn[start:stop],
            first=begins,
            inventory=inventory,
        )
        begun = int(np.count_nonzero(first[:start]))
        yield ids[begun : begun + counts.dialogues], counts


def _frames(path: Path, chunk: int) -> Iterator[pl.DataFrame]:
    """The table in pieces that end with a dialogue; what a piece cuts off begins the next."""
    with _readable(path):
        lazy = pl.scan_parquet(path, glob=False)
        rows = int(lazy.select(pl.len()).collect().item())
    if not rows:
        raise DialgaugeError("the table has no rows", file=str(path))
    rest: pl.DataFrame | None = None
    for start in range(0, rows, chunk):
        with _readable(path):
            piece = lazy.slice(start, chunk).collect()
        if "dialogue" not in piece.columns or "turn" not in piece.columns:
            raise DialgaugeError("a table of codes needs the columns 'dialogue' and 'turn'", file=str(path))
        more = start + chunk < rows
        if rest is not None:
            # Joined on its own: columns of a table that was joined with another would be copied when they are used.
            others = (piece["dialogue"] != rest["dialogue"][0]).arg_true()
            ends = int(others[0]) if len(others) else len(piece)
            rest, piece = pl.concat([rest, piece[:ends]]), piece[ends:]
            if more and not len(piece):
                continue
            yield rest
            rest = None
        if more:
            others = (piece["dialogue"] != piece["dialogue"][-1]).arg_true()
            whole = int(others[-1]) + 1 if len(others) else 0
            rest = piece[list(range(whole, len(piece)))]  # a copy: a slice would hold on to the whole piece
            piece = piece[:whole]
        if len(piece):
            yield piece
        del piece


def _require_ids(dialogue: pl.Series, path: Path) -> None:
    kind = dialogue.dtype
    if not kind.is_integer() and kind not in (pl.String, pl.Categorical, pl.Enum):
        raise DialgaugeError(f"the column 'dialogue' must hold strings or whole numbers, not {kind}", file=str(path))
    if dialogue.null_count():
        raise DialgaugeError("the column 'dialogue' must have no null", file=str(path))


def _require_integers(frame: pl.DataFrame, columns: list[str], path: Path) -> None:
    """A null or a fraction is no code, and must not become a number that looks like one."""
    integers = (
        pl.Int8, pl.Int16, pl.Int32, pl.Int64,
        pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64,
    )  # fmt: skip
    for name in columns:
        if frame[name].dtype not in integers or frame[name].null_count():
            raise DialgaugeError(
                f"the column '{name}' must hold whole numbers of at most 64 bits and no null", file=str(path)
            )


def _blocks(first: Flags) -> Iterator[tuple[int, int]]:
    """Stretches of whole dialogues of about :data:`_BLOCK` turns."""
    begins = np.append(np.flatnonzero(first), len(first))
    start = 0
    while start < len(first):
        index = int(np.searchsorted(begins, start + _BLOCK, side="right")) - 1
        stop = int(begins[index]) if begins[index] > start else int(begins[index + 1])
        yield start, stop
        start = stop
