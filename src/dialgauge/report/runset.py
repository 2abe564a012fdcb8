"""The one result of everything that scores: systems by name, each a run, with the same verbs for every kind of run.

results = dialgauge.score("test.json", ["augpt.json", "ubar.json"])
results["augpt"]["JGA"]                  a Score, which is also a number
results.frame(), results.table(), results.to_latex(), results.plot()
results.worst(3), results.explain("MUL0003"), results.notes
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError, UnknownNameError, nearest
from dialgauge.measures import Signature
from dialgauge.report.charts import Picture, has_picture
from dialgauge.report.dialogues import dialogue_list
from dialgauge.report.formats import latex_table
from dialgauge.report.page import Page
from dialgauge.report.pages import run_page, screen_tables, transcript_of
from dialgauge.report.table import Table
from dialgauge.report.tables import part_of, score_table
from dialgauge.report.view import system_names, view_of
from dialgauge.runs import Run, Store
from dialgauge.text import named_note, some_of

if TYPE_CHECKING:
    import polars


class RunSet(Mapping[str, Run]):
    """Scored systems by name, in the order they were given; a position is taken for a name too.

    >>> import dialgauge
    >>> gold = {"d1": [{"hotel-area": "north"}], "d2": [{"hotel-area": "east"}]}
    >>> results = dialgauge.score(gold, {"mine": {"d1": gold["d1"], "d2": [{}]}}, measures="JGA,F1")
    >>> results
    <RunSet tracking: mine; JGA, F1>
    >>> float(results["mine"]["JGA"]), results.measures, results.complete
    (0.5, ['JGA', 'F1'], True)
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        given = list(runs)
        if not given:
            raise DialgaugeError("there are no scores to show; name at least one run")
        if len(kinds := dict.fromkeys(run.kind for run in given)) > 1:
            raise DialgaugeError(f"runs of different kinds do not stand in one table: {', '.join(kinds)}")
        self._runs = dict(zip(system_names(given), given, strict=True))

    def __getitem__(self, name: str | int) -> Run:
        if isinstance(name, int):
            return self.runs[name]
        asked: object = name
        if not isinstance(asked, str) or name not in self._runs:
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
        """All measures that any of the systems has, those of parts left out."""
        return list(dict.fromkeys(name for run in self.runs for name in run.scores if not part_of(name)))

    @property
    def complete(self) -> bool:
        """Was everything scored that there should be?"""
        return all(run.coverage.complete for run in self.runs)

    @property
    def notes(self) -> list[str]:
        """What a reader of the scores should know, first of all systems, then of each."""
        shared = [note for note in self.runs[0].notes if all(note in run.notes for run in self.runs)]
        own = (named_note(name, note) for name, run in self.items() for note in run.notes if note not in shared)
        return [*shared, *own]

    @property
    def signature(self) -> str:
        """What the signatures of all scores share."""
        written = [Signature.parse(run.signature) for run in self.runs if run.signature]
        return Signature.shared(written).long() if written else ""

    def frame(self) -> polars.DataFrame:
        """One row for each system and score: ``measure``, its ``part`` (None if it is about everything), value, ..."""
        import polars

        numbers = ("value", "low", "high")
        rows = [
            {"system": name, "measure": measure.removesuffix(f"[{part}]") if part else measure, "part": part or None}
            | {end: getattr(score, end) for end in numbers}
            | {"n": score.n, "signature": score.signature}
            for name, run in self.items()
            for measure, score in run.scores.items()
            for part in (part_of(measure),)
        ]
        types: dict[str, Any] = {"part": polars.String, "n": polars.Int64} | dict.fromkeys(numbers, polars.Float64)
        return polars.DataFrame(rows, schema_overrides=types)

    def table(self) -> Table:
        """The scores as one table."""
        return score_table(self.runs, names=list(self), heads=view_of(self.runs[0]).scores(self.runs[0]))

    def to_latex(self) -> str:
        """:meth:`table` for a paper (booktabs), ready for ``\\input``."""
        return latex_table(self.table(), self.signature)

    def page(self) -> Page:
        """What a command that scored them shows: one run in full, the scores of several."""
        if len(self) == 1:
            return run_page(self.runs[0], screen_tables(self.runs[0]))
        warnings = []
        for name, run in self.items():
            own = view_of(run).warnings(run)
            warnings += own or ([] if run.coverage.complete else [f"{name}: {run.coverage.sentence()}."])
        return Page(
            title=", ".join(self),
            runs=[run.id for run in self.runs],
            warnings=list(dict.fromkeys(warnings)),
            tables={"scores": self.table()},
            notes=self.notes,
            signature=self.signature,
        )

    def worst(self, n: int = 5) -> Page:
        """The worst dialogues of each system, with their scores and what went wrong."""
        tables = {}
        for name, run in self.items():
            dialogues = dialogue_list(run)
            table = dialogues.table(dialogues.ranked[:n], {})
            table.title = f"{name}: {table.title[:1].lower()}{table.title[1:]}"
            tables[name] = table
        return Page(title="Worst dialogues", runs=[run.id for run in self.runs], tables=tables)

    def explain(self, dialogue: str) -> Page:
        """What each system did in one dialogue, turn by turn."""
        if not isinstance(dialogue, str):
            raise UnknownNameError(f"dialogues are named by their ids, which are texts (got {dialogue!r:.60})")
        wanted, ids = dialogue_key(dialogue), {}
        for name, run in self.items():
            ids[name] = {dialogue_key(own): own for own in run.table("dialogues")["dialogue"]}
        having = [self[name] for name, own in ids.items() if wanted in own]
        if not having:
            known = [own for each in ids.values() for own in each.values()]
            raise UnknownNameError(f"there is no dialogue '{dialogue}'.{nearest(dialogue, known, listed=False)}")
        shown = [(transcript_of(run, dialogue),) for run in having]
        return Page(title=dialogue, runs=[run.id for run in having], dialogues=shown)

    def plot(self, name: str = "scores") -> Picture:
        """The scores with their intervals as a picture, or another table of the first run that has a chart."""
        table = self.table() if name == "scores" else run_page(self.runs[0], [name]).tables.get(name)
        if table is None or not has_picture(table):
            raise DialgaugeError(f"there is nothing to draw in '{name}'")
        return Picture(table)

    def save(self, store: Store | str | Path | None = None) -> Self:
        """Store the runs; the same results come back, with the stored runs."""
        chosen = store if isinstance(store, Store) else Store(store)
        return type(self)(chosen.add(run) for run in self.runs)

    def __str__(self) -> str:
        return str(self.page())

    def _repr_html_(self) -> str:
        return self.page()._repr_html_()

    def __repr__(self) -> str:
        return f"<RunSet {self.runs[0].kind}: {some_of(list(self))}; {some_of(self.measures)}>"
