"""What the knowledge base answers to an API call, for talking to a bot outside the recorded dialogs."""

from __future__ import annotations

from collections.abc import Iterable

from dialgauge.dialogue import Fact

#: Fields of a call, in order: tasks 1-5 name four, task 6 names three and writes an open field as its relation.
_FIELDS = {4: ("R_cuisine", "R_location", "R_number", "R_price"), 3: ("R_cuisine", "R_location", "R_price")}


class FactDatabase:
    """The facts of a task, found by API call."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._facts: dict[str, list[Fact]] = {}
        for fact in facts:
            self._facts.setdefault(fact.entity, []).append(fact)

    def answer(self, reply: str) -> tuple[Fact, ...] | None:
        """The facts of all entities that match a call, ``()`` when there are none, None when it is no call."""
        words = reply.split()
        fields = _FIELDS.get(len(words) - 1)
        if not words or words[0] != "api_call" or fields is None:
            return None
        wanted = {(field, value) for field, value in zip(fields, words[1:], strict=True) if value != field}
        found = []
        for facts in self._facts.values():
            if wanted <= {(fact.relation, fact.value) for fact in facts}:
                found.extend(facts)
        return tuple(found)
