"""What the users add to a comparison: where two say something else, or are judged otherwise for the same words."""

from __future__ import annotations

from typing import TypeAlias

from dialgauge.comparison import ComparisonView, ItemDifference, TurnDivergence, dialogue_rows
from dialgauge.runs import Run
from dialgauge.users.acts import EQUALS

_VERDICTS = "verdicts"
_NONE = "-"

#: By turn and item (measure, domain, what it is about) the verdicts; no turn: of what was never said.
_Verdicts: TypeAlias = dict[int | None, dict[str, str]]


class UsersView(ComparisonView):
    """Users diverge at the first turn with another text; in the same conversation, at the first other verdict."""

    def divergence(self, first: Run, second: Run, dialogue: str) -> TurnDivergence | None:
        """Where two users diverge in what they say, or else in what is made of it."""
        spoken = super().divergence(first, second, dialogue)
        if spoken is not None or any(_VERDICTS not in run.tables for run in (first, second)):
            return spoken
        mine, theirs = (_verdicts(run, dialogue) for run in (first, second))
        unlike = [turn for turn in {**mine, **theirs} if mine.get(turn) != theirs.get(turn)]
        if not unlike:
            return None
        turn = min(unlike, key=lambda number: (number is None, number))  # what was never said comes last
        own, other = mine.get(turn, {}), theirs.get(turn, {})
        items = (ItemDifference(item, None, own.get(item, _NONE), other.get(item, _NONE)) for item in {**own, **other})
        last = max(0, dialogue_rows(first, "turns", dialogue).height - 1)
        return TurnDivergence(
            last if turn is None else turn, len(unlike), tuple(item for item in items if item.first != item.second)
        )


def _verdicts(run: Run, dialogue: str) -> _Verdicts:
    verdicts: _Verdicts = {}
    rows = dialogue_rows(run, _VERDICTS, dialogue).select("turn", "measure", "domain", "item", "verdict")
    for turn, measure, domain, item, verdict in rows.iter_rows():
        verdicts.setdefault(turn, {})[f"{measure} {domain}: {item.replace(EQUALS, '=')}"] = verdict
    return verdicts


VIEW = UsersView()
