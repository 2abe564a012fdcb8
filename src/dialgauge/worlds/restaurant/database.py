"""The database behind a dialog: what an API call finds, and what the dialog of a simulated user shows of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from dialgauge.dialogue import Fact
from dialgauge.worlds.restaurant.goals import UserPlan
from dialgauge.worlds.restaurant.knowledge import WorldLexicon, lexicon_of
from dialgauge.worlds.restaurant.phrases import API_CALL

#: Fields of a call, in order: tasks 1-5 name four, task 6 names three and writes an open field as its relation.
_FIELDS = {4: ("R_cuisine", "R_location", "R_number", "R_price"), 3: ("R_cuisine", "R_location", "R_price")}


class FactDatabase:
    """Facts that API calls are answered from. They are read when they are first needed."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._given = facts

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """All facts in their order."""
        return tuple(self._given)

    @cached_property
    def lexicon(self) -> WorldLexicon:
        """The words that mean something here."""
        return lexicon_of(self.facts)

    @cached_property
    def _entities(self) -> list[tuple[frozenset[tuple[str, str]], tuple[Fact, ...]]]:
        facts: dict[str, list[Fact]] = {}
        for fact in self.facts:
            facts.setdefault(fact.entity, []).append(fact)
        return [(frozenset((fact.relation, fact.value) for fact in own), tuple(own)) for own in facts.values()]

    def opening(self) -> tuple[Fact, ...] | None:
        """Nothing is shown before somebody calls."""
        return None

    def answer(self, text: str) -> tuple[Fact, ...] | None:
        """The facts of all entities that match a call, ``()`` when there are none, None when it is no call."""
        words = text.split()
        fields = _FIELDS.get(len(words) - 1)
        if not words or words[0] != API_CALL or fields is None:
            return None
        wanted = {(field, value) for field, value in zip(fields, words[1:], strict=True) if value != field}
        return tuple(fact for properties, facts in self._entities if wanted <= properties for fact in facts)


class PlannedAnswers:
    """What the dialog of a simulated user shows: what its plan drew, in that order.

    Tasks 3 and 4 begin with it. Task 5 shows it after the call for the final request; the call before the updates is
    not answered, and neither are those of tasks 1 and 2.
    """

    def __init__(self, plan: UserPlan) -> None:
        self._plan = plan
        self._call = [API_CALL, *plan.final] if plan.task == 5 else None

    def opening(self) -> tuple[Fact, ...] | None:
        """What is shown before the first turn."""
        return self._plan.facts if self._plan.task in (3, 4) else None

    def answer(self, text: str) -> tuple[Fact, ...] | None:
        """What is shown after the bot said this."""
        if self._call is None or API_CALL not in text or text.split() != self._call:
            return None
        return self._plan.facts
