"""Is the folder of a domain sound? Everything is read, goals are drawn where there is no file; nothing is run."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from dialgauge.report import Page, Table
from dialgauge.text import counted
from dialgauge.worlds.domain.drawing import DrawnShares, draw_goals, shares_of
from dialgauge.worlds.domain.goals import DomainGoal, read_goals
from dialgauge.worlds.domain.loader import read_domain
from dialgauge.worlds.domain.schema import Domain
from dialgauge.worlds.domain.search import DomainSearch

#: Goals drawn to see what they are like.
_DRAWN = 100


class DomainCheck(Struct, frozen=True):
    """A sound domain, and its goals."""

    domain: Domain
    goals: list[DomainGoal]
    shares: DrawnShares

    @property
    def drawn(self) -> bool:
        """Are there no goals but those drawn?"""
        return self.domain.goals_file is None

    def page(self) -> Page:
        """Its services, and what its goals are like."""
        tables = {}
        if self.domain.services:
            tables = {"services": _services(self.domain), "goals": shares_table(self.shares, drawn=self.drawn)}
        return Page(title=f"Domain {self.domain.name}", verdict=f"{self.domain.name} is sound.", tables=tables)


def check_domain(folder: str | Path) -> DomainCheck:
    """Read a folder and look at its goals; what is wrong is an error."""
    domain = read_domain(Path(folder))
    if not domain.services:
        return DomainCheck(domain, [], DrawnShares())
    search = DomainSearch(domain)
    if domain.goals_file is not None:
        goals = read_goals(domain, search)
        return DomainCheck(domain, goals, shares_of(domain, goals))
    drawn = draw_goals(domain, search, _DRAWN)
    return DomainCheck(domain, drawn.goals, drawn.shares)


def shares_table(shares: DrawnShares, *, drawn: bool) -> Table:
    """What goals ask for, and how often it could be asked for."""
    title = f"{counted(shares.goals, 'goal')}, {'drawn' if drawn else 'from the file'}"
    table = Table(title, ["what", "count", "of"])
    table.add("booked", shares.booked, f"{counted(shares.bookable, 'task')} with rows that can be booked")
    table.add("fails first", shares.fails_first, f"{counted(shares.wished, 'task')} with wishes")
    table.add("refused first", shares.refused_first, counted(shares.bookings, "booking"))
    if shares.repeated:
        table.notes.append(f"The domain has no more distinct goals: {counted(shares.repeated, 'goal')} repeat others.")
    return table


def _services(domain: Domain) -> Table:
    table = Table(f"Domain {domain.name}", ["service", "rows", "search", "answer", "takes", "gives"])
    for name, service in domain.services.items():
        search = ", ".join(
            service.declared(slot) if rule.match == "same" else f"{service.declared(slot)} ({rule.match})"
            for slot, rule in service.search.items()
        )
        answer = ", ".join(map(service.declared, service.answer))
        takes = ", ".join(map(service.declared, service.book.takes)) if service.book else ""
        gives = ", ".join(map(service.declared, service.book.gives)) if service.book else ""
        table.add(name, None if service.rows is None else len(service.rows), search, answer, takes, gives)
    return table
