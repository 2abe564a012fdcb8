"""The scores of several systems over the dialogues and measures they share.

Every run has a table ``dialogue_scores`` (dialogue, measure, num, den); the value of a measure is the sum of ``num``
over the sum of ``den``. A comparison needs nothing else: trackers, rankers, users and lab runs compare alike. A run
with values of several sums, such as BLEU, has a table ``dialogue_sums`` too (dialogue, measure, place, sum), and the
card of the measure says what value they make.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError, UnknownNameError, nearest
from dialgauge.measures import Score, Signature
from dialgauge.report import part_of
from dialgauge.stats import Floats, VectorSums, divide
from dialgauge.text import REMARK, Note

if TYPE_CHECKING:
    import polars

COLUMNS = ("dialogue", "measure", "num", "den")

#: A system's scores by measure, which say unit, direction and signature.
RunScores: TypeAlias = Mapping[str, Score]
Codes: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class PairedScores:
    """``num`` and ``den`` are (systems, measures, dialogues); a dialogue without a score is 0 / 0, and so is every
    dialogue on a measure that is in ``several``."""

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    dialogues: tuple[str, ...]
    num: Floats
    den: Floats
    #: By system what its run says of each measure; empty where nobody says anything.
    run_scores: tuple[RunScores, ...] = ()
    notes: tuple[str, ...] = ()
    #: How many dialogues any system has, and by system how many of these it lacks.
    all_dialogues: int = 0
    lacking: tuple[int, ...] = ()
    #: Dialogues that are left out because the systems were scored on different turns of them.
    unlike_turns: int = 0
    #: The measures whose values come from several sums.
    several: Mapping[str, VectorSums] = field(default_factory=dict)

    @property
    def values(self) -> Floats:
        """The corpus values, (systems, measures); NaN where a measure is undefined."""
        values = divide(self.num.sum(axis=2), self.den.sum(axis=2))
        for measure, sums in self.several.items():
            values[:, self.place_of_measure(measure)] = sums.values
        return values

    @property
    def by_dialogue(self) -> Floats:
        """The dialogues' own values, (systems, measures, dialogues); NaN where a dialogue has no score."""
        values = divide(self.num, self.den)
        for measure, sums in self.several.items():
            values[:, self.place_of_measure(measure)] = sums.by_dialogue
        return values

    def contributions(self, measure: str) -> Floats:
        """What each dialogue adds to a measure, (systems, dialogues); of a ratio, these add up to its value."""
        if measure in self.several:
            return self.several[measure].contributions
        column = self.place_of_measure(measure)
        return np.nan_to_num(divide(self.num[:, column], self.den[:, column].sum(axis=1, keepdims=True)))

    def run_score(self, measure: str) -> Score | None:
        """What the first run that knows the measure says of it: unit, direction, bounds."""
        return next((scores[measure] for scores in self.run_scores if measure in scores), None)

    def higher_is_better(self, measure: str) -> bool | None:
        """Whether more is better, as the runs say: None where nothing says it; yes where there are no runs."""
        score = self.run_score(measure)
        return True if score is None else score.higher_is_better

    def bounds(self, measure: str) -> tuple[float, float]:
        """The lowest and the highest value of a measure in any run, infinite where nobody says them."""
        known = [scores[measure] for scores in self.run_scores if measure in scores]
        low = min((-np.inf if score.lower is None else score.lower for score in known), default=-np.inf)
        high = max((np.inf if score.upper is None else score.upper for score in known), default=np.inf)
        return low, high

    def signature(self, system: str, measure: str) -> Signature:
        """What the run of a system says a score depends on; nothing but the version where it says nothing."""
        scores = self.run_scores[self.place_of_system(system)] if self.run_scores else {}
        written = scores[measure].signature if measure in scores else ""
        return Signature.parse(written) if written else Signature()

    def only(self, measures: Sequence[str]) -> PairedScores:
        """The same scores with these measures, in this order."""
        places = [self.place_of_measure(name) for name in measures]
        several = {name: sums for name, sums in self.several.items() if name in measures}
        chosen = self.num[:, places], self.den[:, places]
        return replace(self, measures=tuple(measures), num=chosen[0], den=chosen[1], several=several)

    def without(self, dialogues: Collection[str]) -> PairedScores:
        """The same scores but for these dialogues."""
        gone = set(dialogues)
        places = [index for index, name in enumerate(self.dialogues) if name not in gone]
        return replace(
            self,
            dialogues=tuple(self.dialogues[index] for index in places),
            num=self.num[:, :, places],
            den=self.den[:, :, places],
            several={name: sums.at(places) for name, sums in self.several.items()},
        )

    def uncounted(self, measure: str, dialogues: Collection[str]) -> PairedScores:
        """The same scores, but for one measure no system has these dialogues."""
        keys = {dialogue_key(name) for name in dialogues}
        places = [index for index, name in enumerate(self.dialogues) if dialogue_key(name) in keys]
        num, den = self.num.copy(), self.den.copy()
        for part in (num, den):
            part[:, self.place_of_measure(measure), places] = 0.0
        several = dict(self.several)
        if measure in several:
            several[measure] = several[measure].without(places)
        return replace(self, num=num, den=den, several=several)

    def place_of_measure(self, name: str) -> int:
        if name not in self.measures:
            raise no_shared_measure(name, self.measures)
        return self.measures.index(name)

    def place_of_system(self, name: str) -> int:
        if name not in self.systems:
            raise UnknownNameError(f"there is no system '{name}' in this comparison.{nearest(name, self.systems)}")
        return self.systems.index(name)


