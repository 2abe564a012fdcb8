"""``dialgauge tasks blame``: whose fault the failures of a log were, with the evidence."""

from __future__ import annotations

from typing import Annotated

from dialgauge import formats, tasks
from dialgauge.cli import common
from dialgauge.cli.options import Argument, Option, command
from dialgauge.cli.screen import err, out, progress_bar
from dialgauge.worlds import tools


@command()
def blame(
    results: Annotated[list[str], Argument(help="Agent result files (tau-bench, tau2-bench).")],
    dialogue: Annotated[str | None, Option(metavar="ID", help="Show all evidence on one failure (task#trial).")] = None,
    format: common.FormatOption = None,
    domain: common.ReplayDomainOption = None,
    limit: common.LimitOption = 20,
    *,
    output: common.TableOutput,
) -> None:
    """Say whose fault each failure was: agent, user, both, task, infrastructure, or unclear. No language model is used.

    The evidence: writes that are missing, extra or wrong, where wrong values came from, wishes that were never voiced,
    refused or left open, who stopped, and oddities of the task. If both sides deviate, the verdict is unclear, and
    names the side it leans to.
    """
    from dialgauge.api import blame_results

    named = formats.named_files(results)
    logs = []
    with progress_bar("blaming", len(named)) as advance:
        for name, source in named.items():
            logs += blame_results({name: source}, domain=domain, format=format)
            advance(1)
    screen = out if output.on_screen else err
    for log in logs:
        if log.plan is not None and log.plan.missing:
            screen.print(f"{log.name}: {log.plan.sentence()}.")
        if log.integrity.foreign:
            for sentence in tools.integrity_sentences(log.name, log.integrity):
                screen.print(sentence)
    if dialogue is not None:
        output.show([table for log in logs for table in log.explain(dialogue)])
    else:
        in_file = [table for log in logs for table in log.tables()]
        output.show([table for log in logs for table in log.tables(limit or None)], in_file=in_file)
    output.document("tasks-blame", tasks.blame_document(logs))
