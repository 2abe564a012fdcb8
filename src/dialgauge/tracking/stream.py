"""Scoring from Parquet a piece at a time: states as integer codes, one row per turn.

The table has the columns ``dialogue`` (any type; the turns of a dialogue stand together), ``turn`` (the number of the
user turn) and for every slot ``gold:DOMAIN-SLOT`` and ``pred:DOMAIN-SLOT``: 0 for an absent slot, and otherwise a
number such that equal numbers are equal values. :func:`write_codes` makes such a table; so can any other tool. The
slots of the table are the inventory of slot accuracy, unless the file's metadata says another number of slots under
``dialgauge.inventory``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic
from dialgauge.tracking.counts import Counts, SlotTally, TurnCounts, count
from dialgauge.tracking.encode import Coder, Codes, Flags
from dialgauge.tracking.states import StateComparison, Stretch

if TYPE_CHECKING:
    import polars

GOLD, PREDICTED = "gold:", "pred:"
#: Where the file says how many slots there are, if they are not as many as it has columns for.
INVENTORY = "dialgauge.inventory"

#: A stretch of rows: the first, and the one after the last.
Span: TypeAlias = tuple[int, int]

#: Turns read at a time, which bounds memory; codes of them that are read at a time, so that they stay in the cache; and
#: turns counted and measured at a time. Each was the fastest of several.
CHUNK = 1 << 18
_CELLS = 1 << 21
_BLOCK = 60_000


def write_codes(comparison: StateComparison, path: Path) -> None:
    """Write a comparison as codes. Predictions that match gold without being equal get the gold code.

    Where a slot has alternatives, one number cannot always say with which values of this and of the previous turn it
    agrees; if the codes would give other counts than the values do, it is an error.
    """
    import polars

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
        place = {number: row for row, number in enumerate(stretch.slots.tolist())}
        for prefix, side in ((GOLD, gold), (PREDICTED, predicted)):
            columns |= {f"{prefix}{name}": side[place[n]] if n in place else absent for n, name in enumerate(names)}
        frames.append(polars.DataFrame(columns))
    with atomic(path) as scratch:
        polars.concat(frames).write_parquet(
            scratch, row_group_size=CHUNK, metadata={INVENTORY: str(comparison.inventory)}
        )


def _codes(comparison: StateComparison, stretch: Stretch) -> tuple[Codes, Codes]:
    coder = comparison.coder
    gold, predicted = _steady(coder, stretch.gold, stretch.first), _steady(coder, stretch.predicted, stretch.first)
    predicted = np.where(coder.same(stretch.gold, stretch.predicted), gold, predicted)
    if not coder.identity:
        written = count(gold, predicted, stretch.first)
        meant = count(stretch.gold, stretch.predicted, stretch.first, coder)
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
    return any(name.startswith(GOLD) for name in _schema(path))


def code_slots(path: Path) -> list[str]:
    """The slots of a table of codes, which must have both columns of each."""
    return _slots(_schema(path), path)


def code_inventory(path: Path) -> int:
    """T of slot accuracy: what the file says, else the number of its slots."""
    import polars

    with _readable(path):
        said = polars.read_parquet_metadata(path).get(INVENTORY, "")
    return int(said) if said.isdecimal() and len(said) < 10 else len(code_slots(path))


def _schema(path: Path) -> polars.Schema:
    import polars

    with _readable(path):
        return polars.scan_parquet(path, glob=False).collect_schema()


def _slots(columns: Iterable[str], path: Path) -> list[str]:
    names = list(columns)
    gold = [name.removeprefix(GOLD) for name in names if name.startswith(GOLD)]
    predicted = {name.removeprefix(PREDICTED) for name in names if name.startswith(PREDICTED)}
    if not gold or set(gold) != predicted:
        raise DialgaugeError(
            f"every slot needs a column '{GOLD}SLOT' and a column '{PREDICTED}SLOT'; unpaired: "
            f"{', '.join(sorted(set(gold) ^ predicted)) or 'there are none'}",
            file=str(path),
        )
    return gold


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    import polars

    try:
        yield
    except (OSError, polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        reason = " ".join(str(error).split())[:300]
        raise DialgaugeError(f"it cannot be read as Parquet ({reason})", file=str(path)) from error


def stream_counts(
    path: Path, *, inventory: int, chunk: int = CHUNK, exclude: Collection[str] = ()
) -> Iterator[tuple[polars.Series, Counts]]:
    """Ids and counts of whole dialogues, some thousand turns at a time, without those that are excluded."""
    import polars

    table = _CodeTable(path)
    for rows in table.spans(chunk):
        heading = table.read(["dialogue", "turn"], rows)
        kept = _kept(heading["dialogue"], exclude) if exclude else None
        heading = heading if kept is None else heading.filter(polars.Series(kept))
        if len(heading):
            yield from _measured(table, rows, heading, kept, inventory)


def _measured(
    table: _CodeTable, rows: Span, heading: polars.DataFrame, kept: Flags | None, inventory: int
) -> Iterator[tuple[polars.Series, Counts]]:
    """The turns of a span in blocks; slots are read and added a few at a time, so that they are still in the cache."""
    import polars

    dialogue, turn = heading["dialogue"], heading["turn"].to_numpy().astype(np.int32, copy=False)
    first: Flags = np.ones(len(heading), bool)
    first[1:] = (dialogue[1:] != dialogue[:-1]).to_numpy()
    blocks = [(slice(start, stop), SlotTally(first[start:stop], len(table.slots))) for start, stop in _blocks(first)]
    for gold, predicted in table.codes(rows):
        left, right = (gold, predicted) if kept is None else (gold[kept], predicted[kept])
        for block, tally in blocks:
            tally.add(left[block], right[block])
    for block, tally in blocks:
        begins = first[block]
        counts = Counts(
            turns=tally.counts(),
            dialogue=np.cumsum(begins) - 1,
            turn=turn[block],
            first=begins,
            inventory=inventory,
        )
        yield dialogue[block].filter(polars.Series(begins)).cast(polars.String), counts


class _CodeTable:
    """A table of codes on disk, of which some rows of some columns are read at a time."""

    def __init__(self, path: Path) -> None:
        import polars

        self._path = path
        schema = _schema(path)
        self.slots = _slots(schema, path)
        if "dialogue" not in schema or "turn" not in schema:
            raise DialgaugeError("a table of codes needs the columns 'dialogue' and 'turn'", file=str(path))
        self._numbers = {"turn", *(f"{side}{slot}" for side in (GOLD, PREDICTED) for slot in self.slots)}
        with _readable(path):
            self._lazy = polars.scan_parquet(path, glob=False)
            self._rows = int(self._lazy.select(polars.len()).collect().item())
        if not self._rows:
            raise DialgaugeError("the table has no rows", file=str(path))

    def read(self, columns: Sequence[str], rows: Span) -> polars.DataFrame:
        """Some rows of some columns. A null or a fraction is no code, and must not become one."""
        with _readable(self._path):
            frame = self._lazy.slice(rows[0], rows[1] - rows[0]).select(columns).collect()
        for name in columns:
            if name not in self._numbers:
                if frame[name].null_count():
                    raise DialgaugeError(f"the column '{name}' must have no null", file=str(self._path))
            elif not frame[name].dtype.is_integer() or frame[name].null_count():
                raise DialgaugeError(f"the column '{name}' must hold whole numbers and no null", file=str(self._path))
        return frame

    def spans(self, chunk: int) -> Iterator[Span]:
        """Rows of whole dialogues: about so many, and ending close to its multiples, where files have their groups."""
        start, end = 0, chunk
        while end < self._rows:
            dialogue = self.read(["dialogue"], (start, end))["dialogue"]
            others = (dialogue != dialogue[-1]).arg_true()
            if len(others):  # the last dialogue may go on, and begins the next span
                whole = start + int(others[-1]) + 1
                yield start, whole
                start = whole
            end += chunk
        yield start, self._rows

    def codes(self, rows: Span) -> Iterator[tuple[Codes, Codes]]:
        """Gold and predicted codes of one slot after the other."""
        size = max(1, _CELLS // (2 * (rows[1] - rows[0])))
        for place in range(0, len(self.slots), size):
            slots = self.slots[place : place + size]
            frame = self.read([f"{side}{slot}" for slot in slots for side in (GOLD, PREDICTED)], rows)
            for slot in slots:
                yield frame[f"{GOLD}{slot}"].to_numpy(), frame[f"{PREDICTED}{slot}"].to_numpy()


def _kept(dialogue: polars.Series, exclude: Collection[str]) -> Flags:
    """Which rows are of dialogues that are not excluded."""
    import polars

    left_out = {dialogue_key(one) for one in exclude}
    ids = dialogue.cast(polars.String)
    distinct = ids.unique(maintain_order=True)
    wanted = distinct.filter(polars.Series([dialogue_key(one) not in left_out for one in distinct]))
    return ids.is_in(wanted.implode()).to_numpy()


def _blocks(first: Flags) -> Iterator[tuple[int, int]]:
    """Stretches of whole dialogues of about :data:`_BLOCK` turns."""
    begins = np.append(np.flatnonzero(first), len(first))
    start = 0
    while start < len(first):
        place = int(np.searchsorted(begins, start + _BLOCK, side="right")) - 1
        stop = int(begins[place]) if begins[place] > start else int(begins[place + 1])
        yield start, stop
        start = stop