def no_shared_measure(name: str, measures: Iterable[str]) -> UnknownNameError:
    """The error for a measure that not all systems have."""
    return UnknownNameError(f"the systems share no measure '{name}'.{nearest(name, measures)}")


def paired_scores(
    frames: Mapping[str, polars.DataFrame], run_scores: Mapping[str, RunScores] | None = None
) -> PairedScores:
    """Scores from tables ``dialogue_scores`` by system; rows of the same dialogue and measure add up.

    Dialogues stand in the order of the first system.
    """
    sums = [_Sums(name, frame) for name, frame in frames.items()]
    keys = tuple(key for key in sums[0].ids if all(key in other.ids for other in sums))
    shared = [name for name in sums[0].measures if all(name in other.measures for other in sums)]
    measures = tuple(sorted(shared, key=lambda measure: bool(part_of(measure))))  # parts stand last
    everything = len({key for unit_sums in sums for key in unit_sums.ids})
    _refuse_nothing_shared(sums, keys, measures)
    num, den = (np.stack([unit_sums.cells(part, measures, keys) for unit_sums in sums]) for part in ("num", "den"))
    return PairedScores(
        systems=tuple(frames),
        measures=measures,
        dialogues=tuple(sums[0].ids[key] for key in keys),
        num=num,
        den=den,
        run_scores=tuple((run_scores or {}).get(name, {}) for name in frames),
        notes=tuple(_left_out(sums, measures)),
        all_dialogues=everything,
        lacking=tuple(everything - len(unit_sums.ids) for unit_sums in sums),
    )


def on_the_same_turns(scores: PairedScores, turns: Mapping[str, polars.DataFrame]) -> PairedScores:
    """The scores without dialogues of which systems were scored on different turns; their number is kept.

    A paired test compares like with like: a system without the last turns of a dialogue has an easier dialogue.
    ``turns`` has a row (``dialogue``, ``turn``) for every scored turn, by system.
    """
    columns = [(*coded_texts(table["dialogue"]), table["turn"].to_numpy()) for table in turns.values()]
    names, *first = columns[0]
    if all(names == other[0] and all(map(np.array_equal, first, other[1:])) for other in columns):
        return scores
    numbers = [_turn_numbers(*each) for each in columns]
    unlike = [name for name in scores.dialogues if len({number.get(dialogue_key(name)) for number in numbers}) > 1]
    if not unlike:
        return scores
    if len(unlike) == len(scores.dialogues):
        raise DialgaugeError(
            "in every dialogue the systems were scored on different turns; predict all turns, or score those without "
            "prediction as empty states (score --coverage empty)"
        )
    return replace(scores.without(unlike), unlike_turns=len(unlike))


def shared_turns(frame: polars.DataFrame, dialogues: Collection[str]) -> polars.DataFrame:
    """The rows of a table that belong to the compared dialogues."""
    import polars

    keys = {dialogue_key(name) for name in dialogues}
    names = [name for name in frame["dialogue"].unique() if dialogue_key(name) in keys]
    return frame.filter(polars.col("dialogue").is_in(names))


