"""What a family has to show of its runs: the contract, and which module fulfils it for which kind of run.

A family's module offers one ``PAGES``: how its dialogues can be filtered, which measures head the list of dialogues,
one dialogue turn by turn, and tables and charts for the page of a run. Its template has three macros:
``overview(view)`` above the turns, ``turn_cell(turn)`` beside each, and ``legend()``; a fourth, ``turn_text(turn)``,
where words are shown in a way of their own. Pages and the report file use the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dialgauge.comparison import view_of

if TYPE_CHECKING:
    import polars

    from dialgauge.dialogue import Dialogue
    from dialgauge.explorer.library import Library
    from dialgauge.report import Table
    from dialgauge.runs import Run

#: What a mark means, apart from its words: never told by colour alone.
Tone: TypeAlias = Literal["good", "bad", "warn", "plain"]

#: Kind of run to the module with its ``PAGES``.
_MODULES = {
    "tracking": "tracking_pages",
    "responses": "responses_pages",
    "interaction": "responses_pages",
    "attention": "responses_pages",
    "training": "responses_pages",
    "users": "users_pages",
    "tasks": "tasks_pages",
    "lab": "lab_pages",
    "trials": "trials_pages",
    "faults": "faults_pages",
    "study": "study_pages",
}

#: The filter of conversations that are worth reading first.
READ_FIRST = "first"
#: Measures that head the list of dialogues where the family names none.
_COLUMNS = 6


@dataclass(frozen=True)
class Badge:
    """A short mark with a tone; ``title`` says more."""

    text: str
    tone: Tone = "plain"
    title: str = ""


@dataclass(frozen=True)
class Facet:
    """A way to filter dialogues: those with a row in a table whose columns, joined by hyphens, have a chosen value.

    ``name`` is its key in addresses, ``only`` restricts the rows to those with this value in this column. Where columns
    are not what people choose from, ``pairs`` makes ``dialogue`` and ``value`` of the rows.
    """

    name: str
    label: str
    table: str
    columns: tuple[str, ...]
    only: tuple[str, Any] | None = None
    pairs: Callable[[polars.DataFrame], polars.DataFrame] | None = None
    #: The same from several tables of the run.
    made: Callable[[Library, Run], polars.DataFrame] | None = None


@dataclass(frozen=True)
class TurnView:
    """One turn as a page shows it; ``cell`` is what the family's macro ``turn_cell`` shows beside the words."""

    place: int
    speaker: str
    text: str
    badges: Sequence[Badge] = ()
    cell: Any = None


@dataclass(frozen=True)
class DialogueView:
    """A dialogue as a page shows it. ``overview`` is what the family's macro of that name shows above the turns."""

    template: str
    turns: Sequence[TurnView]
    overview: Any = None
    badges: Sequence[Badge] = ()
    #: What stands before the anchors of its turns, where a page has more than one dialogue.
    prefix: str = ""


class FamilyPages:
    """A kind of run that no family claims: what was said, and nothing beside it. Families override what they know."""

    template = "plain_dialogue.html"
    facets: Sequence[Facet] = ()
    #: Whether its own view says how a conversation ended.
    tells_outcome = False
    #: The values of the filter ``READ_FIRST`` that a report lists, the most urgent first.
    read_first: Sequence[str] = ()

    def columns(self, run: Run) -> list[str]:
        """The measures that head the list of dialogues."""
        return list(view_of(run.kind).headlines(list(run.scores)))[:_COLUMNS]

    def dialogue(self, library: Library, run: Run, dialogue: Dialogue) -> DialogueView:
        """One dialogue, turn by turn."""
        turns = [TurnView(place, turn.speaker, turn.text) for place, turn in enumerate(dialogue.turns)]
        return DialogueView(self.template, turns)

    def tables(self, library: Library, run: Run) -> list[Table]:
        """Tables for the page of a run beside its scores: by domain, by slot, ..."""
        return []

    def evidence(self, library: Library, run: Run) -> Mapping[str, tuple[int | None, str]]:
        """For dialogues that are worth reading first: the turn to look at, and what is to be seen there."""
        return {}

    def fault_sentence(self, library: Library, run: Run) -> str:
        """How often users erred, without the full stop; empty where the run does not tell."""
        return ""

    def charts(self, library: Library, run: Run) -> Mapping[str, Callable[[], Any]]:
        """Charts for the page of a run: name to the function that draws one (report.charts)."""
        return {}


_DEFAULT = FamilyPages()


@cache
def pages_of(kind: str) -> FamilyPages:
    """The pages of a kind of run."""
    if kind not in _MODULES:
        return _DEFAULT
    pages: FamilyPages = import_module(f"dialgauge.explorer.kinds.{_MODULES[kind]}").PAGES
    return pages
