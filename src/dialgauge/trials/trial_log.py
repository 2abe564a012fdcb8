"""A log of agents, read once: its conversations, the tasks it stores, and how many there should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Dialogue, Outcome
from dialgauge.errors import DialgaugeError
from dialgauge.formats import LAST_RESORT, AnyFrame, Corpus, UnknownFormat, planned_results, read
from dialgauge.text import counted
from dialgauge.trials.log_files import no_log
from dialgauge.worlds.tools import ToolDomain, ToolTask, log_benchmark, log_domain, tasks_of_log

#: What agents did: a file, records of a log or a frame of them, or dialogues.
Attempted: TypeAlias = "str | Path | Corpus | AnyFrame | Sequence[Mapping[str, object]] | Iterable[Dialogue]"
#: Formats of dialogues and predictions, in which nothing is said of tasks and verdicts.
_NO_LOGS = frozenset({LAST_RESORT, "parquet"})
#: A reward this close to 1 is a pass.
PASSED = 1 - 1e-6


class LogPlan(Struct, frozen=True, kw_only=True):
    """How many conversations a log should have, and has; ``named``: it says so itself."""

    tasks: int
    trials: int
    present: int
    named: bool

    @property
    def missing(self) -> int:
        return self.tasks * self.trials - self.present

    def sentence(self) -> str:
        """What is missing, without the full stop; empty where nothing is."""
        if not self.missing:
            return ""
        plan = f"{counted(self.tasks, 'task')} x {counted(self.trials, 'trial')}"
        plan += " planned" if self.named else "; the file names no plan"
        return f"INCOMPLETE: {self.present:,} of {self.tasks * self.trials:,} conversations are there ({plan})"


class TrialLog(Struct, frozen=True, kw_only=True, dict=True):
    """A log: who made it, and its conversations in order."""

    name: str
    corpus: Corpus
    #: What a file says was planned in which no conversation is.
    plan_alone: Outcome | None = None

    @property
    def file(self) -> str:
        """Where it was read from; empty for what was in memory."""
        return self.corpus.source if self.corpus.files else ""

    @property
    def dialogues(self) -> Sequence[Dialogue]:
        return self.corpus.dialogues

    @cached_property
    def benchmark(self) -> str:
        """``tau`` or ``tau2``; empty for other logs."""
        return log_benchmark(self.dialogues)

    @cached_property
    def tried(self) -> dict[str, int]:
        """How many conversations each task has."""
        return dict(Counter(dialogue.ended.task for dialogue in self.dialogues))

    def domain(self, root: Path | None) -> ToolDomain | None:
        """The domain of ours whose log it is, if its records are here."""
        return log_domain(self.dialogues, root)

    def tasks(self, given: Sequence[ToolTask] | None = None) -> list[ToolTask]:
        """The tasks that it stores, else those given, else what most conversations say of theirs."""
        return tasks_of_log(self.dialogues, self.corpus.notes.tasks, given, self.file)[0]

    @cached_property
    def plan(self) -> LogPlan:
        """As the file says or, where it does not, the tasks it has with the most trials that any has."""
        plans = [dialogue.ended.planned for dialogue in self.dialogues if dialogue.ended.planned]
        planned = max((trials for _, trials in plans), default=0)
        numbers = len({dialogue.ended.trial for dialogue in self.dialogues})
        trials = planned or max(numbers, *self.tried.values(), 0)
        tasks = max((count for count, _ in plans), default=0)
        return LogPlan(
            tasks=max(tasks, len(self.tried)),
            trials=trials,
            present=sum(min(count, trials) for count in self.tried.values()),
            named=bool(planned and tasks),
        )

    def refuse_others(self) -> None:
        """An error where it is no log of a benchmark."""
        if not self.benchmark:
            raise DialgaugeError(
                "it is not a results file of τ-bench or τ²-bench, which alone have all that this needs: the tasks with "
                "instructions and expected calls, and every call as it was made (docs/formats/tau.md shows the layout)",
                file=self.file or None,
            )


def read_log(source: Attempted, name: str = "", format: str | None = None, success: str = "") -> TrialLog:
    """Read a log; of a file without conversations, what it says was planned."""
    if not isinstance(source, str | Path):
        return TrialLog(name=name, corpus=read(source, success=success))
    name = name or Path(source).name
    try:
        corpus = read(source, format=format, success=success)
    except DialgaugeError as error:
        if isinstance(error, UnknownFormat):
            raise no_log(source) from error
        plan = None if format else planned_results(source)
        if plan is None:
            raise
        corpus = Corpus(source=str(source), format="", kind="", files=[str(source)])
        return TrialLog(name=name, corpus=corpus, plan_alone=plan)
    if corpus.format in _NO_LOGS:
        raise no_log(source)
    return TrialLog(name=name, corpus=corpus)


def has_passed(dialogue: Dialogue) -> bool:
    """Whether the log says so."""
    reward = dialogue.ended.reward
    return reward is not None and reward >= PASSED
