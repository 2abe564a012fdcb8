"""Many systems scored wherever there are workers: one unit for each file, whose run comes back whole."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from dialgauge import engine
from dialgauge.engine import SILENT, Progress, Unit, Work, Workers
from dialgauge.errors import DialgaugeError
from dialgauge.formats import list_shards
from dialgauge.runs import Run, Store, packed_run, unpacked_run
from dialgauge.tasks.evaluation import TaskEvaluation, TaskOptions
from dialgauge.tasks.predictions import read_predictions
from dialgauge.tasks.trials.trial_scores import score_results
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.tasks.texts import ReferenceKind


class TaskSource(Struct, frozen=True):
    """One system: where its responses lie, and its name."""

    source: str
    name: str


class TaskWork(Work[Any, TaskSource]):
    """The run of one system; everything that it depends on is named, so that finished ones are found again."""

    #: What all units are scored against.
    files: Sequence[str] = ()

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Everything else."""


class ResponseWork(TaskWork):
    """Responses against goals: every worker reads gold, database and references for itself."""

    def __init__(
        self,
        gold: str,
        database: str | None,
        references: str | None,
        references_are: ReferenceKind | None,
        options: TaskOptions,
        *,
        human: bool,
    ) -> None:
        self.given = (gold, database, references, references_are, options)
        self._human = human
        self.files = [name for name in (gold, database, references) if name is not None]

    @property
    def settings(self) -> dict[str, Any]:
        return {"given": msgspec.to_builtins(self.given[3:]), "human": self._human}

    def open(self) -> TaskEvaluation:
        return TaskEvaluation(*self.given)

    def do(self, state: TaskEvaluation, unit: Unit[TaskSource]) -> bytes:
        system = read_predictions(unit.payload.source, unit.payload.name)
        return packed_run(state.score(system, human=self._human))


class ResultsWork(TaskWork):
    """Results of agents over trials."""

    def __init__(
        self,
        measures: Sequence[str],
        resamples: int,
        seed: int,
        judges: Iterable[str | Path] = (),
        format: str | None = None,
    ) -> None:
        self._measures, self._resamples, self._seed, self._format = tuple(measures), resamples, seed, format
        self.files = [str(file) for file in judges]

    @property
    def settings(self) -> dict[str, Any]:
        named = {"format": self._format} if self._format else {}
        return {"measures": list(self._measures), "resamples": self._resamples, "seed": self._seed, **named}

    def open(self) -> None:
        """Every file is read for itself."""

    def do(self, state: None, unit: Unit[TaskSource]) -> bytes:
        scored = score_results(
            {unit.payload.name: unit.payload.source},
            measures=self._measures,
            resamples=self._resamples,
            seed=self._seed,
            judges=self.files,
            format=self._format,
        )
        return packed_run(scored[0])


def score_distributed(
    work: TaskWork,
    systems: Mapping[str, str],
    *,
    store: Store | None = None,
    workers: Workers,
    progress: Progress = SILENT,
) -> list[Run]:
    """The runs of systems, files by name. One that fails is an error at the end, and the others' work is kept."""
    runs: list[Run] = []
    failed: list[str] = []
    sources = [TaskSource(source, name) for name, source in systems.items()]
    units = [Unit(_key(source), source) for source in sources]
    config = {
        "work": type(work).__name__,
        "settings": work.settings,
        "systems": sorted(source.source for source in sources),
        "files": [shard.key for shard in list_shards(work.files)] if work.files else [],
    }
    bench = (store or Store()).kept_units(kind="tasks", name=sources[0].name, config=config)
    with bench as done, progress.bar("scoring", len(sources)) as advance:
        for result in engine.run(work, units, workers=workers, done=done):
            advance(1)
            if result.content is None:
                failed.append(result.failure or "a file could not be scored")
            else:
                runs.append(unpacked_run(result.content))
        if failed:
            kept = f". The work on {len(runs):,} of {counted(len(sources), 'file')} is kept" if runs else ""
            raise DialgaugeError("; ".join(failed[:5]) + kept)
    return runs


def _key(system: TaskSource) -> str:
    """What identifies the files of a system, and the name it goes by."""
    facts = "".join(shard.key for shard in list_shards([system.source])) + system.name
    return hashlib.sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()[:32]
