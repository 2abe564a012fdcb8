"""Checked conversations as runs: shares with intervals that resample tasks, and the faults and checks as tables."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from dialgauge.comparison import Pairing
from dialgauge.dialogue import Dialogue, differing_instructions, differing_sentence
from dialgauge.engine import SILENT, Progress
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import AnyFrame, Corpus, checksum, named_sources, read
from dialgauge.measures import (
    Card,
    Count,
    Coverage,
    Resampling,
    Settings,
    Signature,
    SystemEvidence,
    UnitNumbers,
    Units,
    parse_measure,
    score_systems,
)
from dialgauge.report import RunSet
from dialgauge.runs import MANIFEST, Run, frame_from_rows, new_run
from dialgauge.text import Note, counted
from dialgauge.users.faults.act_checks import check_user, has_acts
from dialgauge.users.faults.records import KINDS, CheckedConversation

if TYPE_CHECKING:
    from dialgauge.users.faults.judge import FaultJudge

FAULTS, CHECKS, USER_FAULT = "faults", "fault_checks", "UserFault"
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
) -> RunSet:
    """What the simulated users in recorded conversations got wrong: one run for each system.

    A system is a file, a run or its folder, or dialogues, also in a frame; several are files, or a mapping of names. A
    ``judge`` (:func:`dialgauge.users.faults.model_judge`) only adds faults, and is held against the labels.

    With an example file of ``dialgauge init``:

    >>> import dialgauge
    >>> faults = dialgauge.user_faults("tau.json")
    >>> f"{faults['tau']['UserFault']:.3f}", f"{faults['tau']['UserFault[withheld]']:.3f}"
    ('0.083', '0.083')
    """
    runs = []
    default = conversations.name if isinstance(conversations, Run) else "conversations"
    for name, source in named_sources(conversations, default).items():
        with progress.reading():
            dialogues, file = _recorded(source, format)
        checked = [check_user(dialogue) for dialogue in dialogues]
        if judge is not None:
            checked = judge.add_faults(checked, dialogues, file, progress)
        runs.append(_run(name, checked, dialogues, file, judge, Resampling(resamples, seed) if resamples else None))
    return RunSet(runs)


def _recorded(source: Recorded, format: str | None) -> tuple[list[Dialogue], str]:
    """Conversations and the file they are from."""
    if isinstance(source, str | Path) and (Path(source) / MANIFEST).is_file():
        source = Run.load(Path(source))
    if isinstance(source, Run):
        return list(source.dialogues()), ""
    corpus = read(source, format=format)
    return list(corpus.dialogues), corpus.source if corpus.files else ""


def _run(
    name: str,
    checked: Sequence[CheckedConversation],
    dialogues: list[Dialogue],
    file: str,
    judge: FaultJudge | None,
    how: Resampling | None,
) -> Run:
    evidence = FaultEvidence(checked, [task_of(dialogue) for dialogue in dialogues])
    measures = [parse_measure(each, "faults") for each in (USER_FAULT, *(f"{USER_FAULT}[{kind}]" for kind in KINDS))]
    left_out = {str(measure): why for measure in measures if (why := measure.obstacle(evidence))}
    system = SystemEvidence(
        evidence=evidence,
        measures=[measure for measure in measures if str(measure) not in left_out],
        dialogues=[each.id for each in checked],
        signature=_signature(dialogues).with_(judge=judge.name if judge else ""),
        coverage=_coverage(dialogues),
        left_out=left_out,
        resampled=evidence.by_task(),
    )
    differing = differing_instructions((task_of(dialogue), dialogue) for dialogue in dialogues)
    return new_run(
        kind="faults",
        name=name,
        scores=score_systems([system], how)[0],
        tables={
            FAULTS: lambda: frame_from_rows(_fault_rows(checked), _FAULTS),
            CHECKS: lambda: frame_from_rows(_check_rows(checked), _CHECKS),
        },
        corpus=dialogues,
        config={"system": name},
        inputs=[("conversations", file)] if file not in ("", "-") else [],
        seeds=how.seed if how else 0,
        details={
            "users": sorted({dialogue.ended.facts.get("user", "") for dialogue in dialogues} - {""}),
            "told": sum(each.told for each in checked),
            "by_texts": sum(not has_acts(dialogue) for dialogue in dialogues),
            "judged": judge.agreement() if judge else [],
        },
        notes=[Note("instructions", differing_sentence(differing))] if differing else [],
    )


_TEXT, _WHOLE, _TEXTS = pl.String, pl.Int64, pl.List(pl.String)
_FAULTS = {
    "dialogue": _TEXT, "kind": _TEXT, "turn": _WHOLE, "message": _WHOLE, "length": _WHOLE, "reason": _TEXT,
    "about": _TEXT, "given": _TEXTS, "wanted": _TEXTS, "earlier": _WHOLE, "checked": _TEXT, "by": _TEXT,
}  # fmt: skip
_CHECKS = {
    "dialogue": _TEXT, "kind": _TEXT, "checked": _TEXT, "reason": _TEXT, "about": _TEXTS, "faults": _WHOLE,
}  # fmt: skip


def _fault_rows(results: Iterable[CheckedConversation]) -> Iterator[tuple[Any, ...]]:
    own = attrgetter("kind", "turn", "message", "length", "reason", "about", "given", "wanted", "earlier")
    for result in results:
        for fault in result.faults:
            yield result.id, *own(fault), result.of_kind(fault.kind).extent, fault.by


def _check_rows(results: Iterable[CheckedConversation]) -> Iterator[tuple[Any, ...]]:
    for result in results:
        for each in result.findings:
            yield result.id, each.kind, each.extent, each.reason, each.about, len(each.faults)


# Measures: shares of conversations, a part for each kind of fault.


class FaultEvidence(Units):
    """Checked conversations, one unit each; ``by_task`` has all trials of a task as one unit of resampling.

    A part is a kind of fault. Without one, only conversations count whose user was told something: of the others
    nobody knows what the user should have said.
    """

    kind = ""

    def __init__(self, checked: Sequence[CheckedConversation], tasks: Sequence[str]) -> None:
        self.checked, self.tasks = checked, tasks
        self.dialogues = len(checked)
        self.dialogue: NDArray[np.integer[Any]] = np.arange(self.dialogues)

    def by_task(self) -> FaultEvidence:
        """The evidence with the conversations of a task as one unit of resampling."""
        numbers = {task: number for number, task in enumerate(dict.fromkeys(self.tasks))}
        other = copy.copy(self)
        other.dialogue = np.array([numbers[task] for task in self.tasks], np.int64)
        other.dialogues = len(numbers)
        return other

    def part(self, name: str) -> FaultEvidence:
        """One kind of fault."""
        if name not in KINDS:
            raise DialgaugeError(f"there is no kind of fault '{name}'.{nearest(name, KINDS)}")
        other = copy.copy(self)
        other.kind = name
        return other

    def looked(self) -> Iterator[bool | None]:
        """Whether a fault was found in each conversation; None where nobody could look."""
        for each in self.checked:
            own = [finding for finding in each.findings if finding.checked and self.kind in ("", finding.kind)]
            yield any(finding.faults for finding in own) if own and (self.kind or each.told) else None


def _faulty(evidence: FaultEvidence, settings: Settings) -> UnitNumbers:
    found = list(evidence.looked())
    return np.array([each is True for each in found], float), np.array([each is not None for each in found], float)


def _obstacle(evidence: FaultEvidence, settings: Settings) -> str | None:
    if any(each is not None for each in evidence.looked()):
        return None
    if evidence.kind:
        return f"no conversation could be checked for {evidence.kind}"
    return "no conversation has an instruction or goal to compare its user with"


CARDS: tuple[Card[FaultEvidence], ...] = (
    Card(
        name=USER_FAULT,
        family="faults",
        title="conversations with a user fault",
        summary="Share of the checked conversations in which a user fault was found, of any kind or of one, such as "
        "[withheld]. The checks catch only part of each kind.",
        formula="conversations with a fault found / conversations that could be checked",
        source="dialgauge; kinds after docs/user-faults.md",
        units=_faulty,
        parts=True,
        obstacle=_obstacle,
        higher_is_better=False,
    ),
)


# What a log says of its conversations beside the words: tasks, and how many were planned.


def task_of(dialogue: Dialogue) -> str:
    """The task of a conversation; without one, the conversation is a task of its own."""
    return dialogue.ended.task or dialogue.id


def _user_is_there(dialogue: Dialogue) -> bool:
    return any(turn.speaker == "user" for turn in dialogue.turns)


def _coverage(dialogues: Sequence[Dialogue]) -> Coverage:
    """The conversations that could be looked at, of those that were planned."""
    every, looked = len(dialogues), sum(map(_user_is_there, dialogues))
    plans = [plan[0] * plan[1] for dialogue in dialogues if (plan := dialogue.ended.planned) is not None]
    count = Count(expected=max([every, *plans]), read=every, scored=looked, failed=every - looked)
    return Coverage({"dialogues": count}, policy="conversations in which the user never spoke do not count")


def _signature(dialogues: Sequence[Dialogue]) -> Signature:
    """What shares of faults depend on beside the agent: the user, its tasks and what it was told, and the limits.

    ``gold`` is the checksum of tasks with their goals: other tasks under the same ids are other data.
    """
    keys = ("user", "policy", "max_steps", "max_errors", "task_set")
    recorded = {key: _joined(dialogue.ended.facts.get(key, "") for dialogue in dialogues) for key in keys}
    recorded["benchmark"] = _joined(dialogue.ended.benchmark for dialogue in dialogues)
    goals = {msgspec.json.encode((task_of(dialogue), dialogue.goal), order="deterministic") for dialogue in dialogues}
    return Signature(
        roles="faults",
        domain=_joined(domain for dialogue in dialogues for domain in dialogue.domains),
        gold=checksum(b"\n".join(sorted(goals))),
        dialogues=str(sum(map(_user_is_there, dialogues))),
        **recorded,
    )


def _joined(texts: Iterable[str]) -> str:
    return ",".join(sorted({text for text in texts if text}))


def missing_sentence(run: Run) -> str:
    """What a log lacks, without its full stop; "" where nothing is missing."""
    count = run.coverage["dialogues"]
    if run.coverage.complete or count.expected is None:
        return ""
    parts = []
    if missing := count.expected - (count.read or 0):
        parts.append(f"{missing:,} of {counted(count.expected, 'planned conversation')} missing")
    if count.failed:
        parts.append(f"the user never speaks in {counted(count.failed, 'conversation')}")
    return f"{run.name}: {', '.join(parts)}; shares are of the other {count.scored or 0:,}"


class FaultsPairing(Pairing):
    """Conversations about the same tasks; what is missing is told first."""

    trial_unit = "task"

    def trials(self, run: Run) -> Mapping[str, str]:
        """The task of each conversation."""
        return {dialogue.id: task_of(dialogue) for dialogue in run.dialogues()}

    def names_domains(self, runs: Sequence[Run]) -> bool:
        """Whether conversations name their benchmark, and with it the domain of the task."""
        return any(dialogue.ended.benchmark for run in runs for dialogue in run.dialogues())

    def warnings(self, runs: Sequence[Run]) -> list[str]:
        """Missing conversations, and those in which the user never speaks."""
        lacking = [Note("lacking", missing) for run in runs if (missing := missing_sentence(run))]
        return [*lacking, *super().warnings(runs)]


PAIRING = FaultsPairing()
