"""The conversations of a results file, as attempts at tasks, and how many of them there should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Literal

from msgspec import structs

from dialgauge.dialogue import Dialogue, Outcome
from dialgauge.errors import DialgaugeError
from dialgauge.formats import ENDS
from dialgauge.measures import Count, Coverage
from dialgauge.trials.log_scores import LogScores
from dialgauge.trials.task_attempt import BENCHMARKS, TaskAttempt, task_attempt

#: Logs whose conversations each name the one model that they are of.
_OF_ONE_MODEL = frozenset({"chat", "inspect"})
#: How many models are named.
_NAMED = 8


class Attempts:
    """All attempts of one file; ``plan`` is what a file says of itself in which no conversation is."""

    def __init__(self, dialogues: Iterable[Dialogue], plan: Outcome | None = None) -> None:
        self.dialogues = dialogues if isinstance(dialogues, Sequence) else list(dialogues)
        outcomes = [dialogue.ended for dialogue in self.dialogues]
        self._told = [*outcomes, *([plan] if plan else [])]
        _refuse_models(outcomes)
        self.scores = LogScores(self.dialogues)
        made = [task_attempt(dialogue) for dialogue in self.dialogues]
        #: Is there a yes or no on any conversation? Without one there is no pass^k, and those with a score count.
        self.has_verdicts = any(attempt.success is not None for attempt in made) or not self.is_log
        self.attempts = [self._with_scores(index, attempt) for index, attempt in enumerate(made)]
        errors = (outcome.facts.get("error") for outcome in outcomes)
        #: Errors of conversations of a log that count as failed by its verdict, each as often as it is.
        self.errors = Counter(
            error
            for attempt, error in zip(self.attempts, errors, strict=True)
            if error and attempt.scored and attempt.success is False and self.is_log
        )

    def _with_scores(self, index: int, attempt: TaskAttempt) -> TaskAttempt:
        numbers, labels = self.scores.numbers(index), self.scores.labels(index)
        is_judged = attempt.success is not None or (not self.has_verdicts and bool(numbers or labels))
        scored = is_judged and attempt.end != "infrastructure"
        return structs.replace(attempt, numbers=numbers, labels=labels, scored=scored)

    @cached_property
    def is_log(self) -> bool:
        """Is it a log of agents in general, and not one of a benchmark that is known?"""
        return self.said("benchmark") not in BENCHMARKS

    @cached_property
    def tasks(self) -> dict[str, list[int]]:
        """The places of each task's attempts."""
        tasks: dict[str, list[int]] = {}
        for index, attempt in enumerate(self.attempts):
            tasks.setdefault(attempt.task, []).append(index)
        return tasks

    def said(self, key: str) -> str:
        """The different values that conversations give for a fact of the file, joined by commas; empty if none does."""
        texts = (each.benchmark if key == "benchmark" else each.facts.get(key, "") for each in self._told)
        return ",".join(dict.fromkeys(filter(None, texts)))

    @cached_property
    def trials(self) -> int:
        """How many trials of each task were planned: as the file says or, where it does not, as many as it has.

        The numbers that trials bear do not matter: trials 2 and 3 of every task are two trials, and a log may number
        its conversations throughout.
        """
        if self.trials_known:
            return self._planned[1]
        numbers = 0 if self.is_log else len(self.numbers)
        return max(numbers, *map(len, self.tasks.values()), 0)

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers of trials that any task has."""
        return sorted({attempt.trial for attempt in self.attempts})

    @property
    def odd_trials(self) -> list[int]:
        """The numbers of trials where they do not count up from 0, else none: then some may lie elsewhere."""
        first = self.numbers[0] if self.is_log and self.numbers and self.numbers[0] == 1 else 0
        return [] if self.numbers == list(range(first, first + len(self.numbers))) else self.numbers

    @cached_property
    def _scored_trials(self) -> dict[str, int]:
        """How many trials of each task have a verdict."""
        return {task: sum(self.attempts[index].scored for index in places) for task, places in self.tasks.items()}

    @property
    def most_scored(self) -> int:
        """The most trials of a task that have a verdict."""
        return max(self._scored_trials.values(), default=0)

    @property
    def beyond_plan(self) -> dict[str, int]:
        """How many conversations of a task are more than were planned, by task."""
        return {task: len(places) - self.trials for task, places in self.tasks.items() if len(places) > self.trials}

    @property
    def repeated_trials(self) -> dict[str, int]:
        """Trials of which there are several conversations under one number, and how many there are."""
        counts = Counter((attempt.task, attempt.trial) for attempt in self.attempts)
        return {f"task {task}, trial {trial:,}": count for (task, trial), count in counts.items() if count > 1}

    @property
    def trials_known(self) -> bool:
        """Does the file itself say how many trials were planned? One of tau-bench does not, and lists no tasks."""
        return self._planned[1] > 0

    @property
    def tasks_known(self) -> bool:
        """Does the file itself say which tasks were planned?"""
        return self._planned[0] > 0

    def tasks_with(self, trials: int) -> int:
        """How many tasks have so many trials with a verdict, or more: those that pass^k of this k rests on."""
        return sum(count >= trials for count in self._scored_trials.values())

    @cached_property
    def planned_tasks(self) -> int:
        return max(self._planned[0], len(self.tasks))

    @property
    def planned(self) -> int:
        """How many conversations were planned; of a log that does not say it, as many as there are."""
        if self.is_log and not self.trials_known:
            return len(self.attempts)
        return self.planned_tasks * self.trials

    @cached_property
    def _planned(self) -> tuple[int, int]:
        plans = [each.planned for each in self._told if each.planned is not None]
        return max((tasks for tasks, _ in plans), default=0), max((trials for _, trials in plans), default=0)

    @property
    def scored(self) -> int:
        """How many attempts have a verdict on the agent."""
        return sum(attempt.scored for attempt in self.attempts)

    @property
    def scored_of_plan(self) -> int:
        """How many of the conversations that were planned have a verdict: one more of a task makes up for no other."""
        return sum(min(count, self.trials) for count in self._scored_trials.values())

    @cached_property
    def failed(self) -> dict[str, int]:
        """What failed beside the agent, by reason."""
        return dict(
            Counter(attempt.reason for attempt in self.attempts if attempt.end == "infrastructure").most_common()
        )

    @cached_property
    def unfamiliar(self) -> dict[str, int]:
        """Ends that are not known and have a verdict, which counts, by reason."""
        return dict(
            Counter(
                attempt.reason for attempt in self.attempts if attempt.reason not in ENDS and attempt.scored
            ).most_common()
        )

    def with_cost(self, side: str) -> int:
        """Of how many attempts with a verdict the file gives the cost of a side."""
        return sum(attempt.scored and side in attempt.costs for attempt in self.attempts)

    @property
    def unjudged(self) -> int:
        """How many attempts came to their end and have no reward."""
        return sum(attempt.end != "infrastructure" and not attempt.scored for attempt in self.attempts)

    @cached_property
    def coverage(self) -> Coverage:
        """Conversations, and tasks of which any has a verdict. One that failed and was made up for is not missing."""
        begun = len(self.attempts)
        broken = Counter(attempt.task for attempt in self.attempts if attempt.end == "infrastructure")
        failed = sum(
            min(broken[task], self.trials - min(scored, self.trials)) for task, scored in self._scored_trials.items()
        )
        return Coverage(
            {
                "conversations": Count(expected=self.planned, read=begun, scored=self.scored_of_plan, failed=failed),
                "tasks": Count(expected=self.planned_tasks, read=len(self.tasks), scored=self.tasks_with(1), failed=0),
            },
            policy="a conversation that failed by infrastructure is not counted, and neither is one that is missing",
        )

    @property
    def plan(self) -> Literal["named", "unnamed", "log"]:
        """Does the file say what was planned? A log of agents in general need not have any plan."""
        if self.is_log and not self.trials_known:
            return "log"
        return "named" if self.trials_known and self.tasks_known else "unnamed"

    @property
    def even_trials(self) -> bool:
        """Has every task as many conversations?"""
        return len(set(map(len, self.tasks.values()))) == 1

    def domains(self) -> dict[str, tuple[float, int]]:
        """pass^1 and the number of tasks of each domain, where there are several."""
        tasks: dict[str, list[float]] = {}
        for places in self.tasks.values() if self.has_verdicts else ():
            scored = [bool(attempt.success) for index in places if (attempt := self.attempts[index]).scored]
            if scored:
                name = ",".join(self.attempts[places[0]].domains) or "no domain"
                tasks.setdefault(name, []).append(sum(scored) / len(scored))
        return {name: (sum(rates) / len(rates), len(rates)) for name, rates in tasks.items()} if len(tasks) > 1 else {}

    def bounds(self) -> tuple[float, float]:
        """pass^1 over the plan, a mean over tasks, if all that is missing had failed, and if it had passed."""
        by_log = self.plan == "log"
        untouched = 0 if by_log else self.planned_tasks - len(self.tasks)
        low, missing = Fraction(0), Fraction(untouched)
        for task, places in self.tasks.items():
            planned, trials = len(places) if by_log else self.trials, self._scored_trials[task]
            successes = sum(bool(attempt.success) for index in places if (attempt := self.attempts[index]).scored)
            low += Fraction(successes, max(trials, planned))
            missing += Fraction(max(planned - trials, 0), planned)
        tasks = len(self.tasks) + untouched
        return float(low / tasks), float((low + missing) / tasks)


def _refuse_models(outcomes: Sequence[Outcome]) -> None:
    """Conversations of several models are no trials of one agent."""
    models = Counter(
        each.facts["agent"] for each in outcomes if each.benchmark in _OF_ONE_MODEL and "agent" in each.facts
    )
    if len(models) > 1:
        listed = ", ".join(f"{model[:60]} {count:,}" for model, count in models.most_common(_NAMED))
        raise DialgaugeError(
            f"it has conversations of {len(models):,} models ({listed}), which are not trials of one agent; keep those "
            "of each model in a file of its own, or a folder, and name all of these. To score them as one agent, give "
            "all conversations the same 'model'"
        )
