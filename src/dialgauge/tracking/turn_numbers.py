"""How predictions number the user's turns: refused where they fit gold only when counted otherwise, recounted as asked.

What is looked at, :class:`TurnFit` and :class:`WordFit`, adds up over dialogues.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.text import Note, counted
from dialgauge.tracking.encode import Codes, EncodedDialogues, Flags, Kind, kind_carried
from dialgauge.tracking.guard_findings import FEW, NOTABLE, TURNS, GuardFinding
from dialgauge.tracking.guards import notes_of
from dialgauge.tracking.inputs import SystemInput

_TURN_OFFSET = re.compile(r"[0-9]{1,2}")


class Counting(NamedTuple):
    """How predictions number the user's turns: ``number = shift + step * turn``."""

    shift: int = 0
    step: int = 1

    def __str__(self) -> str:
        parts = {"shift": self.shift, "step": self.step if self.step > 1 else 0}
        return ",".join(f"{name}={value}" for name, value in parts.items() if value) or "shift=0"

    def sentence(self) -> str:
        if self == AS_WRITTEN:
            return "as they were read, so nothing changed"
        if self.shift < 0:
            return "numbered from 0, and the first turn of each dialogue is left out"
        by = " in steps of 2, as where the system's turns are counted too" if self.step == 2 else ""
        return f"numbered from {self.shift}{by}"

    def place(self, number: int) -> int | None:
        """The user turn of a number; None where it is that of no user turn."""
        turn, rest = divmod(number - self.shift, self.step)
        return turn if turn >= 0 and not rest else None


AS_WRITTEN = Counting()
_OTHERS = (Counting(1, 1), Counting(0, 2), Counting(1, 2))
#: Turns read as numbered from 1 of which each dialogue lacks the first.
_LATE = Counting(-1)
_COUNTINGS = (AS_WRITTEN, *_OTHERS, _LATE)


def counting_named(text: str) -> Counting:
    """A way of counting: ``shift=1``, ``step=2``, or both with a comma between."""
    values = {"shift": 0, "step": 1}
    for part in text.split(","):
        name, _, number = part.strip().partition("=")
        if name not in values or not _TURN_OFFSET.fullmatch(number):
            lacking = "; a file that lacks the first turns needs them, with empty states" if "=-" in text else ""
            raise DialgaugeError(f"--turns must be auto, shift=1, step=2 or shift=1,step=2 (got '{text}'){lacking}")
        values[name] = int(number)
    if values["step"] not in (1, 2):
        raise DialgaugeError(f"--turns: a step is 1 or 2 (got {values['step']})")
    return Counting(**values)


class TurnRows(NamedTuple):
    """The user turns of some dialogues: where each dialogue begins, which turns have a state, slots that it fills."""

    keys: list[str]
    offsets: Codes
    stated: Flags
    filled: Codes

    @classmethod
    def of(cls, dialogues: Iterable[Dialogue], kind: Kind) -> TurnRows:
        """Of states of a kind; dialogues in a file are gone through once."""
        keys: list[str] = []
        offsets, filled = array("i", [0]), array("i")
        for dialogue in dialogues:
            keys.append(dialogue_key(dialogue.id))
            for turn in dialogue.turns:
                if turn.speaker == "user":
                    state = getattr(turn, kind)
                    filled.append(-1 if state is None else 0 if kind == "judged" else sum(map(len, state.values())))
            offsets.append(len(filled))
        slots = np.array(filled, np.int32)
        return cls(keys, np.array(offsets, np.int32), slots >= 0, np.maximum(slots, 0))

    @classmethod
    def encoded(cls, side: EncodedDialogues) -> TurnRows:
        """The same of dialogues that were encoded."""
        filled = np.bincount(side.cell_row, minlength=len(side.present)).astype(np.int32)
        if side.kind == "judged":
            filled = np.zeros_like(filled)
        return cls(side.keys, side.offsets, side.present, filled)


