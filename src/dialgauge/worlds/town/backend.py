"""The town's office: search and booking, taxis included, during one conversation."""

from __future__ import annotations

from collections.abc import Mapping

from dialgauge.draws import Draws
from dialgauge.values import same_value
from dialgauge.worlds.domain import Booking, DomainBackend, DomainGoal, DomainSearch, Entity, Found, Service

_REFERENCE, _TOTAL = "reference", "total"


class Backend(DomainBackend):
    """The office during one conversation. It takes any value for a booking, and may hide what is to fail at first."""

    def __init__(
        self, search: DomainSearch, draws: Draws, goal: DomainGoal | None = None, *, mask: bool = False
    ) -> None:
        super().__init__(search, draws, goal)
        self._hidden = {
            task.domain: (task.first, task.info)
            for task in (goal.tasks if goal and mask else ())
            if task.first is not None
        }

    def _found(self, service: str, wishes: Mapping[str, str]) -> Found:
        found = super()._found(service, wishes)
        return self._shown(service, wishes, found) if service in self._hidden else found

    def _faults(self, service: Service, slots: Mapping[str, str]) -> dict[str, str]:
        del service, slots
        return {}

    def _result(self, service: Service, answer: Booking) -> dict[str, str]:
        if service.rows is None or not answer.gives:
            return answer.gives
        result = {_REFERENCE: next(iter(answer.gives.values()))}
        return {**result, _TOTAL: answer.total} if answer.total else result

    def _shown(self, domain: str, constraints: Mapping[str, str], found: Found) -> Found:
        """Without the rows that would satisfy what is to fail, until something else is asked for."""
        first, info = self._hidden[domain]
        changed = [slot for slot, value in first.items() if info.get(slot) != value]
        if any(same_value(constraints.get(slot, ""), info.get(slot, "?")) for slot in changed):
            return found
        rows: tuple[Entity, ...] = tuple(
            row for row in found.rows if self._search.fits(row, first) or not self._search.fits(row, info)
        )
        return Found(rows, found.mismatched)
