"""Results files of agents as runs: scores with intervals that resample tasks, coverage, and what lies behind them.

results = dialgauge.score_results(["gpt-4o-airline.json"])
results[0]["pass^4"], results.complete
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import structs

from dialgauge.data import data_folder
from dialgauge.dialogue import Dialogue, Outcome
from dialgauge.engine import SILENT, Progress
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import Notes, named_sources
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
from dialgauge.rendering import SHARE
from dialgauge.runs import Run, calls_table, new_run
from dialgauge.text import Note
from dialgauge.trials import reward_measures
from dialgauge.trials.attempts import Attempts
from dialgauge.trials.audit_tables import FILINGS, filings_table
from dialgauge.trials.graded_runs import (
    GRADINGS,
    RecordedVerdict,
    grade_log,
    grader_details,
    gradings_frame,
)
from dialgauge.trials.log_findings import LogFindings, findings_tables
from dialgauge.trials.reward_measures import (
    COST,
    FAMILY,
    LABEL,
    MEAN_REWARD,
    SCORE,
    TOKENS,
    TOOL_CALLS,
    TURNS,
    TrialEvidence,
    label_part,
)
from dialgauge.trials.score_scales import SCALE, scale_notes, scale_of, told_scale
from dialgauge.trials.trial_log import Attempted, TrialLog, read_log
from dialgauge.trials.trial_notes import trial_notes
from dialgauge.trials.verdict_files import GraderVerdict, read_verdicts
from dialgauge.worlds.tools import Integrity, check_corpus

if TYPE_CHECKING:
    import polars

    from dialgauge.runs import GivenTable
    from dialgauge.trials.trial_tables import TrialRuns

KIND = "trials"
TRIALS, REWARD_PARTS, DIALOGUE_SUMS = "trials", "reward_parts", "dialogue_sums"


def score_results(
    sources: Attempted | Iterable[str | Path] | Mapping[str, Attempted | TrialLog],
    *,
    measures: str | Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress = SILENT,
    findings: Callable[[TrialLog], LogFindings] | None = None,
    judges: Iterable[str | Path] = (),
    format: str | None = None,
    success: str = "",
) -> TrialRuns:
    """pass^k, rewards and costs of agents, one run for each file; names are those of a mapping, or made of the files'.

    In place of a file may be what it holds: records of a log, a frame of them, or dialogues.
    ``findings`` gives what more is known of a log, such as its audit; tables are made of it when the run is stored.
    ``judges`` are files with verdicts of graders (``tasks judges``): pass^k
    under each of them stands beside the log's own. ``format`` names the format of files where it is not to be detected,
    ``success`` the field that says whether a conversation passed.

    With an example file of ``dialgauge init``:

    >>> import dialgauge
    >>> results = dialgauge.score_results("tau.json")
    >>> f"{results['tau']['pass^1']:.1%}", results.complete
    ('58.3%', True)
    """
    from dialgauge.trials.trial_tables import TrialRuns

    named, measures = named_sources(sources), measure_names(measures)
    runs = []
    verdicts = read_verdicts(judges) if (judges := tuple(judges)) else []
    with progress.reading(len(named)) as advance:
        for name, source in named.items():
            log = source if isinstance(source, TrialLog) else read_log(source, name, format, success)
            found = findings(log) if findings is not None and log.file and log.dialogues else LogFindings()
            integrity, obstacle = (found.integrity, "") if found.integrity is not None else _checked(log)
            run = score_attempts(
                log.dialogues,
                name,
                findings=found,
                inputs=[("results", log.file)] if log.file else [],
                measures=measures,
                resamples=resamples,
                seed=seed,
                plan=log.plan_alone,
                integrity=integrity,
                verdicts=verdicts,
                notes=[Note("integrity", obstacle)] if obstacle else [],
                reading=log.corpus.notes,
            )
            runs.append(run)
            advance(1)
    return TrialRuns(runs)


def _checked(log: TrialLog) -> tuple[Integrity | None, str]:
    """Whether the conversations belong to their tasks, or why that cannot be told; neither for other formats."""
    try:
        return check_corpus(log.corpus, data_folder().root), ""
    except DialgaugeError as error:
        return None, f"it could not be checked whether conversations belong to their tasks ({error.message})"


def score_attempts(
    dialogues: Iterable[Dialogue],
    name: str,
    *,
    inputs: Iterable[tuple[str, str]] = (),
    measures: Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 0,
    plan: Outcome | None = None,
    integrity: Integrity | None = None,
    notes: Sequence[Note] = (),
    reading: Notes | None = None,
    findings: LogFindings | None = None,
    verdicts: Sequence[GraderVerdict] = (),
) -> Run:
    """The run of conversations that say in their outcome which trial of which task they are.

    ``plan`` is what was planned where there is no conversation that could say it (see ``planned_results``), ``notes``
    what is to be told first. Where ``integrity`` says that too many do not belong to their tasks, nothing is computed
    that goes by task.
    """
    files = list(inputs)
    try:
        attempts = Attempts(dialogues, plan)
    except DialgaugeError as error:
        raise error.at(file=files[0][1] if files else None) from error
    per_task = integrity is None or integrity.per_task_stands
    scores = _scores(attempts, measures, Resampling(resamples, seed) if resamples else None, per_task=per_task)
    evidence, conversations = TrialEvidence(attempts), _conversations(scores)
    low, high = attempts.bounds()
    recorded = [RecordedVerdict(attempt.id, attempt.task, attempt.success) for attempt in attempts.attempts]
    graded = grade_log(verdicts, recorded, name, resamples=resamples, seed=seed) if verdicts else None
    failed = [(attempt.task, attempt.id) for attempt in attempts.attempts if attempt.success is False]
    return new_run(
        kind=KIND,
        name=name,
        scores=scores,
        tables={
            **_tables(attempts),
            **({FILINGS: lambda: filings_table(integrity)} if integrity is not None else {}),
            **({GRADINGS: lambda: gradings_frame(graded)} if graded is not None else {}),
            **({DIALOGUE_SUMS: scores.sums_frame} if scores.has_several_sums else {}),
            **findings_tables(findings or LogFindings(), integrity, failed),
        },
        corpus=attempts.dialogues,
        config={"system": name},
        inputs=files,
        seeds=seed,
        signature=_run_signature(attempts, scores),
        details={
            "plan": attempts.plan,
            "even_trials": attempts.even_trials,
            "odd_trials": attempts.odd_trials,
            "planned": {"tasks": attempts.planned_tasks, "trials": attempts.trials, "conversations": attempts.planned},
            "begun": len(attempts.attempts),
            "scored": attempts.scored,
            "finished": len(attempts.attempts) - sum(attempts.failed.values()),
            "infrastructure": attempts.failed,
            "not_judged": attempts.unjudged,
            "pass_1_if_missing": {"all_failed": low, "all_passed": high} if attempts.has_verdicts else {},
            "pass_tasks": {}
            if not attempts.has_verdicts
            else {
                f"{PASS}^{k}": attempts.tasks_with(k)
                for k in range(1, attempts.most_scored + 1)
                if k <= attempts.trials or f"{PASS}^{k}" in scores.scores
            },
            "tried_again": attempts.tasks_with(2),
            "beyond_plan": attempts.beyond_plan,
            "conversations": conversations,
            "pass_1_on_these_tasks": _on_these_tasks(attempts, scores, evidence),
            "amounts": _amounts(scores),
            "domains": {name: {"pass^1": rate, "tasks": tasks} for name, (rate, tasks) in attempts.domains().items()},
            "integrity": None if integrity is None else msgspec.to_builtins(integrity.in_short()),
            "agent": attempts.said("agent"),
            "user": attempts.said("user"),
            **grader_details(graded, per_task=per_task),
            **_own_results(attempts, evidence, scores, reading or Notes()),
        },
        notes=[
            *notes,
            *trial_notes(attempts, reading or Notes(), graded, scores.left_out, conversations),
            *_scale_notes(attempts, scores, measures),
        ],
    )


def _own_results(attempts: Attempts, evidence: TrialEvidence, scores: Scores, reading: Notes) -> dict[str, Any]:
    """Of logs in general: standard errors over tasks, and beside them what the log itself reports."""
    if not attempts.is_log:
        return {}
    means = [name for name in scores.scores if name.startswith((f"{PASS}^1", f"{SCORE}[")) or name == PASS]
    errors = {name: standard_error(parse_measure(name), evidence) for name in means}
    return {
        "standard_errors": {name: error for name, error in errors.items() if error is not None},
        "reported": reading.reported,
        "verdict_score": reading.verdict_read,
    }


def standard_error(measure: Measure[Any], evidence: TrialEvidence) -> float | None:
    """The standard deviation of the tasks' means over the root of their number; None below two tasks."""
    above, below = measure.sums(evidence.by_task())
    means = above[below > 0] / below[below > 0]
    return float(np.std(means, ddof=1) / np.sqrt(len(means))) if len(means) > 1 else None


