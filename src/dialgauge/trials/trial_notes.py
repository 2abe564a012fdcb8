"""What a reader of the scores of results should know: what was not read, what counts as a verdict, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from dialgauge.dialogue import contradicted_sentence, differing_instructions, differing_sentence
from dialgauge.formats import Notes, contradicts_parts
from dialgauge.text import Note, counted, plain, some_of, times
from dialgauge.trials.attempts import Attempts
from dialgauge.trials.graded_runs import GradedLog
from dialgauge.trials.reward_measures import MEAN_REWARD

#: How many tasks, scores or fields a note names.
_NAMED = 8
#: How many errors it names, and how many letters of each.
_NAMED_ERRORS, _ERROR = 3, 60

_NO_VERDICT = (
    "no conversation has a verdict, which is 'success' or 'passed' (true or false, 1 or 0), or a 'reward' of 1; "
    "--success FIELD names another field"
)


def trial_notes(
    attempts: Attempts,
    reading: Notes,
    graded: GradedLog | None,
    left_out: Mapping[str, str],
    conversations: Mapping[str, int],
) -> list[Note]:
    """All notes; ``left_out`` are measures with the reason, ``conversations`` how many of them each mean rests on."""
    notes = _reading_notes(reading)
    if graded is not None and graded.elsewhere:
        verdicts = counted(graded.elsewhere, "verdict")
        told = f"{verdicts} of graders about conversations that are not in this log: left out"
        notes.append(Note("left_out", told))
    notes += [Note("left_out", f"{name} is left out: {why}") for name, why in left_out.items()]
    if attempts.trials > attempts.most_scored > 0:
        planned = f"{counted(attempts.trials, 'trial')} {'was' if attempts.trials == 1 else 'were'} planned"
        told = f"pass^k is left out above k = {attempts.most_scored:,}: {planned}, and no task has more with a verdict"
        notes.append(Note("left_out", told))
    others = {
        "verdict": _verdict_source(attempts, reading),
        "trial_ids": _alike_tasks(attempts),
        "instructions": _instructions(attempts),
        "contradicted": _contradicted(attempts),
        "unknown": _unknown(attempts),
        "partial_reward": _partial_parts(attempts, conversations),
        "partial_cost": _partial_costs(attempts),
        "unknown_end": [
            f"{counted(count, 'conversation')} ended with '{reason}', not a known end; the verdict in the file counts"
            for reason, count in attempts.unfamiliar.items()
        ],
        "errors": _errors(attempts),
        "beyond_plan": _other_than_planned(attempts),
        "unknown_plan": _unknown_plan(attempts),
    }
    return notes + [Note(kind, told) for kind, all_told in others.items() for told in all_told]


def _instructions(attempts: Attempts) -> list[str]:
    """Trials that are not of one task; results of benchmarks are checked against their tasks."""
    tasks = (attempt.task for attempt in attempts.attempts) if attempts.is_log else ()
    differing = differing_instructions(zip(tasks, attempts.dialogues, strict=False))
    return [differing_sentence(differing)] if differing else []


def _contradicted(attempts: Attempts) -> list[str]:
    """Rewards that are not what the file stores beside them."""
    odd = [dialogue.id for dialogue in attempts.dialogues if contradicts_parts(dialogue.ended)]
    told = contradicted_sentence(odd, len(attempts.attempts))
    return [f"{told}: scores rest on the reward as recorded"] if odd else []


def _verdict_source(attempts: Attempts, reading: Notes) -> list[str]:
    """What pass^k rests on, where it is not a field of the log called so, and scores that are texts."""
    sentences = []
    if reading.verdict_read:
        sentences.append(f"a conversation passed where '{reading.verdict_read}' is 1")
    elif attempts.is_log and attempts.attempts and not attempts.has_verdicts:
        sentences.append(f"pass^k is left out: {_NO_VERDICT}")
    elif attempts.is_log and (unjudged := attempts.unjudged):
        sentences.append(f"{counted(unjudged, 'conversation')} of {len(attempts.attempts):,} not judged")
    return sentences + [
        f"the score '{name}' is left out: it is a text that differs from conversation to conversation"
        for name in attempts.scores.left_out
    ]


def _alike_tasks(attempts: Attempts) -> list[str]:
    """Tasks that differ only in case, and may be one."""
    spellings: dict[str, list[str]] = {}
    for task in attempts.tasks:
        spellings.setdefault(task.casefold(), []).append(task)
    alike = [" and ".join(f"'{task}'" for task in tasks) for tasks in spellings.values() if len(tasks) > 1]
    told = f"tasks that differ only in case count as several ({some_of(alike, _NAMED)}); if they are one, write them"
    return [f"{told} alike"] if alike else []


def _unknown(attempts: Attempts) -> list[str]:
    """What a log does not say, so that nobody takes it for nought."""
    if not attempts.is_log or not attempts.attempts:
        return []
    facts = {
        "cost": any(attempt.costs for attempt in attempts.attempts),
        "tokens": any(attempt.tokens is not None for attempt in attempts.attempts),
        "how conversations ended": any(attempt.reason for attempt in attempts.attempts),
    }
    lacking = [name for name, known in facts.items() if not known]
    return [f"the log does not say: {', '.join(lacking)}"] if lacking else []


def _how_often(texts: Counter[str]) -> str:
    return some_of((f"'{plain(text)[:_ERROR]}' {count:,}" for text, count in texts.most_common()), _NAMED_ERRORS)


def _errors(attempts: Attempts) -> list[str]:
    """Errors that count as failures of the agent, which they may not be."""
    if not attempts.errors:
        return []
    listed = _how_often(attempts.errors)
    return [
        f"counted as failed, as the log says so: {counted(attempts.errors.total(), 'conversation')} with an error "
        f"({listed}); where it was not the agent's, leave out the verdict (it then failed by infrastructure) or the "
        "conversation"
    ]


def _partial_parts(attempts: Attempts, conversations: Mapping[str, int]) -> list[str]:
    """Parts of the reward that some conversations do not have: their mean is that of the others."""
    return [
        f"{name} rests on {number:,} of {counted(attempts.scored, 'scored conversation')}: the file has no such part "
        "of the reward of the others"
        for name, number in conversations.items()
        if name.startswith(f"{MEAN_REWARD}[") and number < attempts.scored
    ]


def _other_than_planned(attempts: Attempts) -> list[str]:
    """Conversations that the plan does not have, and several of one trial."""
    notes = []
    if more := attempts.beyond_plan:
        notes.append(
            f"{counted(sum(more.values()), 'conversation')} beyond the plan of {counted(attempts.trials, 'trial')} "
            f"(task {some_of(more, _NAMED)}): each counts as one more trial of its task in every "
            f"score, so that {counted(attempts.scored, 'conversation')} are scored in all, "
            f"{attempts.scored_of_plan:,} of those planned and {attempts.scored - attempts.scored_of_plan:,} more "
            "(Reward is the mean over conversations, pass^k over tasks); pass^k above k = "
            f"{attempts.trials:,} is left out unless named"
        )
    if again := attempts.repeated_trials:
        notes.append(
            f"several conversations have the same number of a trial ({some_of(again, _NAMED)}): each counts as a trial"
        )
    return notes


def _partial_costs(attempts: Attempts) -> list[str]:
    """Costs that the file gives of some conversations only: their mean is that of these."""
    return [
        f"the cost of the {side} is known of {known:,} of {counted(attempts.scored, 'scored conversation')}: means of "
        "cost are over those"
        for side in ("agent", "user")
        if 0 < (known := attempts.with_cost(side)) < attempts.scored
    ]


def _unknown_plan(attempts: Attempts) -> list[str]:
    """What the file does not say of how much of it there should be, and what is taken instead."""
    most = f"{counted(attempts.trials, 'trial')} each, the most that any task has"
    if (attempts.trials_known and attempts.tasks_known) or attempts.is_log:
        return []
    if attempts.trials_known:
        return [
            "the file does not say how many tasks were planned: taken to be the "
            f"{counted(attempts.planned_tasks, 'task')} it has, so tasks that were never begun are not seen"
        ]
    if attempts.tasks_known:
        return [f"the file does not say how many trials were planned: taken to be {most}"]
    return [f"the file does not say how many tasks and trials were planned: taken to be the tasks it has, with {most}"]


def _reading_notes(reading: Notes) -> list[Note]:
    """What of a log was not read, so that nothing is dropped in silence."""
    notes = [Note("read_as", f"read as: {reading.reading.line()}")] if reading.reading else []
    return notes + [Note("not_read", f"{what} ({times(count)})") for what, count in reading.counts.items()]
