"""Where a memory network looks before it answers: the weight of every memory in every hop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.rankers.episode import AnsweredPoint, Line, Point
from dialgauge.rankers.ranker import ReplyModel


class Attention(msgspec.Struct, frozen=True, kw_only=True):
    """The memories of a point, their weights per hop, and what the model then said."""

    dialogue: str
    #: The number of the reply in its dialogue, from 0.
    turn: int
    utterance: str
    gold: str
    chosen: str
    memories: tuple[Line, ...]
    #: Per hop one weight for each memory; the weights of a hop sum to 1.
    hops: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, point: Point, chosen: str, hops: Sequence[Sequence[float]]) -> Attention:
        """The attention at a point; a model that is asked does not know the gold reply."""
        return cls(
            dialogue=point.dialogue,
            turn=point.turn,
            utterance=point.utterance,
            gold=point.reply if isinstance(point, AnsweredPoint) else "",
            chosen=chosen,
            memories=point.history,
            hops=tuple(tuple(hop) for hop in hops),
        )

    def top(self, most: int | None = None) -> list[int]:
        """The places of the memories with the largest weights (the mean over hops), in the dialog's order."""
        total = [sum(hop[place] for hop in self.hops) for place in range(len(self.memories))]
        places = sorted(range(len(self.memories)), key=lambda place: -total[place])
        return sorted(places if most is None else places[:most])


@runtime_checkable
class Attentive(Protocol):
    """A ranker that can say where it looks."""

    def attention(self, point: Point) -> Attention:
        """Where it looks before it answers at a point."""


def attend(ranker: ReplyModel, points: Iterable[AnsweredPoint]) -> list[Attention]:
    """Where a ranker looks at each point; one that has no memories is an error."""
    if not isinstance(ranker, Attentive):
        raise DialgaugeError(f"the model {ranker.name} has no attention to show; memory networks have")
    return [msgspec.structs.replace(ranker.attention(point.question), gold=point.reply) for point in points]
