"""Which turns are scored: gold and predictions put side by side, by dialogue id and user-turn number.

Nothing is zipped by position in a file and nothing is dropped in silence: every turn that is on one side only is
counted in the :class:`TurnCoverage`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

import numpy as np
from msgspec import Struct

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Count, Coverage
from dialgauge.text import Note, counted
from dialgauge.tracking.encode import Codes, EncodedDialogues, Flags

#: ``intersection`` scores what both sides have; ``empty`` scores absent predictions as the empty state.
Policy: TypeAlias = Literal["intersection", "empty"]
POLICIES: tuple[Policy, ...] = ("intersection", "empty")


class TurnCoverage(Struct, frozen=True, kw_only=True):
    """What was scored and what was not, by name where that helps; :meth:`counts` is the run's coverage."""

    policy: Policy
    gold_dialogues: int
    gold_turns: int
    predicted_dialogues: int
    predicted_turns: int
    dialogues: int
    turns: int
    #: Gold without prediction, and prediction without gold.
    missing_dialogues: list[str] = []
    missing_turns: int = 0
    extra_dialogues: list[str] = []
    extra_turns: int = 0
    #: Dialogues whose number of turns differs: id to (gold, predicted).
    turn_count_mismatch: dict[str, tuple[int, int]] = {}
    excluded: list[str] = []
    #: Ids that were to be excluded, and that gold does not have.
    not_found: list[str] = []
    #: For files of one-domain predictions: the domains that gold was cut down to.
    only_domains: list[str] = []

    def counts(self) -> Coverage:
        """How much was scored, in dialogues and in turns."""
        return Coverage(
            {
                "dialogues": Count(
                    expected=self.gold_dialogues, read=self.predicted_dialogues, scored=self.dialogues, failed=0
                ),
                "turns": Count(expected=self.gold_turns, read=self.predicted_turns, scored=self.turns, failed=0),
            },
            self.policy,
        )

    def sentence(self) -> str:
        text = (
            f"{self.turns:,} of {counted(self.gold_turns, 'gold turn')} in {counted(self.dialogues, 'dialogue')} scored"
        )
        if self.missing_turns:
            treated = "scored as empty" if self.policy == "empty" else "left out"
            whole = len(self.missing_dialogues)
            dialogues = f" ({counted(whole, 'whole dialogue')})" if whole else ""
            text += f"; no prediction for {counted(self.missing_turns, 'turn')}{dialogues}: {treated}"
        if self.extra_turns:
            text += f"; no gold for {counted(self.extra_turns, 'predicted turn')}: ignored"
        if self.turn_count_mismatch:
            text += f"; turn counts differ in {counted(len(self.turn_count_mismatch), 'dialogue')}"
        if self.excluded:
            text += f"; excluded: {', '.join(self.excluded)}"
        if self.not_found:
            text += f"; not in gold, so not excluded: {', '.join(self.not_found)}"
        if self.only_domains:
            text += f"; gold restricted to the domains predicted: {', '.join(self.only_domains)}"
        return text

    def note(self) -> Note:
        """The same as a note: ``coverage`` where all is well, else ``partial_coverage``."""
        limits = (self.missing_turns, self.extra_turns, self.turn_count_mismatch, self.excluded, self.not_found)
        return Note("partial_coverage" if any(limits) or self.only_domains else "coverage", self.sentence())


class Aligned(Struct, frozen=True, eq=False):
    """The scored turns: for each its row on both sides (-1: no prediction), its dialogue and its number."""

    ids: list[str]
    dialogue: Codes
    turn: Codes
    #: The first scored turn of its dialogue, and where each dialogue begins, with the number of turns at the end.
    first: Flags
    offsets: Codes
    gold_row: Codes
    predicted_row: Codes
    coverage: TurnCoverage

    def __len__(self) -> int:
        return len(self.turn)