class TurnFit(Struct, frozen=True):
    """How the turns of predictions fit those of gold, in dialogues that both have, by way of counting."""

    dialogues: int = 0
    gold_turns: int = 0
    #: Gold turns without a prediction.
    lacking: int = 0
    #: Dialogues that have predictions for gold's turns, and turns that fill as many slots as gold does.
    fitting: tuple[int, ...] = (0,) * len(_COUNTINGS)
    alike: tuple[int, ...] = (0,) * len(_COUNTINGS)
    #: Of the dialogues that have predictions for gold's turns, those that have not as they are written.
    otherwise: tuple[int, ...] = (0,) * len(_COUNTINGS)

    @classmethod
    def of(cls, gold: TurnRows, predicted: TurnRows) -> TurnFit:
        places = {key: index for index, key in enumerate(gold.keys)}
        both = [(places[key], index) for index, key in enumerate(predicted.keys) if key in places]
        if not both:
            return cls()
        golden, theirs = np.array(both).T
        begins, sizes = gold.offsets[golden], np.diff(gold.offsets)[golden]
        of_gold, numbers, _ = _turns(gold, golden)
        stated = np.bincount(of_gold, minlength=len(both))
        first = np.bincount(of_gold[numbers == 0], minlength=len(both))
        dialogue, number, row = _turns(predicted, theirs)
        fits, alike, lacking = list[Flags](), [], 0
        for counting in _COUNTINGS:
            turn, rest = np.divmod(number - counting.shift, counting.step)
            counted = (turn >= 0) & (rest == 0)
            inside = counted & (turn < sizes[dialogue])
            at = begins[dialogue[inside]] + turn[inside]
            there = np.bincount(dialogue[counted], minlength=len(both))
            hit = np.bincount(dialogue[inside][gold.stated[at]], minlength=len(both))
            wanted = stated - first if counting.shift < 0 else stated
            fits.append((there == wanted) & (hit == wanted))
            alike.append(int((gold.filled[at] == predicted.filled[row[inside]]).sum()))
            if counting == AS_WRITTEN:
                lacking = int((stated - hit).sum())
        fitting, otherwise = (
            tuple(int(each.sum()) for each in of) for of in (fits, [each & ~fits[0] for each in fits])
        )
        return cls(len(both), int(sizes.sum()), lacking, fitting, tuple(alike), otherwise)

    def better(self, *, from_1: bool) -> tuple[Counting, int] | None:
        """The counting under which nearly all dialogues have gold's turns, where as written most do not, and how many.

        ``from_1``: the file numbers from 1 what was read as its first turns.
        """
        fitting, alike = (dict(zip(_COUNTINGS, counts, strict=True)) for counts in (self.fitting, self.alike))
        if 2 * fitting[AS_WRITTEN] >= self.dialogues:
            return None
        ways = (*_OTHERS, _LATE) if from_1 else _OTHERS
        best = max(ways, key=lambda counting: (fitting[counting], alike[counting]))
        if 10 * fitting[best] < 9 * self.dialogues:
            return None
        fills_alike = self.gold_turns >= FEW and alike[best] > alike[AS_WRITTEN]
        return (best, fitting[best]) if (self.lacking and best.shift >= 0) or fills_alike else None

    def findings(self, numbered_from: int) -> list[GuardFinding]:
        """Turns that fit gold if counted otherwise, with the option that does."""
        better = self.better(from_1=bool(numbered_from))
        if better is None:
            return self._mixed()
        named = Counting(better[0].shift + numbered_from) if better[0].step == 1 else better[0]
        advice = f"to score them that way, add --turns {named} (in Python turns='{named}')"
        return [GuardFinding(TURNS, self._sentence(*better), stops=True, advice=advice)]

    def _mixed(self) -> list[GuardFinding]:
        """Dialogues that fit gold only if they are counted otherwise than the rest."""
        otherwise, as_written = dict(zip(_COUNTINGS, self.otherwise, strict=True)), self.fitting[0]
        other = max(_OTHERS, key=otherwise.__getitem__)
        if otherwise[other] < 2 or as_written < otherwise[other]:
            return []
        message = (
            f"{self._sentence(other, otherwise[other])}, and those of {as_written:,} as they are: number the turns of "
            "all dialogues in one way"
        )
        return [GuardFinding(TURNS, message, stops=otherwise[other] >= NOTABLE * self.dialogues)]

    def _sentence(self, counting: Counting, fitting: int) -> str:
        of = counted(self.dialogues, "dialogue")
        return f"the turns of {fitting:,} of {of} fit gold if they are {counting.sentence()}"

    def recounted(self, counting: Counting, fitting: int) -> Note:
        """What is said where they were counted so."""
        return Note("renumbered", f"{self._sentence(counting, fitting)}, and were counted that way")


