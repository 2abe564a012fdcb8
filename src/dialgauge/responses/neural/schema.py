"""The relations a model knows, in the order that numbers its weights: what stays when it moves to another world."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError, nearest


class Schema(msgspec.Struct, frozen=True):
    """Relations in the order of first appearance, and those of them all of whose values are numbers."""

    relations: tuple[str, ...]
    numeric: tuple[str, ...]

    @classmethod
    def of(cls, facts: Sequence[Fact]) -> Schema:
        """The schema of a knowledge base."""
        numbers: dict[str, bool] = {}
        for fact in facts:
            numbers[fact.relation] = numbers.get(fact.relation, True) and is_number(fact.value)
        return cls(tuple(numbers), tuple(relation for relation, numeric in numbers.items() if numeric))

    def check(self, facts: Sequence[Fact]) -> None:
        """A relation that the model has no weights for is an error."""
        unknown = next((fact.relation for fact in facts if fact.relation not in self.relations), None)
        if unknown is not None:
            raise DialgaugeError(
                f"the knowledge base has the relation {unknown}, which the model never saw."
                f"{nearest(unknown, self.relations)}"
            )


def is_number(text: str) -> bool:
    """Whether a value reads as a decimal number."""
    return text.removeprefix("-").replace(".", "", 1).isdecimal()
