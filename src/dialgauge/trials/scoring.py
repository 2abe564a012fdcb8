"""Logs of agents as runs: scores with intervals that resample tasks, coverage, and what lies behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import polars as pl
from msgspec import structs

from dialgauge.dialogue import Dialogue, differing_instructions, differing_sentence
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import NEXT_TRIAL, Notes
from dialgauge.measures import (
    FLIPS,
    NOISE,
    PASS,
    TRIAL_CARDS,
    Measure,
    Resampling,
    Scores,
    Signature,
    SystemEvidence,
    measure_names,
    parse_measure,
    parse_measures,
    rerun_reach,
    score_systems,
    trial_noise_sums,
)
from dialgauge.runs import Run, calls_table, frame_from_rows, new_run
from dialgauge.text import MANY_NAMED, Note, counted, plain, some_of, times
from dialgauge.trials.log import TrialLog
from dialgauge.trials.measures import (
    CARDS,
    COST,
    FAMILY,
    LABEL,
    LATENCY,
    MEAN_REWARD,
    SCORE,
    SECONDS,
    TOKENS,
    TOOL_CALLS,
    TURNS,
    TrialEvidence,
    label_part,
)
from dialgauge.worlds.tools import Integrity

KIND = "trials"
_NO_VERDICT = (
    "pass^k is left out: no conversation has a verdict, which is 'success' or 'passed' (true or false, 1 or 0), or a "
    "'reward' of 1; --success FIELD names another field"
)
_TRIALS: dict[str, Any] = {
    "dialogue": "String", "task": "String", "trial": "Int64", "end": "String", "reason": "String",
    "scored": "Boolean", "success": "Boolean", "reward": "Float64", "agent_cost": "Float64", "user_cost": "Float64",
    "turns": "Int64", "calls": "Int64", "seconds": "Float64",
}  # fmt: skip
_PARTS: dict[str, Any] = {"dialogue": "String", "part": "String", "reward": "Float64"}
_MATCHES: dict[str, Any] = {
    "dialogue": "String", "task": "String", "match": "String", "evidence": "String", "fits": "String",
    "identifiers": "List(String)", "same_as": "List(String)",
}  # fmt: skip


def score_attempts(dialogues: Iterable[Dialogue], name: str, *, resamples: int = 1000, seed: int = 0) -> Run:
    """The run of conversations that say in their outcome which trial of which task they are."""
    return score_log(TrialLog(name, dialogues), resamples=resamples, seed=seed)


def score_log(
    log: TrialLog,
    *,
    measures: str | Sequence[str] = (),
    integrity: Integrity | None = None,
    tables: Mapping[str, Callable[[], pl.DataFrame]] | None = None,
    details: Mapping[str, Any] | None = None,
    notes: Sequence[Note] = (),
    resamples: int = 1000,
    seed: int = 0,
) -> Run:
    """The run of a log. ``tables`` and ``details`` hold what else was found out about it.

    If too many conversations do not match their tasks, nothing is computed that goes by task.
    """
    names, per_task = measure_names(measures), integrity is None or integrity.per_task_stands
    how = Resampling(resamples, seed) if resamples and per_task else None  # intervals resample tasks
    evidence = TrialEvidence(log)
    scores = _scores(log, evidence, names, how, per_task=per_task)
    reading = log.corpus.notes if log.corpus is not None else Notes()
    conversations = _conversations(scores)
    shared = scores.signature
    if scores.scores and "dialogues" not in shared:  # measures rest on different conversations
        shared = shared.with_(dialogues=str(log.scored))
    low, high = log.bounds()
    ks = [k for k in range(1, log.most_scored + 1) if k <= log.trials or f"{PASS}^{k}" in scores.scores]
    return new_run(
        kind=KIND,
        name=log.name,
        scores=scores,
        tables={
            "trials": lambda: _trials_table(log),
            "reward_parts": lambda: frame_from_rows(
                ((each.id, part, value) for each in log.attempts for part, value in each.parts.items()), _PARTS
            ),
            "calls": calls_table(lambda: log.dialogues),
            **({"task_match": lambda: _matches_table(integrity)} if integrity is not None else {}),
            **({"dialogue_sums": scores.sums_frame} if scores.has_several_sums else {}),
            **(tables or {}),
        },
        corpus=log.dialogues,
        config={"system": log.name},
        inputs=[("results", log.file)] if log.file else [],
        seeds=seed,
        signature=shared,
        details={
            "plan_named": log.plan_named,
            "planned": {"tasks": log.planned_tasks, "trials": log.trials, "conversations": log.planned},
            "begun": len(log.attempts),
            "scored": log.scored,
            "infrastructure": log.broken,
            "not_judged": log.unjudged,
            "beyond_plan": log.beyond_plan,
            "pass_1_if_missing": {"all_failed": low, "all_passed": high} if log.has_verdicts else {},
            "pass_tasks": {f"{PASS}^{k}": log.tasks_with(k) for k in ks} if log.has_verdicts else {},
            "pass_1_on_these_tasks": _on_these_tasks(log, scores, evidence),
            "conversations": conversations,
            "amounts": _amounts(scores),
            "integrity": None if integrity is None else msgspec.to_builtins(integrity.in_short()),
            "benchmark": log.said("benchmark"),
            "agent": log.said("agent"),
            "user": log.said("user"),
            "reported": reading.reported,
            **(details or {}),
        },
        notes=[*notes, *_notes(log, reading)],
    )


def _amounts(scores: Scores) -> dict[str, dict[str, float]]:
    """Beside each mean of an amount: how many conversations have one, and the median of these."""
    amounts: dict[str, dict[str, float]] = {}
    for name, score in scores.scores.items():
        if score.unit not in ("share", "points") and score.value is not None:
            num, den = scores.sums[name]
            values = num[den > 0] / den[den > 0]
            amounts[name] = {"n": len(values), "median": float(np.median(values))}
    return amounts


def _on_these_tasks(log: TrialLog, scores: Scores, evidence: TrialEvidence) -> dict[str, float]:
    """The interval of pass^1 if these were all tasks, so that only trials vary; nothing if any was tried once."""
    if NOISE not in scores.scores or log.tasks_with(1) > log.tasks_with(2):
        return {}
    settings = parse_measure(NOISE).settings(evidence)
    reach = float(rerun_reach(trial_noise_sums(evidence, settings).sum(axis=1)))
    value = parse_measure(f"{PASS}^1").value(evidence)
    return {"value": value, "low": max(0.0, value - reach), "high": min(1.0, value + reach)}


def _conversations(scores: Scores) -> dict[str, int]:
    """How many conversations each mean over conversations rests on."""
    means = [name for name in scores.sums if parse_measure(name).card.family == FAMILY]
    return {name: int(np.count_nonzero(scores.sums[name][1])) for name in means}


def _scores(
    log: TrialLog, evidence: TrialEvidence, names: Sequence[str], how: Resampling | None, *, per_task: bool
) -> Scores:
    asked = _asked(names) if names else _usual(log, evidence)
    for measure in asked if names else ():
        why = measure.obstacle(evidence)
        if not per_task and _goes_by_task(measure):
            why = "it goes by task, and too many conversations of this log do not match the task they are filed under"
        if why:
            raise DialgaugeError(f"{measure} cannot be computed: {why}", file=log.file or None)
    possible = [_bounded(measure, log) for measure in asked if per_task or not _goes_by_task(measure)]
    domains = dict.fromkeys(domain for attempt in log.attempts for domain in attempt.domains)
    system = SystemEvidence(
        evidence=evidence,
        measures=possible,
        dialogues=[attempt.id for attempt in log.attempts],
        # The agent is what is measured; the user it talks to is a condition.
        signature=Signature(
            roles="results",
            domain=",".join(domains),
            task_set=log.said("task_set"),
            trials=str(log.trials),
            dialogues=str(log.scored),
            infrastructure="left-out",
            **{key: log.said(key) for key in ("benchmark", "user", "policy", "max_steps", "max_errors")},
        ),
        coverage=log.coverage,
        resampled=evidence.by_task(),
    )
    scores = score_systems([system], how if possible else None)[0]
    # The signature of a mean has the number of conversations that it rests on.
    signed = {
        name: structs.replace(
            scores.scores[name],
            signature=Signature.parse(scores.scores[name].signature).with_(dialogues=str(number)).long(),
        )
        for name, number in _conversations(scores).items()
        if name in scores.scores
    }
    return replace(scores, scores={**scores.scores, **signed})


def _goes_by_task(measure: Measure[Any]) -> bool:
    """Does it look at which trials are of one task?"""
    return measure.card.name in (FLIPS, NOISE) or (measure.card.name == PASS and str(measure) != f"{PASS}^1")


def _bounded(measure: Measure[Any], log: TrialLog) -> Measure[Any]:
    """A measure; that of a score whose values all lie between 0 and 1 has these bounds."""
    low, high = log.numeric.get(measure.part, (-1.0, 1.0))
    if measure.card.name != SCORE or low < 0 or high > 1:
        return measure
    return replace(measure, card=replace(measure.card, lower=0.0, upper=1.0))


def _asked(names: Sequence[str]) -> list[Measure[Any]]:
    """The measures that are named; one of another family is an error."""
    asked = parse_measures(names)
    ours = [card.name for card in TRIAL_CARDS]
    for measure in asked:
        if measure.card.family != FAMILY and measure.card.name not in ours:
            known = [*ours, *(card.name for card in CARDS)]
            raise DialgaugeError(f"{measure} is not a measure of agents' logs.{nearest(measure.card.name, known)}")
    return asked


def _usual(log: TrialLog, evidence: TrialEvidence) -> list[Measure[Any]]:
    """All measures that the log can be scored by."""
    ks = range(1, min(log.most_scored, log.trials) + 1) if log.has_verdicts else ()
    names = [f"{PASS}^{k}" for k in ks]
    names += [MEAN_REWARD, FLIPS, NOISE, COST, f"{COST}(of=agent)", f"{COST}(of=user)", TURNS, f"{TURNS}(of=user)"]
    names += [TOOL_CALLS]
    names += [f"{TOOL_CALLS}(of=user)"] if any(attempt.calls["user"] for attempt in log.attempts) else []
    reward, score, label = (parse_measure(name) for name in (MEAN_REWARD, SCORE, LABEL))
    measures = [
        *map(parse_measure, names),
        *(replace(reward, part=part) for part in evidence.parts),
        *(parse_measure(f"{PASS}^{k}[{grader}]") for grader in log.graders for k in range(1, log.trials + 1)),
        *(replace(score, part=name) for name in log.numeric if name not in log.graders),
        *(replace(label, part=label_part(name, value)) for name, values in log.labelled.items() for value in values),
        *map(parse_measure, (TOKENS, SECONDS, LATENCY)),
    ]
    return [measure for measure in measures if measure.obstacle(evidence) is None]


def _trials_table(log: TrialLog) -> pl.DataFrame:
    rows = [
        (
            each.id, each.task, each.trial, each.end, each.reason, each.scored, each.success, each.reward,
            each.costs.get("agent"), each.costs.get("user"), sum(each.turns.values()), sum(each.calls.values()),
            each.seconds.get("both"),
        )
        for each in log.attempts
    ]  # fmt: skip
    return frame_from_rows(rows, _TRIALS)


def _matches_table(integrity: Integrity) -> pl.DataFrame:
    """Whether each conversation matches its task, and those that are word for word the same."""
    same = {name: [other for other in group if other != name] for group in integrity.identical for name in group}
    rows = (
        (
            each.conversation, each.task, each.belonging, each.evidence, each.fits, list(each.identifiers),
            same.get(each.conversation, []),
        )
        for each in integrity.filings
    )  # fmt: skip
    return frame_from_rows(rows, _MATCHES)


def _notes(log: TrialLog, reading: Notes) -> list[Note]:
    """All notes on the scores of a log."""
    notes = [Note("read_as", f"read as: {reading.reading.line()}")] if reading.reading else []
    notes += [
        Note("trials" if what == NEXT_TRIAL else "not_read", f"{what} ({times(count)})")
        for what, count in reading.counts.items()
    ]
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
        for name, words in reading.unjudged.items():
            named = "name them by true_values and false_values in a mapping"
            yield Note("verdict", f"'{name}' says {some_of(map(plain, words), 4)}: {named}")
        if not reading.unjudged:
            yield Note("verdict", _NO_VERDICT)
    elif log.in_general and log.unjudged:
        yield Note("verdict", f"{counted(log.unjudged, 'conversation')} of {len(log.attempts):,} not judged")
    success = reading.reading.mapping.field("success") if reading.reading else None
    if success is not None and success.at == "reward" and success.at_least in (None, 1):
        rewards = [dialogue.ended.reward for dialogue in log.dialogues if dialogue.ended.reward is not None]
        if max(rewards, default=0) > 0 and not any(attempt.success for attempt in log.attempts):
            span = f"{min(rewards):g} to {max(rewards):g}"
            yield Note("verdict", f"no reward is 1 ({span}); at_least in a mapping sets the threshold")
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
        told += f" (task {some_of(more, MANY_NAMED)}): each counts as one more trial of its task"
        yield Note("beyond_plan", told)
    counts = Counter((attempt.task, attempt.trial) for attempt in log.attempts)
    again = [f"task {task}, trial {trial:,}" for (task, trial), count in counts.items() if count > 1]
    if again:
        told = f"several conversations have the same number of a trial ({some_of(again, MANY_NAMED)})"
        yield Note("beyond_plan", f"{told}: each counts as a trial")