def _amounts(scores: Scores) -> dict[str, dict[str, float | None]]:
    """Beside each mean of an amount: how many conversations have one, their median, and what the largest one makes."""
    amounts: dict[str, dict[str, float | None]] = {}
    for name, score in scores.scores.items():
        if score.unit == SHARE or score.value is None:
            continue
        num, den = scores.sums[name]
        values = num[den > 0]
        total = float(values.sum())
        amounts[name] = {
            "n": len(values),
            "median": float(np.median(values)),
            "largest_share": float(values.max()) / total if total else None,
        }
    return amounts


def _on_these_tasks(attempts: Attempts, scores: Scores, evidence: TrialEvidence) -> dict[str, float]:
    """The interval of pass^1 if these were all tasks, so that only trials vary; nothing if any was tried once."""
    noise = parse_measure(NOISE)
    if NOISE not in scores.scores or attempts.tasks_with(1) > attempts.tasks_with(2):
        return {}
    settings = noise.settings(evidence)
    reach = float(rerun_reach(trial_noise_sums(evidence, settings).sum(axis=1)))
    value = parse_measure(f"{PASS}^1").value(evidence)
    return {"value": value, "low": max(0.0, value - reach), "high": min(1.0, value + reach)}


def _conversations(scores: Scores) -> dict[str, int]:
    """How many conversations each mean over conversations rests on."""
    means = [name for name in scores.sums if parse_measure(name).card.family == FAMILY]
    return {name: int(np.count_nonzero(scores.sums[name][1])) for name in means}


