"""The scores of several systems over the dialogues and measures they share.

Every scoring run has a table ``dialogue_scores`` (dialogue, measure, num, den); the value of a measure is the sum of
``num`` over the sum of ``den``. A comparison needs nothing else: trackers, rankers, users and lab runs compare alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.stats import Floats, divide
from dialgauge.tracking import number

if TYPE_CHECKING:
    import polars

COLUMNS = ("dialogue", "measure", "num", "den")

#: One row of ``dialogue_scores``; a damaged table may hold nulls.
Row: TypeAlias = tuple[str, str, float | None, float | None]


@dataclass(frozen=True)
class Scores:
    """``num`` and ``den`` are (systems, measures, dialogues); a dialogue without a score is 0 / 0."""

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    dialogues: tuple[str, ...]
    num: Floats
    den: Floats
    signatures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def values(self) -> Floats:
        """The corpus values, (systems, measures); NaN where a measure is undefined."""
        return divide(self.num.sum(axis=2), self.den.sum(axis=2))

    @property
    def by_dialogue(self) -> Floats:
        """The dialogues' own values, (systems, measures, dialogues); NaN where a dialogue has no score."""
        return divide(self.num, self.den)

    def only(self, measures: Sequence[str]) -> Scores:
        """The same scores with these measures, in this order."""
        places = [self.place_of_measure(name) for name in measures]
        return replace(self, measures=tuple(measures), num=self.num[:, places], den=self.den[:, places])

    def without(self, dialogues: Collection[str], why: str) -> Scores:
        """The same scores but for these dialogues, with a note that says why."""
        gone = set(dialogues)
        places = [place for place, name in enumerate(self.dialogues) if name not in gone]
        return replace(
            self,
            dialogues=tuple(self.dialogues[place] for place in places),
            num=self.num[:, :, places],
            den=self.den[:, :, places],
            notes=(*self.notes, why),
        )

    def place_of_measure(self, name: str) -> int:
        """Where a measure stands."""
        if name not in self.measures:
            raise DialgaugeError(f"the systems share no measure '{name}'.{nearest(name, self.measures)}")
        return self.measures.index(name)

    def place_of_system(self, name: str) -> int:
        """Where a system stands."""
        if name not in self.systems:
            raise DialgaugeError(f"there is no system '{name}' in this comparison.{nearest(name, self.systems)}")
        return self.systems.index(name)


def scores_from_frames(
    frames: Mapping[str, polars.DataFrame], *, signatures: Mapping[str, str] | None = None
) -> Scores:
    """Scores from tables ``dialogue_scores``, by system."""
    for name, frame in frames.items():
        missing = [column for column in COLUMNS if column not in frame.columns]
        if missing:
            raise DialgaugeError(f"the scores of '{name}' have no column {', '.join(missing)}")
    rows = {name: frame.select(COLUMNS).iter_rows() for name, frame in frames.items()}
    return scores_from_rows(rows, signatures=signatures)


def scores_from_rows(rows: Mapping[str, Iterable[Row]], *, signatures: Mapping[str, str] | None = None) -> Scores:
    """Scores from (dialogue, measure, num, den) rows, by system; rows of the same dialogue and measure add up."""
    if len(rows) < 2:
        raise DialgaugeError("a comparison needs at least two systems; give two prediction files or runs, or more")
    tables = [_summed(table) for table in rows.values()]
    systems = tuple(rows)
    names = [dict.fromkeys(measure for _, measure in table) for table in tables]
    shared = [name for name in names[0] if all(name in others for others in names)]
    measures = tuple(sorted(shared, key=_is_part))
    ids = [{dialogue_key(dialogue): dialogue for dialogue, _ in table} for table in tables]
    keys = tuple(key for key in ids[0] if all(key in others for others in ids))
    _nothing_shared(systems, ids, keys, names, measures)
    cells = np.zeros((2, len(systems), len(measures), len(keys)))
    column, line = (
        {name: place for place, name in enumerate(keys)},
        {name: place for place, name in enumerate(measures)},
    )
    for place, table in enumerate(tables):
        for (dialogue, measure), sums in table.items():
            key = dialogue_key(dialogue)
            if key in column and measure in line:
                cells[:, place, line[measure], column[key]] += sums
    given = signatures or {}
    return Scores(
        systems,
        measures,
        tuple(ids[0][key] for key in keys),
        cells[0],
        cells[1],
        tuple(given.get(name, "") for name in systems),
        tuple(_left_out(systems, names, measures, ids, keys)),
    )


def _is_part(measure: str) -> bool:
    """Whether it measures a part, as in ``I-GCDF1[hotel]``: such measures stand after those of the whole."""
    return measure.endswith("]")


def _summed(rows: Iterable[Row]) -> dict[tuple[str, str], tuple[float, float]]:
    sums: dict[tuple[str, str], tuple[float, float]] = {}
    for dialogue, measure, num, den in rows:
        if num is None or den is None or not (np.isfinite(num) and np.isfinite(den)):
            raise DialgaugeError(f"the score of {measure} is not a number; score it again", dialogue=dialogue)
        before = sums.get((dialogue, measure), (0.0, 0.0))
        sums[dialogue, measure] = (before[0] + num, before[1] + den)
    return sums


def _nothing_shared(
    systems: Sequence[str],
    ids: Sequence[Mapping[str, str]],
    keys: Sequence[str],
    names: Sequence[Mapping[str, None]],
    measures: Sequence[str],
) -> None:
    if not keys:
        examples = "; ".join(
            f"'{name}' has ids like '{next(iter(known.values()), '(none)')}'"
            for name, known in zip(systems, ids, strict=True)
        )
        raise DialgaugeError(f"the systems share no dialogue: {examples}; score them on the same set")
    if not measures:
        lists = "; ".join(f"'{name}' has {', '.join(known)}" for name, known in zip(systems, names, strict=True))
        raise DialgaugeError(f"the systems share no measure: {lists}; score them with the same measures")


def _left_out(
    systems: Sequence[str],
    names: Sequence[Mapping[str, None]],
    measures: Sequence[str],
    ids: Sequence[Mapping[str, str]],
    keys: Sequence[str],
) -> list[str]:
    """What is not compared, and why, a sentence each."""
    shared, notes = set(measures), []
    for name, known, their_ids in zip(systems, names, ids, strict=True):
        alone = [measure for measure in known if measure not in shared]
        if alone:
            notes.append(f"only some systems have these measures of {name}, so they are left out: {', '.join(alone)}")
        if len(their_ids) > len(keys):
            share = f"{len(their_ids) - len(keys):,} of {number(len(their_ids), 'dialogue')}"
            notes.append(f"{share} of {name} left out: not every system has scores there")
    return notes
