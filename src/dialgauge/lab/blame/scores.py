"""What a run keeps of blame: measures with intervals, and two tables.

``blame``        dialogue, domain, side, cause, turn, code (of ``reasons.WORDS`` or of the reasons of tasks), arguments,
                 first (is this what the whole conversation is blamed on?)
``blame_sides``  dialogue, success, user_erred, system_erred
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dialgauge.lab.blame.reasons import CAUSES, SIDES
from dialgauge.measures import (
    Card,
    Measure,
    Resampling,
    Scores,
    Settings,
    SystemEvidence,
    UnitNumbers,
    Units,
    score_systems,
)
from dialgauge.runs import frame_from_rows

if TYPE_CHECKING:
    import polars

    from dialgauge.lab.blame.attribution import ConversationBlame

BLAME, BLAME_SIDES = "blame", "blame_sides"
CELLS = ("neither", "user_only", "system_only", "both")
_EVERY_PART = tuple(dict.fromkeys((*CAUSES, *SIDES)))
#: What can happen only where an assistant speaks freely.
_OF_THE_LAB = ("not_understood", "lab")
_SOURCE = "dialgauge: the first broken link of the chain from goal to outcome"


class BlameEvidence(Units):
    """Conversations with what is blamed for them; a unit is a conversation. A part is a cause, a side or a cell."""

    named = ""

    def __init__(self, blamed: Sequence[ConversationBlame]) -> None:
        self.blamed = blamed
        self.dialogues = len(blamed)
        self.dialogue: NDArray[np.integer[Any]] = np.arange(self.dialogues)

    def part(self, name: str) -> BlameEvidence:
        """What one cause, side or cell is blamed for; which of them a measure knows is its own affair."""
        other = copy.copy(self)
        other.named = name
        return other

    def by_goal(self) -> BlameEvidence:
        """The same, all trials of a goal as one unit of resampling."""
        other = copy.copy(self)
        numbers = {goal: number for number, goal in enumerate(dict.fromkeys(blame.goal for blame in self.blamed))}
        other.dialogue = np.array([numbers[blame.goal] for blame in self.blamed], np.int64)
        other.dialogues = len(numbers)
        return other


def cell_of(blame: ConversationBlame) -> str | None:
    """The cell of the table of who erred; None where the record does not tell."""
    if blame.success is None or blame.user_erred is None or blame.system_erred is None:
        return None
    if blame.user_erred:
        return "both" if blame.system_erred else "user_only"
    return "system_only" if blame.system_erred else "neither"


def _share(evidence: BlameEvidence, pair: Callable[[ConversationBlame], tuple[bool, bool]]) -> UnitNumbers:
    pairs = [pair(blame) for blame in evidence.blamed]
    above, below = np.array([(hit and counts, counts) for hit, counts in pairs], np.float64).reshape(-1, 2).T
    return above, below


def _blame(evidence: BlameEvidence, settings: Settings) -> UnitNumbers:
    part = evidence.named

    def hit(blame: ConversationBlame) -> tuple[bool, bool]:
        found = blame.link
        if found is None:
            return False, False
        return (part in (found.cause, found.side) if part else found.cause != "unclear"), True

    return _share(evidence, hit)


def _erred(evidence: BlameEvidence, settings: Settings) -> UnitNumbers:
    part = evidence.named

    def hit(blame: ConversationBlame) -> tuple[bool, bool]:
        cell = cell_of(blame)
        return (cell == part if part else cell != "neither"), cell is not None

    return _share(evidence, hit)


def _faultless(evidence: BlameEvidence, settings: Settings) -> UnitNumbers:
    return _share(
        evidence, lambda blame: (blame.success is True, blame.success is not None and blame.user_erred is False)
    )


def _not_understood(evidence: BlameEvidence, settings: Settings) -> UnitNumbers:
    return _share(evidence, lambda blame: (not blame.understood, blame.success is not None))


def _obstacle(parts: tuple[str, ...]) -> Callable[[Any, Settings], str | None]:
    def why(evidence: Any, settings: Settings) -> str | None:
        if not isinstance(evidence, BlameEvidence):
            return "it applies only to lab conversations"
        part = evidence.named
        return f"its parts are {', '.join(parts)}, not '{part}'" if part and part not in parts else None

    return why


BLAME_CARD = Card(
    name="Blame",
    family="lab",
    title="failures by cause",
    summary="Share of the failed conversations whose first broken link is of this cause or side, as Blame[never_said] "
    "or Blame[user]; without one, of those whose cause is known.",
    formula="failed conversations blamed on it / failed conversations",
    source=_SOURCE,
    parts=True,
    units=_blame,
    higher_is_better=None,
    obstacle=_obstacle(_EVERY_PART),
)
ERRED_CARD = Card(
    name="Erred",
    family="lab",
    title="who erred",
    summary="Share of all conversations, failed or not, in which the user, the system, both or neither broke a link "
    "that was never repaired, as Erred[user_only]; without one, either of them.",
    formula="conversations of the cell / conversations whose record tells",
    source=_SOURCE,
    parts=True,
    units=_erred,
    higher_is_better=None,
    obstacle=_obstacle(CELLS),
)
FAULTLESS_CARD = Card(
    name="SuccessOfFaultlessUser",
    family="lab",
    title="success with a faultless user",
    summary="Strict success among the conversations in which the user broke no link, neither by what it left unsaid "
    "nor by what it misheard.",
    formula="strict successes / conversations in which the user broke no link",
    source=_SOURCE,
    units=_faultless,
    obstacle=_obstacle(()),
)
NOT_UNDERSTOOD_CARD = Card(
    name="NotUnderstood",
    family="lab",
    title="not understood",
    summary="Share of the conversations that are not done as far as the lab could read, without evidence that they "
    "were not: strict success lies between Success and Success plus this.",
    formula="conversations that fail only by what the lab did not understand / conversations",
    source=_SOURCE,
    units=_not_understood,
    higher_is_better=False,
    obstacle=_obstacle(()),
)
BLAME_CARDS: tuple[Card[Any], ...] = (BLAME_CARD, ERRED_CARD, FAULTLESS_CARD, NOT_UNDERSTOOD_CARD)


def score_blame(
    blamed: Sequence[ConversationBlame], *, reads_text: bool, resamples: int = 1000, seed: int = 0
) -> Scores:
    """The measures, with intervals from resampling goals. Shares of failures are left out where nothing failed."""
    evidence = BlameEvidence(blamed)
    measures: list[Measure[Any]] = [Measure(FAULTLESS_CARD), *(Measure(ERRED_CARD, part=cell) for cell in CELLS)]
    measures += [Measure(NOT_UNDERSTOOD_CARD)] if reads_text else []
    if any(blame.domains for blame in blamed):
        read = any(link.side == "lab" for blame in blamed for link in blame.domains.values())
        parts = _EVERY_PART if read else [part for part in _EVERY_PART if part not in _OF_THE_LAB]
        measures += [Measure(BLAME_CARD), *(Measure(BLAME_CARD, part=part) for part in parts)]
    measures = [measure for measure in measures if math.isfinite(measure.value(evidence))]
    system = SystemEvidence(
        evidence=evidence,
        measures=measures,
        dialogues=[blame.dialogue for blame in blamed],
        resampled=evidence.by_goal(),
    )
    return score_systems([system], Resampling(resamples, seed) if resamples and measures else None)[0]


def blame_frames(blamed: Sequence[ConversationBlame]) -> Mapping[str, Callable[[], polars.DataFrame]]:
    """The functions that make the tables when they are asked for."""
    return {BLAME: lambda: _blame_frame(blamed), BLAME_SIDES: lambda: _sides_frame(blamed)}


def _blame_frame(blamed: Sequence[ConversationBlame]) -> polars.DataFrame:
    import polars as pl

    schema: dict[str, Any] = dict.fromkeys(("dialogue", "domain", "side", "cause"), pl.String)
    schema |= {"turn": pl.Int64, "code": pl.String, "arguments": pl.List(pl.String), "first": pl.Boolean}
    rows = (
        (
            each.dialogue,
            domain or None,
            link.side,
            link.cause,
            link.turn,
            link.code,
            link.arguments,
            domain == each.first,
        )
        for each in blamed
        for domain, link in each.domains.items()
    )
    return frame_from_rows(rows, schema)


def _sides_frame(blamed: Sequence[ConversationBlame]) -> polars.DataFrame:
    import polars as pl

    schema = {"dialogue": pl.String, "success": pl.Boolean, "user_erred": pl.Boolean, "system_erred": pl.Boolean}
    rows = [(blame.dialogue, blame.success, blame.user_erred, blame.system_erred) for blame in blamed]
    return pl.DataFrame(rows, schema=schema, orient="row")
