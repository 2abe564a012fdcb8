"""Scoring from Parquet a piece at a time: states as integer codes, one row per turn.

The table has the columns ``dialogue`` (any type; the turns of a dialogue stand together), ``turn`` (the number of the
user turn) and for every slot ``gold:DOMAIN-SLOT`` and ``pred:DOMAIN-SLOT``: 0 for an absent slot, and otherwise a
number such that equal numbers are equal values. :func:`write_codes` makes such a table; so can any other tool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic
from dialgauge.measures import Count, Coverage, Measure, Resampling, Rows, Score, Scores, Signature
from dialgauge.tracking.counts import Counts, TurnCounts, count
from dialgauge.tracking.encode import Coder, Codes, Flags
from dialgauge.tracking.states import StateComparison, Stretch

if TYPE_CHECKING:
    import polars

GOLD, PREDICTED = "gold:", "pred:"

#: Turns read at a time, and turns counted at a time: the one bounds memory, the other fits the processor's cache.
CHUNK = 1 << 18
_BLOCK = 1 << 15


def write_codes(comparison: StateComparison, path: Path) -> None:
    """Write a comparison as codes. Predictions that match gold without being equal get the gold code.

    Where a slot has alternatives, one number cannot always say with which values of this and of the previous turn it
    agrees; if the codes would give other counts than the values do, it is an error.
    """
    import polars

    if comparison.flags_only or not comparison.has_gold:
        raise DialgaugeError("there are only correctness flags, and codes need gold and predicted states")
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
        polars.concat(frames).write_parquet(scratch, row_group_size=CHUNK)


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


def score_codes(
    path: Path, measures: Sequence[Measure[Any]], *, inventory: int, chunk: int = CHUNK, how: Resampling | None = None
) -> Scores:
    """The scores of a table of codes, read ``chunk`` turns at a time; with intervals where it is said how.

    Only the sums of every dialogue stay in memory. There are no gold values, so the signature names neither a profile
    nor gold states.
    """
    grouped = [str(measure) for measure in measures if measure.grouped]
    if grouped:
        raise DialgaugeError(f"{', '.join(grouped)}: means over slots or domains are not computed from streams")
    ids: list[str] = []
    sums: list[list[Rows]] = [[] for _ in measures]
    turns, counts = 0, None
    for names, counts in stream_counts(path, inventory=inventory, chunk=chunk):
        ids += names
        turns += len(counts)
        for parts, measure in zip(sums, measures, strict=True):
            parts.append(measure.by_dialogue(counts))
    if counts is None:
        raise DialgaugeError("the table has no rows", file=str(path))
    whole = [(np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])) for parts in sums]
    bounds = _intervals(measures, whole, how) if how else [(None, None)] * len(whole)
    base = Signature(slots=str(inventory), dialogues=str(len(ids)), turns=str(turns))
    units = {"dialogues": len(ids), "turns": turns}
    return Scores(
        dialogues=ids,
        sums={str(measure): rows for measure, rows in zip(measures, whole, strict=True)},
        scores={
            str(measure): Score.of(measure, _ratio(rows), low, high, base.with_(measure=measure.full(counts)))
            for measure, rows, (low, high) in zip(measures, whole, bounds, strict=True)
        },
        coverage=Coverage({unit: Count(expected=n, read=n, scored=n, failed=0) for unit, n in units.items()}),
    )


def _ratio(rows: Rows) -> float:
    above, below = (float(part.sum()) for part in rows)
    return above / below if below else float("nan")


def _intervals(measures: Sequence[Measure[Any]], rows: Sequence[Rows], how: Resampling) -> list[tuple[float, float]]:
    from dialgauge.stats import ratio_intervals

    above, below = (np.stack([row[side] for row in rows]) for side in (0, 1))
    limits = ratio_intervals(
        above,
        below,
        resamples=how.resamples,
        seed=how.seed,
        level=how.level,
        bounds=[(measure.card.lower, measure.card.upper) for measure in measures],
        method=how.method,
    )
    return [(low, high) for low, high in limits.tolist()]


def stream_counts(path: Path, *, inventory: int, chunk: int = CHUNK) -> Iterator[tuple[list[str], Counts]]:
    """Ids and counts of whole dialogues, some thousand turns at a time."""
    import polars

    slots: list[str] | None = None
    for frame in _frames(path, chunk):
        slots = slots or _slots(frame, path)
        dialogue = frame["dialogue"]
        first: Flags = np.ones(len(frame), bool)
        first[1:] = (dialogue.shift(1) != dialogue).to_numpy()[1:]
        _require_integers(frame, ["turn", *(f"{side}{slot}" for side in (GOLD, PREDICTED) for slot in slots)], path)
        turn = frame["turn"].to_numpy().astype(np.int32, copy=False)
        gold, predicted = _dense(frame, GOLD, slots), _dense(frame, PREDICTED, slots)
        for start, stop in _blocks(first):
            begins = first[start:stop]
            names = dialogue[start:stop].filter(polars.Series(begins)).cast(polars.String).to_list()
            yield (
                names,
                Counts(
                    turns=count(gold[:, start:stop], predicted[:, start:stop], begins),
                    dialogue=(np.cumsum(begins) - 1).astype(np.int32),
                    turn=turn[start:stop],
                    first=begins,
                    inventory=inventory,
                ),
            )


def _frames(path: Path, chunk: int) -> Iterator[polars.DataFrame]:
    """The table in pieces that end with a dialogue; what a piece cuts off begins the next."""
    import polars

    try:
        lazy = polars.scan_parquet(path)
        rows = int(lazy.select(polars.len()).collect().item())
    except (OSError, polars.exceptions.PolarsError) as error:
        raise DialgaugeError(
            f"it cannot be read as Parquet ({' '.join(str(error).split())})", file=str(path)
        ) from error
    rest: polars.DataFrame | None = None
    for start in range(0, rows, chunk):
        piece = lazy.slice(start, chunk).collect()
        if "dialogue" not in piece.columns or "turn" not in piece.columns:
            raise DialgaugeError("a table of codes needs the columns 'dialogue' and 'turn'", file=str(path))
        frame = piece if rest is None else polars.concat([rest, piece])
        rest = None
        if start + chunk < rows:
            last = frame["dialogue"][-1]
            others = (frame["dialogue"] != last).to_numpy()
            whole = int(np.flatnonzero(others)[-1]) + 1 if others.any() else 0
            frame, rest = frame[:whole], frame[whole:]
        if len(frame):
            yield frame


def _slots(frame: polars.DataFrame, path: Path) -> list[str]:
    gold = [name.removeprefix(GOLD) for name in frame.columns if name.startswith(GOLD)]
    predicted = {name.removeprefix(PREDICTED) for name in frame.columns if name.startswith(PREDICTED)}
    if not gold or set(gold) != predicted:
        raise DialgaugeError(
            f"every slot needs a column '{GOLD}SLOT' and a column '{PREDICTED}SLOT'; unpaired: "
            f"{', '.join(sorted(set(gold) ^ predicted)) or 'there are none'}",
            file=str(path),
        )
    return gold


def _require_integers(frame: polars.DataFrame, columns: list[str], path: Path) -> None:
    """A null or a fraction is no code, and must not become a number that looks like one."""
    for name in columns:
        if not frame[name].dtype.is_integer() or frame[name].null_count():
            raise DialgaugeError(f"the column '{name}' must hold whole numbers and no null", file=str(path))


def _dense(frame: polars.DataFrame, prefix: str, slots: list[str]) -> Codes:
    dense = np.empty((len(slots), len(frame)), np.int32)
    for row, slot in zip(dense, slots, strict=True):
        row[:] = frame[f"{prefix}{slot}"].to_numpy()
    return dense


def _blocks(first: Flags) -> Iterator[tuple[int, int]]:
    """Stretches of whole dialogues of about the size the cache likes."""
    begins = np.append(np.flatnonzero(first), len(first))
    start = 0
    while start < len(first):
        place = int(np.searchsorted(begins, start + _BLOCK, side="right")) - 1
        stop = int(begins[place]) if begins[place] > start else int(begins[place + 1])
        yield start, stop
        start = stop
