"""The runs of a store, kept open while their folders stay as they are, so that tables are read once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import RLock

from dialgauge.comparison import RESAMPLES, Comparison, compare_runs
from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.kinds import kind_named
from dialgauge.runs import MANIFEST, Annotations, Run, Store

#: Runs and comparisons that are kept open.
_MOST = 24
#: A page is waited for: dialogues times resamples of a comparison, unless that leaves too few of them.
_DRAWS, _LEAST_RESAMPLES = 20_000_000, 1_000


class MissingRun(DialgaugeError):
    """The run that an address names does not exist, or was removed."""


class Library:
    """The runs of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._runs: OrderedDict[tuple[str, int], Run] = OrderedDict()
        self._comparisons: OrderedDict[tuple[tuple[str, int], ...], Comparison] = OrderedDict()
        self._lock = RLock()

    def runs(self) -> list[Run]:
        """All runs that can be read, the newest first."""
        return list(reversed(self.store.survey().runs))

    def problems(self) -> list[str]:
        """What is wrong with folders that should be runs and are not."""
        return [str(problem) for problem in self.store.survey().problems]

    def run(self, id: str) -> Run:
        """The run with this id."""
        with self._lock:
            stamp = self._stamp(id)
            if stamp not in self._runs:
                self._runs[stamp] = Run.load(self.store.folder / id)
                if len(self._runs) > _MOST:
                    self._runs.popitem(last=False)
            self._runs.move_to_end(stamp)
            return self._runs[stamp]

    def _stamp(self, id: str) -> tuple[str, int]:
        """The id, looked up among the folders and never part of a path by itself, and when the run was written."""
        try:
            names = {entry.name for entry in self.store.folder.iterdir() if not entry.name.startswith(".")}
            if id not in names:
                raise MissingRun(f"there is no run '{id}' in this store; it may have been removed or renamed")
            return id, (self.store.folder / id / MANIFEST).stat().st_mtime_ns
        except OSError:
            raise MissingRun(f"the run '{id}' has been removed") from None

    def annotations(self, run: Run) -> Annotations:
        """What people wrote about a run; a damaged file of theirs does not hide the run."""
        try:
            return self.store.annotations(run.id)
        except DialgaugeError as error:
            return Annotations(note=f"({error})")

    def group_of(self, run: Run) -> tuple[object, ...]:
        """What runs have in common that may be compared: their kind and the dialogues that they are about."""
        kind = kind_named(run.kind)
        return run.kind, run.manifest.corpus, *(run.manifest.config.get(key) for key in kind.measured_on)

    def others(self, run: Run) -> list[Run]:
        """Other runs about the same dialogues, the newest first."""
        group = self.group_of(run)
        return [other for other in self.runs() if other.id != run.id and self.group_of(other) == group]

    def has_dialogue(self, run: Run, name: str) -> bool:
        """Whether a run has a dialogue of this id, however it is written."""
        return dialogue_key(name) in {dialogue_key(own) for own in run.table("dialogues")["dialogue"]}

    def comparison(self, ids: Sequence[str]) -> Comparison:
        """The comparison of these runs; over very many dialogues with fewer resamples than elsewhere."""
        runs = [self.run(name) for name in dict.fromkeys(ids)]
        if len(runs) < 2:
            raise DialgaugeError("choose two runs or more to compare")
        key = tuple(self._stamp(run.id) for run in runs)
        with self._lock:
            if key not in self._comparisons:
                dialogues = max(run.rows("dialogues") for run in runs)
                resamples = max(_LEAST_RESAMPLES, min(RESAMPLES, _DRAWS // max(dialogues, 1)))
                self._comparisons[key] = compare_runs(runs, resamples=resamples)
                if len(self._comparisons) > _MOST:
                    self._comparisons.popitem(last=False)
            return self._comparisons[key]