def _scores(attempts: Attempts, names: Sequence[str], how: Resampling | None, *, per_task: bool) -> Scores:
    evidence = TrialEvidence(attempts)
    usual = _usual_of_log if attempts.is_log else _usual
    asked = _asked(names) if names else usual(evidence, min(attempts.most_scored, attempts.trials))
    if not per_task:
        asked, how = _without_tasks(asked, bool(names)), None  # intervals resample tasks
    if not attempts.attempts:
        asked = []  # whatever was asked for: that there is nothing is told, with how much there should be
    asked = [_bounded(measure, evidence) for measure in asked]
    left_out = {str(measure): why for measure in asked if (why := measure.obstacle(evidence))}
    if names and left_out:
        name, why = next(iter(left_out.items()))
        raise DialgaugeError(f"{name} cannot be computed: {why}")
    possible = [measure for measure in asked if str(measure) not in left_out]
    system = SystemEvidence(
        evidence=evidence,
        measures=possible,
        dialogues=[attempt.id for attempt in attempts.attempts],
        signature=_signature(attempts),
        coverage=attempts.coverage,
        left_out=left_out,
        resampled=evidence.by_task(),
    )
    return _counted(score_systems([system], how if possible else None)[0])


def _without_tasks(asked: Sequence[Measure[Any]], named: bool) -> list[Measure[Any]]:
    """Those measures that do not look at which trials are of one task; an error where another was named."""
    by_task = [
        measure
        for measure in asked
        if str(measure).startswith((FLIPS, NOISE, f"{PASS}^")) and str(measure) != f"{PASS}^1"
    ]
    if by_task and named:
        raise DialgaugeError(
            f"{by_task[0]} cannot be computed: it goes by task, and too many conversations of this file do not belong "
            "to the task they are filed under ('dialgauge tasks audit' shows which)"
        )
    return [measure for measure in asked if measure not in by_task]


def _counted(scores: Scores) -> Scores:
    """The same; the signature of a mean has the number of conversations that it rests on."""
    counts = {name: str(number) for name, number in _conversations(scores).items()}
    signed = {
        name: structs.replace(score, signature=Signature.parse(score.signature).with_(dialogues=counts[name]).long())
        for name, score in scores.scores.items()
        if name in counts
    }
    return replace(scores, scores={**scores.scores, **signed})


def _bounded(measure: Measure[Any], evidence: TrialEvidence) -> Measure[Any]:
    """A measure, and of a score one between the ends of its scale; a scale that was told is no part of its name."""
    if measure.card.name != SCORE or measure.part not in evidence.scores.numeric:
        return measure
    lower, upper = scale_of(*evidence.scores.span(measure.part))
    if told := dict(measure.shorthand).get(SCALE):
        (lower, upper), (low, high) = told_scale(told), evidence.scores.span(measure.part)
        if low < lower or high > upper:
            raise DialgaugeError(f"{measure}: the log has {low if low < lower else high:g}, which is not on this scale")
    return replace(measure, card=replace(measure.card, lower=lower, upper=upper), shorthand=())


def _scale_notes(attempts: Attempts, scores: Scores, names: Sequence[str]) -> list[Note]:
    """Which scales are not known; a score that is the same everywhere has no interval."""
    told = {measure.part for measure in (_asked(names) if names else ()) if measure.shorthand}
    vary = [name for name in attempts.scores.numeric if np.ptp(attempts.scores.span(name)) > 0]
    shown = [name for name in vary if f"{SCORE}[{name}]" in scores.scores]
    return scale_notes({name: scale_of(*attempts.scores.span(name)) for name in shown}, told)


