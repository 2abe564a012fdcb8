"""The dialogues of a run as a list that can be filtered, sorted and paged through, 100,000 of them as well as ten.

A run's dialogues have places, from 0; every filter is a set of places, held as an array of booleans. What a filter
needs of a table is worked out once per run and kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError
from dialgauge.explorer.dialogue_query import DOMAIN, LABEL, DialogueQuery
from dialgauge.explorer.markup import search_words
from dialgauge.explorer.run_list import headline_of
from dialgauge.explorer.templating import short_name
from dialgauge.kinds import kind_named
from dialgauge.presentation import Facet, pages_of
from dialgauge.rendering import SHARE
from dialgauge.runs import worst_first

if TYPE_CHECKING:
    from dialgauge.explorer.library import Library
    from dialgauge.runs import Run, WorstFirst

PAGE_SIZE = 50
#: Values that a filter offers; the most frequent ones.
_OFFERED = 200
#: The column of verdicts.
PASSED = "passed"
#: Words of a search that count.
_MOST_WORDS = 12

Flags = NDArray[np.bool_]


class Choice(Struct, frozen=True):
    """A filter as a form offers it: its values with the number of dialogues that have each, and the chosen one."""

    name: str
    label: str
    values: Sequence[tuple[str, int]]
    chosen: str
    facet: Facet | None = None

    def word(self, value: str) -> str:
        return self.facet.word(value) if self.facet is not None else value


class ListRow(Struct, frozen=True):
    """A line of the list."""

    dialogue: str
    turns: int
    domains: Sequence[str]
    values: Sequence[float | None]
    opening: str
    labels: Sequence[str]
    passed: bool | None = None


class ListPage(Struct, frozen=True):
    """A page of the list; ``number`` of ``pages``, ``found`` of ``all`` dialogues."""

    rows: Sequence[ListRow]
    columns: Sequence[str]
    #: Columns of which every value is all or nothing.
    binary: Sequence[bool]
    found: int
    all: int
    number: int
    pages: int
    #: Whether its rows have verdicts.
    judged: bool


class DialogueList:
    """The dialogues of one run."""

    def __init__(self, library: Library, run: Run) -> None:
        self._library, self._run = library, run
        self.pages = pages_of(run.kind)
        heads = library.table(run, "dialogues")
        self.ids: pl.Series = heads["dialogue"]
        self._heads = heads
        self.columns = self.pages.columns(run)
        self.passed = self._verdicts() if kind_named(run.kind).verdicts is not None else None
        self._facets = {facet.name: facet for facet in self.pages.facets if library.has_table(run, facet.table)}

    def _verdicts(self) -> NDArray[np.float64] | None:
        """The verdict on each dialogue, 1 or 0, NaN where there is none; None where the run has no verdicts."""
        ranking = self.ranking
        if ranking is None or not ranking.passed:
            return None
        verdicts = dict(zip(ranking.dialogues, ranking.passed, strict=True))
        known = (verdicts.get(name) for name in self.ids)
        return np.array([np.nan if verdict is None else float(verdict) for verdict in known])

    @property
    def worst_first(self) -> tuple[str, bool]:
        """The column by which a list is sorted where nobody asks for an order, and whether its largest value leads."""
        if self.passed is not None:
            return PASSED, False
        named = (self.ranking.measure if self.ranking is not None else "", headline_of(self._run), *self.columns)
        measure = next((name for name in named if name in self.columns), "")
        return measure, bool(measure) and self._run.scores[measure].higher_is_better is False

    @property
    def worst_basis(self) -> str:
        """The basis of the ranking, in words."""
        measure, _ = self.worst_first
        ranking = self.ranking
        keys = ranking.keys if ranking is not None and measure in (PASSED, ranking.measure) else [measure]
        return ", then by ".join(map(short_name, keys))

    @property
    def ranking(self) -> WorstFirst | None:
        """The dialogues from the worst on, as every screen and report ranks them."""
        table = partial(self._library.table, self._run)
        return self._library.of_run("worst first", self._run, lambda: worst_first(self._run, table=table))

    def asked_for(self, parameters: Mapping[str, str]) -> DialogueQuery:
        """What an address asks for; the worst dialogues first unless it names another order."""
        query = DialogueQuery.read(parameters, self.pages)
        measure, falling = self.worst_first
        return query if query.sort else replace(query, sort=measure, falling=falling)

    def page(self, query: DialogueQuery) -> ListPage:
        """The page that a query asks for; the last one where it asks for a later one."""
        order = self.order(query)
        pages = max(-(-len(order) // PAGE_SIZE), 1)
        number = min(query.page, pages)
        places = order[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
        columns = [measure for measure in self.columns if not self._repeats_the_verdict(measure)]
        rows = list(self._rows(places, columns))
        binary = [self._binary(measure) for measure in columns]
        return ListPage(rows, columns, binary, len(order), len(self.ids), number, pages, self.passed is not None)

    def all_rows(self, query: DialogueQuery) -> Iterator[ListRow]:
        """Every dialogue that a query finds, in its order."""
        return self._rows(self.order(query), self.columns)

    def count(self, facets: Mapping[str, str]) -> int:
        """How many dialogues have these values."""
        return int(np.count_nonzero(self._matching(DialogueQuery(facets=facets))))

    def sought(self, query: DialogueQuery, dialogue: str) -> list[int]:
        """The turns that match a query in a dialogue, if the tables have turns."""
        turns: set[int] = set()
        for table, chosen in self._of_rows(query).items():
            frame = self._library.table(self._run, table)
            if "turn" not in frame.columns:
                continue
            own = self._rows_with(frame.filter(pl.col("dialogue") == dialogue), chosen)
            turns.update(turn for turn in own["turn"].drop_nulls().to_list() if isinstance(turn, int))
        return sorted(turns)

    def _repeats_the_verdict(self, measure: str) -> bool:
        return self.passed is not None and np.array_equal(self.value(measure), self.passed, equal_nan=True)

    def _binary(self, measure: str) -> bool:
        values = self.value(measure)
        return self._run.scores[measure].unit == SHARE and bool((np.isnan(values) | np.isin(values, (0.0, 1.0))).all())

    def order(self, query: DialogueQuery) -> NDArray[np.int64]:
        """The places of the dialogues that a query finds, in its order."""
        if LABEL in query.facets:  # people add labels while they look
            return self._ordered(query)
        return self._library.of_run(f"order {query.address()}", self._run, lambda: self._ordered(query))

    def neighbours(self, query: DialogueQuery, dialogue: str) -> tuple[str | None, str | None, int, int]:
        """The dialogues before and after one in the order of a query, its number there from 1, and how many there."""
        order = self.order(query)
        index = np.flatnonzero((self.ids == dialogue).to_numpy())
        at = np.flatnonzero(order == index[0]) if len(index) else index
        if not len(at):
            return None, None, 0, len(order)
        here = int(at[0])
        before = self.ids[int(order[here - 1])] if here else None
        after = self.ids[int(order[here + 1])] if here + 1 < len(order) else None
        return before, after, here + 1, len(order)

    def choices(self, query: DialogueQuery, least: int = 2) -> list[Choice]:
        """The filters that make sense for this run, with what each can be set to: at least so many values."""
        offered = [(facet.name, facet.label) for facet in self._facets.values()]
        choices = []
        for name, label in [(DOMAIN, "declared domain"), *offered, (LABEL, "label")]:
            values = self._counted(name)
            if len(values) >= least or name in query.facets or (values and name == LABEL):
                choices.append(Choice(name, label, values, query.facets.get(name, ""), self._facets.get(name)))
        return choices

    def value(self, measure: str) -> NDArray[np.float64]:
        """A measure's value on each dialogue; NaN where it has none."""
        return self._library.of_run(f"values {measure}", self._run, lambda: self._measured(measure))

    def _ordered(self, query: DialogueQuery) -> NDArray[np.int64]:
        matching = np.flatnonzero(self._matching(query))
        if not query.sort:
            return matching
        matching = matching[np.argsort(self._ranks()[matching], kind="stable")]  # it decides among equals
        keys = self._sort_key(query.sort)[matching]
        undefined = np.isnan(keys)
        ranked = np.argsort(-keys if query.falling else keys, kind="stable")
        # Undefined values stand last whichever way the list is sorted.
        order: NDArray[np.int64] = matching[np.concatenate([ranked[~undefined[ranked]], ranked[undefined[ranked]]])]
        return order

    def _ranks(self) -> NDArray[np.int64]:
        """The rank of each dialogue from the worst on; dialogues without one stand last."""
        worst = self.ranking.dialogues if self.ranking is not None else []
        ranks = {name: rank for rank, name in enumerate(worst)}
        return np.array([ranks.get(name, len(ranks)) for name in self.ids], np.int64)

    def _sort_key(self, sort: str) -> NDArray[np.float64]:
        if sort == "dialogue":
            ranks: NDArray[np.float64] = self.ids.rank("ordinal").to_numpy().astype(np.float64)
            return ranks
        if sort == "turns":
            return self._heads["turns"].to_numpy().astype(np.float64)
        return self.passed if sort == PASSED and self.passed is not None else self.value(sort)

    def _matching(self, query: DialogueQuery) -> Flags:
        flags = np.ones(len(self.ids), bool)
        of_rows = self._of_rows(query)
        for name, value in query.facets.items():
            if all(name != facet.name for chosen in of_rows.values() for facet, _ in chosen):
                flags &= self._with(name, value)
        for table, chosen in of_rows.items():
            flags &= self._with_row(table, chosen)
        if query.least is not None or query.most is not None:
            flags &= self._between(query)
        if query.text:
            flags &= self._saying(query.text)
        return flags

    def _of_rows(self, query: DialogueQuery) -> dict[str, list[tuple[Facet, str]]]:
        """By table the filters that its rows must pass together."""
        of_rows: dict[str, list[tuple[Facet, str]]] = {}
        for name, value in query.facets.items():
            facet = self._facets.get(name)
            if facet is not None and facet.columns and facet.pairs is None and facet.made is None:
                of_rows.setdefault(facet.table, []).append((facet, value))
        return of_rows

    def _between(self, query: DialogueQuery) -> Flags:
        measure = query.measure or (self.columns[0] if self.columns else "")
        values = self.value(measure)
        scale = 100.0 if self._run.scores[measure].unit == SHARE else 1.0
        # What the screen shows is rounded to two digits; a limit typed from there must hold what it shows.
        least = -np.inf if query.least is None else (query.least - 0.005) / scale
        most = np.inf if query.most is None else (query.most + 0.005) / scale
        flags: Flags = (values >= least) & (values <= most)
        return flags

    def _saying(self, text: str) -> Flags:
        """Dialogues in which each word is said or is part of the id, whatever the case; a phrase in quotation marks."""
        turns = self._library.table(self._run, "turns")
        lines = self._library.of_run("lower-case text", self._run, turns["text"].str.to_lowercase)
        ids = self.ids.str.to_lowercase()
        flags = np.ones(len(self.ids), bool)
        for word in search_words(text)[:_MOST_WORDS]:
            spoken = turns["dialogue"].filter(lines.str.contains(word, literal=True))
            named = ids.str.contains(word, literal=True)
            flags &= (self.ids.is_in(spoken.unique().to_list()) | named).to_numpy()
        return flags

    def _with(self, name: str, value: str) -> Flags:
        flags = np.zeros(len(self.ids), bool)
        if name == LABEL:
            flags[[index for index, labels in self._labelled() if value in labels]] = True
            return flags
        pairs = self._pairs(name)
        flags[pairs.filter(pl.col("value") == value)["place"].to_numpy()] = True
        return flags

    def _with_row(self, table: str, chosen: Sequence[tuple[Facet, str]]) -> Flags:
        """Dialogues with a row that has all the values: a wrong value of this very slot, not one of each somewhere."""
        frame = self._rows_with(self._library.table(self._run, table), chosen)
        having: Flags = self.ids.is_in(frame["dialogue"].unique().to_list()).to_numpy()
        return having

    @staticmethod
    def _rows_with(frame: pl.DataFrame, chosen: Sequence[tuple[Facet, str]]) -> pl.DataFrame:
        for facet, value in chosen:
            frame = _only(frame, facet).filter(_value(facet) == value)
        return frame

    def _counted(self, name: str) -> list[tuple[str, int]]:
        """The values of a facet with the number of dialogues that have each, the most frequent first."""
        if name == LABEL:
            tally: dict[str, int] = {}
            for _, labels in self._labelled():
                for label in labels:
                    tally[label] = tally.get(label, 0) + 1
            return sorted(tally.items(), key=lambda item: (-item[1], item[0]))

        def count() -> list[tuple[str, int]]:
            counts = self._pairs(name)["value"].value_counts()
            return counts.sort(["count", "value"], descending=[True, False]).head(_OFFERED).rows()

        return self._library.of_run(f"counts of {name}", self._run, count)

    def _pairs(self, name: str) -> pl.DataFrame:
        """``place`` and ``value`` of a facet, each pair once."""
        return self._library.of_run(f"facet {name}", self._run, lambda: self._facet_pairs(name))

    def _facet_pairs(self, name: str) -> pl.DataFrame:
        if name == DOMAIN:
            exploded = self._placed().select("place", pl.col("domains").alias("value")).explode("value")
            return exploded.drop_nulls().unique(maintain_order=True)
        facet = self._facets.get(name)
        if facet is None:
            raise DialgaugeError(f"dialogues of a {self._run.kind} run cannot be filtered by '{name}'")
        frame = _only(self._library.table(self._run, facet.table), facet)
        if facet.made is not None:
            frame = facet.made(self._library, self._run)
        elif facet.pairs is None:
            frame = frame.select("dialogue", _value(facet).alias("value"))
        else:
            frame = facet.pairs(frame)
        values = frame.drop_nulls().filter(pl.col("value") != "").unique()
        return values.join(self._placed().select("place", "dialogue"), on="dialogue").select("place", "value")

    def _placed(self) -> pl.DataFrame:
        return self._heads.with_row_index("place")

    def _labelled(self) -> list[tuple[int, Sequence[str]]]:
        """Places of the dialogues that people labelled, with their labels; read anew, as people add to them."""
        store = self._library.store
        if store is None or not self._run.stored:
            return []
        try:
            notes = store.annotations(self._run.id).dialogues
        except DialgaugeError:  # told on the page of the run; a damaged file of theirs hides no dialogue
            return []
        places = {name: index for index, name in enumerate(self.ids) if name in notes} if notes else {}
        return [(places[name], note.labels) for name, note in notes.items() if name in places]

    def _measured(self, measure: str) -> NDArray[np.float64]:
        if measure not in self._run.scores:
            raise DialgaugeError(f"the run '{self._run.id}' has no measure '{measure}'")
        rows = self._library.table(self._run, "dialogue_scores").filter(pl.col("measure") == measure)
        values = rows.select("dialogue", (pl.col("num") / pl.col("den")).alias("value"))
        joined = self._heads.select("dialogue").join(values, on="dialogue", how="left", maintain_order="left")
        return joined["value"].cast(pl.Float64).fill_null(np.nan).to_numpy()

    def _rows(self, places: NDArray[np.int64], measures: Sequence[str]) -> Iterator[ListRow]:
        columns = [self.value(measure) for measure in measures]
        heads = self._heads[places.tolist()]
        openings = self._openings(heads["dialogue"].to_list())
        labels = dict(self._labelled())
        passed = self.passed
        for index, (name, turns, domains, *_) in zip(places, heads.iter_rows(), strict=True):
            values = [None if np.isnan(column[index]) else float(column[index]) for column in columns]
            verdict = None if passed is None or np.isnan(passed[index]) else bool(passed[index])
            yield ListRow(name, turns, domains, values, openings.get(name, ""), labels.get(int(index), ()), verdict)

    def _openings(self, names: list[str]) -> dict[str, str]:
        turns = self._library.table(self._run, "turns")
        first = turns.filter((pl.col("turn") == 0) & pl.col("dialogue").is_in(names))
        return dict(first.select("dialogue", "text").rows())


def _only(frame: pl.DataFrame, facet: Facet) -> pl.DataFrame:
    if facet.only is None:
        return frame
    column, value = facet.only
    return frame.filter(pl.col(column) == value)


def _value(facet: Facet) -> pl.Expr:
    """An expression for the values of a facet, made of its columns."""
    value = pl.concat_str([pl.col(column) for column in facet.columns], separator="-", ignore_nulls=True)
    return value.replace("", facet.absent) if facet.absent else value
