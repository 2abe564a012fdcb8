"""Checked conversations as runs: shares with intervals that resample tasks, and the faults and checks as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from dialgauge.data import data_folder
from dialgauge.dialogue import Dialogue, differing_instructions, differing_sentence
from dialgauge.engine import SILENT, Progress
from dialgauge.errors import DialgaugeError
from dialgauge.formats import AnyFrame, Corpus, named_sources, read
from dialgauge.measures import (
    Count,
    Coverage,
    Resampling,
    Scores,
    Signature,
    SystemEvidence,
    parse_measure,
    score_systems,
)
from dialgauge.runs import MANIFEST, Run, new_run
from dialgauge.text import Note, counted
from dialgauge.users.faults.checking import check_user
from dialgauge.users.faults.conversation_view import ConversationView
from dialgauge.users.faults.fault_measures import FAMILY, FaultEvidence, usual
from dialgauge.users.faults.fault_records import CheckedConversation
from dialgauge.users.faults.recorded_tasks import (
    broken_off,
    faults_signature,
    nothing_to_look_at,
    planned_conversations,
    task_of,
)
from dialgauge.worlds.tools import Integrity, check_corpus

if TYPE_CHECKING:
    import polars

    from dialgauge.users.faults.fault_presentation import FaultRuns
    from dialgauge.users.faults.judge import FaultJudge

KIND = "faults"
FAULTS, CHECKS = "faults", "fault_checks"
#: The file that makes a folder a stored run.
#: Recorded conversations: a file or folder, a run or its folder, dialogues, or a frame of them.
Recorded: TypeAlias = str | Path | Run | Corpus | AnyFrame | Iterable[Dialogue]


def user_faults(
    conversations: Recorded | Iterable[str | Path] | Mapping[str, Recorded],
    *,
    format: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
    judge: FaultJudge | None = None,
    progress: Progress = SILENT,
) -> FaultRuns:
    """What the simulated users in recorded conversations got wrong: one run for each system.

    A system is a file, a run or its folder, or dialogues, also in a frame; several are files, or a mapping of names. A
    ``judge`` (:func:`dialgauge.users.faults.model_judge`) only adds faults, and is held against the labels.

    With an example file of ``dialgauge init``:

    >>> import dialgauge
    >>> faults = dialgauge.user_faults("tau.json")
    >>> f"{faults['tau']['UserFault']:.3f}", f"{faults['tau']['UserFault[withheld]']:.3f}"
    ('0.083', '0.083')
    """
    from dialgauge.users.faults.fault_presentation import FaultRuns, agreement_table

    runs = []
    default = conversations.name if isinstance(conversations, Run) else "conversations"
    for name, source in named_sources(conversations, default).items():
        with progress.reading():
            recorded = _recorded(source, format)
        checked = None if judge is None else judge.check(recorded.dialogues, recorded.file, progress)
        runs.append(
            faults_run(
                recorded.dialogues,
                name,
                checked=checked,
                judge=judge.name if judge else "",
                inputs=[("conversations", recorded.file)] if recorded.file not in ("", "-") else [],
                resamples=resamples,
                seed=seed,
                integrity=recorded.integrity,
            )
        )
    return FaultRuns(runs, agreement_table(judge) if judge else None)


class _Recording(Struct):
    """Conversations, the file they are from, and whether they belong to their tasks, where that can be told."""

    dialogues: Sequence[Dialogue]
    file: str = ""
    integrity: Integrity | None = None


def _recorded(source: Recorded, format: str | None) -> _Recording:
    if isinstance(source, str | Path) and (Path(source) / MANIFEST).is_file():
        source = Run.load(Path(source))
    if isinstance(source, Run):
        return _Recording(list(source.dialogues()))
    corpus = read(source, format=format)
    file = corpus.source if corpus.files else ""
    return _Recording(corpus.dialogues, file, _checked(corpus))


def _checked(corpus: Corpus) -> Integrity | None:
    """Whether conversations belong to their tasks; an error where too many do not, as users would be accused for it."""
    integrity = check_corpus(corpus, data_folder().root)
    if integrity is not None and not integrity.per_task_stands:
        raise DialgaugeError(
            f"{len(integrity.foreign):,} of {counted(integrity.conversations, 'conversation')} do not belong to the "
            "task they are filed under, so what their users said cannot be held against it; 'dialgauge tasks audit' "
            "shows which, and where they belong",
            file=corpus.source,
        )
    return integrity


def faults_run(
    dialogues: Sequence[Dialogue],
    name: str,
    *,
    checked: Sequence[CheckedConversation] | None = None,
    inputs: Iterable[tuple[str, str]] = (),
    judge: str = "",
    resamples: int = 1000,
    seed: int = 0,
    integrity: Integrity | None = None,
) -> Run:
    """The run of dialogues that were checked, by checks and perhaps a ``judge`` too, or are checked now."""
    results = [check_user(dialogue) for dialogue in dialogues] if checked is None else checked
    evidence = FaultEvidence(results, [task_of(dialogue) for dialogue in dialogues])
    unseen, broken = nothing_to_look_at(dialogues), broken_off(dialogues)
    coverage = _coverage(dialogues, sum(unseen.values()), sum(broken.values()))
    how = Resampling(resamples, seed) if resamples else None
    differing = differing_instructions((task_of(dialogue), dialogue) for dialogue in dialogues)
    return new_run(
        kind=KIND,
        name=name,
        scores=_scores(evidence, faults_signature(dialogues).with_(judge=judge), coverage, how),
        tables={FAULTS: lambda: _faults_frame(results), CHECKS: lambda: _checks_frame(results)},
        corpus=list(dialogues),
        config={"system": name},
        inputs=list(inputs),
        seeds=seed,
        details={
            "users": sorted({dialogue.ended.facts.get("user", "") for dialogue in dialogues} - {""}),
            "nothing_to_look_at": unseen,
            "broken_off": broken,
            **_compared(results, sum(unseen.values())),
            "integrity": None if integrity is None else dict(integrity.counts),
            "by_texts": sum(not ConversationView(dialogue).has_acts for dialogue in dialogues),
        },
        notes=[Note("instructions", differing_sentence(differing))] if differing else [],
    )


def _compared(results: Sequence[CheckedConversation], unseen: int) -> dict[str, int]:
    """How many conversations have an instruction to compare their user with, where not all have one."""
    compared = sum(checked.told and any(finding.checked for finding in checked.findings) for checked in results)
    return {"compared": compared} if compared < len(results) - unseen else {}


def _coverage(dialogues: Sequence[Dialogue], unseen: int, broken: int) -> Coverage:
    """Conversations that could be looked at and, where some were broken off, those that came to their end."""
    every, planned = len(dialogues), planned_conversations(dialogues)
    units = {"dialogues": Count(expected=planned, read=every, scored=every - unseen, failed=unseen)}
    if broken:
        units["ends"] = Count(expected=every - unseen, read=every, scored=every - unseen - broken, failed=broken)
    return Coverage(
        units, policy="a conversation in which the user never spoke is not counted, and neither is one that is missing"
    )


def _scores(evidence: FaultEvidence, signature: Signature, coverage: Coverage, how: Resampling | None) -> Scores:
    measures = [parse_measure(name, FAMILY) for name in usual()]
    left_out = {str(measure): why for measure in measures if (why := measure.obstacle(evidence))}
    possible = [measure for measure in measures if str(measure) not in left_out]
    system = SystemEvidence(
        evidence=evidence,
        measures=possible,
        dialogues=[checked.id for checked in evidence.checked],
        signature=signature,
        coverage=coverage,
        left_out=left_out,
        resampled=evidence.by_task(),
    )
    return score_systems([system], how)[0]


def _faults_frame(results: Sequence[CheckedConversation]) -> polars.DataFrame:
    import polars as pl

    own = attrgetter("kind", "turn", "message", "length", "reason", "about", "given", "wanted", "earlier")
    rows: list[tuple[Any, ...]] = [
        (result.id, *own(fault), result.of_kind(fault.kind).extent, fault.by, fault.minor)
        for result in results
        for fault in result.faults
    ]
    schema: dict[str, Any] = {
        "dialogue": pl.String, "kind": pl.String, "turn": pl.Int64, "message": pl.Int64, "length": pl.Int64,
        "reason": pl.String, "about": pl.String, "given": pl.List(pl.String), "wanted": pl.List(pl.String),
        "earlier": pl.Int64, "checked": pl.String, "by": pl.String, "minor": pl.Boolean,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _checks_frame(results: Sequence[CheckedConversation]) -> polars.DataFrame:
    import polars as pl

    rows = [
        (result.id, finding.kind, finding.extent, finding.reason, finding.about, finding.left, len(finding.faults))
        for result in results
        for finding in result.findings
    ]
    schema: dict[str, Any] = {
        "dialogue": pl.String, "kind": pl.String, "checked": pl.String, "reason": pl.String,
        "about": pl.List(pl.String), "left": pl.List(pl.String), "faults": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")
