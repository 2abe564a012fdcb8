"""Calls of the public API that no single family can answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Unpack, cast

from msgspec.structs import replace

from dialgauge.comparison import SCORED_AS_EMPTY, Comparison, compare_runs
from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats import DEFAULT_LIMIT, expand
from dialgauge.runs import Run, Store
from dialgauge.text import note_kind
from dialgauge.tracking import named_systems, score

if TYPE_CHECKING:
    from dialgauge.data import Finding, GroupReport, Report
    from dialgauge.engine import Progress
    from dialgauge.tracking import MeasureChoice, Source, TrackingOptions
    from dialgauge.trials import LogAudit, LogBlame, LogFindings, ObservedFault, Review, TrialLog

#: Files of results: one, several, or by the names that they shall have.
Results: TypeAlias = "str | Path | Iterable[str | Path] | Mapping[str, str | Path]"


def compare(
    systems: Mapping[str, Run] | Source | Sequence[Mapping[str, Run] | Run | str] | None,
    predictions: Mapping[str, Source] | Sequence[str | Path] | None = None,
    *,
    measures: MeasureChoice = None,
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    missing: str = "shared",
    store: Store | str | Path | None = None,
    **tracking: Unpack[TrackingOptions],
) -> Comparison:
    """Which system is better, and by which measure?

    Compared are runs of any kind (one :class:`RunSet`, or a list of them, of runs, or of ids of stored runs), or
    trackers: ``compare(gold, predictions)``, each as for :func:`dialgauge.score`, with its options.
    Tests are paired over the dialogues that all systems have. Where a system lacks some, ``missing="shared"`` leaves
    them out, ``refuse`` is an error; of trackers, ``empty`` scores what a system lacks as empty states.

    >>> import dialgauge
    >>> gold = {str(n): [{"hotel-area": "north"}] for n in range(8)}
    >>> results = dialgauge.score(gold, {"right": gold, "silent": {name: [{}] for name in gold}}, measures="JGA")
    >>> comparison = dialgauge.compare(results, resamples=1000)
    >>> comparison["right"]["JGA"], comparison.difference("right", "silent", "JGA").significant
    (<Score 1 [0.6537, 1], n=8>, True)
    """
    if predictions is not None:
        if len(named_systems(predictions)) < 2:
            raise DialgaugeError("a comparison needs at least two systems; name two or more prediction files")
        if missing == SCORED_AS_EMPTY:
            tracking["coverage"], missing = "empty", "shared"
        results = score(cast("Source | None", systems), predictions, measures=measures, intervals=False, **tracking)
        return compare_runs(results.runs, resamples=resamples, seed=seed, level=level, missing=missing)
    if tracking:
        raise DialgaugeError(f"runs are already scored; leave out {', '.join(tracking)}")
    given = [systems] if isinstance(systems, Mapping) else systems
    if not isinstance(given, list | tuple):
        raise DialgaugeError("give runs to compare, or gold and predictions: compare(gold, predictions)")
    runs: list[Run | str] = []
    for system in given:
        if isinstance(system, Mapping):
            runs += cast("Mapping[str, Run]", system).values()
        elif isinstance(system, Run | str):
            runs.append(system)
        else:
            raise DialgaugeError(f"a {type(system).__name__} cannot be compared; give runs or ids of stored runs")
    chosen = [measures] if isinstance(measures, str) else measures
    named = None if chosen is None else [str(measure) for measure in chosen]
    return compare_runs(runs, store=store, measures=named, resamples=resamples, seed=seed, level=level, missing=missing)


def check(
    sources: Sequence[str | Path],
    *,
    format: str | None = None,
    gold: str | Path | None = None,
    ontology: str | Path | None = None,
    limit: int = DEFAULT_LIMIT,
    advance: Callable[[int], None] = lambda dialogues: None,
) -> Report:
    """What the files of the sources are, what they hold, and what is wrong with them.

    With ``gold``, also how much of it they cover, and what :func:`dialgauge.score` would stop at or note.

    >>> import dialgauge
    >>> dialogues = dialgauge.simulate(dialgauge.load_world(), task=1, count=2)
    >>> notes = dialgauge.write(dialogues, "checked.jsonl", format="native")
    >>> report = dialgauge.check(["checked.jsonl"])
    >>> report.exit_code, report.files, [group.format for group in report.groups]
    (0, 1, ['native'])
    """
    from dialgauge.data import check as examine

    report = examine(sources, format=format, gold=gold, ontology=ontology, limit=limit, advance=advance)
    if gold is None:
        return report
    return replace(report, groups=[_tried_with_score(group, os.fspath(gold), format) for group in report.groups])


def _tried_with_score(group: GroupReport, gold: str, format: str | None) -> GroupReport:
    """The report with what scoring its predicted states says of them."""
    if not group.predicted:
        return group
    sets = [group.source] if len(group.coverage) == 1 else [coverage.files[0] for coverage in group.coverage]
    added = [finding for source in sets for finding in _score_findings(source, gold, format)]
    return replace(group, findings=sorted([*group.findings, *added], key=lambda finding: finding.severity != "problem"))


def _score_findings(source: str, gold: str, format: str | None) -> Iterator[Finding]:
    from dialgauge.data import Finding, FindingPlace

    places = [FindingPlace(file=source)]
    if not (_can_be_read_again(source) and _can_be_read_again(gold)):
        message = (
            "not tried with 'dialgauge score', which would have to read the file again; give each file by its name"
        )
        yield Finding(kind="not tried", severity="remark", message=message, count=1, places=places)
        return
    try:
        [run] = score(gold, [source], measures="JGA", intervals=False, pred_format=format).runs
    except DialgaugeError as error:
        message = f"'dialgauge score' stops: {error.message}"
        yield Finding(kind="score stops", severity="problem", message=message, count=1, places=places)
        return
    for note in run.notes:
        if note_kind(note) not in ("coverage", "partial_coverage", "read_as"):  # the report has these already
            message = f"'dialgauge score' notes: {note}"
            yield Finding(kind="score notes", severity="remark", message=message, count=1, places=places)


def _can_be_read_again(source: str) -> bool:
    """Neither standard input nor a pipe, and no member of an archive."""
    try:
        return not any(name == "-" or Path(name).is_fifo() for name in expand(source))
    except DialgaugeError:
        return False


def audit_results(
    results: Results, *, domain: str | None = None, tasks: str | Path | None = None, format: str | None = None
) -> list[LogAudit]:
    """Is each log what it says, do its verdicts replay, were its tasks fair?

    ``domain`` names the tool domain in which calls are made again (by default ours, where the log is theirs), ``tasks``
    a file of tasks to judge by. Every audit has ``integrity``, ``differences``, ``split``, ``facts`` and ``tables()``.

    >>> import dialgauge
    >>> [audit] = dialgauge.audit_results("tau.json")
    >>> audit.integrity.counts, audit.no_replay
    ({'belongs': 0, 'unknown': 12, 'foreign': 0}, 'no world')
    """
    from dialgauge.data import data_folder
    from dialgauge.formats import named_files
    from dialgauge.trials import audit_logs

    file = None if tasks is None else Path(tasks)
    return audit_logs(named_files(results), domain=domain, tasks=file, root=data_folder().root, format=format)


def blame_results(results: Results, *, domain: str | None = None, format: str | None = None) -> list[LogBlame]:
    """Whose fault was each failure of each log: agent, user, both, task, infrastructure, or unclear?

    Every one has ``failures``, ``counts``, ``tables()``, ``explain("12#0")`` and ``to_polars()``.

    >>> import dialgauge
    >>> [blame] = dialgauge.blame_results("tau.json")
    >>> blame.counts["user"], blame.counts["unclear"], blame.failures[0].conversation
    (1, 4, '2#0')
    """
    from dialgauge.data import data_folder
    from dialgauge.formats import named_files
    from dialgauge.trials import read_log

    root = data_folder().root
    named = named_files(results).items()
    return [_examined(read_log(source, name, format), domain, None, root)[1] for name, source in named]


def _examined(log: TrialLog, domain: str | None, tasks: Path | None, root: Path | None) -> tuple[LogAudit, LogBlame]:
    """Audit and blame of one log."""
    from dialgauge.trials import audit_log, blame_log, log_world
    from dialgauge.worlds.tools import read_tool_tasks

    log.refuse_others()
    world = log_world(log, domain, root)
    audit = audit_log(log, world, tasks=None if tasks is None else read_tool_tasks(tasks))
    return audit, blame_log(log, audit, _user_faults, world)


def review_log(
    source: str | Path,
    name: str | None = None,
    *,
    domain: str | None = None,
    tasks: str | Path | None = None,
    format: str | None = None,
    success: str = "",
    store: Store | None = None,
    progress: Progress | None = None,
) -> Review:
    """All that can be found out about one log without a model, and its run, which is kept in the store if one is given.

    ``success`` names the field of a log that says whether a conversation passed.

    >>> import dialgauge
    >>> review = dialgauge.review_log("tau.json")
    >>> review.sound, review.readings[0].conversation
    (True, '1#1')
    """
    from dialgauge.data import data_folder
    from dialgauge.engine import SILENT
    from dialgauge.formats import named_files
    from dialgauge.trials import LogFindings, Missing, Review, audit_log, blame_log, log_world, read_log, score_results
    from dialgauge.worlds.tools import read_tool_tasks

    [(own, file)] = named_files([source] if name is None else {name: source}).items()
    log = read_log(file, own, format, success)
    audit = blame = None
    missing: list[Missing] = []
    faults: dict[str, list[ObservedFault]] = {}
    if not log.benchmark:
        missing.append(Missing("format"))
        faults = {dialogue.id: _user_faults(dialogue) for dialogue in log.dialogues}
    else:
        try:
            world = log_world(log, domain, data_folder().root)
            audit = audit_log(log, world, tasks=None if tasks is None else read_tool_tasks(Path(tasks)))
            if audit.no_replay == "no world":
                missing.append(Missing("replay"))
            blame = blame_log(log, audit, _user_faults, world)
        except DialgaugeError as why:
            missing.append(Missing("blame" if audit else "audit", why.message))
    findings = LogFindings(
        None if audit is None else lambda: audit,
        None if blame is None else lambda: blame,
        lambda: faults,
        None if audit is None else audit.integrity,
    )
    scored = score_results({own: log}, findings=lambda _: findings, progress=progress or SILENT)
    run = (scored.save(store) if store is not None else scored).runs[0]
    return Review(run=run, audit=audit, blame=blame, faults=faults, missing=tuple(missing))


def log_findings(log: TrialLog) -> LogFindings:
    """Audit and blame of a log, as tables of its run; nothing is done before one of them is asked for."""
    from dialgauge.data import data_folder
    from dialgauge.trials import LogFindings

    examined = cache(lambda: _examined(log, None, None, data_folder().root))
    return LogFindings(lambda: examined()[0], lambda: examined()[1])


def _user_faults(dialogue: Dialogue, instruction: str = "") -> list[ObservedFault]:
    """What the checks of users see in a conversation, by the instruction of its task where it has none itself."""
    from dialgauge.dialogue import Goal
    from dialgauge.trials import ObservedFault
    from dialgauge.users.faults import check_user

    if dialogue.goal is None and instruction:
        dialogue = replace(dialogue, goal=Goal(message=(instruction,)))
    return [ObservedFault(fault.kind, fault.message, fault.about) for fault in check_user(dialogue).faults]