def _asked(names: Sequence[str]) -> list[Measure[Any]]:
    """Measures by name; those of other families would not know what to do with results."""
    asked = parse_measures(names)
    ours = [card.name for card in TRIAL_CARDS]
    for measure in asked:
        if measure.card.family != FAMILY and measure.card.name not in ours:
            known = [*ours, *(card.name for card in reward_measures.CARDS)]
            raise DialgaugeError(f"{measure} is not a measure of agent results.{nearest(measure.card.name, known)}")
    return asked


def _usual(evidence: TrialEvidence, trials: int) -> list[Measure[Any]]:
    names = [f"{PASS}^{k}" for k in range(1, trials + 1)]
    names += [MEAN_REWARD, FLIPS, NOISE, COST, f"{COST}(of=agent)", f"{COST}(of=user)"]
    names += [TURNS, f"{TURNS}(of=user)", TOOL_CALLS, f"{TOOL_CALLS}(of=user)"]
    reward = parse_measure(MEAN_REWARD)
    return [*map(parse_measure, names), *(replace(reward, part=part) for part in evidence.parts)]


def _usual_of_log(evidence: TrialEvidence, trials: int) -> list[Measure[Any]]:
    """Of a log in general: what it says, and no more."""
    names = [f"{PASS}^{k}" for k in range(1, trials + 1)] if evidence.has_verdicts and evidence.judged else []
    names += [MEAN_REWARD, FLIPS, NOISE]
    took = [COST, f"{COST}(of=agent)", f"{COST}(of=user)", TOKENS, TURNS, f"{TURNS}(of=user)", TOOL_CALLS]
    score, label, reward = (parse_measure(name) for name in (SCORE, LABEL, MEAN_REWARD))
    parts = [
        *(replace(reward, part=part) for part in evidence.parts),
        *(replace(score, part=name) for name in evidence.scores.numeric),
        *(
            replace(label, part=label_part(name, value))
            for name, values in evidence.scores.labelled.items()
            for value in values
        ),
    ]
    asked = (*map(parse_measure, names), *parts, *map(parse_measure, took))
    return [measure for measure in asked if measure.obstacle(evidence) is None]


def _signature(attempts: Attempts) -> Signature:
    """What a score depends on. The agent is what is measured; the user it talks to is not."""
    stated = {key: attempts.said(key) for key in ("benchmark", "user", "policy", "max_steps", "max_errors")}
    domains = dict.fromkeys(domain for attempt in attempts.attempts for domain in attempt.domains)
    return Signature(
        roles="results",
        domain=",".join(domains),
        task_set=attempts.said("task_set"),
        trials=str(attempts.trials),
        dialogues=str(attempts.scored),
        infrastructure="left-out",
        **stated,
    )


def _run_signature(attempts: Attempts, scores: Scores) -> Signature:
    """What all scores share. Where these rest on different conversations, the run has all that were scored."""
    shared = scores.signature
    return shared if "dialogues" in shared or not scores.scores else shared.with_(dialogues=str(attempts.scored))


def _tables(attempts: Attempts) -> dict[str, Callable[[], GivenTable]]:
    """``trials`` (a row for each conversation), ``reward_parts`` and ``calls``, made when asked for."""
    return {
        TRIALS: lambda: _trials_frame(attempts),
        REWARD_PARTS: lambda: _parts_frame(attempts),
        "calls": lambda: calls_table(attempts.dialogues),
    }


def _trials_frame(attempts: Attempts) -> polars.DataFrame:
    import polars as pl

    rows = attempts.attempts
    columns: dict[str, tuple[list[Any], Any]] = {
        "dialogue": ([row.id for row in rows], pl.String),
        "task": ([row.task for row in rows], pl.String),
        "trial": ([row.trial for row in rows], pl.Int64),
        "end": ([row.end for row in rows], pl.String),
        "reason": ([row.reason for row in rows], pl.String),
        "scored": ([row.scored for row in rows], pl.Boolean),
        "success": ([row.success for row in rows], pl.Boolean),
        "reward": ([row.reward for row in rows], pl.Float64),
        "agent_cost": ([row.costs.get("agent") for row in rows], pl.Float64),
        "user_cost": ([row.costs.get("user") for row in rows], pl.Float64),
        "turns": ([sum(row.turns.values()) for row in rows], pl.Int64),
        "calls": ([sum(row.calls.values()) if row.calls else None for row in rows], pl.Int64),
    }
    return pl.DataFrame([pl.Series(name, values, kind) for name, (values, kind) in columns.items()])


def _parts_frame(attempts: Attempts) -> polars.DataFrame:
    import polars as pl

    rows = [(attempt.id, part, value) for attempt in attempts.attempts for part, value in attempt.parts.items()]
    schema = {"dialogue": pl.String, "part": pl.String, "reward": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")
