"""The one result of everything that scores: systems by name, each a run, with the same verbs for every kind of run.

    results = dialgauge.score("test.json", ["augpt.json", "ubar.json"])
    results["augpt"]["JGA"]                  a Score, which is also a number
    results.frame(), results.table(), results.to_latex(), results.plot()
    results.worst(3), results.explain("MUL0003"), results.notes

A family derives a class of its own where it has more to say than scores; ``RunSet.of`` finds it by the runs' kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError, UnknownNameError, missing_extra, nearest
from dialgauge.kinds import kind_named
from dialgauge.measures import Score, Signature
from dialgauge.rendering.notebook import notebook_html
from dialgauge.rendering.runs import SHARE, measure_and_part, numbered, score_column
from dialgauge.rendering.table import Cell, Column, Table, percent_note, render_tables
from dialgauge.runs import Run, Store, worst_first
from dialgauge.text import named_note, some_of

if TYPE_CHECKING:
    import pandas
    import polars

#: How the parts are called that measures name in brackets, and the brackets.
PART = "part"


class Display(list["Table | str"]):
    """Tables and texts that are read together, one after the other."""

    def __str__(self) -> str:
        return "\n".join(part if isinstance(part, str) else part.render("markdown") for part in self)

    def _repr_html_(self) -> str:
        return notebook_html(self)


class Presented:
    """The methods that runs and comparisons of several systems share."""

    def frame(self) -> polars.DataFrame:
        """All numbers, one in a row."""
        raise NotImplementedError

    def tables(self) -> Sequence[Table]:
        """Everything as tables, the scores first."""
        raise NotImplementedError

    def figures(self) -> Mapping[str, Callable[[], Any]]:
        """The figures by name; each is drawn when it is called."""
        raise NotImplementedError

    def table(self) -> Table:
        """The scores as one table."""
        return self.tables()[0]

    def to_polars(self) -> polars.DataFrame:
        """The same as :meth:`frame`."""
        return self.frame()

    def to_pandas(self) -> pandas.DataFrame:
        """:meth:`frame` for pandas (extra ``pandas``)."""
        try:
            return self.frame().to_pandas()
        except ModuleNotFoundError as error:
            raise missing_extra(error.name or "pandas", "pandas", "a pandas frame") from error

    def to_latex(self, *, intervals: bool = False) -> str:
        """:meth:`table` for a paper (booktabs), ready for ``\\input``."""
        return render_tables([self.table()], "latex", intervals=intervals)

    def plot(self, name: str | None = None) -> Any:
        """A figure as an Altair chart, the first unless one of :meth:`figures` is named."""
        drawn = self.figures()
        if not drawn:
            raise DialgaugeError("there is nothing to draw: no score has a value")
        if name is not None and name not in drawn:
            raise UnknownNameError(f"there is no figure '{name}'.{nearest(name, drawn)}")
        return drawn[name or next(iter(drawn))]()

    def _display(self) -> Display:
        """What is shown where nobody asks for more."""
        return Display(self.tables())

    def __str__(self) -> str:
        return str(self._display())

    def _repr_html_(self) -> str:
        return self._display()._repr_html_()


class RunSet(Presented, Mapping[str, Run]):
    """Scored systems by name, in the order they were given; a position is taken for a name too.

    >>> import dialgauge
    >>> gold = {"d1": [{"hotel-area": "north"}], "d2": [{"hotel-area": "east"}]}
    >>> results = dialgauge.score(gold, {"mine": {"d1": gold["d1"], "d2": [{}]}}, measures="JGA,F1")
    >>> results
    <RunSet tracking: mine; JGA, F1>
    >>> float(results["mine"]["JGA"]), results.measures, results.complete
    (0.5, ['JGA', 'F1'], True)
    >>> results.frame(by="slot").filter(measure="Recall").select("slot", "value").rows()
    [('hotel-area', 0.5)]
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        given = list(runs)
        if not given:
            raise DialgaugeError("there are no scores to show; name at least one run")
        for run in given:
            self._check(run)
        self._runs = dict(zip(numbered(self._labels(given)), given, strict=True))

    @classmethod
    def of(cls, runs: Iterable[Run]) -> RunSet:
        """Runs of one kind as a set of their family's class."""
        given = list(runs)
        kinds = dict.fromkeys(run.kind for run in given)
        if len(kinds) > 1:
            raise DialgaugeError(f"runs of different kinds do not stand in one table: {', '.join(kinds)}")
        family: type[RunSet] = kind_named(next(iter(kinds), "")).part("results", type) or RunSet
        return family(given)

    def _check(self, run: Run) -> None:
        """An error where a run cannot be shown by this class."""

    def _labels(self, runs: Sequence[Run]) -> list[str]:
        """The names the runs go by; such as several share are numbered."""
        return [run.name for run in runs]

    def __getitem__(self, name: str | int) -> Run:
        if isinstance(name, int):
            return self.runs[name]
        given: object = name
        if not isinstance(given, str) or name not in self._runs:
            raise UnknownNameError(f"there is no system '{name}'.{self._of_measure(name) or nearest(name, self._runs)}")
        return self._runs[name]

    def _of_measure(self, name: object) -> str:
        """How to get at a measure that was asked for in place of a system; empty where it is none."""
        known = next((each for each in self.measures if each.lower() == str(name).lower()), "")
        system = next(iter(self._runs))
        return f" It is a measure, and each system has its own: results[{system!r}][{known!r}]." if known else ""

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._runs)

    @property
    def runs(self) -> list[Run]:
        """The runs, in order."""
        return list(self._runs.values())

    @property
    def measures(self) -> list[str]:
        """All measures that any of the systems has."""
        return list(dict.fromkeys(name for run in self.runs for name in run.scores))

    @property
    def complete(self) -> bool:
        """Was everything scored that there should be?"""
        return all(run.coverage.complete for run in self.runs)

    def _display(self) -> Display:
        """The tables; before them, what is missing."""
        missing = [f"{name}: {run.coverage.sentence()}." for name, run in self.items() if not run.coverage.complete]
        return Display([*missing, *self.tables()])

    @property
    def notes(self) -> list[str]:
        """What a reader of the scores should know, first of all systems, then of each."""
        shared = [note for note in self.runs[0].notes if all(note in run.notes for run in self.runs)]
        own = (named_note(name, note) for name, run in self.items() for note in run.notes if note not in shared)
        return [*shared, *own]

    def frame(self, by: str | None = None) -> polars.DataFrame:
        """One row for each system and measure: value, interval, number of dialogues, signature.

        With ``by``, one row for each part too. ``by="part"`` takes those that measures name in brackets, such as the
        domains of ``Success[hotel]``; trackers have more (domain, service, slot, turn, n-domains).
        """
        import polars

        if by is not None:
            return polars.DataFrame(list(self._rows_by(by)), infer_schema_length=None)
        numbers = ("value", "low", "high")
        rows = [
            {"system": run.name, **self._facts(run), "measure": measure}
            | {end: getattr(score, end) for end in numbers}
            | {"n": score.n, "signature": score.signature}
            for run in self.runs
            for measure, score in run.scores.items()
        ]
        types: dict[str, Any] = dict.fromkeys(numbers, polars.Float64)
        return polars.DataFrame(rows, schema_overrides=types | {"n": polars.Int64})

    def _rows_by(self, by: str) -> Iterator[dict[str, Any]]:
        """One row for each system, part and measure."""
        if by != PART:
            raise UnknownNameError(f"these scores are not split by '{by}'; the parts of measures are by='{PART}'")
        bracketed = [
            (name, measure, parted)
            for name, run in self.items()
            for measure in run.scores
            if (parted := measure_and_part(measure))[1]
        ]
        if not bracketed:
            raise DialgaugeError(f"no measure has parts: {some_of(self.measures)}")
        for name, measure, parted in bracketed:
            score = self[name].scores[measure]
            yield {"system": name, PART: parted[1], "measure": parted[0], "value": score.value} | {
                end: getattr(score, end) for end in ("low", "high", "n")
            }

    def _facts(self, run: Run) -> dict[str, str]:
        """Columns of the frame that distinguish several runs of one system."""
        return {}

    def tables(self) -> list[Table]:
        """Everything as tables, the scores first: measures down and systems across."""
        columns = [Column("measure", exact=True), *(Column(name, align="right") for name in self)]
        kinds = dict.fromkeys(kind_named(run.kind).heading for run in self.runs)
        table = Table(", ".join(kinds), columns, notes=self.notes)
        table.signature = self.signature
        for measure in self.measures:
            scores = [run.scores.get(measure) for run in self.runs]
            table.add(measure, *(score_cell(score, like=measure) for score in scores))
        if any(score.unit == SHARE for run in self.runs for score in run.scores.values()):
            table.notes.append(percent_note("Shares in percent"))
        return [table]

    @property
    def signature(self) -> str:
        """What the signatures of all scores share."""
        written = [Signature.parse(run.signature) for run in self.runs if run.signature]
        return Signature.shared(written).long() if written else ""

    def worst(self, n: int = 5, by: str | None = None) -> Display:
        """The worst dialogues of each system by a measure, by default the one that all pages of the run rank by."""
        shown = Display()
        for name, run in self.items():
            ranking = worst_first(run)
            if ranking is None:
                known = run.table("dialogue_scores")["measure"].unique().to_list()
                raise UnknownNameError(f"{name}: dialogues have no value of '{by or ''}'.{nearest(by or '', known)}")
            title = f"{name}: worst dialogues by {ranking.basis}"
            table = Table(title, ["dialogue", score_column(ranking.measure, run[ranking.measure])])
            for dialogue, value in zip(ranking.dialogues[:n], ranking.values, strict=False):
                table.add(dialogue, value)
            shown.append(table)
        return shown

    def explain(self, dialogue: str) -> Display:
        """What each system did in one dialogue, and what that is worth."""
        if not isinstance(dialogue, str):
            raise UnknownNameError(f"dialogues are named by their ids, which are texts (got {dialogue!r:.60})")
        having = {name: own_id for name, run in self.items() if (own_id := _named(run, dialogue)) is not None}
        if not having:
            known = (known_id for run in self.runs for known_id in run.table("dialogues")["dialogue"])
            raise UnknownNameError(f"there is no dialogue '{dialogue}'.{nearest(dialogue, known, listed=False)}")
        return Display(part for name, own_id in having.items() for part in self._explained(self[name], own_id))

    def _explained(self, run: Run, dialogue: str) -> Iterable[Table | str]:
        import polars as pl

        own = pl.col("dialogue") == dialogue
        table = Table(f"{run.name}: {dialogue}", ["measure", Column("value", align="right")])
        for measure, num, den in run.table("dialogue_scores").filter(own).select("measure", "num", "den").iter_rows():
            table.add(measure, Cell(num / den if den else None, like=score_column(measure, run.scores.get(measure))))
        return table, talk_table(run, dialogue)

    def figures(self) -> Mapping[str, Callable[[], Any]]:
        """The figures by name; each is drawn when it is called."""
        from dialgauge.rendering.run_charts import run_figures

        return run_figures(self)

    def document(self) -> dict[str, Any]:
        """Everything as plain values, as ``--json`` writes it."""
        systems = [
            {"name": run.name, "scores": {name: score.as_dict() for name, score in run.scores.items()}}
            for run in self.runs
        ]
        return {"signature": self.signature, "systems": systems}

    def save(self, store: Store | str | Path | None = None) -> Self:
        """Store the runs; the same results come back, with the stored runs."""
        chosen = store if isinstance(store, Store) else Store(store)
        return type(self)(chosen.add(run) for run in self.runs)

    def __repr__(self) -> str:
        return f"<RunSet {self.runs[0].kind}: {some_of(list(self))}; {some_of(self.measures)}>"


def talk_table(run: Run, dialogue: str) -> Table:
    """What was said in a dialogue."""
    import polars as pl

    rows = run.table("turns").filter(pl.col("dialogue") == dialogue).select("turn", "speaker", "text").rows()
    return Table("What was said", [Column("turn", align="right"), "speaker", "text"], rows)


def score_cell(score: Score | None, *, like: str | None = None) -> Cell:
    """A score with its interval; ``like``: as a column of its measure would show it."""
    if score is None:
        return Cell(None)
    look = None if like is None else score_column(like, score)
    return Cell(score.value, score.low, score.high, like=look)


def _named(run: Run, dialogue: str) -> str | None:
    """The dialogue as the run writes its id."""
    wanted = dialogue_key(dialogue)
    return next((known_id for known_id in run.table("dialogues")["dialogue"] if dialogue_key(known_id) == wanted), None)
