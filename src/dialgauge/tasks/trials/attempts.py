"""The conversations of a results file, as attempts at tasks, and how many of them there should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Literal

from msgspec import structs

from dialgauge.dialogue import Dialogue, read_details
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Count, Coverage
from dialgauge.tasks.trials.own_tasks import OwnTasks
from dialgauge.tasks.trials.paired_tasks import PairedTasks, by_pairs, paired_tasks
from dialgauge.tasks.trials.task_attempt import BENCHMARKS, ENDS, TaskAttempt, is_count, task_attempt
from dialgauge.tasks.trials.trial_ids import TrialIds, grid_example, trials_in_ids
from dialgauge.tasks.trials.verdicts import LogScores

#: What a conversation says of its file.
_OF_FILE = {
    "benchmark", "task_set", "planned_trials", "planned_tasks", "agent", "user", "policy", "max_steps", "max_errors",
}  # fmt: skip
#: Logs whose conversations each name the one model that they are of.
_OF_ONE_MODEL = frozenset({"chat", "inspect"})
#: The variants that are a file, and what is left of its name without the number of a trial.
FILE_VARIANTS = ("file", "name of the file")
#: Logs in which a conversation that names no task is one by its id.
_OF_ANY_TASK = frozenset({"chat", "otel", "langfuse"})
#: Of so many conversations one must be the beginning of another to be taken for a state of it.
_FEWEST_SNAPSHOTS = 3
#: How many models are named.
_NAMED = 8


class Attempts:
    """All attempts of one file; ``plan`` is what a file says of itself in which no conversation is."""

    def __init__(self, dialogues: Iterable[Dialogue], plan: Mapping[str, str] | None = None) -> None:
        self.dialogues = dialogues if isinstance(dialogues, Sequence) else list(dialogues)
        #: What conversations say of their file, each different text once.
        self._told: dict[str, dict[str, None]] = {}
        self._details: set[str] = set()
        self.scores = LogScores()
        made: list[TaskAttempt] = []
        given: list[Mapping[str, str]] = []
        own_tasks = OwnTasks()
        models: Counter[str] = Counter()
        #: Conversations that are the beginning of another one of their task.
        self._continued: set[str] = set()
        for dialogue in self.dialogues:
            details = dialogue.details
            self._tell(details)
            self._details |= details.keys()
            self.scores.add(details)
            if details.get("benchmark") in _OF_ONE_MODEL and "agent" in details:
                models[details["agent"]] += 1
            if "continues" in details:
                self._continued.add(details["continues"])
            given.append(details)
            own_tasks.add(dialogue)
            made.append(task_attempt(dialogue))
        self._tell(plan or {})
        _refuse_models(models)
        #: What stands in the place of amounts and is no number that is read, which leaves these out.
        self.unread_amounts = _unread_amounts(given)
        if self.unread_amounts:
            made = [_without_amounts(attempt, self.unread_amounts) for attempt in made]
        #: What may hold the calls of tools and is not read, where no call was.
        self.unread_calls = next((details["unread_calls"] for details in given if "unread_calls" in details), "")
        if self.unread_calls and any(any(attempt.calls.values()) for attempt in made):
            self.unread_calls = ""
        if self.unread_calls:
            made = [structs.replace(attempt, calls={}) for attempt in made]
        #: What the ids tell of tasks and trials, where nothing else does.
        self.trial_ids = TrialIds()
        #: What may name the tasks, where each conversation counts as one of its own.
        self.may_name_task = ""
        if self.said("benchmark") in _OF_ANY_TASK and len({attempt.task for attempt in made}) == len(made):
            ids = [attempt.id for attempt in made]
            own = all(attempt.task == attempt.id and attempt.trial == 0 for attempt in made)
            numbered = len({attempt.trial for attempt in made}) > 1
            named = "" if own or numbered else grid_example([attempt.task for attempt in made])
            self.trial_ids = trials_in_ids(ids) if own else TrialIds(example=named)
            self.may_name_task = own_tasks.repeated(ids) if own or numbered else ""
        if in_ids := self.trial_ids.named:
            made = [
                structs.replace(attempt, task=task, trial=trial)
                for attempt, (task, trial) in zip(made, in_ids, strict=True)
            ]
        #: Which field names the tasks together with another, or might.
        self.paired = paired_tasks(made, given) if self.is_log else PairedTasks()
        if self.paired.second:
            made = by_pairs(made, given, self.paired.second)
        groups = [details.get("group", "") for details in given]
        #: Are tasks those that the groups of conversations name?
        self.by_groups = not self.trial_ids.named and _are_tasks(groups)
        if self.by_groups:
            made = _grouped(made, groups)
        #: Tasks of several domains under one id, which are not the same.
        self.shared_ids = _shared_ids(made) if self.is_log else frozenset()
        if self.shared_ids:
            made = [structs.replace(attempt, task="/".join((*attempt.domains, attempt.task))) for attempt in made]
        made = [
            structs.replace(attempt, success=None) if self._is_no_verdict(index, attempt) else attempt
            for index, attempt in enumerate(made)
        ]
        verdicts = [attempt.success for attempt in made]
        #: Does the verdict say success of every conversation, while a yes or no beside it does not?
        self.doubtful = self.scores.are_doubtful(verdicts)
        #: How many conversations passed by the log's own verdict.
        self.said_to_pass = verdicts.count(True)
        #: The status of runs, where nothing else is said of any conversation, and it is always success.
        self.status_alone = "" if self.doubtful else self.scores.status_alone(verdicts)
        if self.doubtful and self.scores.judgement:
            judged = map(self.scores.judged, range(len(made)))
            made = [
                structs.replace(attempt, success=success if success is not None or attempt.success else attempt.success)
                for attempt, success in zip(made, judged, strict=True)
            ]
        has_verdict = any(
            attempt.success or (attempt.success is not None and not self.scores.is_broken_off(index))
            for index, attempt in enumerate(made)
            if not self.scores.is_run_status(index)
        )
        #: What tells conversations of one task apart that are counted as its trials, with how often it is what.
        self.variants = _several_variants(made, [read_details("variant", details) for details in given])
        #: The score that says whether a task was done, where the log says it in no other way.
        self.verdict_score = "" if has_verdict else self.scores.verdict
        #: Without any verdict, conversations that have a score are those that count.
        self._by_scores = not has_verdict and not self.verdict_score
        self.attempts = [self._with_scores(index, attempt) for index, attempt in enumerate(made)]
        both = zip(self.attempts, (details.get("error") for details in given), strict=True)
        #: Errors of conversations of a log that count as failed by its verdict, each as often as it is.
        self.errors = Counter(
            error for attempt, error in both if error and attempt.scored and attempt.success is False and self.is_log
        )
        #: Is there a yes or no on any conversation? Without one there is no pass^k.
        self.has_verdicts = any(attempt.success is not None for attempt in self.attempts) or not self.is_log

    def _is_no_verdict(self, index: int, attempt: TaskAttempt) -> bool:
        """Is what was read as the verdict only the status of a run, or an amount? A failed run counts as failed."""
        ended = self.scores.is_run_status(index) and (attempt.success is True or not self.scores.verdict)
        return ended or self.scores.is_amount(index)

    def _tell(self, details: Mapping[str, str]) -> None:
        for key in _OF_FILE & details.keys():
            self._told.setdefault(key, {})[details[key]] = None

    def _with_scores(self, index: int, attempt: TaskAttempt) -> TaskAttempt:
        success = attempt.success
        numbers, labels = self.scores.numbers(index), self.scores.labels(index, judged=success is not None)
        if self.verdict_score in numbers:
            success = numbers[self.verdict_score] > 0
        is_judged = success is not None or (self._by_scores and bool(numbers or labels))
        scored = is_judged and attempt.end != "infrastructure"
        return structs.replace(attempt, success=success, numbers=numbers, labels=labels, scored=scored)

    @cached_property
    def is_log(self) -> bool:
        """Is it a log of agents in general, and not one of a benchmark that is known?"""
        return self.said("benchmark") not in BENCHMARKS

    def known(self, detail: str) -> bool:
        """Does any conversation say this of itself?"""
        return detail in self._details

    @cached_property
    def tasks(self) -> dict[str, list[int]]:
        """The places of each task's attempts."""
        tasks: dict[str, list[int]] = {}
        for index, attempt in enumerate(self.attempts):
            tasks.setdefault(attempt.task, []).append(index)
        return tasks

    def said(self, key: str) -> str:
        """The values that conversations give for a fact of the file, joined by commas; empty if none does."""
        return ",".join(text for text in self._told.get(key, ()) if text)

    @cached_property
    def trials(self) -> int:
        """How many trials of each task were planned: as the file says or, where it does not, as many as it has.

        The numbers that trials bear do not matter: trials 2 and 3 of every task are two trials, and a log may number
        its conversations throughout.
        """
        if self.trials_known:
            return self._planned("planned_trials")
        numbers = 0 if self.is_log else len(self.numbers)
        return max(self._planned("planned_trials"), numbers, *map(len, self.tasks.values()), 0)

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers of trials that any task has."""
        return sorted({attempt.trial for attempt in self.attempts})

    @property
    def odd_trials(self) -> list[int]:
        """The numbers of trials where they do not count up from 0, else none: then some may lie elsewhere."""
        first = self.numbers[0] if self.is_log and self.numbers and self.numbers[0] == 1 else 0
        return [] if self.numbers == list(range(first, first + len(self.numbers))) else self.numbers

    @property
    def snapshots(self) -> int:
        """How many conversations are but the beginning of another one, where these are too many to have broken off."""
        count = len(self._continued)
        return count if _FEWEST_SNAPSHOTS * count >= len(self.attempts) else 0

    @property
    def without_task(self) -> bool:
        """Do conversations of a log bear numbers of trials, while no two of them name the same task?"""
        return self.is_log and len(self.numbers) > 1 and len(self.tasks) == len(self.attempts)

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
        return self.said("benchmark") != "tau" and self._planned("planned_trials") > 0

    @property
    def tasks_known(self) -> bool:
        """Does the file itself say which tasks were planned?"""
        return self.said("benchmark") != "tau" and self._planned("planned_tasks") > 0

    def tasks_with(self, trials: int) -> int:
        """How many tasks have so many trials with a verdict, or more: those that pass^k of this k rests on."""
        return sum(count >= trials for count in self._scored_trials.values())

    @cached_property
    def planned_tasks(self) -> int:
        return max(self._planned("planned_tasks"), len(self.tasks))

    @property
    def planned(self) -> int:
        """How many conversations were planned; of a log that does not say it, as many as there are."""
        if self.is_log and not self.trials_known:
            return len(self.attempts)
        return self.planned_tasks * self.trials

    def _planned(self, key: str) -> int:
        return max((int(text) for text in self._told.get(key, ()) if is_count(text)), default=0)

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

    def undecided(self) -> dict[str, dict[str, int]]:
        """What stands where a verdict should and is neither yes nor no, by name: how often each text does."""
        texts: dict[str, Counter[str]] = {}
        for index, attempt in enumerate(self.attempts):
            for name, text in self.scores.undecided(index).items() if attempt.success is None else ():
                texts.setdefault(name, Counter())[text] += 1
        return {name: dict(counts.most_common()) for name, counts in texts.items()}

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


def _unread_amounts(given: Sequence[Mapping[str, str]]) -> dict[str, Counter[str]]:
    """By the name of an amount, the texts that are no number, and how often each is there."""
    found: dict[str, Counter[str]] = {}
    for details in given:
        for name, text in read_details("unread", details).items():
            found.setdefault(name, Counter())[text] += 1
    return found


def _without_amounts(attempt: TaskAttempt, unread: Mapping[str, Counter[str]]) -> TaskAttempt:
    """An attempt without amounts that only some conversations have as numbers: their mean would be that of those."""
    sides = {"agent_cost": "agent", "user_cost": "user", "cost": "both"}
    costs = {side: cost for name, side in sides.items() if name not in unread and (cost := attempt.costs.get(side))}
    costs = costs if {*sides} & unread.keys() else attempt.costs
    return structs.replace(attempt, costs=costs, tokens=None if "tokens" in unread else attempt.tokens)


def _refuse_models(models: Counter[str]) -> None:
    """Conversations of several models are no trials of one agent."""
    if len(models) > 1:
        listed = ", ".join(f"{model[:60]} {count:,}" for model, count in models.most_common(_NAMED))
        raise DialgaugeError(
            f"it has conversations of {len(models):,} models ({listed}), which are not trials of one agent; keep those "
            "of each model in a file of its own, or a folder, and name all of these. To score them as one agent, give "
            "all conversations the same 'agent_model'"
        )


def _several_variants(made: Sequence[TaskAttempt], given: Sequence[Mapping[str, str]]) -> dict[str, Counter[str]]:
    """Fields of which most tasks with several trials have several values, and several trials of one.

    Files that hold several tasks each are told apart by their names where each has one trial of them, too.
    """
    found: dict[str, Counter[str]] = {}
    for name in dict.fromkeys(name for each in given for name in each):
        tasks: dict[str, Counter[str]] = {}
        for one, each in zip(made, given, strict=True):
            tasks.setdefault(one.task, Counter())[each.get(name, "")] += 1
        repeated = [counts for counts in tasks.values() if counts.total() > 1]
        spread = Counter(value for counts in tasks.values() for value in counts)
        shared = name == FILE_VARIANTS[1] and min(spread.values()) > 1
        mixed = [counts for counts in repeated if len(counts) > 1 and (shared or max(counts.values()) > 1)]
        if 2 * len(mixed) > len(repeated):
            found[name] = sum(tasks.values(), Counter())
    if len({len(found.get(name, ())) for name in FILE_VARIANTS}) == 1:
        found.pop(FILE_VARIANTS[1], None)
    return found


def _shared_ids(made: Iterable[TaskAttempt]) -> frozenset[str]:
    """The ids of tasks that are in several domains, where each conversation is in one."""
    domains: dict[str, set[str]] = {}
    for attempt in made:
        if len(attempt.domains) == 1:
            domains.setdefault(attempt.task, set()).update(attempt.domains)
    return frozenset(task for task, names in domains.items() if len(names) > 1)


def _are_tasks(groups: Sequence[str]) -> bool:
    """Are groups those of trials: each conversation has one, and there are no fewer groups than trials in any?"""
    sizes = Counter(groups)
    return all(groups) and 1 < max(sizes.values(), default=0) <= len(sizes)


def _grouped(made: Sequence[TaskAttempt], groups: Sequence[str]) -> list[TaskAttempt]:
    """Attempts as trials of their groups, counted up where they bear no numbers."""
    numbered = len({attempt.trial for attempt in made}) > 1
    trials: Counter[str] = Counter()
    named = []
    for attempt, group in zip(made, groups, strict=True):
        named.append(structs.replace(attempt, task=group, trial=attempt.trial if numbered else trials[group]))
        trials[group] += 1
    return named
