"""``dialgauge tasks audit``: is this log what it says, do its verdicts replay, were its tasks fair?"""

from __future__ import annotations

from typing import Annotated

from dialgauge import data, formats
from dialgauge.cli import common
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, command
from dialgauge.cli.screen import err, out, progress_bar
from dialgauge.errors import DialgaugeError
from dialgauge.worlds import tools


@command()
def audit(
    results: Annotated[
        list[str] | None, Argument(help="Agent result files (tau-bench, tau2-bench). Default: audit tasks alone.")
    ] = None,
    format: common.FormatOption = None,
    domain: common.ReplayDomainOption = None,
    tasks: common.JudgedTasksOption = None,
    limit: common.LimitOption = 20,
    *,
    output: common.TableOutput,
) -> int:
    """Replay recorded calls without a language model, and report what a pass rate hides.

    Checks whether each conversation belongs to its task, compares recorded with replayed verdicts, splits pass^k by
    whether anything must change, and lists unfair tasks. Code in a domain's folder runs with your permissions. Exit
    code: 0 the log is consistent, 1 conversations do not belong to their tasks or verdicts do not replay.
    """
    from dialgauge.tasks import audit_document, audit_logs, audit_task_set, log_tables, task_set_tables

    if not results and domain is None and tasks is None:
        raise DialgaugeError("name a results file, or tasks to audit: --domain NAME|FOLDER, --tasks FILE")
    root = data.data_folder().root
    named = formats.named_files(results) if results else {}
    with progress_bar("auditing", len(named)) as advance:
        logs = audit_logs(named, domain=domain, tasks=tasks, root=root, format=format, advance=advance)
    task_set = audit_task_set(logs, domain=domain, tasks=tasks, root=root)
    same = tools.same_logs((each.name, each.integrity) for each in logs)
    screen = out if output.on_screen else err
    for each in logs:
        if each.plan is not None and each.plan.missing:
            screen.print(f"{each.name}: {each.plan.sentence()}.")
        for sentence in tools.integrity_sentences(each.name, each.integrity):
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
