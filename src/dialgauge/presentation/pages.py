"""What a kind of run shows of itself: pages, tables, charts, sentences, and what to read first.

A family subclasses :class:`RunPages` and names one instance in the record of its kind. It says how dialogues can be
filtered, which measures head their list, one dialogue turn by turn, what stands on the page of a run, and what the run
says in sentences. Its template has three macros: ``overview(view)`` above the turns, ``turn_cell(turn)`` beside each,
and ``legend()``; a fourth, ``turn_text(turn)``, where words are shown in a way of their own. Pages and the report file
use the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from dialgauge.kinds import kind_named
from dialgauge.presentation.phrases import Glossary, first_scores, sentence
from dialgauge.rendering import SHARE, interval_plot
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars

    from dialgauge.dialogue import Dialogue
    from dialgauge.presentation.phrases import DialogueRows
    from dialgauge.rendering import Table
    from dialgauge.runs import Run

T = TypeVar("T")

#: What a mark means, apart from its words: never told by colour alone.
Tone: TypeAlias = Literal["good", "bad", "warn", "plain"]

#: The filter of conversations that are worth reading first.
READ_FIRST = "first"
#: Scores that the chart of a run shows.
_MOST_SCORES = 12
#: Measures that head the list of dialogues where the family names none.
_COLUMNS = 6


class RunTables(Protocol):
    """The tables of runs, kept in memory by whoever shows pages."""

    def has_table(self, run: Run, name: str) -> bool:
        """Whether a run has a table, or a companion of it has."""

    def table(self, run: Run, name: str) -> polars.DataFrame:
        """A table of a run, or of its companion."""

    def rows(self, run: Run, name: str, dialogue: str) -> list[dict[str, Any]]:
        """The rows of one dialogue in a table, as records; none where the run has no such table."""

    def of_run(self, what: str, run: Run, make: Callable[[], T]) -> T:
        """Something made from a run, kept while the run stays as it is."""


class Badge(Struct, frozen=True):
    """A short mark with a tone; ``title`` says more."""

    text: str
    tone: Tone = "plain"
    title: str = ""


class Facet(Struct, frozen=True):
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
    made: Callable[[RunTables, Run], polars.DataFrame] | None = None
    #: What values are called that are codes of ours.
    words: Mapping[str, str] = {}
    #: The value of rows that have none; without it they are left out.
    absent: str = ""

    def word(self, value: str) -> str:
        return self.words.get(value, value.replace("_", " ")) if self.words else value


class Breakdown(Struct, frozen=True):
    """A chart of how many dialogues have each value of a facet; every bar leads to the dialogues that it counts.

    ``only`` restricts them to those with these values of other facets, ``parts`` is the facet that splits each bar, and
    ``tones`` says what its values mean.
    """

    title: str
    facet: str
    only: Mapping[str, str] = {}
    parts: str = ""
    tones: Mapping[str, Tone] = {}
    tone: Tone = "plain"
    note: str = ""


class PanelCell(Struct, frozen=True):
    """A number in a panel, and the filters whose list has just the dialogues that it counts; without any, no link."""

    text: str
    only: Mapping[str, str] = {}


class PanelRow(Struct, frozen=True):
    """A line of a panel: what was found, how often; ``tasks`` are named behind it, each leading to its trials."""

    text: str
    cells: Sequence[PanelCell]
    tasks: Sequence[str] = ()
    tone: Tone = "plain"


class Panel(Struct, frozen=True):
    """A question that the page of a run answers: the answer in a sentence, and what it rests on line by line.

    ``heads`` are the heads of the columns; ``name`` is the anchor of its section.
    """

    name: str
    question: str
    answer: str
    heads: Sequence[str]
    findings: Sequence[PanelRow]
    notes: Sequence[str] = ()
    tone: Tone = "plain"


class Reason(Struct, frozen=True):
    """Why a conversation failed, or what went wrong in it: a sentence, and the turn to look at.

    ``arguments`` has the name, the expected and the actual value of each argument of a call.
    """

    text: str
    turn: int | None = None
    arguments: Sequence[tuple[str, str, str]] = ()
    tone: Tone = "bad"

    @property
    def differing(self) -> list[tuple[str, str]]:
        """Expected and actual values that are not the same."""
        return [(expected, actual) for _, expected, actual in self.arguments if expected != actual]


class Reading(Struct, frozen=True):
    """A conversation to read first: why, the turn to look at, and the message of the log that this turn shows."""

    dialogue: str
    text: str
    turn: int | None = None
    message: int | None = None

    @property
    def where(self) -> str:
        """Where to look: the message of the log, else the turn."""
        if self.message is not None:
            return f"message {self.message}"
        return "" if self.turn is None else f"turn {self.turn}"


class Trial(Struct, frozen=True):
    """One of several conversations about the same task, and whether it went well."""

    task: str
    dialogue: str
    number: int
    success: bool | None


class TurnView(Struct, frozen=True):
    """One turn as a page shows it; ``cell`` is what the family's macro ``turn_cell`` shows beside the words."""

    place: int
    speaker: str
    text: str
    badges: Sequence[Badge] = ()
    cell: Any = None
    #: The messages of the log that it shows, where these are numbered otherwise than turns: ``22–27``.
    messages: str = ""


class DialogueView(Struct, frozen=True):
    """A dialogue as a page shows it. ``overview`` is what the family's macro of that name shows above the turns."""

    template: str
    turns: Sequence[TurnView]
    overview: Any = None
    badges: Sequence[Badge] = ()
    #: What stands before the anchors of its turns, where a page has more than one dialogue.
    prefix: str = ""
    #: Why it failed, the gravest first; shown on top.
    reasons: Sequence[Reason] = ()


