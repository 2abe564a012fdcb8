"""``dialgauge tasks audit | blame | judges``: what verdicts are worth, and whose fault failures were."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from dialgauge.cli.common import (
    JudgedTasksOption,
    LimitOption,
    ReplayDomainOption,
    ResamplesOption,
    SeedOption,
    TableOutput,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option, OutputFolder
from dialgauge.cli.screen import err, out, progress_bar
from dialgauge.errors import DialgaugeError


def audit(
    results: Annotated[
        list[str] | None,
        Argument(
            metavar="[RESULTS...]", help="Agent result files (tau-bench, tau2-bench). Default: audit tasks alone."
        ),
    ] = None,
    domain: ReplayDomainOption = None,
    tasks: JudgedTasksOption = None,
    limit: LimitOption = 20,
    *,
    output: TableOutput,
) -> int:
    """Replay recorded calls without a language model, and report what a pass rate hides.

    Checks whether each conversation belongs to its task, compares recorded with replayed verdicts, splits pass^k by
    whether anything must change, and lists unfair tasks. Code in a domain's folder runs with your permissions. Exit
    code: 0 the log is consistent, 1 conversations do not belong to their tasks or verdicts do not replay.
    """
    from dialgauge.data import data_folder
    from dialgauge.formats import named_files
    from dialgauge.tasks import audit_document, audit_logs, audit_task_set, log_tables, task_set_tables
    from dialgauge.worlds.tools import integrity_sentences, same_logs

    if not results and domain is None and tasks is None:
        raise DialgaugeError("name a results file, or tasks to audit: --domain NAME|FOLDER, --tasks FILE")
    root = data_folder().root
    named = named_files(results) if results else {}
    with progress_bar("auditing", len(named)) as advance:
        logs = audit_logs(named, domain=domain, tasks=tasks, root=root, advance=advance)
    task_set = audit_task_set(logs, domain=domain, tasks=tasks, root=root)
    same = same_logs((each.name, each.integrity) for each in logs)
    screen = out if output.on_screen else err
    for each in logs:
        if each.plan is not None and each.plan.missing:
            screen.print(f"{each.name}: {each.plan.sentence()}.")
        for sentence in integrity_sentences(each.name, each.integrity):
            screen.print(sentence)
    for names in same:
        screen.print(f"{' and '.join(names)} are the same log under different names.")
    if logs:
        screen.print()
    about_tasks = task_set_tables(task_set)
    shown = [table for each in logs for table in log_tables(each, limit or None)]
    in_file = [table for each in logs for table in log_tables(each)]
    output.show([*shown, *about_tasks], in_file=[*in_file, *about_tasks])
    output.document("tasks-audit", audit_document(task_set, logs, same))
    sound = all(not each.integrity.foreign and not each.contradicted for each in logs)
    return 0 if sound else EXIT_INCOMPLETE


def grade_again(
    files: Sequence[str], tasks: Path, domain: str | None, resamples: int, seed: int, output: TableOutput
) -> int:
    """``dialgauge tasks score RESULTS --tasks FILE``: recorded logs under another version of their tasks."""
    import msgspec

    from dialgauge.data import data_folder
    from dialgauge.formats import named_files
    from dialgauge.tasks import regrade, regrading_sentences, regrading_table

    if not files:
        raise DialgaugeError("name the results to grade again: dialgauge tasks score RESULTS --tasks FILE")
    root = data_folder().root
    graded = [
        regrade(source, tasks, name=name, domain=domain, root=root, resamples=resamples, seed=seed)
        for name, source in named_files(list(files)).items()
    ]
    screen = out if output.on_screen else err
    for each in graded:
        for sentence in regrading_sentences(each):
            screen.print(sentence)
    output.show([regrading_table(each) for each in graded if each.pass_k])
    output.document("tasks-regrade", {"tasks": str(tasks), "logs": msgspec.to_builtins(graded)})
    whole = all(not (each.other_instruction or each.missing or each.open) for each in graded)
    return 0 if whole else EXIT_INCOMPLETE


def blame(
    results: Annotated[list[str], Argument(metavar="RESULTS...", help="Agent result files (tau-bench, tau2-bench).")],
    dialogue: Annotated[
        str | None, Option("--dialogue", metavar="ID", help="Show all evidence on one failure (task#trial).")
    ] = None,
    domain: ReplayDomainOption = None,
    sheets: Annotated[
        Path | None,
        OutputFolder("--sheets", metavar="FOLDER", help="Write each unlabelled failure as a text for labellers."),
    ] = None,
    limit: LimitOption = 20,
    *,
    output: TableOutput,
) -> None:
    """Say whose fault each failure was: agent, user, both, task, infrastructure, or unclear. No language model is used.

    The evidence: writes that are missing, extra or wrong, where wrong values came from, wishes that were never voiced,
    refused or left open, who stopped, and oddities of the task. If both sides deviate, the verdict is unclear, and
    names the side it leans to.
    """
    from dialgauge.api import blame_results
    from dialgauge.data import data_folder
    from dialgauge.formats import named_files
    from dialgauge.tasks import blame_document
    from dialgauge.worlds.tools import integrity_sentences

    named = named_files(results)
    if sheets is not None:
        _write_sheets(named, sheets, domain, data_folder().root)
        return
    logs = []
    with progress_bar("blaming", len(named)) as advance:
        for name, source in named.items():
            logs += blame_results({name: source}, domain=domain)
            advance(1)
    screen = out if output.on_screen else err
    for log in logs:
        if log.plan is not None and log.plan.missing:
            screen.print(f"{log.name}: {log.plan.sentence()}.")
        if log.integrity.foreign:
            for sentence in integrity_sentences(log.name, log.integrity):
                screen.print(sentence)
    if dialogue is not None:
        output.show([table for log in logs for table in log.explain(dialogue)])
    else:
        in_file = [table for log in logs for table in log.tables()]
        output.show([table for log in logs for table in log.tables(limit or None)], in_file=in_file)
    output.document("tasks-blame", blame_document(logs))


def _write_sheets(sources: Mapping[str, str], folder: Path, domain: str | None, root: Path) -> None:
    from dialgauge.files import write_all
    from dialgauge.tasks import label_sheets
    from dialgauge.text import counted
    from dialgauge.users.faults import load_labels

    labels = [*load_labels(), *load_labels("fresh.jsonl")]
    files: dict[Path, bytes] = {}
    written = 0
    for name, source in sources.items():
        known = {(label.task, label.trial) for label in labels if label.file == Path(source).name}
        made = label_sheets(source, domain=domain, root=root, known=known)
        where = folder / re.sub(r"[^\w-]", "_", name)
        files |= {where / file: content for file, content in made.items()}
        written += len(made.keys() - {"GUIDE.txt", "POLICY.txt", "labels.csv"})
    write_all(files)
    out.print(f"{counted(written, 'failure')} without a label in {folder}: read GUIDE.txt there, fill in labels.csv.")


def judges(
    verdicts: Annotated[
        list[str],
        Argument(
            metavar="VERDICTS...",
            help="CSV or JSON Lines with conversation (or task and trial), verdict, and optionally grader, replicate.",
        ),
    ],
    truth: Annotated[
        str | None,
        Option(
            "--truth",
            metavar="GRADER",
            help="Grader to take as correct; the others' pass rates are corrected by its verdicts.",
        ),
    ] = None,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    *,
    output: TableOutput,
) -> None:
    """Compare graders (people, models, rules): agreement, kappa, flips, and how much of pass^k depends on them.

    With --truth, sensitivity and specificity of each other grader, and the pass rate corrected for its errors.
    """
    from dialgauge.tasks import judge_document, judge_figures, judge_tables, read_verdicts

    figures = judge_figures(read_verdicts(verdicts), truth=truth, resamples=resamples, seed=seed)
    output.show(judge_tables(figures))
    output.document("tasks-judges", judge_document(figures))
