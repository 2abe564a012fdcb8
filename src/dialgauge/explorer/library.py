"""Runs and their tables, kept in memory for the pages that show them.

A page asks for a few rows of a large table, again and again. What was read is kept, the least recently used going
first, until a run's folder changes or is gone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, RLock
from typing import Any, TypeVar

import msgspec
import polars as pl
from polars.exceptions import PolarsError

from dialgauge.comparison import (
    RESAMPLES,
    Comparison,
    ComparisonDraws,
    can_be_compared,
    compare_runs,
    compare_runs_again,
)
from dialgauge.dialogue import Dialogue, Goal, Outcome, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.explorer.beside_runs import kept_beside
from dialgauge.kinds import kind_named
from dialgauge.presentation import pages_of
from dialgauge.runs import MANIFEST, Run, Store, Survey

T = TypeVar("T")

#: Bytes of tables that are kept, and other things (lists of dialogues, comparisons).
_MOST_BYTES = 2 * 2**30
_MOST_THINGS = 64
#: Small things that are kept: which runs can be compared.
_MOST_FACTS = 10_000
#: Dialogues of a run from which on it is too slow to try whether a comparison is refused.
_LARGE = 20_000
#: A page is waited for: dialogues times resamples of a comparison, unless that leaves too few of them.
_DRAWS = 20_000_000
_LEAST_RESAMPLES = 1_000


#: What code runs into that takes a table for what it was.
_ODD_CONTENT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, msgspec.MsgspecError)


class MissingRun(DialgaugeError):
    """The run that an address names does not exist, or was removed."""


@contextmanager
def stored_as_expected() -> Iterator[None]:
    """Turn any failure on the content of a run's tables into an error that says so: files may have been changed."""
    try:
        yield
    except (*_ODD_CONTENT, PolarsError) as error:
        reason = (str(error).splitlines() or [""])[0][:200]
        raise DialgaugeError(
            "this cannot be shown: a table or a detail of the run is not what this version of dialgauge writes "
            f"({type(error).__name__}: {reason}); score again, and if that does not help, it is a bug in dialgauge"
        ) from error


