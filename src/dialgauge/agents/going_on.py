"""A user who did not understand goes on.

An assistant that speaks freely is not always understood. The user then gives its next wish; the second time in a row
all its wishes, and says that nothing else matters; in a booking all its values, those it could do without first. It
asks an open question once again, and no more. Where none was named, it says all once more before it leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from dialgauge.agents.town.agenda import AgendaOptions, AgendaUser
from dialgauge.agents.town.task_progress import TaskProgress
from dialgauge.dialogue import DONTCARE, Act
from dialgauge.draws import Draws
from dialgauge.worlds.domain import GENERAL, Domain, DomainGoal, act

#: Questions are asked so often; so many exchanges without progress, and something is given up.
_REQUEST_TRIES, _PATIENCE = 2, 6


class PersistentUser(AgendaUser):
    """The agenda user in front of an assistant whose words it may not understand."""

    def __init__(self, goal: DomainGoal, domain: Domain, draws: Draws, options: AgendaOptions | None = None) -> None:
        known = options or AgendaOptions()
        super().__init__(
            goal,
            domain,
            draws,
            replace(
                known,
                request_tries=min(known.request_tries, _REQUEST_TRIES),
                patience=max(known.patience, _PATIENCE),
            ),
        )
        #: Turns in a row of which nothing was understood.
        self._lost = 0
        #: Services of which nothing was named, and whose wishes were said once more.
        self._insisted: set[str] = set()

    def step(self, heard: Sequence[Act]) -> tuple[Act, ...]:
        """The user's next turn."""
        understood = any(act.domain != GENERAL for act in heard)
        self._lost = 0 if understood or not self._said else self._lost + 1
        return super().step(heard)

    def _bring_forward(self) -> None:
        errand = self._active
        if self._lost > 1 and errand is not None and errand.opened and not errand.finished:
            self._say_all(errand)
        elif self._lost and errand is not None and self._is_unnamed(errand):
            self._insisted.add(errand.domain)
            self._say_wishes(errand)
        if not self._now:
            super()._bring_forward()

    def _is_unnamed(self, errand: TaskProgress) -> bool:
        """Was all said of a service, with nothing to ask or to book, and yet none named, for the first time?"""
        over = errand.finished and not errand.failed and errand.domain not in self._insisted
        return over and bool(errand.wanted) and not errand.entity and errand.service.rows is not None

    def _say_all(self, errand: TaskProgress) -> None:
        """All that is wanted; of a booking all its values, the optional ones first."""
        if errand.pending or (errand.booking is not None and not errand.unsaid and not errand.open):
            self._book(errand)
        elif errand.wanted and errand.entity == "" and errand.open.keys() == set(errand.task.requests):
            self._say_wishes(errand)
            self._lost = 0

    def _say_wishes(self, errand: TaskProgress) -> None:
        self._now += [errand.tell(slot) for slot in errand.wanted]
        self._now.append(act(errand.inform, "", DONTCARE))