class _Sums:
    """One system's table ``dialogue_scores`` as columns of codes and numbers."""

    def __init__(self, system: str, table: polars.DataFrame) -> None:
        missing = [column for column in COLUMNS if column not in table.columns]
        if missing:
            raise DialgaugeError(f"the scores of '{system}' have no column {', '.join(missing)}")
        self.system = system
        self._names, self._dialogues = coded_texts(table["dialogue"])
        self._measures, self._measured = coded_texts(table["measure"])
        self._parts = {part: table[part].to_numpy().astype(np.float64, copy=False) for part in ("num", "den")}
        for row in np.flatnonzero(~(np.isfinite(self._parts["num"]) & np.isfinite(self._parts["den"])))[:1].tolist():
            measure, dialogue = self._measures[self._measured[row]], self._names[self._dialogues[row]]
            raise DialgaugeError(f"the score of {measure} is not a number; score it again", dialogue=dialogue)
        self._keys = [dialogue_key(name) for name in self._names]
        #: Key to the id as the table writes it; where it writes it in two ways, the second.
        self.ids = dict(zip(self._keys, self._names, strict=True))
        self.measures = dict.fromkeys(self._measures)

    def cells(self, part: str, measures: Sequence[str], keys: Sequence[str]) -> Floats:
        """The sums of a column, (measures, dialogues); summed in the order of the rows."""
        rows, columns = len(self._measures), len(self._names)
        positions = self._measured * columns + self._dialogues
        flat = np.bincount(positions, weights=self._parts[part], minlength=rows * columns)
        chosen = flat.reshape(rows, columns)[[self._measures.index(name) for name in measures]]
        table: Floats = np.zeros((len(measures), len(keys)))
        column_of = {key: index for index, key in enumerate(keys)}
        targets = np.array([column_of.get(key, -1) for key in self._keys], np.int64)
        known = targets >= 0
        np.add.at(table.T, targets[known], chosen[:, known].T)
        return table


def coded_texts(column: polars.Series) -> tuple[list[str], Codes]:
    """The distinct texts of a column in the order in which they first appear, and row by row which of them it is."""
    import polars

    names = column.unique(maintain_order=True)
    places = polars.Series(range(len(names)), dtype=polars.Int64)
    codes = column.replace_strict(names, places, return_dtype=polars.Int64)
    return names.to_list(), codes.to_numpy(writable=True)


def _turn_numbers(names: Sequence[str], codes: Codes, turns: Codes) -> dict[str, tuple[int, ...]]:
    numbers: list[list[int]] = [[] for _ in names]
    for code, turn in zip(codes.tolist(), turns.tolist(), strict=True):
        numbers[code].append(turn)
    return {dialogue_key(name): tuple(each) for name, each in zip(names, numbers, strict=True)}


def _refuse_nothing_shared(sums: Sequence[_Sums], keys: Sequence[str], measures: Sequence[str]) -> None:
    if empty := [f"'{unit_sums.system}'" for unit_sums in sums if not unit_sums.ids]:
        raise DialgaugeError(f"the systems share no dialogue: nothing of {' and '.join(empty)} was scored")
    if not keys:
        examples = "; ".join(
            f"'{unit_sums.system}' has ids like '{next(iter(unit_sums.ids.values()))}'" for unit_sums in sums
        )
        raise DialgaugeError(f"the systems share no dialogue: {examples}; score them on the same set")
    if not measures:
        lists = "; ".join(f"'{unit_sums.system}' has {', '.join(unit_sums.measures)}" for unit_sums in sums)
        raise DialgaugeError(f"the systems share no measure: {lists}; score them with the same measures")


def _left_out(sums: Sequence[_Sums], measures: Sequence[str]) -> list[str]:
    """Which measures are not compared, and why, a sentence each."""
    notes: list[str] = []
    for unit_sums in sums:
        alone = [measure for measure in unit_sums.measures if measure not in measures]
        if alone:
            listed = ", ".join(alone)
            message = f"only some systems have these measures of {unit_sums.system}, so they are left out: {listed}"
            notes.append(Note(REMARK, message))
    return notes
