"""What a reader of scores must know of a log: what was not read, what counts as a verdict, what was planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dialgauge.dialogue import differing_instructions, differing_sentence
from dialgauge.formats import Notes
from dialgauge.text import Note, counted, plain, some_of, times
from dialgauge.trials.log import TrialLog

#: How many tasks, scores or fields a note names.
_NAMED = 8
_NO_VERDICT = (
    "pass^k is left out: no conversation has a verdict, which is 'success' or 'passed' (true or false, 1 or 0), or a "
    "'reward' of 1; --success FIELD names another field"
)


def trial_notes(log: TrialLog, reading: Notes) -> list[Note]:
    """All notes on the scores of a log."""
    notes = [Note("read_as", f"read as: {reading.reading.line()}")] if reading.reading else []
    notes += [Note("not_read", f"{what} ({times(count)})") for what, count in reading.counts.items()]
    if log.trials > log.most_scored > 0:
        planned = f"{counted(log.trials, 'trial')} {'was' if log.trials == 1 else 'were'} planned"
        told = f"pass^k is left out above k = {log.most_scored:,}: {planned}, and no task has more with a verdict"
        notes.append(Note("left_out", told))
    notes += [*_verdict_notes(log, reading), *(_general_notes(log) if log.in_general else ()), *_plan_notes(log)]
    return notes


def _verdict_notes(log: TrialLog, reading: Notes) -> Iterator[Note]:
    """Which field was read as the verdict, or that there is none."""
    if reading.verdict_read:
        yield Note("verdict", f"a conversation passed where '{reading.verdict_read}' is 1")
    elif log.in_general and not log.has_verdicts:
        yield Note("verdict", _NO_VERDICT)
    elif log.in_general and log.unjudged:
        yield Note("verdict", f"{counted(log.unjudged, 'conversation')} of {len(log.attempts):,} not judged")
    for name in log.free_texts:
        yield Note("verdict", f"the score '{name}' is left out: it is a text that differs between conversations")


def _general_notes(log: TrialLog) -> Iterator[Note]:
    """Of logs of agents in general: trials that are not of one task, and errors that count."""
    tasks = (attempt.task for attempt in log.attempts)
    if differing := differing_instructions(zip(tasks, log.dialogues, strict=True)):
        yield Note("instructions", differing_sentence(differing))
    errors = Counter(
        error
        for attempt, dialogue in zip(log.attempts, log.dialogues, strict=True)
        if (error := dialogue.ended.facts.get("error")) and attempt.scored and attempt.success is False
    )
    if errors:
        shown = some_of((f"'{plain(text)[:60]}' {count:,}" for text, count in errors.most_common()))
        yield Note(
            "errors",
            f"{counted(errors.total(), 'conversation')} with an error counted as failed, as the log says so ({shown}); "
            "leave out the verdict if it was not the agent's",
        )


def _plan_notes(log: TrialLog) -> Iterator[Note]:
    """What is assumed of a plan that the log does not name, and trials beyond it."""
    if not log.in_general and not log.plan_named:
        taken = f"{counted(log.planned_tasks, 'task')} with {counted(log.trials, 'trial')} each, the most that any has"
        yield Note("unknown_plan", f"the log does not say how many tasks and trials were planned: taken to be {taken}")
    if more := log.beyond_plan:
        told = f"{counted(sum(more.values()), 'conversation')} beyond the plan of {counted(log.trials, 'trial')}"
        told += f" (task {some_of(more, _NAMED)}): each counts as one more trial of its task"
        yield Note("beyond_plan", told)
    counts = Counter((attempt.task, attempt.trial) for attempt in log.attempts)
    again = [f"task {task}, trial {trial:,}" for (task, trial), count in counts.items() if count > 1]
    if again:
        told = f"several conversations have the same number of a trial ({some_of(again, _NAMED)})"
        yield Note("beyond_plan", f"{told}: each counts as a trial")