class Library:
    """The runs of a store, or given ones, with their tables at hand."""

    def __init__(self, store: Store | None = None, runs: Sequence[Run] = ()) -> None:
        self.store = store
        self._given = {run.id: run for run in runs}
        self._opened: dict[str, tuple[int, Run]] = {}
        self._tables = _Kept(_MOST_BYTES, lambda frame: int(frame.estimated_size()))
        self._things = _Kept(_MOST_THINGS, lambda _: 1)
        self._facts = _Kept(_MOST_FACTS, lambda _: 1)

    def survey(self) -> Survey:
        """All runs, newest first, and what is wrong with folders that should be runs and are not."""
        if self.store is None:
            return Survey(list(self._given.values()), [])
        survey = self.store.survey()
        runs = []
        for run in reversed(survey.runs):
            with suppress(MissingRun):  # removed since the survey began
                runs.append(self._known(run))
        return Survey(runs, survey.problems)

    def run(self, id: str) -> Run:
        """The run with this id; one that was removed while its page stood open is an error that says so."""
        if id in self._given:
            return self._given[id]
        if self.store is None or id not in _folders(self.store.folder):
            raise MissingRun(f"there is no run '{id}' in this store; it may have been removed or renamed")
        return self._known(Run.load(self.store.folder / id))

    def _known(self, run: Run) -> Run:
        """The run as it was opened before, unless its manifest was written anew."""
        try:
            written = (run.path / MANIFEST).stat().st_mtime_ns
        except OSError:
            raise MissingRun(f"the run '{run.id}' has been removed") from None
        if self._opened.get(run.id, (0,))[0] != written:
            self._opened[run.id] = (written, run)
        return self._opened[run.id][1]

    def has_table(self, run: Run, name: str) -> bool:
        """Whether a run has a table, or a companion of it has."""
        return name in run.tables or self._companion(run, name) is not None

    def _companion(self, run: Run, table: str) -> Run | None:
        """Another run about the very same dialogues with a table that this one lacks, such as faults of the user."""
        kind, corpus = pages_of(run.kind).companion(run, table), run.manifest.corpus if run.stored else ""
        if kind is None:
            return None
        others = (
            other for other in (self._beside(run) if corpus else ()) if other.kind == kind and table in other.tables
        )
        if (stored := next((other for other in others if other.manifest.corpus == corpus), None)) is not None:
            return stored
        return self.of_run(f"companion {kind}", run, lambda: _made_now(kind, run))

    def _beside(self, run: Run) -> Sequence[Run]:
        """The runs among which companions of a stored one are looked for: all that are known, or those of its store."""
        known = self.survey().runs
        if self.store is not None:
            return known
        return [*known, *self.kept(("store", run.path.parent), lambda: Store(run.path.parent).survey().runs)]

    def table(self, run: Run, name: str) -> pl.DataFrame:
        """A table of a run, or of its companion."""
        if name not in run.tables and (other := self._companion(run, name)) is not None:
            return self.table(other, name)
        owner = run.manifest.corpus if name in ("dialogues", "turns") and run.stored else ""
        return self._tables.get((owner or self._stamp(run), name), lambda: run.table(name))

    def rows(self, run: Run, name: str, dialogue: str) -> list[dict[str, Any]]:
        """The rows of one dialogue in a table, as records; none where the run has no such table."""
        if not self.has_table(run, name):
            return []
        return self.table(run, name).filter(pl.col("dialogue") == dialogue).to_dicts()

    def dialogue(self, run: Run, id: str) -> Dialogue:
        """One dialogue of a run, by its id however that is written."""
        heads = self.table(run, "dialogues")
        rows = heads.filter(pl.col("dialogue") == id)
        if not rows.height:
            rows = heads.filter(pl.col("dialogue") == self._spelling(run, heads).get(dialogue_key(id), id))
        if not rows.height:
            raise DialgaugeError(f"the run '{run.id}' has no dialogue '{id}'")
        name, _, domains, goal, outcome = rows.row(0)
        records = self.table(run, "turns").filter(pl.col("dialogue") == name)["record"]
        try:
            return Dialogue(
                id=name,
                turns=tuple(msgspec.json.decode(record, type=Turn) for record in records),
                goal=None if goal is None else msgspec.json.decode(goal, type=Goal),
                domains=tuple(domains),
                outcome=None if outcome is None else msgspec.json.decode(outcome, type=Outcome),
            )
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DialgaugeError(
                f"the run '{run.id}' is damaged: this is no dialogue ({error})", dialogue=id
            ) from error

    def has_dialogue(self, run: Run, id: str) -> bool:
        """Whether a run has a dialogue; one that cannot be read has none."""
        try:
            heads = self.table(run, "dialogues")
        except DialgaugeError:
            return False
        return dialogue_key(id) in self._spelling(run, heads)

    def share_dialogues(self, run: Run, other: Run) -> bool:
        """Whether two runs are about the same dialogues: of one corpus, or the first of one is in the other."""
        if run.manifest.corpus and run.manifest.corpus == other.manifest.corpus:
            return True
        try:
            first = self.table(run, "dialogues")["dialogue"].head(1).to_list()
        except DialgaugeError:
            return False
        return bool(first) and self.has_dialogue(other, first[0])

    def comparable(self, run: Run, other: Run) -> bool:
        """Whether a comparison of two runs would not be refused: tried, unless they are of one corpus or very large."""
        if run.kind != other.kind or not self.share_dialogues(run, other):
            return False
        same = run.manifest.corpus and run.manifest.corpus == other.manifest.corpus
        if same or self.is_large(run) or self.is_large(other):
            return not run.scores.keys().isdisjoint(other.scores)
        return self._facts.get(("comparable", self._stamp(run), self._stamp(other)), lambda: _accepted(run, other))

    def size(self, run: Run) -> int:
        """How many dialogues a run has; none where its corpus is gone."""
        try:
            return run.tables["dialogues"].rows
        except DialgaugeError:
            return 0

    def _spelling(self, run: Run, heads: pl.DataFrame) -> Mapping[str, str]:
        return self.kept(
            ("spelling", self._stamp(run)), lambda: {dialogue_key(name): name for name in heads["dialogue"]}
        )

    def comparison(self, ids: Sequence[str]) -> Comparison:
        """The comparison of these runs, in this order; over very many dialogues with fewer resamples than elsewhere."""
        runs = [self.run(name) for name in dict.fromkeys(ids)]
        key = ("comparison", *(self._stamp(run) for run in runs))
        dialogues = max((run.tables["dialogues"].rows for run in runs), default=0)
        resamples = max(_LEAST_RESAMPLES, min(RESAMPLES, _DRAWS // max(dialogues, 1)))
        return self.kept(key, lambda: _compared(runs, resamples))

    def of_run(self, what: str, run: Run, make: Callable[[], T]) -> T:
        """Something made from a run, kept while the run stays as it is."""
        return self.kept((what, self._stamp(run)), make)

    def beside_run(self, what: str, run: Run, form: Any, make: Callable[[], T]) -> T:
        """The same, and where it took long kept in the run's folder too, from where it is read as the type ``form``."""
        return self.of_run(what, run, lambda: kept_beside([run], what, form, make))

    def is_large(self, run: Run) -> bool:
        """Whether whatever reads all its dialogues takes long."""
        return self.size(run) > _LARGE

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was made before under this key, or is made now."""
        return self._things.get(key, make)

    def _stamp(self, run: Run) -> tuple[str, int]:
        return run.id, self._opened.get(run.id, (0,))[0]


def _compared(runs: Sequence[Run], resamples: int) -> Comparison:
    """The comparison, from draws that were kept where there are such."""
    fresh: list[Comparison] = []

    def draw() -> ComparisonDraws:
        fresh.append(compare_runs(runs, resamples=resamples))
        return ComparisonDraws.of(fresh[0])

    draws: ComparisonDraws = kept_beside(runs, f"comparison {resamples}", ComparisonDraws, draw)
    if fresh:
        return fresh[0]
    try:
        return compare_runs_again(runs, draws)
    except ValueError:  # somebody changed the file
        return compare_runs(runs, resamples=resamples)


def _accepted(run: Run, other: Run) -> bool:
    try:
        return can_be_compared([run, other])
    except _ODD_CONTENT:
        return False


def _made_now(kind: str, run: Run) -> Run | None:
    """A run of another kind, made of the dialogues of a run; None where that kind needs more, or they are gone."""
    make: Callable[..., Run] | None = kind_named(kind).part("from_dialogues", Callable)  # type: ignore[arg-type]
    try:
        return None if make is None else make(list(run.dialogues()), run.name, resamples=0)
    except DialgaugeError:
        return None


def _folders(store: Path) -> set[str]:
    """The names in the store: an id is looked up among them and never becomes part of a path by itself."""
    try:
        return {entry.name for entry in store.iterdir() if not entry.name.startswith(".")}
    except OSError:
        return set()


class _Kept:
    """A cache that several threads share; one thing is made once, however many ask for it meanwhile."""

    def __init__(self, most: int, weigh: Callable[[Any], int]) -> None:
        self._most, self._weigh = most, weigh
        self._content: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._weight = 0
        self._lock = Lock()
        self._making: dict[Hashable, RLock] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        with self._lock:
            making = self._making.setdefault(key, RLock())
        with making:
            with self._lock:
                if key in self._content:
                    self._content.move_to_end(key)
                    kept: T = self._content[key][0]
                    return kept
            try:
                made = make()
                self._keep(key, made)
            finally:
                with self._lock:
                    self._making.pop(key, None)
            return made

    def _keep(self, key: Hashable, made: Any) -> None:
        weight = self._weigh(made)
        with self._lock:
            self._weight -= self._content.pop(key, (None, 0))[1]
            self._content[key] = (made, weight)
            self._weight += weight
            while self._weight > self._most and len(self._content) > 1:
                _, (_, gone) = self._content.popitem(last=False)
                self._weight -= gone