def align(
    gold: EncodedDialogues,
    predicted: EncodedDialogues,
    policy: Policy,
    exclude: Collection[str] = (),
    only_domains: Collection[str] = (),
) -> Aligned:
    """Put two sides together; ``only_domains`` is what gold was cut down to before, for the record.

    That they share no turn is an error, unless there are no predictions at all and they count as empty.
    """
    left_out = {dialogue_key(identifier) for identifier in exclude}
    there = predicted.places()
    chosen = [(index, there.get(key, -1)) for index, key in enumerate(gold.keys) if key not in left_out]
    gold_row, predicted_row, turn, dialogue = _rows(gold, predicted, chosen)
    has_gold = gold.present[gold_row]
    has_both = has_gold & (predicted_row >= 0)
    has_both[has_both] = predicted.present[predicted_row[has_both]]
    kept = has_gold if policy == "empty" else has_both
    first = np.ones(int(kept.sum()), bool)
    first[1:] = np.diff(dialogue[kept]) != 0
    starts = np.flatnonzero(first).astype(np.int32)
    known = set(gold.keys)
    not_excluded = np.repeat(np.array([key not in left_out for key in predicted.keys], bool), predicted.sizes)
    coverage = TurnCoverage(
        policy=policy,
        gold_dialogues=len(chosen),
        gold_turns=int(has_gold.sum()),
        predicted_dialogues=len(predicted.ids),
        predicted_turns=int(predicted.present.sum()),
        dialogues=len(starts),
        turns=len(first),
        missing_dialogues=[gold.ids[index] for index, other in chosen if other < 0],
        missing_turns=int((has_gold & ~has_both).sum()),
        extra_dialogues=[name for name, key in zip(predicted.ids, predicted.keys, strict=True) if key not in known],
        extra_turns=int((predicted.present & not_excluded).sum() - has_both.sum()),
        turn_count_mismatch={
            gold.ids[index]: (int(gold.sizes[index]), int(predicted.sizes[other]))
            for index, other in chosen
            if other >= 0 and gold.sizes[index] != predicted.sizes[other]
        },
        excluded=[name for name, key in zip(gold.ids, gold.keys, strict=True) if key in left_out],
        not_found=[name for name in exclude if dialogue_key(name) not in known],
        only_domains=sorted(set(only_domains)),
    )
    if not has_both.any() and not (policy == "empty" and not predicted.ids):
        raise _nothing_shared(coverage)
    return Aligned(
        [gold.ids[number] for number in dialogue[kept][starts].tolist()],
        (np.cumsum(first) - 1).astype(np.int32),
        turn[kept],
        first,
        np.append(starts, np.int32(kept.sum())),
        gold_row[kept],
        np.where(has_both, predicted_row, -1)[kept].astype(np.int32),
        coverage,
    )


def _rows(
    gold: EncodedDialogues, predicted: EncodedDialogues, chosen: list[tuple[int, int]]
) -> tuple[Codes, Codes, Codes, Codes]:
    """For every turn of the chosen gold dialogues: both rows, the turn's number, the gold dialogue's position."""
    places = np.array([pair[0] for pair in chosen], np.int32).reshape(-1)
    others = np.array([pair[1] for pair in chosen], np.int32).reshape(-1)
    sizes = gold.sizes[places]
    dialogue = np.repeat(places, sizes)
    ends = np.cumsum(sizes)
    turn = np.arange(int(sizes.sum()), dtype=np.int32) - np.repeat(ends - sizes, sizes).astype(np.int32)
    other = np.repeat(others, sizes)
    gold_row = gold.offsets[dialogue] + turn
    their_size = np.where(other >= 0, np.append(predicted.sizes, 0)[other], 0)
    predicted_row = np.where(turn < their_size, predicted.offsets[other] + turn, -1)
    return gold_row, predicted_row.astype(np.int32), turn, dialogue


def _nothing_shared(coverage: TurnCoverage) -> DialgaugeError:
    """Why there is no turn to score."""
    missing, extra = coverage.missing_dialogues, coverage.extra_dialogues
    if len(missing) < coverage.gold_dialogues:
        return DialgaugeError("gold and predictions share dialogues but no turn that has a state on both sides")
    if len(extra) < coverage.predicted_dialogues or (coverage.excluded and not extra):
        return DialgaugeError("every dialogue that gold and predictions share is excluded, so nothing is left to score")
    gold, predicted = (next(iter(names), "(none)") for names in ([*missing, *coverage.excluded], extra))
    return DialgaugeError(
        f"gold and predictions share no dialogue: gold has ids like '{gold}', the predictions like '{predicted}'",
        advice="check that both are from the same dataset and split, or rename dialogues with --rename FILE",
        example=f"# rename.yaml, to be completed\ndialogues:\n  {predicted!r}: {gold!r}",
    )
