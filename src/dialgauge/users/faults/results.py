"""Checked conversations as runs: shares with intervals that resample tasks, and the faults and checks as tables."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
import polars as pl
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge.comparison import Pairing
from dialgauge.data import data_folder
from dialgauge.dialogue import Dialogue, differing_instructions, differing_sentence
from dialgauge.engine import SILENT, Progress
from dialgauge.errors import DialgaugeError
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
from dialgauge.runs import MANIFEST, Run, new_run
from dialgauge.text import Note, counted
from dialgauge.users.faults.act_checks import check_user, has_acts
from dialgauge.users.faults.records import KINDS, CheckedConversation
from dialgauge.worlds.tools import Integrity, check_corpus

if TYPE_CHECKING:
    from dialgauge.users.faults.judge import FaultJudge

FAULTS, CHECKS = "faults", "fault_checks"
USER_FAULT, NO_FAULT_FOUND = "UserFault", "NoFaultFound"
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
            recorded = _recorded(source, format)
        checked = None if judge is None else judge.check(recorded.dialogues, recorded.file, progress)
        run = faults_run(
            recorded.dialogues,
            name,
            checked=checked,
            judge=judge,
            inputs=[("conversations", recorded.file)] if recorded.file not in ("", "-") else [],
            resamples=resamples,
            seed=seed,
            integrity=recorded.integrity,
        )
        runs.append(run)
    return RunSet(runs)


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
    integrity = check_corpus(corpus, data_folder().root)
    if integrity is not None and not integrity.per_task_stands:
        raise DialgaugeError(
            f"{len(integrity.foreign):,} of {counted(integrity.conversations, 'conversation')} do not belong to the "
            "task they are filed under, so what their users said cannot be held against it; 'dialgauge review' shows "
            "which",
            file=corpus.source,
        )
    return _Recording(corpus.dialogues, corpus.source if corpus.files else "", integrity)


def faults_run(
    dialogues: Sequence[Dialogue],
    name: str,
    *,
    checked: Sequence[CheckedConversation] | None = None,
    inputs: Iterable[tuple[str, str]] = (),
    judge: FaultJudge | None = None,
    resamples: int = 1000,
    seed: int = 0,
    integrity: Integrity | None = None,
) -> Run:
    """The run of dialogues that were checked, by checks and perhaps a ``judge`` too, or are checked now."""
    results = [check_user(dialogue) for dialogue in dialogues] if checked is None else checked
    evidence = FaultEvidence(results, [task_of(dialogue) for dialogue in dialogues])
    unseen, broken = _nothing_to_look_at(dialogues), _broken_off(dialogues)
    measures = [parse_measure(each, "faults") for each in _usual()]
    left_out = {str(measure): why for measure in measures if (why := measure.obstacle(evidence))}
    system = SystemEvidence(
        evidence=evidence,
        measures=[measure for measure in measures if str(measure) not in left_out],
        dialogues=[each.id for each in results],
        signature=_signature(dialogues).with_(judge=judge.name if judge else ""),
        coverage=_coverage(dialogues, sum(unseen.values()), sum(broken.values())),
        left_out=left_out,
        resampled=evidence.by_task(),
    )
    differing = differing_instructions((task_of(dialogue), dialogue) for dialogue in dialogues)
    return new_run(
        kind="faults",
        name=name,
        scores=score_systems([system], Resampling(resamples, seed) if resamples else None)[0],
        tables={FAULTS: lambda: _faults_frame(results), CHECKS: lambda: _checks_frame(results)},
        corpus=list(dialogues),
        config={"system": name},
        inputs=list(inputs),
        seeds=seed,
        details={
            "users": sorted({dialogue.ended.facts.get("user", "") for dialogue in dialogues} - {""}),
            "nothing_to_look_at": unseen,
            "broken_off": broken,
            "told": sum(each.told for each in results),
            "integrity": None if integrity is None else dict(integrity.counts),
            "by_texts": sum(not has_acts(dialogue) for dialogue in dialogues),
            "judged": judge.agreement() if judge else [],
        },
        notes=[Note("instructions", differing_sentence(differing))] if differing else [],
    )


def _faults_frame(results: Sequence[CheckedConversation]) -> pl.DataFrame:
    own = attrgetter("kind", "turn", "message", "length", "reason", "about", "given", "wanted", "earlier")
    rows: list[tuple[Any, ...]] = [
        (result.id, *own(fault), result.of_kind(fault.kind).extent, fault.by)
        for result in results
        for fault in result.faults
    ]
    schema: dict[str, Any] = {
        "dialogue": pl.String, "kind": pl.String, "turn": pl.Int64, "message": pl.Int64, "length": pl.Int64,
        "reason": pl.String, "about": pl.String, "given": pl.List(pl.String), "wanted": pl.List(pl.String),
        "earlier": pl.Int64, "checked": pl.String, "by": pl.String,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _checks_frame(results: Sequence[CheckedConversation]) -> pl.DataFrame:
    rows = [
        (result.id, finding.kind, finding.extent, finding.reason, finding.about, len(finding.faults))
        for result in results
        for finding in result.findings
    ]
    schema: dict[str, Any] = {
        "dialogue": pl.String, "kind": pl.String, "checked": pl.String, "reason": pl.String,
        "about": pl.List(pl.String), "faults": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


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
        """The same, conversations about one task together."""
        numbers = {task: number for number, task in enumerate(dict.fromkeys(self.tasks))}
        other = copy.copy(self)
        other.dialogue = np.array([numbers[task] for task in self.tasks], np.int64)
        other.dialogues = len(numbers)
        return other

    def part(self, name: str) -> FaultEvidence:
        """One kind of fault."""
        if name not in KINDS:
            raise DialgaugeError(f"there is no kind of fault '{name}'; there are {', '.join(KINDS)}")
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


def _none_found(evidence: FaultEvidence, settings: Settings) -> UnitNumbers:
    above, below = _faulty(evidence, settings)
    return below - above, below


def _obstacle(evidence: Any, settings: Settings) -> str | None:
    if not isinstance(evidence, FaultEvidence):
        return "it is a measure of 'dialgauge users faults'"
    if any(each is not None for each in evidence.looked()):
        return None
    if evidence.kind:
        return f"no conversation could be checked for {evidence.kind}"
    return "no conversation has an instruction or goal to compare its user with"


def _card(name: str, title: str, summary: str, formula: str, units: Any, *, higher: bool) -> Card[FaultEvidence]:
    return Card(
        name=name, family="faults", title=title, summary=summary, formula=formula,
        source="dialgauge; kinds after docs/user-faults.md", units=units, parts=True, obstacle=_obstacle,
        higher_is_better=higher,
    )  # fmt: skip


CARDS: tuple[Card[FaultEvidence], ...] = (
    _card(
        USER_FAULT,
        "conversations with a user fault",
        "Share of the checked conversations in which a user fault was found, of any kind or of one, "
        "such as [withheld]. A lower bound: the checks catch only part of each kind.",
        "conversations with a fault found / conversations that could be checked",
        _faulty,
        higher=False,
    ),
    _card(
        NO_FAULT_FOUND,
        "conversations without a user fault found",
        "Share of the checked conversations in which no fault was found. An upper bound on the share with a faultless "
        "user.",
        "conversations without a fault found / conversations that could be checked",
        _none_found,
        higher=True,
    ),
)


def _usual() -> list[str]:
    """The measures of every run: no fault found, any fault, and every kind."""
    return [NO_FAULT_FOUND, USER_FAULT, *(f"{USER_FAULT}[{kind}]" for kind in KINDS)]


# What a log says of its conversations beside the words: tasks, how many were planned, what has nothing to see.

#: Ends of conversations of agents that are their own; whatever else a results file names is a failure of something
#: else.
_OWN_ENDS = frozenset({"", "user_stop", "agent_stop", "max_steps", "too_many_errors", "agent_error"})
#: Benchmarks that judge every conversation that comes to its end; other logs need not.
_JUDGING = frozenset({"tau", "tau2"})


def task_of(dialogue: Dialogue) -> str:
    """What trials of one task share; a conversation that says nothing of it is a task of its own."""
    return dialogue.ended.task or dialogue.id


def _nothing_to_look_at(dialogues: Iterable[Dialogue]) -> dict[str, int]:
    """How many conversations have no word or deed of the user, by the reason."""
    why = (_failure(dialogue) or "the user never spoke" for dialogue in dialogues if not _user_is_there(dialogue))
    return dict(Counter(why).most_common())


def _broken_off(dialogues: Iterable[Dialogue]) -> dict[str, int]:
    """How many conversations can be looked at only as far as they go, by what failed."""
    why = (_failure(dialogue) for dialogue in dialogues if _user_is_there(dialogue))
    return dict(Counter(reason for reason in why if reason).most_common())


def _user_is_there(dialogue: Dialogue) -> bool:
    return any(turn.speaker == "user" for turn in dialogue.turns)


def _failure(dialogue: Dialogue) -> str:
    """What failed beside user and agent, where a results file of agents says so; empty where nothing did."""
    outcome = dialogue.ended
    if not outcome.benchmark:
        return ""
    if outcome.reason not in _OWN_ENDS and not outcome.reason.endswith("_limit"):
        return f"failed by infrastructure: {outcome.reason}"
    judged = outcome.success is not None or outcome.benchmark not in _JUDGING
    return "" if judged else "never judged"


def _coverage(dialogues: Sequence[Dialogue], unseen: int, broken: int) -> Coverage:
    """Conversations that could be looked at and, where some were broken off, those that came to their end."""
    every = len(dialogues)
    plans = [plan[0] * plan[1] for dialogue in dialogues if (plan := dialogue.ended.planned) is not None]
    planned = max([every, *plans])
    units = {"dialogues": Count(expected=planned, read=every, scored=every - unseen, failed=unseen)}
    if broken:
        units["ends"] = Count(expected=every - unseen, read=every, scored=every - unseen - broken, failed=broken)
    return Coverage(
        units, policy="a conversation in which the user never spoke is not counted, and neither is one that is missing"
    )


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
    """What a log lacks, to be read before any number: conversations that were planned, words to look at, ends.

    Empty where nothing is missing.
    """
    count, parts = run.coverage["dialogues"], []
    if run.coverage.complete:
        return ""
    read_, looked = count.read or 0, count.scored or 0
    if count.expected is not None and read_ < count.expected:
        are = "is" if read_ == 1 else "are"
        parts.append(f"{read_:,} of {counted(count.expected, 'planned conversation')} {are} there")
    for key, what in (("nothing_to_look_at", "nothing to look at"), ("broken_off", "no end of their own")):
        reasons = run.details.get(key, {})
        if number := sum(reasons.values()):
            why = ", ".join(f"{reason} {times:,}" for reason, times in reasons.items())
            parts.append(f"{counted(number, 'conversation')} of {read_:,} with {what} ({why})")
    of = "those that are there" if looked == read_ else f"the {looked:,} that can be looked at"
    return f"{run.name}: {'; '.join(parts)}; shares are of {of}."


class FaultsPairing(Pairing):
    """Conversations about the same tasks; what is missing is told first."""

    trial_unit = "task"

    def trials(self, run: Run) -> Mapping[str, str]:
        """The task of each conversation, read once per run."""
        if run not in _TASKS:
            _TASKS[run] = {dialogue.id: task_of(dialogue) for dialogue in run.dialogues()}
        return _TASKS[run]

    def names_domains(self, runs: Sequence[Run]) -> bool:
        """Whether conversations say which benchmark they are of, and so name the domain of the task."""
        return any(dialogue.ended.benchmark for run in runs for dialogue in run.dialogues())

    def warnings(self, runs: Sequence[Run]) -> list[str]:
        """What a file lacks."""
        lacking = [Note("lacking", missing.removesuffix(".")) for run in runs if (missing := missing_sentence(run))]
        return [*lacking, *self.mismatch_warnings()]


_TASKS: WeakKeyDictionary[Run, dict[str, str]] = WeakKeyDictionary()
PAIRING = FaultsPairing()