class RunPages:
    """What a kind of run shows. By default that is what was said, and the scores; families override what they know."""

    #: A template of the explorer, or ``module:name`` for a file beside a family's modules or a text in one of them.
    template = "plain_dialogue.html"
    facets: Sequence[Facet] = ()
    #: Charts of the page of a run, the one that says most first.
    breakdowns: Sequence[Breakdown] = ()
    #: Whether its own view says how a conversation ended.
    tells_outcome = False
    #: Whether what it says rests on scores, so that a run without any can only say that.
    scored = True
    #: The values of the filter ``READ_FIRST`` that a report lists, the most urgent first.
    read_first: Sequence[str] = ()
    #: Tables that another kind of run may have about the same dialogues, with that kind.
    companions: ClassVar[Mapping[str, str]] = {}

    def companion(self, run: Run, table: str) -> str | None:
        """The kind of run that may have a table which this run lacks; None where nothing of that may be shown."""
        return self.companions.get(table)

    def columns(self, run: Run) -> list[str]:
        """The measures that head the list of dialogues: the first ones, and the one that ranks it."""
        first, others = list(run.scores)[:_COLUMNS], list(run.scores)[_COLUMNS:]
        ranking = next((name for name in kind_named(run.kind).worst_by if name in run.scores), None)
        return [*first[:-1], ranking] if ranking in others else first

    def dialogue(self, library: RunTables, run: Run, dialogue: Dialogue) -> DialogueView:
        turns = [TurnView(index, turn.speaker, turn.text) for index, turn in enumerate(dialogue.turns)]
        return DialogueView(self.template, turns)

    def trials(self, library: RunTables, run: Run) -> list[Trial]:
        """The trials of every task; none where runs have no trials."""
        return []

    def trials_of(self, library: RunTables, run: Run, task: str) -> list[str]:
        """The dialogues about a task, one for each trial."""
        return [trial.dialogue for trial in self.trials(library, run) if trial.task == task]

    def tables(self, library: RunTables, run: Run) -> list[Table]:
        """Tables for the page of a run beside its scores: by domain, by slot, ..."""
        return []

    def panels(self, library: RunTables, run: Run) -> list[Panel]:
        """Questions that the page of a run answers beside its scores, each with links to what the answer rests on."""
        return []

    def charts(self, library: RunTables, run: Run) -> Mapping[str, Callable[[], Any]]:
        """Charts for the page of a run: name to the function that draws one (report.charts)."""
        return {}

    def sentences(self, run: Run, words: Glossary) -> Iterable[str]:
        """What a run with scores says: its verdict first, then what goes wrong most. What it lacks is left out."""
        return first_scores(run, words)

    def went_wrong(self, tables: DialogueRows, dialogue: str) -> str:
        """What went wrong in one of the worst dialogues, as a phrase."""
        return ""

    def evidence(self, library: RunTables, run: Run) -> Mapping[str, tuple[int | None, str]]:
        """For dialogues that are worth reading first: the turn to look at, and what is to be seen there."""
        return {}

    def readings(self, library: RunTables, run: Run) -> list[Reading]:
        """The conversations to read first, in order, where the run has such a list."""
        return []

    def fault_sentence(self, library: RunTables, run: Run) -> str:
        """How often users erred, without the full stop; empty where the run does not tell."""
        return ""


def pages_of(kind: str) -> RunPages:
    """The pages of a kind of run."""
    return kind_named(kind).part("pages", RunPages) or RunPages()


def kind_sentences(run: Run) -> Iterator[str]:
    """What the kind of a run has to say about it, the verdict first."""
    words = Glossary(run.kind)
    pages = pages_of(run.kind)
    sentences = pages.sentences(run, words) if run.scores or not pages.scored else first_scores(run, words)
    return map(sentence, sentences)


def run_verdict(run: Run) -> str:
    """What a run says in one sentence."""
    return next(kind_sentences(run), "")


def run_charts(library: RunTables, run: Run) -> dict[str, Callable[[], Any]]:
    """The charts of a run by name: its scores where they have intervals, and what its kind draws."""
    pages = pages_of(run.kind)
    rows = _interval_rows(run, pages.columns(run) if run.scores else [])
    own: dict[str, Callable[[], Any]] = (
        {"scores": partial(interval_plot, rows, title="Scores with 95% intervals")} if rows else {}
    )
    return {name: partial(_sized, draw, run) for name, draw in {**own, **pages.charts(library, run)}.items()}


def _sized(draw: Callable[[], Any], run: Run) -> Any:
    """The chart with a line that says whose dialogues it shows, and how many."""
    chart = draw()
    scored = run.coverage.units.get("dialogues")
    if scored is None or scored.scored is None:
        return chart
    heading = dict(chart.title)
    subtitle = heading.get("subtitle", [])
    own = f"{run.name}: {counted(scored.scored, 'dialogue')}"
    heading["subtitle"] = [own, *([subtitle] if isinstance(subtitle, str) else subtitle)]
    return chart.properties(title=heading)


def _interval_rows(run: Run, measures: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "system": run.name,
            "measure": name,
            "value": score.value,
            "low": score.low,
            "high": score.high,
            "percent": score.unit == SHARE,
        }
        for name, score in run.scores.items()
        if name in measures[:_MOST_SCORES] and None not in (score.value, score.low, score.high)
    ]
