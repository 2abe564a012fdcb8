"""The conversations of a run that are worth reading first: by the filter of that name, which the pages offer too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.explorer.dialogue_list import DialogueList
from dialgauge.explorer.dialogue_query import DialogueQuery
from dialgauge.explorer.templating import PageLinks
from dialgauge.presentation import READ_FIRST, Reading, pages_of
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.explorer.library import Library
    from dialgauge.runs import Run

#: Conversations of each kind that are named.
NAMED = 10


class ReadingGroup(Struct, frozen=True):
    """Why some conversations are worth reading, how many these are, and the first of them."""

    why: str
    found: int
    rows: Sequence[Reading]


class ReadingList(Struct, frozen=True):
    """What to read first of a run, and in a sentence how often its users erred where that is known.

    ``first`` is the list that a run has of its own; the groups are filters of its conversations.
    """

    groups: Sequence[ReadingGroup]
    faults: str
    first: Sequence[Reading] = ()

    @property
    def dialogues(self) -> list[str]:
        """The conversations that are named: the run's own list, then those of the groups."""
        return list(dict.fromkeys(row.dialogue for row in (*self.first, *self._of_groups)))

    @property
    def rows(self) -> Sequence[Reading]:
        """The run's own list, or else the first of each group before the second of any."""
        return self.first or self._of_groups

    @property
    def _of_groups(self) -> list[Reading]:
        columns = (group.rows for group in self.groups)
        return [row for each in zip_longest(*columns) for row in each if row is not None]

    def lines(self, most: int) -> Iterator[str]:
        """The run's own list, then each group in a line, with so many conversations, the first with its evidence."""
        if self.first:
            yield from (f"{row.dialogue} ({_evidence(row)})" for row in self.first)
        for group in self.groups:
            named = ", ".join(
                row.dialogue if index or not row.text else f"{row.dialogue} ({_evidence(row)})"
                for index, row in enumerate(group.rows[:most])
            )
            more = f" and {group.found - most:,} more" if group.found > most else ""
            yield f"{group.why} ({group.found:,}): {named}{more}"


def reading_list(library: Library, run: Run) -> ReadingList | None:
    """What to read first of a run; None for kinds without that filter, and where no conversation passes it."""
    pages = pages_of(run.kind)
    facet = next((each for each in pages.facets if each.name == READ_FIRST), None)
    if facet is None or not library.has_table(run, facet.table):
        return None
    listed, evidence = DialogueList(library, run), pages.evidence(library, run)
    groups = [_group(listed, evidence, why, NAMED) for why in pages.read_first]
    filled = [group for group in groups if group.found]
    faults = pages.fault_sentence(library, run)
    first = pages.readings(library, run)
    return ReadingList(filled, faults, first) if filled or faults or first else None


def reading_address(library: Library, run: Run, number: int) -> str:
    """The page of one of the conversations to read first of a run, counted from 1, at the turn to look at."""
    reading = reading_list(library, run)
    rows = reading.rows if reading is not None else []
    if number > len(rows):
        raise DialgaugeError(f"run {run.id} names {counted(len(rows), 'conversation')} to read first, so no {number}")
    row = rows[number - 1]
    return PageLinks().dialogue(run.id, row.dialogue, turn=row.turn)


def reading_groups(library: Library, run: Run, listed: DialogueList, most: int) -> list[ReadingGroup]:
    """What a page says to read first, so many of each group: those of the report, and others that the filter has."""
    pages = listed.pages
    values = next(
        (choice.values for choice in listed.choices(DialogueQuery(), least=1) if choice.name == READ_FIRST), ()
    )
    reasons = dict.fromkeys([*pages.read_first, *(why for why, _ in values)])
    evidence = pages.evidence(library, run) if values else {}
    known = {why for why, _ in values}
    return [_group(listed, evidence, why, most) for why in reasons if why in known]


def _group(listed: DialogueList, evidence: Mapping[str, tuple[int | None, str]], why: str, most: int) -> ReadingGroup:
    order = listed.order(DialogueQuery(facets={READ_FIRST: why}))
    names = [listed.ids[int(index)] for index in order]
    # Those of which there is something to say come first.
    names = sorted(names, key=lambda name: name not in evidence)[:most] if most < NAMED else names[:most]
    seen = ((name, *evidence.get(name, (None, ""))) for name in names)
    return ReadingGroup(why, len(order), [Reading(name, text, turn) for name, turn, text in seen])


def _evidence(row: Reading) -> str:
    return f"{row.where}, {row.text}" if row.where else row.text
