"""A log of agents, read once: its conversations as trials of tasks, and how many of them there should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Dialogue, End, Outcome, Speaker
from dialgauge.errors import DialgaugeError
from dialgauge.formats import AnyFrame, Corpus, UnknownFormat, read
from dialgauge.measures import Count, Coverage
from dialgauge.text import some_of
from dialgauge.worlds.tools import ToolDomain, load_tool_domain, log_benchmark, log_domain

#: What agents did: a file, records of a log or a frame of them, or dialogues.
Attempted: TypeAlias = "str | Path | Corpus | AnyFrame | Sequence[Mapping[str, object]] | Iterable[Dialogue]"
#: Logs in which each conversation names its model.
_OF_ONE_MODEL = frozenset({"chat", "inspect"})
#: A reward this close to 1 is a pass.
_ROUNDING = 1e-6
PASSED = 1 - _ROUNDING
#: A score with more different texts is not a label.
_MOST_LABELS = 12
SIDES = ("agent", "user")


class Attempt(Struct, frozen=True, kw_only=True):
    """One trial of one task; None is what the log does not say."""

    id: str
    task: str
    trial: int
    domains: tuple[str, ...]
    end: End
    reason: str
    success: bool | None
    reward: float | None
    parts: dict[str, float]
    #: By side; ``both`` where the log does not tell them apart.
    costs: dict[str, float]
    seconds: dict[str, float]
    tokens: float | None
    turns: dict[str, int]
    calls: dict[str, int]
    #: Scores of the log that are numbers, and those that are labels.
    numbers: dict[str, float]
    labels: dict[str, str]
    #: Does it count? It has a verdict on the agent, or a score in a log without verdicts.
    scored: bool


class TrialLog:
    """A log: its name, its conversations in order, and each of them as an attempt at a task."""

    def __init__(self, name: str, corpus: Corpus | Iterable[Dialogue], graders: Sequence[str] = ()) -> None:
        self.name = name
        #: Scores that are verdicts of graders.
        self.graders = tuple(graders)
        self.corpus = corpus if isinstance(corpus, Corpus) else None
        dialogues = corpus.dialogues if isinstance(corpus, Corpus) else corpus
        self.dialogues: Sequence[Dialogue] = dialogues if isinstance(dialogues, Sequence) else list(dialogues)
        self.outcomes = [dialogue.ended for dialogue in self.dialogues]
        _refuse_models(self.outcomes)
        #: ``tau`` or ``tau2``; empty for logs of agents in general.
        self.benchmark = log_benchmark(self.dialogues)
        self.in_general = not self.benchmark
        #: Is there a yes or no on any conversation? Without one there is no pass^k, and those with a score count.
        self.has_verdicts = any(outcome.success is not None for outcome in self.outcomes)
        scores: dict[str, list[float | str]] = {}
        for outcome in self.outcomes:
            for score, value in outcome.scores.items():
                scores.setdefault(score, []).append(value)
        #: Scores that are numbers wherever they are given, with their lowest and highest value.
        self.numeric = {
            score: (float(min(values)), float(max(values)))
            for score, values in scores.items()
            if not any(isinstance(value, str) for value in values)
        }
        self.zero_or_one = {score for score in self.numeric if set(map(float, scores[score])) <= {0.0, 1.0}}
        texts = {
            score: sorted(set(map(_text, values))) for score, values in scores.items() if score not in self.numeric
        }
        self.labelled = {score: values for score, values in texts.items() if len(values) <= _MOST_LABELS}
        #: Scores with so many different values that they are texts.
        self.free_texts = [score for score in texts if score not in self.labelled]
        self.attempts = [self._attempt(dialogue) for dialogue in self.dialogues]

    def _attempt(self, dialogue: Dialogue) -> Attempt:
        """A conversation as an attempt; one with neither task nor verdict is an error."""
        outcome = dialogue.ended
        if not outcome.task and outcome.success is None:
            raise DialgaugeError(
                "it has neither a verdict (outcome, success) nor a task (outcome, task), so it is not a log of "
                "trials; states and predictions are for 'dialgauge score'",
                dialogue=dialogue.id,
            )
        numbers = {name: float(value) for name, value in outcome.scores.items() if name in self.numeric}
        labels = {name: _text(value) for name, value in outcome.scores.items() if name in self.labelled}
        is_judged = outcome.success is not None or (not self.has_verdicts and bool(numbers or labels))
        tokens = [usage.tokens for usage in outcome.usage.values() if usage.tokens is not None]
        seconds = {side: usage.seconds for side, usage in outcome.usage.items() if usage.seconds is not None}
        if outcome.seconds is not None:
            seconds["both"] = outcome.seconds
        sides: dict[str, Speaker] = {"agent": "system", "user": "user"}
        calls = Counter(speaker for speaker, _ in dialogue.calls())
        turns = Counter(turn.speaker for turn in dialogue.turns)
        return Attempt(
            id=dialogue.id,
            task=outcome.task or dialogue.id,
            trial=outcome.trial,
            domains=dialogue.domains,
            end=outcome.end,
            reason=outcome.reason,
            success=outcome.success,
            reward=None if outcome.reward is None else _share(dialogue.id, "reward", outcome.reward),
            parts={part: _share(dialogue.id, f"reward's part {part}", value) for part, value in outcome.parts.items()},
            costs={side: usage.cost for side, usage in outcome.usage.items() if usage.cost is not None},
            seconds=seconds,
            tokens=sum(tokens) if tokens else None,
            turns={side: turns[speaker] for side, speaker in sides.items()},
            calls={side: calls[speaker] for side, speaker in sides.items()},
            numbers=numbers,
            labels=labels,
            scored=is_judged and outcome.end != "infrastructure",
        )

    @property
    def file(self) -> str:
        """Where it was read from; empty for what was in memory."""
        return self.corpus.source if self.corpus is not None and self.corpus.files else ""

    def said(self, key: str) -> str:
        """The different values that conversations give for a fact of the log, joined by commas."""
        texts = (each.benchmark if key == "benchmark" else each.facts.get(key, "") for each in self.outcomes)
        return ",".join(dict.fromkeys(filter(None, texts)))

    def domain(self, named: str | None, root: Path | None) -> ToolDomain | None:
        """The domain that is named, or the one of ours whose log it is; None where its records are not here."""
        if named is None:
            return log_domain(self.dialogues, root)
        world = load_tool_domain(named, root=root)
        if world.benchmark not in ("", self.benchmark):
            raise DialgaugeError(
                f"the log is of {self.benchmark}, and the tools and records of '{world.name}' are those of "
                f"{world.benchmark}, where its calls would not mean the same; leave out --domain",
                file=self.file or None,
            )
        return world

    @cached_property
    def tasks(self) -> dict[str, list[int]]:
        """The places of each task's attempts."""
        tasks: dict[str, list[int]] = {}
        for index, attempt in enumerate(self.attempts):
            tasks.setdefault(attempt.task, []).append(index)
        return tasks

    @cached_property
    def _planned(self) -> tuple[int, int]:
        plans = [outcome.planned for outcome in self.outcomes if outcome.planned is not None]
        return max((tasks for tasks, _ in plans), default=0), max((trials for _, trials in plans), default=0)

    @property
    def plan_named(self) -> bool:
        """Does the log say how many tasks and trials were planned?"""
        return all(self._planned)

    @cached_property
    def trials(self) -> int:
        """How many trials of each task were planned: as the log says or, where it does not, as many as any has.

        The numbers that trials bear do not matter: trials 2 and 3 of every task are two trials.
        """
        numbers = 0 if self.in_general else len({attempt.trial for attempt in self.attempts})
        return self._planned[1] or max(numbers, *map(len, self.tasks.values()), 0)

    @cached_property
    def planned_tasks(self) -> int:
        return max(self._planned[0], len(self.tasks))

    @cached_property
    def planned_trials(self) -> dict[str, int]:
        """How many trials of each task were planned; a general log that says nothing of a plan is complete."""
        complete = self.in_general and not self._planned[1]
        return {task: len(places) if complete else self.trials for task, places in self.tasks.items()}

    @property
    def planned(self) -> int:
        """How many conversations were planned."""
        return sum(self.planned_trials.values()) + (self.planned_tasks - len(self.tasks)) * self.trials

    @cached_property
    def scored_trials(self) -> dict[str, int]:
        """How many trials of each task have a verdict."""
        return {task: sum(self.attempts[index].scored for index in places) for task, places in self.tasks.items()}

    @property
    def scored(self) -> int:
        """How many attempts have a verdict on the agent."""
        return sum(self.scored_trials.values())

    @property
    def most_scored(self) -> int:
        """The most trials of a task that have a verdict."""
        return max(self.scored_trials.values(), default=0)

    def tasks_with(self, trials: int) -> int:
        """How many tasks have so many trials with a verdict, or more: those that pass^k of this k rests on."""
        return sum(count >= trials for count in self.scored_trials.values())

    @cached_property
    def surplus(self) -> set[str]:
        """The last trials of each task that has more than were planned, where the log names a plan."""
        if not self._planned[1]:
            return set()
        ordered = (sorted(places, key=lambda index: self.attempts[index].trial) for places in self.tasks.values())
        return {self.attempts[index].id for places in ordered for index in places[self._planned[1] :]}

    @property
    def beyond_plan(self) -> dict[str, int]:
        """How many conversations of a task are more than were planned, by task."""
        return dict(Counter(attempt.task for attempt in self.attempts if attempt.id in self.surplus))

    @cached_property
    def broken(self) -> dict[str, int]:
        """Failures that were not the agent's, by reason."""
        reasons = (attempt.reason for attempt in self.attempts if attempt.end == "infrastructure")
        return dict(Counter(reasons).most_common())

    @property
    def unjudged(self) -> int:
        """How many attempts came to their end and have no verdict."""
        return sum(attempt.end != "infrastructure" and not attempt.scored for attempt in self.attempts)

    @cached_property
    def coverage(self) -> Coverage:
        """Conversations, and tasks of which any has a verdict.

        An extra trial of one task does not replace a missing trial of another, and a conversation that broke off and
        was held again is not missing.
        """
        broken = Counter(attempt.task for attempt in self.attempts if attempt.end == "infrastructure")
        counts = {task: min(count, self.trials) for task, count in self.scored_trials.items()}
        failed = sum(min(broken[task], self.trials - count) for task, count in counts.items())
        return Coverage(
            {
                "conversations": Count(
                    expected=self.planned, read=len(self.attempts), scored=sum(counts.values()), failed=failed
                ),
                "tasks": Count(expected=self.planned_tasks, read=len(self.tasks), scored=self.tasks_with(1), failed=0),
            },
            policy="a conversation that failed by infrastructure is not counted, and neither is one that is missing",
        )

    def bounds(self) -> tuple[float, float]:
        """pass^1 over the plan, a mean over tasks, if all that is missing had failed, and if it had passed."""
        untouched = self.planned_tasks - len(self.tasks)
        low, missing = Fraction(0), Fraction(untouched)
        for task, places in self.tasks.items():
            planned, trials = self.planned_trials[task], self.scored_trials[task]
            successes = sum(bool(attempt.success) for index in places if (attempt := self.attempts[index]).scored)
            low += Fraction(successes, max(trials, planned))
            missing += Fraction(max(planned - trials, 0), planned)
        tasks = len(self.tasks) + untouched
        return float(low / tasks), float((low + missing) / tasks)


