"""What a reader of the scores of results should know: what was not read, what counts as a verdict, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from dialgauge.dialogue import contradicted_sentence, differing_instructions, differing_sentence
from dialgauge.formats import Notes, contradicts_parts, names_fault
from dialgauge.tasks.judges.graded_runs import GradedLog
from dialgauge.tasks.trials.attempts import FILE_VARIANTS, Attempts
from dialgauge.tasks.trials.own_tasks import ID
from dialgauge.tasks.trials.reward_measures import MEAN_REWARD
from dialgauge.tasks.trials.verdicts import MIXED_TRIALS, LogScores
from dialgauge.text import Note, counted, plain, some_of, times

#: How many tasks, scores or fields a note names.
_NAMED = 8
#: How many errors it names, and how many letters of each.
_NAMED_ERRORS, _ERROR = 3, 60

_NO_VERDICT = (
    "the log has no success, reward or score under a name that is known; say in 'success' (true or false) how each went"
)


def trial_notes(
    attempts: Attempts,
    reading: Notes,
    graded: GradedLog | None,
    left_out: Mapping[str, str],
    conversations: Mapping[str, int],
) -> list[Note]:
    """All notes; ``left_out`` are measures with the reason, ``conversations`` how many of them each mean rests on."""
    notes = [*_reading_notes(reading, attempts)]
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
        "unusable": [
            f"the score '{name}' is left out of {counted(numbers.total(), 'conversation')}, where it is no number that "
            f"a mean can hold ({_shares(numbers)})"
            for name, numbers in attempts.scores.unusable.items()
        ]
        + attempts.scores.strays(),
        MIXED_TRIALS: _mixed_trials(attempts),
        "trial_fields": _trial_fields(attempts, reading),
        "trial_ids": [*_trials_in_ids(attempts), *_alike_tasks(attempts)],
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
    of_all = [Note(kind, told) for kind, all_told in others.items() for told in all_told]
    first = int(attempts.doubtful)  # a verdict that may be none comes before all else
    return [*of_all[:first], *notes, *of_all[first:]]


def _instructions(attempts: Attempts) -> list[str]:
    """Trials that are not of one task; results of benchmarks are checked against their tasks."""
    tasks = (attempt.task for attempt in attempts.attempts) if attempts.is_log else ()
    differing = differing_instructions(zip(tasks, attempts.dialogues, strict=False))
    return [differing_sentence(differing)] if differing else []


def _contradicted(attempts: Attempts) -> list[str]:
    """Rewards that are not what the file stores beside them."""
    benchmark = attempts.said("benchmark")
    odd = [each.id for each in attempts.attempts if contradicts_parts(each.reward, each.parts, benchmark)]
    told = contradicted_sentence(odd, len(attempts.attempts))
    return [f"{told}: scores rest on the reward as recorded"] if odd else []


def _verdict_source(attempts: Attempts, reading: Notes) -> list[str]:
    """What pass^k rests on, where the log does not say itself what a success is, and scores that are texts."""
    sentences = []
    if attempts.doubtful:
        sentences.append(_doubt(attempts))
    else:
        verdict = attempts.scores.doubted
        sentences += [
            f"'{verdict}' and '{name}' contradict each other in {counted(count, 'conversation')}: '{verdict}' counts"
            for name, count in attempts.scores.contradictions([each.success for each in attempts.attempts]).items()
        ]
    sentences += _of_status(attempts)
    if attempts.scored and reading.unplaced_verdicts:
        sentences.append(f"left out: {reading.unplaced_verdicts}")
    if name := attempts.verdict_score:
        low, high = attempts.scores.written(name)
        sentences.append(
            f"a conversation passed where the score '{name}' is {high}: it is {low} or {high} in all of them"
        )
    elif attempts.is_log and not attempts.scored and attempts.unjudged:
        sentences.append(
            f"no conversation is judged: {reading.unplaced_verdicts or _NO_VERDICT}"
            + "".join(f"; {seen}" for seen in (*_undecided(attempts), *_may_judge(reading)))
        )
    elif attempts.is_log and not attempts.has_verdicts:
        sentences.append(_why_no_verdict(attempts.scores))
    elif attempts.is_log:
        sentences += [f"not judged: {seen}" for seen in _undecided(attempts)]
    return sentences + [
        f"the score '{name}' is left out: it is a text that differs from conversation to conversation"
        for name in attempts.scores.left_out
    ]


def _doubt(attempts: Attempts) -> str:
    """That a verdict says success of every conversation, and something beside it does not."""
    scores = attempts.scores
    always = f"'{scores.doubted}' says success of {_said_to_pass(attempts)}"
    if scores.judgement:
        return f"{always}, and is not read as a verdict: whether one passed is read from '{scores.judgement}'"
    no = some_of(
        (f"'{name}' is no in {counted(count, 'conversation')}" for name, count in scores.doubts.items()), _NAMED
    )
    return f"CHECK THE VERDICT: {always}, while {no}; if that is the verdict, call it 'success'"


def _of_status(attempts: Attempts) -> list[str]:
    """That a status is how runs ended, or may be."""
    if status := attempts.status_alone:
        return [
            f"CHECK THE VERDICT: '{status}' says success of {_said_to_pass(attempts)}, and nothing else judges; if "
            "it is how the run ended, say in 'success' (true or false) how each went"
        ]
    if status := attempts.scores.run_status:
        return [f"'{status}' is not read as a verdict: it is how the run ended, as a score stands beside it"]
    if (name := attempts.scores.opposite) and not attempts.doubtful and not attempts.verdict_score:
        return [f"a conversation passed where '{name}' is no"]
    return []


def _said_to_pass(attempts: Attempts) -> str:
    passed, total = attempts.said_to_pass, len(attempts.attempts)
    return "every conversation" if passed == total else f"{passed:,} of {counted(total, 'conversation')}"


def _undecided(attempts: Attempts) -> list[str]:
    """What stands where a verdict should, and is none."""
    return [
        f"'{name}' is neither yes nor no in {counted(sum(texts.values()), 'conversation')} "
        f"({some_of((f'{text} {count:,}' for text, count in texts.items()), _NAMED)})"
        for name, texts in attempts.undecided().items()
    ]


def _why_no_verdict(scores: LogScores) -> str:
    if len(scores.candidates) > 1:
        several = some_of([f"'{name}'" for name in scores.candidates], _NAMED)
        return (
            f"pass^k is left out: {several} are 0 or 1 in all conversations and differ, and no name says which of them "
            f"is the success; call it 'success', or ask for pass^1[{scores.candidates[0]}]"
        )
    if scores.flags:
        flags = some_of([f"'{name}'" for name in scores.flags], _NAMED)
        verb = "is" if len(scores.flags) == 1 else "are"
        return (
            f"pass^k is left out: {flags} {verb} not read as a verdict, as no name says that true is a success; call "
            f"the verdict 'success', or ask for pass^1[{scores.flags[0]}]"
        )
    ranges = [
        f"'{name}' is between {low:.10g} and {high:.10g}" + (f" of {most}" if (most := scores.maxima.get(name)) else "")
        for name in scores.numeric
        for low, high in [scores.span(name)]
    ]
    ranges += [f"'{name}' is {' or '.join(labels)}" for name, labels in scores.labelled.items()]
    seen = f" ({some_of(ranges, _NAMED)})" if ranges else ""
    either = next((name for name in scores.numeric if scores.is_zero_or_one(name) and not names_fault(name)), "")
    asked = f"; if '{either}' says it, ask for pass^1[{either}]" if either else ""
    return (
        "pass^k is left out: no 'success' (true or false) is told, and no score that says success is 0 or 1 in all "
        f"conversations{seen}{asked}"
    )


_AGENTS_APART = "keep those of each agent in a file of its own, and score these one by one"
_FILES_APART = (
    "score files of several agents one by one; trials of one agent are known by names such as run_1 and run_2, and "
    "tasks of several domains by ids of their own"
)


def _mixed_trials(attempts: Attempts) -> list[str]:
    """What may tell trials of several agents apart, or be one conversation several times."""
    snapshots = []
    if count := attempts.snapshots:
        snapshots = [
            f"CHECK THE TRIALS: {count:,} of {counted(len(attempts.attempts), 'conversation')} are the beginning of "
            "another one of their task, and each counts as a trial; if a conversation was written again as it grew, "
            "keep the last of each"
        ]
    return snapshots + [
        f"CHECK THE TRIALS: '{name}' differs between conversations of one task that are counted as its trials "
        f"({_shares(values)}); {_FILES_APART if name in FILE_VARIANTS else _AGENTS_APART}"
        for name, values in attempts.variants.items()
    ]


def _trial_fields(attempts: Attempts, reading: Notes) -> list[str]:
    """Fields that nobody reads and that split the trials of every task alike, as the names of agents would."""
    split = reading.unread_values.splitting() if attempts.is_log and not attempts.variants else {}
    return [
        f"'{name}' splits the trials of every task alike ({_shares(values)}): if it tells agents apart, or versions of "
        "one, keep the conversations of each in a file of its own, and score these one by one"
        for name, values in split.items()
    ]


def _may_judge(reading: Notes) -> list[str]:
    """Fields that nobody reads and that have two values, of which one may be a success."""
    pairs = reading.unread_values.two_valued()
    seen = some_of((f"'{name}' ({_shares(values)})" for name, values in pairs.items()), _NAMED)
    told = f"with two values and not read: {seen}; where one of these says how it went, write 'success' by it"
    return [told] if pairs else []


def _shares(values: Counter[str]) -> str:
    return some_of((f"{value} {count:,}" for value, count in values.most_common()), _NAMED)


def _trials_in_ids(attempts: Attempts) -> list[str]:
    """That tasks and trials were taken from ids, or might be meant by them."""
    if shared := attempts.shared_ids:
        ids = f"the id {next(iter(shared))} names" if len(shared) == 1 else f"{len(shared):,} ids name"
        return [f"{ids} tasks in several domains: these are different tasks, called DOMAIN/ID here"]
    if second := attempts.paired.second:
        example = attempts.attempts[0].task
        return [
            f"'{second}' differs between conversations of one task, which may be a domain: both together are taken for "
            f"the task ('{example}'); if they are not, keep '{second}' out of the log"
        ]
    if unclear := attempts.paired.unclear:
        return [
            f"'{unclear}' differs between all conversations of one task, which are counted as its trials; if it names "
            "the task, call it 'task_id'"
        ]
    if attempts.by_groups:
        return ["conversations of one group are taken for trials of one task; if they are not, name the 'task_id'"]
    if attempts.without_task:
        numbers = some_of((f"{number:,}" for number in attempts.numbers), _NAMED)
        return [
            f"trials have numbers ({numbers}), and no task was found that two of them are of: each conversation counts "
            "as a task of its own. Name the task in 'task_id'"
            + (f" ({name} repeats: is it that?)" if (name := attempts.may_name_task) and name != ID else "")
        ]
    named, example = attempts.trial_ids.named, attempts.trial_ids.example
    if named:
        task, trial = named[-1]
        told = f"tasks and trials are taken from the ids: '{example}' is trial {trial:,} of the task '{task}'"
        return [f"{told}; if it is not, give each conversation a 'task_id'"]
    if example:
        told = f"each conversation is a task of its own; if the number in '{example}' is that of a trial"
        return [f"{told}, say so in 'task_id' and 'trial'"]
    if name := attempts.may_name_task:
        repeated = f"{name} repeats: if it names the task"
        if name == ID:
            repeated = f"ids repeat but for their numbers ('{attempts.attempts[0].id}'): if the rest names the task"
        return [f"each conversation counts as a task of its own, and {repeated}, call it 'task_id'"]
    return []


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
    costs = any(attempt.costs for attempt in attempts.attempts)
    tokens = any(attempt.tokens is not None for attempt in attempts.attempts)
    ends = any(attempt.reason for attempt in attempts.attempts)
    calls = any(attempt.calls for attempt in attempts.attempts)
    facts = {"cost": costs, "tokens": tokens, "how conversations ended": ends}
    field = "" if attempts.known("results_alone") else attempts.unread_calls
    why = f"'{field}' may hold them" if field else "there are only results of tools"
    facts[f"tool calls ({why})"] = calls
    lacking = [name for name, known in facts.items() if not known and name not in attempts.unread_amounts]
    unread = [
        f"{name.replace('_', ' ')} is left out: in {counted(texts.total(), 'conversation')} of "
        f"{len(attempts.attempts):,} it is no number that is read ({_how_often(texts)})"
        for name, texts in attempts.unread_amounts.items()
    ]
    unknown = f"unknown, as nothing that is read in the log says it: {', '.join(lacking)}"
    return [*unread, *([unknown] if lacking else [])]


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


def _reading_notes(reading: Notes, attempts: Attempts) -> list[Note]:
    """What of a log was not read, so that nothing is dropped in silence."""
    judgement = attempts.scores.judgement if attempts.doubtful else ""
    judged_by = reading.judged_by | {judgement, judgement.partition(".")[0]}
    fields = [field for field in reading.unread.values() if field not in judged_by]
    notes = [Note("not_read", f"fields of the log that are not read: {some_of(fields, _NAMED)}")] if fields else []
    if members := list(reading.unread_of_messages.values()):
        notes.append(Note("not_read", f"fields of messages that are not read: {some_of(members, _NAMED)}"))
    named = reading.unread.keys() | reading.unread_of_messages.keys()
    others = [(what, count) for what, count in reading.counts.items() if what not in named]
    return notes + [Note("not_read", f"{what} ({times(count)})") for what, count in others]
