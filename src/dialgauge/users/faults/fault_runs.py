"""Checked conversations as runs: shares with intervals that resample tasks, and the faults and checks as tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from dialgauge.dialogue import Dialogue
from dialgauge.formats import read, system_name
from dialgauge.measures import (
    Count,
    Coverage,
    Resampling,
    Scores,
    Signature,
    SystemEvidence,
    intervals,
    parse_measure,
    score_systems,
)
from dialgauge.runs import Run, new_run
from dialgauge.users.faults.checking import check_user
from dialgauge.users.faults.fault_measures import FAMILY, FaultEvidence, usual
from dialgauge.users.faults.fault_records import CheckedConversation

if TYPE_CHECKING:
    import polars

KIND = "faults"
FAULTS, CHECKS = "faults", "fault_checks"
#: The file that makes a folder a stored run.
_MANIFEST = "run.json"


def check_faults(
    source: str | Path, *, format: str | None = None, name: str | None = None, resamples: int = 1000, seed: int = 0
) -> Run:
    """The run of what the users in a source got wrong: conversations in any format, or the folder of a stored run."""
    path = Path(source)
    if (path / _MANIFEST).is_file():
        stored = Run.load(path)
        return faults_run(list(stored.dialogues()), name or stored.name, resamples=resamples, seed=seed)
    corpus = read(source, format=format)
    inputs = [("conversations", str(source))] if str(source) != "-" else []
    return faults_run(corpus.dialogues, name or system_name(source), inputs=inputs, resamples=resamples, seed=seed)


def faults_run(
    dialogues: Sequence[Dialogue],
    name: str,
    *,
    checked: Sequence[CheckedConversation] | None = None,
    inputs: Iterable[tuple[str, str]] = (),
    resamples: int = 1000,
    seed: int = 0,
) -> Run:
    """The run of dialogues that were checked, or are checked now."""
    results = [check_user(dialogue) for dialogue in dialogues] if checked is None else checked
    evidence = FaultEvidence(results, [_task(dialogue) for dialogue in dialogues])
    return new_run(
        kind=KIND,
        name=name,
        scores=_scores(evidence, _planned(dialogues), Resampling(resamples, seed) if resamples else None),
        tables={FAULTS: lambda: _faults_frame(results), CHECKS: lambda: _checks_frame(results)},
        corpus=list(dialogues),
        config={"system": name},
        inputs=list(inputs),
        seeds=seed,
        details={"users": sorted({_said(dialogue, "user") for dialogue in dialogues} - {""})},
    )


def _said(dialogue: Dialogue, key: str) -> str:
    return dialogue.outcome.details.get(key, "") if dialogue.outcome else ""


def _task(dialogue: Dialogue) -> str:
    """What trials of one task share; a conversation that says nothing of it is a task of its own."""
    return _said(dialogue, "task") or dialogue.id


def _planned(dialogues: Sequence[Dialogue]) -> int:
    """How many conversations there should be, where the file says it; as many as there are where it does not."""
    plans = {(_said(one, "planned_tasks"), _said(one, "planned_trials")) for one in dialogues}
    known = [int(tasks) * int(trials) for tasks, trials in plans if tasks.isdecimal() and trials.isdecimal()]
    return max([len(dialogues), *known])


def _scores(evidence: FaultEvidence, planned: int, how: Resampling | None) -> Scores:
    measures = [parse_measure(name, FAMILY) for name in usual()]
    left_out = {str(measure): why for measure in measures if (why := measure.obstacle(evidence))}
    possible = [measure for measure in measures if str(measure) not in left_out]
    every = evidence.dialogues
    system = SystemEvidence(
        evidence=evidence,
        measures=possible,
        dialogues=[one.id for one in evidence.checked],
        signature=Signature(roles="faults", dialogues=str(every)),
        coverage=Coverage({"dialogues": Count(expected=planned, read=every, scored=every, failed=0)}),
        left_out=left_out,
    )
    [scores] = score_systems([system])
    if how is None:
        return scores
    [bounds] = intervals([(evidence.by_task(), possible)], how)
    limited = {
        name: structs.replace(score, low=low, high=high) if math.isfinite(low) and math.isfinite(high) else score
        for (name, score), (low, high) in zip(scores.scores.items(), bounds, strict=True)
    }
    return replace(scores, scores=limited, resampling=how)


def _faults_frame(results: Sequence[CheckedConversation]) -> polars.DataFrame:
    import polars as pl

    rows: list[tuple[Any, ...]] = [
        (
            one.id,
            fault.kind,
            fault.turn,
            fault.message,
            fault.length,
            fault.sentence,
            one.of_kind(fault.kind).extent,
            fault.by,
        )
        for one in results
        for fault in one.faults
    ]
    schema = {
        "dialogue": pl.String, "kind": pl.String, "turn": pl.Int64, "message": pl.Int64, "length": pl.Int64,
        "sentence": pl.String, "checked": pl.String, "by": pl.String,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _checks_frame(results: Sequence[CheckedConversation]) -> polars.DataFrame:
    import polars as pl

    rows = [
        (one.id, finding.kind, finding.extent, finding.scope, len(finding.faults))
        for one in results
        for finding in one.findings
    ]
    schema = {"dialogue": pl.String, "kind": pl.String, "checked": pl.String, "scope": pl.String, "faults": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")