def read_log(source: Attempted, name: str = "", format: str | None = None, success: str = "") -> TrialLog:
    """Read a log, from a file or from memory."""
    if not isinstance(source, str | Path):
        return TrialLog(name, read(source, success=success))
    try:
        corpus = read(source, format=format, success=success)
    except UnknownFormat as error:
        raise DialgaugeError(f"it is no log of agents: {error.as_log}", file=str(source)) from error
    if corpus.kind == "predictions":
        why = "it holds predictions of a tracker, and no conversations of agents; 'dialgauge score' scores them"
        raise DialgaugeError(why, file=str(source))
    try:
        return TrialLog(name or Path(source).name, corpus)
    except DialgaugeError as error:
        raise error.at(file=str(source)) from error


def _share(dialogue: str, name: str, value: float) -> float:
    if 1 < value <= 1 + _ROUNDING:
        return 1.0
    if not 0 <= value <= 1:
        raise DialgaugeError(f"the {name} must be between 0 and 1 (got {value:g})", dialogue=dialogue)
    return value


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def has_passed(dialogue: Dialogue) -> bool:
    """Whether the log says so."""
    reward = dialogue.ended.reward
    return reward is not None and reward >= PASSED


def has_failed(dialogue: Dialogue) -> bool:
    """Whether it has a reward and did not pass."""
    return dialogue.ended.reward is not None and not has_passed(dialogue)


def _refuse_models(outcomes: Sequence[Outcome]) -> None:
    """Refuse conversations of several models: they are not trials of one agent."""
    models = Counter(
        each.facts["agent"] for each in outcomes if each.benchmark in _OF_ONE_MODEL and "agent" in each.facts
    )
    if len(models) > 1:
        listed = some_of((f"{model[:60]} {count:,}" for model, count in models.most_common()), 8)
        raise DialgaugeError(
            f"it has conversations of {len(models):,} models ({listed}), which are not trials of one agent; keep those "
            "of each model in a file of its own, or give all conversations the same 'model' to score them as one agent"
        )
