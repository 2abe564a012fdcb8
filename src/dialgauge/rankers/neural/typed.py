"""Our own ranker: a memory network over typed entities that knows what the dialog says of each.

Words of the dialog that are entities of the knowledge base are replaced by a word for their kind, and left out of the
candidates, so nothing can be learned about a particular restaurant or town. What a candidate's entities have to do with
the dialog comes in as features (``TypedEntities``), each with a weight of its own. All weights are learned.

What facts say is in the features, so facts that follow each other are one memory, however many they are.
"""

from __future__ import annotations

import msgspec

from dialgauge.formats import NO_RESULT
from dialgauge.rankers.episode import Line, Point
from dialgauge.rankers.neural.config import Hyperparameters
from dialgauge.rankers.neural.entities import TypedEntities
from dialgauge.rankers.neural.learned import all_settings_but
from dialgauge.rankers.neural.memn2n import MemN2N

#: What a list of facts reads as.
SOME_FACTS = Line("fact", "<facts>")


class Typed(MemN2N):
    """A memory network over typed entities."""

    name = "typed"
    summary = "memory network over typed entities (ours)"
    settable = all_settings_but("history", "shared", "entity_dropout", "preset")
    entities: TypedEntities

    def preset_config(self, task: int, preset: str) -> Hyperparameters:
        return Hyperparameters(dim=32, hops=3)

    def learn_world(self) -> TypedEntities:
        return TypedEntities(self.facts, self.schema)

    def line_words(self, text: str) -> list[str]:
        return self.entities.typed(text)

    def candidate_words(self, text: str) -> list[str]:
        return self.entities.bare(text)

    def view(self, point: Point) -> Point:
        """Facts that follow each other, except "no result", become one line."""
        history: list[Line] = []
        for line in point.history:
            shown = SOME_FACTS if line.kind == "fact" and line.text != NO_RESULT else line
            if shown is not SOME_FACTS or history[-1:] != [SOME_FACTS]:
                history.append(shown)
        return msgspec.structs.replace(point, history=tuple(history))