def _turns(side: TurnRows, dialogues: Codes) -> tuple[Codes, Codes, Codes]:
    """Of the turns of some dialogues that have a state: the dialogue by place among these, number, and row."""
    sizes = np.diff(side.offsets)[dialogues]
    dialogue = np.repeat(np.arange(len(dialogues)), sizes)
    number = np.arange(len(dialogue)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    row = side.offsets[dialogues][dialogue] + number
    stated = side.stated[row]
    return dialogue[stated], number[stated], row[stated]


def turn_findings(gold: EncodedDialogues, predicted: EncodedDialogues, numbered_from: int) -> list[GuardFinding]:
    """What there is to say of how the turns of predictions are counted."""
    return TurnFit.of(TurnRows.encoded(gold), TurnRows.encoded(predicted)).findings(numbered_from)


class WordFit(Struct, frozen=True):
    """How many predictions stand beside what the user says in their turn of gold, and how many beside another turn."""

    right: int = 0
    moved: int = 0
    #: Of those, the first by name: the dialogue, the turn as it was read, and that of gold.
    first: tuple[str, int, int] | None = None

    @classmethod
    def of(cls, gold: Iterable[Dialogue], said: Mapping[str, Mapping[int, str]]) -> WordFit:
        """``said`` has the user's words by dialogue and user turn."""
        words = {dialogue_key(name): turns for name, turns in said.items()}
        right, moved = 0, list[tuple[str, int, int]]()
        for dialogue in gold if words else ():
            theirs = words.get(dialogue_key(dialogue.id), {})
            ours = [_bare_words(turn.text) for turn in dialogue.user_turns()] if theirs else []
            for number, text in theirs.items():
                bare = _bare_words(text)
                if bare and number < len(ours) and ours[number] == bare:
                    right += 1
                elif bare and bare in ours:
                    moved.append((dialogue.id, number, ours.index(bare)))
        return cls(right, len(moved), min(moved, default=None))

    @classmethod
    def joined(cls, parts: Sequence[WordFit]) -> WordFit:
        first = min((part.first for part in parts if part.first), default=None)
        return cls(sum(part.right for part in parts), sum(part.moved for part in parts), first)

    def findings(self) -> list[GuardFinding]:
        """Predictions beside what the user says in another turn of gold."""
        if self.first is None:
            return []
        name, number, meant = self.first
        known = self.right + self.moved
        message = (
            f"{counted(self.moved, 'prediction')} of {known:,} with the user's words would be scored as another turn "
            f"than the one in which gold has these words, first turn {number} of dialogue {name}, which is gold's turn "
            f"{meant}; put the turns of each dialogue in order, or give each gold's number in a field 'turn'"
        )
        return [GuardFinding(TURNS, message, stops=self.moved >= max(2, NOTABLE * known))]


def _bare_words(text: str | None) -> str:
    return "".join(filter(str.isalnum, (text or "").lower()))


def require_turn_numbers(gold: SystemInput, system: SystemInput, accept: Collection[str]) -> None:
    """The same before anything is encoded: an error where turns fit gold only when counted otherwise."""
    notes_of(_fit(gold, system).findings(system.numbered_from), system.name, accept)


def counted_turns(gold: SystemInput | None, system: SystemInput, turns: str) -> tuple[SystemInput, list[Note]]:
    """The system with its turns counted as asked, or as fits gold."""
    if turns != "auto":
        dialogues, note = counted_as_asked(system.dialogues, turns, system.numbered_from)
        return replace(system, dialogues=dialogues), [note]
    if gold is None:
        return system, []
    fit = _fit(gold, system)
    better = fit.better(from_1=bool(system.numbered_from))
    if better is None:
        return system, []
    return replace(system, dialogues=_recounted(system.dialogues, better[0])), [fit.recounted(*better)]


def _fit(gold: SystemInput, system: SystemInput) -> TurnFit:
    kind = kind_carried(system.dialogues) or "predicted"
    return TurnFit.of(TurnRows.of(gold.dialogues, "state"), TurnRows.of(system.dialogues, kind))


def counted_as_asked(dialogues: Iterable[Dialogue], turns: str, numbered_from: int) -> tuple[list[Dialogue], Note]:
    """Dialogues whose first turns a file numbers so, counted in a way that was named."""
    counting = counting_named(turns)
    if counting.step == 1:
        counting = Counting(counting.shift - numbered_from)
    return _recounted(dialogues, counting), Note("renumbered", f"turns counted as asked: {counting.sentence()}")


def _recounted(dialogues: Iterable[Dialogue], counting: Counting) -> list[Dialogue]:
    recounted = []
    for dialogue in dialogues:
        places = {counting.place(number): turn for number, turn in enumerate(dialogue.user_turns())}
        length = max((place for place in places if place is not None), default=-1) + 1
        turns = tuple(places.get(place, Turn(speaker="user")) for place in range(length))
        recounted.append(replace(dialogue, turns=turns))
    return recounted
