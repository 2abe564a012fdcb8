"""The match types of a learned ranker, from the knowledge base to tensors of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from dialgauge.dialogue import Fact
from dialgauge.responses.neural.encoding import Ints
from dialgauge.responses.neural.matching import Matcher
from dialgauge.responses.neural.memory_network import Matches
from dialgauge.responses.neural.schema import Schema


class MatchTypes:
    """Which candidates can match in which types, kept on the device of the model."""

    def __init__(self, facts: Sequence[Fact], schema: Schema, candidates: Sequence[str]) -> None:
        self.matcher = Matcher.of_facts(facts, schema, candidates)

    @property
    def kinds(self) -> int:
        """How many types there are."""
        return len(self.matcher.kinds)

    def matches(self, contexts: Sequence[Ints], tensor: Callable[[NDArray[Any]], Tensor]) -> Matches:
        """The matches of a batch; ``contexts`` holds the entities each point mentions."""
        present = np.zeros((len(contexts), self.matcher.entities), dtype=np.float32)
        for row, numbers in enumerate(contexts):
            present[row, numbers] = 1.0
        return Matches(tensor(present), *(tensor(column) for column in self.matcher.pairs))
